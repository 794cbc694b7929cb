package io.millrace.train.child;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * High-water mark of this process's anonymous memory. The kernel keeps one for the whole resident set (VmHWM), which
 * counts mapped matrix pages too; the anonymous part, the one that cannot be dropped under pressure, is sampled.
 */
final class MemoryPeak implements AutoCloseable {
    private static final long SAMPLE_MILLIS = 20;
    private static final Path STATUS = Path.of("/proc/self/status");

    private final Thread sampler;
    private volatile long peakBytes;

    MemoryPeak() {
        peakBytes = anonymousBytes();
        sampler = new Thread(this::sample, "memory-peak");
        sampler.setDaemon(true);
        sampler.start();
    }

    /** The largest value seen so far; bytes. */
    long peakBytes() {
        return peakBytes;
    }

    private void sample() {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                peakBytes = Math.max(peakBytes, anonymousBytes());
                TimeUnit.MILLISECONDS.sleep(SAMPLE_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Anonymous resident bytes now; 0 where the kernel does not say. */
    static long anonymousBytes() {
        try {
            for (String line : Files.readAllLines(STATUS)) {
                if (line.startsWith("RssAnon:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
                }
            }
            return 0;
        } catch (IOException e) {
            return 0;
        }
    }

    @Override
    public void close() {
        sampler.interrupt();
    }
}
