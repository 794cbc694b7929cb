package io.millrace.gateway.core;

import io.millrace.contract.ContractException;
import io.millrace.contract.fitted.RawColumn;
import io.millrace.contract.fitted.RawRows;
import io.millrace.engine.Scorer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Requests that are scored together, with the arrays to do so; one per executing thread, reused. Threads: one.
 *
 * <p>A row of the batch (0-based over all requests) has a position in the matrix, or none and an error instead.
 */
final class Batch {
    /** Floats of the matrix, and of its outputs, unless a single row has more: 4 MiB, which each executing thread keeps. */
    static final int FLOATS_MAX = 1 << 20;

    private static final int NO_POSITION = -1;

    private Request[] requests = new Request[64];
    private int requestCount;
    private int rowCount;
    private final BatchTimes times = new BatchTimes();

    /** What the run queue expected of it when it was taken. */
    long expectedNanos;

    private float[] features = new float[0];
    private float[] outputs = new float[0];
    private RawRows rawRows = new RawRows(List.of());
    private int[] positions = new int[64];
    private int positionCount;
    private int batchRow;
    private final Map<Integer, ContractException> errors = new HashMap<>();

    /** Rows that may be scored at a time: as many as configured, fewer when they are wide, at least one. */
    static int blockRows(int rowsMax, int width, int outputCount) {
        return Math.max(1, Math.min(rowsMax, FLOATS_MAX / Math.max(1, Math.max(width, outputCount))));
    }

    boolean isEmpty() {
        return requestCount == 0;
    }

    int requestCount() {
        return requestCount;
    }

    Request request(int index) {
        return requests[index];
    }

    /** Rows of all requests. */
    int rowCount() {
        return rowCount;
    }

    /** What it took so far. */
    BatchTimes times() {
        return times;
    }

    void add(Request request) {
        if (requestCount == requests.length) {
            requests = Arrays.copyOf(requests, 2 * requestCount);
        }
        requests[requestCount++] = request;
        request.times = times;
        rowCount += request.rowCount();
    }

    /** Drops a request that is answered already. */
    void remove(int index) {
        rowCount -= requests[index].rowCount();
        requestCount--;
        System.arraycopy(requests, index + 1, requests, index, requestCount - index);
    }

    /** Takes out the first request; its rows stay in the matrix. */
    Request removeFirst() {
        Request first = requests[0];
        remove(0);
        return first;
    }

    /** Forgets everything but the arrays. */
    void clear() {
        Arrays.fill(requests, 0, requestCount, null);
        requestCount = 0;
        rowCount = 0;
        errors.clear();
    }

    /**
     * Makes the matrix ready for a block of rows, and forgets the block before.
     *
     * @param blockRows at most {@link #blockRows}
     */
    void prepare(int blockRows, Scorer scorer) {
        positionCount = 0;
        batchRow = 0;
        errors.clear();
        List<RawColumn> columns = scorer.rawColumns();
        if (columns.isEmpty()) {
            features = ensure(features, (long) blockRows * scorer.width());
        } else {
            rawRows = columns.equals(rawRows.columns()) ? rawRows : new RawRows(columns);
            rawRows.ensure(blockRows);
        }
        outputs = ensure(outputs, (long) blockRows * scorer.outputs());
        if (positions.length < blockRows) {
            positions = new int[Math.max(blockRows, 2 * positions.length)];
        }
    }

    private static float[] ensure(float[] array, long length) {
        long grown = Math.max(length, Math.min(FLOATS_MAX, 2L * array.length));
        return array.length >= length ? array : new float[Math.toIntExact(grown)];
    }

    float[] features() {
        return features;
    }

    float[] outputs() {
        return outputs;
    }

    /** The rows of a model that takes columns as they are, in place of the matrix. */
    RawRows rawRows() {
        return rawRows;
    }

    /** Scores all rows in the matrix. */
    void score(Scorer scorer) {
        if (scorer.rawColumns().isEmpty()) {
            scorer.score(features, positionCount, outputs);
        } else {
            scorer.score(rawRows, 0, positionCount, outputs);
        }
    }

    /** Scores one row of the matrix alone. */
    void score(Scorer scorer, int position, float[] out) {
        if (scorer.rawColumns().isEmpty()) {
            int width = scorer.width();
            scorer.score(Arrays.copyOfRange(features, position * width, (position + 1) * width), 1, out);
        } else {
            scorer.score(rawRows, position, 1, out);
        }
    }

    /** Rows in the matrix. */
    int positionCount() {
        return positionCount;
    }

    /** Next row of the batch; a request's first row is remembered for {@link #rewind}. */
    int nextRow() {
        return batchRow;
    }

    /** The next row is in the matrix, after the ones before. */
    void accept() {
        positions[batchRow++] = positionCount++;
    }

    /** The next row has no features. */
    void refuse(ContractException error) {
        positions[batchRow] = NO_POSITION;
        errors.put(batchRow++, error);
    }

    /** Forgets the rows from {@code firstRow} on. */
    void rewind(int firstRow) {
        while (batchRow > firstRow) {
            batchRow--;
            if (positions[batchRow] == NO_POSITION) {
                errors.remove(batchRow);
            } else {
                positionCount--;
            }
        }
    }

    /** A row of the matrix could not be scored. */
    void refusePosition(int position, ContractException error) {
        for (int row = 0; row < batchRow; row++) {
            if (positions[row] == position) {
                positions[row] = NO_POSITION;
                errors.put(row, error);
                return;
            }
        }
    }

    /** Where a row's outputs are; negative when it has an error. */
    int position(int row) {
        return positions[row];
    }

    @Nullable
    ContractException error(int row) {
        return errors.get(row);
    }
}
