package io.millrace.gateway.http;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.TextLevels;
import java.io.IOException;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** Values of a JSON array; {@code null} in it is SQL's NULL. */
final class JsonValues extends TensorValues {
    /** What a text costs beside its characters: reference, String, array. */
    private static final int TEXT_BYTES = 64;

    private static final String[] NO_TEXTS = new String[0];
    private static final long[] NO_BITS = new long[0];

    private final String input;
    private final Datatype datatype;
    /** Whole numbers and booleans as they are, floating ones as their bits. */
    private final long[] bits;

    private final String[] texts;
    private @Nullable BitSet nulls;

    private JsonValues(String input, Datatype datatype, int count) {
        this.input = input;
        this.datatype = datatype;
        bits = datatype == Datatype.BYTES ? NO_BITS : new long[count];
        texts = datatype == Datatype.BYTES ? new String[count] : NO_TEXTS;
    }

    /**
     * Reads an array: flat, or nested as the shape says.
     *
     * @param in stands on the first token of the value
     * @param columns values of a row, in a nested array
     * @param nests whether rows may be arrays
     */
    static JsonValues read(
            JsonParser in,
            String input,
            Datatype datatype,
            int rows,
            int columns,
            boolean nests,
            Capacity.Ticket memory)
            throws IOException {
        int count = rows * columns;
        memory.take((long) count * (datatype == Datatype.BYTES ? TEXT_BYTES : Long.BYTES));
        JsonValues values = new JsonValues(input, datatype, count);
        if (in.currentToken() != JsonToken.START_ARRAY) {
            throw values.invalid("input data must be an array", "");
        }
        JsonToken token = in.nextToken();
        if (token == JsonToken.START_ARRAY && nests) {
            for (int row = 0; row < rows; row++) {
                if (token != JsonToken.START_ARRAY) {
                    throw values.invalid("input data must fit its shape", ", rows=" + rows + ", givenRows=" + row);
                }
                values.fill(in, in.nextToken(), row * columns, columns, ", row=" + row);
                token = in.nextToken();
            }
            if (token != JsonToken.END_ARRAY) {
                throw values.invalid("input data must fit its shape", ", rows=" + rows + ", givenRows=more");
            }
        } else {
            values.fill(in, token, 0, count, "");
        }
        return values;
    }

    /** Reads values up to the end of their array. */
    private void fill(JsonParser in, @Nullable JsonToken first, int from, int count, String where) throws IOException {
        JsonToken token = first;
        for (int index = 0; index < count; index++) {
            if (token == JsonToken.END_ARRAY) {
                throw invalid("input data must fit its shape", where + ", values=" + count + ", givenValues=" + index);
            }
            set(in, token, from + index);
            token = in.nextToken();
        }
        if (token != JsonToken.END_ARRAY) {
            throw invalid("input data must fit its shape", where + ", values=" + count + ", givenValues=more");
        }
    }

    private void set(JsonParser in, @Nullable JsonToken token, int index) throws IOException {
        if (token == JsonToken.VALUE_NULL) {
            if (nulls == null) {
                nulls = new BitSet();
            }
            nulls.set(index);
            return;
        }
        switch (datatype) {
            case BOOL -> bits[index] = flag(token, index);
            case FP64 ->
                bits[index] =
                        Double.doubleToRawLongBits(number(in, token, index).getDoubleValue());
            // Rounded once, from the decimal digits.
            case FP32 ->
                bits[index] =
                        Double.doubleToRawLongBits(number(in, token, index).getFloatValue());
            case BYTES -> texts[index] = string(in, token, index);
            default -> bits[index] = whole(in, token, index);
        }
    }

    private long flag(@Nullable JsonToken token, int index) {
        if (token != JsonToken.VALUE_TRUE && token != JsonToken.VALUE_FALSE) {
            throw invalid("input value must be true or false", ", index=" + index);
        }
        return token == JsonToken.VALUE_TRUE ? 1 : 0;
    }

    private JsonParser number(JsonParser in, @Nullable JsonToken token, int index) {
        if (token != JsonToken.VALUE_NUMBER_INT && token != JsonToken.VALUE_NUMBER_FLOAT) {
            throw invalid("input value must be a number", ", index=" + index);
        }
        return in;
    }

    private String string(JsonParser in, @Nullable JsonToken token, int index) throws IOException {
        if (token != JsonToken.VALUE_STRING) {
            throw invalid("input value must be a string", ", index=" + index);
        }
        return in.getText();
    }

    private long whole(JsonParser in, @Nullable JsonToken token, int index) throws IOException {
        if (token == JsonToken.VALUE_NUMBER_INT) {
            try {
                long value = in.getLongValue();
                if (value >= datatype.min() && value <= datatype.max()) {
                    return value;
                }
            } catch (InputCoercionException beyondLong) {
                // Said below, in the same words as a number out of range.
            }
        }
        throw invalid(
                "input value must be a whole number",
                ", index=" + index + ", min=" + datatype.min() + ", max=" + datatype.max());
    }

    private ContractException invalid(String rule, String where) {
        return new ContractException(
                ErrorCode.INVALID_VALUE, rule + ": input=" + input + ", datatype=" + datatype + where);
    }

    @Override
    boolean isNull(int index) {
        return nulls != null && nulls.get(index);
    }

    @Override
    boolean booleanValue(int index) {
        return bits[index] != 0;
    }

    @Override
    long int64(int index) {
        return bits[index];
    }

    @Override
    double float64(int index) {
        return Double.longBitsToDouble(bits[index]);
    }

    @Override
    String text(int index) {
        return texts[index];
    }

    @Override
    int level(int index, TextLevels levels) {
        return levels.indexOf(texts[index]);
    }
}
