package io.millrace.snapshot;

import io.millrace.lake.Lake;
import io.millrace.lake.LakeConfig;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.flink.CatalogLoader;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The sink's operators load a catalog each and close none, so every restart of the job would leave half a dozen database
 * connections behind, until the database has none left. Here all operators of a process get the same catalog. The publisher holds
 * it while it runs; a while after the last holder is gone it is closed. The while lets a committer finish its last commit, and a
 * restarted job find the catalog still open.
 */
/** Gives every operator of this process the one catalog of a lake. */
public final class SharedCatalog implements CatalogLoader {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(SharedCatalog.class);
    private static final long LINGER_SECONDS = 60;

    private static final Map<LakeConfig, Holder> HOLDERS = new HashMap<>();

    private final LakeConfig config;

    public SharedCatalog(LakeConfig config) {
        this.config = config;
    }

    @Override
    public Catalog loadCatalog() {
        return lake().catalog();
    }

    /** The open lake; opened when it is not. */
    public Lake lake() {
        synchronized (HOLDERS) {
            return HOLDERS.computeIfAbsent(config, Holder::new).lake();
        }
    }

    /** Keeps the catalog open until {@link #release}. */
    public void hold() {
        synchronized (HOLDERS) {
            HOLDERS.computeIfAbsent(config, Holder::new).holders++;
        }
    }

    /** Lets the catalog be closed, a while after the last holder is gone. */
    public void release() {
        synchronized (HOLDERS) {
            Holder holder = HOLDERS.get(config);
            if (holder != null && --holder.holders == 0) {
                closeLater(holder, ++holder.generation);
            }
        }
    }

    private void closeLater(Holder holder, long generation) {
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "lake-catalog-close");
            thread.setDaemon(true);
            return thread;
        });
        var unused = timer.schedule(
                () -> {
                    closeIfUnused(holder, generation);
                    timer.shutdown();
                },
                LINGER_SECONDS,
                TimeUnit.SECONDS);
    }

    private void closeIfUnused(Holder holder, long generation) {
        synchronized (HOLDERS) {
            if (holder.holders == 0 && holder.generation == generation) {
                HOLDERS.remove(config);
                holder.close();
            }
        }
    }

    @Override
    @SuppressWarnings({"MethodDoesntCallSuperMethod", "checkstyle:NoClone"})
    public CatalogLoader clone() {
        return new SharedCatalog(config);
    }

    @Override
    public String toString() {
        return "SharedCatalog[" + config + "]";
    }

    private static final class Holder {
        private final LakeConfig config;
        private int holders;
        private long generation;
        private @Nullable Lake lake;

        Holder(LakeConfig config) {
            this.config = config;
        }

        Lake lake() {
            Lake open = lake;
            if (open == null) {
                open = Lake.open(config);
                lake = open;
            }
            return open;
        }

        void close() {
            if (lake != null) {
                try {
                    lake.close();
                } catch (RuntimeException e) {
                    LOG.warn("catalog cannot be closed", e);
                }
            }
        }
    }
}
