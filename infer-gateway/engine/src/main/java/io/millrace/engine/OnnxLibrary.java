package io.millrace.engine;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtLoggingLevel;
import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/*
 * Two things the runtime does on its own are undone here.
 *
 * It unpacks its library into java.io.tmpdir and deletes it when the JVM exits in order; a killed JVM would leave 22 MB
 * behind each time. Linux keeps a mapped file alive without its name, so the names are removed as soon as it is loaded.
 *
 * And it frees its environment in a shutdown hook, at once, while this process still answers what is in flight: no model can
 * be loaded any more, and what runs may crash. The environment is one per process and counted, so a second reference, taken
 * through the C interface and never given back, keeps the hook from freeing it. It goes with the process.
 */

/** The native ONNX Runtime, loaded once. Threads: all methods may be called from any. */
final class OnnxLibrary {
    private static final String NAME = "libonnxruntime.so";
    private static final String DIRECTORY_MARK = "onnxruntime-java";

    /** Version of the C interface asked for; the functions below are in every one. */
    private static final int API_VERSION = 17;

    /** {@code OrtApi.CreateEnv} is the fourth function of the table, for ever. */
    private static final int CREATE_ENV_INDEX = 3;

    private static @Nullable OrtEnvironment environment;

    private OnnxLibrary() {}

    /**
     * The environment.
     *
     * @throws ContractException {@link ErrorCode#SCORER_FAILED} if the native library cannot be loaded here
     */
    static synchronized OrtEnvironment environment() {
        OrtEnvironment present = environment;
        if (present == null) {
            try {
                present = OrtEnvironment.getEnvironment(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL);
                present.setTelemetry(false);
                List<Path> mapped = mappedFiles();
                holdEnvironment(mapped);
                for (Path file : mapped) {
                    deleteUnpacked(file);
                }
            } catch (IOException | OrtException | LinkageError | RuntimeException e) {
                throw new ContractException(
                        ErrorCode.SCORER_FAILED,
                        "native ONNX Runtime cannot be loaded: os=" + System.getProperty("os.name") + ", architecture="
                                + System.getProperty("os.arch") + ", cause=" + e.getMessage(),
                        e);
            }
            environment = present;
        }
        return present;
    }

    private static List<Path> mappedFiles() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("libonnxruntime") && line.endsWith(".so"))
                    .map(line -> Path.of(line.substring(line.indexOf('/'))))
                    .distinct()
                    .toList();
        }
    }

    private static void holdEnvironment(List<Path> mapped) throws IOException {
        Path file = mapped.stream()
                .filter(path -> path.getFileName().toString().equals(NAME))
                .findFirst()
                .orElseThrow(() -> new IOException("no mapped file is named " + NAME));
        Pointer base = NativeLibrary.getInstance(file.toString())
                .getFunction("OrtGetApiBase")
                .invokePointer(new Object[0]);
        Pointer api = Function.getFunction(base.getPointer(0)).invokePointer(new Object[] {API_VERSION});
        Pointer createEnv = api.getPointer((long) CREATE_ENV_INDEX * Native.POINTER_SIZE);
        PointerByReference held = new PointerByReference();
        Pointer status = Function.getFunction(createEnv).invokePointer(new Object[] {
            OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL.getValue(), OrtEnvironment.DEFAULT_NAME, held
        });
        if (status != null || held.getValue() == null) {
            throw new IOException("environment cannot be held");
        }
    }

    /** Removes only what the runtime unpacked, never a library that was installed. */
    private static void deleteUnpacked(Path file) throws IOException {
        Path directory = Objects.requireNonNull(file.getParent());
        Path temporary =
                Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath().normalize();
        if (temporary.equals(directory.getParent())
                && directory.getFileName().toString().startsWith(DIRECTORY_MARK)) {
            Files.deleteIfExists(file);
            try (Stream<Path> left = Files.list(directory)) {
                if (left.findAny().isPresent()) {
                    return;
                }
            }
            Files.deleteIfExists(directory);
        }
    }
}
