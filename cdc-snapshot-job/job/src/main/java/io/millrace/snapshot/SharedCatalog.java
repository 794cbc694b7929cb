package io.millrace.snapshot;

import io.millrace.lake.Lake;
import io.millrace.lake.LakeConfig;
import java.lang.ref.Cleaner;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.flink.CatalogLoader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The sink's operators load a catalog each and close none, so every restart of the job would leave half a dozen database
 * connections behind, until the database has none left. Here all users in a process share one open lake, which counts them and is
 * closed with the last. The publisher says when it begins and ends. An operator cannot say when it ends, so each gets a stand-in of
 * its own, and is counted until nobody can reach that any more; so a catalog is never closed under an operator that is still at its
 * last commit, however long that takes.
 */
/** Gives every operator of this process the one catalog of a lake. */
public final class SharedCatalog implements CatalogLoader {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(SharedCatalog.class);
    private static final Cleaner CLEANER = Cleaner.create();

    private static final Map<LakeConfig, Shared> SHARED = new HashMap<>();

    private final LakeConfig config;

    public SharedCatalog(LakeConfig config) {
        this.config = config;
    }

    private static final class Shared {
        private final Lake lake;
        private int users;

        Shared(Lake lake) {
            this.lake = lake;
        }
    }

    /** The catalog, open for as long as the result can be reached. */
    @Override
    public Catalog loadCatalog() {
        Catalog catalog = hold().catalog();
        Catalog standIn = standIn(catalog);
        LakeConfig held = config;
        CLEANER.register(standIn, () -> release(held));
        return standIn;
    }

    /** Opens the lake when nobody has it open, and keeps it open until {@link #release}. */
    public Lake hold() {
        synchronized (SHARED) {
            Shared shared = SHARED.get(config);
            if (shared == null) {
                shared = new Shared(Lake.open(config));
                SHARED.put(config, shared);
            }
            shared.users++;
            return shared.lake;
        }
    }

    /** Undoes one {@link #hold}; the last one closes the lake. */
    public void release() {
        release(config);
    }

    private static void release(LakeConfig config) {
        synchronized (SHARED) {
            Shared shared = SHARED.get(config);
            if (shared == null || --shared.users > 0) {
                return;
            }
            SHARED.remove(config);
            try {
                shared.lake.close();
            } catch (RuntimeException e) {
                LOG.warn("catalog cannot be closed", e);
            }
        }
    }

    private static Catalog standIn(Catalog catalog) {
        return (Catalog) Proxy.newProxyInstance(
                catalog.getClass().getClassLoader(), interfaces(catalog.getClass()), (self, method, arguments) -> {
                    try {
                        return method.invoke(catalog, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause() == null ? e : e.getCause();
                    }
                });
    }

    /** What users look for in a catalog; all but closing it, which is not theirs to do. */
    private static Class<?>[] interfaces(Class<?> implementation) {
        Set<Class<?>> found = new LinkedHashSet<>();
        for (Class<?> type = implementation; type != null; type = type.getSuperclass()) {
            Arrays.stream(type.getInterfaces())
                    .filter(each -> !AutoCloseable.class.isAssignableFrom(each))
                    .forEach(found::add);
        }
        return found.toArray(Class<?>[]::new);
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
}
