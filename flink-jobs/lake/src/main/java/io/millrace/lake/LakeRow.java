package io.millrace.lake;

import io.millrace.contract.ColumnType;
import io.millrace.contract.RowReader;
import io.millrace.contract.TextLevels;
import io.millrace.lake.column.ColumnVector;
import io.millrace.lake.column.LiveRows;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One row of a snapshot, by the index of the columns that were asked for. It is a view that the next row moves: copy what must last.
 *
 * <p>Values are those the database sends for the same row: numeric as double, dates in days, timestamps in microseconds.
 */
public final class LakeRow implements RowReader {
    private final ColumnVector[] columns;
    private final ColumnVector[] keys;
    private final @Nullable LevelCache[] caches;
    private int row;

    LakeRow(LiveRows rows, int columnCount, int keyCount) {
        columns = new ColumnVector[columnCount];
        for (int i = 0; i < columnCount; i++) {
            columns[i] = rows.column(i);
        }
        caches = new @Nullable LevelCache[columnCount];
        keys = new ColumnVector[keyCount];
        for (int i = 0; i < keyCount; i++) {
            keys[i] = rows.column(columnCount + i);
        }
    }

    LakeRow moveTo(int newRow) {
        row = newRow;
        return this;
    }

    @Override
    public boolean isNull(int column) {
        return columns[column].isNull(row);
    }

    @Override
    public boolean booleanValue(int column) {
        return columns[column].integer(row) != 0;
    }

    @Override
    public long int64(int column) {
        return columns[column].integer(row);
    }

    @Override
    public double float64(int column) {
        return columns[column].floating(row);
    }

    @Override
    public String text(int column) {
        return columns[column].text(row);
    }

    @Override
    public int level(int column, TextLevels levels) {
        String text = columns[column].text(row);
        LevelCache cache = caches[column];
        if (cache == null || cache.levels != levels) {
            cache = new LevelCache(levels);
            caches[column] = cache;
        }
        return cache.indexOf(text);
    }

    /** Type of a column's values. */
    public ColumnType type(int column) {
        return columns[column].type();
    }

    /**
     * The row's primary key as PostgreSQL prints it: {@code key::text} of one column, {@code ROW(a, b)::text} of several, in the
     * order of the table's columns; timestamps with time zone in UTC.
     */
    public String key() {
        return keys.length == 1 ? PostgresText.of(keys[0], row) : PostgresText.ofRow(List.of(keys), row);
    }

    /** Remembers the levels of texts: those of a dictionary come again as the same object. */
    private static final class LevelCache {
        private static final int SLOTS = 64;

        private final TextLevels levels;
        private final @Nullable String[] texts = new @Nullable String[SLOTS];
        private final int[] indexes = new int[SLOTS];

        private LevelCache(TextLevels levels) {
            this.levels = levels;
        }

        @SuppressWarnings("ReferenceEquality") // an equal text that is another object is looked up, which is right too
        private int indexOf(String text) {
            int slot = text.hashCode() & (SLOTS - 1);
            if (texts[slot] != text) {
                texts[slot] = text;
                indexes[slot] = levels.indexOf(text);
            }
            return indexes[slot];
        }
    }
}
