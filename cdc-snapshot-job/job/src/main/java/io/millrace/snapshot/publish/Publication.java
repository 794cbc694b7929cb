package io.millrace.snapshot.publish;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.lake.FitRequest;
import io.millrace.lake.FittedStore;
import io.millrace.lake.Fitter;
import io.millrace.lake.Lake;
import io.millrace.lake.SnapshotSize;
import io.millrace.lake.SnapshotTags;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Types;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers one request: tag, fit, store, write back. Each step first looks whether it is done. */
final class Publication {
    private static final Logger LOG = LoggerFactory.getLogger(Publication.class);
    private static final ObjectMapper JSON = new ObjectMapper();

    /** What can become of an attempt. */
    enum Outcome {
        ANSWERED,
        /** The commit that the request waits for is still to come. */
        NOT_COMMITTED,
        /** The source table has columns that the lake table does not have, or has under another type. */
        STALE_TABLE,
        /** The lake no longer has the state that was asked for, or the job the table: the request has failed. */
        GONE
    }

    private final Lake lake;
    private final SnapshotRows rows;
    private final Map<String, String> lakeTables;
    private final CommitSearch search;

    /**
     * A publication for the tables of one run.
     *
     * @param lakeTables relation to lake table
     */
    Publication(Lake lake, SnapshotRows rows, Map<String, String> lakeTables, CommitSearch search) {
        this.lake = lake;
        this.rows = rows;
        this.lakeTables = lakeTables;
        this.search = search;
    }

    /**
     * Answers {@code request} as far as it can be answered now.
     *
     * @param overdue whether the commit that the request waits for must be in the lake by now
     * @return what became of it
     * @throws SQLException if the database cannot be asked or told: try again
     * @throws RuntimeException if the request cannot be answered
     */
    Outcome publish(PublishRequest request, boolean overdue) throws SQLException {
        Optional<SnapshotRow> row = rows.read(request.snapshotId());
        if (row.isEmpty() || row.get().settled()) {
            return Outcome.ANSWERED;
        }
        String lakeTable = lakeTables.get(request.relation());
        if (lakeTable == null) {
            rows.failed(request.snapshotId(), "table is no longer captured: relation=" + request.relation());
            return Outcome.GONE;
        }
        Table table = lake.table(lakeTable);
        if (!hasColumns(table, row.get().tableColumns())) {
            return Outcome.STALE_TABLE;
        }
        SnapshotRef existing = table.refs().get(SnapshotTags.nameOf(request.snapshotId()));
        if (existing != null) {
            return answer(table, existing.snapshotId(), request, row.get());
        }
        CommitSearch.Answer answer = search.find(table, request, overdue);
        if (answer instanceof CommitSearch.Answer.NotCommitted) {
            return Outcome.NOT_COMMITTED;
        }
        if (answer instanceof CommitSearch.Answer.Found found) {
            SnapshotTags.tag(table, found.icebergSnapshotId(), SnapshotTags.nameOf(request.snapshotId()));
            return answer(table, found.icebergSnapshotId(), request, row.get());
        }
        CommitMark awaited = request.awaited();
        rows.failed(
                request.snapshotId(),
                "lake no longer has the state that was asked for: table=" + lakeTable + ", lsn=" + request.lsn()
                        + (awaited == null
                                ? ""
                                : ", jobId=" + awaited.jobId() + ", checkpointId=" + awaited.checkpointId()));
        return Outcome.GONE;
    }

    /**
     * Whether the lake table has the columns of its source. Types are compared as PostgreSQL writes them: changing one may rewrite
     * every value, of which the log says nothing, and still be the same type in the lake.
     */
    private static boolean hasColumns(Table table, Map<String, String> source) {
        return source.entrySet().stream().allMatch(column -> {
            Types.NestedField field = table.schema().findField(column.getKey());
            return field != null && column.getValue().equals(field.doc());
        });
    }

    private Outcome answer(Table table, long icebergSnapshotId, PublishRequest request, SnapshotRow row)
            throws SQLException {
        String tag = SnapshotTags.nameOf(request.snapshotId());
        rows.fitting(request.snapshotId(), icebergSnapshotId, tag, request.lsn());
        finish(table, icebergSnapshotId, request.snapshotId(), row);
        return Outcome.ANSWERED;
    }

    private void finish(Table table, long icebergSnapshotId, long snapshotId, SnapshotRow row) throws SQLException {
        long startNanos = System.nanoTime();
        SnapshotSize size = SnapshotSize.of(table, icebergSnapshotId, row.parentIcebergSnapshotId());
        FitRequest fit =
                new FitRequest(snapshotId, row.labelColumn(), row.keyColumns(), row.features(), null, preprocess(row));
        FittedPreprocessing fitted = new Fitter().fit(table, icebergSnapshotId, fit);
        FittedStore.write(table, icebergSnapshotId, snapshotId, fitted);
        rows.ready(snapshotId, size, fitted);
        LOG.info(
                "snapshot is ready: snapshotId={}, table={}, icebergSnapshotId={}, rows={}, fittedId={}, millis={}",
                snapshotId,
                table.name(),
                icebergSnapshotId,
                size.rows(),
                fitted.fittedId(),
                (System.nanoTime() - startNanos) / 1_000_000);
    }

    private static JsonNode preprocess(SnapshotRow row) {
        try {
            return JSON.readTree(row.preprocess());
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("preprocess of a snapshot must be JSON", e);
        }
    }
}
