package io.millrace.gateway.core;

import io.millrace.engine.Scorer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** Answers the first feature of each row, fails for a poisonous one, and can be held. Threads: any. */
public final class TestingScorer implements Scorer {
    /** A row that begins with it fails its batch. */
    public static final float POISON = 666;

    private final List<Integer> batches = Collections.synchronizedList(new ArrayList<>());
    private volatile @Nullable CountDownLatch entered;
    private volatile @Nullable CountDownLatch gate;
    private volatile Runnable onScore = () -> {};
    private volatile boolean closed;
    private volatile boolean broken;
    private volatile @Nullable Error widthError;

    /** Rows of each call so far. */
    public List<Integer> batches() {
        return List.copyOf(batches);
    }

    /** Holds the next calls until the returned latch opens; {@code entered} opens when one is inside. */
    public CountDownLatch hold(CountDownLatch newEntered) {
        CountDownLatch newGate = new CountDownLatch(1);
        entered = newEntered;
        gate = newGate;
        return newGate;
    }

    /** What happens in each call before it is held. */
    public void onScore(Runnable action) {
        onScore = action;
    }

    /** The next questions for the width end with an error. */
    void breakWidth(Error error) {
        widthError = error;
    }

    /** Fails every call until it is renewed. */
    void breakUntilRenewed() {
        broken = true;
    }

    @Override
    public boolean renew() {
        boolean renewed = broken;
        broken = false;
        return renewed;
    }

    public boolean isClosed() {
        return closed;
    }

    @Override
    public int width() {
        Error error = widthError;
        if (error != null) {
            throw error;
        }
        return 1;
    }

    @Override
    public int outputs() {
        return 1;
    }

    @Override
    public void score(float[] features, int rowCount, float[] out) {
        if (closed) {
            throw new IllegalStateException("scorer is closed");
        }
        onScore.run();
        CountDownLatch currentGate = gate;
        if (currentGate != null) {
            if (entered != null) {
                entered.countDown();
            }
            try {
                currentGate.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        batches.add(rowCount);
        if (broken) {
            throw new IllegalStateException("broken");
        }
        for (int row = 0; row < rowCount; row++) {
            if (features[row] == POISON) {
                throw new IllegalStateException("poison");
            }
            out[row] = features[row];
        }
    }

    @Override
    public long residentBytes() {
        return 1000;
    }

    @Override
    public void close() {
        closed = true;
    }
}
