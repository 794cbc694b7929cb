package io.millrace.gateway.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceParentTest {
    @Test
    void takesTheCallersTraceSpanAndFlag() {
        TraceParent trace = TraceParent.of("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        assertThat(trace)
                .isEqualTo(new TraceParent(0x4bf92f3577b34da6L, 0xa3ce929d0e0e4736L, 0x00f067aa0ba902b7L, true));
        assertThat(trace.traceId()).isEqualTo("4bf92f3577b34da6a3ce929d0e0e4736");
        assertThat(trace.hasCaller()).isTrue();
        assertThat(TraceParent.of("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fe")
                        .sampled())
                .isFalse();
        assertThat(TraceParent.of("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later")
                        .traceId())
                .isEqualTo("4bf92f3577b34da6a3ce929d0e0e4736");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later",
                "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"
            })
    void aMalformedOneIsReplaced(String header) {
        String traceId = TraceParent.of(header).traceId();
        assertThat(traceId).matches("[0-9a-f]{32}").isNotEqualTo("4bf92f3577b34da6a3ce929d0e0e4736");
        assertThat(TraceParent.of(header).traceId()).isNotEqualTo(traceId);
    }

    @Test
    void aMissingOneIsMade() {
        TraceParent made = TraceParent.of(null);
        assertThat(made.traceId()).matches("[0-9a-f]{32}");
        assertThat(made.hasCaller()).isFalse();
        assertThat(made.sampled()).isFalse();
    }
}
