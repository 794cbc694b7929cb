package io.millrace.gateway.model;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Sha256;
import io.millrace.contract.envelope.ImportAnswer;
import io.millrace.contract.envelope.ImportRequest;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.engine.Engines;
import io.millrace.engine.OnnxCheck;
import io.millrace.gateway.core.Importer;
import io.millrace.store.ModelStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The package is finished in the store before its caller hears of it, and the row that names it is the caller's to write.
 * So a caller that goes away or rolls back leaves a directory in the store that nothing refers to: a whole package that
 * nobody will ask for. The same request again, as after a restart of the gateway, is the same package.
 */

/** Makes packages of model files from elsewhere, one at a time. Threads: any. */
public final class PackageImporter implements Importer, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(PackageImporter.class);
    private static final int WAITING_MAX = 16;

    /** What a model of this way is called where others name their algorithm. */
    private static final String ALGORITHM = "onnx";

    private final ModelStore store;
    private final ImportSource source;
    private final Path cacheDirectory;
    private final ThreadPoolExecutor thread;

    /**
     * An importer.
     *
     * @param cacheDirectory of local packages: new ones are put together there
     * @param importDirectory where local files may be imported from; null for nowhere
     * @param budgetBytes memory for models: a file that could not be loaded is refused
     */
    public PackageImporter(ModelStore store, Path cacheDirectory, @Nullable Path importDirectory, long budgetBytes) {
        this.store = store;
        this.source = new ImportSource(store, importDirectory, PackageLoader.fileBytesMax(budgetBytes));
        this.cacheDirectory = cacheDirectory;
        this.thread = new ThreadPoolExecutor(
                1,
                1,
                10,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(WAITING_MAX),
                task -> new Thread(task, "importer"));
        thread.allowCoreThreadTimeOut(true);
    }

    @Override
    public void take(byte[] document, BooleanSupplier wanted, long deadlineNanos, Waiter waiter) {
        try {
            thread.execute(new Task(document, wanted, deadlineNanos, waiter));
        } catch (RejectedExecutionException e) {
            waiter.failed(
                    thread.isShutdown()
                            ? shuttingDown()
                            : new ContractException(
                                    ErrorCode.QUEUE_FULL,
                                    "too many models are being imported: waitingImports="
                                            + thread.getQueue().size() + ", limit=" + WAITING_MAX,
                                    e));
        }
    }

    /** One import, in line or under way. */
    private final class Task implements Runnable {
        private final byte[] document;
        private final BooleanSupplier wanted;
        private final long deadlineNanos;
        private final Waiter waiter;

        private Task(byte[] document, BooleanSupplier wanted, long deadlineNanos, Waiter waiter) {
            this.document = document;
            this.wanted = wanted;
            this.deadlineNanos = deadlineNanos;
            this.waiter = waiter;
        }

        @Override
        public void run() {
            ImportAnswer answer;
            try {
                answer = importPackage(ImportRequest.parse(document), wanted, deadlineNanos);
            } catch (ContractException e) {
                waiter.failed(thread.isShutdown() ? shuttingDown() : e);
                return;
            } catch (IOException | RuntimeException | Error e) {
                log.error("import failed", e);
                waiter.failed(new ContractException(ErrorCode.INTERNAL, "import failed: reason=" + e, e));
                return;
            }
            waiter.imported(answer);
        }
    }

    private static ContractException shuttingDown() {
        return new ContractException(ErrorCode.SHUTTING_DOWN, "gateway is shutting down");
    }

    private ImportAnswer importPackage(ImportRequest request, BooleanSupplier wanted, long deadlineNanos)
            throws IOException {
        if (!request.format().equals(Engines.ONNX_FORMAT)) {
            throw new ContractException(
                    ErrorCode.UNSUPPORTED_KIND,
                    "format of an imported model must be " + Engines.ONNX_FORMAT + ": format=" + request.format());
        }
        checkWanted(wanted, deadlineNanos);
        Path directory = ModelStore.createWorkDirectory(cacheDirectory);
        try {
            Path model = directory.resolve(Engines.ONNX_FILE);
            source.copy(request.uri(), model, wanted);
            checkDigest(request, model);
            List<String> notes = OnnxCheck.run(directory, request, wanted, deadlineNanos);
            byte[] manifest = writeManifest(directory, request);
            checkWanted(wanted, deadlineNanos);
            return publish(directory, request, ModelManifest.parse(manifest), Sha256.hex(manifest), notes);
        } finally {
            ModelStore.removeWorkDirectory(directory);
        }
    }

    private static void checkWanted(BooleanSupplier wanted, long deadlineNanos) {
        if (!wanted.getAsBoolean()) {
            throw new ContractException(ErrorCode.CANCELLED, "import is cancelled");
        }
        long lateNanos = System.nanoTime() - deadlineNanos;
        if (lateNanos > 0) {
            throw new ContractException(
                    ErrorCode.DEADLINE_EXCEEDED, "import takes longer than its deadline: lateNanos=" + lateNanos);
        }
    }

    private static void checkDigest(ImportRequest request, Path model) throws IOException {
        String expected = request.sha256();
        if (expected == null) {
            return;
        }
        String actual = Sha256.hex(model);
        if (!actual.equals(expected)) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "model file must have the digest that was given: sha256=" + actual + ", expectedSha256=" + expected
                            + ", bytes=" + Files.size(model));
        }
    }

    private static byte[] writeManifest(Path directory, ImportRequest request) throws IOException {
        FittedPreprocessing fitted =
                FittedPreprocessing.parse(Files.readAllBytes(directory.resolve(ModelManifest.FITTED_FILE_NAME)));
        List<ModelManifest.FileEntry> files = new ArrayList<>();
        try (Stream<Path> present = Files.list(directory)) {
            for (Path file : present.sorted().toList()) {
                files.add(
                        new ModelManifest.FileEntry(file.getFileName().toString(), Files.size(file), Sha256.hex(file)));
            }
        }
        byte[] manifest = new ModelManifest(
                        ModelManifest.FORMAT_VERSION,
                        request.database(),
                        request.projectId(),
                        request.project(),
                        0,
                        ALGORITHM,
                        request.task(),
                        null,
                        Engines.ONNX_FORMAT,
                        files,
                        fitted.fittedId(),
                        fitted.inputs().fingerprint(),
                        fitted.width(),
                        fitted.target().labels(),
                        Map.of(),
                        request.createdAt())
                .toJson();
        Files.write(directory.resolve(ModelManifest.FILE_NAME), manifest);
        return manifest;
    }

    private ImportAnswer publish(
            Path directory, ImportRequest request, ModelManifest manifest, String sha256, List<String> notes)
            throws IOException {
        String uri = store.publish(
                ModelStore.importedDirectory(request.database(), request.projectId(), request.importId()), directory);
        long bytes = Files.size(directory.resolve(ModelManifest.FILE_NAME));
        for (ModelManifest.FileEntry file : manifest.files()) {
            bytes += file.bytes();
        }
        log.info(
                "model is imported: project={}, database={}, uri={}, bytes={}",
                request.project(),
                request.database(),
                uri,
                bytes);
        return new ImportAnswer(uri, sha256, bytes, manifest.format(), manifest.fittedId(), manifest.labels(), notes);
    }

    /** Cancels the import that runs, refuses those that wait. */
    @Override
    public void close() {
        for (Runnable waiting : thread.shutdownNow()) {
            ((Task) waiting).waiter.failed(shuttingDown());
        }
        try {
            if (!thread.awaitTermination(30, TimeUnit.SECONDS)) {
                log.warn("import does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
