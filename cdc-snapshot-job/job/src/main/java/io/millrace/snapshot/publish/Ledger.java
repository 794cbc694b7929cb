package io.millrace.snapshot.publish;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/*
 * What the publisher must remember over a crash. A request becomes due when the checkpoint that holds it is complete. By then
 * the sink has been told to commit that checkpoint's files, but has not necessarily done so, and a table without new files gets
 * no commit at all. So the ledger notes per table the last checkpoint in which one of its rows changed: that commit is awaited.
 *
 * A checkpoint may be given up after this task has taken part in it, for example when a savepoint is asked for meanwhile. The
 * writer may have heard of that before it came to the barrier: then it writes those rows with the next one, and their commit has
 * the next one's id. So a commit is awaited from its mark on, up to the checkpoint that completed the request: the source is held
 * behind a request until then, so that no later row is in it.
 *
 * The sink is told to commit when a checkpoint is complete, which need not be the one of the mark: that may have been given up,
 * and its files come with the next one. It does so before it takes part in the checkpoint after that. So a mark is dropped once
 * two later checkpoints are complete.
 *
 * Job ids are kept in order of their runs: a commit of a later run, or of a later checkpoint of the same run, is newer than the
 * request and must not be in its snapshot.
 */
/** The publisher's state: requests on their way, tables that have caught up, commits that are on their way. */
final class Ledger {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int FORMAT_VERSION = 1;
    private static final int RUN_LIMIT = 100;

    private final List<String> runs = new ArrayList<>();
    private final Set<String> caughtUp = new HashSet<>();
    private final Set<String> stale = new HashSet<>();
    private final Map<String, CommitMark> awaited = new HashMap<>();
    private final Map<Long, PublishRequest> requests = new LinkedHashMap<>();
    private final Set<String> changed = new HashSet<>();

    /** The newest checkpoint that is known to be complete; ids increase over restarts from one another. */
    private long lastComplete;

    /** Begins a run of the job: its commits are newer than those of all runs before. */
    void begin(String jobId) {
        runs.remove(jobId);
        runs.add(jobId);
        if (runs.size() > RUN_LIMIT) {
            runs.remove(0);
        }
    }

    /** Forgets tables that the job no longer captures: when they come back, they are loaded again. */
    void keepTables(Collection<String> captured) {
        caughtUp.retainAll(captured);
        stale.retainAll(captured);
        // Whoever asks for a table that is away waits until it is back.
        requests.replaceAll((id, request) -> captured.contains(request.relation()) ? request : request.waiting());
        awaited.keySet().retainAll(captured);
    }

    void rowChanged(String relation) {
        changed.add(relation);
    }

    /** Notes a request; one that is known already, or read twice, stays as it is. */
    void requested(String relation, long lsn, long snapshotId) {
        requests.putIfAbsent(snapshotId, new PublishRequest(snapshotId, relation, lsn, null, null));
    }

    /** Notes that the table is complete as of {@code lsn}; requests that waited for it are answered with that state. */
    void caughtUp(String relation, long lsn) {
        if (!stale.contains(relation) && caughtUp.add(relation)) {
            requests.replaceAll((id, request) ->
                    request.relation().equals(relation) && request.taken() == null ? request.at(lsn) : request);
        }
    }

    /** Notes that what the lake has of a table is wrong until it has been loaded again. */
    void stale(String relation) {
        stale.add(relation);
        caughtUp.remove(relation);
    }

    /** The tables that have to be loaded again. */
    List<String> stale() {
        return stale.stream().sorted().toList();
    }

    /** Requests that wait for their table or for a checkpoint. */
    List<PublishRequest> waiting() {
        return requests.values().stream()
                .filter(request -> request.taken() == null)
                .toList();
    }

    /** The tables that have caught up, in a stable order. */
    List<String> caughtUp() {
        return caughtUp.stream().sorted().toList();
    }

    boolean hasCaughtUp(String relation) {
        return caughtUp.contains(relation);
    }

    /** Notes that checkpoint {@code checkpoint} holds everything so far. */
    void checkpointTaken(CommitMark checkpoint) {
        for (String relation : changed) {
            awaited.put(relation, checkpoint);
        }
        changed.clear();
        requests.replaceAll((id, request) -> request.taken() == null && caughtUp.contains(request.relation())
                ? request.takenBy(checkpoint, awaited.get(request.relation()))
                : request);
    }

