package io.millrace.gateway.core;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.envelope.RequestLimits;
import io.millrace.contract.layout.RequestKind;
import io.millrace.contract.layout.ValueKind;
import io.millrace.engine.TestingRow;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A request in memory that keeps its answer as text, one per row. */
public final class TestingRequest extends Request implements Completion {
    /** One column {@code x}. */
    public static final RowSchema SCHEMA = new RowSchema(List.of(new Column("x", ColumnType.FLOAT64, true)));

    private final List<RowReader> rows = new ArrayList<>();
    private final List<String> answers = new ArrayList<>();
    private final CountDownLatch done = new CountDownLatch(1);
    private int nextRow;
    private int room = Integer.MAX_VALUE;
    private @Nullable Error writeError;
    private @Nullable Error schemaError;
    private final AtomicInteger ends = new AtomicInteger();
    private @Nullable RowSchema schema = SCHEMA;
    private @Nullable ModelReference reference;
    private volatile boolean wanted = true;
    private volatile @Nullable ErrorCode code;
    private volatile String message = "";
    private volatile String hint = "";

    /** A request for model {@code modelKey} with one row per value. */
    public TestingRequest(RequestKind kind, long modelKey, long deadlineNanos, long nowNanos, double... values) {
        for (double value : values) {
            rows.add(TestingRow.of(value));
        }
        open(kind, modelKey, deadlineNanos, nowNanos, values.length);
        trace(1, 2, 0, false);
    }

    /** Asked by a caller with a span. */
    TestingRequest of(TraceParent caller) {
        trace(caller);
        return this;
    }

    TestingRequest withoutSchema() {
        schema = null;
        return this;
    }

    TestingRequest withReference(ModelReference newReference) {
        reference = newReference;
        return this;
    }

    /** Asked by a project; {@link #withReference} brings what the limits are. */
    TestingRequest of(long tenantKey, RequestLimits limits) {
        tenant(false, tenantKey, limits.fingerprint());
        return this;
    }

    /** Part of a large job of nobody in particular. */
    TestingRequest bulk() {
        tenant(true, 0, 0);
        return this;
    }

    TestingRequest withRoomFor(int rowCount) {
        room = rowCount;
        return this;
    }

    TestingRequest withWriteError(Error error) {
        writeError = error;
        return this;
    }

    TestingRequest withSchemaError(Error error) {
        schemaError = error;
        return this;
    }

    /** How often it was completed or failed. */
    int ends() {
        return ends.get();
    }

    void cancel() {
        wanted = false;
    }

    /** Waits for the end. */
    public ErrorCode await() throws InterruptedException {
        if (!done.await(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("request does not end");
        }
        ErrorCode result = code;
        return result == null ? ErrorCode.INTERNAL : result;
    }

    boolean isDone() {
        return done.getCount() == 0;
    }

    List<String> answers() {
        return answers;
    }

    String message() {
        return message;
    }

    String hint() {
        return hint;
    }

    @Override
    public boolean isWanted() {
        return wanted;
    }

    @Override
    public @Nullable ModelReference reference() {
        return reference;
    }

    @Override
    public @Nullable RowSchema schema() {
        if (schemaError != null) {
            throw schemaError;
        }
        return schema;
    }

    @Override
    public RowReader nextRow() {
        return rows.get(nextRow++);
    }

    @Override
    public ByteBuffer payload() {
        return ByteBuffer.wrap("payload".getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public Completion completion() {
        return this;
    }

    @Override
    public void begin(ValueKind kind, int rowCount, long modelKey, long modelId) {
        answers.clear();
    }

    private void answer(String answer) {
        if (writeError != null) {
            throw writeError;
        }
        if (answers.size() == room) {
            throw new ContractException(ErrorCode.PAYLOAD_TOO_LARGE, "no room");
        }
        answers.add(answer);
    }

    @Override
    public void scalar(double value) {
        answer(String.valueOf(value));
    }

    @Override
    public void vector(double[] values, int count) {
        answer("vector " + count);
    }

    @Override
    public void vector32(float[] values, int offset, int count) {
        answer("features " + values[offset]);
    }

    @Override
    public void text(byte[] value) {
        answer(new String(value, StandardCharsets.UTF_8));
    }

    @Override
    public void full(double prediction, byte[] label, double[] probabilities, int count) {
        answer("full " + prediction);
    }

    @Override
    public void bytes(ByteBuffer value) {
        answer(StandardCharsets.UTF_8.decode(value.duplicate()).toString());
    }

    @Override
    public void rowFailed(ErrorCode rowCode, String rowMessage) {
        answer(rowCode.name());
    }

    @Override
    public void complete() {
        ends.incrementAndGet();
        code = ErrorCode.OK;
        done.countDown();
    }

    @Override
    public void fail(ErrorCode newCode, String newMessage, String newHint) {
        ends.incrementAndGet();
        code = newCode;
        message = newMessage;
        hint = newHint;
        done.countDown();
    }
}
