package io.millrace.snapshot;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.jspecify.annotations.Nullable;

/**
 * Writes a {@link Change} in a compact tagged form: one byte of tag per value. Used only where a change crosses tasks; inside
 * one task changes are handed over as they are, because nobody alters them.
 */
public final class ChangeSerializer extends TypeSerializerSingleton<Change> {
    private static final long serialVersionUID = 1L;
    public static final ChangeSerializer INSTANCE = new ChangeSerializer();

    private static final Change EMPTY = Change.caughtUp("", 0);

    private static final byte NULL = 0;
    private static final byte FALSE = 1;
    private static final byte TRUE = 2;
    private static final byte INT = 3;
    private static final byte LONG = 4;
    private static final byte FLOAT = 5;
    private static final byte DOUBLE = 6;
    private static final byte TEXT = 7;
    private static final byte DECIMAL = 8;
    private static final byte TIMESTAMP = 9;

    @Override
    public boolean isImmutableType() {
        return true;
    }

    @Override
    public Change createInstance() {
        return EMPTY;
    }

    @Override
    public Change copy(Change from) {
        return from;
    }

    @Override
    public Change copy(Change from, Change reuse) {
        return from;
    }

    @Override
    public int getLength() {
        return -1;
    }

    @Override
    public void serialize(Change change, DataOutputView out) throws IOException {
        out.writeByte(change.kind().code());
        out.writeUTF(change.relation());
        out.writeLong(change.lsn());
        out.writeLong(change.requestId());
        writeRow(change.before(), out);
        writeRow(change.after(), out);
    }

    @Override
    public Change deserialize(DataInputView in) throws IOException {
        return new Change(
                Change.Kind.of(in.readByte()), in.readUTF(), in.readLong(), in.readLong(), readRow(in), readRow(in));
    }

    @Override
    public Change deserialize(Change reuse, DataInputView in) throws IOException {
        return deserialize(in);
    }

    @Override
    public void copy(DataInputView in, DataOutputView out) throws IOException {
        serialize(deserialize(in), out);
    }

    @Override
    public TypeSerializerSnapshot<Change> snapshotConfiguration() {
        return new Snapshot();
    }

    private static void writeRow(@Nullable GenericRowData row, DataOutputView out) throws IOException {
        if (row == null) {
            out.writeShort(-1);
            return;
        }
        out.writeShort(row.getArity());
        for (int i = 0; i < row.getArity(); i++) {
            writeValue(row.getField(i), out);
        }
    }

    private static void writeValue(@Nullable Object value, DataOutputView out) throws IOException {
        if (value == null) {
            out.writeByte(NULL);
        } else if (value instanceof Boolean flag) {
            out.writeByte(flag ? TRUE : FALSE);
        } else if (value instanceof Integer number) {
            out.writeByte(INT);
            out.writeInt(number);
        } else if (value instanceof Long number) {
            out.writeByte(LONG);
            out.writeLong(number);
        } else if (value instanceof Float number) {
            out.writeByte(FLOAT);
            out.writeFloat(number);
        } else if (value instanceof Double number) {
            out.writeByte(DOUBLE);
            out.writeDouble(number);
        } else if (value instanceof StringData text) {
            out.writeByte(TEXT);
            writeBytes(text.toBytes(), out);
        } else if (value instanceof DecimalData decimal) {
            out.writeByte(DECIMAL);
            out.writeByte(decimal.precision());
            out.writeByte(decimal.scale());
            writeBytes(decimal.toUnscaledBytes(), out);
        } else if (value instanceof TimestampData timestamp) {
            out.writeByte(TIMESTAMP);
            out.writeLong(timestamp.getMillisecond());
            out.writeInt(timestamp.getNanoOfMillisecond());
        } else {
            throw new IOException("row value must be of a known type: type="
                    + value.getClass().getName());
        }
    }

    private static @Nullable GenericRowData readRow(DataInputView in) throws IOException {
        int arity = in.readShort();
        if (arity < 0) {
            return null;
        }
        GenericRowData row = new GenericRowData(arity);
        for (int i = 0; i < arity; i++) {
            row.setField(i, readValue(in));
        }
        return row;
    }

    private static @Nullable Object readValue(DataInputView in) throws IOException {
        byte tag = in.readByte();
        return switch (tag) {
            case NULL -> null;
            case FALSE -> false;
            case TRUE -> true;
            case INT -> in.readInt();
            case LONG -> in.readLong();
            case FLOAT -> in.readFloat();
            case DOUBLE -> in.readDouble();
            case TEXT -> StringData.fromBytes(readBytes(in));
            case DECIMAL -> {
                int precision = in.readByte();
                int scale = in.readByte();
                yield DecimalData.fromUnscaledBytes(readBytes(in), precision, scale);
            }
            case TIMESTAMP -> TimestampData.fromEpochMillis(in.readLong(), in.readInt());
            default -> throw new IOException("row value must have a known tag: tag=" + tag);
        };
    }

    private static void writeBytes(byte[] bytes, DataOutputView out) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static byte[] readBytes(DataInputView in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return bytes;
    }

    /** The form has no parameters. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Change> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}
