package io.millrace.gateway.memory;

import io.millrace.contract.Column;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.envelope.RequestEnvelope;
import io.millrace.gateway.core.RowSchema;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/*
 * A hash stands for a descriptor for all connections, not only for the one that sent it: the hash is checked against
 * the bytes when they come, so it means the same to everybody, and a new backend need not send what another one has
 * sent. When the cache is full it is emptied, and the backends are asked again.
 *
 * Full is counted in columns: documents with other columns in each row make a descriptor for each, and wide ones.
 */
/** Descriptors that backends have sent, by hash. Threads: any. */
final class DescriptorCache {
    /** What an entry costs beside its columns, in columns. */
    private static final int ENTRY_COLUMNS = 4;

    private final int columnLimit;
    private final ConcurrentHashMap<Long, RowSchema> schemas = new ConcurrentHashMap<>();

    private int columnCount;

    /**
     * An empty cache.
     *
     * @param columnLimit columns of all descriptors, about 100 bytes each
     */
    DescriptorCache(int columnLimit) {
        this.columnLimit = columnLimit;
    }

    /**
     * The columns of a request.
     *
     * @return null when the request does not bring its descriptor and nobody brought it before
     * @throws ContractException {@link ErrorCode#INVALID_ENVELOPE} if the descriptor is malformed, or its hash is
     *     another descriptor's too
     */
    @Nullable
    RowSchema schema(RequestEnvelope request) {
        long hash = request.descriptorHash();
        RowSchema known = schemas.get(hash);
        if (!request.hasDescriptor()) {
            return known;
        }
        List<Column> columns = request.descriptor();
        if (known == null) {
            known = add(hash, columns);
        }
        if (!known.columns().equals(columns)) {
            throw new ContractException(
                    ErrorCode.INVALID_ENVELOPE,
                    "descriptor hash stands for another descriptor: hash=0x" + Long.toHexString(hash));
        }
        return known;
    }

    private synchronized RowSchema add(long hash, List<Column> columns) {
        RowSchema raced = schemas.get(hash);
        if (raced != null) {
            return raced;
        }
        int added = columns.size() + ENTRY_COLUMNS;
        if (columnCount + added > columnLimit) {
            schemas.clear();
            columnCount = 0;
        }
        columnCount += added;
        RowSchema schema = new RowSchema(columns);
        schemas.put(hash, schema);
        return schema;
    }

    /** Columns of all descriptors, with what the entries cost. */
    synchronized int columnCount() {
        return columnCount;
    }
}
