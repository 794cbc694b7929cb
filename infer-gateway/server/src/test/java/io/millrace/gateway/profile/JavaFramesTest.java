package io.millrace.gateway.profile;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JavaFramesTest {
    @Test
    void namesTypesAsTheirSourceDoes() {
        assertThat(JavaFrames.typeName("[B")).isEqualTo("byte[]");
        assertThat(JavaFrames.typeName("[[D")).isEqualTo("double[][]");
        assertThat(JavaFrames.typeName("[Ljava.lang.String;")).isEqualTo("java.lang.String[]");
        assertThat(JavaFrames.typeName("java.lang.String")).isEqualTo("java.lang.String");
    }

    @Test
    void classesMadeAtRunTimeHaveOneNameInEveryRun() {
        assertThat(JavaFrames.className("io.millrace.A$$Lambda$14+0x0000000800c03200.12"))
                .isEqualTo("io.millrace.A$$Lambda");
        assertThat(JavaFrames.className("io.millrace.A$$Lambda$14.123456")).isEqualTo("io.millrace.A$$Lambda");
        assertThat(JavaFrames.className("java.lang.invoke.LambdaForm$DMH+0x0000000800c03200"))
                .isEqualTo("java.lang.invoke.LambdaForm$DMH");
        assertThat(JavaFrames.className("io.millrace.A$1")).isEqualTo("io.millrace.A$1");
    }

    @Test
    void threadsOfOnePoolAreOne() {
        assertThat(JavaFrames.threadName("worker-0")).isEqualTo(JavaFrames.threadName("worker-17"));
        assertThat(JavaFrames.threadName("dispatcher")).isEqualTo("[dispatcher]");
    }

    @Test
    void tellsWhoseCodeItIs() {
        assertThat(JavaFrames.origin("io.millrace.gateway.Gateway")).isEqualTo(Frame.Origin.PRODUCT);
        assertThat(JavaFrames.origin("java.util.HashMap")).isEqualTo(Frame.Origin.JDK);
        assertThat(JavaFrames.origin("jdkother.Thing")).isEqualTo(Frame.Origin.DEPENDENCY);
    }
}
