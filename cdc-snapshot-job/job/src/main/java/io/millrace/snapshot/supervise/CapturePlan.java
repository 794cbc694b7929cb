package io.millrace.snapshot.supervise;

import io.millrace.snapshot.CapturedTables;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/*
 * The source takes new tables in only when it has finished loading the ones it has, and lets go of a table only then too. So a
 * change of the list waits for a running load, with one exception: a table that vanished while it was being loaded never finishes,
 * and everything starts again without it.
 *
 * A table that was released and asked for again in between has a gap in its log: it has to leave the job before it may come back.
 */
/**
 * Which tables the change job should have next.
 *
 * @param relations the tables of the next job, in order
 * @param restart whether the running job must make way for one with these tables
 * @param afresh whether that job starts without state and loads every table again
 */
record CapturePlan(List<String> relations, boolean restart, boolean afresh) {

    /**
     * Decides from what is wanted and what runs.
     *
     * @param rows {@code ml.captured_tables}
     * @param running the tables of the job that runs or ran last
     * @param loaded those of them whose initial load is known to be done
     */
    static CapturePlan of(List<CapturedTables.Row> rows, List<String> running, Set<String> loaded) {
        List<String> wanted = new ArrayList<>();
        Set<String> kept = new HashSet<>();
        boolean loading = false;
        for (CapturedTables.Row row : rows) {
            String relation = row.table().relation();
            boolean captured = running.contains(relation);
            boolean active = row.present()
                    && (row.status().equals("loading") || row.status().equals("streaming"));
            boolean joins = row.present() && row.status().equals("requested") && !captured;
            if (active || joins) {
                wanted.add(relation);
            }
            if (active && captured) {
                kept.add(relation);
                loading |= row.status().equals("loading");
            }
        }
        boolean lostWhileLoading =
                running.stream().anyMatch(relation -> !kept.contains(relation) && !loaded.contains(relation));
        if (lostWhileLoading) {
            return new CapturePlan(wanted, true, true);
        }
        if (loading) {
            return new CapturePlan(running, false, false);
        }
        return new CapturePlan(wanted, !Set.copyOf(wanted).equals(Set.copyOf(running)), false);
    }
}
