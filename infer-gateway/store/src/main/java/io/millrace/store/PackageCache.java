package io.millrace.store;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The directory is shared with other processes, so nothing is deleted under its final name: a package is first renamed,
 * which is one step, and what readers have open stays readable. Upkeep never fails a fetch: what cannot be removed costs
 * disk space, and is a line in the log.
 */

/** The local directory of verified packages: {@code <manifest digest>/}, and {@code .fetch-*} for what is unfinished. */
final class PackageCache {
    private static final Logger logger = LoggerFactory.getLogger(PackageCache.class);
    private static final String UNFINISHED_PREFIX = ".fetch-";

    /** A transfer takes less; what is older was left by a process that died. */
    private static final Duration UNFINISHED_AGE = Duration.ofHours(1);

    /** A package just fetched may be about to be loaded. */
    private static final Duration USED_AGE = Duration.ofMinutes(10);

    private final Path directory;

    PackageCache(Path directory) {
        this.directory = directory;
    }

    /** Makes a new directory for an unfinished package. */
    Path createUnfinished() throws IOException {
        Files.createDirectories(directory);
        return Files.createDirectory(unfinishedName());
    }

    private Path unfinishedName() {
        return directory.resolve(UNFINISHED_PREFIX + UUID.randomUUID());
    }

    /** Marks a package as used now. */
    void touch(Path target) throws IOException {
        Files.setLastModifiedTime(target, FileTime.from(Instant.now()));
    }

    /** Removes a package; its name is free when this returns. */
    void discard(Path target) throws IOException {
        Path aside = unfinishedName();
        try {
            Files.move(target, aside, StandardCopyOption.ATOMIC_MOVE);
        } catch (NoSuchFileException gone) {
            return;
        }
        deleteQuietly(aside);
    }

    /** Removes what dead processes left, and the longest unused packages while all together are above a limit. */
    void tidy(long bytesMax) {
        try {
            Instant now = Instant.now();
            List<Entry> packages = new ArrayList<>();
            long total = 0;
            for (Path path : children()) {
                Entry entry = entry(path);
                boolean unfinished = path.getFileName().toString().startsWith(UNFINISHED_PREFIX);
                if (entry != null && unfinished && entry.used().isBefore(now.minus(UNFINISHED_AGE))) {
                    deleteQuietly(path);
                } else if (entry != null && !unfinished) {
                    packages.add(entry);
                    total += entry.bytes();
                }
            }
            packages.sort(Comparator.comparing(Entry::used));
            for (Entry entry : packages) {
                if (total <= bytesMax || !entry.used().isBefore(now.minus(USED_AGE))) {
                    break;
                }
                logger.info("cached package is removed: path={}, bytes={}, limit={}", entry.path(), total, bytesMax);
                discard(entry.path());
                total -= entry.bytes();
            }
        } catch (IOException e) {
            logger.warn("cache cannot be tidied: path={}, cause={}", directory, e.getMessage());
        }
    }

    private record Entry(Path path, Instant used, long bytes) {}

    private List<Path> children() throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.toList();
        }
    }

    /** Null if another process removed it meanwhile. */
    private static @Nullable Entry entry(Path path) throws IOException {
        try (Stream<Path> files = Files.isDirectory(path) ? Files.list(path) : Stream.of(path)) {
            long bytes = 0;
            for (Path file : files.toList()) {
                bytes += Files.size(file);
            }
            return new Entry(path, Files.getLastModifiedTime(path).toInstant(), bytes);
        } catch (NoSuchFileException gone) {
            return null;
        }
    }

    /** Removes a directory and all in it, as far as possible. */
    static void deleteQuietly(Path root) {
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
                public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                    if (failure instanceof NoSuchFileException) {
                        return FileVisitResult.CONTINUE;
                    }
                    throw failure;
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
