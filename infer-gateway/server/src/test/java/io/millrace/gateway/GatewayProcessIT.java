package io.millrace.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.contract.Column;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.layout.ControlLayout;
import io.millrace.contract.layout.RegionLayout;
import io.millrace.contract.layout.RequestKind;
import io.millrace.engine.TestingModels;
import io.millrace.engine.TestingModels.TestingPackage;
import io.millrace.region.TestingBackend;
import io.millrace.region.TestingDirectory;
import io.millrace.store.ModelStore;
import io.millrace.store.StoreConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The gateway as a process: start, kill, restart, stop. */
class GatewayProcessIT {
    private static final int CONFIGURATION = 78;
    private static final int SYSTEM = 71;
    private static final int TERMINATED = 143;

    private TestingDirectory directory;
    private final List<Process> processes = new ArrayList<>();

    @BeforeEach
    void configure() throws IOException {
        directory = TestingDirectory.create();
        Files.createDirectories(directory.path().resolve("store"));
        Files.writeString(directory.path().resolve("gateway.properties"), """
                region-directory=region
                cache-directory=cache
                metrics-port=0
                region-sparse=true
                heartbeat-millis=50
                heartbeat-limit-millis=1000
                profiling=false
                """);
        Files.writeString(
                directory.path().resolve("store.properties"),
                "store-scheme=fs\nstore-root=" + directory.path().resolve("store") + "\n");
    }

    @AfterEach
    void leaveNoProcess() throws Exception {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
        directory.close();
    }

    private Path region() {
        return directory.path().resolve("region");
    }

    private Path log(int number) {
        return directory.path().resolve("gateway-" + number + ".log");
    }

    private Process start() throws IOException {
        return start(Map.of());
    }

    private Process start(Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "@" + Path.of("src/main/jvm/gateway.jvmflags").toAbsolutePath(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        GatewayMain.class.getName(),
                        "--conf",
                        directory.path().toString())
                .redirectErrorStream(true)
                .redirectOutput(log(processes.size()).toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        processes.add(process);
        return process;
    }

    private Process startServing() throws IOException {
        return startServing(Map.of());
    }

    private Process startServing(Map<String, String> environment) throws IOException {
        Path log = log(processes.size());
        Process process = start(environment);
        await().atMost(60, TimeUnit.SECONDS).until(() -> {
            assertThat(process.isAlive()).as(Files.readString(log)).isTrue();
            return Files.readString(log).contains("gateway serves");
        });
        return process;
    }

    @Test
    void aKilledGatewayIsSeenAtOnceAndTheNextOneServes() throws Exception {
        Process first = startServing();
        try (TestingClient client = new TestingClient(region())) {
            assertThat(client.call(RequestKind.ECHO, new byte[] {1, 2}).status())
                    .isEqualTo(ErrorCode.OK);
            TestingBackend backend = client.backend();
            int slotIndex = backend.claim();
            first.destroyForcibly().waitFor();
            backend.submit(slotIndex, RequestKind.ECHO.code(), 0, 0, TestingClient.TIMEOUT);
            assertThatThrownBy(() -> backend.awaitDone(slotIndex, TestingClient.TIMEOUT))
                    .isInstanceOf(IOException.class);
        }
        startServing();
        try (TestingClient client = new TestingClient(region())) {
            assertThat(client.call(RequestKind.ECHO, new byte[] {3}).status()).isEqualTo(ErrorCode.OK);
            assertThat(client.backend().layout().gatewayPid())
                    .isEqualTo(processes.get(1).pid());
        }
        try (var files = Files.list(region())) {
            assertThat(files.filter(file -> file.toString().endsWith(".cm3"))).hasSize(3);
        }
    }

    @Test
    void beatsWhileItRunsAndNotWhileItIsStopped() throws Exception {
        Process process = startServing();
        try (TestingBackend backend = TestingBackend.attach(region())) {
            long first = backend.heartbeatNanos();
            await().atMost(30, TimeUnit.SECONDS).until(() -> backend.heartbeatNanos() > first);
            signal(process, "STOP");
            await().atMost(30, TimeUnit.SECONDS)
                    .until(() -> System.nanoTime() - backend.heartbeatNanos()
                            > backend.layout().heartbeatLimitNanos());
            signal(process, "CONT");
            await().atMost(30, TimeUnit.SECONDS)
                    .until(() -> System.nanoTime() - backend.heartbeatNanos()
                            < backend.layout().heartbeatLimitNanos());
        }
    }

    private static void signal(Process process, String name) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    @Test
    void aTerminatedGatewayDrainsAndCleansUp() throws Exception {
        Process process = startServing();
        try (TestingClient client = new TestingClient(region())) {
            assertThat(client.call(RequestKind.ECHO, new byte[0]).status()).isEqualTo(ErrorCode.OK);
            process.destroy();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(TERMINATED);
            assertThat(client.backend().gatewayState()).isEqualTo(ControlLayout.CLOSED);
            assertThat(client.backend().connectionEnded()).isTrue();
        }
        try (var files = Files.list(region())) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactly("gateway.lock");
        }
        assertThat(Files.readString(log(0))).contains("gateway drains: inFlight=0", "gateway ends");
    }

