package io.millrace.store;

import io.millrace.contract.ContractException;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Sha256;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The copy grows in a directory with its own name and takes its final name by one rename when all is verified, so whoever
 * sees the final name sees a whole package.
 */

/** One transfer of one package into the local cache. */
final class PackageFetch {
    private static final Logger logger = LoggerFactory.getLogger(PackageFetch.class);

    private final StoreConfig config;
    private final ObjectStore objects;
    private final String directory;
    private final String manifestSha256;
    private final Path target;
    private final PackageCache cache;
    private final LongAdder transfers;

    PackageFetch(
            StoreConfig config,
            ObjectStore objects,
            String directory,
            String manifestSha256,
            Path target,
            LongAdder transfers) {
        this.config = config;
        this.objects = objects;
        this.directory = directory;
        this.manifestSha256 = manifestSha256;
        this.target = target;
        this.transfers = transfers;
        this.cache = new PackageCache(Objects.requireNonNull(target.getParent()));
    }

    /** The verified copy, from the cache if it is there and sound. */
    Path run() {
        if (Files.isDirectory(target) && isSound()) {
            return target;
        }
        Path unfinished = null;
        try {
            unfinished = cache.createUnfinished();
            transfer(unfinished);
            move(unfinished);
        } catch (IOException e) {
            throw PackageFiles.ioFailed(
                    "package cannot be written to the cache", unfinished == null ? target : unfinished, e);
        } finally {
            if (unfinished != null) {
                PackageCache.deleteQuietly(unfinished);
            }
        }
        transfers.increment();
        cache.tidy(config.cacheBytesMax());
        return target;
    }

    /** Verifies the cached copy and marks it as used; removes it if it is damaged. */
    private boolean isSound() {
        try {
            verifyTarget();
            cache.touch(target);
            return true;
        } catch (ContractException e) {
            logger.warn("cached package is damaged and fetched again: cause={}", e.getMessage());
        } catch (IOException e) {
            logger.warn("cached package is gone and fetched again: cause={}", e.getMessage());
        }
        try {
            cache.discard(target);
        } catch (IOException e) {
            throw PackageFiles.ioFailed("damaged package cannot be set aside", target, e);
        }
        return false;
    }

    /** Bytes of a package's manifest, or null if there is none. */
    static byte @Nullable [] readManifest(ObjectStore objects, String directory) {
        String path = directory + "/" + ModelManifest.FILE_NAME;
        long length = objects.length(path);
        if (length < 0) {
            return null;
        }
        PackageFiles.checkManifestLength(length, directory);
        return length == 0 ? new byte[0] : objects.read(path, 0, (int) length);
    }

    private void transfer(Path unfinished) throws IOException {
        byte[] manifestBytes = readManifest(objects, directory);
        if (manifestBytes == null) {
            throw PackageFiles.corrupt(
                    "manifest is missing from its package",
                    "package=" + directory + ", file=" + ModelManifest.FILE_NAME + ", expectedSha256="
                            + manifestSha256);
        }
        checkManifestDigest(manifestBytes);
        ModelManifest manifest = PackageFiles.checkedManifest(manifestBytes, directory, config);
        PackageFiles.checkNames(new HashSet<>(objects.list(directory)), manifest, directory);
        for (ModelManifest.FileEntry file : manifest.files()) {
            PackageFiles.checkLength(file, objects.length(directory + "/" + file.name()), directory);
        }
        for (ModelManifest.FileEntry file : manifest.files()) {
            copy(file, unfinished.resolve(file.name()));
        }
        Files.write(unfinished.resolve(ModelManifest.FILE_NAME), manifestBytes);
    }

    private void checkManifestDigest(byte[] manifestBytes) {
        String actual = Sha256.hex(manifestBytes);
        if (!actual.equals(manifestSha256)) {
            throw PackageFiles.corrupt(
                    "manifest must have the digest of its deployment",
                    "package=" + directory + ", file=" + ModelManifest.FILE_NAME + ", expectedSha256=" + manifestSha256
                            + ", actualSha256=" + actual);
        }
    }

    private void copy(ModelManifest.FileEntry file, Path destination) throws IOException {
        String path = directory + "/" + file.name();
        MessageDigest digest = PackageFiles.digest();
        try (OutputStream out = Files.newOutputStream(destination)) {
            for (long offset = 0; offset < file.bytes(); ) {
                int wanted = (int) Math.min(ObjectStore.CHUNK_LENGTH, file.bytes() - offset);
                byte[] chunk = objects.read(path, offset, wanted);
                if (chunk == null || chunk.length != wanted) {
                    throw PackageFiles.corrupt(
                            "file must have the manifest's length",
                            "package=" + directory + ", file=" + file.name() + ", expectedBytes=" + file.bytes()
                                    + ", actualBytes=" + (offset + (chunk == null ? 0 : chunk.length)));
                }
                digest.update(chunk);
                out.write(chunk);
                offset += wanted;
            }
        }
        PackageFiles.checkDigest(file, HexFormat.of().formatHex(digest.digest()), directory);
    }

    /** Another process may have been first; then its copy is as good, once verified. */
    private void move(Path unfinished) throws IOException {
        try {
            Files.move(unfinished, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            if (!Files.isDirectory(target)) {
                throw e;
            }
            verifyTarget();
        }
    }

    private void verifyTarget() {
        byte[] manifestBytes = PackageFiles.readManifest(target);
        checkManifestDigest(manifestBytes);
        PackageFiles.verify(target, PackageFiles.checkedManifest(manifestBytes, target.toString(), config));
    }
}
