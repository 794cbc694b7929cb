package io.millrace.contract.envelope;

import io.millrace.contract.Column;
import io.millrace.contract.RowReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Writes rows as {@link WireRow} reads them, for callers that are not the extension. Grows. Threads: one. */
public final class RowEncoder {
    private final List<Column> columns;
    private ByteBuffer rows = ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);
    private int rowCount;

    /** An encoder of rows with these columns. */
    public RowEncoder(List<Column> columns) {
        this.columns = List.copyOf(columns);
    }

    /** Writes one more row. */
    public RowEncoder add(RowReader row) {
        int bitmapLength = (columns.size() + 7) / 8;
        reserve(bitmapLength + columns.size() * Long.BYTES);
        int bitmap = rows.position();
        rows.put(new byte[bitmapLength]);
        for (int column = 0; column < columns.size(); column++) {
            if (row.isNull(column)) {
                int at = bitmap + (column >>> 3);
                rows.put(at, (byte) (rows.get(at) | 1 << (column & 7)));
            } else {
                value(row, column);
            }
        }
        rowCount++;
        return this;
    }

    private void value(RowReader row, int column) {
        switch (columns.get(column).type()) {
            case BOOLEAN -> rows.put((byte) (row.booleanValue(column) ? 1 : 0));
            case INT64, TIMESTAMP -> rows.putLong(row.int64(column));
            case FLOAT64 -> rows.putDouble(row.float64(column));
            case DATE -> rows.putInt((int) row.int64(column));
            case TEXT -> {
                byte[] text = row.text(column).getBytes(StandardCharsets.UTF_8);
                reserve(Integer.BYTES + text.length + (columns.size() - column) * Long.BYTES);
                rows.putInt(text.length).put(text);
            }
        }
    }

    private void reserve(int length) {
        if (rows.remaining() < length) {
            int capacity = Math.max(rows.capacity() * 2, Math.addExact(rows.position(), length));
            rows = ByteBuffer.allocate(capacity).order(ByteOrder.LITTLE_ENDIAN).put(rows.flip());
        }
    }

    /** How many rows were written. */
    public int rowCount() {
        return rowCount;
    }

    /** The bytes written so far, from position to limit. */
    public ByteBuffer rows() {
        return rows.duplicate().order(ByteOrder.LITTLE_ENDIAN).flip();
    }
}
