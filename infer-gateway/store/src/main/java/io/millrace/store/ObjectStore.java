package io.millrace.store;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.apache.opendal.AsyncExecutor;
import org.apache.opendal.AsyncOperator;
import org.apache.opendal.Entry;
import org.apache.opendal.ListOptions;
import org.apache.opendal.Metadata;
import org.apache.opendal.OpenDALException;
import org.apache.opendal.Operator;
import org.apache.opendal.layer.RetryLayer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * OpenDAL never gives up on an endpoint that accepts a connection and stays silent, so every call is waited for only so
 * long, on a thread of ours; one that never ends keeps its thread, and there are only so many. Transient failures are
 * retried below, inside OpenDAL. Its exceptions become typed errors here and do not travel further.
 *
 * Its asynchronous calls are not used: a native thread of its executor makes their results, and since that never returns to
 * Java, the JVM keeps all it has ever made, the bytes of each file that was read too, until the executor is closed.
 */

/**
 * Objects by path, with bounded waits and typed errors.
 *
 * <p>Threads: any number. Errors of every method: {@link ErrorCode#STORE_UNAVAILABLE} when the store refuses, fails or does
 * not answer in time, {@link ErrorCode#CANCELLED} when the calling thread is interrupted.
 */
final class ObjectStore implements AutoCloseable {
    /** Bytes per request of a large transfer, and the buffer each transfer holds. */
    static final int CHUNK_LENGTH = 8 << 20;

    /** A large upload may take this long more per chunk. */
    private static final long CHUNK_MILLIS = 8_000;

    /** At a time. More than callers ever make of a store that answers. */
    static final int CALLS_MAX = 64;

    private static final long IDLE_SECONDS = 10;

    /** For calls that run when the store is closed. */
    private static final long CLOSE_SECONDS = 2;

    private static final Logger logger = LoggerFactory.getLogger(ObjectStore.class);
    private static final Pattern SECRET_OPTION = Pattern.compile("secret|key|token|password|credential|sas");

    private final StoreConfig config;
    private final AsyncExecutor executor;
    private final Operator operator;
    private final ExecutorService threads;
    private final Map<String, String> options;

