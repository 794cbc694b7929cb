package io.millrace.snapshot.publish;

import io.millrace.jobs.DatabaseConnections;
import io.millrace.lake.LakeConfig;
import io.millrace.snapshot.Change;
import io.millrace.snapshot.SnapshotConfig;
import io.millrace.snapshot.TableRoute;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Watches the change stream for snapshot requests and answers them. Runs in the source's own task, so that a checkpoint cuts
 * the log for both at the same place.
 *
 * <p>Parallelism 1: the log has one reader.
 */
public final class SnapshotPublisher extends ProcessFunction<Change, Void>
        implements CheckpointedFunction, CheckpointListener {
    private static final long serialVersionUID = 1L;
    private static final long IDLE_PULSE_MILLIS = 10_000;

    private final LakeConfig lake;
    private final SnapshotRows rows;
    private final HashMap<String, String> lakeTables;
    private final int threads;

    private transient Ledger ledger = new Ledger();
    private transient @Nullable ListState<String> state;
    private transient @Nullable PublishWorker worker;
    private transient String jobId = "";
    /** Tables that caught up, and the checkpoint that holds it; 0 until there is one. */
    private transient Map<String, Long> catchingUp = new HashMap<>();

    private transient OptionalLong restored = OptionalLong.empty();
    /** Read by the pulse's thread. */
    private transient volatile boolean hurry;

    public SnapshotPublisher(
            LakeConfig lake, DatabaseConnections database, SnapshotConfig settings, List<TableRoute> tables) {
        this.lake = lake;
        this.rows = new SnapshotRows(database);
        this.lakeTables = new HashMap<>();
        tables.forEach(table -> lakeTables.put(table.relation(), table.lakeTable()));
        this.threads = settings.publishThreads();
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        state = context.getOperatorStateStore()
                .getListState(new ListStateDescriptor<>("snapshot-requests", Types.STRING));
        ledger = new Ledger();
        for (String text : state.get()) {
            ledger = Ledger.parse(text);
        }
        restored = context.getRestoredCheckpointId();
    }

    @Override
    public void open(OpenContext context) {
        catchingUp = new HashMap<>();
        jobId = getRuntimeContext().getJobInfo().getJobId().toString();
        ledger.begin(jobId);
        ledger.keepTables(lakeTables.keySet());
        PublishWorker answering = new PublishWorker(lake, rows, lakeTables, ledger.runs(), threads);
        worker = answering;
        // A restored checkpoint was complete, whether or not the job lived to hear it.
        restored.ifPresent(checkpointId -> answering.answer(ledger.restoredFrom(checkpointId)));
        ledger.caughtUp().forEach(answering::announceStreaming);
        ledger.stale().forEach(answering::announceStale);
        answering.forgetSettled(ledger.waiting());
        refreshHurry();
        answering.pulse(IDLE_PULSE_MILLIS, () -> hurry);
    }

    @Override
    public void processElement(Change change, Context context, Collector<Void> out) {
        switch (change.kind()) {
            case ROW -> ledger.rowChanged(change.relation());
            case REQUEST -> requested(change);
            case STALE -> stale(change.relation());
            case CAUGHT_UP -> {
                ledger.caughtUp(change.relation(), change.lsn());
                if (ledger.hasCaughtUp(change.relation())) {
                    catchingUp.put(change.relation(), 0L);
                }
                refreshHurry();
            }
        }
    }

    private void requested(Change change) {
        ledger.requested(change.relation(), change.lsn(), change.requestId());
        if (!ledger.hasCaughtUp(change.relation()) && worker != null) {
            worker.announceLoading(change.requestId());
        }
    }

    private void stale(String relation) {
        ledger.stale(relation);
        catchingUp.remove(relation);
        if (worker != null) {
            worker.announceStale(relation);
        }
    }

    private void refreshHurry() {
        hurry = !lakeTables.keySet().stream().allMatch(ledger::hasCaughtUp);
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        if (worker != null) {
            worker.drainFinished().forEach(ledger::finished);
        }
        catchingUp.replaceAll((relation, checkpoint) -> checkpoint == 0 ? context.getCheckpointId() : checkpoint);
        ledger.checkpointTaken(new CommitMark(jobId, context.getCheckpointId()));
        if (state != null) {
            state.update(List.of(ledger.toJson()));
        }
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        List<PublishRequest> due = ledger.checkpointComplete(checkpointId);
        PublishWorker answering = worker;
        if (answering == null) {
            return;
        }
        answering.checkpointComplete();
        answering.answer(due);
        catchingUp.entrySet().removeIf(entry -> {
            boolean complete = entry.getValue() != 0 && entry.getValue() <= checkpointId;
            if (complete) {
                answering.announceStreaming(entry.getKey());
            }
            return complete;
        });
    }

    @Override
    public void close() throws Exception {
        if (worker != null) {
            worker.close();
        }
    }
}
