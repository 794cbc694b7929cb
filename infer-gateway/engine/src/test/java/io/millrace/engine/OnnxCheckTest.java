package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Task;
import io.millrace.contract.envelope.ImportRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OnnxCheckTest {
    private static final ImportRequest REQUEST = TestingImports.request(Task.REGRESSION);

    @TempDir
    Path directory;

    private static long inSeconds(long seconds) {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    }

    @Test
    void leavesExactlyThePackagesFiles() throws Exception {
        TestingGraphs.linear(3).write(directory);
        assertThat(OnnxCheck.run(directory, REQUEST, () -> true, inSeconds(60))).isEmpty();
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("model.onnx", "onnx.json", "fitted.json");
        }
        try (Scorer scorer = TestingImports.load(directory)) {
            float[] out = new float[1];
            scorer.score(new float[] {1, 2, 3}, 1, out);
            assertThat(out[0]).isEqualTo(TestingGraphs.linearAnswer(1, 2, 3));
        }
    }

    @Test
    void tellsWhyAModelIsRefused() throws Exception {
        TestingGraphs.softmax(3, 3).write(directory);
        assertRefused(
                () -> OnnxCheck.run(directory, REQUEST, () -> true, inSeconds(60)),
                ErrorCode.UNSUPPORTED_KIND,
                "model has no output that can be the answer: task=regression, outputs=p float[-1, 3]");
    }

    @Test
    void isKilledWhenNobodyWaits() throws Exception {
        TestingGraphs.linear(3).write(directory);
        AtomicInteger asked = new AtomicInteger();
        assertRefused(
                () -> OnnxCheck.run(directory, REQUEST, () -> asked.incrementAndGet() < 3, inSeconds(60)),
                ErrorCode.CANCELLED,
                "import is cancelled");
        assertRefused(
                () -> OnnxCheck.run(directory, REQUEST, () -> true, System.nanoTime()),
                ErrorCode.DEADLINE_EXCEEDED,
                "model must be loaded and tried before the deadline");
        assertThat(ProcessHandle.current().children().filter(ProcessHandle::isAlive))
                .isEmpty();
    }

    private static void assertRefused(ThrowingCallable call, ErrorCode code, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        ContractException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessage(message);
    }
}
