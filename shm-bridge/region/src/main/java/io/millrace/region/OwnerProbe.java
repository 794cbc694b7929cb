package io.millrace.region;

/** Tells whether the process that owns a slot still exists. */
public interface OwnerProbe {
    /** The process table of this machine. Gateway and database must share one process namespace. */
    OwnerProbe PROCESS_TABLE = ProcessTable::startTicks;

    /** No such process. */
    long GONE = -1;

    /** The process exists, but when it started cannot be read. */
    long UNKNOWN = 0;

    /**
     * When a process started, which tells it from a later one with the same pid.
     *
     * @param pid of the process
     * @return its start time in clock ticks since boot, {@link #UNKNOWN} or {@link #GONE}
     */
    long startTicks(int pid);
}
