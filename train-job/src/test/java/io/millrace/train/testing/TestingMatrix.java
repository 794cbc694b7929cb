package io.millrace.train.testing;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.Task;
import io.millrace.contract.fitted.BoundTransform;
import io.millrace.contract.fitted.Encoder;
import io.millrace.contract.fitted.FittedColumn;
import io.millrace.contract.fitted.FittedCounts;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.Imputer;
import io.millrace.contract.fitted.Scaler;
import io.millrace.contract.fitted.TargetMapping;
import io.millrace.contract.matrix.MatrixWriter;
import io.millrace.train.matrix.KeyRank;
import io.millrace.train.matrix.Part;
import io.millrace.train.matrix.SplitChooser;
import io.millrace.train.matrix.SplitRule;
import io.millrace.train.matrix.SplitSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** A table as matrix shards, divided as a run divides it; keys are row numbers from 1. */
public final class TestingMatrix {
    private final CsvTable table;
    private final FittedPreprocessing fitted;
    private final Path directory;
    private final Map<Part, Long> rows = new EnumMap<>(Part.class);

    private TestingMatrix(CsvTable table, FittedPreprocessing fitted, Path directory) {
        this.table = table;
        this.fitted = fitted;
        this.directory = directory;
    }

    /** Writes shards of a table. */
    public static TestingMatrix write(CsvTable table, String label, Task task, SplitSpec split, Path directory)
            throws IOException {
        TestingMatrix matrix = new TestingMatrix(table, fit(table, label, task), directory);
        matrix.write(split, table.indexOf(label));
        Files.write(matrix.fittedFile(), matrix.fitted.toJson());
        return matrix;
    }

    /** The defaults of trees: ordinal codes of sorted levels, NaN for NULL. */
    private static FittedPreprocessing fit(CsvTable table, String label, Task task) {
        List<FittedColumn> columns = new ArrayList<>();
        for (Column column : table.columns()) {
            if (!column.name().equals(label)) {
                Encoder encoder = column.type() == ColumnType.TEXT
                        ? new Encoder.Ordinal(levels(table, column.name()), false)
                        : Encoder.none();
                columns.add(new FittedColumn(column.name(), column.type(), Imputer.none(), encoder, Scaler.none()));
            }
        }
        ColumnType type = table.columns().get(table.indexOf(label)).type();
        TargetMapping target = task == Task.CLASSIFICATION
                ? TargetMapping.classification(label, type, levels(table, label))
                : TargetMapping.regression(label, type);
        return new FittedPreprocessing(columns, target, new FittedCounts(table.rowCount(), 0));
    }

    private static List<String> levels(CsvTable table, String column) {
        return table.values(table.indexOf(column)).stream().distinct().sorted().toList();
    }

    private void write(SplitSpec split, int labelColumn) throws IOException {
        SplitRule rule;
        try (SplitChooser chooser = new SplitChooser(split, fitted.target().classCount(), directory)) {
            for (int row = 0; row < table.rowCount(); row++) {
                chooser.add(stratum(chooser.strata(), row, labelColumn), rank(split, row));
            }
            rule = chooser.rule();
        }
        BoundTransform transform = fitted.bind(table.columns());
        float[] features = new float[transform.width()];
        Map<Part, MatrixWriter> writers = new EnumMap<>(Part.class);
        for (int row = 0; row < table.rowCount(); row++) {
            Part part = rule.part(stratum(rule.strata().size(), row, labelColumn), rank(split, row));
            transform.apply(table.row(row), features, 0);
            writers.computeIfAbsent(
                            part,
                            missing -> MatrixWriter.create(
                                    directory.resolve(missing.shard(0)),
                                    transform.width(),
                                    fitted.inputs().fingerprint()))
                    .append(features, fitted.target().encode(table.row(row), labelColumn), Integer.toString(row + 1));
            rows.merge(part, 1L, Long::sum);
        }
        for (MatrixWriter writer : writers.values()) {
            writer.finish();
            writer.close();
        }
    }

    private int stratum(int strata, int row, int labelColumn) {
        return strata == 1 ? 0 : (int) fitted.target().encode(table.row(row), labelColumn);
    }

    private static long rank(SplitSpec split, int row) {
        return KeyRank.hashed(split.seed(), Integer.toString(row + 1));
    }

    public FittedPreprocessing fitted() {
        return fitted;
    }

    public Path fittedFile() {
        return directory.resolve("fitted.json");
    }

    public long rows(Part part) {
        return rows.getOrDefault(part, 0L);
    }

    /** Directories of a part's shards. */
    public List<String> shards(Part part) {
        return rows(part) == 0
                ? List.of()
                : List.of(directory.resolve(part.shard(0)).toString());
    }
}
