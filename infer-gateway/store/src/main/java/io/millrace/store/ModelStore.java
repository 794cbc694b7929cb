package io.millrace.store;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Sha256;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * A package is a directory written once. Its manifest names every other file with length and SHA-256 and is written last,
 * in one piece: no manifest, no package. So a publisher may die at any point and leave only files nobody looks at; the
 * next attempt overwrites them. A reader is given the SHA-256 of the manifest (from the database) and believes nothing
 * else: the manifest must have that digest, and every file the digest in the manifest.
 */

/**
 * Publishes and fetches model packages.
 *
 * <p>Threads: any number. Unless said otherwise, methods throw {@link ContractException} with {@link
 * ErrorCode#STORE_UNAVAILABLE} if the store fails or does not answer in time, {@link ErrorCode#INVALID_VALUE} for a uri or
 * directory that is not plain, {@link ErrorCode#CANCELLED} if the thread is interrupted, {@link ErrorCode#IO_FAILED} or
 * {@link ErrorCode#DISK_FULL} for the local disk.
 */
public final class ModelStore implements AutoCloseable {
    private static final Logger logger = LoggerFactory.getLogger(ModelStore.class);
    private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

    /** What the uri of a file to import begins with; the rest is its path in the store's directory for such files. */
    public static final String IMPORT_URI_PREFIX = StorePath.URI_PREFIX + StorePath.IMPORT_DIRECTORY + "/";

    private final StoreConfig config;
    private final ObjectStore objects;
    private final Map<Path, CompletableFuture<Path>> fetches = new ConcurrentHashMap<>();
    private final LongAdder transfers = new LongAdder();

    /**
     * Opens the store; an object store is not contacted yet.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} if the scheme or an option is not known to OpenDAL
     */
    public ModelStore(StoreConfig config) {
        this.config = config;
        this.objects = new ObjectStore(config);
    }

    /** The directory for one attempt of one run: {@code <database>/<project id>/<run id>-<attempt>}, database escaped. */
    public static String directory(String database, long projectId, long runId, int attempt) {
        return StorePath.directory(database, projectId, runId, attempt);
    }

    /** The directory for one import: {@code <database>/<project id>/import-<import id>}, database escaped. */
    public static String importedDirectory(String database, long projectId, String importId) {
        return StorePath.importedDirectory(database, projectId, importId);
    }

    /**
     * Makes a local package visible in the store: files first, manifest last.
     *
     * <p>Repeating with the same package is harmless, also after a crash half way.
     *
     * @param directory relative to the store's root, as {@link #directory} makes it
     * @param localPackage exactly the manifest and the files it names
     * @return {@code store:<directory>}
     * @throws ContractException {@link ErrorCode#CORRUPT_PACKAGE} if the local package does not fit its own manifest,
     *     {@link ErrorCode#MODEL_TOO_LARGE} if it is above the limit, {@link ErrorCode#INVALID_VALUE} if the directory
     *     already holds another package, {@link PublishUnknownException} if it is not known whether the manifest arrived
     */
    public String publish(String directory, Path localPackage) {
        String target = StorePath.validDirectory(directory);
        byte[] manifestBytes = PackageFiles.readManifest(localPackage);
        ModelManifest manifest = PackageFiles.checkedManifest(manifestBytes, localPackage.toString(), config);
        PackageFiles.verify(localPackage, manifest);
        String manifestPath = target + "/" + ModelManifest.FILE_NAME;
        byte[] present = readManifestObject(target);
        if (present != null) {
            return sameOrRefused(target, present, manifestBytes);
        }
        for (ModelManifest.FileEntry file : manifest.files()) {
            String path = target + "/" + file.name();
            objects.writeFile(path, localPackage.resolve(file.name()), file.bytes());
            long length = objects.length(path);
            if (length != file.bytes()) {
                throw new ContractException(
                        ErrorCode.STORE_UNAVAILABLE,
                        "store must hold what was written: path=" + path + ", expectedBytes=" + file.bytes()
                                + ", actualBytes=" + length);
            }
        }
        writeManifest(target, manifestPath, manifestBytes);
        logger.info(
                "package is published: directory={}, files={}",
                target,
                manifest.files().size());
        return StorePath.URI_PREFIX + target;
    }

