package io.millrace.gateway.core;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.FeatureSchema;
import io.millrace.contract.Task;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.layout.RequestKind;
import io.millrace.engine.Scorer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/*
 * Life: made with one reference, its maker's (later the cache's). Each request that resolves to it takes one and gives
 * it back when answered. When the cache has dropped it and the last answer is out, the count reaches zero, and the
 * native memory is freed by whoever finished last. From zero there is no way back: acquire fails, and the caller looks
 * in the cache again.
 */
/** One model version ready to answer: scorer, preprocessing, queue and cost. Threads: any. */
public final class ServedModel {
    /** Columns of all bindings: about 10 MB of them. */
    private static final int BOUND_COLUMNS_MAX = 1 << 15;

    private final long key;
    private final long modelId;
    private final String name;
    private final Task task;
    private final FittedPreprocessing fitted;
    private final Scorer scorer;
    private final List<byte[]> labels;
    private final long bytes;
    private final ModelQueue singleQueue;
    private final ModelQueue bulkQueue;
    private final AtomicInteger running = new AtomicInteger();
    private final BatchCost cost = new BatchCost();
    private final AtomicInteger references = new AtomicInteger(1);
    private final Map<RowSchema, RowTransform> bindings = new ConcurrentHashMap<>();
    private final AtomicInteger boundColumns = new AtomicInteger();
    private volatile @Nullable Binding lastBinding;

    private record Binding(RowSchema schema, RowTransform transform) {}

    /**
     * Wraps what was loaded.
     *
     * @param key see {@link io.millrace.contract.layout.SlotLayout#MODEL_KEY_OFFSET}
     * @param modelId as its first caller named it
     * @param name for logs
     * @param labels of the classes; empty for regression
     * @param bytes memory it holds
     * @param queueRows limit of the rows that wait for it, those of large jobs apart
     */
    public ServedModel(
            long key,
            long modelId,
            String name,
            Task task,
            List<String> labels,
            FittedPreprocessing fitted,
            Scorer scorer,
            long bytes,
            int queueRows) {
        this.key = key;
        this.modelId = modelId;
        this.name = name;
        this.task = task;
        this.labels = labels.stream()
                .map(label -> label.getBytes(StandardCharsets.UTF_8))
                .toList();
        this.fitted = fitted;
        this.scorer = scorer;
        this.bytes = bytes;
        this.singleQueue = new ModelQueue(this, false, queueRows);
        this.bulkQueue = new ModelQueue(this, true, queueRows);
    }

    public long key() {
        return key;
    }

    public long modelId() {
        return modelId;
    }

    public String name() {
        return name;
    }

    /** Bytes of memory, an estimate from above. */
    public long bytes() {
        return bytes;
    }

    Task task() {
        return task;
    }

    /** The raw columns that its rows bring. */
    public FeatureSchema inputs() {
        return fitted.inputs();
    }

    Scorer scorer() {
        return scorer;
    }

    /** Labels; 0 for regression. */
    public int classCount() {
        return labels.size();
    }

    byte[] label(int classIndex) {
        return labels.get(classIndex);
    }

    /** Rows of its batches: at most {@code rowsMax}, fewer when they are wide. */
    public int blockRows(int rowsMax) {
        return Batch.blockRows(rowsMax, scorer.width(), scorer.outputs());
    }

    /** Where a request waits for its batch: those of large jobs apart. */
    ModelQueue queue(Request request) {
        return request.isBulk() ? bulkQueue : singleQueue;
    }

    /** Batches of it that workers run now. */
    AtomicInteger running() {
        return running;
    }

    /** What its batches cost; warming up fills it. */
    public BatchCost cost() {
        return cost;
    }

    /** The transform of a caller's rows. */
    RowTransform bind(RowSchema schema) {
        Binding last = lastBinding;
        if (last != null && last.schema == schema) {
            return last.transform;
        }
        RowTransform transform = bindings.get(schema);
        if (transform == null) {
            transform = scorer.rawColumns().isEmpty()
                    ? RowTransform.features(fitted.bind(schema.columns()))
                    : RowTransform.columns(fitted.bindRaw(scorer.rawColumns(), schema.columns()));
            // A binding has a part for each column of the model, and its key one for each of the caller's.
            int columns = schema.columns().size() + fitted.inputs().columns().size();
            if (boundColumns.addAndGet(columns) > BOUND_COLUMNS_MAX) {
                bindings.clear();
                boundColumns.set(columns);
            }
            bindings.put(schema, transform);
        }
        lastBinding = new Binding(schema, transform);
        return transform;
    }

    /** Refuses a kind that means nothing for the model's task. */
    void check(RequestKind kind) {
        boolean needsClasses = kind == RequestKind.PROBA || kind == RequestKind.CLASS;
        if (needsClasses && task == Task.REGRESSION) {
            throw new ContractException(
                    ErrorCode.WRONG_TASK,
                    "request must fit the task of the model: kind=" + kind + ", task=" + task + ", model=" + name);
        }
        if (kind == RequestKind.PREPROCESS && !scorer.rawColumns().isEmpty()) {
            throw new ContractException(
                    ErrorCode.UNSUPPORTED_KIND,
                    "model takes its columns as they are, without features: columns="
                            + scorer.rawColumns().size() + ", model=" + name);
        }
    }

    /** Takes a reference; false when the model is gone. */
    public boolean acquire() {
        while (true) {
            int count = references.get();
            if (count == 0) {
                return false;
            }
            if (references.compareAndSet(count, count + 1)) {
                return true;
            }
        }
    }

    /** Gives a reference back; the last one frees the model's memory. */
    public void release() {
        int count = references.decrementAndGet();
        assert count >= 0 : "reference count must not be negative: " + count;
        if (count == 0) {
            scorer.close();
        }
    }
}
