package io.millrace.snapshot.supervise;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The replication slots of the change job: its own, and those that a chunk's reader makes for a moment. */
final class Slots {
    private Slots() {}

    /** Whether the slot is there and has kept the log it needs. */
    static boolean usable(Connection connection, String slot) throws SQLException {
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
     * Drops the slot unless somebody reads from it.
     *
     * @return whether it is gone
     */
    static boolean drop(Connection connection, String slot) throws SQLException {
        return drop(connection, "slot_name = ?", slot);
    }

    /** Drops slots that chunk readers left behind when they were killed: an unread slot keeps the log for ever. */
    static void dropOrphans(Connection connection, String slot) throws SQLException {
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
