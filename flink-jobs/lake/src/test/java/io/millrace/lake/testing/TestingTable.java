package io.millrace.lake.testing;

import io.millrace.lake.PostgresTypes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.RowDelta;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.deletes.EqualityDeleteWriter;
import org.apache.iceberg.deletes.PositionDelete;
import org.apache.iceberg.deletes.PositionDeleteWriter;
import org.apache.iceberg.encryption.EncryptedFiles;
import org.apache.iceberg.encryption.EncryptedOutputFile;
import org.apache.iceberg.encryption.EncryptionKeyMetadata;
import org.apache.iceberg.formats.FormatModelRegistry;
import org.apache.iceberg.io.DataWriter;
import org.apache.iceberg.types.TypeUtil;
import org.apache.iceberg.types.Types;
import org.jspecify.annotations.Nullable;

/**
 * Writes a lake table with the same kinds of files as the streaming job: appended data, and changes as data with equality deletes of
 * their keys in one commit. Each call commits one snapshot.
 */
public final class TestingTable {
    private final Table table;
    private long version;

    public TestingTable(Table table) {
        this.table = table;
    }

    public Table table() {
        return table;
    }

    /** Id of the newest snapshot. */
    public long snapshotId() {
        table.refresh();
        return table.currentSnapshot().snapshotId();
    }

    /** A row by values in the order of the schema, without the version column. */
    public Record row(@Nullable Object... values) {
        Record row = GenericRecord.create(table.schema());
        for (int i = 0; i < values.length; i++) {
            row.set(i, values[i]);
        }
        row.setField(PostgresTypes.VERSION_COLUMN, ++version);
        return row;
    }

    /** Appends rows as one data file. */
    public DataFile append(List<Record> rows) {
        DataFile file = data(rows);
        table.newAppend().appendFile(file).commit();
        return file;
    }

    /** Commits a data file again, so that its rows are read that many times more: a table that takes long to read, at no cost. */
    public void appendAgain(DataFile file, int times) {
        // One commit each: within a commit a file counts once.
        for (int time = 0; time < times; time++) {
            table.newFastAppend().appendFile(file).commit();
        }
    }

    /** Appends rows as several data files in one commit. */
    public void appendFiles(List<List<Record>> files) {
        var append = table.newAppend();
        files.forEach(rows -> append.appendFile(data(rows)));
        append.commit();
    }

    /** Replaces or inserts {@code upserts} and deletes the keys of {@code deletes}, as one checkpoint of the streaming job does. */
    public void change(List<Record> upserts, List<Record> deletes) {
        List<Record> keys = new ArrayList<>(upserts);
        keys.addAll(deletes);
        RowDelta delta = table.newRowDelta().addDeletes(equalityDeletes(keys));
        if (!upserts.isEmpty()) {
            delta.addRows(data(upserts));
        }
        delta.commit();
    }

    /** Deletes rows by their places in a data file. */
    public void deletePositions(DataFile file, long... positions) {
        DeleteFile deletes = written(() -> {
            PositionDeleteWriter<Record> writer = FormatModelRegistry.<Record>positionDeleteWriteBuilder(
                            FileFormat.PARQUET, output("positions"))
                    .setAll(table.properties())
                    .spec(table.spec())
                    .build();
            PositionDelete<Record> delete = PositionDelete.create();
            try (writer) {
                for (long position : positions) {
                    delete.set(file.location(), position);
                    writer.write(delete);
                }
            }
            return writer.toDeleteFile();
        });
        table.newRowDelta().addDeletes(deletes).commit();
    }

    private DataFile data(List<Record> rows) {
        return written(() -> {
            DataWriter<Record> writer = FormatModelRegistry.<Record, Schema>dataWriteBuilder(
                            FileFormat.PARQUET, Record.class, output("data"))
                    .schema(table.schema())
                    .setAll(table.properties())
                    .spec(table.spec())
                    .build();
            try (writer) {
                rows.forEach(writer::write);
            }
            return writer.toDataFile();
        });
    }

    private DeleteFile equalityDeletes(List<Record> rows) {
        int[] ids = table.schema().identifierFieldIds().stream()
                .mapToInt(Integer::intValue)
                .toArray();
        Schema keySchema = TypeUtil.select(table.schema(), table.schema().identifierFieldIds());
        return written(() -> {
            EqualityDeleteWriter<Record> writer = FormatModelRegistry.<Record, Schema>equalityDeleteWriteBuilder(
                            FileFormat.PARQUET, Record.class, output("deletes"))
                    .schema(keySchema)
                    .equalityFieldIds(ids)
                    .setAll(table.properties())
                    .spec(table.spec())
                    .build();
            try (writer) {
                rows.forEach(row -> writer.write(key(keySchema, row)));
            }
            return writer.toDeleteFile();
        });
    }

    private static Record key(Schema keySchema, Record row) {
        Record key = GenericRecord.create(keySchema);
        for (Types.NestedField field : keySchema.columns()) {
            key.setField(field.name(), row.getField(field.name()));
        }
        return key;
    }

    private static <T> T written(Callable<T> writing) {
        try {
            return writing.call();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private EncryptedOutputFile output(String kind) {
        String location = table.locationProvider().newDataLocation(kind + "-" + UUID.randomUUID() + ".parquet");
        return EncryptedFiles.encryptedOutput(table.io().newOutputFile(location), EncryptionKeyMetadata.EMPTY);
    }
}
