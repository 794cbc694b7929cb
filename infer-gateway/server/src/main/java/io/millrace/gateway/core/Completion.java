package io.millrace.gateway.core;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.ValueKind;
import java.nio.ByteBuffer;

/**
 * Where the answer to one request is written: {@link #begin}, one call per row in the rows' order, {@link #complete}; or
 * {@link #fail}. {@link #complete} and {@link #fail} end the request: nobody may touch it afterwards.
 *
 * <p>Every writing call throws {@link io.millrace.contract.ContractException} with {@link
 * ErrorCode#PAYLOAD_TOO_LARGE} when the answer outgrows what the connector can carry; {@link #fail} is still possible.
 */
public interface Completion {
    /** Starts an answer; throws away what was written before. */
    void begin(ValueKind kind, int rowCount, long modelKey, long modelId);

    /** A row of {@link ValueKind#SCALAR}. */
    void scalar(double value);

    /** A row of {@link ValueKind#VECTOR}: the first {@code count} values. */
    void vector(double[] values, int count);

    /** A row of {@link ValueKind#VECTOR32}. */
    void vector32(float[] values, int offset, int count);

    /** A row of {@link ValueKind#TEXT}; UTF-8. */
    void text(byte[] value);

    /** A row of {@link ValueKind#FULL}; {@code label} is UTF-8, empty for regression. */
    void full(double prediction, byte[] label, double[] probabilities, int count);

    /** A row of {@link ValueKind#BYTES}; reads the buffer absolutely, from position to limit. */
    void bytes(ByteBuffer value);

    /** A row that has no answer, whatever the value kind. */
    void rowFailed(ErrorCode code, String message);

    /** Hands the answer over. */
    void complete();

    /** Hands an error over instead. */
    void fail(ErrorCode code, String message, String hint);
}
