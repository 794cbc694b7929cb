package io.millrace.gateway.http;

import static io.millrace.gateway.http.TestingHttp.assertError;
import static io.millrace.gateway.http.TestingHttp.madeUpKey;
import static io.millrace.gateway.http.TestingHttp.x;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.gateway.core.TestingScorer;
import io.millrace.gateway.core.TestingServedModels;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Models that come and go, batches, queues and deadlines. */
class HttpServingTest {
    private static final TestingScorer echo = new TestingScorer();
    private static TestingHttp http;

    @BeforeAll
    static void start() throws IOException {
        http = new TestingHttp(Map.of());
        http.deploy("echo", 14, key -> TestingServedModels.regression(key, echo, 1_000, 65_536));
        http.deploy("kept", 15, key -> TestingServedModels.regression(key, new TestingScorer(), 1_000, 65_536));
    }

    @AfterAll
    static void stop() throws IOException {
        http.close();
    }

    @AfterEach
    void nothingIsHeld() {
        http.awaitIdle();
    }

    @Test
    void whatComesDuringABatchIsTheNextBatch() throws Exception {
        assertThat(http.infer("echo", x("[0]", 1)).status()).isEqualTo(200);
        CountDownLatch entered = new CountDownLatch(2);
        CountDownLatch gate = echo.hold(entered);
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        int before;
        try {
            // One for each worker, then what has to wait.
            for (int request = 0; request < 2; request++) {
                answers.add(http.inferLater("echo", x("[" + request + "]", 1)));
                int inside = request + 1;
                await().atMost(TestingHttp.TIMEOUT).until(() -> entered.getCount() <= 2 - inside);
            }
            before = echo.batches().size();
            for (int request = 2; request < 34; request++) {
                answers.add(http.inferLater("echo", x("[" + request + "]", 1)));
            }
            await().atMost(TestingHttp.TIMEOUT).until(() -> http.pipeline().pendingRows() == 32);
        } finally {
            gate.countDown();
        }
        for (int request = 0; request < answers.size(); request++) {
            HttpResponse<String> answer = answers.get(request).get();
            assertThat(TestingJson.at(TestingJson.parse(answer.body()), "outputs", 0, "data"))
                    .isEqualTo(List.of((double) request));
        }
        List<Integer> batches = echo.batches();
        assertThat(batches.subList(before, batches.size())).containsExactlyInAnyOrder(1, 1, 32);
    }

    @Test
    void indexLoadAndUnload() throws IOException {
        String loaded = "{\"name\":\"kept\",\"version\":\"15\",\"state\":\"READY\",\"reason\":\"\"}";
        String unloaded = "{\"name\":\"kept\",\"version\":\"15\",\"state\":\"UNAVAILABLE\","
                + "\"reason\":\"not loaded, its first request will load it\"}";
        assertThat(http.post("/v2/repository/models/kept/load", "").text()).isEqualTo(loaded);
        assertThat(http.get("/v2/models/kept/ready").text()).isEqualTo("{\"name\":\"kept\",\"ready\":true}");
        assertThat(http.post("/v2/repository/index", "").text()).contains(loaded);
        assertThat(http.post("/v2/repository/index", "{\"ready\":true}").text()).contains(loaded);
        assertThat(http.post("/v2/repository/models/kept/unload", "{\"parameters\":{}}")
                        .text())
                .isEqualTo(unloaded);
        TestingHttp.Answer answer = http.get("/v2/models/kept/versions/15/ready");
        assertError(answer, 503, "model is not loaded, its first request will load it: model=kept, version=15");
        assertThat(answer.header("Retry-After")).isEqualTo("1");
        assertThat(http.post("/v2/repository/index", "{}").text()).contains(unloaded);
        assertThat(http.post("/v2/repository/index", "{\"ready\":true}").text()).doesNotContain("\"kept\"");
        assertError(http.post("/v2/repository/index", "{"), 400, "request must be JSON: line=1, column=2");
        assertThat(http.infer("kept", x("[7]", 1)).at("outputs", 0, "data")).isEqualTo(List.of(7.0));
        assertThat(http.get("/v2/models/kept/ready").status()).isEqualTo(200);
    }

