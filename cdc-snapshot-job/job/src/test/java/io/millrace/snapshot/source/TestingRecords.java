package io.millrace.snapshot.source;

import io.millrace.snapshot.Change;
import io.millrace.snapshot.TableRoute;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.data.Schema;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.data.Struct;
import org.apache.flink.cdc.connectors.shaded.org.apache.kafka.connect.source.SourceRecord;
import org.apache.flink.util.Collector;
import org.apache.iceberg.types.Types;
import org.jspecify.annotations.Nullable;

/** Records of a table {@code public.t (id bigint primary key, a text)} as the connector makes them. */
final class TestingRecords {
    static final TableRoute ROUTE = new TableRoute(
            "public.t",
            "public",
            "t",
            "public.t",
            new org.apache.iceberg.Schema(
                    List.of(
                            Types.NestedField.required(1, "id", Types.LongType.get()),
                            Types.NestedField.optional(2, "a", Types.StringType.get()),
                            Types.NestedField.required(3, "_ver", Types.LongType.get())),
                    java.util.Set.of(1)));

    private static final Schema ROW = SchemaBuilder.struct()
            .optional()
            .field("id", Schema.INT64_SCHEMA)
            .field("a", Schema.OPTIONAL_STRING_SCHEMA)
            .build();
    private static final Schema SOURCE = SchemaBuilder.struct()
            .field("db", Schema.STRING_SCHEMA)
            .field("schema", Schema.STRING_SCHEMA)
            .field("table", Schema.STRING_SCHEMA)
            .field("lsn", Schema.INT64_SCHEMA)
            .build();
    private static final Schema VALUE = SchemaBuilder.struct()
            .field("op", Schema.STRING_SCHEMA)
            .field("before", ROW)
            .field("after", ROW)
            .field("source", SOURCE)
            .build();
    private static final Schema BEAT = SchemaBuilder.struct()
            .name("io.debezium.connector.common.Heartbeat")
            .field("ts_ms", Schema.INT64_SCHEMA)
            .build();

    private TestingRecords() {}

    static Struct row(long id, @Nullable String a) {
        return new Struct(ROW).put("id", id).put("a", a);
    }

    /** A change at {@code lsn}; {@code lastCommit} is where the transaction before it ended, null at the start of the log. */
    static SourceRecord change(
            String operation, long lsn, @Nullable Long lastCommit, @Nullable Struct before, @Nullable Struct after) {
        Struct source = new Struct(SOURCE)
                .put("db", "postgres")
                .put("schema", "public")
                .put("table", "t")
                .put("lsn", lsn);
        Struct value = new Struct(VALUE)
                .put("op", operation)
                .put("before", before)
                .put("after", after)
                .put("source", source);
        return new SourceRecord(Map.of(), offset(lsn, lsn, lastCommit), "topic", null, null, VALUE, value);
    }

    static SourceRecord insert(long lsn, @Nullable Long lastCommit, long id) {
        return change("c", lsn, lastCommit, null, row(id, "a"));
    }

    /** A heartbeat, with the positions that the connector has at that moment. */
    static SourceRecord heartbeat(long lsn, @Nullable Long processed, @Nullable Long lastCommit) {
        return new SourceRecord(
                Map.of(),
                offset(lsn, processed, lastCommit),
                "topic",
                null,
                null,
                BEAT,
                new Struct(BEAT).put("ts_ms", 1L));
    }

    private static Map<String, Object> offset(long lsn, @Nullable Long processed, @Nullable Long lastCommit) {
        Map<String, Object> offset = new HashMap<>();
        offset.put("lsn", lsn);
        offset.put("ts_usec", 1L);
        if (processed != null) {
            offset.put("lsn_proc", processed);
        }
        if (lastCommit != null) {
            offset.put("lsn_commit", lastCommit);
        }
        return offset;
    }

    /** Keeps what it is given. */
    static final class Collected implements Collector<Change> {
        final List<Change> changes = new ArrayList<>();

        @Override
        public void collect(Change change) {
            changes.add(change);
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }
}
