package io.millrace.engine;

import ai.onnxruntime.OnnxJavaType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.fitted.RawColumn;
import io.millrace.contract.fitted.RawRows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Closing a session under a running call would be a crash, so calls hold the read side of a lock, and close and renew take
 * the write side. A session whose call failed may be left in any state: renew puts a fresh one of the same file in its
 * place. A row that fails by itself would ask for that again and again, so it is done once in a while only.
 */

/** A graph of the ONNX Runtime. */
final class OnnxScorer implements Scorer {
    private static final Logger log = LoggerFactory.getLogger(OnnxScorer.class);

    /** Memory of a session by its file: the weights as they came, as the kernels want them, and the graph. */
    private static final int SESSION_FACTOR = 3;

    /** How far the sum of a row's probabilities may be from 1. */
    static final float PROBABILITY_TOLERANCE = 1e-3f;

    /** The file packs trees tightly; a session keeps each node several times. */
    private static final int TREE_NODE_BYTES = 512;

    private static final long SESSION_BYTES = 1 << 20;
    private static final long RENEW_PAUSE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Path file;
    private final OnnxSignature signature;
    private final int width;
    private final List<String> labels;
    private final List<RawColumn> rawColumns;
    private final int[] labelIndexes;
    private final long residentBytes;
    private final LongSupplier clock;
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

    private @Nullable OnnxSession session;
    private @Nullable OnnxRun run;
    private long renewableNanos;

    OnnxScorer(
            Path file,
            OnnxSession session,
            OnnxSignature signature,
            int width,
            List<String> labels,
            long residentBytes,
            LongSupplier clock) {
        this.file = file;
        this.signature = signature;
        this.width = width;
        this.labels = labels;
        this.clock = clock;
        this.renewableNanos = clock.getAsLong();
        this.rawColumns = signature.matrix() ? List.of() : rawColumns(session);
        this.labelIndexes =
                signature.classLabels().stream().mapToInt(labels::indexOf).toArray();
        this.residentBytes = residentBytes;
        this.session = session;
        this.run = runOf(session, signature, width);
    }

    /** Loads a package's model; errors as {@link Engines#load}. */
    static OnnxScorer load(Path directory, ModelManifest manifest) {
        Path file = directory.resolve(Engines.ONNX_FILE);
        OnnxFile described = OnnxFile.read(file);
        OnnxSession session = null;
        boolean loaded = false;
        try {
            OnnxSignature signature =
                    OnnxSignature.parse(Files.readAllBytes(directory.resolve(OnnxSignature.FILE_NAME)));
            session = OnnxSession.open(file);
            check(session, signature, manifest);
            OnnxScorer scorer = new OnnxScorer(
                    file,
                    session,
                    signature,
                    manifest.width(),
                    manifest.labels(),
                    SESSION_BYTES + SESSION_FACTOR * Files.size(file) + TREE_NODE_BYTES * described.treeNodes(),
                    System::nanoTime);
            loaded = true;
            return scorer;
        } catch (IOException e) {
            throw new ContractException(
                    ErrorCode.IO_FAILED, "model cannot be read: file=" + file + ", cause=" + e.getMessage(), e);
        } finally {
            if (!loaded && session != null) {
                session.close();
            }
        }
    }

    private static void check(OnnxSession session, OnnxSignature signature, ModelManifest manifest) {
        int classCount = manifest.labels().size();
        boolean regression = signature.scores() == OnnxSignature.Scores.VALUE;
        boolean fits = regression == manifest.labels().isEmpty()
                && manifest.labels().containsAll(signature.classLabels())
                && (regression
                        || signature.classLabels().size() == classCount
                        || isSecondOfTwo(signature, manifest.labels()));
        if (!fits) {
            throw new ContractException(
                    ErrorCode.CORRUPT_PACKAGE,
                    "model signature must answer the manifest's task: scores="
                            + signature.scores().text() + ", classes="
                            + signature.classLabels().size() + ", labels=" + classCount);
        }
        if (session.output(signature.output()) == null
                || (signature.matrix() && session.inputs().size() != 1)) {
            throw new ContractException(
                    ErrorCode.CORRUPT_PACKAGE,
                    "model must have the signature's inputs and output: inputs="
                            + session.inputs().size() + ", output=" + signature.output());
        }
    }

    private static boolean isSecondOfTwo(OnnxSignature signature, List<String> labels) {
        return labels.size() == 2 && signature.classLabels().equals(labels.subList(1, 2));
    }

    private static OnnxRun runOf(OnnxSession session, OnnxSignature signature, int width) {
        OnnxSession.Port output = session.output(signature.output());
        if (output == null) {
            throw new ContractException(
                    ErrorCode.CORRUPT_PACKAGE, "model must have the signature's output: output=" + signature.output());
        }
        boolean label = signature.scores() == OnnxSignature.Scores.LABEL;
        return new OnnxRun(session, signature.matrix(), width, output, signature.classNames(), label);
    }

