package io.millrace.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Texts compared with files of {@code src/test/resources/golden}; {@code -Dgolden.update=true} rewrites them. */
public final class Golden {
    private static final int BYTES_PER_LINE = 16;

    private Golden() {}

    /** Compares a text with a file. */
    public static void check(String name, String actual) {
        Path file = Path.of("src/test/resources/golden", name);
        try {
            if (Boolean.getBoolean("golden.update")) {
                Files.createDirectories(file.toAbsolutePath().getParent());
                Files.writeString(file, actual);
            }
            assertThat(actual).as("golden file %s", name).isEqualTo(Files.readString(file));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Bytes as lines of offset and hexadecimal digits. */
    public static String hex(byte[] bytes, int length) {
        StringBuilder text = new StringBuilder();
        for (int offset = 0; offset < length; offset++) {
            if (offset % BYTES_PER_LINE == 0) {
                text.append(offset == 0 ? "" : "\n").append(String.format("%6d ", offset));
            }
            text.append(String.format(offset % 4 == 0 ? "  %02x" : " %02x", bytes[offset]));
        }
        return text.append('\n').toString();
    }
}
