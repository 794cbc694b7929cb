package io.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.Task;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.lake.testing.TestingLake;
import io.millrace.lake.testing.TestingTable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.iceberg.BlobMetadata;
import org.apache.iceberg.GenericBlobMetadata;
import org.apache.iceberg.GenericStatisticsFile;
import org.apache.iceberg.Table;
import org.apache.iceberg.puffin.Blob;
import org.apache.iceberg.puffin.Puffin;
import org.apache.iceberg.puffin.PuffinCompressionCodec;
import org.apache.iceberg.puffin.PuffinWriter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FittedStoreTest {
    @TempDir
    Path directory;

    private Lake lake;
    private TestingTable rows;
    private long snapshot;

    @BeforeEach
    void open() {
        lake = Lake.open(TestingLake.sqlite(directory));
        rows = TestingLake.table(lake, "t", "id integer", "a real", "b real", "y integer");
        rows.append(List.of(rows.row(1, 1f, 4f, 0), rows.row(2, 2f, 5f, 1), rows.row(3, 3f, 6f, 1)));
        snapshot = rows.snapshotId();
    }

    @AfterEach
    void close() {
        lake.close();
    }

    @Test
    void keepsOnePerRequestAndTheBlobsOfOthers() throws IOException {
        writeForeignBlob();
        FittedPreprocessing one = fitted(List.of("a"));
        FittedPreprocessing two = fitted(List.of("a", "b"));
        FittedStore.write(rows.table(), snapshot, 1, one);
        FittedStore.write(rows.table(), snapshot, 2, two);
        assertThat(FittedStore.read(rows.table(), snapshot, 1)).isEqualTo(one);
        assertThat(FittedStore.read(rows.table(), snapshot, 2)).isEqualTo(two);
        FittedStore.write(rows.table(), snapshot, 1, two);
        assertThat(FittedStore.read(lake.table("public.t"), snapshot, 1)).isEqualTo(two);
        assertThat(blobTypes()).containsExactlyInAnyOrder("other", "millrace-fitted-v1", "millrace-fitted-v1");
        assertThat(rows.table().currentSnapshot().snapshotId()).isEqualTo(snapshot);

        // Writing what is there changes nothing.
        String file = rows.table().statisticsFiles().get(0).path();
        FittedStore.write(rows.table(), snapshot, 1, two);
        assertThat(rows.table().statisticsFiles().get(0).path()).isEqualTo(file);
    }

    @Test
    void livesAsLongAsItsSnapshot() {
        FittedStore.write(rows.table(), snapshot, 1, fitted(List.of("a")));
        rows.append(List.of(rows.row(4, 4f, 4f, 0)));
        long later = rows.snapshotId();
        assertThatThrownBy(() -> FittedStore.read(rows.table(), later, 1))
                .hasMessage("snapshot has no fitted preprocessing: table=millrace.public.t, snapshot=" + later
                        + ", snapshotId=1");
        SnapshotTags.tag(rows.table(), snapshot, SnapshotTags.nameOf(1));
        expire();
        assertThat(FittedStore.read(rows.table(), snapshot, 1)).isEqualTo(fitted(List.of("a")));
        rows.table().manageSnapshots().removeTag(SnapshotTags.nameOf(1)).commit();
        expire();
        assertThatThrownBy(() -> FittedStore.write(rows.table(), snapshot, 1, fitted(List.of("a"))))
                .hasMessage("snapshot is not in the table: table=millrace.public.t, snapshot=" + snapshot);
        assertThat(rows.table().statisticsFiles()).isEmpty();
    }

    @Test
    void losesNothingWhenManyWriteAtOnce() throws Exception {
        FittedPreprocessing fitted = fitted(List.of("a", "b"));
        List<Callable<@Nullable Void>> writers = new ArrayList<>();
        for (int writer = 0; writer < 4; writer++) {
            int id = writer;
            writers.add(() -> {
                Table table = lake.table("public.t");
                FittedStore.write(table, snapshot, id, fitted);
                SnapshotTags.tag(table, snapshot, SnapshotTags.nameOf(id));
                SnapshotTags.tag(table, snapshot, "shared");
                return null;
            });
        }
        writers.add(() -> {
            TestingTable other = new TestingTable(lake.table("public.t"));
            for (int i = 0; i < 5; i++) {
                other.append(List.of(other.row(100 + i, 1f, 1f, 1)));
            }
            return null;
        });
        run(writers);
        rows.table().refresh();
        for (int id = 0; id < 4; id++) {
            assertThat(FittedStore.read(rows.table(), snapshot, id)).isEqualTo(fitted);
            assertThat(tagged(SnapshotTags.nameOf(id))).isEqualTo(snapshot);
        }
        assertThat(tagged("shared")).isEqualTo(snapshot);
        assertThat(SnapshotSize.of(rows.table(), rows.snapshotId(), snapshot).rows())
                .isEqualTo(8);
    }

    @Test
    void aTagNeverMoves() {
        SnapshotTags.tag(rows.table(), snapshot, "t1");
        SnapshotTags.tag(rows.table(), snapshot, "t1");
        rows.append(List.of(rows.row(4, 4f, 4f, 0)));
        long later = rows.snapshotId();
        assertThatThrownBy(() -> SnapshotTags.tag(rows.table(), later, "t1"))
                .hasMessage("tag names another snapshot: table=millrace.public.t, tag=t1, snapshot=" + later
                        + ", tagged=" + snapshot);
        assertThatThrownBy(() -> SnapshotTags.tag(rows.table(), 5, "t2"))
                .hasMessage("snapshot is not in the table: table=millrace.public.t, snapshot=5");
        assertThat(rows.table().refs()).doesNotContainKey("t2");
        assertThat(tagged("t1")).isEqualTo(snapshot);
    }

    @Test
    void measuresASnapshotAndItsIncrement() {
        SnapshotSize whole = SnapshotSize.of(rows.table(), snapshot, null);
        assertThat(whole.rows()).isEqualTo(3);
        assertThat(whole.addedFiles()).isEqualTo(1);
        assertThat(whole.addedBytes()).isEqualTo(whole.bytes()).isPositive();
        rows.change(List.of(rows.row(3, 9f, 9f, 0)), List.of(rows.row(1, 0f, 0f, 0)));
        SnapshotSize increment = SnapshotSize.of(rows.table(), rows.snapshotId(), snapshot);
        assertThat(increment.rows()).isEqualTo(2);
        assertThat(increment.addedFiles()).isEqualTo(2);
        assertThat(increment.bytes()).isEqualTo(whole.bytes() + increment.addedBytes());
    }

    private long tagged(String tag) {
        return rows.table().snapshot(tag).snapshotId();
    }

    private static void run(List<Callable<@Nullable Void>> tasks) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
        try {
            for (Future<@Nullable Void> done : threads.invokeAll(tasks)) {
                done.get();
            }
        } finally {
            threads.shutdown();
        }
    }

    private FittedPreprocessing fitted(List<String> features) {
        return new Fitter()
                .fit(
                        rows.table(),
                        snapshot,
                        new FitRequest(1, "y", List.of("id"), features, Task.CLASSIFICATION, null));
    }

    private void expire() {
        rows.table()
                .expireSnapshots()
                .expireOlderThan(System.currentTimeMillis() + 1)
                .retainLast(1)
                .commit();
        rows.table().refresh();
    }

    private List<String> blobTypes() {
        rows.table().refresh();
        return rows.table().statisticsFiles().get(0).blobMetadata().stream()
                .map(BlobMetadata::type)
                .toList();
    }

    /** Another tool's statistics on the same snapshot. */
    private void writeForeignBlob() throws IOException {
        String location = rows.table().location() + "/metadata/other.puffin";
        try (PuffinWriter writer =
                Puffin.write(rows.table().io().newOutputFile(location)).build()) {
            writer.add(new Blob(
                    "other",
                    List.of(1),
                    snapshot,
                    1,
                    ByteBuffer.wrap(new byte[] {1, 2, 3}),
                    PuffinCompressionCodec.NONE,
                    Map.of("k", "v")));
            writer.finish();
            List<BlobMetadata> blobs = new ArrayList<>();
            writer.writtenBlobsMetadata().forEach(blob -> blobs.add(GenericBlobMetadata.from(blob)));
            rows.table()
                    .updateStatistics()
                    .setStatistics(new GenericStatisticsFile(
                            snapshot, location, writer.fileSize(), writer.footerSize(), blobs))
                    .commit();
        }
    }
}
