package io.millrace.engine;

import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/*
 * XGBoost's in-place prediction may run on many threads over one booster: results live in a per-thread buffer that the
 * next call of that thread reuses. Freeing the booster under a running call would be a crash, so calls hold the read side
 * of a lock and close takes the write side.
 */

/**
 * A model in the native library.
 *
 * <p>Threads: any number may predict; each call uses its caller's thread only.
 */
final class NativeBooster implements AutoCloseable {
    /** The C functions in use; names are XGBoost's. */
    interface Api extends Library {
        String XGBGetLastError();

        /** The C library's logarithm, found through the library that calls it. */
        float logf(float value);

        int XGBoosterCreate(@Nullable Pointer matrices, long count, PointerByReference booster);

        int XGBoosterFree(Pointer booster);

        int XGBoosterLoadModel(Pointer booster, String file);

        int XGBoosterSetParam(Pointer booster, String name, String value);

        int XGBoosterPredictFromDense(
                Pointer booster,
                String arrayInterface,
                String config,
                @Nullable Pointer matrix,
                PointerByReference shape,
                LongByReference dimension,
                PointerByReference result);
    }

    /** {@code "type":1} asks for margins; {@code iteration_end 0} for all trees. */
    private static final String CONFIG = "{\"type\":1,\"training\":false,\"iteration_begin\":0,\"iteration_end\":0,"
            + "\"missing\":NaN,\"strict_shape\":true,\"cache_id\":0}";

    /** Floats copied to native memory at a time, 1 MiB: bounds each thread's scratch. */
    private static final int SCRATCH_FLOATS = 1 << 18;

    private static final ThreadLocal<@Nullable Memory> SCRATCH = new ThreadLocal<>();

    private final Api api;
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private final int featureCount;
    private final int outputCount;
    private @Nullable Pointer booster;

    private NativeBooster(Api api, Pointer booster, int featureCount, int outputCount) {
        this.api = api;
        this.booster = booster;
        this.featureCount = featureCount;
        this.outputCount = outputCount;
    }

    /**
     * Loads a checked model file.
     *
     * @throws ContractException {@link ErrorCode#SCORER_FAILED} with XGBoost's message if it refuses
     */
    static NativeBooster load(Path file, TreeModel model) {
        Api api = XgboostLibrary.open(Api.class);
        PointerByReference created = new PointerByReference();
        check(api, api.XGBoosterCreate(null, 0, created));
        Pointer booster = created.getValue();
        try {
            check(api, api.XGBoosterSetParam(booster, "nthread", "1"));
            check(api, api.XGBoosterLoadModel(booster, file.toAbsolutePath().toString()));
            // Loading replaces the configuration, so the thread count is set again.
            check(api, api.XGBoosterSetParam(booster, "nthread", "1"));
        } catch (RuntimeException e) {
            api.XGBoosterFree(booster);
            throw e;
        }
        return new NativeBooster(api, booster, model.featureCount(), model.outputCount());
    }

    /**
     * Margins of a batch; shapes as in {@link FlatTrees#margins}.
     *
     * @throws ContractException {@link ErrorCode#SCORER_FAILED} with XGBoost's message if it refuses
     */
    void margins(float[] features, int rowCount, float[] out) {
        int blockRows = Math.max(1, SCRATCH_FLOATS / featureCount);
        lock.readLock().lock();
        try {
            if (booster == null) {
                throw new IllegalStateException("scorer is closed");
            }
            for (int first = 0; first < rowCount; first += blockRows) {
                block(booster, features, first, Math.min(blockRows, rowCount - first), out);
            }
        } finally {
            lock.readLock().unlock();
        }
    }

    /** XGBoost's logarithm. */
    float logarithm(float value) {
        return api.logf(value);
    }

    private void block(Pointer handle, float[] features, int first, int count, float[] out) {
        Memory scratch = scratch(4L * count * featureCount);
        scratch.write(0, features, first * featureCount, count * featureCount);
        String rows = "{\"data\":[" + Pointer.nativeValue(scratch) + ",true],\"shape\":[" + count + "," + featureCount
                + "],\"typestr\":\"<f4\",\"version\":3}";
        PointerByReference shape = new PointerByReference();
        LongByReference dimension = new LongByReference();
        PointerByReference result = new PointerByReference();
        check(api, api.XGBoosterPredictFromDense(handle, rows, CONFIG, null, shape, dimension, result));
        long values = 1;
        for (long length : shape.getValue().getLongArray(0, (int) dimension.getValue())) {
            values *= length;
        }
        if (values != (long) count * outputCount) {
            throw new ContractException(
                    ErrorCode.SCORER_FAILED,
                    "native answer must have the model's shape: values=" + values + ", rows=" + count + ", outputs="
                            + outputCount);
        }
        result.getValue().read(0, out, first * outputCount, count * outputCount);
    }

    private static Memory scratch(long bytes) {
        Memory scratch = SCRATCH.get();
        if (scratch == null || scratch.size() < bytes) {
            scratch = new Memory(Math.max(bytes, 4096));
            SCRATCH.set(scratch);
        }
        return scratch;
    }

    private static void check(Api api, int status) {
        if (status != 0) {
            String message = api.XGBGetLastError().lines().findFirst().orElse("");
            throw new ContractException(ErrorCode.SCORER_FAILED, "native XGBoost cannot go on: cause=" + message);
        }
    }

    /** Frees the native memory after the calls in flight. */
    @Override
    public void close() {
        lock.writeLock().lock();
        try {
            if (booster != null) {
                api.XGBoosterFree(booster);
                booster = null;
            }
        } finally {
            lock.writeLock().unlock();
        }
    }
}
