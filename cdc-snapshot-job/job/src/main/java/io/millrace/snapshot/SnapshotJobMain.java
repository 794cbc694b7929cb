package io.millrace.snapshot;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.jobs.DatabaseConnections;
import io.millrace.jobs.JobSettings;
import io.millrace.lake.Lake;
import io.millrace.lake.LakeConfig;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The change job's entry class. Runs in the JobManager when the job is submitted.
 *
 * <p>Arguments: {@code --conf DIR --relations JSON}, the latter an array of relations of {@code ml.captured_tables}. Reads {@code
 * database.properties}, {@code lake.properties} and {@code snapshot.properties}.
 */
public final class SnapshotJobMain {
    private static final Duration DATABASE_LIMIT = Duration.ofSeconds(30);

    private SnapshotJobMain() {}

    public static void main(String[] arguments) throws Exception {
        JobSettings settings = JobSettings.parse(arguments);
        DatabaseConnections database = settings.database();
        LakeConfig lake = LakeConfig.from(settings.file("lake"), settings.file("database"));
        SnapshotConfig config = SnapshotConfig.from(settings.file("snapshot"));
        List<TableRoute> tables = routes(database, lake, relations(settings.required("relations")));
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
        SnapshotJob.define(environment, database, lake, config, tables);
        environment.execute("capture " + tables.size() + (tables.size() == 1 ? " table" : " tables"));
    }

    private static Set<String> relations(String json) {
        try {
            return new LinkedHashSet<>(List.of(new ObjectMapper().readValue(json, String[].class)));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("argument --relations must be a JSON array of text", e);
        }
    }

    /** Where the rows of each relation go. Makes lake tables that are missing. */
    static List<TableRoute> routes(DatabaseConnections database, LakeConfig lakeConfig, Set<String> relations)
            throws SQLException, InterruptedException {
        List<TableRoute> routes = new ArrayList<>();
        try (Connection connection = database.await("snapshot", DATABASE_LIMIT);
                Lake lake = Lake.open(lakeConfig)) {
            for (CapturedTables.Row row : CapturedTables.read(connection)) {
                if (relations.contains(row.table().relation())) {
                    routes.add(LakeTables.prepare(connection, lake, row.table()));
                }
            }
        }
        return routes;
    }
}
