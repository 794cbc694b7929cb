package io.millrace.engine;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxMap;
import ai.onnxruntime.OnnxSequence;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.fitted.RawRows;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/*
 * Numbers go in and, where the graph says the shape of its answer, come out through one direct buffer per thread: the
 * runtime works on it in place. The buffer must have the native byte order; the other is accepted and read wrong.
 */

/** One output of a graph as numbers, for rows of features or of columns. Threads: any, while the session is open. */
final class OnnxRun {
    /** Bytes of a thread's buffer, unless a single row needs more. */
    private static final int SCRATCH_BYTES = 1 << 20;

    private static final ThreadLocal<ByteBuffer> SCRATCH = ThreadLocal.withInitial(() -> direct(4096));

    private final OnnxSession session;
    private final boolean matrix;
    private final int width;
    private final OnnxSession.Port output;
    private final int columns;
    private final Map<String, Integer> classIndexes = new HashMap<>();

    /**
     * Rows to score, one of the two.
     *
     * @param features a matrix, row-major
     * @param raw columns
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Rows(float @Nullable [] features, @Nullable RawRows raw) {}

    /** Looks at an answer before it is freed. */
    @FunctionalInterface
    private interface Reader<T> {
        T read(OnnxValue answer) throws OrtException;
    }

    /**
     * A way to run a graph.
     *
     * @param matrix whether the only input is the matrix of features
     * @param width features of one row of it
     * @param output of the session
     * @param classNames in the order of the answer's numbers; empty for one number
     */
    OnnxRun(
            OnnxSession session,
            boolean matrix,
            int width,
            OnnxSession.Port output,
            List<String> classNames,
            boolean answersLabel) {
        this.session = session;
        this.matrix = matrix;
        this.width = width;
        this.output = output;
        this.columns = answersLabel || classNames.isEmpty() ? 1 : classNames.size();
        for (int index = 0; index < classNames.size(); index++) {
            classIndexes.put(classNames.get(index), index);
        }
    }

    private static ByteBuffer direct(int length) {
        return ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
    }

    /** Numbers of one row's answer. */
    int columns() {
        return columns;
    }

    /** Rows that fit a thread's buffer; at least one. */
    int blockRows() {
        long rowBytes = ((matrix ? width : session.inputs().size()) + (long) columns) * Long.BYTES;
        return (int) Math.max(1, SCRATCH_BYTES / rowBytes);
    }

    /**
     * Runs rows.
     *
     * @param first of them
     * @param count how many
     * @param runRows rows of the run; those beyond {@code count} repeat the last
     * @param answer takes {@code count * columns()} numbers: values, scores, or the index of the class
     * @throws ContractException {@link ErrorCode#SCORER_FAILED} if the runtime refuses or the answer cannot be read
     */
    void run(Rows rows, int first, int count, int runRows, float[] answer) {
        Scratch scratch = new Scratch();
        if (isPinnable()) {
            FloatBuffer out =
                    scratch.take((long) Float.BYTES * runRows * columns).asFloatBuffer();
            try (OnnxTensor pinned =
                    OnnxTensor.createTensor(OnnxLibrary.environment(), out, shape(output, runRows, columns))) {
                ask(rows, first, count, runRows, scratch, pinned, value -> value);
            } catch (OrtException e) {
                throw failed(e);
            }
            out.get(0, answer, 0, count * columns);
            return;
        }
        ask(rows, first, count, runRows, scratch, null, value -> {
            read(value, count, runRows, answer);
            return answer;
        });
    }

    /** The keys of the map that a graph answers for the first row. */
    List<String> mapKeys(Rows rows, int runRows) {
        return ask(rows, 0, 1, runRows, new Scratch(), null, value -> {
            List<String> keys = new ArrayList<>();
            for (OnnxValue element : ((OnnxSequence) value).getValue()) {
                try (OnnxMap map = (OnnxMap) element) {
                    if (keys.isEmpty()) {
                        map.getValue().keySet().forEach(key -> keys.add(String.valueOf(key)));
                    }
                }
            }
            return keys;
        });
    }

    /** Numbers that a graph answers for one row, whatever it says of its shape. */
    int answerColumns(Rows rows, int runRows) {
        return ask(rows, 0, 1, runRows, new Scratch(), null, value -> {
            long elements = ((OnnxTensor) value).getInfo().getNumElements();
            if (elements <= 0 || elements % runRows != 0) {
                throw wrongShape(elements, runRows);
            }
            return (int) (elements / runRows);
        });
    }

