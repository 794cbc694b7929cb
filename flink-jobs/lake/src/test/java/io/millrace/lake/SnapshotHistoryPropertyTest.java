package io.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.millrace.contract.Task;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.lake.testing.TestingLake;
import io.millrace.lake.testing.TestingTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.data.Record;
import org.jspecify.annotations.Nullable;

/** Any history of appends, changes and deletes against a map that went through the same. */
class SnapshotHistoryPropertyTest {
    private static final int CHANGES = 8;

    @Property(tries = 3, shrinking = ShrinkingMode.OFF)
    void everySnapshotReadsTheSameForEver(@ForAll long seed) {
        Path directory = temporary();
        try (Lake lake = Lake.open(TestingLake.sqlite(directory))) {
            run(lake, new Random(seed));
        } finally {
            delete(directory);
        }
    }

    private static void run(Lake lake, Random random) {
        TestingTable table = TestingLake.table(lake, "t", "id integer", "v text", "y double precision");
        Map<Integer, List<@Nullable String>> rows = new TreeMap<>();
        Map<Long, RowChecksum> checksums = new LinkedHashMap<>();
        Map<Long, byte[]> fitted = new HashMap<>();
        Fitter fitter = new Fitter();
        for (int change = 0; change < CHANGES; change++) {
            change(table, rows, random);
            long snapshot = table.snapshotId();
            checksums.put(snapshot, checksum(rows));
            SnapshotTags.tag(table.table(), snapshot, SnapshotTags.nameOf(change));
            if (!rows.isEmpty()) {
                fitted.put(snapshot, fit(fitter, table, snapshot).toJson());
            }
        }
        table.table().expireSnapshots().expireOlderThan(Long.MAX_VALUE).commit();
        table.table().refresh();
        checksums.forEach((snapshot, checksum) -> {
            assertThat(RowChecksum.of(table.table(), snapshot)).isEqualTo(checksum);
            assertThat(SnapshotSize.of(table.table(), snapshot, null).rows()).isEqualTo(checksum.rows());
        });
        fitted.forEach((snapshot, bytes) ->
                assertThat(fit(new Fitter(), table, snapshot).toJson()).isEqualTo(bytes));
    }

    private static void change(TestingTable table, Map<Integer, List<@Nullable String>> rows, Random random) {
        List<Record> upserts = new ArrayList<>();
        List<Record> deletes = new ArrayList<>();
        int first = random.nextInt(2_000);
        boolean append = rows.isEmpty() || random.nextInt(4) == 0;
        for (int i = 0; i < 1 + random.nextInt(300); i++) {
            int id = append ? 10_000 * (1 + rows.size()) + i : first + random.nextInt(200);
            String v = random.nextInt(9) == 0 ? null : "v" + random.nextInt(5);
            double y = random.nextInt(100);
            if (rows.containsKey(id) && random.nextBoolean()) {
                rows.remove(id);
                deletes.add(table.row(id, null, null));
            } else if (upserts.stream().noneMatch(row -> row.get(0).equals(id))
                    && deletes.stream().noneMatch(row -> row.get(0).equals(id))) {
                List<@Nullable String> values = new ArrayList<>();
                values.add(Integer.toString(id));
                values.add(v);
                values.add(PostgresText.doublePrecision(y));
                rows.put(id, values);
                upserts.add(table.row(id, v, y));
            }
        }
        // A row that was put and deleted by the same change is not written at all.
        upserts.removeIf(row -> !rows.containsKey((Integer) row.get(0)));
        if (append) {
            DataFile file = table.append(upserts);
            rows.remove((Integer) upserts.get(0).get(0));
            table.deletePositions(file, 0);
        } else {
            table.change(upserts, deletes);
        }
    }

    private static RowChecksum checksum(Map<Integer, List<@Nullable String>> rows) {
        RowChecksum checksum = new RowChecksum();
        rows.values().forEach(checksum::add);
        return checksum;
    }

    private static FittedPreprocessing fit(Fitter fitter, TestingTable table, long snapshot) {
        return fitter.fit(
                table.table(),
                snapshot,
                new FitRequest(
                        1,
                        "y",
                        List.of("id"),
                        null,
                        Task.REGRESSION,
                        JsonNodeFactory.instance.objectNode().put("default", "linear")));
    }

    private static Path temporary() {
        try {
            return Files.createTempDirectory("millrace-lake-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted((left, right) -> right.compareTo(left))
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
