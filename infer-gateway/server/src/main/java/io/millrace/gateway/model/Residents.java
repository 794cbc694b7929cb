package io.millrace.gateway.model;

import io.millrace.contract.envelope.ModelReference;
import java.util.List;

/** Which models are in memory, remembered for the next start. Threads: any. */
public interface Residents {
    /** Remembers nothing. */
    Residents NONE = new Residents() {
        @Override
        public List<Resident> all() {
            return List.of();
        }

        @Override
        public void put(Resident resident) {}

        @Override
        public void remove(long modelKey) {}
    };

    /**
     * One model.
     *
     * @param bytes of memory
     * @param usedMillis when it was last asked for, about; milliseconds since 1970
     */
    record Resident(ModelReference reference, long bytes, long usedMillis) {}

    /** Those of the last run, in no order. */
    List<Resident> all();

    /** A model is in memory, or was used. */
    void put(Resident resident);

    /** A model is not in memory any more. */
    void remove(long modelKey);
}
