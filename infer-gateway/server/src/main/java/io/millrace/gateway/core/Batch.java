package io.millrace.gateway.core;

import io.millrace.contract.ContractException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Requests that are scored together, with the arrays to do so; one per executing thread, reused. Threads: one.
 *
 * <p>A row of the batch (0-based over all requests) has a position in the matrix, or none and an error instead.
 */
final class Batch {
    private static final int NO_POSITION = -1;

    private Request[] requests = new Request[64];
    private int requestCount;
    private int rowCount;

    private float[] features = new float[0];
    private float[] outputs = new float[0];
    private int[] positions = new int[64];
    private int positionCount;
    private int batchRow;
    private final Map<Integer, ContractException> errors = new HashMap<>();

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

    void add(Request request) {
        if (requestCount == requests.length) {
            requests = Arrays.copyOf(requests, 2 * requestCount);
        }
        requests[requestCount++] = request;
        rowCount += request.rowCount();
    }

    /** Drops a request that is answered already. */
    void remove(int index) {
        rowCount -= requests[index].rowCount();
        requestCount--;
        System.arraycopy(requests, index + 1, requests, index, requestCount - index);
    }

    /** Forgets everything but the arrays. */
    void clear() {
        Arrays.fill(requests, 0, requestCount, null);
        requestCount = 0;
        rowCount = 0;
        errors.clear();
    }

    /** Makes the matrix ready for the rows of all requests. */
    void prepare(int width, int outputCount) {
        positionCount = 0;
        batchRow = 0;
        features = ensure(features, rowCount * width);
        outputs = ensure(outputs, rowCount * outputCount);
        if (positions.length < rowCount) {
            positions = new int[Math.max(rowCount, 2 * positions.length)];
        }
    }

    private static float[] ensure(float[] array, int length) {
        return array.length >= length ? array : new float[Math.max(length, 2 * array.length)];
    }

    float[] features() {
        return features;
    }

    float[] outputs() {
        return outputs;
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
