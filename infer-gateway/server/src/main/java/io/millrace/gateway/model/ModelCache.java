package io.millrace.gateway.model;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.gateway.core.Models;
import io.millrace.gateway.core.ServedModel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
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
    private static final int KIB_SHIFT = 10;

    /** Models live on the heap. Two fifths for those that stay, two for the one that loads, one for all else. */
    private static final long HEAP_PARTS = 5;

    private static final long MODEL_PARTS = 2;

    private final ModelSource source;
    private final LoadObserver observer;
    private final Cache<Long, ServedModel> resident;
    private final long budgetKib;
    private final ThreadPoolExecutor loaders;
    /** Guarded by itself; also orders insertions. */
    private final Map<Long, List<Waiter>> loading = new HashMap<>();

    /**
     * An empty cache.
     *
     * @param budgetBytes memory of all resident models
     */
    public ModelCache(ModelSource source, long budgetBytes, LoadObserver observer) {
        this.source = source;
        this.observer = observer;
        this.budgetKib = budgetBytes >> KIB_SHIFT;
        this.resident = Caffeine.newBuilder()
                .maximumWeight(budgetKib)
                .weigher((Long key, ServedModel model) -> weightKib(model))
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
            observer.evicted();
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
