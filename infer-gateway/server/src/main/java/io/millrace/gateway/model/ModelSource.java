package io.millrace.gateway.model;

import io.millrace.contract.envelope.ModelReference;
import io.millrace.gateway.core.ServedModel;

/** Makes a model ready to serve. Threads: any. */
@FunctionalInterface
public interface ModelSource {
    /**
     * Fetches, verifies, loads and warms a model; takes as long as it takes.
     *
     * @param key the model's key
     * @return a model with one reference, the caller's
     * @throws io.millrace.contract.ContractException why it cannot be served; nothing is left behind
     */
    ServedModel load(long key, ModelReference reference);
}
