package io.millrace.train.matrix;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Ranks of one stratum's rows, on disk, and the selection of the smallest ones by four counting passes over 16 bits
 * each: memory is half a megabyte whatever the number of rows.
 */
final class RankFile implements AutoCloseable {
    private static final int DIGIT_BITS = 16;
    private static final int BUFFER_BYTES = 1 << 16;
    /** Rows between two looks at whether the task is cancelled. */
    private static final int INTERRUPT_ROWS = 1 << 16;

    private final Path file;
    private final DataOutputStream out;
    private long count;

    RankFile(Path file) throws IOException {
        this.file = file;
        this.out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file), BUFFER_BYTES));
    }

    void append(long rank) throws IOException {
        out.writeLong(rank);
        count++;
    }

    long count() {
        return count;
    }

    /**
     * The rank that exactly {@code index} ranks are below, unsigned, when all are different.
     *
     * @param index {@code 0 <= index < count()}
     */
    long select(long index) throws IOException {
        out.flush();
        long prefix = 0;
        long remaining = index;
        for (int shift = Long.SIZE - DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
            long[] histogram = histogram(prefix, shift);
            int digit = 0;
            while (remaining >= histogram[digit]) {
                remaining -= histogram[digit++];
            }
            prefix |= (long) digit << shift;
        }
        return prefix;
    }

    /** Counts of the digit at {@code shift} among the ranks that agree with {@code prefix} above it. */
    private long[] histogram(long prefix, int shift) throws IOException {
        long[] histogram = new long[1 << DIGIT_BITS];
        int above = shift + DIGIT_BITS;
        try (DataInputStream in =
                new DataInputStream(new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES))) {
            for (long row = 0; row < count; row++) {
                if (row % INTERRUPT_ROWS == 0 && Thread.interrupted()) {
                    throw new InterruptedIOException("choosing of test rows is cancelled");
                }
                long rank = in.readLong();
                if (above == Long.SIZE || rank >>> above == prefix >>> above) {
                    histogram[(int) (rank >>> shift) & ((1 << DIGIT_BITS) - 1)]++;
                }
            }
        }
        return histogram;
    }

    @Override
    public void close() throws IOException {
        out.close();
        Files.deleteIfExists(file);
    }
}
