package io.millrace.gateway.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.gateway.core.Models;
import io.millrace.gateway.core.ServedModel;
import io.millrace.gateway.core.TestingScorer;
import io.millrace.gateway.core.TestingServedModels;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ModelCacheTest {
    private static final long MIB = 1 << 20;
    private static final long BROKEN = 99;
    private static final long DEEP = 98;

    private final Map<Long, TestingScorer> scorers = new ConcurrentHashMap<>();
    private final AtomicLong now = new AtomicLong();
    private final TestingResidents residents = new TestingResidents();
    private final AtomicInteger loadCount = new AtomicInteger();
    private final ModelCache cache = new ModelCache(this::load, 10 * MIB, LoadObserver.NONE, residents, now::get);

    /** Three mebibytes each. */
    private ServedModel load(long key, ModelReference reference) {
        loadCount.incrementAndGet();
        if (key == BROKEN) {
            throw new ContractException(ErrorCode.CORRUPT_PACKAGE, "package is broken");
        }
        if (key == DEEP) {
            throw new StackOverflowError("package is deep");
        }
        TestingScorer scorer = new TestingScorer();
        scorers.put(key, scorer);
        return TestingServedModels.regression(key, scorer, 3 * MIB, 10);
    }

    @AfterEach
    void everyScorerIsClosedInTheEnd() {
        cache.close();
        assertThat(scorers.values()).allMatch(TestingScorer::isClosed);
    }

    /** Its digest begins with the key, as the bytes of a little-endian number. */
    private static ModelReference reference(long key) {
        String sha256 = String.format("%016x", Long.reverseBytes(key)) + "ab".repeat(24);
        return new ModelReference(key, "p", "d", "store:d/1/1-1", sha256, 1);
    }

    private CompletableFuture<ServedModel> ask(long key) {
        return ask(cache, key);
    }

    private static CompletableFuture<ServedModel> ask(ModelCache cache, long key) {
        CompletableFuture<ServedModel> result = new CompletableFuture<>();
        ModelReference reference = reference(key);
        cache.load(key, reference, new Models.Waiter() {
            @Override
            public void loaded(ServedModel model) {
                result.complete(model);
            }

            @Override
            public void failed(ContractException failure) {
                result.completeExceptionally(failure);
            }
        });
        return result;
    }

    private ServedModel resident(long key) throws Exception {
        ServedModel model = ask(key).get(30, TimeUnit.SECONDS);
        model.release();
        return model;
    }

    @Test
    void aLoadedModelIsFoundAndAnUnknownOneIsNot() throws Exception {
        assertThat(cache.acquire(1)).isNull();
        ServedModel model = resident(1);
        ServedModel found = cache.acquire(1);
        assertThat(found).isSameAs(model);
        model.release();
        assertThat(cache.residentCount()).isEqualTo(1);
        assertThat(cache.residentBytes()).isBetween(3 * MIB, 4 * MIB);
    }

    @Test
    void theHeapLimitsWhatTheConfigurationAllows() {
        assertThat(ModelCache.budgetBytes(100, 1000)).isEqualTo(100);
        assertThat(ModelCache.budgetBytes(401, 1000)).isEqualTo(400);
    }

    @Test
    void aSecondAskerDoesNotLoadAgain() throws Exception {
        resident(1);
        resident(1);
        assertThat(loadCount).hasValue(1);
    }

    @Test
    void aFailedLoadChangesNothing() throws Exception {
        resident(1);
        CompletableFuture<ServedModel> broken = ask(BROKEN);
        try {
            broken.get(30, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(ContractException.class).hasMessageContaining("package is broken");
        }
        assertThat(broken).isCompletedExceptionally();
        assertThat(cache.acquire(BROKEN)).isNull();
        ServedModel still = cache.acquire(1);
        assertThat(still).isNotNull();
        if (still != null) {
            still.release();
        }
    }

    @Test
    void anErrorOfTheVirtualMachineIsToldAndTheNextLoadTriesAgain() throws Exception {
        for (int attempt = 1; attempt <= 3; attempt++) {
            CompletableFuture<ServedModel> deep = ask(DEEP);
            assertThatThrownBy(() -> deep.get(30, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(ContractException.class)
                    .hasMessageContaining("package is deep");
            // A key that is told is forgotten first, so each attempt loads anew.
            assertThat(loadCount).hasValue(attempt);
        }
        assertThat(resident(1).key()).isEqualTo(1);
    }

    @Test
    void closingTellsTheLoadsThatWait() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        ModelCache slow = new ModelCache(
                (key, reference) -> {
                    try {
                        gate.await();
                    } catch (InterruptedException e) {
                        throw new ContractException(ErrorCode.SHUTTING_DOWN, "load is interrupted", e);
                    }
                    return load(key, reference);
                },
                10 * MIB,
                LoadObserver.NONE,
                Residents.NONE);
        List<CompletableFuture<ServedModel>> asked = new ArrayList<>();
        for (long key = 1; key <= 5; key++) {
            asked.add(ask(slow, key));
        }
        slow.close();
        assertThat(asked).allMatch(CompletableFuture::isCompletedExceptionally);
    }

    @Test
    void theObserverHearsOfEachModelThatComesAndLeaves() throws Exception {
        List<String> heard = Collections.synchronizedList(new ArrayList<>());
        LoadObserver observer = new LoadObserver() {
            @Override
            public void loaded(ErrorCode code, long durationNanos) {}

            @Override
            public void resident(String model) {
                heard.add("resident " + model);
            }

            @Override
            public void evicted(String model) {
                heard.add("evicted " + model);
            }
        };
        ModelCache observed = new ModelCache(this::load, 5 * MIB, observer, Residents.NONE);
        for (long key = 1; key <= 2; key++) {
            ask(observed, key).get(30, TimeUnit.SECONDS).release();
        }
        observed.close();
        assertThat(heard).containsExactly("resident model-1", "evicted model-1", "resident model-2", "evicted model-2");
    }

    @Test
    void aNewModelAlwaysGetsInAndTheColdestLeaves() throws Exception {
        for (long key = 1; key <= 3; key++) {
            resident(key);
        }
        for (int i = 0; i < 100; i++) {
            for (long key : new long[] {1, 3}) {
                ServedModel hot = cache.acquire(key);
                if (hot != null) {
                    hot.release();
                }
            }
        }
        resident(4);
        assertThat(cache.residentCount()).isEqualTo(3);
        assertThat(scorers.get(2L)).isNotNull().matches(TestingScorer::isClosed);
        assertThat(cache.acquire(2)).isNull();
        ServedModel fresh = cache.acquire(4);
        assertThat(fresh).isNotNull();
        if (fresh != null) {
            fresh.release();
        }
    }

    @Test
    void anEvictedModelIsFreedAfterItsLastAnswer() throws Exception {
        ServedModel inUse = ask(1).get(30, TimeUnit.SECONDS);
        for (long key = 2; key <= 4; key++) {
            resident(key);
            resident(key);
        }
        assertThat(cache.acquire(1)).isNull();
        assertThat(scorers.get(1L)).isNotNull().matches(scorer -> !scorer.isClosed());
        inUse.release();
        assertThat(scorers.get(1L)).isNotNull().matches(TestingScorer::isClosed);
        assertThat(inUse.acquire()).isFalse();
    }

    @Test
    void remembersTheModelsInMemoryAndForgetsTheOthers() throws Exception {
        for (long key = 1; key <= 4; key++) {
            resident(key);
        }
        assertThat(residents.known()).hasSize(3).containsKey(4L);
        cache.close();
        assertThat(residents.known()).as("a stop forgets nothing").hasSize(3);
    }

    @Test
    void restoresTheModelsUsedLastAndForgetsTheBroken() throws Exception {
        residents.put(new Residents.Resident(reference(1), 3 * MIB, 100));
        residents.put(new Residents.Resident(reference(2), 3 * MIB, 500));
        residents.put(new Residents.Resident(reference(BROKEN), 3 * MIB, 400));
        residents.put(new Residents.Resident(reference(3), 3 * MIB, 300));
        residents.put(new Residents.Resident(reference(4), 3 * MIB, 200));
        cache.restore(Duration.ofSeconds(30));
        assertThat(scorers).containsOnlyKeys(2L, 3L, 4L);
        assertThat(residents.known()).doesNotContainKey(BROKEN).containsKey(1L);
        loadCount.set(0);
        resident(2);
        assertThat(loadCount).hasValue(0);
    }

    @Test
    void aRestoreWithoutTimeLoadsNothing() {
        residents.put(new Residents.Resident(reference(1), 3 * MIB, 100));
        cache.restore(Duration.ZERO);
        assertThat(loadCount).hasValue(0);
        assertThat(residents.known()).containsKey(1L);
    }

    @Test
    void useIsRecordedInStepsOfAMinute() throws Exception {
        resident(1);
        resident(2);
        long first = usedMillis(1);
        now.addAndGet(TimeUnit.SECONDS.toNanos(60));
        resident(1);
        cache.recordUse();
        assertThat(usedMillis(1)).isEqualTo(first);
        now.addAndGet(TimeUnit.SECONDS.toNanos(540));
        resident(1);
        now.addAndGet(TimeUnit.SECONDS.toNanos(100));
        cache.recordUse();
        assertThat(usedMillis(1)).isEqualTo(first + 600_000);
        assertThat(usedMillis(2)).isEqualTo(first);
    }

    private long usedMillis(long key) {
        Residents.Resident resident = residents.known().get(key);
        return resident == null ? 0 : resident.usedMillis();
    }

    /** Residents in a map. */
    private static final class TestingResidents implements Residents {
        private final Map<Long, Resident> known = new ConcurrentHashMap<>();

        Map<Long, Resident> known() {
            return known;
        }

        @Override
        public List<Resident> all() {
            return List.copyOf(known.values());
        }

        @Override
        public void put(Resident resident) {
            known.put(resident.reference().modelKey(), resident);
        }

        @Override
        public void remove(long modelKey) {
            known.remove(modelKey);
        }
    }
}
