package io.millrace.gateway.http;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an infer request says.
 *
 * @param id to be repeated in the answer; null for none
 * @param timeoutMillis 0 for none
 * @param nullOnError whether a row that cannot be predicted is answered null instead of failing the request
 * @param outputs at least one
 */
record InferBody(
        @Nullable String id, long timeoutMillis, boolean nullOnError, List<WantedOutput> outputs, TensorRows rows) {

    /** An output that can be asked for; its name is that in lower case. */
    enum Output {
        PREDICTION,
        PROBABILITIES,
        LABEL
    }

    /** An output that is asked for. */
    record WantedOutput(Output output, boolean binary) {}
}
