package io.millrace.gateway.core;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ImportAnswer;
import java.util.function.BooleanSupplier;

/** Takes model files from elsewhere into the store. Threads: any. */
@FunctionalInterface
public interface Importer {
    /** Imports nothing. */
    Importer NONE = (document, wanted, deadlineNanos, waiter) ->
            waiter.failed(new ContractException(ErrorCode.UNSUPPORTED_KIND, "models cannot be imported here"));

    /** Who waits for an import; exactly one of the two is called, once, on a thread of the importer. */
    interface Waiter {
        /** The package is in the store. */
        void imported(ImportAnswer answer);

        /** Nothing was made of it. */
        void failed(ContractException failure);
    }

    /**
     * Imports in the background; returns at once.
     *
     * @param document an {@link io.millrace.contract.envelope.ImportRequest}
     * @param wanted whether the caller still waits; asked now and then
     * @param deadlineNanos of the pipeline's clock
     */
    void take(byte[] document, BooleanSupplier wanted, long deadlineNanos, Waiter waiter);
}
