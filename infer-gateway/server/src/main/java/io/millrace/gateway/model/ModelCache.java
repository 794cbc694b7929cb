package io.millrace.gateway.model;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import com.github.benmanes.caffeine.cache.Ticker;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.gateway.core.Models;
import io.millrace.gateway.core.ServedModel;
import io.millrace.gateway.model.Residents.Resident;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * A model is named by its content, so a new version is a new key: it loads and warms beside the old one, and callers
 * flip by asking for it. The old one is not touched; it cools and is dropped when room is needed. A load that fails
 * leaves the cache as it was.
 *
 * The cache's own admission would keep a hot old model and throw out a new one that was never asked for yet, which is
 * the wrong way round for a deploy. So room is made first, coldest models out, and then the new one goes in.
 */
/** Resident models by bytes. Threads: any. */
public final class ModelCache implements Models, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ModelCache.class);
    /** One: what a load needs for a while is bounded by the budget once, not twice. */
    private static final int LOADER_COUNT = 1;

    private static final int WAITING_LOADS_MAX = 64;
    private static final long USE_STEP_MILLIS = 60_000;
    private static final int KIB_SHIFT = 10;

    /** Models live on the heap. Two fifths for those that stay, two for the one that loads, one for all else. */
    private static final long HEAP_PARTS = 5;

    private static final long MODEL_PARTS = 2;

    private final ModelSource source;
    private final LoadObserver observer;
    private final Residents residents;
    /** Those in memory, as {@link Residents} last heard of them. */
    private final Map<Long, Resident> recorded = new ConcurrentHashMap<>();

    private final Cache<Long, ServedModel> resident;
    private final long budgetKib;
    private final ThreadPoolExecutor loaders;
    /** Guarded by itself; also orders insertions. */
    private final Map<Long, List<Waiter>> loading = new HashMap<>();

    private final Ticker ticker;
    private final long startNanos;
    private final long startMillis = System.currentTimeMillis();
    private volatile boolean closing;

    /**
     * An empty cache.
     *
     * @param budgetBytes memory of all resident models
     * @param residents told of every model that comes, is used, or goes
     */
    public ModelCache(ModelSource source, long budgetBytes, LoadObserver observer, Residents residents) {
        this(source, budgetBytes, observer, residents, Ticker.systemTicker());
    }

    /** As above, with another clock. */
    ModelCache(ModelSource source, long budgetBytes, LoadObserver observer, Residents residents, Ticker ticker) {
        this.ticker = ticker;
        this.startNanos = ticker.read();
        this.source = source;
        this.observer = observer;
        this.residents = residents;
        this.budgetKib = budgetBytes >> KIB_SHIFT;
        this.resident = Caffeine.newBuilder()
                .maximumWeight(budgetKib)
                .weigher((Long key, ServedModel model) -> weightKib(model))
                // Nothing expires; this makes the cache remember when each model was last used.
                .expireAfterAccess(Duration.ofDays(36_500))
                .ticker(ticker)
                .executor(Runnable::run)
                .removalListener(this::removed)
                .build();
        this.loaders = new ThreadPoolExecutor(
                LOADER_COUNT,
                LOADER_COUNT,
                10,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(WAITING_LOADS_MAX),
                task -> new Thread(task, "loader"));
        loaders.allowCoreThreadTimeOut(true);
    }

    /**
     * Memory that models may really have.
     *
     * @param configuredBytes what the configuration allows
     * @param heapBytes largest size of the heap
     */
    public static long budgetBytes(long configuredBytes, long heapBytes) {
        long limitBytes = heapBytes / HEAP_PARTS * MODEL_PARTS;
        if (configuredBytes > limitBytes) {
            log.warn(
                    "memory for models is limited by the heap: cacheBytes={}, heapBytes={}, budgetBytes={}",
                    configuredBytes,
                    heapBytes,
                    limitBytes);
        }
        return Math.min(configuredBytes, limitBytes);
    }

    /** Weights are ints; kibibytes allow 2 TiB. Rounded up. */
    private static int weightKib(ServedModel model) {
        return (int) Math.min(Integer.MAX_VALUE, (model.bytes() >> KIB_SHIFT) + 1);
    }

    private void removed(@Nullable Long key, @Nullable ServedModel model, RemovalCause cause) {
        if (model != null) {
            log.info(
                    "model leaves memory: model={}, modelKey={}, bytes={}, cause={}",
                    model.name(),
                    Long.toHexString(model.key()),
                    model.bytes(),
                    cause);
            observer.evicted(model.name());
            // Those that are in memory at the end are wanted at the next start.
            if (!closing && recorded.remove(model.key()) != null) {
                residents.remove(model.key());
            }
            model.release();
        }
    }

    @Override
    public @Nullable ServedModel acquire(long modelKey) {
        ServedModel model = resident.getIfPresent(modelKey);
        return model != null && model.acquire() ? model : null;
    }

    @Override
    public void load(long modelKey, ModelReference reference, Waiter waiter) {
        ServedModel present = acquire(modelKey);
        if (present != null) {
            waiter.loaded(present);
            return;
        }
        synchronized (loading) {
            List<Waiter> waiters = loading.get(modelKey);
            if (waiters != null) {
                waiters.add(waiter);
                return;
            }
            loading.put(modelKey, new ArrayList<>(List.of(waiter)));
        }
        try {
            loaders.execute(() -> run(modelKey, reference));
        } catch (RejectedExecutionException e) {
            tell(
                    modelKey,
                    null,
                    new ContractException(
                            ErrorCode.QUEUE_FULL,
                            "too many models are being loaded: waitingLoads="
                                    + loaders.getQueue().size() + ", limit=" + WAITING_LOADS_MAX,
                            e));
        }
    }

    private void run(long modelKey, ModelReference reference) {
        long start = System.nanoTime();
        ServedModel model = null;
        ContractException failure = null;
        try {
            model = source.load(modelKey, reference);
            insert(model);
            record(new Resident(reference, model.bytes(), nowMillis()));
        } catch (ContractException e) {
            failure = e;
        } catch (RuntimeException | Error e) {
            failure = new ContractException(ErrorCode.INTERNAL, "model load failed: reason=" + e, e);
        }
        try {
            report(modelKey, reference, model, failure, System.nanoTime() - start);
        } finally {
            tell(modelKey, model, failure);
        }
        if (failure != null && failure.getCause() instanceof VirtualMachineError fatal) {
            throw fatal;
        }
    }

    /** Milliseconds since 1970. */
    private long nowMillis() {
        return startMillis + TimeUnit.NANOSECONDS.toMillis(ticker.read() - startNanos);
    }

    private void record(Resident resident) {
        recorded.put(resident.reference().modelKey(), resident);
        residents.put(resident);
    }

    /** Tells {@link Residents} which models were used since they last heard, in steps of a minute; call it now and then. */
    public void recordUse() {
        Policy.FixedExpiration<Long, ServedModel> uses =
                resident.policy().expireAfterAccess().orElseThrow();
        for (Resident known : List.copyOf(recorded.values())) {
            long modelKey = known.reference().modelKey();
            long usedMillis =
                    nowMillis() - uses.ageOf(modelKey, TimeUnit.MILLISECONDS).orElse(0);
            if (usedMillis - known.usedMillis() > USE_STEP_MILLIS) {
                Resident used = new Resident(known.reference(), known.bytes(), usedMillis);
                if (recorded.replace(modelKey, known, used)) {
                    residents.put(used);
                }
            }
        }
    }

    /**
     * Loads and warms the models that were in memory when the last process ended, those used last first, and returns when
     * they are ready. One that cannot be loaded is forgotten.
     *
     * @param limit longest time to wait; what is not ready by then is loaded when it is asked for
     */
    public void restore(Duration limit) {
        List<Resident> known = new ArrayList<>(residents.all());
        known.sort(Comparator.comparingLong(Resident::usedMillis).reversed());
        long end = System.nanoTime() + limit.toNanos();
        long room = budgetKib << KIB_SHIFT;
        int restored = 0;
        for (Resident resident : known) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                break;
            }
            if (resident.bytes() <= room && restore(resident, left)) {
                room -= resident.bytes();
                restored++;
            }
        }
        if (!known.isEmpty()) {
            log.info("models of the last run are in memory: models={}, known={}", restored, known.size());
        }
    }

    private boolean restore(Resident resident, long timeoutNanos) {
        long modelKey = resident.reference().modelKey();
        CompletableFuture<Boolean> loaded = new CompletableFuture<>();
        load(modelKey, resident.reference(), new Waiter() {
            @Override
            public void loaded(ServedModel model) {
                model.release();
                loaded.complete(true);
            }

            @Override
            public void failed(ContractException failure) {
                log.warn(
                        "model of the last run cannot be loaded and is forgotten: modelId={}, project={}, reason={}",
                        resident.reference().modelId(),
                        resident.reference().project(),
                        failure.getMessage());
                residents.remove(modelKey);
                loaded.complete(false);
            }
        });
        try {
            return loaded.get(timeoutNanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            log.warn(
                    "models of the last run take too long to load: modelId={}",
                    resident.reference().modelId());
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    private void report(
            long modelKey,
            ModelReference reference,
            @Nullable ServedModel model,
            @Nullable ContractException failure,
            long durationNanos) {
        if (failure != null && failure.code() == ErrorCode.INTERNAL) {
            log.error("model load failed: modelKey={}", Long.toHexString(modelKey), failure);
        }
        observer.loaded(failure == null ? ErrorCode.OK : failure.code(), durationNanos);
        log.info(
                "model load ends: modelId={}, project={}, modelKey={}, code={}, reason={}, bytes={}, durationMillis={}",
                reference.modelId(),
                reference.project(),
                Long.toHexString(modelKey),
                failure == null ? ErrorCode.OK : failure.code(),
                failure == null ? "" : failure.getMessage(),
                model == null ? 0 : model.bytes(),
                TimeUnit.NANOSECONDS.toMillis(durationNanos));
    }

    private void insert(ServedModel model) {
        int weight = weightKib(model);
        Policy.Eviction<Long, ServedModel> eviction =
                resident.policy().eviction().orElseThrow();
        synchronized (loading) {
            resident.cleanUp();
            while (eviction.weightedSize().orElse(0) + weight > budgetKib && resident.estimatedSize() > 0) {
                resident.invalidateAll(List.copyOf(eviction.coldest(1).keySet()));
                resident.cleanUp();
            }
            // Its waiters still need it, whatever the cache does.
            model.acquire();
            observer.resident(model.name());
            resident.put(model.key(), model);
        }
    }

    private void tell(long modelKey, @Nullable ServedModel model, @Nullable ContractException failure) {
        List<Waiter> waiters;
        synchronized (loading) {
            waiters = loading.remove(modelKey);
        }
        for (Waiter waiter : waiters == null ? List.<Waiter>of() : waiters) {
            try {
                if (failure != null) {
                    waiter.failed(failure);
                } else if (model != null && model.acquire()) {
                    waiter.loaded(model);
                }
            } catch (RuntimeException | Error e) {
                log.error("waiter of a load failed: modelKey={}", Long.toHexString(modelKey), e);
            }
        }
        if (model != null && failure == null) {
            model.release();
        }
    }

    /** Drops a model, if it is resident; requests that it has are still answered. */
    public void unload(long modelKey) {
        synchronized (loading) {
            resident.invalidate(modelKey);
            resident.cleanUp();
        }
    }

    @Override
    public int residentCount() {
        return (int) resident.estimatedSize();
    }

    /** Memory of the resident models; bytes. */
    public long residentBytes() {
        return resident.policy().eviction().orElseThrow().weightedSize().orElse(0) << KIB_SHIFT;
    }

    /** Waits for the loads that run, refuses the others, and drops every model. */
    @Override
    public void close() {
        recordUse();
        closing = true;
        loaders.shutdownNow();
        try {
            if (!loaders.awaitTermination(30, TimeUnit.SECONDS)) {
                log.warn("model load does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        List<Long> forgotten;
        synchronized (loading) {
            forgotten = List.copyOf(loading.keySet());
        }
        for (long modelKey : forgotten) {
            tell(modelKey, null, new ContractException(ErrorCode.SHUTTING_DOWN, "gateway is shutting down"));
        }
        resident.invalidateAll();
        resident.cleanUp();
    }
}
