package io.millrace.engine;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/*
 * The part of UBJSON (universal binary JSON, draft 12) that XGBoost writes: objects, arrays with or without a type and a
 * count, integers, 32 and 64 bit floats, strings, booleans and null; all big-endian. Every length is checked against the
 * bytes that remain before anything is allocated, and depth is bounded, so damaged bytes give a typed error and never an
 * allocation larger than the file.
 */

/**
 * Reads one UBJSON value into plain Java values.
 *
 * <p>Objects become {@code Map<String, Object>}, untyped arrays {@code List<Object>}, typed arrays {@code float[]},
 * {@code double[]}, {@code int[]}, {@code long[]} or {@code byte[]}, integers {@code Long}, floats {@code Double}.
 */
final class UbjReader {
    private static final int DEPTH_MAX = 32;

    private final ByteBuffer in;
    private final Predicate<String> skipped;

    private UbjReader(ByteBuffer in, Predicate<String> skipped) {
        this.in = in;
        this.skipped = skipped;
    }

    /**
     * Reads the one value that fills the buffer.
     *
     * @param bytes big-endian, position to limit
     * @param skipped keys whose typed array is passed over instead of copied; they are absent from the result
     * @throws ContractException {@link ErrorCode#CORRUPT_PACKAGE} at the first byte that breaks the format
     */
    static Map<String, Object> readObject(ByteBuffer bytes, Predicate<String> skipped) {
        UbjReader reader = new UbjReader(bytes.slice(), skipped);
        char marker = reader.marker();
        if (marker != '{') {
            throw reader.corrupt("model file must begin with an object", "marker=" + printable(marker));
        }
        Map<String, Object> object = reader.object(0);
        if (reader.in.hasRemaining()) {
            throw reader.corrupt("model file must end after its object", "left=" + reader.in.remaining());
        }
        return object;
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> object = new LinkedHashMap<>();
        while (true) {
            char marker = marker();
            if (marker == '}') {
                return object;
            }
            String key = text(length(marker));
            Object value = value(marker(), depth + 1, skipped.test(key));
            // Of a key that comes twice another reader may take the other value.
            if (value != null && object.put(key, value) != null) {
                throw corrupt("key must come once", "keyLength=" + key.length());
            }
        }
    }

    private @Nullable Object value(char marker, int depth, boolean skip) {
        if (depth > DEPTH_MAX) {
            throw corrupt("nesting must be bounded", "depth=" + depth + ", limit=" + DEPTH_MAX);
        }
        return switch (marker) {
            case '{' -> object(depth);
            case '[' -> array(depth, skip);
            case 'S' -> text(length(marker()));
            case 'd' -> (double) Float.intBitsToFloat(need(4).getInt());
            case 'D' -> need(8).getDouble();
            case 'T' -> true;
            case 'F' -> false;
            case 'Z' -> null;
            default -> integer(marker);
        };
    }

    private @Nullable Object array(int depth, boolean skip) {
        char first = marker();
        if (first == '$') {
            char type = marker();
            if (marker() != '#') {
                throw corrupt("typed array must have a count", "type=" + printable(type));
            }
            return typedArray(type, length(marker()), skip);
        }
        List<Object> items = new ArrayList<>();
        if (first == '#') {
            int count = length(marker());
            for (int index = 0; index < count; index++) {
                append(items, value(marker(), depth + 1, false));
            }
            return items;
        }
        for (char marker = first; marker != ']'; marker = marker()) {
            append(items, value(marker, depth + 1, false));
        }
        return items;
    }

    private void append(List<Object> items, @Nullable Object item) {
        if (item == null) {
            throw corrupt("array must hold values", "item=null");
        }
        items.add(item);
    }

    private @Nullable Object typedArray(char type, int count, boolean skip) {
        int itemLength = switch (type) {
            case 'd', 'l' -> 4;
            case 'D', 'L' -> 8;
            case 'I' -> 2;
            case 'i', 'U' -> 1;
            default -> throw corrupt("array type must be known", "type=" + printable(type));
        };
        ByteBuffer items = need((long) count * itemLength).slice();
        items.limit(count * itemLength);
        in.position(in.position() + count * itemLength);
        return skip ? null : copy(type, items, count);
    }

    private static Object copy(char type, ByteBuffer items, int count) {
        switch (type) {
            case 'd' -> {
                float[] values = new float[count];
                items.asFloatBuffer().get(values);
                return values;
            }
            case 'D' -> {
                double[] values = new double[count];
                items.asDoubleBuffer().get(values);
                return values;
            }
            case 'L' -> {
                long[] values = new long[count];
                items.asLongBuffer().get(values);
                return values;
            }
            case 'l' -> {
                int[] values = new int[count];
                items.asIntBuffer().get(values);
                return values;
            }
            case 'I' -> {
                int[] values = new int[count];
                for (int index = 0; index < count; index++) {
                    values[index] = items.getShort(2 * index);
                }
                return values;
            }
            default -> {
                byte[] values = new byte[count];
                items.get(values);
                return values;
            }
        }
    }

    private long integer(char marker) {
        return switch (marker) {
            case 'i' -> need(1).get();
            case 'U' -> need(1).get() & 0xFF;
            case 'I' -> need(2).getShort();
            case 'l' -> need(4).getInt();
            case 'L' -> need(8).getLong();
            default -> throw corrupt("value type must be known", "marker=" + printable(marker));
        };
    }

    /** A length or count that fits in what remains: every item has at least one byte. */
    private int length(char marker) {
        long length = integer(marker);
        if (length < 0 || length > in.remaining()) {
            throw corrupt("length must fit the file", "length=" + length + ", left=" + in.remaining());
        }
        return (int) length;
    }

    private String text(int length) {
        byte[] bytes = new byte[length];
        need(length).get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private char marker() {
        return (char) (need(1).get() & 0xFF);
    }

    private ByteBuffer need(long length) {
        if (length > in.remaining()) {
            throw corrupt("model file is truncated", "needed=" + length + ", left=" + in.remaining());
        }
        return in;
    }

    private ContractException corrupt(String rule, String values) {
        return new ContractException(ErrorCode.CORRUPT_PACKAGE, rule + ": offset=" + in.position() + ", " + values);
    }

    private static String printable(char marker) {
        return marker > ' ' && marker < 127 ? String.valueOf(marker) : "0x" + Integer.toHexString(marker);
    }
}