    /**
     * Opens the store; object stores are not contacted yet.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} if the service or an option is not known
     */
    ObjectStore(StoreConfig config) {
        this.config = config;
        this.options = config.resolvedOptions();
        OpenDalLibrary.load();
        this.executor = AsyncExecutor.createTokioExecutor(2);
        RetryLayer retry = RetryLayer.builder()
                .maxTimes(3)
                .minDelay(Duration.ofMillis(100))
                .maxDelay(Duration.ofSeconds(2))
                .factor(2)
                .jitter(true)
                .build();
        try (AsyncOperator plain = AsyncOperator.of(config.scheme(), options, executor);
                AsyncOperator retrying = plain.layer(retry)) {
            this.operator = retrying.blocking();
        } catch (OpenDALException e) {
            executor.close();
            throw new ContractException(
                    ErrorCode.INVALID_CONFIG,
                    "store cannot be opened: scheme=" + config.scheme() + ", cause=" + cause(e),
                    e);
        }
        this.threads =
                new ThreadPoolExecutor(0, CALLS_MAX, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread = new Thread(task, "store");
                    thread.setDaemon(true);
                    return thread;
                });
    }

    /** Length of an object in bytes, or -1 if there is none. */
    long length(String path) {
        Metadata found = awaitOrNull("stat", path, () -> operator.stat(path), config.operationTimeoutMillis());
        return found == null || !found.isFile() ? -1 : found.contentLength;
    }

    /** A range of an object, or null if there is no such object. */
    byte @Nullable [] read(String path, long offset, int length) {
        return awaitOrNull("read", path, () -> operator.read(path, offset, length), config.operationTimeoutMillis());
    }

    /**
     * Copies an object to a local file by ranges.
     *
     * @param length of the object
     * @return bytes copied: fewer when the object turns out shorter
     */
    long copyTo(String path, long length, Path target) throws IOException {
        long copied = 0;
        try (OutputStream out = Files.newOutputStream(target)) {
            while (copied < length) {
                int wanted = (int) Math.min(CHUNK_LENGTH, length - copied);
                byte[] chunk = read(path, copied, wanted);
                if (chunk == null) {
                    return copied;
                }
                out.write(chunk);
                copied += chunk.length;
                if (chunk.length != wanted) {
                    return copied;
                }
            }
        }
        return copied;
    }

    /** Writes a small object in one piece: visible whole or not at all. */
    void write(String path, byte[] bytes) {
        await("write", path, () -> operator.write(path, bytes), config.operationTimeoutMillis());
    }

    /** Copies a local file in chunks; a failure may leave a part of it visible. */
    void writeFile(String path, Path source, long length) {
        long timeoutMillis = config.operationTimeoutMillis() + CHUNK_MILLIS * (length / CHUNK_LENGTH);
        await(
                "write",
                path,
                () -> {
                    try (InputStream in = Files.newInputStream(source);
                            OutputStream out = operator.createOutputStream(path, CHUNK_LENGTH)) {
                        in.transferTo(out);
                    }
                },
                timeoutMillis);
    }

    /** Names of the objects right in a directory; empty if there is none. */
    List<String> list(String directory) {
        List<Entry> entries = awaitOrNull(
                "list",
                directory,
                () -> operator.list(directory + "/", ListOptions.builder().build()),
                config.operationTimeoutMillis());
        List<String> names = new ArrayList<>();
        for (Entry entry : entries == null ? List.<Entry>of() : entries) {
            String name = entry.path.substring(Math.min(entry.path.length(), directory.length() + 1));
            if (!name.isEmpty()) {
                names.add(name);
            }
        }
        return names;
    }

    /** Removes an object; none is no error. */
    void delete(String path) {
        await("delete", path, () -> operator.delete(path), config.operationTimeoutMillis());
    }

    /** Removes a directory and all in it; none is no error. */
    void deleteAll(String directory) {
        await("delete", directory, () -> operator.removeAll(directory + "/"), config.operationTimeoutMillis());
    }

    /** A call without a result. */
    private interface Action {
        void run() throws IOException;
    }

    private void await(String operation, String path, Action action, long timeoutMillis) {
        try {
            completed(
                    operation,
                    path,
                    () -> {
                        action.run();
                        return true;
                    },
                    timeoutMillis);
        } catch (MissingObject e) {
            throw unavailable("store cannot find what it must have", operation, path, e);
        }
    }

    private <T> @Nullable T awaitOrNull(String operation, String path, Callable<T> call, long timeoutMillis) {
        try {
            return completed(operation, path, call, timeoutMillis);
        } catch (MissingObject e) {
            return null;
        }
    }

    private <T> T completed(String operation, String path, Callable<T> call, long timeoutMillis) throws MissingObject {
        try {
            return threads.submit(call).get(timeoutMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ContractException(
                    ErrorCode.CANCELLED, "store operation is cancelled: operation=" + operation + ", path=" + path, e);
        } catch (RejectedExecutionException e) {
            throw new ContractException(
                    ErrorCode.STORE_UNAVAILABLE,
                    "store must answer the calls before: operation=" + operation + ", path=" + path + ", limitCalls="
                            + CALLS_MAX,
                    e);
        } catch (TimeoutException e) {
            throw new ContractException(
                    ErrorCode.STORE_UNAVAILABLE,
                    "store must answer in time: operation=" + operation + ", path=" + path + ", timeoutMillis="
                            + timeoutMillis,
                    e);
        } catch (ExecutionException e) {
            Throwable cause = root(e);
            if (cause instanceof OpenDALException failure && failure.getCode() == OpenDALException.Code.NotFound) {
                throw new MissingObject(failure);
            }
            throw unavailable("store cannot be used", operation, path, cause);
        }
    }

    private ContractException unavailable(String rule, String operation, String path, Throwable cause) {
        return new ContractException(
                ErrorCode.STORE_UNAVAILABLE,
                rule + ": scheme=" + config.scheme() + ", operation=" + operation + ", path=" + path + ", cause="
                        + cause(cause),
                cause);
    }

    private static Throwable root(ExecutionException failure) {
        Throwable cause = failure.getCause();
        return cause == null ? failure : cause;
    }

    /** The service's own words without the request around them, and never an option that is a secret. */
    private String cause(Throwable failure) {
        String message =
                String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
        int words = message.indexOf("=>");
        String text = words < 0 ? message : message.substring(words + 2).strip();
        for (Map.Entry<String, String> option : options.entrySet()) {
            if (SECRET_OPTION.matcher(option.getKey()).find()
                    && !option.getValue().isEmpty()) {
                text = text.replace(option.getValue(), "***");
            }
        }
        String code = failure instanceof OpenDALException known ? known.getCode() + " " : "";
        return code + StorePath.shortened(text);
    }

    /** Waits a moment for calls that run. Freeing what one that never ends still uses would crash the process. */
    @Override
    public void close() {
        threads.shutdown();
        try {
            if (!threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                logger.warn("store calls do not end, and keep their memory: scheme={}", config.scheme());
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        operator.close();
        executor.close();
    }

    /** Internal: an object is absent, which some callers expect. */
    private static final class MissingObject extends Exception {
        private static final long serialVersionUID = 1L;

        MissingObject(Throwable cause) {
            super(cause);
        }
    }
}
