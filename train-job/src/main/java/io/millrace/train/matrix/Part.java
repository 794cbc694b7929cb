package io.millrace.train.matrix;

import java.util.Locale;

/** The parts of a split. */
public enum Part {
    TRAIN,
    VALIDATION,
    TEST;

    /** Name of a shard's directory. */
    public String shard(int index) {
        return name().toLowerCase(Locale.ROOT) + "-" + index;
    }
}
