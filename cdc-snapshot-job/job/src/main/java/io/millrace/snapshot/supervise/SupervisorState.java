package io.millrace.snapshot.supervise;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What the supervisor remembers: the job it started last, with which tables, and from where the next one starts. Written before
 * the job is submitted, so that after a crash it is the newest job that is looked for.
 *
 * @param jobId the job started last; null before the first
 * @param relations its tables
 * @param loaded those of them whose initial load is known to be done
 * @param restorePath savepoint or checkpoint it starts from, or the newest one seen since; null when it starts afresh
 * @param former jobs before it whose savepoints and checkpoints are still there
 */
record SupervisorState(
        @Nullable String jobId,
        List<String> relations,
        Set<String> loaded,
        @Nullable String restorePath,
        List<String> former) {
    static final SupervisorState NONE = new SupervisorState(null, List.of(), Set.of(), null, List.of());

    private static final String FILE = "supervisor.json";
    private static final int FORMAT_VERSION = 1;
    private static final ObjectMapper JSON = new ObjectMapper();

    SupervisorState {
        relations = List.copyOf(relations);
        loaded = Set.copyOf(loaded);
        former = List.copyOf(former);
    }

    Optional<String> job() {
        return Optional.ofNullable(jobId);
    }

    SupervisorState restorableFrom(String path) {
        return new SupervisorState(jobId, relations, loaded, path, former);
    }

    SupervisorState withLoaded(Set<String> tables) {
        return new SupervisorState(jobId, relations, tables, restorePath, former);
    }

    SupervisorState withFormer(List<String> jobs) {
        return new SupervisorState(jobId, relations, loaded, restorePath, jobs);
    }

    /**
     * Reads the file in {@code directory}; {@link #NONE} when there is none.
     *
     * @throws UncheckedIOException if it cannot be read or understood
     */
    static SupervisorState read(Path directory) {
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return NONE;
        }
        try {
            JsonNode root = JSON.readTree(Files.readAllBytes(file));
            if (root.path("format-version").asInt() != FORMAT_VERSION) {
                throw new IOException("supervisor state must have a known format: path=" + file);
            }
            List<String> relations = new ArrayList<>();
            root.path("relations").forEach(relation -> relations.add(relation.asText()));
            Set<String> loaded = new TreeSet<>();
            root.path("loaded").forEach(relation -> loaded.add(relation.asText()));
            List<String> former = new ArrayList<>();
            root.path("former").forEach(job -> former.add(job.asText()));
            return new SupervisorState(text(root, "job-id"), relations, loaded, text(root, "restore-path"), former);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static @Nullable String text(JsonNode root, String key) {
        return root.path(key).isTextual() ? root.path(key).asText() : null;
    }

    /** Replaces the file in {@code directory}, durably. */
    void write(Path directory) {
        ObjectNode root = JSON.createObjectNode();
        root.put("format-version", FORMAT_VERSION);
        root.put("job-id", jobId);
        relations.forEach(root.putArray("relations")::add);
        loaded.stream().sorted().forEach(root.putArray("loaded")::add);
        root.put("restore-path", restorePath);
        former.forEach(root.putArray("former")::add);
        Path partial = directory.resolve(FILE + ".partial");
        try {
            Files.createDirectories(directory);
            Files.writeString(partial, root.toPrettyString());
            try (FileChannel channel = FileChannel.open(partial, StandardOpenOption.WRITE)) {
                channel.force(true);
            }
            Files.move(partial, directory.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