    private static String sameOrRefused(String target, byte[] present, byte[] wanted) {
        if (!Arrays.equals(present, wanted)) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "package directory must be new: directory=" + target + ", presentManifest=" + Sha256.hex(present)
                            + ", newManifest=" + Sha256.hex(wanted));
        }
        return StorePath.URI_PREFIX + target;
    }

    /** A write that fails may still have arrived; only looking tells. */
    private void writeManifest(String target, String path, byte[] bytes) {
        try {
            objects.write(path, bytes);
        } catch (ContractException failure) {
            byte[] present;
            try {
                present = readManifestObject(target);
            } catch (ContractException e) {
                failure.addSuppressed(e);
                throw new PublishUnknownException(
                        "outcome of publishing is unknown: directory=" + target + ", cause=" + failure.getMessage(),
                        failure);
            }
            if (present == null || !Arrays.equals(present, bytes)) {
                throw failure;
            }
        }
    }

    /**
     * A verified local copy of a package.
     *
     * <p>Concurrent calls for one package, in this process, share one transfer; other processes may use the same cache.
     *
     * @param uri as {@link #publish} returned it
     * @param manifestSha256 64 lower-case hexadecimal digits; the package must have exactly this manifest
     * @param cacheDirectory local; made if absent; copies are named by their manifest's digest
     * @return the directory of the copy, complete and verified at this moment
     * @throws ContractException {@link ErrorCode#CORRUPT_PACKAGE} if a file is missing, truncated, altered or not in the
     *     manifest, {@link ErrorCode#UNKNOWN_VERSION} if the manifest is of another version, {@link
     *     ErrorCode#MODEL_TOO_LARGE} if the package is above the limit
     */
    public Path fetch(String uri, String manifestSha256, Path cacheDirectory) {
        String directory = StorePath.directoryOf(uri);
        if (!SHA256.matcher(manifestSha256).matches()) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "manifest digest must be 64 hexadecimal digits: length=" + manifestSha256.length());
        }
        Path target = cacheDirectory.toAbsolutePath().normalize().resolve(manifestSha256);
        CompletableFuture<Path> mine = new CompletableFuture<>();
        CompletableFuture<Path> first = fetches.putIfAbsent(target, mine);
        if (first != null) {
            return await(first, directory);
        }
        try {
            Path fetched = new PackageFetch(config, objects, directory, manifestSha256, target, transfers).run();
            mine.complete(fetched);
            return fetched;
        } catch (RuntimeException | Error e) {
            mine.completeExceptionally(e);
            throw e;
        } finally {
            fetches.remove(target, mine);
        }
    }

    /**
     * A new directory for a package in the making. What a dead process leaves is removed with the cache's upkeep.
     *
     * @param cacheDirectory local; made if absent
     */
    public static Path createWorkDirectory(Path cacheDirectory) {
        try {
            return new PackageCache(cacheDirectory).createUnfinished();
        } catch (IOException e) {
            throw PackageFiles.ioFailed("work directory cannot be made", cacheDirectory, e);
        }
    }

    /** Removes such a directory and all in it. */
    public static void removeWorkDirectory(Path directory) {
        PackageCache.deleteQuietly(directory);
    }

    /**
     * Copies a file that was put into the store to be imported.
     *
     * @param uri begins with {@link #IMPORT_URI_PREFIX}: no package can be read this way
     * @param target a local file, made or replaced
     * @param bytesMax largest file
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} also if there is no such file, {@link
     *     ErrorCode#MODEL_TOO_LARGE} if it is above the limit
     */
    public void fetchFile(String uri, Path target, long bytesMax) {
        String path = StorePath.importPathOf(uri);
        long bytes = objects.length(path);
        if (bytes < 0) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE, "file to import must be in the store: uri=" + StorePath.shortened(uri));
        }
        if (bytes > bytesMax) {
            throw new ContractException(
                    ErrorCode.MODEL_TOO_LARGE,
                    "model file must be within its limit: bytes=" + bytes + ", limitBytes=" + bytesMax);
        }
        try {
            long copied = objects.copyTo(path, bytes, target);
            if (copied != bytes) {
                throw new ContractException(
                        ErrorCode.STORE_UNAVAILABLE,
                        "file must stay as it is while it is read: path=" + path + ", expectedBytes=" + bytes
                                + ", actualBytes=" + copied);
            }
        } catch (IOException e) {
            throw PackageFiles.ioFailed("file cannot be written", target, e);
        }
    }

    /** The first caller's waits are all bounded, so this one ends too. */
    private static Path await(CompletableFuture<Path> first, String directory) {
        try {
            return first.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ContractException(
                    ErrorCode.CANCELLED, "store operation is cancelled: operation=fetch, path=" + directory, e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ContractException failure) {
                throw new ContractException(failure.code(), String.valueOf(failure.getMessage()), failure);
            }
            throw new IllegalStateException("shared fetch failed: directory=" + directory, e.getCause());
        }
    }

    /** Removes a package: its manifest first, so that it is never half visible; none is no error. */
    public void delete(String uri) {
        String directory = StorePath.directoryOf(uri);
        objects.delete(directory + "/" + ModelManifest.FILE_NAME);
        objects.deleteAll(directory);
    }

    /** Whether a whole package is visible there; says nothing of its integrity. */
    public boolean exists(String uri) {
        return objects.length(StorePath.directoryOf(uri) + "/" + ModelManifest.FILE_NAME) >= 0;
    }

    private byte @Nullable [] readManifestObject(String directory) {
        return PackageFetch.readManifest(objects, directory);
    }

    /** Packages that were transferred into a cache, so far. */
    public long transferCount() {
        return transfers.sum();
    }

    @Override
    public void close() {
        objects.close();
    }
}