    @Test
    void aModelThatCannotBeLoadedSaysWhy() throws IOException {
        http.deploy("broken", 99, key -> {
            throw new ContractException(ErrorCode.STORE_UNAVAILABLE, "store cannot be reached: uri=x");
        });
        TestingHttp.Answer answer = http.post("/v2/repository/models/broken/load", "");
        assertError(answer, 503, "store cannot be reached: uri=x");
        assertThat(answer.header("Retry-After")).isEqualTo("1");
        assertError(http.get("/v2/models/broken"), 503, "store cannot be reached: uri=x");
        assertError(http.infer("broken", x("[1]", 1)), 503, "store cannot be reached: uri=x");
    }

    @Test
    void aDeploymentIsFollowed() throws IOException {
        http.deploy("flip", 21, key -> TestingServedModels.regression(key, new TestingScorer(), 1_000, 100));
        assertThat(http.infer("flip", x("[1]", 1)).at("model_version")).isEqualTo("21");
        http.deploy("flip", 22, key -> TestingServedModels.regression(key, new TestingScorer(), 1_000, 100));
        assertThat(http.infer("flip", x("[1]", 1)).at("model_version")).isEqualTo("22");
        assertThat(http.get("/v2/models/flip").at("versions")).isEqualTo(List.of("21", "22"));
        assertThat(http.post("/v2/models/flip/versions/21/infer", x("[1]", 1)).at("model_version"))
                .isEqualTo("21");
    }

    @Test
    void aModelsQueueIsBounded() throws Exception {
        TestingScorer scorer = new TestingScorer();
        http.deploy("narrow", 31, key -> TestingServedModels.regression(key, scorer, 1_000, 2));
        assertThat(http.infer("narrow", x("[1]", 1)).status()).isEqualTo(200);
        CountDownLatch entered = new CountDownLatch(2);
        CountDownLatch gate = scorer.hold(entered);
        List<CompletableFuture<HttpResponse<String>>> held = new ArrayList<>();
        try {
            for (int request = 0; request < 2; request++) {
                held.add(http.inferLater("narrow", x("[1]", 1)));
                int inside = request + 1;
                await().atMost(TestingHttp.TIMEOUT).until(() -> entered.getCount() <= 2 - inside);
            }
            held.add(http.inferLater("narrow", x("[1,2]", 2)));
            await().atMost(TestingHttp.TIMEOUT).until(() -> http.pipeline().pendingRows() == 2);
            TestingHttp.Answer answer = http.infer("narrow", x("[5]", 1));
            assertError(
                    answer,
                    429,
                    "queue of the model is full: model=model-" + madeUpKey(31)
                            + ", waitingRows=2, requestRows=1, limitRows=2");
            assertThat(answer.header("Retry-After")).isEqualTo("1");
        } finally {
            gate.countDown();
        }
        for (CompletableFuture<HttpResponse<String>> answer : held) {
            assertThat(answer.get().statusCode()).isEqualTo(200);
        }
    }

    @Test
    void whoWaitsTooLongIsTold() throws Exception {
        TestingScorer scorer = new TestingScorer();
        http.deploy("slow", 41, key -> TestingServedModels.regression(key, scorer, 1_000, 100));
        assertThat(http.infer("slow", x("[1]", 1)).status()).isEqualTo(200);
        CountDownLatch gate = scorer.hold(new CountDownLatch(1));
        try {
            String body = "{\"parameters\":{\"timeout_ms\":50}," + x("[1]", 1).substring(1);
            assertError(http.infer("slow", body), 504, "request is not answered in time: timeoutMillis=50");
        } finally {
            gate.countDown();
        }
    }
}
