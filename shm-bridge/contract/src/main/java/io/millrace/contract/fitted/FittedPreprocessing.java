package io.millrace.contract.fitted;

import io.millrace.contract.Column;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.FeatureSchema;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Sha256;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything learnt from the rows of one snapshot that turns a raw row into the vector a model sees.
 *
 * <p>Its document is its identity: {@link #fittedId} is the SHA-256 of the JSON, and a parsed document keeps the bytes
 * it was read from. Immutable; any thread.
 */
public final class FittedPreprocessing {
    private final List<FittedColumn> columns;
    private final TargetMapping target;
    private final FittedCounts counts;
    private final FeatureSchema inputs;
    private final List<String> featureNames;
    private final byte[] json;
    private final String fittedId;

    /**
     * A new one, from what was fitted.
     *
     * @param columns in the order of the source table, with distinct names, label and keys excluded
     * @throws ContractException {@link ErrorCode#CORRUPT_FITTED} if there is no column, too many features, a name
     *     twice, or the label among the columns
     */
    public FittedPreprocessing(List<FittedColumn> columns, TargetMapping target, FittedCounts counts) {
        this(columns, target, counts, null);
    }

    FittedPreprocessing(
            List<FittedColumn> columns, TargetMapping target, FittedCounts counts, byte @Nullable [] document) {
        this.columns = List.copyOf(columns);
        this.target = target;
        this.counts = counts;
        inputs = inputs(this.columns, target);
        featureNames = featureNames(this.columns);
        json = document == null ? FittedJson.write(this) : document.clone();
        fittedId = Sha256.hex(json);
    }

    /**
     * Reads a document.
     *
     * @throws ContractException {@link ErrorCode#UNKNOWN_VERSION} if another version wrote it, {@link
     *     ErrorCode#CORRUPT_FITTED} if anything else is wrong
     */
    public static FittedPreprocessing parse(byte[] document) {
        return FittedJson.parse(document);
    }

    private static FeatureSchema inputs(List<FittedColumn> columns, TargetMapping target) {
        List<Column> inputs = new ArrayList<>(columns.size());
        for (FittedColumn column : columns) {
            if (column.name().equals(target.column())) {
                throw new ContractException(
                        ErrorCode.CORRUPT_FITTED, "label cannot be an input: column=" + target.column());
            }
            inputs.add(new Column(column.name(), column.type(), true));
        }
        try {
            return new FeatureSchema(inputs);
        } catch (ContractException duplicate) {
            throw new ContractException(ErrorCode.CORRUPT_FITTED, String.valueOf(duplicate.getMessage()), duplicate);
        }
    }

    private static List<String> featureNames(List<FittedColumn> columns) {
        long width = 0;
        for (FittedColumn column : columns) {
            width += column.width();
        }
        if (width == 0 || width > ModelManifest.WIDTH_LIMIT) {
            throw new ContractException(
                    ErrorCode.CORRUPT_FITTED,
                    "fitted width is out of range: width=" + width + ", min=1, max=" + ModelManifest.WIDTH_LIMIT);
        }
        List<String> names = new ArrayList<>((int) width);
        for (FittedColumn column : columns) {
            names.addAll(column.featureNames());
        }
        return List.copyOf(names);
    }

    /** The document's bytes. */
    public byte[] toJson() {
        return json.clone();
    }

    /** SHA-256 of the document, 64 hexadecimal digits. */
    public String fittedId() {
        return fittedId;
    }

    /** The raw columns a row must bring; all may be NULL. */
    public FeatureSchema inputs() {
        return inputs;
    }

    /** One name per feature, for people. */
    public List<String> featureNames() {
        return featureNames;
    }

    /** Features of one row. */
    public int width() {
        return featureNames.size();
    }

    /** The label. */
    public TargetMapping target() {
        return target;
    }

    /** The inputs with what was learnt of them. */
    public List<FittedColumn> columns() {
        return columns;
    }

    /** What it was fitted on. */
    public FittedCounts counts() {
        return counts;
    }

    /**
     * The transform for rows of a source.
     *
     * <p>When all names of the source are empty the columns are taken by position and their count must be that of the
     * inputs; otherwise by name, and further columns are ignored. Boolean, integer and floating columns stand for each
     * other. A text column stands for a date or a timestamp in ISO 8601, and for any input where it is NULL, since an
     * untyped NULL is text in SQL.
     *
     * @param source columns of the rows to come
     * @throws ContractException {@link ErrorCode#WRONG_LENGTH} if a positional source has another count, {@link
     *     ErrorCode#MISSING_COLUMN} or {@link ErrorCode#AMBIGUOUS_COLUMN} naming the column, {@link
     *     ErrorCode#NOT_NUMERIC} if a positional number stands for a text, date or timestamp, {@link
     *     ErrorCode#WRONG_TYPE} naming the column and both types
     */
    public BoundTransform bind(List<Column> source) {
        return Binding.bind(this, source);
    }

    /**
     * The same for a model that takes columns as they are: neither imputed nor encoded nor scaled.
     *
     * @param wanted some of the {@link #inputs}, by name
     * @param source columns of the rows to come
     * @throws ContractException as {@link #bind}, and {@link ErrorCode#MISSING_COLUMN} if a wanted column is no input
     */
    public RawTransform bindRaw(List<RawColumn> wanted, List<Column> source) {
        return RawTransform.bind(this, wanted, source);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof FittedPreprocessing that && that.fittedId.equals(fittedId);
    }

    @Override
    public int hashCode() {
        return fittedId.hashCode();
    }

    @Override
    public String toString() {
        return "FittedPreprocessing[fittedId=" + fittedId + ", columns=" + columns.size() + ", width=" + width() + "]";
    }
}
