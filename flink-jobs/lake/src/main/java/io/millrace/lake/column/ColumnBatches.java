package io.millrace.lake.column;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.types.Types;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.EncodingStats;
import org.apache.parquet.column.impl.ColumnReadStoreImpl;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;

/**
 * The wanted columns of a range of one Parquet file, batch after batch, in the order of the file. Columns are found by field id, so a
 * renamed column is still itself and a column the file does not have yet is NULL throughout.
 *
 * <p>Threads: one.
 */
public final class ColumnBatches implements Closeable {
    /** Rows of a full batch: its vectors stay in the second-level cache. */
    public static final int BATCH_ROWS = 4096;

    private final ParquetFileReader file;
    private final MessageType projection;
    private final List<ColumnVector> vectors;
    private final @Nullable Type[] storedFields;
    private @Nullable ColumnDecoder[] decoders;
    private int rowGroup;
    private long groupRowsLeft;
    private long nextPosition;
    private long firstPosition;
    private int rowCount;

    /**
     * Opens the columns.
     *
     * @param start first byte of the range; a row group belongs to the range that holds its middle
     * @param length bytes of the range
     * @param exact whether decimal numbers are also kept as they are
     */
    public ColumnBatches(InputFile input, long start, long length, List<Types.NestedField> fields, boolean exact) {
        ParquetReadOptions options =
                ParquetReadOptions.builder().withRange(start, start + length).build();
        try {
            this.file = new ParquetFileReader(new ParquetInput(input), options);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        MessageType schema = file.getFileMetaData().getSchema();
        Map<Integer, Type> byId = new HashMap<>();
        for (Type type : schema.getFields()) {
            if (type.getId() != null) {
                byId.put(type.getId().intValue(), type);
            }
        }
        this.vectors = new ArrayList<>(fields.size());
        this.storedFields = new @Nullable Type[fields.size()];
        this.decoders = new @Nullable ColumnDecoder[fields.size()];
        List<Type> stored = new ArrayList<>();
        Map<Integer, ColumnVector> seen = new HashMap<>();
        for (Types.NestedField field : fields) {
            ColumnVector vector = seen.get(field.fieldId());
            if (vector == null) {
                vector = new ColumnVector(field, FieldTypes.columnType(field), BATCH_ROWS, exact);
                seen.put(field.fieldId(), vector);
                Type type = byId.get(field.fieldId());
                storedFields[vectors.size()] = type;
                if (type == null) {
                    Arrays.fill(vector.nulls, true);
                } else {
                    stored.add(type);
                }
            }
            // A column that is asked for twice, as key and as feature, has one vector and is decoded once.
            vectors.add(vector);
        }
        this.projection = new MessageType(schema.getName(), stored);
        file.setRequestedSchema(projection);
    }

    /** Moves to the next batch; false after the last. */
    public boolean next() {
        while (groupRowsLeft == 0) {
            if (!nextRowGroup()) {
                rowCount = 0;
                return false;
            }
        }
        rowCount = (int) Math.min(BATCH_ROWS, groupRowsLeft);
        for (int i = 0; i < decoders.length; i++) {
            ColumnDecoder decoder = decoders[i];
            if (decoder != null) {
                decoder.decode(vectors.get(i), rowCount);
            }
        }
        firstPosition = nextPosition;
        nextPosition += rowCount;
        groupRowsLeft -= rowCount;
        return true;
    }

    /** Rows of the current batch. */
    public int rowCount() {
        return rowCount;
    }

    /** Position in the file of the batch's first row. */
    public long firstPosition() {
        return firstPosition;
    }

    /** The column at an index of the list that was asked for. */
    public ColumnVector column(int index) {
        return vectors.get(index);
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean nextRowGroup() {
        PageReadStore pages;
        try {
            pages = file.readNextRowGroup();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (pages == null) {
            return false;
        }
        BlockMetaData block = file.getRowGroups().get(rowGroup++);
        ColumnReadStoreImpl columns = new ColumnReadStoreImpl(
                pages, new NoConversion(), projection, file.getFileMetaData().getCreatedBy());
        for (int i = 0; i < storedFields.length; i++) {
            Type stored = storedFields[i];
            if (stored != null) {
                String[] path = {stored.getName()};
                decoders[i] = new ColumnDecoder(
                        columns.getColumnReader(projection.getColumnDescription(path)),
                        isDictionaryOnly(block, stored.getName()));
            }
        }
        groupRowsLeft = pages.getRowCount();
        nextPosition = pages.getRowIndexOffset().orElse(nextPosition);
        return true;
    }

    private static boolean isDictionaryOnly(BlockMetaData block, String name) {
        for (ColumnChunkMetaData chunk : block.getColumns()) {
            if (chunk.getPath().toArray()[0].equals(name)) {
                EncodingStats encodings = chunk.getEncodingStats();
                return encodings != null && encodings.hasDictionaryPages() && !encodings.hasNonDictionaryEncodedPages();
            }
        }
        return false;
    }
}