    @Test
    void aSecondGatewayIsRefusedAndTheFirstServesOn() throws Exception {
        Process first = startServing();
        Process second = start();
        assertThat(second.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(second.exitValue()).isEqualTo(SYSTEM);
        assertThat(Files.readString(log(1)))
                .contains("gateway cannot start: region directory is in use by another gateway: directory=" + region()
                        + ", pid=" + first.pid())
                .contains("hint: Stop that gateway first, or give this one its own region-directory.");
        try (TestingClient client = new TestingClient(region())) {
            assertThat(client.call(RequestKind.ECHO, new byte[0]).status()).isEqualTo(ErrorCode.OK);
        }
    }

    @Test
    void aWrongConfigurationEndsItWithOneMessage() throws Exception {
        Files.writeString(directory.path().resolve("gateway.properties"), "region-directory=region\nworkers=3\n");
        Process process = start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(CONFIGURATION);
        assertThat(Files.readString(log(0)))
                .contains("gateway cannot start: configuration value is required: file="
                        + directory.path().resolve("gateway.properties") + ", key=cache-directory");
        assertThat(region().resolve(RegionLayout.FILE_NAME)).doesNotExist();
    }

    @Test
    void aRestartedGatewayHasItsModelsBeforeItServesAndForgetsTheBroken() throws Exception {
        TestingPackage local = TestingModels.regression(directory.path().resolve("package-1"), 1);
        TestingPackage other = TestingModels.regression(directory.path().resolve("package-2"), 2);
        ModelReference kept = publish(local, 1);
        ModelReference broken = publish(other, 2);
        Process first = startServing();
        try (TestingClient client = new TestingClient(region())) {
            assertThat(client.load(kept).status()).isEqualTo(ErrorCode.OK);
            assertThat(client.load(broken).status()).isEqualTo(ErrorCode.OK);
        }
        first.destroyForcibly().waitFor();
        for (Path root :
                List.of(directory.path().resolve("store"), directory.path().resolve("cache"))) {
            removeFilesNaming(root, broken);
        }
        startServing();
        assertThat(Files.readString(log(1)))
                .contains("models of the last run are in memory: models=1, known=2")
                .contains("model of the last run cannot be loaded and is forgotten: modelId=2, project=testing");
        try (TestingClient client = new TestingClient(region())) {
            List<Column> columns = local.fitted().inputs().columns();
            TestingClient.Answer answer =
                    client.send(RequestKind.PREDICT, kept, columns, local.testRows(), true, false);
            assertThat(answer.status()).as(answer.message()).isEqualTo(ErrorCode.OK);
        }
        processes.get(1).destroyForcibly().waitFor();
        startServing();
        assertThat(Files.readString(log(2))).contains("models of the last run are in memory: models=1, known=1");
    }

    @Test
    void profilesTellWhatKeepsItBusy() throws Exception {
        Path configuration = directory.path().resolve("gateway.properties");
        Files.writeString(configuration, Files.readString(configuration).replace("profiling=false", "profiling=true"));
        // With jemalloc where that is installed, as scripts/start does.
        boolean sampled = Files.exists(Path.of("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"));
        Process process = startServing(
                sampled
                        ? Map.of("LD_PRELOAD", "libjemalloc.so.2", "MALLOC_CONF", "prof:true,lg_prof_sample:16")
                        : Map.of());
        Matcher address = Pattern.compile("metrics=(http://127\\.0\\.0\\.1:[0-9]+)/metrics")
                .matcher(Files.readString(log(0)));
        assertThat(address.find()).isTrue();
        String root = address.group(1);
        try (TestingClient client = new TestingClient(region())) {
            await().atMost(60, TimeUnit.SECONDS).until(() -> {
                for (int request = 0; request < 5_000; request++) {
                    assertThat(client.call(RequestKind.ECHO, new byte[100]).status())
                            .isEqualTo(ErrorCode.OK);
                }
                return read(root + "/debug/profile/cpu?seconds=600", 200)
                        .contains("io.millrace.gateway.memory.SharedMemoryConnector.serve");
            });
        }
        assertThat(read(root + "/metrics", 200)).contains("millrace_request_total");
        assertThat(read(root + "/debug/profile/heap", 200)).contains("Java heap allocation", " samples");
        assertThat(read(root + "/debug/profile/native", sampled ? 200 : 503))
                .contains(sampled ? "libjvm.so" : "gateway runs without jemalloc");
        assertThat(read(root + "/debug/profile/thread", 404)).startsWith("path is unknown: path=/debug/profile/thread");
        process.destroy();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        try (Stream<Path> files = Files.list(directory.path().resolve("cache/profile"))) {
            assertThat(files).as("recordings that outlive their process").isEmpty();
        }
    }

    private static String read(String address, int status) throws Exception {
        HttpResponse<String> answer = HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        return answer.body();
    }

    private ModelReference publish(TestingPackage local, long modelId) throws IOException {
        try (ModelStore store = new ModelStore(new StoreConfig(
                "fs", Map.of("root", directory.path().resolve("store").toString())))) {
            String uri = store.publish(ModelStore.directory("testing", 1, modelId, 1), local.directory());
            return new ModelReference(modelId, "testing", "testing", uri, local.manifestSha256(), 1);
        }
    }

    /** Damages a package wherever its files are. */
    private static void removeFilesNaming(Path root, ModelReference reference) throws IOException {
        String storeDirectory = reference.uri().substring(reference.uri().lastIndexOf('/') + 1);
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String path = file.toString();
                if (path.contains(storeDirectory) || path.contains(reference.sha256())) {
                    Files.delete(file);
                }
            }
        }
    }
}
