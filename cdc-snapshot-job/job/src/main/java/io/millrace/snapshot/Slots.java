package io.millrace.snapshot;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The replication slots of the change job: its own, and those that a chunk's reader makes for a moment. */
public final class Slots {
    private static final String USABLE =
            " slot_name = ? AND database = current_database() AND wal_status IS DISTINCT FROM 'lost'";

    private Slots() {}

    /** Whether the slot is there and has kept the log it needs. */
    public static boolean usable(Connection connection, String slot) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT FROM pg_replication_slots WHERE" + USABLE)) {
            statement.setString(1, slot);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    /**
     * Fails unless the slot still has the log from {@code lsn} on. A slot of that name that was made later, or that somebody moved,
     * would go on as if nothing were missing.
     *
     * @throws IllegalStateException naming the slot
     * @throws SQLException if the database cannot be asked
     */
    public static void require(Connection connection, String slot, long lsn) throws SQLException {
        String sql =
                "SELECT confirmed_flush_lsn, '0/0'::pg_lsn + ?::numeric, confirmed_flush_lsn > '0/0'::pg_lsn + ?::numeric"
                        + " FROM pg_replication_slots WHERE" + USABLE;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, lsn);
            statement.setLong(2, lsn);
            statement.setString(3, slot);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw new IllegalStateException(
                            "replication slot is gone or invalidated, every table must be loaded again: slot=" + slot);
                }
                if (row.getBoolean(3)) {
                    throw new IllegalStateException(
                            "replication slot is ahead of the checkpoint and what lies between is lost;"
                                    + " drop it, then every table is loaded again: slot=" + slot + ", confirmed="
                                    + row.getString(1) + ", checkpoint=" + row.getString(2));
                }
            }
        }
    }

    /**
     * Drops the slot unless somebody reads from it.
     *
     * @return whether it is gone
     */
    public static boolean drop(Connection connection, String slot) throws SQLException {
        return drop(connection, "slot_name = ?", slot);
    }

    /** Drops slots that chunk readers left behind when they were killed: an unread slot keeps the log for ever. */
    public static void dropOrphans(Connection connection, String slot) throws SQLException {
        drop(connection, "slot_name ~ ('^' || ? || '_[0-9]+$')", slot);
    }

    private static boolean drop(Connection connection, String condition, String parameter) throws SQLException {
        String mine = " FROM pg_replication_slots WHERE database = current_database() AND " + condition;
        try (PreparedStatement drop = connection.prepareStatement(
                        "SELECT pg_drop_replication_slot(slot_name)" + mine + " AND NOT active");
                PreparedStatement left = connection.prepareStatement("SELECT" + mine)) {
            drop.setString(1, parameter);
            drop.executeQuery().close();
            left.setString(1, parameter);
            try (ResultSet row = left.executeQuery()) {
                return !row.next();
            }
        }
    }
}
