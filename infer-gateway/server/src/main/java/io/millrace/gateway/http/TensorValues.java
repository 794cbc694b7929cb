package io.millrace.gateway.http;

import io.millrace.contract.TextLevels;

/** The values of one input, by position in row-major order; the typed call must match the datatype. Threads: one. */
abstract class TensorValues {
    abstract boolean isNull(int index);

    abstract boolean booleanValue(int index);

    abstract long int64(int index);

    abstract double float64(int index);

    abstract String text(int index);

    abstract int level(int index, TextLevels levels);
}
