package io.millrace.contract.matrix;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/** A file under writing, buffered, with the checksum of what was written. Threads: one. */
final class ChecksumFile implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 18;

    private final FileChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final CRC32C checksum = new CRC32C();
    private long bytes;

    ChecksumFile(Path file) throws IOException {
        channel = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
    }

    void putFloat(float value) throws IOException {
        if (buffer.remaining() < Float.BYTES) {
            drain();
        }
        buffer.putFloat(value);
    }

    void putInt(int value) throws IOException {
        if (buffer.remaining() < Integer.BYTES) {
            drain();
        }
        buffer.putInt(value);
    }

    void put(byte[] value) throws IOException {
        for (int written = 0; written < value.length; ) {
            if (!buffer.hasRemaining()) {
                drain();
            }
            int length = Math.min(buffer.remaining(), value.length - written);
            buffer.put(value, written, length);
            written += length;
        }
    }

    private void drain() throws IOException {
        buffer.flip();
        bytes += buffer.remaining();
        checksum.update(buffer.duplicate());
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
        buffer.clear();
    }

    /** Everything is on the disk after this. */
    void sync() throws IOException {
        drain();
        channel.force(true);
    }

    long bytes() {
        return bytes;
    }

    int checksum() {
        return (int) checksum.getValue();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
