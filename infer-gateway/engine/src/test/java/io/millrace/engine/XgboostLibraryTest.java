package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Library;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class XgboostLibraryTest {
    interface VersionView extends Library {
        void XGBoostVersion(int[] major, int[] minor, int[] patch);
    }

    interface ErrorView extends Library {
        String XGBGetLastError();
    }

    @Test
    void leavesNoFileBehindAndOpensFurtherViews() throws IOException {
        int[] major = new int[1];
        XgboostLibrary.open(VersionView.class).XGBoostVersion(major, new int[1], new int[1]);
        assertThat(major[0]).isEqualTo(3);
        assertThat(XgboostLibrary.open(ErrorView.class).XGBGetLastError()).isNotNull();
        assertThat(mappedLibraries()).singleElement().asString().endsWith("(deleted)");
    }

    /** One copy, its name gone: both interfaces see the library XGBoost4J loaded. */
    private static List<String> mappedLibraries() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("libxgboost4j"))
                    .map(line -> line.substring(line.indexOf('/')))
                    .distinct()
                    .toList();
        }
    }
}
