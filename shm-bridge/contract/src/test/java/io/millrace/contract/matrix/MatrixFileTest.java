package io.millrace.contract.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Golden;
import io.millrace.contract.Survival;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MatrixFileTest {
    private static final long FINGERPRINT = 0xfedc_ba98_7654_3210L;

    @TempDir
    Path directory;

    private static float value(long row, int column) {
        return row * 10 + column;
    }

    private void write(int rows, int width) {
        try (MatrixWriter writer = MatrixWriter.create(directory, width, FINGERPRINT)) {
            append(writer, rows, width);
            writer.finish();
            assertThat(writer.isFinished()).isTrue();
        }
    }

    private static void append(MatrixWriter writer, int rows, int width) {
        float[] row = new float[width + 1];
        for (int index = 0; index < rows; index++) {
            for (int column = 0; column < width; column++) {
                row[column + 1] = value(index, column);
            }
            writer.append(row, 1, -index, "key " + index);
        }
    }

    @Test
    void readsBackWhatItWrites() {
        write(1000, 3);
        try (MatrixFile matrix = MatrixFile.open(directory)) {
            assertThat(matrix.rowCount()).isEqualTo(1000);
            assertThat(matrix.width()).isEqualTo(3);
            assertThat(matrix.fingerprint()).isEqualTo(FINGERPRINT);
            assertThat(matrix.blockLimitRows()).isGreaterThanOrEqualTo(100_000);
            checkRows(matrix, 0, 1000);
            assertThat(matrix.label(999)).isEqualTo(-999f);
            float[] row = new float[3];
            matrix.row(7, row);
            assertThat(row).containsExactly(70, 71, 72);
            List<String> keys = new ArrayList<>();
            try (MatrixFile.Keys iterator = matrix.keys()) {
                iterator.forEachRemaining(keys::add);
            }
            assertThat(keys).hasSize(1000).startsWith("key 0", "key 1").endsWith("key 999");
            matrix.verify();
        }
    }

    private static void checkRows(MatrixFile matrix, long first, int rows) {
        ByteBuffer block = matrix.block(first, rows);
        assertThat(block.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
        assertThat(block.isDirect()).isTrue();
        assertThat(block.isReadOnly()).isTrue();
        FloatBuffer floats = block.asFloatBuffer();
        assertThat(floats.remaining()).isEqualTo(rows * matrix.width());
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < matrix.width(); column++) {
                assertThat(floats.get(row * matrix.width() + column)).isEqualTo(value(first + row, column));
            }
        }
    }

    @Test
    void blocksLieAcrossSegments() {
        write(100, 3);
        // 96 bytes: a segment begins every 4 rows, so every block of up to 4 rows from any row is tried.
        try (MatrixFile matrix = MatrixFile.open(directory, 96)) {
            assertThat(matrix.blockLimitRows()).isEqualTo(4);
            for (int first = 0; first < 100; first++) {
                for (int rows = 0; rows <= Math.min(4, 100 - first); rows++) {
                    checkRows(matrix, first, rows);
                    assertThat(matrix.labels(first, rows).remaining()).isEqualTo(rows * 4);
                }
                assertThat(matrix.label(first)).isEqualTo(-first);
            }
            assertThatThrownBy(() -> matrix.block(98, 3))
                    .isInstanceOf(IndexOutOfBoundsException.class)
                    .hasMessage("block must be inside the matrix: firstRow=98, rows=3, rowCount=100, limitRows=4");
            assertThatThrownBy(() -> matrix.block(0, 5)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> matrix.block(-1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void aRowWiderThanASegmentHasItsOwn() {
        write(5, 100);
        try (MatrixFile matrix = MatrixFile.open(directory, 96)) {
            assertThat(matrix.blockLimitRows()).isEqualTo(1);
            for (int row = 0; row < 5; row++) {
                checkRows(matrix, row, 1);
            }
        }
    }

    @Test
    void offsetsBeyondTwoGibibytesAreReached() throws IOException {
        int width = 1 << 20;
        int rows = 600;
        write(0, width);
        // A sparse file: 600 rows of 4 MiB take no room on the disk.
        try (RandomAccessFile features = new RandomAccessFile(
                        directory.resolve(MatrixLayout.FEATURES).toFile(), "rw");
                RandomAccessFile labels = new RandomAccessFile(
                        directory.resolve(MatrixLayout.LABELS).toFile(), "rw");
                RandomAccessFile header = new RandomAccessFile(
                        directory.resolve(MatrixLayout.HEADER).toFile(), "rw")) {
            long bytes = (long) rows * width * Float.BYTES;
            features.setLength(bytes);
            features.seek(bytes - Float.BYTES);
            features.writeInt(Integer.reverseBytes(Float.floatToIntBits(42f)));
            labels.setLength((long) rows * Float.BYTES);
            header.write(new MatrixHeader(width, rows, FINGERPRINT).encode());
            Path manifest = directory.resolve(MatrixLayout.MANIFEST);
            Files.writeString(
                    manifest,
                    Files.readString(manifest)
                            .replace(
                                    "{\"name\":\"features.bin\",\"bytes\":0",
                                    "{\"name\":\"features.bin\",\"bytes\":" + bytes)
                            .replace(
                                    "{\"name\":\"labels.bin\",\"bytes\":0",
                                    "{\"name\":\"labels.bin\",\"bytes\":" + rows * Float.BYTES));
        }
        try (MatrixFile matrix = MatrixFile.open(directory)) {
            assertThat(matrix.block(rows - 1, 1).getFloat(width * Float.BYTES - Float.BYTES))
                    .isEqualTo(42f);
            assertThat(matrix.block(500, 100).remaining()).isEqualTo(100 * width * Float.BYTES);
        }
    }

    @Test
    void anEmptyMatrixIsAMatrix() {
        write(0, 2);
        try (MatrixFile matrix = MatrixFile.open(directory)) {
            assertThat(matrix.rowCount()).isZero();
            assertThat(matrix.block(0, 0).remaining()).isZero();
            try (MatrixFile.Keys keys = matrix.keys()) {
                assertThat(keys.hasNext()).isFalse();
            }
        }
    }

    @Test
    void bytesAreWhereTheDiagramSays() throws IOException {
        write(2, 3);
        Golden.check(
                "matrix-header.hex",
                Golden.hex(Files.readAllBytes(directory.resolve(MatrixLayout.HEADER)), MatrixLayout.HEADER_LENGTH));
    }

    @Test
    void aWriterThatDiedLeavesNoMatrix() {
        try (MatrixWriter writer = MatrixWriter.create(directory, 3, FINGERPRINT)) {
            append(writer, 1000, 3);
        }
        assertThat(MatrixFile.isComplete(directory)).isFalse();
        assertThatThrownBy(() -> MatrixFile.open(directory))
                .isInstanceOf(ContractException.class)
                .hasMessage("matrix is not complete: directory=" + directory + ", missingFile=manifest.json")
                .extracting("code")
                .isEqualTo(ErrorCode.CORRUPT_MATRIX);
    }

    @Test
    void aNewWriterReplacesWhatWasThere() {
        write(10, 3);
        try (MatrixWriter writer = MatrixWriter.create(directory, 2, 1)) {
            assertThat(MatrixFile.isComplete(directory)).isFalse();
            append(writer, 4, 2);
            writer.finish();
        }
        try (MatrixFile matrix = MatrixFile.open(directory)) {
            assertThat(matrix.rowCount()).isEqualTo(4);
            checkRows(matrix, 0, 4);
        }
    }

    @Test
    void refusesTruncatedFilesByNameAndSize() throws IOException {
        for (String name : List.of(MatrixLayout.FEATURES, MatrixLayout.LABELS, MatrixLayout.KEYS)) {
            write(10, 3);
            Path file = directory.resolve(name);
            byte[] bytes = Files.readAllBytes(file);
            Files.write(file, Arrays.copyOf(bytes, bytes.length - 1));
            assertThatThrownBy(() -> MatrixFile.open(directory))
                    .isInstanceOf(ContractException.class)
                    .hasMessage("matrix file has the wrong size: file=" + file + ", bytes=" + (bytes.length - 1)
                            + ", manifestBytes=" + bytes.length + ", expectedBytes=" + bytes.length);
            Files.delete(file);
            assertThatThrownBy(() -> MatrixFile.open(directory)).hasMessageContaining("bytes=-1");
        }
    }

    @Test
    void headerAndManifestSurviveDamage() throws IOException {
        write(10, 3);
        byte[] header = Files.readAllBytes(directory.resolve(MatrixLayout.HEADER));
        assertThat(MatrixHeader.decode(header)).isEqualTo(new MatrixHeader(3, 10, FINGERPRINT));
        Survival.refusesEveryPrefix(header, MatrixHeader::decode);
        Survival.refusesEveryBitFlip(header, MatrixHeader::decode);
        byte[] manifest = Files.readAllBytes(directory.resolve(MatrixLayout.MANIFEST));
        assertThat(MatrixManifest.parse(manifest).toJson()).isEqualTo(manifest);
        Survival.refusesEveryPrefix(manifest, MatrixManifest::parse);
        Survival.survivesEveryBitFlip(manifest, MatrixManifest::parse);
    }

    @Test
    void opensOnlyWhatHeaderAndManifestAgreeOn() throws IOException {
        write(10, 3);
        Path header = directory.resolve(MatrixLayout.HEADER);
        replace(header, new MatrixHeader(3, 11, FINGERPRINT).encode());
        assertThatThrownBy(() -> MatrixFile.open(directory))
                .isInstanceOf(ContractException.class)
                .hasMessage("matrix file has the wrong size: file=" + directory.resolve(MatrixLayout.FEATURES)
                        + ", bytes=120, manifestBytes=120, expectedBytes=132");
        replace(header, new MatrixHeader(3, Long.MAX_VALUE, FINGERPRINT).encode());
        assertThatThrownBy(() -> MatrixFile.open(directory))
                .hasMessage("matrix shape is out of range: rows=9223372036854775807, width=3");
        Files.delete(header);
        assertThatThrownBy(() -> MatrixFile.open(directory))
                .hasMessage("matrix is not complete: directory=" + directory + ", missingFile=header.bin");
        byte[] manifest = Files.readAllBytes(directory.resolve(MatrixLayout.MANIFEST));
        byte[] other = new String(manifest, StandardCharsets.UTF_8)
                .replace("\"format-version\":1", "\"format-version\":2")
                .getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> MatrixManifest.parse(other))
                .hasMessage("matrix version is unknown: version=2, expectedVersion=1")
                .extracting("code")
                .isEqualTo(ErrorCode.UNKNOWN_VERSION);
    }

    private static void replace(Path file, byte[] bytes) {
        try {
            Files.write(file, bytes);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Test
    void verifyNamesTheDamagedFile() throws IOException {
        for (String name : List.of(MatrixLayout.FEATURES, MatrixLayout.LABELS, MatrixLayout.KEYS)) {
            write(10, 3);
            Path file = directory.resolve(name);
            replace(file, Survival.flipped(Files.readAllBytes(file), 9));
            try (MatrixFile matrix = MatrixFile.open(directory)) {
                assertThatThrownBy(matrix::verify)
                        .isInstanceOf(ContractException.class)
                        .hasMessageStartingWith("matrix file checksum is wrong: file=" + file + ", checksum=0x");
            }
        }
    }

    @Test
    void keysSurviveDamage() throws IOException {
        write(3, 1);
        Path keys = directory.resolve(MatrixLayout.KEYS);
        byte[] valid = Files.readAllBytes(keys);
        Survival.survivesEveryBitFlip(valid, bytes -> {
            replace(keys, bytes);
            try (MatrixFile matrix = MatrixFile.open(directory);
                    MatrixFile.Keys iterator = matrix.keys()) {
                iterator.forEachRemaining(key -> {});
            }
        });
    }

    @Test
    void refusesAWidthOutOfRange() {
        assertThatThrownBy(() -> MatrixWriter.create(directory, 0, 0))
                .isInstanceOf(ContractException.class)
                .hasMessage("matrix width is out of range: width=0, min=1, max=1048576");
    }

    @Test
    void aClosedMatrixSaysSo() {
        write(3, 1);
        MatrixFile matrix = MatrixFile.open(directory);
        ByteBuffer kept = matrix.block(0, 3);
        matrix.close();
        assertThat(kept.getFloat(0)).isEqualTo(0f);
        assertThatThrownBy(() -> matrix.block(0, 1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("matrix is closed");
    }
}
