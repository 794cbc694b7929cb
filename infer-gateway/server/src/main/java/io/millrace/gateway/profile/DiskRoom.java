package io.millrace.gateway.profile;

import java.nio.file.Path;

/** Whether a disk has room enough for a recording that must not meet its end. Threads: any. */
final class DiskRoom {
    /** What is written at once is a fraction of the recording; the rest is what others may write in that moment. */
    private static final int RECORDINGS = 4;

    private final Path directory;
    private final long bytesMin;

    /**
     * Of a directory.
     *
     * @param recordingBytes that are written in the long run
     */
    DiskRoom(Path directory, long recordingBytes) {
        this.directory = directory;
        this.bytesMin = RECORDINGS * recordingBytes;
    }

    private long usableBytes() {
        // A FileStore would want the mount table, which a chroot need not have.
        return directory.toFile().getUsableSpace();
    }

    boolean isLow() {
        return usableBytes() < bytesMin;
    }

    /** What is missing, in a sentence. */
    String text() {
        return "disk is too full to profile: directory=" + directory + ", usableBytes=" + usableBytes() + ", min="
                + bytesMin;
    }
}
