package io.millrace.train.dispatch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.train.job.JobReport;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads a running job's own gauges. Accumulators reach the cluster's JobManager with heartbeats only, every ten seconds;
 * gauges are asked for. Whatever goes wrong here is no more than progress not shown.
 *
 * <p>Threads: safe for many.
 */
final class JobGauges {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** Of one question. */
    private static final Duration LIMIT = Duration.ofMillis(400);

    private static final long READ_LIMIT_NANOS = Duration.ofMillis(800).toNanos();

    /** Value of the phase while none of the job's tasks has a slot yet. */
    static final String SCHEDULED = "scheduled";

    private static final List<String> WAITING = List.of("CREATED", "SCHEDULED");

    private final String endpoint;
    private final HttpClient client;

    JobGauges(URI endpoint) {
        String text = endpoint.toString();
        this.endpoint = text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(LIMIT)
                .build();
    }

    /** Gauge name to value, of those of {@code names} that some operator of the job has. */
    Map<String, String> read(String jobId, List<String> names) {
        Map<String, String> values = new HashMap<>();
        long deadline = System.nanoTime() + READ_LIMIT_NANOS;
        try {
            JsonNode vertices = json("/jobs/" + jobId).path("vertices");
            if (isWaiting(vertices)) {
                return Map.of(JobReport.PHASE, SCHEDULED);
            }
            for (JsonNode vertex : vertices) {
                if (System.nanoTime() - deadline > 0) {
                    return values;
                }
                readVertex("/jobs/" + jobId + "/vertices/" + vertex.path("id").asText() + "/metrics", names, values);
            }
        } catch (IOException e) {
            return values;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return values;
    }

    private static boolean isWaiting(JsonNode vertices) {
        for (JsonNode vertex : vertices) {
            if (!WAITING.contains(vertex.path("status").asText())) {
                return false;
            }
        }
        return !vertices.isEmpty();
    }

    /** A gauge's full name has the subtask and the operator before it. */
    private void readVertex(String path, List<String> names, Map<String, String> values)
            throws IOException, InterruptedException {
        Map<String, String> wanted = new HashMap<>();
        for (JsonNode metric : json(path)) {
            String id = metric.path("id").asText();
            wantedName(id, names).ifPresent(name -> wanted.put(id, name));
        }
        if (wanted.isEmpty()) {
            return;
        }
        List<String> ids = new ArrayList<>(wanted.keySet());
        String query = URLEncoder.encode(String.join(",", ids), StandardCharsets.UTF_8);
        for (JsonNode metric : json(path + "?get=" + query)) {
            String name = wanted.get(metric.path("id").asText());
            if (name != null) {
                values.put(name, metric.path("value").asText());
            }
        }
    }

    private static Optional<String> wantedName(String id, List<String> names) {
        return names.stream().filter(name -> id.endsWith("." + name)).findFirst();
    }

    private JsonNode json(String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(endpoint + path))
                .timeout(LIMIT)
                .GET()
                .build();
        HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException("cluster does not tell its metrics: status=" + response.statusCode());
        }
        return JSON.readTree(response.body());
    }
}
