package io.millrace.snapshot.publish;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.lake.FitRequest;
import io.millrace.lake.FittedStore;
import io.millrace.lake.Fitter;
import io.millrace.lake.SnapshotSize;
import io.millrace.lake.SnapshotTags;
import io.millrace.snapshot.SharedCatalog;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.Table;
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
        /** The source table has columns that the lake table does not have. */
        STALE_TABLE
    }

    private final SharedCatalog catalog;
    private final SnapshotRows rows;
    private final Map<String, String> lakeTables;
    private final CommitSearch search;

    /**
     * A publication for the tables of one run.
     *
     * @param lakeTables relation to lake table
     */
    Publication(SharedCatalog catalog, SnapshotRows rows, Map<String, String> lakeTables, CommitSearch search) {
        this.catalog = catalog;
        this.rows = rows;
        this.lakeTables = lakeTables;
        this.search = search;
    }

    /**
     * Answers {@code request} as far as it can be answered now.
     *
     * @return what became of it
     * @throws SQLException if the database cannot be asked or told: try again
     * @throws RuntimeException if the request cannot be answered
     */
    Outcome publish(PublishRequest request) throws SQLException {
        Optional<SnapshotRow> row = rows.read(request.snapshotId());
        if (row.isEmpty() || row.get().settled()) {
            return Outcome.ANSWERED;
        }
        String lakeTable = lakeTables.get(request.relation());
        if (lakeTable == null) {
            rows.failed(request.snapshotId(), "table is no longer captured: relation=" + request.relation());
            return Outcome.ANSWERED;
        }
        Table table = catalog.lake().table(lakeTable);
        for (String column : row.get().tableColumns()) {
            if (table.schema().findField(column) == null) {
                return Outcome.STALE_TABLE;
            }
        }
        Optional<Long> tagged = tag(table, request);
        if (tagged.isEmpty()) {
            return Outcome.NOT_COMMITTED;
        }
        rows.fitting(request.snapshotId(), tagged.get(), SnapshotTags.nameOf(request.snapshotId()), request.lsn());
        finish(table, tagged.get(), request.snapshotId(), row.get());
        return Outcome.ANSWERED;
    }

    private Optional<Long> tag(Table table, PublishRequest request) {
        String tag = SnapshotTags.nameOf(request.snapshotId());
        SnapshotRef existing = table.refs().get(tag);
        if (existing != null) {
            return Optional.of(existing.snapshotId());
        }
        CommitSearch.Answer answer = search.find(table, request);
        if (answer instanceof CommitSearch.Answer.NotCommitted) {
            return Optional.empty();
        }
        if (answer instanceof CommitSearch.Answer.Found found) {
            SnapshotTags.tag(table, found.icebergSnapshotId(), tag);
            return Optional.of(found.icebergSnapshotId());
        }
        throw new IllegalStateException(
                "lake no longer has the state that was asked for: table=" + table.name() + ", lsn=" + request.lsn());
    }

    private void finish(Table table, long icebergSnapshotId, long snapshotId, SnapshotRow row) throws SQLException {
        long startNanos = System.nanoTime();
        SnapshotSize size = SnapshotSize.of(table, icebergSnapshotId, row.parentIcebergSnapshotId());
        FitRequest fit =
                new FitRequest(snapshotId, row.labelColumn(), row.keyColumns(), row.features(), null, preprocess(row));
        FittedPreprocessing fitted = new Fitter().fit(table, icebergSnapshotId, fit);
        FittedStore.write(table, icebergSnapshotId, snapshotId, fitted);
        rows.ready(snapshotId, size, fitted.fittedId(), fitted.width());
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
