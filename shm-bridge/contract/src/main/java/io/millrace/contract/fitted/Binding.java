package io.millrace.contract.fitted;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Finds the column of a source for each input and makes its transform. */
final class Binding {
    private static final int AMBIGUOUS = -1;

    private Binding() {}

    static BoundTransform bind(FittedPreprocessing fitted, List<Column> source) {
        List<FittedColumn> inputs = fitted.columns();
        int[] columns = columns(inputs, source);
        LongAdder unseen = new LongAdder();
        ColumnTransform[] transforms = new ColumnTransform[inputs.size()];
        int at = 0;
        for (int index = 0; index < transforms.length; index++) {
            FittedColumn input = inputs.get(index);
            transforms[index] = transform(input, source.get(columns[index]), columns[index], at, unseen);
            at += input.width();
        }
        return new BoundTransform(transforms, at, unseen);
    }

    /** Where the source has each input. */
    static int[] columns(List<FittedColumn> inputs, List<Column> source) {
        boolean positional = source.stream().allMatch(column -> column.name().isEmpty());
        if (positional && source.size() != inputs.size()) {
            throw new ContractException(
                    ErrorCode.WRONG_LENGTH,
                    "feature count is wrong: count=" + source.size() + ", expectedCount=" + inputs.size());
        }
        Map<String, Integer> byName = positional ? Map.of() : byName(source);
        int[] columns = new int[inputs.size()];
        for (int index = 0; index < columns.length; index++) {
            FittedColumn input = inputs.get(index);
            columns[index] = positional ? index : find(byName, input.name(), source.size());
            if (positional
                    && source.get(index).type() == ColumnType.FLOAT64
                    && !input.type().isNumeric()) {
                throw new ContractException(
                        ErrorCode.NOT_NUMERIC,
                        "number cannot stand for the feature: column=" + input.name() + ", position=" + (index + 1)
                                + ", type=" + input.type().text());
            }
        }
        return columns;
    }

    private static Map<String, Integer> byName(List<Column> source) {
        Map<String, Integer> byName = new HashMap<>();
        for (int column = 0; column < source.size(); column++) {
            byName.merge(source.get(column).name(), column, (first, second) -> AMBIGUOUS);
        }
        return byName;
    }

    private static int find(Map<String, Integer> byName, String name, int sourceCount) {
        Integer column = byName.get(name);
        if (column == null) {
            throw new ContractException(
                    ErrorCode.MISSING_COLUMN,
                    "feature column is missing: column=" + name + ", givenColumns=" + sourceCount);
        }
        if (column == AMBIGUOUS) {
            throw new ContractException(
                    ErrorCode.AMBIGUOUS_COLUMN, "feature column is given more than once: column=" + name);
        }
        return column;
    }

    private static ColumnTransform transform(FittedColumn input, Column given, int column, int at, LongAdder unseen) {
        if (input.encoder() instanceof Encoder.None) {
            boolean imputed = input.imputer().kind() != Imputer.Kind.NONE
                    || input.imputer().indicator();
            if (!imputed && input.scaler().kind() == Scaler.Kind.NONE) {
                return new ColumnTransform.Plain(column, at, NumberSource.of(input, given));
            }
            return new ColumnTransform.Numeric(
                    column, at, NumberSource.of(input, given), input.imputer(), input.scaler());
        }
        return new ColumnTransform.Leveled(column, at, CodeSource.of(input, given), input, fill(input), unseen);
    }

    /** Code of the level that stands for NULL; -1 for none, and one beyond the levels when it was pooled. */
    private static int fill(FittedColumn input) {
        Imputer imputer = input.imputer();
        if (imputer.kind() == Imputer.Kind.NONE) {
            return -1;
        }
        List<String> levels = FittedColumn.levels(input.encoder());
        int code =
                levels.indexOf(imputer.level() != null ? imputer.level() : Levels.text(input.type(), imputer.value()));
        return code < 0 && FittedColumn.pooled(input.encoder()) ? levels.size() : code;
    }
}
