package io.millrace.contract.fitted;

import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.util.ArrayList;
import java.util.List;

/**
 * One input column and what was learnt of it: impute, then encode, then scale.
 *
 * <p>Without an encoder one feature: boolean 0 or 1, date in days, timestamp in seconds, both from 1970-01-01 UTC.
 *
 * @param name as in the source table
 * @param type of the raw values
 * @param imputer what stands for NULL
 * @param encoder required for text, allowed for integers and booleans
 * @param scaler not with one-hot features, which are scaled already
 */
public record FittedColumn(String name, ColumnType type, Imputer imputer, Encoder encoder, Scaler scaler) {
    /**
     * Checks that the parts fit together.
     *
     * @throws ContractException {@link ErrorCode#CORRUPT_FITTED} if they do not, naming the column
     */
    public FittedColumn {
        boolean text = type == ColumnType.TEXT;
        boolean leveled = !(encoder instanceof Encoder.None);
        require(text == leveled || type == ColumnType.INT64 || type == ColumnType.BOOLEAN, name, "encoder", type);
        require(imputer.kind() == Imputer.Kind.NONE || text == (imputer.level() != null), name, "imputer", type);
        require(Double.isFinite(imputer.value()), name, "imputer value", type);
        require(Double.isFinite(scaler.center()), name, "scaler center", type);
        require(Double.isFinite(scaler.scale()) && scaler.scale() != 0, name, "scaler scale", type);
        boolean scaled = scaler.kind() != Scaler.Kind.NONE;
        require(!scaled || !(encoder instanceof Encoder.OneHot), name, "scaler", type);
        require(scaled || (scaler.center() == 0 && scaler.scale() == 1), name, "scaler", type);
        if (leveled) {
            Levels.check(name, type, levels(encoder));
        }
    }

    private static void require(boolean holds, String name, String part, ColumnType type) {
        if (!holds) {
            throw new ContractException(
                    ErrorCode.CORRUPT_FITTED,
                    "fitted " + part + " does not fit the column: column=" + name + ", type=" + type.text());
        }
    }

    static List<String> levels(Encoder encoder) {
        if (encoder instanceof Encoder.Ordinal ordinal) {
            return ordinal.levels();
        }
        return encoder instanceof Encoder.OneHot oneHot ? oneHot.levels() : List.of();
    }

    static boolean pooled(Encoder encoder) {
        return (encoder instanceof Encoder.Ordinal ordinal && ordinal.pooled())
                || (encoder instanceof Encoder.OneHot oneHot && oneHot.pooled());
    }

    /** How many features the column gives. */
    public int width() {
        int encoded = encoder instanceof Encoder.OneHot oneHot ? oneHot.levels().size() + (oneHot.pooled() ? 1 : 0) : 1;
        return encoded + (imputer.indicator() ? 1 : 0);
    }

    /** Names of its features: {@code name}, or {@code name=level} of each level; they are for people, not unique. */
    public List<String> featureNames() {
        List<String> names = new ArrayList<>(width());
        if (encoder instanceof Encoder.OneHot oneHot) {
            for (String level : oneHot.levels()) {
                names.add(name + "=" + level);
            }
            if (oneHot.pooled()) {
                names.add(name + " other");
            }
        } else {
            names.add(name);
        }
        if (imputer.indicator()) {
            names.add(name + " missing");
        }
        return names;
    }
}
