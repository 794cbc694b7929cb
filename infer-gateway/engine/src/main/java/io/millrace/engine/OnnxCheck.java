package io.millrace.engine;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ImportRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/*
 * The runtime is native code that trusts its input more than a file from anywhere deserves: a damaged graph may crash it,
 * loop for ever or want all memory, and none of that can be undone in the same process. So a file that comes in is loaded
 * and tried in a process of its own first, which can be killed. What passes is known by its digest from then on.
 */

/** Makes a package's other files for an ONNX model from elsewhere, in a process of its own. Threads: any. */
public final class OnnxCheck {
    private static final String REQUEST_FILE = "import-request.json";
    private static final String ANSWER_FILE = "import-answer.txt";
    private static final String OUTPUT_FILE = "import-output.txt";
    private static final long POLL_MILLIS = 10;
    private static final int OUTPUT_SHOWN_MAX = 300;

    private OnnxCheck() {}

    /**
     * Checks and tries {@value Engines#ONNX_FILE} of a directory and puts the other files of a package beside it, but for
     * the manifest.
     *
     * @param directory nobody else's
     * @param wanted asked now and then; the check is killed when it turns false
     * @param deadlineNanos of {@link System#nanoTime}
     * @return notes for the caller, in words
     * @throws ContractException why the model cannot be imported; {@link ErrorCode#CORRUPT_PACKAGE} also if it ends the
     *     process, {@link ErrorCode#CANCELLED} or {@link ErrorCode#DEADLINE_EXCEEDED} if it was killed
     */
    public static List<String> run(Path directory, ImportRequest request, BooleanSupplier wanted, long deadlineNanos) {
        Path output = directory.resolve(OUTPUT_FILE);
        try {
            Files.write(directory.resolve(REQUEST_FILE), request.toJson());
            ProcessBuilder builder = new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx64m",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:-CreateCoredumpOnCrash",
                    "-XX:ErrorFile=/dev/null",
                    "-cp",
                    System.getProperty("java.class.path"),
                    OnnxCheckMain.class.getName(),
                    directory.toString());
            builder.environment().put("ORT_DISABLE_TELEMETRY", "1");
            Process process = builder.redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            try {
                await(process, wanted, deadlineNanos);
            } finally {
                end(process);
            }
            return answer(directory, process.exitValue());
        } catch (IOException e) {
            throw new ContractException(ErrorCode.IO_FAILED, "model cannot be checked: cause=" + e.getMessage(), e);
        }
    }

    /** Gone, not only told to go: the directory is the caller's again. */
    private static void end(Process process) {
        process.destroyForcibly();
        process.onExit().join();
    }

    private static void await(Process process, BooleanSupplier wanted, long deadlineNanos) {
        try {
            while (!process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
                if (!wanted.getAsBoolean()) {
                    throw new ContractException(ErrorCode.CANCELLED, "import is cancelled");
                }
                if (System.nanoTime() - deadlineNanos > 0) {
                    throw new ContractException(
                            ErrorCode.DEADLINE_EXCEEDED, "model must be loaded and tried before the deadline");
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ContractException(ErrorCode.CANCELLED, "import is cancelled", e);
        }
    }

    /** The first line is a code, the others are its message or the notes. */
    private static List<String> answer(Path directory, int exitValue) throws IOException {
        Path file = directory.resolve(ANSWER_FILE);
        if (exitValue != 0 || !Files.exists(file)) {
            throw new ContractException(
                    ErrorCode.CORRUPT_PACKAGE,
                    "model ends the process that loads it: exit=" + exitValue + ", output="
                            + lastWords(directory.resolve(OUTPUT_FILE)));
        }
        List<String> lines = new ArrayList<>(Files.readAllLines(file, StandardCharsets.UTF_8));
        ErrorCode code = ErrorCode.valueOf(lines.remove(0));
        if (code != ErrorCode.OK) {
            throw new ContractException(code, String.join("\n", lines));
        }
        for (String name : List.of(REQUEST_FILE, ANSWER_FILE, OUTPUT_FILE)) {
            Files.delete(directory.resolve(name));
        }
        return lines;
    }

    /** What the process said first: of a crash its signal, behind the marks that the JVM puts before each line. */
    private static String lastWords(Path output) throws IOException {
        String words = new String(Files.readAllBytes(output), StandardCharsets.UTF_8)
                .lines()
                .map(line -> line.replaceFirst("^#\\s*", "").strip())
                .filter(line -> !line.isEmpty())
                .limit(2)
                .collect(Collectors.joining(" "));
        return words.length() <= OUTPUT_SHOWN_MAX ? words : words.substring(0, OUTPUT_SHOWN_MAX) + "...";
    }

    /** The other side of {@link #run}. */
    static void answer(Path directory) throws IOException {
        List<String> lines = new ArrayList<>();
        try {
            ImportRequest request = ImportRequest.parse(Files.readAllBytes(directory.resolve(REQUEST_FILE)));
            lines.add(ErrorCode.OK.name());
            lines.addAll(OnnxImport.prepare(directory, request));
        } catch (ContractException e) {
            lines.clear();
            lines.add(e.code().name());
            lines.add(String.valueOf(e.getMessage()));
        }
        Files.write(directory.resolve(ANSWER_FILE), lines, StandardCharsets.UTF_8);
    }
}
