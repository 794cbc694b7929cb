package io.millrace.train.job;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ConfigFile;
import io.millrace.train.TrainConfig;
import io.millrace.train.matrix.MatrixKey;
import io.millrace.train.matrix.MatrixSet;
import io.millrace.train.matrix.Sampling;
import io.millrace.train.matrix.SplitSpec;
import io.millrace.train.spec.RunRefusedException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PreflightTest {
    private static final long MEBIBYTE = 1L << 20;

    private final Preflight preflight = new Preflight(TrainConfig.from(ConfigFile.of(
            Path.of("/conf/train.properties"),
            Map.of(
                    "job-jar", "/job.jar",
                    "matrix-directory", "/no/matrix",
                    "train-lib-directory", "/lib",
                    "train-memory-bytes", Long.toString(512 * MEBIBYTE)))));

    @Test
    void refusesAMatrixThatDoesNotFitTheDisk() {
        long needed = Footprint.diskBytes(1_000_000, 100);
        assertThatThrownBy(() -> preflight.checkDisk(needed, needed - 1, 1_000_000, 100))
                .isInstanceOf(RunRefusedException.class)
                .hasMessage("run is refused: matrix must fit the disk: neededBytes=948000000, usableBytes=947999999,"
                        + " rows=1000000, features=100, directory=/no/matrix");
        assertThatCode(() -> preflight.checkDisk(needed, needed, 1_000_000, 100))
                .doesNotThrowAnyException();
    }

    /** The kernel says nothing of a directory that does not exist. */
    @Test
    void goesOnWhenTheSpaceIsNotKnown() {
        assertThatCode(() -> preflight.checkDisk(Long.MAX_VALUE, 1, 1)).doesNotThrowAnyException();
    }

    @Test
    void refusesATrainingThatDoesNotFitTheMemory() {
        assertThatThrownBy(() -> preflight.checkMemory(set(8_000_000, 2)))
                .isInstanceOf(RunRefusedException.class)
                .hasMessage("run is refused: training must fit the memory: neededBytes=559772160,"
                        + " train-memory-bytes=536870912, trainRows=8000000, classes=2");
        assertThatCode(() -> preflight.checkMemory(set(7_000_000, 2))).doesNotThrowAnyException();
    }

    /** Each class more costs memory. */
    @Test
    void countsTheModelsOfAMulticlassTraining() {
        assertThatThrownBy(() -> preflight.checkMemory(set(7_000_000, 5)))
                .hasMessage("run is refused: training must fit the memory: neededBytes=846772160,"
                        + " train-memory-bytes=536870912, trainRows=7000000, classes=5");
    }

    private static MatrixSet set(long trainRows, int classes) {
        MatrixKey key = new MatrixKey("public.t", 1, "f", "y", new SplitSpec(0.25, Sampling.RANDOM, 42, 0), 1);
        return new MatrixSet(key, 100, classes, trainRows, 0, 1, 0, 0, 1);
    }
}
