package io.millrace.store;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.opendal.NativeLibrary;

/*
 * OpenDAL unpacks 45 MB into java.io.tmpdir and deletes them when the JVM exits in order; a killed JVM would leave them.
 * Linux keeps a mapped file alive without its name, so the name is removed as soon as the library is loaded. A library
 * found on java.library.path is not unpacked and stays.
 */

/** OpenDAL's native library, loaded once without leaving a file behind. */
final class OpenDalLibrary {
    private static final String FILE_MARK = "opendal_java";

    private OpenDalLibrary() {}

    /**
     * Loads the library; repeating is free.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} if there is none for this platform
     */
    static synchronized void load() {
        try {
            NativeLibrary.loadLibrary();
            deleteUnpacked();
        } catch (LinkageError | RuntimeException e) {
            throw new ContractException(
                    ErrorCode.INVALID_CONFIG,
                    "native OpenDAL library cannot be loaded: os=" + System.getProperty("os.name") + ", architecture="
                            + System.getProperty("os.arch") + ", cause=" + e.getMessage(),
                    e);
        } catch (IOException e) {
            throw new ContractException(
                    ErrorCode.IO_FAILED, "unpacked library cannot be removed: cause=" + e.getMessage(), e);
        }
    }

    private static void deleteUnpacked() throws IOException {
        Path temporary =
                Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath().normalize();
        List<String> names;
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            names = lines.filter(line -> line.contains(FILE_MARK) && line.endsWith(".so"))
                    .map(line -> line.substring(line.indexOf('/')))
                    .distinct()
                    .toList();
        }
        for (String name : names) {
            if (temporary.equals(Path.of(name).getParent())) {
                Files.deleteIfExists(Path.of(name));
            }
        }
    }
}
