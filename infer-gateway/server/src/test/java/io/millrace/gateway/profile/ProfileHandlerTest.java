package io.millrace.gateway.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.millrace.contract.ConfigFile;
import java.io.ByteArrayInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The pages of this very process, over HTTP. */
class ProfileHandlerTest {
    @TempDir
    static Path directory;

    private static ProfileHandler handler;
    private static HttpServer server;
    private static final ExecutorService threads = Executors.newCachedThreadPool();
    private static final Semaphore stalled = new Semaphore(0);
    private static final CountDownLatch readOn = new CountDownLatch(1);
    private static volatile boolean busy = true;
    private static Thread worker;

    @BeforeAll
    static void start() throws IOException {
        handler = ProfileHandler.start(config(Map.of("profiling-period-millis", "10")), "1.2.3");
        server = serve(ProfileHandlerTest::handle);
        worker = new Thread(ProfileHandlerTest::work, "busy-7");
        worker.setDaemon(true);
        worker.start();
    }

    @AfterAll
    static void stop() throws Exception {
        busy = false;
        worker.join();
        server.stop(0);
        threads.shutdown();
        handler.close();
        try (var files = Files.list(directory.resolve("profile"))) {
            assertThat(files).as("what outlives its process").isEmpty();
        }
    }

    private static void handle(HttpExchange exchange) throws IOException {
        if (exchange.getRequestHeaders().containsKey("Stall")) {
            exchange.setStreams(null, new StallingStream(exchange.getResponseBody()));
        }
        handler.handle(exchange);
    }

    /** To a reader that stops reading. */
    private static final class StallingStream extends FilterOutputStream {
        StallingStream(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            stalled.release();
            try {
                readOn.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            out.write(bytes, offset, length);
        }
    }

    private static ProfileConfig config(Map<String, String> values) {
        Map<String, String> all = new HashMap<>(Map.of("cache-directory", directory.toString()));
        all.putAll(values);
        return ProfileConfig.from(ConfigFile.of(Path.of("/conf/gateway.properties"), all));
    }

    private static HttpServer serve(HttpHandler handler) throws IOException {
        HttpServer made = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        made.createContext("/", handler);
        made.setExecutor(threads);
        made.start();
        return made;
    }

    private static void work() {
        double sum = 0;
        while (busy) {
            sum += hotMethod(new double[2_000]);
        }
        assertThat(sum).isPositive();
    }

    private static double hotMethod(double[] values) {
        for (int round = 0; round < 100; round++) {
            for (int index = 1; index < values.length; index++) {
                values[index] = Math.sqrt(values[index - 1] + index);
            }
        }
        return values[values.length - 1];
    }

    private static HttpRequest request(String path, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return request.build();
    }

    private static HttpResponse<byte[]> ask(String path, String... headers) throws Exception {
        return HttpClient.newHttpClient().send(request(path, headers), HttpResponse.BodyHandlers.ofByteArray());
    }

    private static String text(HttpResponse<byte[]> response) {
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    @Test
    void whatKeepsTheProcessorBusyIsInTheNextProfile() {
        String caller = ProfileHandlerTest.class.getName() + ".work;";
        String hot = caller + ProfileHandlerTest.class.getName() + ".hotMethod ";
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> text(ask("/debug/profile/cpu?format=collapsed"))
                        .lines()
                        .anyMatch(line -> line.startsWith("[busy-*];java.lang.Thread.run;") && line.contains(hot)));
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> text(ask("/debug/profile/heap?format=collapsed"))
                        .lines()
                        .anyMatch(line -> line.startsWith("[busy-*];") && line.contains(";double[] ")));
    }

    @Test
    void aPageSaysWhatWasSampled() throws Exception {
        HttpResponse<byte[]> page = ask("/debug/profile/cpu?seconds=5");
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("Content-Type")).contains("text/html; charset=utf-8");
        assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                .startsWith("default-src 'none'");
        assertThat(page.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
        assertThat(text(page))
                .contains("<h1>Processor time</h1>", " samples, taken every 10 ms", "Millrace gateway 1.2.3, pid ");
    }

    @Test
    void theRecordingItselfIsForOtherTools() throws Exception {
        HttpResponse<byte[]> recording = ask("/debug/profile/cpu?format=jfr");
        assertThat(recording.statusCode()).isEqualTo(200);
        Path file = directory.resolve("answer.jfr");
        Files.copy(new ByteArrayInputStream(recording.body()), file);
        assertThat(new RecordingReader(file, Instant.EPOCH, 1_000)
                        .cpu(Duration.ofMillis(10))
                        .root())
                .isNotNull();
    }

