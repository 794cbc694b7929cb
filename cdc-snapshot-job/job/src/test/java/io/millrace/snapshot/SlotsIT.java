package io.millrace.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.lake.testing.TestingPostgres;
import java.sql.Connection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SlotsIT {
    private static final String SLOT = "millrace";

    @Test
    void theLogIsThereFromWhereTheSlotStands() throws Exception {
        try (TestingPostgres postgres = TestingPostgres.start();
                Connection connection = postgres.connect()) {
            assertThatThrownBy(() -> Slots.require(connection, SLOT, 0))
                    .hasMessage(
                            "replication slot is gone or invalidated, every table must be loaded again: slot=millrace");
            postgres.execute("SELECT pg_create_logical_replication_slot('" + SLOT + "', 'pgoutput')");
            List<@Nullable String> stands = postgres.query("SELECT confirmed_flush_lsn - '0/0', confirmed_flush_lsn,"
                            + " confirmed_flush_lsn - 1 FROM pg_replication_slots")
                    .get(0);
            long lsn = Long.parseLong(String.valueOf(stands.get(0)));
            Slots.require(connection, SLOT, lsn);
            assertThatThrownBy(() -> Slots.require(connection, SLOT, lsn - 1))
                    .hasMessage(
                            "replication slot is ahead of the checkpoint and what lies between is lost; drop it, then every"
                                    + " table is loaded again: slot=millrace, confirmed=" + stands.get(1)
                                    + ", checkpoint="
                                    + stands.get(2));
            assertThat(Slots.drop(connection, SLOT)).isTrue();
            assertThat(Slots.usable(connection, SLOT)).isFalse();
        }
    }
}
