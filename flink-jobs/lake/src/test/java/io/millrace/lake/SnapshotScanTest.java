package io.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.lake.testing.TestingLake;
import io.millrace.lake.testing.TestingTable;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.SerializableTable;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotScanTest {
    @TempDir
    Path directory;

    private Lake lake;

    @BeforeEach
    void open() {
        lake = Lake.open(TestingLake.sqlite(directory));
    }

    @AfterEach
    void close() {
        lake.close();
    }

    @Test
    void readsOnlyRowsThatAreLiveAtTheSnapshot() throws IOException {
        TestingTable rows = TestingLake.table(lake, "t", "id integer", "v text");
        DataFile first = rows.append(List.of(rows.row(1, "a"), rows.row(2, "b"), rows.row(3, "c"), rows.row(4, null)));
        long before = rows.snapshotId();
        rows.change(List.of(rows.row(2, "B"), rows.row(5, "e")), List.of(rows.row(3, null)));
        long changed = rows.snapshotId();
        rows.deletePositions(first, 0);
        long after = rows.snapshotId();
        // A key that comes back: the delete of the same commit is for the older row only.
        rows.change(List.of(rows.row(3, "again")), List.of());

        assertThat(read(rows.table(), before, "id", "v")).containsExactly("1|a", "2|b", "3|c", "4|NULL");
        assertThat(read(rows.table(), changed, "id", "v")).containsExactly("1|a", "4|NULL", "2|B", "5|e");
        assertThat(read(rows.table(), after, "id", "v")).containsExactly("4|NULL", "2|B", "5|e");
        assertThat(read(rows.table(), rows.snapshotId(), "v", "id")).containsExactly("NULL|4", "B|2", "e|5", "again|3");
        assertThat(SnapshotSize.rows(rows.table(), SnapshotScan.plan(rows.table(), after)))
                .isEqualTo(3);
    }

    @Test
    void appliesDeletesOfACompositeKey() throws IOException {
        CapturedTable source = new CapturedTable(
                "public.t",
                "public",
                "t",
                List.of("b", "a"),
                List.of(
                        new SourceColumn("a", "numeric(6,2)", false, false),
                        new SourceColumn("x", "double precision", true, false),
                        new SourceColumn("b", "text", false, false)));
        TestingTable rows = new TestingTable(lake.createTable(source));
        rows.append(List.of(
                rows.row(decimal("1.50"), 1.5, "k"),
                rows.row(decimal("2.00"), 2.5, "k"),
                rows.row(decimal("1.50"), 3.5, "l \"m\"")));
        rows.change(List.of(rows.row(decimal("2.00"), 9.5, "k")), List.of(rows.row(decimal("1.50"), null, "k")));
        assertThat(read(rows.table(), rows.snapshotId(), "x")).containsExactly("3.5", "9.5");
        assertThat(keys(rows.table(), rows.snapshotId())).containsExactly("(1.50,\"l \"\"m\"\"\")", "(2.00,k)");
    }

    @Test
    void readsFilesOlderThanAColumnAndWidenedTypes() throws IOException {
        TestingTable rows = TestingLake.table(lake, "t", "id integer", "v integer", "w real");
        rows.append(List.of(rows.row(1, 7, 0.5f)));
        long old = rows.snapshotId();
        rows.table()
                .updateSchema()
                .addColumn("added", Types.StringType.get())
                .updateColumn("v", Types.LongType.get())
                .updateColumn("w", Types.DoubleType.get())
                .renameColumn("v", "value")
                .commit();
        Record row = rows.row(2, 1L << 40, 0.1);
        row.setField("added", "new");
        rows.append(List.of(row));

        assertThat(read(rows.table(), rows.snapshotId(), "id", "value", "w", "added"))
                .containsExactly("1|7|0.5|NULL", "2|1099511627776|0.1|new");
        assertThat(read(rows.table(), old, "id", "v")).containsExactly("1|7");
        assertThatThrownBy(() -> read(rows.table(), old, "value"))
                .hasMessage("column is not in the snapshot: column=value");
    }

    @Test
    void splitsTravelToAnotherProcess() throws Exception {
        TestingTable rows = TestingLake.table(lake, "t", "id bigint", "v text");
        rows.append(List.of(rows.row(1L, "a"), rows.row(2L, "b")));
        rows.change(List.of(), List.of(rows.row(1L, null)));
        List<LakeSplit> splits = SnapshotScan.plan(rows.table(), rows.snapshotId());
        Table table = copy(SerializableTable.copyOf(rows.table()));
        try (CloseableIterable<LakeRow> live = SnapshotScan.open(table, copy(splits.get(0)), List.of("v"))) {
            for (LakeRow row : live) {
                assertThat(row.text(0)).isEqualTo("b");
                assertThat(row.key()).isEqualTo("2");
            }
        }
    }

    @Test
    void readsManyBatchesAndRowGroups() throws IOException {
        TestingTable rows = TestingLake.table(lake, "t", "id integer", "v text");
        rows.table()
                .updateProperties()
                .set("write.parquet.row-group-size-bytes", "20000")
                .set("write.parquet.row-group-check-min-record-count", "100")
                .commit();
        List<Record> many = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            many.add(rows.row(i, i % 7 == 0 ? null : "v" + i % 3));
        }
        DataFile file = rows.append(many);
        rows.deletePositions(file, 0, 4_095, 4_096, 19_999);
        List<String> read = read(rows.table(), rows.snapshotId(), "id", "v");
        assertThat(read).hasSize(19_996).startsWith("1|v1").endsWith("19998|v0").contains("4097|v2");
        assertThat(read).doesNotContain("0|NULL", "4095|NULL", "4096|v1", "19999|NULL");
    }

    @Test
    void namesTheNearestColumn() {
        TestingTable rows = TestingLake.table(lake, "t", "id integer", "income numeric(10,2)");
        rows.append(List.of(rows.row(1, decimal("3.00"))));
        assertThatThrownBy(() -> read(rows.table(), rows.snapshotId(), "incom"))
                .hasMessage("column is not in the snapshot: column=incom, nearest=income");
    }

    static List<String> read(Table table, long snapshotId, String... columns) throws IOException {
        List<String> read = new ArrayList<>();
        for (LakeSplit split : SnapshotScan.plan(table, snapshotId)) {
            try (CloseableIterable<LakeRow> rows = SnapshotScan.open(table, split, List.of(columns))) {
                for (LakeRow row : rows) {
                    read.add(text(row, columns.length));
                }
            }
        }
        return read;
    }

    private static List<String> keys(Table table, long snapshotId) throws IOException {
        List<String> read = new ArrayList<>();
        for (LakeSplit split : SnapshotScan.plan(table, snapshotId)) {
            try (CloseableIterable<LakeRow> rows = SnapshotScan.open(table, split, List.of())) {
                rows.forEach(row -> read.add(row.key()));
            }
        }
        return read;
    }

    private static String text(LakeRow row, int width) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < width; i++) {
            text.append(i == 0 ? "" : "|");
            if (row.isNull(i)) {
                text.append("NULL");
                continue;
            }
            switch (row.type(i)) {
                case TEXT -> text.append(row.text(i));
                case FLOAT64 -> text.append(row.float64(i));
                case BOOLEAN -> text.append(row.booleanValue(i));
                default -> text.append(row.int64(i));
            }
        }
        return text.toString();
    }

    private static BigDecimal decimal(String text) {
        return new BigDecimal(text);
    }

    @SuppressWarnings("unchecked")
    private static <T> T copy(T value) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(value);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            return (T) in.readObject();
        }
    }
}
