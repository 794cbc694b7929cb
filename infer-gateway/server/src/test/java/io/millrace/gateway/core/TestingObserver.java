package io.millrace.gateway.core;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.RequestKind;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts what tests ask for; they override what they want to hear. */
class TestingObserver implements Observer {
    final AtomicInteger renewals = new AtomicInteger();
    final AtomicInteger slow = new AtomicInteger();

    @Override
    public void answered(String model, RequestKind kind, ErrorCode code, long totalNanos) {}

    @Override
    public void rejected(String reason) {}

    @Override
    public void waited(String reason, long waitNanos) {}

    @Override
    public void queued(long queueNanos) {}

    @Override
    public void executed(int rowCount, long transformNanos, long scoreNanos) {}

    @Override
    public void renewed() {
        renewals.incrementAndGet();
    }

    @Override
    public void slow() {
        slow.incrementAndGet();
    }
}
