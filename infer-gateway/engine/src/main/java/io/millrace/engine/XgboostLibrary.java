package io.millrace.engine;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/*
 * XGBoost4J unpacks its native library into java.io.tmpdir and deletes it when the JVM exits in order; a killed JVM would
 * leave 18 MB behind each time. Linux keeps a mapped file alive without its name, so the name is removed as soon as both
 * XGBoost4J and JNA have opened it. JNA finds later interfaces by the remembered path, not by the file: the strong
 * reference to NativeLibrary keeps that entry alive.
 */

/**
 * The very copy of the native XGBoost library that XGBoost4J has loaded, seen through its C interface.
 *
 * <p>Threads: all methods may be called from any.
 */
public final class XgboostLibrary {
    private static final String FILE_MARK = "libxgboost4j";
    private static final String DELETED_MARK = " (deleted)";

    private static @Nullable String path;

    /** Held, never read: see above. */
    @SuppressWarnings("UnusedVariable")
    private static @Nullable NativeLibrary library;

    private XgboostLibrary() {}

    /**
     * A view of the C interface; its functions share all state with XGBoost4J, so handles may cross.
     *
     * @param view an interface whose methods are named as the C functions
     * @throws ContractException {@link ErrorCode#SCORER_FAILED} if the native library cannot be loaded here
     */
    public static <T extends Library> T open(Class<T> view) {
        return Native.load(loadedPath(), view);
    }

    private static synchronized String loadedPath() {
        if (path != null) {
            return path;
        }
        try {
            Class.forName("ml.dmlc.xgboost4j.java.XGBoostJNI");
            String mapped = mappedPath();
            library = NativeLibrary.getInstance(mapped);
            path = mapped;
            deleteUnpacked(Path.of(mapped));
            return mapped;
        } catch (ClassNotFoundException | IOException | LinkageError e) {
            throw new ContractException(
                    ErrorCode.SCORER_FAILED,
                    "native XGBoost library cannot be loaded: os=" + System.getProperty("os.name") + ", architecture="
                            + System.getProperty("os.arch") + ", cause=" + e.getMessage(),
                    e);
        }
    }

    /**
     * The mapped file; when another class loader's copy of this class has already removed the name, the remembered name
     * still finds the open library in JNA.
     */
    private static String mappedPath() throws IOException {
        List<String> names;
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            names = lines.filter(line -> line.contains(FILE_MARK) && line.indexOf('/') > 0)
                    .map(line -> line.substring(line.indexOf('/')))
                    .distinct()
                    .toList();
        }
        if (names.isEmpty()) {
            throw new IOException("no mapped file is named " + FILE_MARK);
        }
        return names.stream()
                .filter(name -> !name.endsWith(DELETED_MARK))
                .reduce((earlier, later) -> later)
                .orElseGet(() -> names.get(0).replace(DELETED_MARK, ""));
    }

    /** Removes only what XGBoost4J unpacked, never a library that was installed. */
    private static void deleteUnpacked(Path file) throws IOException {
        Path temporary =
                Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath().normalize();
        if (temporary.equals(file.getParent())) {
            Files.deleteIfExists(file);
        }
    }
}