    /** Notes that a checkpoint is complete and returns the requests that are due by it, in order of arrival. */
    List<PublishRequest> checkpointComplete(long checkpointId) {
        awaited.values().removeIf(mark -> mark.checkpointId() < lastComplete);
        complete(checkpointId);
        return due(checkpointId);
    }

    /** Requests whose own checkpoint was given up are complete by this one. */
    private void complete(long checkpointId) {
        requests.replaceAll((id, request) -> {
            CommitMark taken = request.taken();
            return taken != null && taken.checkpointId() > lastComplete && taken.checkpointId() < checkpointId
                    ? request.takenBy(new CommitMark(taken.jobId(), checkpointId), request.awaited())
                    : request;
        });
        lastComplete = checkpointId;
    }

    private List<PublishRequest> due(long checkpointId) {
        List<PublishRequest> due = new ArrayList<>();
        for (PublishRequest request : requests.values()) {
            CommitMark taken = request.taken();
            if (taken != null && taken.checkpointId() <= checkpointId) {
                due.add(request);
            }
        }
        return due;
    }

    /** The requests that are due after a restart from a checkpoint. Its own commits may still be on their way. */
    List<PublishRequest> restoredFrom(long checkpointId) {
        complete(checkpointId);
        return due(checkpointId);
    }

    void finished(long snapshotId) {
        requests.remove(snapshotId);
    }

    /** The runs of the job, oldest first. */
    List<String> runs() {
        return List.copyOf(runs);
    }

    String toJson() {
        ObjectNode root = JSON.createObjectNode();
        root.put("format-version", FORMAT_VERSION);
        root.put("last-complete", lastComplete);
        runs.forEach(root.putArray("runs")::add);
        caughtUp.stream().sorted().forEach(root.putArray("caught-up")::add);
        stale.stream().sorted().forEach(root.putArray("stale")::add);
        ObjectNode marks = root.putObject("awaited");
        awaited.forEach((relation, mark) -> writeMark(marks, relation, mark));
        for (PublishRequest request : requests.values()) {
            ObjectNode node = root.withArray("requests").addObject();
            node.put("snapshot-id", request.snapshotId());
            node.put("relation", request.relation());
            node.put("lsn", request.lsn());
            writeMark(node, "taken", request.taken());
            writeMark(node, "awaited", request.awaited());
        }
        return root.toString();
    }

    /**
     * Reads what {@link #toJson} wrote.
     *
     * @throws IllegalArgumentException if the text is not of this format
     */
    static Ledger parse(String text) {
        JsonNode root;
        try {
            root = JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("publisher state must be JSON", e);
        }
        int version = root.path("format-version").asInt();
        if (version != FORMAT_VERSION) {
            throw new IllegalArgumentException("publisher state must have a known format: format-version=" + version);
        }
        Ledger ledger = new Ledger();
        // Older state does not say: then every checkpoint that took a request passes for complete.
        ledger.lastComplete = root.path("last-complete").asLong(Long.MAX_VALUE);
        root.path("runs").forEach(run -> ledger.runs.add(run.asText()));
        root.path("caught-up").forEach(relation -> ledger.caughtUp.add(relation.asText()));
        root.path("stale").forEach(relation -> ledger.stale.add(relation.asText()));
        root.path("awaited").properties().forEach(entry -> {
            CommitMark mark = readMark(entry.getValue());
            if (mark != null) {
                ledger.awaited.put(entry.getKey(), mark);
            }
        });
        for (JsonNode node : root.path("requests")) {
            long id = node.path("snapshot-id").asLong();
            ledger.requests.put(
                    id,
                    new PublishRequest(
                            id,
                            node.path("relation").asText(),
                            node.path("lsn").asLong(),
                            readMark(node.path("taken")),
                            readMark(node.path("awaited"))));
        }
        return ledger;
    }

    private static void writeMark(ObjectNode parent, String key, @Nullable CommitMark mark) {
        if (mark != null) {
            parent.putObject(key).put("job-id", mark.jobId()).put("checkpoint-id", mark.checkpointId());
        }
    }

    private static @Nullable CommitMark readMark(JsonNode node) {
        return node.isObject()
                ? new CommitMark(
                        node.path("job-id").asText(), node.path("checkpoint-id").asLong())
                : null;
    }
}
