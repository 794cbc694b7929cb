package io.millrace.cdc.shim;

import java.util.function.Supplier;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.apache.flink.connector.base.source.reader.fetcher.SingleThreadFetcherManager;
import org.apache.flink.connector.base.source.reader.splitreader.SplitReader;
import org.apache.flink.connector.base.source.reader.synchronization.FutureCompletingBlockingQueue;

/**
 * A single-thread fetcher manager with the constructor of Flink 1.20.
 *
 * @param <E> fetched element
 * @param <S> split
 */
public class QueuedFetcherManager<E, S extends SourceSplit> extends SingleThreadFetcherManager<E, S> {

    /**
     * Drops the caller's queue: the manager of Flink 2 makes its own, and the reader base takes it from the manager, so
     * both still share one.
     *
     * @param callersQueue ignored
     * @param splitReaders makes one split reader per fetcher
     */
    public QueuedFetcherManager(
            FutureCompletingBlockingQueue<RecordsWithSplitIds<E>> callersQueue,
            Supplier<SplitReader<E, S>> splitReaders) {
        super(splitReaders, new Configuration());
    }
}
