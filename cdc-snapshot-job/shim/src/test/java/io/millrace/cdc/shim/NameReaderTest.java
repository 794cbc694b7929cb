package io.millrace.cdc.shim;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class NameReaderTest {
    @Test
    void readsNamesOfAnyLetters() {
        ByteBuffer buffer = ByteBuffer.wrap("gr\u00f6\u00dfe \uD83D\uDE00\0next\0\0".getBytes(StandardCharsets.UTF_8));
        assertThat(NameReader.read(buffer)).isEqualTo("gr\u00f6\u00dfe \uD83D\uDE00");
        assertThat(NameReader.read(buffer)).isEqualTo("next");
        assertThat(NameReader.read(buffer)).isEmpty();
        assertThat(buffer.hasRemaining()).isFalse();
    }
}