    @Test
    void leavesNoFileBehind() throws Exception {
        ask("/debug/profile/cpu");
        ask("/debug/profile/heap?format=jfr");
        ask("/debug/profile/native");
        assertNoFileOfARequest();
    }

    private static void assertNoFileOfARequest() throws IOException {
        try (var files = Files.walk(directory.resolve("profile"))) {
            assertThat(files.filter(Files::isRegularFile)
                            .map(file -> file.getFileName().toString()))
                    .contains("lock")
                    .noneMatch(name -> name.startsWith("profile-"))
                    .as("what JFR keeps")
                    .anyMatch(name -> name.endsWith(".jfr"));
        }
    }

    @Test
    void aReaderThatStopsReadingLocksNobodyOut() throws Exception {
        List<CompletableFuture<HttpResponse<byte[]>>> answers = new ArrayList<>();
        try {
            for (int reader = 0; reader < ProfileHandler.READERS_MAX; reader++) {
                String format = reader % 2 == 0 ? "jfr" : "html";
                answers.add(HttpClient.newHttpClient()
                        .sendAsync(
                                request("/debug/profile/heap?format=" + format, "Stall", "1"),
                                HttpResponse.BodyHandlers.ofByteArray()));
                assertThat(stalled.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
            }
            assertNoFileOfARequest();
            HttpResponse<byte[]> more = ask("/debug/profile/heap");
            assertThat(more.statusCode()).isEqualTo(503);
            assertThat(more.headers().firstValue("Retry-After")).contains("1");
            assertThat(text(more)).isEqualTo("other profiles are being read: max=4, try again\n");
        } finally {
            readOn.countDown();
        }
        for (CompletableFuture<HttpResponse<byte[]>> answer : answers) {
            assertThat(answer.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
            assertThat(answer.get().body()).isNotEmpty();
        }
        assertThat(ask("/debug/profile/heap").statusCode()).isEqualTo(200);
    }

    @Test
    void nativeMemoryNeedsTheAllocatorAndSaysSo() throws Exception {
        HttpResponse<byte[]> page = ask("/debug/profile/native");
        assertThat(page.statusCode()).isEqualTo(503);
        assertThat(text(page))
                .isEqualTo("gateway runs without jemalloc: start the gateway with LD_PRELOAD=libjemalloc.so.2"
                        + " and MALLOC_CONF=prof:true (Debian package libjemalloc2; scripts/start does)\n");
    }

    @Test
    void wrongRequestsGetOneSentence() throws Exception {
        HttpResponse<byte[]> seconds = ask("/debug/profile/cpu?seconds=601");
        assertThat(seconds.statusCode()).isEqualTo(400);
        assertThat(text(seconds)).isEqualTo("seconds must be a whole number: seconds=601, min=1, max=600\n");
        assertThat(ask("/debug/profile/disk").statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @CsvSource({
        "Origin, http://somewhere.example, 403",
        "Sec-Fetch-Site, cross-site, 403",
        "Sec-Fetch-Site, same-site, 403",
        "Sec-Fetch-Site, same-origin, 404",
        "Sec-Fetch-Site, none, 404",
        "Forwarded, for=192.0.2.1, 403",
        "X-Forwarded-For, 192.0.2.1, 403",
        "Via, 1.1 proxy, 403"
    })
    void otherPagesAndProxiesAreRefused(String header, String value, int status) throws Exception {
        assertThat(ask("/debug/profile/disk", header, value).statusCode()).isEqualTo(status);
    }

    @Test
    void aNameThatSomebodyElseGaveThisMachineIsRefused() throws Exception {
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.getAddress().getPort())) {
            socket.getOutputStream()
                    .write("GET /debug/profile/cpu HTTP/1.1\r\nHost: rebound.example:9187\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            byte[] head = socket.getInputStream().readNBytes("HTTP/1.1 403".length());
            assertThat(new String(head, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 403");
        }
    }

    @Test
    void saysWhyThereIsNoProfile() throws Exception {
        try (ProfileHandler off = ProfileHandler.start(config(Map.of("profiling", "false")), "1.2.3")) {
            HttpServer quiet = serve(off);
            try {
                HttpRequest request = HttpRequest.newBuilder(URI.create(
                                "http://127.0.0.1:" + quiet.getAddress().getPort() + "/debug/profile/cpu"))
                        .build();
                HttpResponse<String> answer =
                        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
                assertThat(answer.statusCode()).isEqualTo(503);
                assertThat(answer.body())
                        .isEqualTo("profiling is off: file=gateway.properties, key=profiling, value=false\n");
            } finally {
                quiet.stop(0);
            }
        }
    }
}
