package io.millrace.train.run;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.millrace.contract.Task;
import io.millrace.train.spec.Comparison;
import io.millrace.train.spec.TrainResult;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
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

    private static final String DEPLOYED_BEFORE = """
            SELECT d.model_id FROM ml.deployments d WHERE d.project_id = ? AND d.model_id <> ?
            ORDER BY d.deployment_id DESC LIMIT 1
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
     * Records the model, deploys it if it beat the deployed one on its test rows, and ends the run.
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
        Comparison compared = result.deployed();
        if (compared != null) {
            describe(compared, run.task(), metrics);
        }
        if (!run.automaticDeploy()) {
            return "succeeded";
        }
        Optional<String> refusal = refusal(run, compared, result.metrics());
        if (refusal.isEmpty()) {
            refusal = deploy(run, compared, modelId, metrics);
        }
        metrics.put("deployed", refusal.isEmpty());
        return refusal.map(reason -> "succeeded, not deployed: " + reason).orElse("succeeded and deployed");
    }

    private static void describe(Comparison compared, Task task, ObjectNode metrics) {
        metrics.put("deployed-model-id", compared.modelId());
        if (compared.outcome() == Comparison.Outcome.SCORED) {
            metrics.put("deployed-" + Comparison.scoreName(task), compared.score());
        } else {
            metrics.put("deployed-model-error", compared.reason());
        }
    }

    /*
     * The rule: a model is deployed by itself when it beats the deployed one on the same test rows, or when that one cannot
     * answer such rows at all. What could not be compared is not deployed.
     */

    /** Why the model is not to be deployed by itself; empty if it is. */
    private static Optional<String> refusal(Run run, @Nullable Comparison compared, Map<String, Double> metrics) {
        if (compared == null || compared.outcome() == Comparison.Outcome.UNFIT) {
            return Optional.empty();
        }
        if (compared.outcome() == Comparison.Outcome.UNKNOWN) {
            return Optional.of(
                    "it cannot be compared with deployed model " + compared.modelId() + ": " + compared.reason());
        }
        String name = Comparison.scoreName(run.task());
        Double score = metrics.get(name);
        return score != null && score > compared.score()
                ? Optional.empty()
                : Optional.of(name + " " + score + " is not above the " + compared.score() + " of deployed model "
                        + compared.modelId() + " on the same test rows");
    }

    /** Deploys in a savepoint; answers why it was not possible. */
    private Optional<String> deploy(Run run, @Nullable Comparison compared, long modelId, ObjectNode metrics)
            throws SQLException {
        Savepoint savepoint = connection.setSavepoint();
        try (Statement bound = connection.createStatement();
                PreparedStatement statement = connection.prepareStatement("SELECT * FROM ml.deploy(?::bigint)")) {
            bound.execute("SET LOCAL statement_timeout = '60s'");
            statement.setLong(1, modelId);
            statement.executeQuery().close();
        } catch (SQLException e) {
            connection.rollback(savepoint);
            String reason = Objects.toString(e.getMessage(), "no reason given");
            LOG.warn("model cannot be deployed: runId={}, modelId={}, cause={}", run.runId(), modelId, reason);
            metrics.put("deploy-error", reason);
            return Optional.of(reason.lines().findFirst().orElse(reason));
        }
        // Asked after deploying, which lets only one transaction at a time deploy in a project: nothing changes any
        // more.
        OptionalLong before = deployedBefore(run, modelId);
        if (before.isPresent() && (compared == null || compared.modelId() != before.getAsLong())) {
            connection.rollback(savepoint);
            return Optional.of("model " + before.getAsLong() + " was deployed while this one was trained");
        }
        return Optional.empty();
    }

    private OptionalLong deployedBefore(Run run, long modelId) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(DEPLOYED_BEFORE)) {
            statement.setLong(1, run.projectId());
            statement.setLong(2, modelId);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? OptionalLong.of(row.getLong(1)) : OptionalLong.empty();
            }
        }
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
