package io.millrace.engine;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.RowReader;
import io.millrace.contract.fitted.BoundTransform;
import io.millrace.contract.fitted.Encoder;
import io.millrace.contract.fitted.FittedColumn;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.RawRows;
import io.millrace.contract.fitted.RawTransform;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Asks a graph about made-up rows. The seed is fixed, so a trial is repeatable. */
final class OnnxTrial {
    private static final int ROW_COUNT = 32;

    /** Largest difference of an answer that a batch may make, relative to the answer where that is above 1. */
    private static final float BATCH_TOLERANCE = 1e-5f;

    private static final double MICROS_PER_DAY = 86_400e6;

    private final OnnxSession session;
    private final boolean matrix;
    private final int width;
    private final OnnxRun.Rows rows;

    OnnxTrial(OnnxSession session, FittedPreprocessing inputs, boolean matrix) {
        this.session = session;
        this.matrix = matrix;
        this.width = inputs.width();
        this.rows = matrix ? features(inputs) : columns(session, inputs);
    }

    private static OnnxRun.Rows features(FittedPreprocessing inputs) {
        BoundTransform transform = inputs.bind(inputs.inputs().columns());
        float[] features = new float[ROW_COUNT * inputs.width()];
        List<RowReader> made = madeUp(inputs);
        for (int row = 0; row < ROW_COUNT; row++) {
            transform.apply(made.get(row), features, row * inputs.width());
        }
        return new OnnxRun.Rows(features, null);
    }

    private static OnnxRun.Rows columns(OnnxSession session, FittedPreprocessing inputs) {
        RawRows raw = new RawRows(OnnxScorer.rawColumns(session));
        raw.ensure(ROW_COUNT);
        RawTransform transform = inputs.bindRaw(raw.columns(), inputs.inputs().columns());
        List<RowReader> made = madeUp(inputs);
        for (int row = 0; row < ROW_COUNT; row++) {
            transform.apply(made.get(row), raw, row);
        }
        return new OnnxRun.Rows(null, raw);
    }

    private static List<RowReader> madeUp(FittedPreprocessing inputs) {
        SplittableRandom random = new SplittableRandom(1);
        List<RowReader> made = new ArrayList<>();
        for (int row = 0; row < ROW_COUNT; row++) {
            List<Object> values = new ArrayList<>();
            for (FittedColumn column : inputs.columns()) {
                values.add(madeUp(column, row == 0 ? null : random));
            }
            made.add(new MadeUpRow(values));
        }
        return made;
    }

    /** Without chance: zero, or the first level. */
    private static Object madeUp(FittedColumn column, @Nullable SplittableRandom random) {
        return switch (column.type()) {
            case BOOLEAN -> random != null && random.nextBoolean();
            case INT64 -> random == null ? 0L : random.nextLong(4);
            case FLOAT64 -> random == null ? 0.0 : random.nextDouble();
            case DATE -> random == null ? 0L : random.nextLong(20_000);
            case TIMESTAMP -> random == null ? 0L : (long) (random.nextInt(20_000) * MICROS_PER_DAY);
            case TEXT -> {
                List<String> levels = levels(column.encoder());
                int index = random == null || levels.isEmpty() ? 0 : random.nextInt(levels.size());
                yield levels.isEmpty() ? "" : levels.get(index);
            }
        };
    }

    private static List<String> levels(Encoder encoder) {
        if (encoder instanceof Encoder.Ordinal ordinal) {
            return ordinal.levels();
        }
        return encoder instanceof Encoder.OneHot oneHot ? oneHot.levels() : List.of();
    }

    /** The keys of the maps that an output holds. */
    List<String> mapKeys(OnnxSession.Port output, int batchRows) {
        return run(output, List.of(), false).mapKeys(rows, Math.max(1, batchRows));
    }

    /** Numbers that an output holds for each row. */
    int answerColumns(OnnxSession.Port output, int batchRows) {
        return run(output, List.of(), false).answerColumns(rows, Math.max(1, batchRows));
    }

    private OnnxRun run(OnnxSession.Port output, List<String> classNames, boolean answersLabel) {
        return new OnnxRun(session, matrix, width, output, classNames, answersLabel);
    }

    /**
     * Compares what the graph answers with what its signature says.
     *
     * @param labels of the task
     * @param notes takes what the caller should know
     * @return the signature, asked one row at a time where the answers depend on the batch
     */
    OnnxSignature tried(OnnxSignature signature, List<String> labels, List<String> notes) {
        OnnxSession.Port output = port(signature.output());
        boolean label = signature.scores() == OnnxSignature.Scores.LABEL;
        OnnxRun run = run(output, signature.classNames(), label);
        float[] singly = answers(run, signature.batchRows(), 1);
        for (float value : singly) {
            if (!Float.isFinite(value)) {
                throw new ContractException(
                        ErrorCode.SCORER_FAILED,
                        "model must answer finite numbers to made-up rows: output=" + output.name());
            }
        }
        if (signature.scores() == OnnxSignature.Scores.PROBABILITY) {
            checkProbabilities(output, singly, run.columns());
        }
        checkLabel(signature, singly, run.columns(), labels);
        if (signature.batchRows() == 0 && !agree(singly, together(run))) {
            notes.add("the model's answers depend on the rows asked together, so each row is scored alone");
            return signature.withBatchRows(1);
        }
        return signature;
    }

