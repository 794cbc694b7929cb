package io.millrace.snapshot.source;

import io.millrace.snapshot.Change;
import io.millrace.snapshot.ChangeTypeInformation;
import io.millrace.snapshot.TableRoute;
import java.util.IdentityHashMap;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.data.Schema;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.data.Struct;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.source.SourceRecord;
import org.apache.flink.cdc.debezium.DebeziumDeserializationSchema;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/** Turns the connector's records into changes of lake rows and snapshot requests. Records of other tables are dropped. */
final class ChangeDeserializer implements DebeziumDeserializationSchema<Change> {
    private static final long serialVersionUID = 1L;
    /** More schemas of one table than this within one run means many DDL statements: start over rather than keep them all. */
    private static final int CONVERTER_LIMIT = 4_096;

    private final Captured captured;
    private transient @Nullable IdentityHashMap<Schema, RowConverter> converters;

    ChangeDeserializer(Captured captured) {
        this.captured = captured;
    }

    @Override
    public void deserialize(SourceRecord record, Collector<Change> out) {
        Struct value = (Struct) record.value();
        Struct source = value.getStruct("source");
        String schema = source.getString("schema");
        String table = source.getString("table");
        Long position = source.getInt64("lsn");
        long lsn = position == null ? 0 : position;
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
        Struct gone = value.getStruct("before");
        if (gone == null && "u".equals(value.getString("op"))) {
            // Without a full replica identity the old row is left out when its key stayed the same.
            gone = value.getStruct("after");
        }
        GenericRowData before = convert(route, gone, lsn);
        GenericRowData after = convert(route, value.getStruct("after"), lsn);
        if (before != null || after != null) {
            out.collect(Change.row(route.relation(), lsn, before, after));
        }
    }

    private @Nullable GenericRowData convert(TableRoute route, @Nullable Struct row, long lsn) {
        if (row == null) {
            return null;
        }
        IdentityHashMap<Schema, RowConverter> known = converters;
        if (known == null || known.size() >= CONVERTER_LIMIT) {
            known = new IdentityHashMap<>();
            converters = known;
        }
        RowConverter converter = known.computeIfAbsent(
                row.schema(), rowSchema -> new RowConverter(route, Objects.requireNonNull(rowSchema)));
        return converter.convert(row, lsn);
    }

    @Override
    public TypeInformation<Change> getProducedType() {
        return new ChangeTypeInformation();
    }
}
