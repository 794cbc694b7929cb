package io.millrace.lake.testing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TestingPostgresTest {
    @Test
    void startsWithLogicalDecodingAndSurvivesACrash() {
        ProcessHandle process;
        try (TestingPostgres postgres = TestingPostgres.start()) {
            process = ProcessHandle.of(postgres.pid()).orElseThrow();
            assertThat(postgres.queryOne("SHOW wal_level")).isEqualTo("logical");
            postgres.execute("CREATE TABLE t (id int)", "INSERT INTO t VALUES (7)");
            postgres.crash();
            postgres.launch();
            assertThat(postgres.queryOne("SELECT id FROM t")).isEqualTo("7");
            assertThat(process.isAlive()).isFalse();
            process = ProcessHandle.of(postgres.pid()).orElseThrow();
        }
        assertThat(process.isAlive()).isFalse();
    }
}