    private OnnxSession.Port port(String name) {
        OnnxSession.Port port = session.output(name);
        if (port == null) {
            throw new IllegalStateException("output must be the session's: output=" + name);
        }
        return port;
    }

    private float[] answers(OnnxRun run, int batchRows, int step) {
        float[] all = new float[ROW_COUNT * run.columns()];
        float[] some = new float[step * run.columns()];
        for (int row = 0; row < ROW_COUNT; row += step) {
            run.run(rows, row, step, Math.max(step, batchRows), some);
            System.arraycopy(some, 0, all, row * run.columns(), some.length);
        }
        return all;
    }

    /** Null when the graph refuses several rows. */
    private float @Nullable [] together(OnnxRun run) {
        try {
            return answers(run, 0, ROW_COUNT);
        } catch (ContractException e) {
            return null;
        }
    }

    private static boolean agree(float[] singly, float @Nullable [] together) {
        return together != null
                && IntStream.range(0, singly.length)
                        .allMatch(index -> Math.abs(singly[index] - together[index])
                                <= BATCH_TOLERANCE * Math.max(1, Math.abs(singly[index])));
    }

    private static void checkProbabilities(OnnxSession.Port output, float[] answers, int columns) {
        for (int row = 0; row < ROW_COUNT; row++) {
            float[] scores = Arrays.copyOfRange(answers, row * columns, (row + 1) * columns);
            double sum = 0;
            double lowest = 0;
            for (float score : scores) {
                sum += score;
                lowest = Math.min(lowest, score);
            }
            boolean sums = columns == 1
                    ? sum <= 1 + OnnxScorer.PROBABILITY_TOLERANCE
                    : Math.abs(sum - 1) <= OnnxScorer.PROBABILITY_TOLERANCE;
            if (!sums || lowest < -OnnxScorer.PROBABILITY_TOLERANCE) {
                throw new ContractException(
                        ErrorCode.UNSUPPORTED_KIND,
                        "model must answer probabilities, or option scores must be logit: output=" + output.name()
                                + ", columns=" + columns + ", sum=" + (float) sum + ", lowest=" + (float) lowest);
            }
        }
    }

    /** A graph that also names the class must name the likeliest, mostly: else its scores are in another order. */
    private void checkLabel(OnnxSignature signature, float[] answers, int columns, List<String> labels) {
        boolean scored = signature.scores() == OnnxSignature.Scores.PROBABILITY
                || signature.scores() == OnnxSignature.Scores.LOGIT;
        for (OnnxSession.Port port : session.outputs()) {
            if (scored && !port.name().equals(signature.output()) && OnnxImport.isLabel(port)) {
                List<String> names = columns == 1 ? labels : signature.classNames();
                float[] named = namedClasses(port, names, signature.batchRows());
                int differing = named == null ? 0 : differing(named, answers, columns, signature.scores());
                if (differing > ROW_COUNT / 2) {
                    throw new ContractException(
                            ErrorCode.INVALID_LABEL,
                            "model must name the class of its highest score, so its classes are in another order: output="
                                    + port.name() + ", scores=" + signature.output() + ", rows=" + ROW_COUNT
                                    + ", differing=" + differing);
                }
            }
        }
    }

    /** The index of the class named for each row; null where the names are not those of the scores. */
    private float @Nullable [] namedClasses(OnnxSession.Port port, List<String> names, int batchRows) {
        List<String> indexes =
                IntStream.range(0, names.size()).mapToObj(Integer::toString).toList();
        for (List<String> candidate : List.of(names, indexes)) {
            try {
                return answers(run(port, candidate, true), batchRows, 1);
            } catch (ContractException otherNames) {
                // the next names may be the right ones
            }
        }
        return null;
    }

    private static int differing(float[] named, float[] answers, int columns, OnnxSignature.Scores scores) {
        int differing = 0;
        for (int row = 0; row < ROW_COUNT; row++) {
            int likeliest = 0;
            if (columns == 1) {
                likeliest = answers[row] >= (scores == OnnxSignature.Scores.LOGIT ? 0 : 0.5) ? 1 : 0;
            }
            for (int column = 1; column < columns; column++) {
                likeliest = answers[row * columns + column] > answers[row * columns + likeliest] ? column : likeliest;
            }
            differing += (int) named[row] == likeliest ? 0 : 1;
        }
        return differing;
    }

    /** A row of boxed values, none of them NULL. */
    private record MadeUpRow(List<Object> values) implements RowReader {
        @Override
        public boolean isNull(int column) {
            return false;
        }

        @Override
        public boolean booleanValue(int column) {
            return (Boolean) values.get(column);
        }

        @Override
        public long int64(int column) {
            return (Long) values.get(column);
        }

        @Override
        public double float64(int column) {
            return (Double) values.get(column);
        }

        @Override
        public String text(int column) {
            return (String) values.get(column);
        }
    }
}
