package io.millrace.train.job;

import org.apache.flink.api.common.accumulators.Accumulator;

/** An accumulator that holds the last text it was given; merging keeps one that has any. */
public final class LatestText implements Accumulator<String, String> {
    private static final long serialVersionUID = 1L;

    private String text = "";

    @Override
    public void add(String value) {
        text = value;
    }

    @Override
    public String getLocalValue() {
        return text;
    }

    @Override
    public void resetLocal() {
        text = "";
    }

    @Override
    public void merge(Accumulator<String, String> other) {
        if (text.isEmpty()) {
            text = other.getLocalValue();
        }
    }

    @Override
    @SuppressWarnings({"super", "MissingSuperCall"})
    public Accumulator<String, String> clone() {
        LatestText copy = new LatestText();
        copy.text = text;
        return copy;
    }
}
