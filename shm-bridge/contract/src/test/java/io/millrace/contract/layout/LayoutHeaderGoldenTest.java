package io.millrace.contract.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class LayoutHeaderGoldenTest {
    @Test
    void headerOfTheExtensionIsTheRenderedOne() throws IOException {
        Path header = Path.of("../../sql-udfs/src/millrace_layout.h");
        if (Boolean.getBoolean("golden.update")) {
            Files.createDirectories(header.toAbsolutePath().getParent());
            Files.writeString(header, LayoutHeader.render());
        }
        assertThat(Files.readString(header))
                .as("run this test with -Dgolden.update=true to rewrite %s", header)
                .isEqualTo(LayoutHeader.render());
    }
}