    private <T> T ask(
            Rows rows,
            int first,
            int count,
            int runRows,
            Scratch scratch,
            @Nullable OnnxTensor pinned,
            Reader<T> reader) {
        Map<String, OnnxTensor> tensors = new HashMap<>();
        try {
            List<OnnxSession.Port> inputs = session.inputs();
            for (int index = 0; index < inputs.size(); index++) {
                tensors.put(inputs.get(index).name(), tensor(rows, index, first, count, runRows, scratch));
            }
            try (OrtSession.Result result = pinned == null
                    ? session.natively().run(tensors, Set.of(output.name()))
                    : session.natively().run(tensors, Map.of(output.name(), pinned))) {
                return reader.read(result.get(0));
            }
        } catch (OrtException e) {
            throw failed(e);
        } finally {
            tensors.values().forEach(OnnxTensor::close);
        }
    }

    /** The runtime's own words may repeat a value of the row, so only its code is told. */
    private static ContractException failed(OrtException e) {
        return new ContractException(ErrorCode.SCORER_FAILED, "model cannot answer: code=" + e.getCode(), e);
    }

    /** Whether the answer can be written where it is wanted: the graph promises exactly the numbers that are wanted. */
    private boolean isPinnable() {
        boolean promised = output.shape().size() == 2
                ? output.shape().get(1) == columns
                : output.shape().size() == 1 && columns == 1;
        return output.type() == OnnxJavaType.FLOAT && !output.maps() && promised;
    }

    private static long[] shape(OnnxSession.Port port, int rowCount, int columns) {
        return port.shape().size() == 1 ? new long[] {rowCount} : new long[] {rowCount, columns};
    }

    private OnnxTensor tensor(Rows rows, int index, int first, int count, int runRows, Scratch scratch)
            throws OrtException {
        OnnxSession.Port input = session.inputs().get(index);
        return matrix
                ? matrixTensor(input, Objects.requireNonNull(rows.features()), first, count, runRows, scratch)
                : columnTensor(input, Objects.requireNonNull(rows.raw()), index, first, count, runRows, scratch);
    }

    private OnnxTensor matrixTensor(
            OnnxSession.Port input, float[] features, int first, int count, int runRows, Scratch scratch)
            throws OrtException {
        long[] shape = {runRows, width};
        int from = first * width;
        if (input.type() == OnnxJavaType.FLOAT) {
            FloatBuffer buffer =
                    scratch.take((long) Float.BYTES * runRows * width).asFloatBuffer();
            buffer.put(0, features, from, count * width);
            for (int row = count; row < runRows; row++) {
                buffer.put(row * width, features, from + (count - 1) * width, width);
            }
            return OnnxTensor.createTensor(OnnxLibrary.environment(), buffer, shape);
        }
        DoubleBuffer buffer =
                scratch.take((long) Double.BYTES * runRows * width).asDoubleBuffer();
        for (int row = 0; row < runRows; row++) {
            int at = from + Math.min(row, count - 1) * width;
            for (int feature = 0; feature < width; feature++) {
                buffer.put(row * width + feature, features[at + feature]);
            }
        }
        return OnnxTensor.createTensor(OnnxLibrary.environment(), buffer, shape);
    }

    private static OnnxTensor columnTensor(
            OnnxSession.Port input, RawRows raw, int column, int first, int count, int runRows, Scratch scratch)
            throws OrtException {
        long[] shape = shape(input, runRows, 1);
        int last = first + count - 1;
        if (input.type() == OnnxJavaType.STRING) {
            String[] texts = new String[runRows];
            for (int row = 0; row < runRows; row++) {
                texts[row] = raw.text(column, Math.min(first + row, last));
            }
            return OnnxTensor.createTensor(OnnxLibrary.environment(), texts, shape);
        }
        if (input.type() == OnnxJavaType.INT64) {
            LongBuffer buffer = scratch.take((long) Long.BYTES * runRows).asLongBuffer();
            for (int row = 0; row < runRows; row++) {
                buffer.put(row, raw.integer(column, Math.min(first + row, last)));
            }
            return OnnxTensor.createTensor(OnnxLibrary.environment(), buffer, shape);
        }
        if (input.type() == OnnxJavaType.DOUBLE) {
            DoubleBuffer buffer = scratch.take((long) Double.BYTES * runRows).asDoubleBuffer();
            for (int row = 0; row < runRows; row++) {
                buffer.put(row, raw.real(column, Math.min(first + row, last)));
            }
            return OnnxTensor.createTensor(OnnxLibrary.environment(), buffer, shape);
        }
        FloatBuffer buffer = scratch.take((long) Float.BYTES * runRows).asFloatBuffer();
        for (int row = 0; row < runRows; row++) {
            buffer.put(row, (float) raw.real(column, Math.min(first + row, last)));
        }
        return OnnxTensor.createTensor(OnnxLibrary.environment(), buffer, shape);
    }

