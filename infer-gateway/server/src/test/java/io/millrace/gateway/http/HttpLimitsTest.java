package io.millrace.gateway.http;

import static io.millrace.gateway.http.TestingHttp.assertError;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.contract.envelope.RequestLimits;
import io.millrace.gateway.core.TestingScorer;
import io.millrace.gateway.core.TestingServedModels;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limits and outages, each with a connector of its own. */
class HttpLimitsTest {
    private static final String ROW =
            "{\"inputs\":[{\"name\":\"x\",\"shape\":[1],\"datatype\":\"FP64\",\"data\":[1]}]}";

    private static TestingScorer deploy(TestingHttp http) throws IOException {
        TestingScorer scorer = new TestingScorer();
        http.deploy("echo", 14, key -> TestingServedModels.regression(key, scorer, 1_000, 65_536));
        assertThat(http.infer("echo", ROW).status()).isEqualTo(200);
        return scorer;
    }

    /** What a server says to these bytes, until it closes the connection. */
    private static String exchange(TestingHttp http, String request) throws IOException {
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), http.connector().port())) {
            socket.setSoTimeout((int) TestingHttp.TIMEOUT.toMillis());
            socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String body(String response) {
        return response.substring(response.indexOf("\r\n\r\n") + 4);
    }

    @Test
    void aTokenHasToBeShown(@TempDir Path directory) throws IOException {
        Path token = Files.writeString(directory.resolve("token"), "0123456789abcdef\n");
        try (TestingHttp http = new TestingHttp(Map.of("http-token", "file:" + token, "http-host", "0.0.0.0"))) {
            http.create("some");
            String refused = "request must show the token: header=Authorization, scheme=Bearer";
            TestingHttp.Answer answer = http.get("/v2");
            assertError(answer, 401, refused);
            assertThat(answer.header("WWW-Authenticate")).isEqualTo("Bearer");
            for (String wrong : new String[] {
                "Bearer",
                "Bearer 0123456789abcdeg",
                "Bearer 0123456789abcdef0",
                "Basic 0123456789abcdef",
                "0123456789abcdef"
            }) {
                assertError(http.send(http.request("/v2").header("Authorization", wrong)), 401, refused);
            }
            assertThat(http.send(http.request("/v2").header("Authorization", "bearer  0123456789abcdef"))
                            .status())
                    .isEqualTo(200);
            assertThat(http.get("/v2/health/live").status()).isEqualTo(200);
            assertThat(http.get("/v2/health/ready").status()).isEqualTo(200);
        }
    }

    @Test
    void onlyAHostOfThisMachineIsAnsweredWithoutAToken() throws IOException {
        try (TestingHttp http = new TestingHttp(Map.of())) {
            for (String host : new String[] {"localhost", "127.0.0.1:80", "[::1]:80"}) {
                assertThat(exchange(
                                http,
                                "GET /v2/health/live HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"))
                        .startsWith("HTTP/1.1 200 ");
            }
            String answer =
                    exchange(http, "GET /v2 HTTP/1.1\r\nHost: rebound.example.com\r\nConnection: close\r\n\r\n");
            assertThat(answer).startsWith("HTTP/1.1 403 ");
            assertThat(body(answer))
                    .isEqualTo("{\"error\":\"host must name this machine where there is no token: header=Host\"}");
        }
    }

    @Test
    void whatIsNotHttpIsRefusedAsJson() throws IOException {
        try (TestingHttp http = new TestingHttp(Map.of("http-header-bytes-max", "1024"))) {
            String answer =
                    exchange(http, "GET /v2 HTTP/1.1\r\nHost: localhost\r\nX: " + "x".repeat(2_000) + "\r\n\r\n");
            assertThat(answer).startsWith("HTTP/1.1 431 ");
            assertThat(body(answer)).startsWith("{\"error\":\"request cannot be read: status=431, reason=");
            answer = exchange(http, "\0\r\n\r\n");
            assertThat(answer).startsWith("HTTP/1.1 400 ");
            assertThat(body(answer)).startsWith("{\"error\":\"request cannot be read: status=400, reason=");
            assertThat(http.get("/v2/health/live").status()).isEqualTo(200);
        }
    }

    @Test
    void aBodyThatDoesNotComeIsGivenUp() throws IOException {
        try (TestingHttp http = new TestingHttp(Map.of("http-timeout-millis", "200", "http-idle-millis", "1000"))) {
            deploy(http);
            String answer = exchange(
                    http, "POST /v2/models/echo/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"in");
            assertThat(answer).startsWith("HTTP/1.1 408 ");
            assertThat(body(answer)).isEqualTo("{\"error\":\"request did not arrive in time: timeoutMillis=200\"}");
            try (Socket socket = new Socket(
                    InetAddress.getLoopbackAddress(), http.connector().port())) {
                socket.getOutputStream()
                        .write("POST /v2/models/echo/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
                                .getBytes(StandardCharsets.UTF_8));
            }
            await().atMost(TestingHttp.TIMEOUT).untilAsserted(() -> {
                assertThat(http.connector().inFlight()).isZero();
                assertThat(http.connector().requestBytes()).isZero();
                assertThat(http.connector().connectionCount()).isZero();
            });
        }
    }

    @Test
    void aSilentConnectionIsClosed() throws IOException {
        try (TestingHttp http = new TestingHttp(Map.of("http-idle-millis", "100"))) {
            assertThat(exchange(http, "GET /v2 HT")).isEmpty();
        }
    }

    @Test
    void oneRequestTooManyIsToldToComeAgain() throws Exception {
        try (TestingHttp http = new TestingHttp(Map.of("http-concurrent-max", "1"))) {
            TestingScorer scorer = deploy(http);
            CountDownLatch entered = new CountDownLatch(1);
            CountDownLatch gate = scorer.hold(entered);
            CompletableFuture<HttpResponse<String>> held = http.inferLater("echo", ROW);
            try {
                entered.await();
                TestingHttp.Answer answer = http.infer("echo", ROW);
                assertError(answer, 429, "too many requests at a time: limit=1");
                assertThat(answer.header("Retry-After")).isEqualTo("1");
                assertThat(http.get("/v2/health/ready").status()).isEqualTo(200);
            } finally {
                gate.countDown();
            }
            assertThat(held.get().statusCode()).isEqualTo(200);
        }
    }

    @Test
    void theLimitsOfAProjectCountHereToo() throws Exception {
        try (TestingHttp http = new TestingHttp(Map.of())) {
            TestingScorer scorer = new TestingScorer();
            http.deploy(
                    "limited",
                    16,
                    new RequestLimits(0, 0, 1, false),
                    key -> TestingServedModels.regression(key, scorer, 1_000, 65_536));
            assertThat(http.infer("limited", ROW).status()).isEqualTo(200);
            CountDownLatch entered = new CountDownLatch(1);
            CountDownLatch gate = scorer.hold(entered);
            CompletableFuture<HttpResponse<String>> held = http.inferLater("limited", ROW);
            try {
                entered.await();
                TestingHttp.Answer answer = http.infer("limited", ROW);
                assertError(
                        answer,
                        429,
                        "limit of the project is reached: project=limited, limit=concurrent_requests, value=1,"
                                + " requested=1, inFlight=1");
                assertThat(answer.header("Retry-After")).isEqualTo("1");
            } finally {
                gate.countDown();
            }
            assertThat(held.get().statusCode()).isEqualTo(200);
        }
    }

    @Test
    void memoryOfAllRequestsIsBounded() throws Exception {
        try (TestingHttp http = new TestingHttp(Map.of("http-memory-bytes-max", "65536"))) {
            TestingScorer scorer = deploy(http);
            String wide = "{\"inputs\":[{\"name\":\"x\",\"shape\":[4000],\"datatype\":\"FP64\",\"data\":[0"
                    + ",0".repeat(3_999) + "]}]}";
            // 8,192 bytes of body, 32,000 of values, 64 for the column and 32,000 for the answer, before it is written.
            assertThat(http.infer("echo", wide).at("error"))
                    .isEqualTo("request and answer must fit the memory for requests: bytes=72256, limitBytes=65536");
            // It gives its memory back after its answer.
            await().atMost(TestingHttp.TIMEOUT).until(() -> http.connector().requestBytes() == 0);
            CountDownLatch entered = new CountDownLatch(1);
            CountDownLatch gate = scorer.hold(entered);
            String half = "{\"inputs\":[{\"name\":\"x\",\"shape\":[2000],\"datatype\":\"FP64\",\"data\":[0"
                    + ",0".repeat(1_999) + "]}]}" + " ".repeat(20_000);
            CompletableFuture<HttpResponse<String>> held = http.inferLater("echo", half);
            try {
                entered.await();
                TestingHttp.Answer answer = http.infer("echo", half);
                assertThat(answer.status()).isEqualTo(503);
                assertThat(answer.text())
                        .matches("\\{\"error\":\"memory for requests is used up: usedBytes=[0-9]+,"
                                + " requestBytes=[0-9]+, limitBytes=65536\"}");
                assertThat(answer.header("Retry-After")).isEqualTo("1");
            } finally {
                gate.countDown();
            }
            held.get();
            await().atMost(TestingHttp.TIMEOUT).until(() -> http.connector().requestBytes() == 0);
            assertThat(http.infer("echo", ROW).status()).isEqualTo(200);
        }
    }

    @Test
    void drainAnswersWhatIsInFlightAndRefusesTheRest() throws Exception {
        try (TestingHttp http = new TestingHttp(Map.of())) {
            TestingScorer scorer = deploy(http);
            CountDownLatch entered = new CountDownLatch(1);
            CountDownLatch gate = scorer.hold(entered);
            CompletableFuture<HttpResponse<String>> held = http.inferLater("echo", ROW);
            try {
                entered.await();
                http.drain();
                assertError(http.get("/v2/health/ready"), 503, "gateway is shutting down");
                assertThat(http.get("/v2/health/live").status()).isEqualTo(200);
                TestingHttp.Answer answer = http.infer("echo", ROW);
                assertError(answer, 503, "gateway is shutting down");
                assertThat(answer.header("Connection")).isEqualTo("close");
            } finally {
                gate.countDown();
            }
            assertThat(held.get().statusCode()).isEqualTo(200);
        }
    }

    @Test
    void withoutTheDatabaseNothingIsKnownUntilItComesAndAllIsServedAfterIt() throws IOException {
        try (TestingHttp http = new TestingHttp(Map.of())) {
            SQLException away = new SQLException("connection refused", "08001");
            http.fail(away);
            String message =
                    "projects are not known, the database cannot be read: reason=sqlState=08001, connection refused";
            assertError(http.get("/v2/health/ready"), 503, message);
            assertError(http.infer("echo", ROW), 503, message);
            assertThat(http.get("/v2/health/live").status()).isEqualTo(200);
            assertThat(http.get("/v2").status()).isEqualTo(200);
            deploy(http);
            http.fail(away);
            assertThat(http.get("/v2/health/ready").status()).isEqualTo(200);
            assertThat(http.infer("echo", ROW).status()).isEqualTo(200);
        }
    }

    /** A body of so many rows. */
    private static String rows(int count) {
        return "{\"inputs\":[{\"name\":\"x\",\"shape\":[" + count + "],\"datatype\":\"FP64\",\"data\":["
                + "1,".repeat(count - 1) + "1]}]}";
    }

    @Test
    void jobsOfManyRowsLeaveRoomForRequestsOfAFew() throws Exception {
        try (TestingHttp http = new TestingHttp(Map.of())) {
            TestingScorer scorer = new TestingScorer();
            http.deploy("echo", 14, key -> TestingServedModels.regression(key, scorer, 1_000, 100));
            // Known to be short, so that both workers take one.
            for (int request = 0; request < 8; request++) {
                assertThat(http.infer("echo", rows(65)).status()).isEqualTo(200);
            }
            AtomicInteger entered = new AtomicInteger();
            scorer.onScore(entered::incrementAndGet);
            CountDownLatch gate = scorer.hold(new CountDownLatch(1));
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            try {
                for (int request = 1; request <= 2; request++) {
                    int inside = request;
                    answers.add(http.inferLater("echo", rows(65)));
                    await().atMost(TestingHttp.TIMEOUT).until(() -> entered.get() == inside);
                }
                answers.add(http.inferLater("echo", rows(65)));
                await().atMost(TestingHttp.TIMEOUT).until(() -> http.pipeline().pendingRows() == 65);
                TestingHttp.Answer refused = http.infer("echo", rows(65));
                assertThat(refused.text()).contains("queue of the model is full: model=model-", "waitingRows=65");
                answers.add(http.inferLater("echo", rows(64)));
                await().atMost(TestingHttp.TIMEOUT).until(() -> http.pipeline().pendingRows() == 65 + 64);
            } finally {
                gate.countDown();
            }
            for (CompletableFuture<HttpResponse<String>> answer : answers) {
                assertThat(answer.get().statusCode()).isEqualTo(200);
            }
        }
    }

    @Test
    void aShortBatchRunsOnTheThreadThatBroughtIt() throws IOException {
        try (TestingHttp http = new TestingHttp(Map.of(), null, 250_000)) {
            TestingScorer scorer = deploy(http);
            AtomicBoolean broughtIt = new AtomicBoolean();
            scorer.onScore(() -> broughtIt.set(Thread.currentThread().getName().startsWith("http")));
            await().atMost(TestingHttp.TIMEOUT).until(() -> {
                assertThat(http.infer("echo", ROW).status()).isEqualTo(200);
                return broughtIt.get();
            });
        }
    }
}
