package io.millrace.train.run;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.millrace.contract.Task;
import io.millrace.train.spec.TrainResult;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Objects;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The model's row, its deployment and the run's end are one transaction: whoever sees the run succeeded sees the model,
 * and sees it deployed if it was to be. A crash before COMMIT leaves none of them, and the next dispatcher does it again;
 * after it, the run has no owner any more and nothing is done twice.
 */

/** Ends a run with a model. */
public final class ModelRecord {
    private static final Logger LOG = LoggerFactory.getLogger(ModelRecord.class);
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final String LOCK =
            "SELECT FROM ml.runs WHERE run_id = ? AND lease_owner = ? AND attempt = ? FOR UPDATE";

    private static final String INSERT = """
            INSERT INTO ml.models (project_id, run_id, algorithm, task, metrics, uri, sha256, bytes, format, snapshot_id,
                fitted_id, labels)
            VALUES (?, ?, ?, ?, ?::jsonb, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (run_id) DO NOTHING
            """;

    private static final String DEPLOYED = """
            SELECT m.metrics::text FROM ml.deployments d JOIN ml.models m USING (model_id)
            WHERE d.project_id = ? ORDER BY d.deployment_id DESC LIMIT 1
            """;

    private static final String SUCCEED = """
            UPDATE ml.runs SET status = 'succeeded', phase = ?, progress = 1, model_id = ?, metrics = ?::jsonb, error = NULL,
                finished_at = now(), lease_owner = NULL, lease_until = NULL
            WHERE run_id = ?
            """;

    private final Connection connection;
    private final String owner;

    public ModelRecord(Connection connection, String owner) {
        this.connection = connection;
        this.owner = owner;
    }

    /**
     * Records the model, deploys it if it is better than the deployed one, and ends the run.
     *
     * @param runFacts further facts for the run's metrics, such as its learning curve
     * @return false if the run was lost to another dispatcher
     */
    public boolean succeed(Run run, TrainResult result, ObjectNode runFacts) throws SQLException {
        connection.setAutoCommit(false);
        try {
            boolean held = lock(run);
            if (held) {
                long modelId = insert(run, result);
                ObjectNode metrics = runFacts.deepCopy();
                metrics.setAll((ObjectNode) JSON.valueToTree(result.metrics()));
                String phase = deploy(run, result, modelId, metrics);
                succeed(run, modelId, metrics, phase);
            }
            connection.commit();
            return held;
        } catch (SQLException | RuntimeException e) {
            connection.rollback();
            throw e;
        } finally {
            connection.setAutoCommit(true);
        }
    }

    private boolean lock(Run run) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOCK)) {
            statement.setLong(1, run.runId());
            statement.setString(2, owner);
            statement.setInt(3, run.attempt());
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    private long insert(Run run, TrainResult result) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            Array labels = connection.createArrayOf("text", result.labels().toArray());
            statement.setLong(1, run.projectId());
            statement.setLong(2, run.runId());
            statement.setString(3, run.algorithm());
            statement.setString(4, run.task().text());
            statement.setString(5, JSON.valueToTree(result.metrics()).toString());
            statement.setString(6, result.uri());
            statement.setString(7, result.sha256());
            statement.setLong(8, result.bytes());
            statement.setString(9, result.format());
            statement.setLong(10, run.snapshotId());
            statement.setString(11, result.fittedId());
            statement.setArray(12, labels);
            statement.executeUpdate();
        }
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT model_id FROM ml.models WHERE run_id = ?")) {
            statement.setLong(1, run.runId());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    /** Deploys if that is wanted and better; what happened goes into the metrics and, in words, into the answer. */
    private String deploy(Run run, TrainResult result, long modelId, ObjectNode metrics) throws SQLException {
        if (!run.automaticDeploy()) {
            return "succeeded";
        }
        OptionalDouble deployed = deployedScore(run);
        Double score = result.metrics().get(scoreName(run.task()));
        if (deployed.isPresent() && (score == null || score <= deployed.getAsDouble())) {
            metrics.put("deployed", false);
            return "succeeded, not deployed: " + scoreName(run.task()) + " " + score + " is not above the deployed "
                    + deployed.getAsDouble();
        }
        Savepoint savepoint = connection.setSavepoint();
        try (Statement bound = connection.createStatement();
                PreparedStatement statement = connection.prepareStatement("SELECT * FROM ml.deploy(?::bigint)")) {
            bound.execute("SET LOCAL statement_timeout = '60s'");
            statement.setLong(1, modelId);
            statement.executeQuery().close();
            metrics.put("deployed", true);
            return "succeeded and deployed";
        } catch (SQLException e) {
            connection.rollback(savepoint);
            String reason = Objects.toString(e.getMessage(), "no reason given");
            LOG.warn("model cannot be deployed: runId={}, modelId={}, cause={}", run.runId(), modelId, reason);
            metrics.put("deployed", false);
            metrics.put("deploy-error", reason);
            return "succeeded, not deployed: " + reason.lines().findFirst().orElse(reason);
        }
    }

    private OptionalDouble deployedScore(Run run) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(DEPLOYED)) {
            statement.setLong(1, run.projectId());
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return OptionalDouble.empty();
                }
                @Nullable JsonNode score = JSON.readTree(row.getString(1)).get(scoreName(run.task()));
                // A deployed model without the metric is beaten by any that has it.
                return score != null && score.isNumber()
                        ? OptionalDouble.of(score.doubleValue())
                        : OptionalDouble.of(Double.NEGATIVE_INFINITY);
            } catch (JsonProcessingException e) {
                throw new SQLException("metrics of the deployed model must be JSON: projectId=" + run.projectId(), e);
            }
        }
    }

    /** The metric models of a task are compared by; larger is better. */
    static String scoreName(Task task) {
        return task == Task.CLASSIFICATION ? "f1" : "r2";
    }

    private void succeed(Run run, long modelId, ObjectNode metrics, String phase) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SUCCEED)) {
            statement.setString(1, phase);
            statement.setLong(2, modelId);
            statement.setString(3, metrics.toString());
            statement.setLong(4, run.runId());
            statement.executeUpdate();
        }
    }
}
