package io.millrace.train.child;

import io.millrace.contract.ContractException;
import io.millrace.store.ModelStore;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Packages that attempts published and no model refers to: of runs that were cancelled or lost between the two. Deleting
 * what is not there is no failure, so the same ones may be named again.
 */
final class Leftovers {
    private static final Logger LOG = LoggerFactory.getLogger(Leftovers.class);
    /** The run whose child this is waits for it. */
    private static final long LIMIT_NANOS = Duration.ofSeconds(10).toNanos();

    private final List<String> uris;

    Leftovers(List<String> uris) {
        this.uris = uris;
    }

    /** Deletes them, for a bounded time; what is left, or cannot be deleted now, is named to a later run. */
    void delete(ModelStore store) {
        long deadline = System.nanoTime() + LIMIT_NANOS;
        for (String uri : uris) {
            if (System.nanoTime() - deadline > 0) {
                return;
            }
            try {
                store.delete(uri);
            } catch (ContractException e) {
                LOG.warn("package of an unfinished attempt cannot be deleted: uri={}, cause={}", uri, e.getMessage());
                return;
            }
        }
    }
}
