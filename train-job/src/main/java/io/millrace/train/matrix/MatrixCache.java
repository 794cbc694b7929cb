package io.millrace.train.matrix;

import io.millrace.train.spec.SpecJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Layout of the cache directory:
 *
 *   cache.lock             held while the directories below are looked at or changed, never for long
 *   matrices/<key>/        complete matrices; matrix.json was written last, before the rename into place
 *   scratch/<name>.<uuid>/ exports under way and training attempts' temporary files
 *   owners/<name>.<uuid>   the owner of each scratch directory, and each reader of a matrix
 *
 * A scratch directory whose owner is dead is swept; a matrix without a living reader may be evicted. Nothing else
 * decides, so a crash at any point leaves only what the next opening sweeps.
 */

/**
 * Exported matrices on local disk, the least recently used evicted when they exceed a number of bytes.
 *
 * <p>Threads and processes of one machine: any number may use one directory.
 */
public final class MatrixCache {
    private static final Logger LOG = LoggerFactory.getLogger(MatrixCache.class);
    private static final String USED_FILE = "used";

    private final Path matrices;
    private final Path scratch;
    private final Path owners;
    private final ExclusiveSection section;
    private final long limitBytes;

    private MatrixCache(Path directory, long limitBytes) throws IOException {
        this.matrices = Files.createDirectories(directory.resolve("matrices"));
        this.scratch = Files.createDirectories(directory.resolve("scratch"));
        this.owners = Files.createDirectories(directory.resolve("owners"));
        this.section = new ExclusiveSection(directory.resolve("cache.lock"));
        this.limitBytes = limitBytes;
    }

    /**
     * Opens the cache and sweeps what dead processes left.
     *
     * @param directory made if missing
     * @param limitBytes size above which unused matrices are evicted
     */
    public static MatrixCache open(Path directory, long limitBytes) throws IOException {
        MatrixCache cache = new MatrixCache(directory.toAbsolutePath().normalize(), limitBytes);
        cache.section.run(cache::sweep);
        return cache;
    }

    /** The complete matrix of this key, kept from eviction until the answer is closed. */
    public Optional<CachedMatrix> find(MatrixKey key) throws IOException {
        return section.run(() -> {
            Path directory = matrices.resolve(key.directoryName());
            return Files.exists(directory.resolve(MatrixSet.MANIFEST_FILE))
                    ? Optional.of(lease(directory))
                    : Optional.empty();
        });
    }

    /** A new temporary directory, deleted when the answer is closed or when this process is found dead. */
    public Scratch scratch(String name) throws IOException {
        return section.run(() -> {
            String unique = name + "." + UUID.randomUUID();
            OwnerFile owner = OwnerFile.create(owners.resolve(unique));
            return new Scratch(Files.createDirectory(scratch.resolve(unique)), owner);
        });
    }

    /**
     * Makes an export visible. If another process was first, its matrix is used and this one dropped.
     *
     * @param export directory of the shards, complete; the caller still closes it
     * @param set its description
     */
    public CachedMatrix publish(Scratch export, MatrixSet set) throws IOException {
        SpecJson.write(export.directory().resolve(MatrixSet.MANIFEST_FILE), set);
        return section.run(() -> {
            Path directory = matrices.resolve(set.key().directoryName());
            if (!Files.exists(directory)) {
                Files.move(export.directory(), directory, StandardCopyOption.ATOMIC_MOVE);
            }
            CachedMatrix published = lease(directory);
            evict();
            return published;
        });
    }

    private CachedMatrix lease(Path directory) throws IOException {
        MatrixSet set = SpecJson.read(directory.resolve(MatrixSet.MANIFEST_FILE), MatrixSet.class);
        touch(directory.resolve(USED_FILE));
        String reader = directory.getFileName() + "." + UUID.randomUUID();
        return new CachedMatrix(directory, set, OwnerFile.create(owners.resolve(reader)));
    }

    private static void touch(Path file) throws IOException {
        if (!Files.exists(file)) {
            Files.createFile(file);
        }
        Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
    }

    private int sweep() throws IOException {
        int swept = 0;
        for (Path directory : Directories.children(scratch)) {
            if (!OwnerFile.ownerAlive(owners.resolve(directory.getFileName()))) {
                LOG.info("swept what a dead process left: directory={}", directory);
                Directories.delete(directory);
                swept++;
            }
        }
        for (Path owner : Directories.children(owners)) {
            if (!OwnerFile.ownerAlive(owner)) {
                Files.deleteIfExists(owner);
            }
        }
        for (Path directory : Directories.children(matrices)) {
            if (!Files.exists(directory.resolve(MatrixSet.MANIFEST_FILE))) {
                Directories.delete(directory);
                swept++;
            }
        }
        return swept;
    }

    private void evict() throws IOException {
        List<CachedSize> sizes = new ArrayList<>();
        for (Path directory : Directories.children(matrices)) {
            MatrixSet set = SpecJson.read(directory.resolve(MatrixSet.MANIFEST_FILE), MatrixSet.class);
            Path used = directory.resolve(USED_FILE);
            long usedMillis =
                    Files.exists(used) ? Files.getLastModifiedTime(used).toMillis() : 0;
            sizes.add(new CachedSize(directory, set.bytes(), usedMillis));
        }
        sizes.sort(Comparator.comparingLong(CachedSize::usedMillis));
        long total = sizes.stream().mapToLong(CachedSize::bytes).sum();
        for (CachedSize size : sizes) {
            if (total <= limitBytes) {
                return;
            }
            if (!inUse(size.directory())) {
                LOG.info("evicted matrix: directory={}, bytes={}", size.directory(), size.bytes());
                // The manifest goes first: a crash half way leaves no matrix that looks complete.
                Files.delete(size.directory().resolve(MatrixSet.MANIFEST_FILE));
                Directories.delete(size.directory());
                total -= size.bytes();
            }
        }
    }

    private boolean inUse(Path directory) throws IOException {
        for (Path owner : Directories.children(owners)) {
            if (owner.getFileName().toString().startsWith(directory.getFileName() + ".")
                    && OwnerFile.ownerAlive(owner)) {
                return true;
            }
        }
        return false;
    }

    private record CachedSize(Path directory, long bytes, long usedMillis) {}

    /** A complete matrix that is not evicted until this is closed. */
    public static final class CachedMatrix implements AutoCloseable {
        private final Path directory;
        private final MatrixSet set;
        private final OwnerFile reader;

        private CachedMatrix(Path directory, MatrixSet set, OwnerFile reader) {
            this.directory = directory;
            this.set = set;
            this.reader = reader;
        }

        public Path directory() {
            return directory;
        }

        public MatrixSet set() {
            return set;
        }

        @Override
        public void close() throws IOException {
            reader.close();
        }
    }

    /** A temporary directory that lives as long as this is open. */
    public static final class Scratch implements AutoCloseable {
        private final Path directory;
        private final OwnerFile owner;

        private Scratch(Path directory, OwnerFile owner) {
            this.directory = directory;
            this.owner = owner;
        }

        public Path directory() {
            return directory;
        }

        @Override
        public void close() throws IOException {
            Directories.delete(directory);
            owner.close();
        }
    }
}
