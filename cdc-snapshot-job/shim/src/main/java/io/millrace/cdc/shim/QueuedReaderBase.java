package io.millrace.cdc.shim;

import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.source.reader.RecordEmitter;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.apache.flink.connector.base.source.reader.SingleThreadMultiplexSourceReaderBase;
import org.apache.flink.connector.base.source.reader.synchronization.FutureCompletingBlockingQueue;

/**
 * A source reader base with the five-argument constructor of Flink 1.20.
 *
 * @param <E> fetched element
 * @param <T> emitted record
 * @param <S> split
 * @param <C> mutable split state
 */
@SuppressWarnings("try") // Flink's close() may be interrupted; the task's own closing copes with it
public abstract class QueuedReaderBase<E, T, S extends SourceSplit, C>
        extends SingleThreadMultiplexSourceReaderBase<E, T, S, C> {

    /**
     * Makes a reader over the manager's own queue.
     *
     * @param callersQueue ignored, see {@link QueuedFetcherManager}
     */
    protected QueuedReaderBase(
            FutureCompletingBlockingQueue<RecordsWithSplitIds<E>> callersQueue,
            QueuedFetcherManager<E, S> fetchers,
            RecordEmitter<E, T, C> emitter,
            Configuration configuration,
            SourceReaderContext context) {
        super(fetchers, emitter, configuration, context);
    }
}
