package io.millrace.train.child;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/*
 * The library pulls blocks of rows through callbacks, several times over: once for its sketches, once for the bins. It
 * keeps bins of one byte per value in a file of its own, mapped page by page. So neither the matrix nor its bins are ever
 * in anonymous memory; what stays are about 49 bytes per row (gradients, predictions, partitions).
 *
 * The callbacks are native stubs owned by Java objects: this object keeps them reachable for as long as the library may
 * call them.
 */

/** An external-memory quantile matrix. One thread at a time. */
final class NativeMatrix implements AutoCloseable {
    private final TrainingLibrary library;
    private final Pointer handle;
    private final Pointer proxy;
    private final Feed feed;
    private final String name;

    private NativeMatrix(TrainingLibrary library, Pointer handle, Pointer proxy, Feed feed, String name) {
        this.library = library;
        this.handle = handle;
        this.proxy = proxy;
        this.feed = feed;
        this.name = name;
    }

    /**
     * Bins the rows of some shards.
     *
     * @param rows the shards
     * @param reference the matrix whose bins to use; null for bins of its own
     * @param cacheDirectory existing directory for the library's cache file
     * @param name distinguishes cache files in that directory
     * @param maxBin most bins per feature
     * @param threads threads of the library
     * @throws XgboostException if the library refuses
     */
    static NativeMatrix create(
            TrainingLibrary library,
            ShardRows rows,
            @Nullable NativeMatrix reference,
            Path cacheDirectory,
            String name,
            long maxBin,
            int threads)
            throws IOException {
        PointerByReference proxyOut = new PointerByReference();
        TrainingLibrary.check(library, library.XGProxyDMatrixCreate(proxyOut));
        Pointer proxy = proxyOut.getValue();
        Feed feed = new Feed(library, rows, proxy);
        Path prefix = Files.createDirectories(cacheDirectory.resolve(name)).resolve("bins");
        String config = "{\"missing\":NaN,\"nthread\":" + threads + ",\"max_bin\":" + maxBin + ",\"cache_prefix\":\""
                + prefix + "\"}";
        PointerByReference out = new PointerByReference();
        int result = library.XGExtMemQuantileDMatrixCreateFromCallback(
                null, proxy, reference == null ? null : reference.handle, feed.reset, feed.next, config, out);
        if (feed.failure != null) {
            throw new XgboostException(Objects.toString(feed.failure.getMessage(), "matrix block cannot be read"));
        }
        TrainingLibrary.check(library, result);
        return new NativeMatrix(library, out.getValue(), proxy, feed, name);
    }

    Pointer handle() {
        return handle;
    }

    /** What the matrix is called in the learning curve. */
    String name() {
        return name;
    }

    @Override
    public void close() {
        TrainingLibrary.check(library, library.XGDMatrixFree(handle));
        TrainingLibrary.check(library, library.XGDMatrixFree(proxy));
        feed.rows.release();
    }

    /** The state of one pass over the shards. */
    private static final class Feed {
        private final TrainingLibrary library;
        private final ShardRows rows;
        private final Pointer proxy;
        private final TrainingLibrary.NextBlock next = iterator -> next();
        private final TrainingLibrary.Reset reset = iterator -> reset();
        private @Nullable Throwable failure;

        private Feed(TrainingLibrary library, ShardRows rows, Pointer proxy) {
            this.library = library;
            this.rows = rows;
            this.proxy = proxy;
        }

        // An exception must not cross native frames: it is kept, and the pass ends.
        @SuppressWarnings("CatchThrowable")
        private int next() {
            try {
                ShardRows.Block block = rows.next();
                if (block == null) {
                    return 0;
                }
                TrainingLibrary.check(
                        library,
                        library.XGProxyDMatrixSetDataDense(
                                proxy,
                                TrainingLibrary.matrixInterface(
                                        block.featuresAddress(), block.rowCount(), rows.width())));
                TrainingLibrary.check(
                        library,
                        library.XGDMatrixSetInfoFromInterface(
                                proxy,
                                "label",
                                TrainingLibrary.vectorInterface(block.labelsAddress(), block.rowCount())));
                return 1;
            } catch (Throwable thrown) {
                failure = thrown;
                return 0;
            }
        }

        private void reset() {
            rows.rewind();
        }
    }
}