    private void read(OnnxValue value, int count, int runRows, float[] answer) throws OrtException {
        if (output.maps()) {
            readMaps((OnnxSequence) value, count, runRows, answer);
            return;
        }
        OnnxTensor tensor = (OnnxTensor) value;
        long elements = tensor.getInfo().getNumElements();
        if (elements != (long) runRows * columns) {
            throw wrongShape(elements, runRows);
        }
        OnnxJavaType type = Objects.requireNonNull(output.type());
        switch (type) {
            case FLOAT -> tensor.getFloatBuffer().get(0, answer, 0, count * columns);
            case DOUBLE -> {
                DoubleBuffer values = tensor.getDoubleBuffer();
                for (int index = 0; index < count * columns; index++) {
                    answer[index] = (float) values.get(index);
                }
            }
            case INT64 -> {
                LongBuffer values = tensor.getLongBuffer();
                for (int index = 0; index < count; index++) {
                    answer[index] = number(values.get(index));
                }
            }
            case STRING -> {
                int index = 0;
                for (String name : texts(tensor.getValue())) {
                    if (index < count) {
                        answer[index++] = classIndex(name);
                    }
                }
            }
            default -> throw new AssertionError(type);
        }
    }

    private static List<String> texts(Object value) {
        List<String> texts = new ArrayList<>();
        for (Object element : (Object[]) value) {
            if (element instanceof Object[] inner) {
                texts.addAll(texts(inner));
            } else {
                texts.add(String.valueOf(element));
            }
        }
        return texts;
    }

    private void readMaps(OnnxSequence maps, int count, int runRows, float[] answer) throws OrtException {
        List<? extends OnnxValue> elements = maps.getValue();
        int row = 0;
        try {
            if (elements.size() != runRows) {
                throw wrongShape(elements.size(), runRows);
            }
            for (; row < elements.size(); row++) {
                try (OnnxMap map = (OnnxMap) elements.get(row)) {
                    if (row < count) {
                        readMap(map.getValue(), answer, row * columns);
                    }
                }
            }
        } finally {
            for (int unread = row + 1; unread < elements.size(); unread++) {
                elements.get(unread).close();
            }
        }
    }

    private void readMap(Map<?, ?> map, float[] answer, int offset) {
        if (map.size() != columns) {
            throw new ContractException(
                    ErrorCode.SCORER_FAILED,
                    "model must answer a score for each class: scores=" + map.size() + ", classes=" + columns);
        }
        map.forEach((name, score) -> answer[offset + classIndex(String.valueOf(name))] = ((Number) score).floatValue());
    }

    /** The index of the class an integer names; the integer itself where it is the answer. */
    private float number(long value) {
        return classIndexes.isEmpty() ? value : classIndex(Long.toString(value));
    }

    private int classIndex(String name) {
        Integer index = classIndexes.get(name);
        if (index == null) {
            throw new ContractException(
                    ErrorCode.SCORER_FAILED, "model answers a class it did not name: classes=" + classIndexes.size());
        }
        return index;
    }

    private ContractException wrongShape(long values, int rowCount) {
        return new ContractException(
                ErrorCode.SCORER_FAILED,
                "model must answer as many numbers as it has rows and classes: output=" + output.name() + ", values="
                        + values + ", rows=" + rowCount + ", columns=" + columns);
    }

    /** Pieces of the thread's buffer for one run, each aligned for any number. */
    private static final class Scratch {
        private ByteBuffer buffer = SCRATCH.get();
        private int used;

        /** A piece of its own; it stays valid when a later one needs a larger buffer. */
        ByteBuffer take(long length) {
            long end = used + length;
            if (end > buffer.capacity()) {
                buffer = direct(Math.toIntExact(Math.max(length, Math.min(SCRATCH_BYTES, 2 * end))));
                used = 0;
                SCRATCH.set(buffer);
            }
            ByteBuffer piece = buffer.slice(used, (int) length).order(ByteOrder.nativeOrder());
            used = (int) Math.min(buffer.capacity(), (used + length + Long.BYTES - 1) & -Long.BYTES);
            return piece;
        }
    }
}
