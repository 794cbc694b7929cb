package io.millrace.train.job;

import io.millrace.contract.Column;
import io.millrace.contract.fitted.BoundTransform;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.contract.fitted.TargetMapping;
import io.millrace.contract.matrix.MatrixWriter;
import io.millrace.lake.LakeRow;
import io.millrace.lake.PostgresTypes;
import io.millrace.lake.SnapshotScan;
import io.millrace.train.matrix.Directories;
import io.millrace.train.matrix.MatrixCache;
import io.millrace.train.matrix.MatrixSet;
import io.millrace.train.matrix.Part;
import io.millrace.train.matrix.SplitRule;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.iceberg.Schema;

/** The export of one matrix: rows in, shards out. One thread. */
final class MatrixExport implements AutoCloseable {
    private final TrainPlan plan;
    private final SplitRule rule;
    private final MatrixCache cache;
    private final OpenParts open = new OpenParts();
    private final MatrixCache.Scratch scratch;
    private final FittedPreprocessing fitted;
    private final SnapshotRows rows;
    private final List<String> columns = new ArrayList<>();
    private final List<Column> keys = new ArrayList<>();
    private final BoundTransform transform;
    private final TargetMapping target;
    private final int targetColumn;
    private final int keyColumn;
    private final float[] features;
    private final Map<Part, MatrixWriter> writers = new EnumMap<>(Part.class);
    private final Map<Part, Long> counts = new EnumMap<>(Part.class);
    private final LongCounter rowsExported;
    private long unlabelled;

    MatrixExport(TrainPlan plan, SplitRule rule, MatrixCache cache, LongCounter rowsExported) throws IOException {
        this.plan = plan;
        this.rule = rule;
        this.cache = cache;
        this.rowsExported = rowsExported;
        this.fitted = FittedPreprocessing.parse(plan.fitted().getBytes(StandardCharsets.UTF_8));
        try {
            this.rows = open.add(new SnapshotRows(plan));
            Schema schema = SnapshotScan.schema(rows.table(), plan.icebergSnapshotId());
            List<Column> source = new ArrayList<>();
            for (Column input : fitted.inputs().columns()) {
                columns.add(input.name());
                source.add(column(schema, input.name()));
            }
            this.transform = fitted.bind(source);
            this.target = fitted.target();
            this.targetColumn = columns.size();
            columns.add(target.column());
            this.keyColumn = columns.size();
            columns.add(plan.keyColumns().get(0));
            plan.keyColumns().forEach(key -> keys.add(column(schema, key)));
            this.features = new float[transform.width()];
            this.scratch = open.add(cache.scratch(plan.scratchName() + "-export"));
        } catch (IOException | RuntimeException e) {
            open.closeAfter(e);
            throw e;
        }
        for (Part part : Part.values()) {
            counts.put(part, 0L);
        }
    }

    private static Column column(Schema schema, String name) {
        return new Column(name, PostgresTypes.columnType(schema.findField(name)), true);
    }

    /** Writes the rows of one split. */
    void add(byte[] split) throws IOException, InterruptedException {
        rows.forEach(split, columns, this::add);
    }

    private void add(LakeRow row) throws IOException {
        float label = target.encode(row, targetColumn);
        if (Float.isNaN(label)) {
            unlabelled++;
            return;
        }
        int stratum = RowPart.stratum(rule.strata().size(), label);
        Part part = rule.part(stratum, RowPart.rank(plan.split(), keys, row, keyColumn));
        transform.apply(row, features, 0);
        writer(part).append(features, label, row.key());
        counts.merge(part, 1L, Long::sum);
        rowsExported.add(1);
    }

    private MatrixWriter writer(Part part) throws IOException {
        MatrixWriter writer = writers.get(part);
        if (writer == null) {
            writer = open.add(MatrixWriter.create(
                    scratch.directory().resolve(part.shard(0)),
                    transform.width(),
                    fitted.inputs().fingerprint()));
            writers.put(part, writer);
        }
        return writer;
    }

    /** Closes the shards and puts the matrix into the cache. */
    MatrixCache.CachedMatrix finish() throws IOException {
        for (MatrixWriter writer : writers.values()) {
            writer.finish();
        }
        Files.writeString(scratch.directory().resolve(MatrixSet.FITTED_FILE), plan.fitted());
        MatrixSet set = new MatrixSet(
                plan.matrixKey(),
                transform.width(),
                target.classCount(),
                counts.getOrDefault(Part.TRAIN, 0L),
                counts.getOrDefault(Part.VALIDATION, 0L),
                counts.getOrDefault(Part.TEST, 0L),
                unlabelled,
                transform.unseenCount(),
                Directories.bytes(scratch.directory()));
        return cache.publish(scratch, set);
    }

    @Override
    public void close() throws IOException {
        open.close();
    }
}
