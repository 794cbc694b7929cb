package io.millrace.snapshot;

import org.apache.flink.table.data.GenericRowData;
import org.jspecify.annotations.Nullable;

/**
 * What the change stream carries: the change of one row, a snapshot request, the news that a table's initial load has been
 * joined with the log, or that a
 * table must be loaded again. Rows have the lake table's columns in order, in Flink's internal types.
 *
 * @param kind which of them; the rows are set for {@link Kind#ROW} only
 * @param relation the captured table, quoted as SQL quotes it
 * @param lsn position in the write-ahead log
 * @param requestId the request's id, 0 otherwise
 * @param before the row that is gone, null for a new one
 * @param after the row that is there now, null for a deleted one
 */
public record Change(
        Kind kind,
        String relation,
        long lsn,
        long requestId,
        @Nullable GenericRowData before,
        @Nullable GenericRowData after) {

    /** The kind of a change. */
    public enum Kind {
        ROW(0),
        REQUEST(1),
        CAUGHT_UP(2),
        STALE(3);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        /** Its number in the serialised form. */
        int code() {
            return code;
        }

        static Kind of(int code) {
            return switch (code) {
                case 0 -> ROW;
                case 1 -> REQUEST;
                case 2 -> CAUGHT_UP;
                case 3 -> STALE;
                default -> throw new IllegalArgumentException("change kind must be known: code=" + code);
            };
        }
    }

    /** A row that appeared, vanished or changed. */
    public static Change row(
            String relation, long lsn, @Nullable GenericRowData before, @Nullable GenericRowData after) {
        return new Change(Kind.ROW, relation, lsn, 0, before, after);
    }

    /** Request {@code requestId} for a snapshot of {@code relation}. */
    public static Change request(String relation, long lsn, long requestId) {
        return new Change(Kind.REQUEST, relation, lsn, requestId, null, null);
    }

    /** What follows cannot be carried row by row: {@code relation} was truncated, or its columns changed. It must be loaded again. */
    public static Change stale(String relation, long lsn) {
        return new Change(Kind.STALE, relation, lsn, 0, null, null);
    }

    /** From here on the stream of {@code relation} is the table as it was at {@code lsn}. */
    public static Change caughtUp(String relation, long lsn) {
        return new Change(Kind.CAUGHT_UP, relation, lsn, 0, null, null);
    }
}
