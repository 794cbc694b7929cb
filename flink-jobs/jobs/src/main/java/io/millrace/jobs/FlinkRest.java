package io.millrace.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The part of Flink's REST API that Millrace's processes use.
 *
 * <p>Errors: {@link FlinkRestException} when the cluster refused, {@link FlinkUnreachableException} when it did not answer
 * and the outcome is unknown. Every call ends within the request limit, every wait within the limit given to it.
 *
 * <p>Threads: safe for many.
 *
 * @see <a href="https://nightlies.apache.org/flink/flink-docs-release-2.3/docs/ops/rest_api/">Flink REST API</a>
 */
public final class FlinkRest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(5);
    /** The cluster runs the entry class's main before it answers: class loading and catalog calls take their time. */
    private static final Duration SUBMIT_LIMIT = Duration.ofMinutes(3);

    private static final Duration POLL = Duration.ofMillis(200);
    private static final String UNKNOWN_JOB = "Could not find Flink job";
    private static final String NO_SLOT = "NoResourceAvailableException";
    /** Default of a job that does not set its own. */
    private static final int PARALLELISM = 1;

    private static final int ERROR_TEXT_LENGTH = 2_000;

    private final URI endpoint;
    private final Duration requestLimit;
    private final HttpClient client;

    /**
     * A client of one cluster; nothing is sent yet.
     *
     * @param endpoint such as {@code http://127.0.0.1:8081}
     * @param requestLimit how long a call may take
     */
    public FlinkRest(URI endpoint, Duration requestLimit) {
        this.endpoint = endpoint;
        this.requestLimit = requestLimit;
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(CONNECT_LIMIT)
                .build();
    }

    public URI endpoint() {
        return endpoint;
    }

    /** True when the cluster answers and has at least one TaskManager slot. */
    public boolean ready() {
        try {
            return require(requestGet("/overview")).path("slots-total").asInt() > 0;
        } catch (FlinkRestException e) {
            return false;
        }
    }

    /** Slots no job has at this moment. */
    public int freeSlots() {
        return require(requestGet("/overview")).path("slots-available").asInt();
    }

    /**
     * The id under which the cluster holds the content of {@code jar}; uploads it when the cluster has not seen it.
     *
     * @throws FlinkRestException if the upload is refused
     */
    public String ensureJar(Path jar) {
        String name = JarUpload.contentName(jar);
        for (JsonNode file : require(requestGet("/jars")).path("files")) {
            if (name.equals(file.path("name").asText())) {
                return file.path("id").asText();
            }
        }
        HttpRequest upload = JarUpload.request(resolve("/jars/upload"), jar, name, SUBMIT_LIMIT);
        String stored = require(exchange(upload)).path("filename").asText();
        return stored.substring(stored.lastIndexOf('/') + 1);
    }

    /**
     * Starts a job from {@code jar}. A lost answer, and a cluster that already knows the id, count as started when the job
     * can be found under its id.
     *
     * @throws FlinkRestException if the entry class failed or the cluster refused the job
     * @throws FlinkUnreachableException if neither the answer nor the job can be had
     */
    public void submit(Path jar, JobSubmission job) {
        String path = "/jars/" + ensureJar(jar) + "/run";
        HttpRequest request = request(path, SUBMIT_LIMIT)
                .POST(BodyPublishers.ofString(runBody(job).toString()))
                .build();
        try {
            require(exchange(request));
        } catch (FlinkRestException e) {
            if (state(job.jobId()).isEmpty()) {
                throw e;
            }
        }
    }

    private static ObjectNode runBody(JobSubmission job) {
        ObjectNode body = JSON.createObjectNode();
        body.put("entryClass", job.mainClass());
        job.arguments().forEach(body.putArray("programArgsList")::add);
        body.put("jobId", job.jobId());
        body.put("parallelism", PARALLELISM);
        job.restorePath().ifPresent(path -> {
            body.put("savepointPath", path);
            body.put("allowNonRestoredState", job.allowNonRestoredState());
        });
        return body;
    }

    /** The job's state; empty when the cluster does not know the job. */
    public Optional<JobState> state(String jobId) {
        return requestGet("/jobs/" + jobId + "/status")
                .map(answer -> JobState.of(answer.path("status").asText()));
    }

    /**
     * Waits until the job has ended or {@code limit} has passed.
     *
     * @return the last state seen; empty when the cluster does not know the job
     * @throws InterruptedException if the waiting thread is interrupted
     */
    public Optional<JobState> awaitEnd(String jobId, Duration limit) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + limit.toNanos();
        while (true) {
            Optional<JobState> state = state(jobId);
            if (state.map(JobState::terminal).orElse(true) || System.nanoTime() - deadlineNanos >= 0) {
                return state;
            }
            Thread.sleep(POLL.toMillis());
        }
    }

    /** Asks the cluster to cancel the job; does not wait. Cancelling an ended or unknown job is no error. */
    public void cancel(String jobId) {
        HttpRequest request = request("/jobs/" + jobId + "?mode=cancel", requestLimit)
                .method("PATCH", BodyPublishers.noBody())
                .build();
        try {
            exchange(request);
        } catch (FlinkUnreachableException e) {
            throw e;
        } catch (FlinkRestException e) {
            if (state(jobId).map(JobState::terminal).orElse(true)) {
                return;
            }
            throw e;
        }
    }

    /**
     * Stops a streaming job with a savepoint and waits for it.
     *
     * @param targetDirectory URI of the directory the savepoint goes to
     * @param limit how long the savepoint may take
     * @return the savepoint's path
     * @throws FlinkRestException if the savepoint failed or took longer; the job may go on running
     * @throws InterruptedException if the waiting thread is interrupted
     */
    public String stopWithSavepoint(String jobId, String targetDirectory, Duration limit) throws InterruptedException {
        ObjectNode body = JSON.createObjectNode();
        body.put("targetDirectory", targetDirectory);
        body.put("drain", false);
        HttpRequest request = request("/jobs/" + jobId + "/stop", requestLimit)
                .POST(BodyPublishers.ofString(body.toString()))
                .build();
        String trigger = require(exchange(request)).path("request-id").asText();
        return awaitSavepoint(jobId, trigger, limit);
    }

    private String awaitSavepoint(String jobId, String trigger, Duration limit) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + limit.toNanos();
        while (System.nanoTime() - deadlineNanos < 0) {
            JsonNode answer = require(requestGet("/jobs/" + jobId + "/savepoints/" + trigger));
            if ("COMPLETED".equals(answer.path("status").path("id").asText())) {
                JsonNode operation = answer.path("operation");
                JsonNode failure = operation.path("failure-cause");
                if (!failure.isMissingNode() && !failure.isNull()) {
                    throw new FlinkRestException("savepoint cannot be taken: jobId=" + jobId + ", cause="
                            + firstLine(failure.path("stack-trace").asText()));
                }
                return operation.path("location").asText();
            }
            Thread.sleep(POLL.toMillis());
        }
        throw new FlinkRestException(
                "savepoint must end within its limit: jobId=" + jobId + ", limitSeconds=" + limit.toSeconds());
    }

    /** The path of the job's newest completed checkpoint or savepoint that can be restored from. */
    public Optional<String> latestCheckpoint(String jobId) {
        return requestGet("/jobs/" + jobId + "/checkpoints").flatMap(FlinkRest::newestRestorable);
    }

    private static Optional<String> newestRestorable(JsonNode statistics) {
        @Nullable String newest = null;
        long newestId = -1;
        for (String kind : List.of("completed", "savepoint", "restored")) {
            JsonNode checkpoint = statistics.path("latest").path(kind);
            String path = checkpoint.path("external_path").asText("");
            if (path.contains("/") && checkpoint.path("id").asLong() > newestId) {
                newest = path;
                newestId = checkpoint.path("id").asLong();
            }
        }
        return Optional.ofNullable(newest);
    }

    /** Number of the job's completed checkpoints since it was submitted; 0 for an unknown job. */
    public long completedCheckpoints(String jobId) {
        return requestGet("/jobs/" + jobId + "/checkpoints")
                .map(answer -> answer.path("counts").path("completed").asLong())
                .orElse(0L);
    }

    /** How many times the job has been restarted since it was submitted; 0 for an unknown job. */
    public long restarts(String jobId) {
        return requestGet("/jobs/" + jobId + "/metrics?get=numRestarts")
                .map(answer -> answer.path(0).path("value").asLong())
                .orElse(0L);
    }

    /** The first cause of the job's newest failure, one line; empty when it never failed or is unknown. */
    public Optional<String> failure(String jobId) {
        return failureTrace(jobId).map(FlinkRest::rootCause);
    }

    /** Whether the job's newest failure is that the cluster had no slot for it: nothing is wrong with the job. */
    public boolean lackedSlots(String jobId) {
        return failureTrace(jobId).filter(trace -> trace.contains(NO_SLOT)).isPresent();
    }

    private Optional<String> failureTrace(String jobId) {
        return requestGet("/jobs/" + jobId + "/exceptions")
                .map(answer -> answer.path("exceptionHistory").path("entries"))
                .filter(entries -> !entries.isEmpty())
                .map(entries -> entries.get(0).path("stacktrace").asText());
    }

    /** The job's user accumulators, as text. Empty for an unknown job. */
    public Map<String, String> accumulators(String jobId) {
        Map<String, String> values = new TreeMap<>();
        requestGet("/jobs/" + jobId + "/accumulators").ifPresent(answer -> {
            for (JsonNode one : answer.path("user-task-accumulators")) {
                values.put(one.path("name").asText(), one.path("value").asText());
            }
        });
        return values;
    }

    /** The innermost "Caused by" of a Java stack trace, without its class when it carries a message. */
    static String rootCause(String stackTrace) {
        String cause = firstLine(stackTrace);
        for (String line : stackTrace.split("\n", -1)) {
            if (line.startsWith("Caused by: ")) {
                cause = line.substring("Caused by: ".length()).strip();
            }
        }
        int colon = cause.indexOf(": ");
        boolean typed = colon > 0 && cause.substring(0, colon).matches("[A-Za-z0-9_.$]+(Exception|Error)");
        return typed ? cause.substring(colon + 2) : cause;
    }

    private static String firstLine(String text) {
        int end = text.indexOf('\n');
        return (end < 0 ? text : text.substring(0, end)).strip();
    }

    private static JsonNode require(Optional<JsonNode> answer) {
        return answer.orElseThrow(() -> new FlinkRestException("cluster does not know what was asked for"));
    }

    private Optional<JsonNode> requestGet(String path) {
        return exchange(request(path, requestLimit).GET().build());
    }

    private HttpRequest.Builder request(String path, Duration limit) {
        return HttpRequest.newBuilder(resolve(path)).timeout(limit).header("Content-Type", "application/json");
    }

    private URI resolve(String path) {
        String base = endpoint.toString();
        return URI.create((base.endsWith("/") ? base.substring(0, base.length() - 1) : base) + path);
    }

    /** Sends one request; empty when the cluster does not know what it is about. */
    private Optional<JsonNode> exchange(HttpRequest request) {
        HttpResponse<String> response;
        try {
            response = client.send(request, BodyHandlers.ofString());
        } catch (IOException e) {
            throw unreachable(request, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unreachable(request, e);
        }
        if (response.statusCode() == 404 || isUnknownJob(response)) {
            return Optional.empty();
        }
        if (response.statusCode() >= 300) {
            throw new FlinkRestException("cluster refused a request: path="
                    + request.uri().getPath() + ", status=" + response.statusCode() + ", cause="
                    + errorText(response.body()));
        }
        try {
            return Optional.of(JSON.readTree(response.body()));
        } catch (IOException e) {
            throw new FlinkRestException(
                    "cluster must answer in JSON: path=" + request.uri().getPath(), e);
        }
    }

    /** Some calls answer 500 instead of 404 for a job the cluster does not know. */
    private static boolean isUnknownJob(HttpResponse<String> response) {
        return response.statusCode() >= 400 && response.body().contains(UNKNOWN_JOB);
    }

    private FlinkUnreachableException unreachable(HttpRequest request, Exception cause) {
        return new FlinkUnreachableException(
                "cluster does not answer: endpoint=" + endpoint + ", path="
                        + request.uri().getPath(),
                cause);
    }

    /** Flink puts a whole stack trace into its error list: keep the innermost cause. */
    private static String errorText(String body) {
        String text = body;
        try {
            JsonNode errors = JSON.readTree(body).path("errors");
            if (!errors.isEmpty()) {
                text = errors.get(errors.size() - 1).asText();
                int trace = text.indexOf("Exception on server side:\n");
                text = rootCause(trace < 0 ? text : text.substring(trace + "Exception on server side:\n".length()));
            }
        } catch (IOException ignored) {
            // Not JSON: a proxy's page, say; its text is all there is.
        }
        return text.length() > ERROR_TEXT_LENGTH ? text.substring(0, ERROR_TEXT_LENGTH) : text;
    }
}
