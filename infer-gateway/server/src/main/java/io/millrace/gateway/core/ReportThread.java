package io.millrace.gateway.core;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Where answers are gathered that take too long for a connector's thread and are asked for too rarely for a worker. */
final class ReportThread implements AutoCloseable {
    private static final int WAITING_MAX = 64;

    private final ThreadPoolExecutor executor;

    ReportThread() {
        executor = new ThreadPoolExecutor(
                1,
                1,
                10,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(WAITING_MAX),
                task -> new Thread(task, "reporter"));
        executor.allowCoreThreadTimeOut(true);
    }

    /**
     * Does it soon.
     *
     * @throws ContractException {@link ErrorCode#LIMIT_EXCEEDED} if too many wait
     */
    void execute(Runnable task) {
        try {
            executor.execute(task);
        } catch (RejectedExecutionException e) {
            throw new ContractException(
                    ErrorCode.LIMIT_EXCEEDED, "too many ask for the metrics at a time: limit=" + WAITING_MAX, e);
        }
    }

    /** Those that wait are still done. */
    @Override
    public void close() {
        executor.shutdown();
    }
}
