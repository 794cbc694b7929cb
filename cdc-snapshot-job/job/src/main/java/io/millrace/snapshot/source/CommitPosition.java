package io.millrace.snapshot.source;

import java.util.Map;
import org.apache.flink.cdc.connectors.base.source.meta.offset.Offset;
import org.apache.flink.cdc.connectors.postgres.source.offset.PostgresOffset;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;

/*
 * The connector's own offset is the position of the last message, and it finds its place again by comparing positions. Positions do
 * not tell messages apart: the rows that COPY writes into one page are messages of their own at one position, and the first change of a
 * transaction may stand where the commit before it ends. Continued from there, the rest of the page, or that first change, is never
 * emitted.
 *
 * So what a checkpoint holds is the end of the last commit that was read, and nothing else of the offset: without the rest the
 * connector does not search. Transactions arrive whole and in the order of their commits, and from that position PostgreSQL sends
 * those whose commit comes later, each from its first change. A transaction of which a part was emitted is emitted again from its
 * beginning; until the log has passed the moment of the restart every row replaces what has its key, so this changes nothing.
 *
 * Every message carries the end of the last commit before it. A heartbeat, which may also come while a transaction is on its way, is
 * thus between transactions when that is another one than the last row carried.
 */
/**
 * Follows the commits of the log.
 *
 * <p>Threads: the task's thread alone.
 */
final class CommitPosition {
    private static final String LSN = "lsn";
    /** When: the connector must find some time, and no position of its own has this one. */
    private static final String MICROS = "ts_usec";

    private static final long EPOCH = 0;

    private static final String LAST_COMMIT = "lsn_commit";
    private static final long BEFORE_ALL = -1;
    private static final long NO_ROW = -2;

    private long ofLastRow = NO_ROW;

    /** The log starts, perhaps again and further back. */
    void logStarts() {
        ofLastRow = NO_ROW;
    }

    /** Notes a row; whatever follows in its transaction carries the same commit. */
    void row(SourceRecord row) {
        ofLastRow = lastCommit(row);
    }

    /** Whether every row so far belongs to a transaction that has ended. */
    boolean isBetweenTransactions(SourceRecord heartbeat) {
        return lastCommit(heartbeat) > ofLastRow;
    }

    /** Where to continue after a message: {@code before} as long as no commit has been read. */
    @Nullable
    static Offset after(SourceRecord message, @Nullable Offset before) {
        long commit = lastCommit(message);
        return commit == BEFORE_ALL ? before : PostgresOffset.of(Map.of(LSN, commit, MICROS, EPOCH));
    }

    /** Whether the position is the end of a commit, rather than one that the connector took from a chunk or from the slot. */
    static boolean is(Offset position) {
        return Long.toString(EPOCH).equals(position.getOffset().get(MICROS));
    }

    private static long lastCommit(SourceRecord message) {
        return message.sourceOffset().get(LAST_COMMIT) instanceof Number lsn ? lsn.longValue() : BEFORE_ALL;
    }
}
