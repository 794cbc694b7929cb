package io.millrace.train.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenPartsTest {
    private final List<String> closed = new ArrayList<>();
    private final OpenParts open = new OpenParts();

    @Test
    void closesInReverseOrderAndOnce() throws IOException {
        open.add(part("first"));
        open.add(part("second"));
        open.close();
        open.close();
        assertThat(closed).containsExactly("second", "first");
    }

    @Test
    void closesTheOthersWhenOneFails() {
        open.add(part("first"));
        open.add(failing("disk full"));
        open.add(failing("disk gone"));
        assertThatThrownBy(open::close)
                .isInstanceOf(IOException.class)
                .hasMessage("cannot be closed: cause=disk gone")
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        assertThat(closed).containsExactly("first");
    }

    @Test
    void keepsTheFailureThatItClosesAfter() {
        open.add(part("first"));
        open.add(failing("disk full"));
        IllegalStateException failure = new IllegalStateException("refused");
        open.closeAfter(failure);
        assertThat(closed).containsExactly("first");
        assertThat(failure.getSuppressed()).hasSize(1);
    }

    private AutoCloseable part(String name) {
        return () -> closed.add(name);
    }

    private static AutoCloseable failing(String message) {
        return () -> {
            throw new IOException(message);
        };
    }
}
