package io.millrace.gateway.core;

import io.millrace.contract.ContractException;
import io.millrace.contract.envelope.ModelReference;
import org.jspecify.annotations.Nullable;

/** Where the pipeline finds models. Threads: any. */
public interface Models {
    /** Who waits for a load; exactly one of the two is called, on a thread of the loader. */
    interface Waiter {
        /** The model is resident; the callee owns one reference to it. */
        void loaded(ServedModel model);

        /** It cannot be loaded; whatever was resident still is. */
        void failed(ContractException failure);
    }

    /** A resident model with a reference the caller must give back; null when it is not resident. */
    @Nullable
    ServedModel acquire(long modelKey);

    /**
     * Makes a model resident in the background; returns at once.
     *
     * @param modelKey what the caller calls it; must be the key of the reference's SHA-256
     */
    void load(long modelKey, ModelReference reference, Waiter waiter);

    /** Resident models. */
    int residentCount();
}
