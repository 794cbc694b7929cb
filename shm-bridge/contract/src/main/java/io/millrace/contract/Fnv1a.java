package io.millrace.contract;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * FNV-1a, 64 bit: the hash of descriptors, schemas and text levels. It names things, it does not protect them.
 *
 * @see <a href="https://datatracker.ietf.org/doc/html/draft-eastlake-fnv">The FNV non-cryptographic hash</a>
 */
public final class Fnv1a {
    private static final long OFFSET_BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private Fnv1a() {}

    /** Hash of no bytes. */
    public static long start() {
        return OFFSET_BASIS;
    }

    /** The hash with one more byte. */
    public static long update(long hash, byte value) {
        return (hash ^ (value & 0xff)) * PRIME;
    }

    /** The hash with the UTF-8 bytes of a text. */
    public static long update(long hash, String text) {
        return update(hash, text.getBytes(StandardCharsets.UTF_8));
    }

    /** The hash with more bytes. */
    public static long update(long hash, byte[] bytes) {
        long result = hash;
        for (byte value : bytes) {
            result = update(result, value);
        }
        return result;
    }

    /** Hash of {@code length} bytes of a buffer from an absolute offset. */
    public static long of(ByteBuffer buffer, int offset, int length) {
        long result = OFFSET_BASIS;
        for (int index = 0; index < length; index++) {
            result = update(result, buffer.get(offset + index));
        }
        return result;
    }
}
