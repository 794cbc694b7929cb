package io.millrace.lake.statistics;

import org.apache.datasketches.hll.HllSketch;
import org.apache.datasketches.hll.Union;

/** How many distinct values there are, within about 2 percent; the hash has a fixed seed. */
public final class DistinctSketch {
    private static final int LOG_BUCKETS = 12;

    private HllSketch sketch = new HllSketch(LOG_BUCKETS);

    /** Adds a number. */
    public void add(double value) {
        sketch.update(value);
    }

    /** Adds a text. */
    public void add(String text) {
        sketch.update(text);
    }

    /** Adds what another has seen; the other stays as it is. */
    public void merge(DistinctSketch other) {
        Union union = new Union(LOG_BUCKETS);
        union.update(sketch);
        union.update(other.sketch);
        sketch = union.getResult();
    }

    /** The estimate. */
    public long estimate() {
        return Math.round(sketch.getEstimate());
    }
}
