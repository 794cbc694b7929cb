package io.millrace.train.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.train.matrix.MatrixCache.CachedMatrix;
import io.millrace.train.matrix.MatrixCache.Scratch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MatrixCacheTest {
    @TempDir
    private Path directory;

    @Test
    void findsWhatWasPublished() throws IOException {
        MatrixCache cache = MatrixCache.open(directory, 1_000);
        assertThat(cache.find(key(1))).isEmpty();
        publish(cache, 1, 10).close();
        try (CachedMatrix found = cache.find(key(1)).orElseThrow()) {
            assertThat(found.set().key()).isEqualTo(key(1));
            assertThat(found.directory().resolve("train-0")).isDirectory();
        }
        assertThat(cache.find(key(2))).isEmpty();
        assertThat(children("scratch")).isZero();
        assertThat(children("owners")).isZero();
    }

    @Test
    void keepsTheFirstOfTwoExportsOfTheSameMatrix() throws IOException {
        MatrixCache cache = MatrixCache.open(directory, 1_000);
        try (CachedMatrix first = publish(cache, 1, 10);
                CachedMatrix second = publish(cache, 1, 10)) {
            assertThat(second.directory()).isEqualTo(first.directory());
        }
    }

    @Test
    void evictsTheLeastRecentlyUsedThatNobodyReads() throws IOException {
        MatrixCache cache = MatrixCache.open(directory, 250);
        CachedMatrix read = publish(cache, 1, 100);
        usedAt(read, 1);
        CachedMatrix idle = publish(cache, 2, 100);
        usedAt(idle, 2);
        idle.close();
        publish(cache, 3, 100).close();
        assertThat(cache.find(key(2))).isEmpty();
        assertThat(read.directory()).isDirectory();
        read.close();
    }

    @Test
    void sweepsWhatADeadProcessLeft() throws IOException {
        MatrixCache cache = MatrixCache.open(directory, 1_000);
        try (Scratch living = cache.scratch("living")) {
            Path dead = Files.createDirectory(directory.resolve("scratch").resolve("dead.1"));
            Files.createFile(dead.resolve("bins"));
            Files.writeString(directory.resolve("owners").resolve("dead.1"), "1073741824 12345");
            Path half = Files.createDirectory(directory.resolve("matrices").resolve("half"));
            Files.createFile(half.resolve("features.bin"));
            MatrixCache.open(directory, 1_000);
            assertThat(dead).doesNotExist();
            assertThat(half).doesNotExist();
            assertThat(directory.resolve("owners").resolve("dead.1")).doesNotExist();
            assertThat(living.directory()).isDirectory();
        }
    }

    @Test
    void aProcessNumberUsedAgainIsNotTheOwner() throws IOException {
        Path owner = directory.resolve("owner");
        Files.writeString(owner, ProcessHandle.current().pid() + " 1");
        assertThat(OwnerFile.ownerAlive(owner)).isFalse();
        try (OwnerFile own = OwnerFile.create(owner)) {
            assertThat(own).isNotNull();
            assertThat(OwnerFile.ownerAlive(owner)).isTrue();
        }
        assertThat(OwnerFile.ownerAlive(owner)).isFalse();
    }

    private static CachedMatrix publish(MatrixCache cache, long snapshot, long bytes) throws IOException {
        try (Scratch export = cache.scratch("export")) {
            Files.createDirectory(export.directory().resolve("train-0"));
            return cache.publish(export, new MatrixSet(key(snapshot), 1, 2, 1, 0, 1, 0, 0, bytes));
        }
    }

    private static MatrixKey key(long snapshot) {
        return new MatrixKey("public.t", snapshot, "f", "y", new SplitSpec(0.25, Sampling.RANDOM, 42, 0), 1);
    }

    private static void usedAt(CachedMatrix matrix, long second) throws IOException {
        Files.setLastModifiedTime(matrix.directory().resolve("used"), FileTime.from(Instant.ofEpochSecond(second)));
    }

    private long children(String name) throws IOException {
        return Directories.children(directory.resolve(name)).size();
    }
}
