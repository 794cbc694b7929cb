package io.millrace.train.job;

/** A piece of the snapshot on its way through the job. A plain object with public fields, as Flink serialises them. */
public final class SplitElement {
    /** Position among all splits, from 0. */
    public int index;
    /** Number of all splits. */
    public int count;
    /** The serialised {@link io.millrace.lake.SnapshotScan} split. */
    public byte[] split = new byte[0];
    /** JSON of the {@link io.millrace.train.matrix.SplitRule}; empty before it is known, and when the matrix is cached. */
    public String rule = "";

    public SplitElement() {}

    public SplitElement(int index, int count, byte[] split) {
        this.index = index;
        this.count = count;
        this.split = split;
    }

    boolean isLast() {
        return index + 1 == count;
    }
}
