package io.millrace.lake;

import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.lake.fit.PreprocessingFit;
import io.millrace.lake.statistics.ColumnStatistics;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Types;

/**
 * Fits a preprocessing to the rows of a snapshot: all of them, so that every run on the snapshot, whatever its test split, shares one.
 * The same snapshot and request give the same bytes. A fitter that lives on reads only what is new since its last fit of the table.
 *
 * <p>Threads: any number; one at a time.
 */
public final class Fitter {
    private final SnapshotStatistics statistics = new SnapshotStatistics();

    /**
     * Fits.
     *
     * @throws ContractException {@link ErrorCode#UNKNOWN_COLUMN} naming a column the snapshot does not have, {@link ErrorCode#NO_ROWS},
     *     {@link ErrorCode#INVALID_LABEL} or {@link ErrorCode#INVALID_VALUE} as {@link PreprocessingFit#fit} says
     */
    public FittedPreprocessing fit(Table table, long icebergSnapshotId, FitRequest request) {
        Schema schema = SnapshotScan.schema(table, icebergSnapshotId);
        Types.NestedField label = SnapshotScan.field(schema, request.labelColumn());
        List<Types.NestedField> features = features(schema, request);
        Map<String, ColumnType> types = new LinkedHashMap<>();
        features.forEach(field -> types.put(field.name(), PostgresTypes.columnType(field)));
        PreprocessingFit.check(request.preprocess(), types);

        List<Types.NestedField> wanted = new ArrayList<>(features);
        wanted.add(label);
        List<ColumnStatistics> found = statistics.of(table, SnapshotScan.plan(table, icebergSnapshotId), wanted);
        Map<String, ColumnStatistics> byName = new LinkedHashMap<>();
        for (int i = 0; i < features.size(); i++) {
            byName.put(features.get(i).name(), found.get(i));
        }
        return PreprocessingFit.fit(
                label.name(), found.get(features.size()), byName, request.task(), request.preprocess());
    }

    /** Files that were opened so far, for tests and metrics of reuse. */
    public long filesRead() {
        return statistics.filesRead();
    }

    private static List<Types.NestedField> features(Schema schema, FitRequest request) {
        Set<String> named = new HashSet<>();
        List<String> requested = request.features();
        if (requested != null) {
            for (String feature : requested) {
                SnapshotScan.field(schema, feature);
                if (feature.equals(request.labelColumn())) {
                    throw new ContractException(
                            ErrorCode.INVALID_VALUE, "label cannot be a feature: column=" + feature);
                }
                if (!named.add(feature)) {
                    throw new ContractException(
                            ErrorCode.INVALID_VALUE, "feature is named more than once: column=" + feature);
                }
            }
        }
        for (String key : request.keyColumns()) {
            SnapshotScan.field(schema, key);
        }
        List<Types.NestedField> features = new ArrayList<>();
        for (Types.NestedField field : schema.columns()) {
            boolean own =
                    field.name().equals(request.labelColumn()) || field.name().equals(PostgresTypes.VERSION_COLUMN);
            boolean wanted =
                    requested == null ? !request.keyColumns().contains(field.name()) : named.contains(field.name());
            if (!own && wanted) {
                features.add(field);
            }
        }
        if (features.isEmpty()) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "snapshot has no feature column: label=" + request.labelColumn() + ", keys="
                            + request.keyColumns());
        }
        return features;
    }
}
