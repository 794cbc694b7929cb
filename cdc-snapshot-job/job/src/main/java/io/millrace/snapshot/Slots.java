package io.millrace.snapshot;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The replication slots of the change job: its own, and those that a chunk's reader makes for a moment. */
public final class Slots {
    private Slots() {}

    /** Whether the slot is there and has kept the log it needs. */
    public static boolean usable(Connection connection, String slot) throws SQLException {
        String sql = "SELECT FROM pg_replication_slots WHERE slot_name = ? AND database = current_database()"
                + " AND wal_status IS DISTINCT FROM 'lost'";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, slot);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    /**
     * Fails unless the slot is usable: a new one of that name would begin now, and every change since the old one would be missing.
     *
     * @throws IllegalStateException naming the slot
     * @throws SQLException if the database cannot be asked
     */
    public static void require(Connection connection, String slot) throws SQLException {
        if (!usable(connection, slot)) {
            throw new IllegalStateException(
                    "replication slot is gone or invalidated, every table must be loaded again: slot=" + slot);
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
