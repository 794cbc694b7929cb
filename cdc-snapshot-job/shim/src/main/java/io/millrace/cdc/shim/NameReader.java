package io.millrace.cdc.shim;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Reads names from the replication protocol. The connector's own reader takes each byte for a character, which loses every name
 * outside ASCII; its body is replaced by a call of this one.
 */
public final class NameReader {
    private NameReader() {}

    /** The UTF-8 text from the buffer's position up to the next zero byte; leaves the position behind that byte. */
    public static String read(ByteBuffer buffer) {
        int start = buffer.position();
        int length = 0;
        while (buffer.get() != 0) {
            length++;
        }
        byte[] bytes = new byte[length];
        buffer.get(start, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
