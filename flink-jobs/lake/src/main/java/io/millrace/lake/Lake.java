package io.millrace.lake;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.io.Closeable;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.SupportsNamespaces;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.AlreadyExistsException;
import org.apache.iceberg.exceptions.NoSuchTableException;

/**
 * The catalog of lake tables, open.
 *
 * <p>Threads: any number. A table that was handed out is a view of one metadata version; refresh it to see later commits.
 */
public final class Lake implements AutoCloseable {
    /** Table property that names the source relation, quoted as SQL quotes it. */
    public static final String RELATION_PROPERTY = "millrace.relation";

    private final Catalog catalog;

    private Lake(Catalog catalog) {
        this.catalog = catalog;
    }

    /**
     * Opens the catalog; in a database it makes the catalog's schema and tables when they are missing.
     *
     * @throws ContractException {@link ErrorCode#IO_FAILED} if the catalog cannot be reached or made
     */
    public static Lake open(LakeConfig config) {
        Map<String, String> properties = config.resolvedProperties();
        if (config.isJdbc()) {
            JdbcCatalogSchema.prepare(properties, config.catalogSchema());
        }
        return new Lake(
                CatalogUtil.buildIcebergCatalog(config.catalogName(), properties, LakeConfig.hadoopConfiguration()));
    }

    /** The Iceberg catalog below. */
    public Catalog catalog() {
        return catalog;
    }

    /**
     * The table with a name.
     *
     * @param lakeTable {@code namespace.table}, as in {@code ml.captured_tables.lake_table}
     * @throws ContractException {@link ErrorCode#NOT_CAPTURED} if there is none
     */
    public Table table(String lakeTable) {
        try {
            return catalog.loadTable(TableIdentifier.parse(lakeTable));
        } catch (NoSuchTableException e) {
            throw new ContractException(ErrorCode.NOT_CAPTURED, "lake table does not exist: table=" + lakeTable, e);
        }
    }

    /**
     * The table of a captured source table, made when it is missing. Repeating the call, also from another process at the same
     * time, gives the same table.
     *
     * @throws ContractException {@link ErrorCode#UNSUPPORTED_TYPE} naming a column the lake cannot carry;
     *     {@link ErrorCode#INVALID_VALUE} if the name already belongs to another relation
     */
    public Table createTable(CapturedTable source) {
        Schema schema = PostgresTypes.schema(source);
        TableIdentifier name = LakeNames.of(source.schemaName(), source.tableName());
        Table table;
        try {
            table = catalog.loadTable(name);
        } catch (NoSuchTableException missing) {
            table = create(name, schema, source);
        }
        String relation = table.properties().get(RELATION_PROPERTY);
        if (!source.relation().equals(relation)) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "lake table belongs to another relation: table=" + name + ", relation=" + source.relation()
                            + ", owner=" + relation);
        }
        return table;
    }

    @Override
    public void close() {
        if (catalog instanceof Closeable closeable) {
            try {
                closeable.close();
            } catch (IOException e) {
                throw new ContractException(ErrorCode.IO_FAILED, "catalog cannot be closed", e);
            }
        }
    }

    private Table create(TableIdentifier name, Schema schema, CapturedTable source) {
        createNamespace(name);
        try {
            return catalog.createTable(name, schema, PartitionSpec.unpartitioned(), tableProperties(source));
        } catch (AlreadyExistsException raced) {
            return catalog.loadTable(name);
        }
    }

    private void createNamespace(TableIdentifier name) {
        if (catalog instanceof SupportsNamespaces namespaces && !namespaces.namespaceExists(name.namespace())) {
            try {
                namespaces.createNamespace(name.namespace());
            } catch (AlreadyExistsException raced) {
                // the other one made what this one wanted
            }
        }
    }

    private static Map<String, String> tableProperties(CapturedTable source) {
        Map<String, String> properties = new HashMap<>();
        properties.put(TableProperties.FORMAT_VERSION, "2");
        properties.put(TableProperties.DEFAULT_FILE_FORMAT, "parquet");
        properties.put(TableProperties.PARQUET_COMPRESSION, "zstd");
        properties.put(TableProperties.PARQUET_COMPRESSION_LEVEL, "3");
        properties.put(TableProperties.UPDATE_MODE, "merge-on-read");
        properties.put(TableProperties.DELETE_MODE, "merge-on-read");
        properties.put(TableProperties.MERGE_MODE, "merge-on-read");
        // An initial load appends; only later updates and deletes write equality deletes.
        properties.put(TableProperties.UPSERT_ENABLED, "false");
        // Bounds on metadata: without them every commit leaves a metadata file that lists all earlier ones.
        properties.put(TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED, "true");
        properties.put(TableProperties.METADATA_PREVIOUS_VERSIONS_MAX, "10");
        properties.put(TableProperties.MANIFEST_MIN_MERGE_COUNT, "20");
        // The streaming job, taggers and statistics commit to one table at the same time.
        properties.put(TableProperties.COMMIT_NUM_RETRIES, "20");
        properties.put(TableProperties.COMMIT_MIN_RETRY_WAIT_MS, "50");
        properties.put(TableProperties.COMMIT_MAX_RETRY_WAIT_MS, "5000");
        properties.put(RELATION_PROPERTY, source.relation());
        return properties;
    }
}
