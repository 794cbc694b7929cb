package io.millrace.train.job;

import io.millrace.train.TrainConfig;
import io.millrace.train.matrix.MatrixSet;
import io.millrace.train.spec.RunRefusedException;
import java.io.File;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Refuses a run that cannot fit before it has cost anything, with the numbers that decided.
 *
 * @param config of training on this machine
 */
record Preflight(TrainConfig config) {
    private static final Logger LOG = LoggerFactory.getLogger(Preflight.class);

    /**
     * Checks the disk before the first row is written.
     *
     * @param neededBytes of the matrices to be written and of the library's cache
     * @param rows of the snapshot
     * @param width features of one row
     * @throws RunRefusedException if they do not fit
     */
    void checkDisk(long neededBytes, long rows, int width) {
        // Not Files.getFileStore, which looks the directory up in the mount table: in a changed root it is not there.
        File directory = config.matrixDirectory().toFile();
        if (directory.getTotalSpace() == 0) {
            LOG.warn("disk space is not known, so it is not checked: directory={}", directory);
            return;
        }
        checkDisk(neededBytes, directory.getUsableSpace(), rows, width);
    }

    void checkDisk(long neededBytes, long usableBytes, long rows, int width) {
        if (neededBytes > usableBytes) {
            throw new RunRefusedException("matrix must fit the disk: neededBytes=" + neededBytes + ", usableBytes="
                    + usableBytes + ", rows=" + rows + ", features=" + width + ", directory="
                    + config.matrixDirectory());
        }
    }

    /**
     * Checks the child's memory before it starts.
     *
     * @throws RunRefusedException if it will need more than it is allowed
     */
    void checkMemory(MatrixSet set) {
        long needed = Footprint.memoryBytes(set.trainRows(), set.classCount() > 2 ? set.classCount() : 1);
        long limit = config.trainMemoryBytes();
        if (needed > limit) {
            throw new RunRefusedException("training must fit the memory: neededBytes=" + needed
                    + ", train-memory-bytes=" + limit + ", trainRows=" + set.trainRows() + ", classes="
                    + set.classCount());
        }
    }
}
