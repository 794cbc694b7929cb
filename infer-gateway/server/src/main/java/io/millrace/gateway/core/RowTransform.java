package io.millrace.gateway.core;

import io.millrace.contract.RowReader;
import io.millrace.contract.fitted.BoundTransform;
import io.millrace.contract.fitted.RawTransform;

/** Puts a caller's row into a batch, as the model takes it. Threads: any. */
@FunctionalInterface
interface RowTransform {
    /**
     * Writes a row where the batch's next one goes, see {@link Batch#positionCount}.
     *
     * @throws io.millrace.contract.ContractException if it is no row of the model's
     */
    void apply(RowReader row, Batch batch);

    /** Features into the matrix. */
    static RowTransform features(BoundTransform transform) {
        return (row, batch) -> transform.apply(row, batch.features(), batch.positionCount() * transform.width());
    }

    /** Columns as they are. */
    static RowTransform columns(RawTransform transform) {
        return (row, batch) -> transform.apply(row, batch.rawRows(), batch.positionCount());
    }
}
