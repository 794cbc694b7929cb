package io.millrace.gateway;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.engine.TestingModels;
import io.millrace.region.TestingDirectory;
import io.millrace.store.ModelStore;
import io.millrace.store.StoreConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** A gateway in this process with its own region, store and cache, all in one directory that goes with it. */
final class TestingGateway implements AutoCloseable {
    private final TestingDirectory directory;
    private final StoreConfig storeConfig;
    private final Gateway gateway;
    private int packageCount;

    TestingGateway(Map<String, String> configuration) throws IOException {
        directory = TestingDirectory.create();
        Files.createDirectories(storeRoot());
        storeConfig = new StoreConfig("fs", Map.of("root", storeRoot().toString()));
        Map<String, String> values = new HashMap<>(Map.of(
                "region-directory",
                "region",
                "cache-directory",
                "cache",
                "metrics-port",
                "0",
                "region-sparse",
                "true",
                // One recording of this JVM for each would slow every test.
                "profiling",
                "false"));
        values.putAll(configuration);
        try {
            gateway = Gateway.start(
                    GatewayConfig.from(ConfigFile.of(directory.path().resolve("gateway.properties"), values)),
                    storeConfig);
        } catch (IOException | RuntimeException | Error e) {
            directory.close();
            throw e;
        }
    }

    Path regionDirectory() {
        return directory.path().resolve("region");
    }

    Path storeRoot() {
        return directory.path().resolve("store");
    }

    Path cacheDirectory() {
        return directory.path().resolve("cache");
    }

    Gateway gateway() {
        return gateway;
    }

    /** A directory for one more local package. */
    Path freshDirectory() {
        return directory.path().resolve("package-" + packageCount++);
    }

    TestingClient client() throws IOException {
        return new TestingClient(regionDirectory());
    }

    /** Publishes a package as training does, and tells what the database would know of it. */
    ModelReference publish(TestingModels.TestingPackage local, long modelId) throws IOException {
        try (ModelStore store = new ModelStore(storeConfig)) {
            String uri = store.publish(ModelStore.directory("testing", 1, modelId, 1), local.directory());
            long bytes = local.manifest().files().stream()
                    .mapToLong(file -> file.bytes())
                    .sum();
            return new ModelReference(modelId, "testing", "testing", uri, local.manifestSha256(), bytes);
        }
    }

    @Override
    public void close() throws IOException {
        gateway.close();
        directory.close();
    }
}
