package io.millrace.train.job;

import io.millrace.contract.ContractException;
import io.millrace.jobs.JobSettings;
import io.millrace.lake.Lake;
import io.millrace.lake.LakeConfig;
import io.millrace.lake.LakeRow;
import io.millrace.lake.LakeSplit;
import io.millrace.lake.SnapshotScan;
import io.millrace.train.spec.RunRefusedException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.CloseableIterable;

/** Reads splits of the run's snapshot, a few columns at a time, and says to which stratum each row belongs. */
final class SnapshotRows implements AutoCloseable {
    /** Rows between two looks at whether the task is cancelled. */
    private static final int INTERRUPT_ROWS = 1_000;

    private final Lake lake;
    private final Table table;

    SnapshotRows(TrainPlan plan) {
        JobSettings settings = new JobSettings(Path.of(plan.confDirectory()), Map.of());
        this.lake = Lake.open(LakeConfig.from(settings.file("lake"), settings.file("database")));
        try {
            this.table = lake.table(plan.lakeTable());
        } catch (RuntimeException e) {
            lake.close();
            throw e;
        }
    }

    Table table() {
        return table;
    }

    /** Does something with a row of the snapshot. */
    interface RowAction {
        void accept(LakeRow row) throws IOException;
    }

    /** Reads one split from its first row to its last; ends with an exception when the task is cancelled. */
    void forEach(byte[] split, List<String> columns, RowAction action) throws IOException, InterruptedException {
        int untilLook = INTERRUPT_ROWS;
        try (CloseableIterable<LakeRow> rows = SnapshotScan.open(table, split(split), columns)) {
            for (LakeRow row : rows) {
                accept(action, row);
                if (--untilLook == 0) {
                    untilLook = INTERRUPT_ROWS;
                    if (Thread.interrupted()) {
                        throw new InterruptedException("export is cancelled");
                    }
                }
            }
        }
    }

    private static void accept(RowAction action, LakeRow row) throws IOException {
        try {
            action.accept(row);
        } catch (ContractException e) {
            // The rows of a snapshot never change, so neither does what is wrong with one.
            throw RunRefusedException.of(e);
        }
    }

    @Override
    public void close() {
        lake.close();
    }

    private static LakeSplit split(byte[] bytes) throws IOException {
        try (ObjectInputStream in = new SplitInputStream(bytes)) {
            return (LakeSplit) in.readObject();
        } catch (ClassNotFoundException e) {
            throw new IOException("split must be readable here", e);
        }
    }

    /** Resolves classes where this class was loaded: a job's classes are not those of the thread's default loader. */
    private static final class SplitInputStream extends ObjectInputStream {
        private SplitInputStream(byte[] bytes) throws IOException {
            super(new ByteArrayInputStream(bytes));
        }

        @Override
        protected Class<?> resolveClass(java.io.ObjectStreamClass description)
                throws IOException, ClassNotFoundException {
            try {
                return Class.forName(description.getName(), false, SnapshotRows.class.getClassLoader());
            } catch (ClassNotFoundException e) {
                return super.resolveClass(description);
            }
        }
    }
}
