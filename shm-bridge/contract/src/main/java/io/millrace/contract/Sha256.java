package io.millrace.contract;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256: the name of immutable things. */
public final class Sha256 {
    private Sha256() {}

    /** 64 lower case hexadecimal digits. */
    public static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(digest().digest(bytes));
    }

    /** The same of a file's content. */
    public static String hex(Path file) throws IOException {
        MessageDigest digest = digest();
        byte[] chunk = new byte[1 << 16];
        try (InputStream in = Files.newInputStream(file)) {
            for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
                digest.update(chunk, 0, length);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /**
     * The number of a hash in a slot line: its first eight bytes, little-endian.
     *
     * @param hex 64 hexadecimal digits
     */
    public static long key(String hex) {
        return Long.reverseBytes(Long.parseUnsignedLong(hex.substring(0, 16), 16));
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every JDK has SHA-256", impossible);
        }
    }
}
