package io.millrace.store;

import io.millrace.contract.ContractException;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Sha256;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The copy grows in a directory with its own name and takes its final name by one rename when all is verified, so whoever
 * sees the final name sees a whole package. A process that dies leaves the unfinished directory; the next fetch into the
 * same cache removes such remains once they are old.
 */

/** One transfer of one package into the local cache. */
final class PackageFetch {
    private static final Logger logger = LoggerFactory.getLogger(PackageFetch.class);
    private static final String UNFINISHED_PREFIX = ".fetch-";
    private static final Duration UNFINISHED_AGE = Duration.ofHours(1);

    private final StoreConfig config;
    private final ObjectStore objects;
    private final String directory;
    private final String manifestSha256;
    private final Path target;
    private final Path cache;
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
        this.cache = Objects.requireNonNull(target.getParent());
    }

    /** The verified copy, from the cache if it is there and sound. */
    Path run() {
        if (Files.isDirectory(target)) {
            try {
                verifyTarget();
                Files.setLastModifiedTime(target, FileTime.from(Instant.now()));
                return target;
            } catch (ContractException e) {
                logger.warn("cached package is damaged and fetched again: cause={}", e.getMessage());
                discardTarget();
            } catch (IOException e) {
                throw PackageFiles.ioFailed("cached package cannot be marked as used", target, e);
            }
        }
        Path unfinished = cache.resolve(UNFINISHED_PREFIX + UUID.randomUUID());
        try {
            Files.createDirectories(cache);
            sweepUnfinished();
            Files.createDirectory(unfinished);
            transfer(unfinished);
            move(unfinished);
            transfers.increment();
            return target;
        } catch (IOException e) {
            throw PackageFiles.ioFailed("package cannot be written to the cache", unfinished, e);
        } finally {
            deleteQuietly(unfinished);
        }
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

    /** Renamed first: a reader that has the directory open keeps what it opened. */
    private void discardTarget() {
        Path aside = cache.resolve(UNFINISHED_PREFIX + UUID.randomUUID());
        try {
            Files.move(target, aside, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw PackageFiles.ioFailed("damaged package cannot be set aside", target, e);
        }
        deleteQuietly(aside);
    }

    private void sweepUnfinished() throws IOException {
        Instant oldest = Instant.now().minus(UNFINISHED_AGE);
        List<Path> remains;
        try (Stream<Path> entries = Files.list(cache)) {
            remains = entries.filter(entry -> entry.getFileName().toString().startsWith(UNFINISHED_PREFIX))
                    .toList();
        }
        for (Path remain : remains) {
            if (Files.exists(remain)
                    && Files.getLastModifiedTime(remain).toInstant().isBefore(oldest)) {
                deleteQuietly(remain);
            }
        }
    }

    /** Remains cost disk space only, so a failure to remove them is worth a line in the log. */
    private static void deleteQuietly(Path root) {
        if (!Files.exists(root)) {
            return;
        }
        try {
            Files.walkFileTree(root, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure)
                        throws IOException {
                    Files.deleteIfExists(visited);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            logger.warn("remains cannot be removed from the cache: path={}, cause={}", root, e.getMessage());
        }
    }
}
