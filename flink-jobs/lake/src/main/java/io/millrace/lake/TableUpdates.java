package io.millrace.lake;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.CommitStateUnknownException;

/*
 * Changes of a table's metadata that depend on what is there (a tag that may exist, a statistics file whose blobs are kept).
 * Iceberg's own update classes repeat the same change after a conflict; here the change is computed again from the metadata that
 * won, so nothing another writer added is lost. A commit whose outcome is unknown is tried again too: each change first looks
 * whether it is already there.
 */
final class TableUpdates {
    private static final int ATTEMPTS_MAX = 30;
    private static final long WAIT_MILLIS_MIN = 20;
    private static final long WAIT_MILLIS_MAX = 2_000;

    private TableUpdates() {}

    /**
     * Commits {@code change} of the newest metadata, again from the start after each conflict.
     *
     * @param change returns its argument when nothing is to be done
     */
    static void commit(Table table, UnaryOperator<TableMetadata> change) {
        if (!(table instanceof BaseTable base)) {
            throw new IllegalArgumentException("table is read-only: table=" + table.name());
        }
        TableOperations operations = base.operations();
        RuntimeException last = null;
        for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
            TableMetadata current = operations.refresh();
            TableMetadata changed = change.apply(current);
            if (changed == current || changed.changes().isEmpty()) {
                return;
            }
            try {
                operations.commit(current, changed);
                return;
            } catch (CommitFailedException | CommitStateUnknownException e) {
                last = e;
                pause(attempt);
            }
        }
        throw new ContractException(
                ErrorCode.IO_FAILED,
                "table commit is refused again and again: table=" + table.name() + ", attempts=" + ATTEMPTS_MAX,
                last == null ? new IllegalStateException("no attempt") : last);
    }

    private static void pause(int attempt) {
        long bound = Math.min(WAIT_MILLIS_MAX, WAIT_MILLIS_MIN << Math.min(attempt, 10));
        try {
            Thread.sleep(bound / 2 + ThreadLocalRandom.current().nextLong(bound / 2 + 1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ContractException(ErrorCode.CANCELLED, "table commit is interrupted", e);
        }
    }
}
