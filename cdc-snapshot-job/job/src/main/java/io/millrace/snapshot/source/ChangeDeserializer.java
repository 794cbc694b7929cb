package io.millrace.snapshot.source;

import io.millrace.snapshot.Change;
import io.millrace.snapshot.ChangeTypeInformation;
import io.millrace.snapshot.TableRoute;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Set;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.data.Schema;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.data.Struct;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.source.SourceRecord;
import org.apache.flink.cdc.debezium.DebeziumDeserializationSchema;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns the connector's records into changes of lake rows and snapshot requests. Records of other tables are dropped. */
final class ChangeDeserializer implements DebeziumDeserializationSchema<Change> {
    private static final long serialVersionUID = 1L;
    /** More schemas of one table than this within one run means many DDL statements: start over rather than keep them all. */
    private static final int CONVERTER_LIMIT = 4_096;

    private static final Logger LOG = LoggerFactory.getLogger(ChangeDeserializer.class);

    private final Captured captured;
    /** Tables whose rows no longer fit; what comes of them is of no use until they have been loaded again. */
    private final Set<String> stale = new HashSet<>();

    private transient @Nullable IdentityHashMap<Schema, RowConverter> logConverters;
    private transient @Nullable IdentityHashMap<Schema, RowConverter> readConverters;
    private transient long chunkLsn;
    private transient boolean repeating;

    ChangeDeserializer(Captured captured) {
        this.captured = captured;
    }

    /** Sets the position of the rows that follow and were read from their table: the one at which they are its rows. */
    void chunkAt(long lsn) {
        chunkLsn = lsn;
    }

    /** Whether inserted rows may be there already, because the log repeats what was emitted. */
    void repeating(boolean value) {
        repeating = value;
    }

    @Override
    public void deserialize(SourceRecord record, Collector<Change> out) {
        Struct value = (Struct) record.value();
        Struct source = value.getStruct("source");
        String schema = source.getString("schema");
        String table = source.getString("table");
        Long position = source.getInt64("lsn");
        // A row read from the table itself has no position of its own: it is as of its chunk's.
        boolean read = position == null || position == 0;
        long lsn = read ? chunkLsn : position;
        if (Captured.isRequestTable(schema, table)) {
            Struct row = value.getStruct("after");
            if (row != null) {
                out.collect(Change.request(row.getString("relation"), lsn, row.getInt64("snapshot_id")));
            }
            return;
        }
        TableRoute route = captured.route(schema, table);
        if (route == null) {
            return;
        }
        String operation = value.getString("op");
        if (operation.equals("t")) {
            out.collect(Change.stale(route.relation(), lsn));
            return;
        }
        if (stale.contains(route.relation())) {
            return;
        }
        try {
            row(route, operation, value, lsn, read, out);
        } catch (SchemaMismatchException e) {
            LOG.warn("table is loaded again: {}", e.getMessage());
            stale.add(route.relation());
            out.collect(Change.stale(route.relation(), lsn));
        }
    }

    private void row(TableRoute route, String operation, Struct value, long lsn, boolean read, Collector<Change> out) {
        Struct gone = value.getStruct("before");
        Struct present = value.getStruct("after");
        boolean mayExist = operation.equals("u") || (operation.equals("c") && repeating);
        if (gone == null && mayExist) {
            // Without a full replica identity an update's old row is left out when its key stayed the same.
            gone = present;
        }
        GenericRowData before = convert(route, gone, lsn, read);
        GenericRowData after = convert(route, present, lsn, read);
        boolean moved = repeating
                && before != null
                && after != null
                && present != null
                && !converter(route, present.schema(), read).sameKey(before, after);
        if (moved) {
            // The row may be there already under its new key.
            out.collect(Change.row(route.relation(), lsn, before, null));
            before = convert(route, present, lsn, read);
        }
        if (before != null || after != null) {
            out.collect(Change.row(route.relation(), lsn, before, after));
        }
    }

    private @Nullable GenericRowData convert(TableRoute route, @Nullable Struct row, long lsn, boolean read) {
        return row == null ? null : converter(route, row.schema(), read).convert(row, lsn);
    }

    private RowConverter converter(TableRoute route, Schema source, boolean read) {
        return converters(read).computeIfAbsent(source, schema -> new RowConverter(route, schema, read));
    }

    private IdentityHashMap<Schema, RowConverter> converters(boolean read) {
        IdentityHashMap<Schema, RowConverter> known = read ? readConverters : logConverters;
        if (known != null && known.size() < CONVERTER_LIMIT) {
            return known;
        }
        IdentityHashMap<Schema, RowConverter> fresh = new IdentityHashMap<>();
        if (read) {
            readConverters = fresh;
        } else {
            logConverters = fresh;
        }
        return fresh;
    }

    @Override
    public TypeInformation<Change> getProducedType() {
        return new ChangeTypeInformation();
    }
}
