package io.millrace.lake.column;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.UUID;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.jspecify.annotations.Nullable;

/** Copies values of one column chunk into a vector, one loop per stored type. */
final class ColumnDecoder {
    /** Below it an unscaled value and a power of ten are both exact doubles, so their quotient is rounded once. */
    private static final long EXACT_UNSCALED_MAX = 1L << 53;

    private static final double[] POWERS_OF_TEN = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22
    };

    private final ColumnReader reader;
    private final PrimitiveTypeName stored;
    private final int definedLevel;

    /** Decoded texts by dictionary id; null when some page of the chunk is not dictionary-encoded. */
    private @Nullable String @Nullable [] dictionary;

    ColumnDecoder(ColumnReader reader, boolean dictionaryOnly) {
        this.reader = reader;
        this.stored = reader.getDescriptor().getPrimitiveType().getPrimitiveTypeName();
        this.definedLevel = reader.getDescriptor().getMaxDefinitionLevel();
        this.dictionary = dictionaryOnly ? new @Nullable String[64] : null;
    }

    /** Decodes the next {@code count} values into the vector from its start. */
    void decode(ColumnVector vector, int count) {
        Type type = vector.field().type();
        switch (type.typeId()) {
            case BOOLEAN -> booleans(vector, count);
            case INTEGER, LONG, DATE, TIMESTAMP -> integers(vector, count);
            case FLOAT, DOUBLE -> floats(vector, count);
            case DECIMAL -> decimals(vector, count, ((Types.DecimalType) type).scale());
            case STRING -> texts(vector, count);
            case UUID -> uuids(vector, count);
            default -> throw unreadable(vector);
        }
    }

    private void booleans(ColumnVector vector, int count) {
        for (int row = 0; row < count; row++) {
            boolean defined = defined(vector, row);
            if (defined) {
                vector.longs[row] = reader.getBoolean() ? 1 : 0;
            }
            reader.consume();
        }
    }

    private void integers(ColumnVector vector, int count) {
        boolean wide = stored == PrimitiveTypeName.INT64;
        if (!wide && stored != PrimitiveTypeName.INT32) {
            throw unreadable(vector);
        }
        for (int row = 0; row < count; row++) {
            if (defined(vector, row)) {
                vector.longs[row] = wide ? reader.getLong() : reader.getInteger();
            }
            reader.consume();
        }
    }

    private void floats(ColumnVector vector, int count) {
        boolean wide = stored == PrimitiveTypeName.DOUBLE;
        if (!wide && stored != PrimitiveTypeName.FLOAT) {
            throw unreadable(vector);
        }
        for (int row = 0; row < count; row++) {
            if (defined(vector, row)) {
                vector.doubles[row] = wide ? reader.getDouble() : reader.getFloat();
            }
            reader.consume();
        }
    }

    private void decimals(ColumnVector vector, int count, int scale) {
        boolean exact = vector.hasDecimal();
        for (int row = 0; row < count; row++) {
            if (defined(vector, row)) {
                if (stored == PrimitiveTypeName.INT32 || stored == PrimitiveTypeName.INT64) {
                    long unscaled = stored == PrimitiveTypeName.INT32 ? reader.getInteger() : reader.getLong();
                    vector.doubles[row] = decimal(unscaled, scale);
                    if (exact) {
                        vector.decimals[row] = BigDecimal.valueOf(unscaled, scale);
                    }
                } else {
                    BigDecimal value =
                            new BigDecimal(new BigInteger(reader.getBinary().getBytes()), scale);
                    vector.doubles[row] = value.doubleValue();
                    if (exact) {
                        vector.decimals[row] = value;
                    }
                }
            }
            reader.consume();
        }
    }

    private void texts(ColumnVector vector, int count) {
        boolean number = vector.doubles.length > 0;
        boolean keepText = vector.texts.length > 0;
        for (int row = 0; row < count; row++) {
            if (defined(vector, row)) {
                String text = text();
                if (keepText) {
                    vector.texts[row] = text;
                }
                if (number) {
                    vector.doubles[row] = number(vector, text);
                }
            }
            reader.consume();
        }
    }

    private void uuids(ColumnVector vector, int count) {
        for (int row = 0; row < count; row++) {
            if (defined(vector, row)) {
                ByteBuffer bytes = reader.getBinary().toByteBuffer();
                vector.texts[row] =
                        new UUID(bytes.getLong(bytes.position()), bytes.getLong(bytes.position() + 8)).toString();
            }
            reader.consume();
        }
    }

    private boolean defined(ColumnVector vector, int row) {
        boolean defined = reader.getCurrentDefinitionLevel() == definedLevel;
        vector.nulls[row] = !defined;
        return defined;
    }

    private String text() {
        if (dictionary == null) {
            return reader.getBinary().toStringUsingUTF8();
        }
        int id = reader.getCurrentValueDictionaryID();
        if (id >= dictionary.length) {
            dictionary = Arrays.copyOf(dictionary, Math.max(id + 1, 2 * dictionary.length));
        }
        String text = dictionary[id];
        if (text == null) {
            text = reader.getBinary().toStringUsingUTF8();
            dictionary[id] = text;
        }
        return text;
    }

    private static double decimal(long unscaled, int scale) {
        boolean exact = unscaled > -EXACT_UNSCALED_MAX && unscaled < EXACT_UNSCALED_MAX && scale < POWERS_OF_TEN.length;
        return exact
                ? unscaled / POWERS_OF_TEN[scale]
                : BigDecimal.valueOf(unscaled, scale).doubleValue();
    }

    /** PostgreSQL's numeric prints NaN and both infinities as Java reads them. */
    private static double number(ColumnVector vector, String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            throw new ContractException(
                    ErrorCode.NOT_NUMERIC,
                    "number stored as text cannot be read: column="
                            + vector.field().name(),
                    e);
        }
    }

    private ContractException unreadable(ColumnVector vector) {
        return new ContractException(
                ErrorCode.UNSUPPORTED_TYPE,
                "stored type does not fit the column: column=" + vector.field().name() + ", type="
                        + vector.field().type() + ", stored=" + stored);
    }
}
