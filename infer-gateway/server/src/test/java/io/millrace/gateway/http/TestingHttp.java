package io.millrace.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.Sha256;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.envelope.RequestLimits;
import io.millrace.engine.TestingModels.TestingPackage;
import io.millrace.gateway.core.Importer;
import io.millrace.gateway.core.Journal;
import io.millrace.gateway.core.Observer;
import io.millrace.gateway.core.Pipeline;
import io.millrace.gateway.core.PipelineConfig;
import io.millrace.gateway.core.ServedModel;
import io.millrace.gateway.model.LoadObserver;
import io.millrace.gateway.model.ModelCache;
import io.millrace.gateway.model.PackageLoader;
import io.millrace.gateway.model.Residents;
import io.millrace.region.TestingDirectory;
import io.millrace.store.ModelStore;
import io.millrace.store.StoreConfig;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongFunction;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** HTTP over a real pipeline, with real packages and models made up in memory; the database alone is in memory. */
final class TestingHttp implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final TestingDirectory directory = TestingDirectory.create();
    private final ModelStore store;
    private final PackageLoader packages;
    private final Map<Long, LongFunction<ServedModel>> madeUp = new ConcurrentHashMap<>();
    private final Map<String, Catalog.Project> projects = new TreeMap<>();
    private final ModelCache models;
    private final Pipeline pipeline;
    private final TestingSource source = new TestingSource();
    private final HttpConnector connector;
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(TIMEOUT)
            .build();
    private int packageCount;

    /** Only its workers score, so that a scorer can be held. */
    TestingHttp(Map<String, String> configuration) throws IOException {
        this(configuration, null);
    }

    TestingHttp(Map<String, String> configuration, @Nullable Journal journal) throws IOException {
        this(configuration, journal, 0);
    }

    /** The threads of the server score what takes less than {@code inlineNanos}. */
    TestingHttp(Map<String, String> configuration, @Nullable Journal journal, long inlineNanos) throws IOException {
        Path root = directory.path().resolve("store");
        Files.createDirectories(root);
        store = new ModelStore(new StoreConfig("fs", Map.of("root", root.toString())));
        packages = new PackageLoader(store, directory.path().resolve("cache"), 1 << 26, 65_536);
        models = new ModelCache(this::load, 1 << 26, LoadObserver.NONE, Residents.NONE);
        pipeline = new Pipeline(
                new PipelineConfig(2, 512, inlineNanos),
                models,
                Importer.NONE,
                Observer.NONE,
                kind -> "",
                journal,
                System::nanoTime);
        Map<String, String> values = new HashMap<>(Map.of("http-port", "0", "http-refresh-millis", "50"));
        values.putAll(configuration);
        HttpConfig config = HttpConfig.from(ConfigFile.of(Path.of("/conf/gateway.properties"), values))
                .orElseThrow();
        connector = new HttpConnector(config, pipeline, models, source, "1.2.3");
        connector.start();
    }

    /** What the database would be. */
    private static final class TestingSource implements CatalogSource {
        private @Nullable Catalog fresh;
        private @Nullable SQLException failure;
        private int pollCount;

        @Override
        public synchronized @Nullable Catalog poll() throws SQLException {
            pollCount++;
            notifyAll();
            if (failure != null) {
                throw failure;
            }
            Catalog found = fresh;
            fresh = null;
            return found;
        }

        /** Returns when the connector has seen it. */
        synchronized void set(@Nullable Catalog newCatalog, @Nullable SQLException newFailure) {
            fresh = newCatalog;
            failure = newFailure;
            int seen = pollCount + 2;
            try {
                while (pollCount < seen) {
                    wait();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void close() {}
    }

    private ServedModel load(long key, ModelReference reference) {
        LongFunction<ServedModel> maker = madeUp.get(key);
        return maker == null ? packages.load(key, reference) : maker.apply(key);
    }

    Path freshDirectory() {
        return directory.path().resolve("package-" + packageCount++);
    }

    /** The database answers so from now on. */
    void fail(@Nullable SQLException failure) {
        source.set(null, failure);
    }

    /** A project without a model. */
    void create(String project) {
        projects.put(project, new Catalog.Project(project, null, new TreeMap<>()));
        source.set(new Catalog(projects), null);
    }

    /** Publishes and deploys a package. */
    ModelReference deploy(String project, long modelId, TestingPackage local) {
        String uri = store.publish(ModelStore.directory("testing", 1, modelId, 1), local.directory());
        ModelReference reference = new ModelReference(modelId, project, "testing", uri, local.manifestSha256(), 1_000);
        deploy(reference);
        return reference;
    }

    /** Deploys a model that is made by a function of its key. */
    ModelReference deploy(String project, long modelId, LongFunction<ServedModel> maker) {
        return deploy(project, modelId, RequestLimits.NONE, maker);
    }

    ModelReference deploy(String project, long modelId, RequestLimits limits, LongFunction<ServedModel> maker) {
        String sha256 = String.format("%016x", modelId) + "0".repeat(48);
        ModelReference reference = new ModelReference(modelId, project, "testing", "store:none", sha256, 1_000, limits);
        madeUp.put(reference.modelKey(), maker);
        deploy(reference);
        return reference;
    }

    private void deploy(ModelReference reference) {
        TreeMap<Long, Catalog.Model> all = new TreeMap<>();
        Catalog.Project old = projects.get(reference.project());
        if (old != null) {
            all.putAll(old.models());
        }
        all.put(reference.modelId(), new Catalog.Model(reference, "testing-format", reference.modelId()));
        projects.put(reference.project(), new Catalog.Project(reference.project(), reference.modelId(), all));
        source.set(new Catalog(projects), null);
    }

    HttpConnector connector() {
        return connector;
    }

    Pipeline pipeline() {
        return pipeline;
    }

    /** An answer with its whole body. */
    record Answer(HttpResponse<byte[]> response) {
        int status() {
            return response.statusCode();
        }

        byte[] bytes() {
            return response.body();
        }

        String text() {
            return new String(response.body(), StandardCharsets.UTF_8);
        }

        @Nullable
        Object json() {
            return TestingJson.parse(text());
        }

        @Nullable
        Object at(Object... path) {
            return TestingJson.at(json(), path);
        }

        String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }
    }

    static String encode(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + connector.port() + path))
                .timeout(TIMEOUT);
    }

    /** A request of one feature, x. */
    static String x(String data, int rowCount) {
        return "{\"inputs\":[{\"name\":\"x\",\"shape\":[" + rowCount + "],\"datatype\":\"FP64\",\"data\":" + data
                + "}]}";
    }

    /** Key of a model that is made up: the beginning of its SHA-256. */
    static long madeUpKey(long modelId) {
        return Sha256.key(String.format("%016x", modelId) + "0".repeat(48));
    }

    static void assertError(Answer answer, int status, String message) {
        assertThat(answer.at("error")).isEqualTo(message);
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.header("Content-Type")).isEqualTo("application/json");
    }

    /** Waits until no request holds anything. */
    void awaitIdle() {
        Awaitility.await().atMost(TIMEOUT).untilAsserted(() -> {
            assertThat(connector().inFlight()).isZero();
            assertThat(connector().requestBytes()).isZero();
            assertThat(pipeline().inFlight()).isZero();
        });
    }

    Answer send(HttpRequest.Builder request) throws IOException {
        try {
            return new Answer(client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray()));
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    Answer get(String path) throws IOException {
        return send(request(path));
    }

    Answer post(String path, String body) throws IOException {
        return send(request(path).POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    Answer infer(String project, String body) throws IOException {
        return post("/v2/models/" + encode(project) + "/infer", body);
    }

    CompletableFuture<HttpResponse<String>> inferLater(String project, String body) {
        return client.sendAsync(
                request("/v2/models/" + encode(project) + "/infer")
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /** As the gateway does it. */
    void drain() {
        connector.drain();
        pipeline.drain();
    }

    @Override
    public void close() throws IOException {
        connector.drain();
        pipeline.drain();
        pipeline.awaitIdle(TIMEOUT.toNanos());
        connector.close();
        pipeline.close();
        models.close();
        store.close();
        directory.close();
    }
}
