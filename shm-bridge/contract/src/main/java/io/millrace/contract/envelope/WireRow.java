package io.millrace.contract.envelope;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.RowReader;
import io.millrace.contract.TextLevels;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A view that moves over the rows of a request and copies nothing.
 *
 * <p>{@link #next} walks one row: it reads each length once, checks it and keeps where each value is, so what another
 * process writes meanwhile can change a value but never lead outside the rows. Nothing is allocated but by {@link
 * #text}. Threads: one.
 */
public final class WireRow implements RowReader {
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final boolean[] dates;
    private final int[] wireLengths;
    private final int[] offsets;
    private final int[] lengths;
    private final int bitmapLength;

    private ByteBuffer buffer = EMPTY;
    private int position;
    private int limit;
    private int rowsLeft;

    /** A view for rows of a descriptor. */
    public WireRow(List<Column> columns) {
        int count = columns.size();
        dates = new boolean[count];
        wireLengths = new int[count];
        offsets = new int[count];
        lengths = new int[count];
        bitmapLength = (count + 7) / 8;
        for (int column = 0; column < count; column++) {
            dates[column] = columns.get(column).type() == ColumnType.DATE;
            wireLengths[column] = columns.get(column).type().wireLength();
        }
    }

    /** Stands before the first row of a request. */
    public WireRow wrap(RequestEnvelope request) {
        return wrap(request.buffer(), request.rowsOffset(), request.rowsLength(), request.rowCount());
    }

    /**
     * Stands before the first row of a rows area.
     *
     * @param rows little-endian
     * @param offset absolute, of the first row
     * @param length bytes of all rows
     * @param rowCount how many rows
     */
    public WireRow wrap(ByteBuffer rows, int offset, int length, int rowCount) {
        buffer = rows;
        position = offset;
        limit = offset + length;
        rowsLeft = rowCount;
        return this;
    }

    /**
     * Moves to the next row.
     *
     * @return false after the last one
     * @throws io.millrace.contract.ContractException {@link io.millrace.contract.ErrorCode#INVALID_ENVELOPE} if the row
     *     does not end inside the area, or bytes follow the last one
     */
    public boolean next() {
        if (rowsLeft == 0) {
            if (position != limit) {
                throw Invalid.envelope("rows have bytes after the last row: remaining=" + (limit - position));
            }
            return false;
        }
        rowsLeft--;
        int bitmap = position;
        Invalid.checkRemaining("row", bitmapLength, position, limit);
        position += bitmapLength;
        int nulls = 0;
        for (int column = 0; column < wireLengths.length; column++) {
            if ((column & 7) == 0) {
                nulls = buffer.get(bitmap + (column >>> 3));
            }
            if ((nulls & (1 << (column & 7))) != 0) {
                offsets[column] = -1;
            } else {
                locate(column);
            }
        }
        return true;
    }

    private void locate(int column) {
        int length = wireLengths[column];
        if (length < 0) {
            Invalid.checkRemaining("row", Integer.BYTES, position, limit);
            length = buffer.getInt(position);
            position += Integer.BYTES;
        }
        Invalid.checkRemaining("row", length, position, limit);
        offsets[column] = position;
        lengths[column] = length;
        position += length;
    }

    @Override
    public boolean isNull(int column) {
        return offsets[column] < 0;
    }

    @Override
    public boolean booleanValue(int column) {
        return buffer.get(offsets[column]) != 0;
    }

    @Override
    public long int64(int column) {
        return dates[column] ? buffer.getInt(offsets[column]) : buffer.getLong(offsets[column]);
    }

    @Override
    public double float64(int column) {
        return buffer.getDouble(offsets[column]);
    }

    @Override
    public String text(int column) {
        byte[] bytes = new byte[lengths[column]];
        buffer.get(offsets[column], bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Override
    public int level(int column, TextLevels levels) {
        return levels.indexOf(buffer, offsets[column], lengths[column]);
    }
}