    /** How the graph's inputs want their columns. */
    static List<RawColumn> rawColumns(OnnxSession session) {
        List<RawColumn> columns = new ArrayList<>();
        for (OnnxSession.Port input : session.inputs()) {
            RawColumn.Form form = input.type() == OnnxJavaType.STRING
                    ? RawColumn.Form.TEXT
                    : input.type() == OnnxJavaType.INT64 ? RawColumn.Form.INTEGER : RawColumn.Form.REAL;
            columns.add(new RawColumn(input.name(), form));
        }
        return List.copyOf(columns);
    }

    @Override
    public int width() {
        return width;
    }

    @Override
    public int outputs() {
        return Math.max(1, labels.size() == 2 ? 1 : labels.size());
    }

    @Override
    public List<RawColumn> rawColumns() {
        return rawColumns;
    }

    @Override
    public long residentBytes() {
        return residentBytes;
    }

    @Override
    public void score(float[] features, int rowCount, float[] out) {
        if (!signature.matrix()) {
            throw new ContractException(
                    ErrorCode.UNSUPPORTED_KIND,
                    "model takes columns as they are, not features: columns=" + rawColumns.size());
        }
        Scorer.checkLengths(this, features, rowCount, out);
        score(new OnnxRun.Rows(features, null), 0, rowCount, out);
    }

    @Override
    public void score(RawRows rows, int first, int rowCount, float[] out) {
        if (!rows.columns().equals(rawColumns)) {
            throw new ContractException(
                    ErrorCode.WRONG_LENGTH,
                    "rows must have the model's columns: columns="
                            + rows.columns().size() + ", modelColumns=" + rawColumns.size());
        }
        score(new OnnxRun.Rows(null, rows), first, rowCount, out);
    }

    private void score(OnnxRun.Rows rows, int first, int rowCount, float[] out) {
        lock.readLock().lock();
        try {
            OnnxRun present = run;
            if (present == null) {
                throw new IllegalStateException("scorer is closed");
            }
            int step = signature.batchRows() > 0 ? signature.batchRows() : Math.min(rowCount, present.blockRows());
            float[] answer = new float[step * present.columns()];
            for (int done = 0; done < rowCount; done += step) {
                int count = Math.min(step, rowCount - done);
                int runRows = signature.batchRows() > 0 ? step : count;
                present.run(rows, first + done, count, runRows, answer);
                write(answer, count, present.columns(), out, done);
            }
        } finally {
            lock.readLock().unlock();
        }
    }

    private void write(float[] answer, int count, int columns, float[] out, int firstRow) {
        int outputs = outputs();
        for (int row = 0; row < count; row++) {
            int from = row * columns;
            int to = (firstRow + row) * outputs;
            switch (signature.scores()) {
                case VALUE -> out[to] = answer[from];
                case LABEL -> writeLabel(labelIndexes[(int) answer[from]], out, to);
                case LOGIT -> {
                    Link link = columns == 1 ? Link.SIGMOID : Link.SOFTMAX;
                    link.applyRow(answer, from, columns);
                    writeProbabilities(answer, from, columns, out, to);
                }
                case PROBABILITY -> writeProbabilities(answer, from, columns, out, to);
            }
        }
    }

    private void writeLabel(int label, float[] out, int to) {
        if (labels.size() == 2) {
            out[to] = label;
            return;
        }
        for (int index = 0; index < labels.size(); index++) {
            out[to + index] = index == label ? 1 : 0;
        }
    }

    /** Scores that are no probabilities, as a graph may make of a missing value, are no answer. */
    private void writeProbabilities(float[] answer, int from, int columns, float[] out, int to) {
        double sum = 0;
        for (int column = from; column < from + columns; column++) {
            sum += answer[column];
        }
        boolean sums = columns == 1
                ? sum >= -PROBABILITY_TOLERANCE && sum <= 1 + PROBABILITY_TOLERANCE
                : Math.abs(sum - 1) <= PROBABILITY_TOLERANCE;
        if (!sums) {
            Arrays.fill(out, to, to + outputs(), Float.NaN);
            return;
        }
        for (int column = 0; column < columns; column++) {
            int label = labelIndexes[column];
            if (labels.size() > 2) {
                out[to + label] = answer[from + column];
            } else if (label == 1) {
                out[to] = answer[from + column];
            }
        }
    }

    @Override
    public boolean renew() {
        synchronized (this) {
            if (clock.getAsLong() - renewableNanos < 0) {
                return false;
            }
            renewableNanos = clock.getAsLong() + RENEW_PAUSE_NANOS;
        }
        try {
            OnnxSession fresh = OnnxSession.open(file);
            replace(fresh, runOf(fresh, signature, width));
            return true;
        } catch (ContractException e) {
            log.warn("scorer cannot be loaded again: reason={}", e.getMessage());
            return false;
        }
    }

    private void replace(@Nullable OnnxSession fresh, @Nullable OnnxRun freshRun) {
        OnnxSession old;
        lock.writeLock().lock();
        try {
            old = session;
            if (old == null && fresh != null) {
                // Closed meanwhile: the fresh one is the one to close.
                old = fresh;
            } else {
                session = fresh;
                run = freshRun;
            }
        } finally {
            lock.writeLock().unlock();
        }
        if (old != null) {
            old.close();
        }
    }

    @Override
    public void close() {
        replace(null, null);
    }
}
