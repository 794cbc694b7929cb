package io.millrace.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.lake.Lake;
import io.millrace.lake.LakeConfig;
import io.millrace.lake.testing.TestingLake;
import java.io.Closeable;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.SupportsNamespaces;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedCatalogTest {
    private LakeConfig config;
    private SharedCatalog shared;

    @BeforeEach
    void configure(@TempDir Path directory) {
        config = TestingLake.sqlite(directory);
        shared = new SharedCatalog(config);
    }

    @Test
    void isOneForAllUsersAndIsClosedWithTheLast() {
        Lake first = shared.hold();
        assertThat(new SharedCatalog(config).hold()).isSameAs(first);
        shared.release();
        assertThat(shared.hold()).isSameAs(first);
        shared.release();
        shared.release();
        Lake second = shared.hold();
        assertThat(second).isNotSameAs(first);
        shared.release();
    }

    @Test
    void staysOpenUnderAnOperatorUntilThatIsGone() {
        Lake held = shared.hold();
        useWithoutHolding();
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> {
            System.gc();
            Lake now = shared.hold();
            shared.release();
            return now != held;
        });
    }

    private void useWithoutHolding() {
        Catalog catalog = shared.loadCatalog();
        shared.release();
        assertThat(catalog).isNotInstanceOf(Closeable.class).isInstanceOf(SupportsNamespaces.class);
        SupportsNamespaces namespaces = (SupportsNamespaces) catalog;
        namespaces.createNamespace(Namespace.of("kept"));
        assertThat(namespaces.listNamespaces()).containsExactly(Namespace.of("kept"));
    }
}
