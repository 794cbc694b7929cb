package io.millrace.snapshot.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class BoundaryTest {
    private final Boundary boundary = new Boundary();

    @Test
    void holdsUntilTheFirstCheckpointAfterItIsComplete() {
        boundary.checkpointTaken(1);
        boundary.reached();
        CompletableFuture<Void> passed = boundary.passed();
        boundary.checkpointComplete(1);
        assertThat(boundary.held()).isTrue();
        boundary.checkpointTaken(2);
        boundary.checkpointComplete(2);
        assertThat(boundary.held()).isFalse();
        assertThat(passed).isDone();
    }

    @Test
    void aFailedCheckpointHoldsItFurther() {
        boundary.reached();
        boundary.checkpointTaken(1);
        boundary.checkpointTaken(2);
        assertThat(boundary.held()).isTrue();
        boundary.checkpointComplete(2);
        assertThat(boundary.held()).isFalse();
    }
}
