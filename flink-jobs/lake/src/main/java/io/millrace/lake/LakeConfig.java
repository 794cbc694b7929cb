package io.millrace.lake;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.SecretReference;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.jdbc.JdbcCatalog;

/**
 * Where the lake is. Serializable, so that an operator can carry it; the password stays a reference until {@link
 * #resolvedProperties} is called on the machine that opens the catalog.
 *
 * @param catalogName name under which tables are registered in the catalog, and the catalog's name in Flink SQL
 * @param catalogSchema schema of the database that holds a JDBC catalog
 * @param catalogProperties Iceberg's catalog properties without the password
 * @param passwordReference {@code env:NAME}, {@code file:/path} or empty
 */
public record LakeConfig(
        String catalogName, String catalogSchema, Map<String, String> catalogProperties, String passwordReference)
        implements Serializable {
    private static final long serialVersionUID = 1L;

    private static final String JDBC_CATALOG = JdbcCatalog.class.getName();

    public LakeConfig {
        // A plain map: the immutable ones are serialised by a proxy that child-first class loaders dislike.
        catalogProperties = new HashMap<>(catalogProperties);
    }

    /**
     * Reads the keys of {@code lake.properties} and {@code database.properties}. A JDBC catalog in that database is the default;
     * {@code iceberg.catalog-impl} or {@code iceberg.type} names another one, and every other {@code iceberg.<property>} is handed to
     * Iceberg as it is, a secret reference resolved when the catalog is opened.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} naming file, key and value
     */
    public static LakeConfig from(ConfigFile lake, ConfigFile database) {
        String warehouse = lake.string("warehouse-uri");
        String schema = lake.string("catalog-schema", "ml_lake");
        String name = lake.string("catalog-name", "millrace");
        Map<String, String> passthrough = lake.prefixed("iceberg.");
        if (passthrough.containsKey(CatalogProperties.CATALOG_IMPL)
                || passthrough.containsKey(CatalogUtil.ICEBERG_CATALOG_TYPE)) {
            Map<String, String> properties = new HashMap<>(passthrough);
            properties.putIfAbsent(CatalogProperties.WAREHOUSE_LOCATION, warehouse);
            return new LakeConfig(name, schema, properties, "");
        }
        String url = "jdbc:postgresql://" + database.string("database-host", "127.0.0.1") + ":"
                + database.integer("database-port", 5432, 1, 65_535) + "/"
                + database.string("database-name", "postgres");
        Map<String, String> properties =
                jdbcProperties(url, database.string("database-user", "millrace_worker"), schema, warehouse);
        properties.putAll(passthrough);
        return new LakeConfig(
                name, schema, properties, database.secret("database-password").toString());
    }

    /** Properties of a JDBC catalog; {@code url} without the schema. */
    static Map<String, String> jdbcProperties(String url, String user, String schema, String warehouse) {
        Map<String, String> properties = new HashMap<>();
        boolean postgres = url.startsWith("jdbc:postgresql:");
        String parameter = (url.contains("?") ? "&" : "?") + "currentSchema=" + schema;
        properties.put(CatalogProperties.URI, postgres ? url + parameter : url);
        properties.put(CatalogProperties.WAREHOUSE_LOCATION, warehouse);
        properties.put(CatalogProperties.CATALOG_IMPL, JDBC_CATALOG);
        properties.put("jdbc.schema-version", "V1");
        properties.put("jdbc.init-catalog-tables", "false");
        if (!user.isEmpty()) {
            properties.put(JdbcCatalog.PROPERTY_PREFIX + "user", user);
        }
        // A restarted server ends sessions with these; the pool then connects again.
        properties.put("retryable_status_codes", "57P01,57P02,57P03");
        return properties;
    }

    /** Whether the catalog lives in a database. */
    public boolean isJdbc() {
        return JDBC_CATALOG.equals(catalogProperties.get(CatalogProperties.CATALOG_IMPL));
    }

    /** The catalog's properties with the password in them: not to be logged, stored or sent. */
    public Map<String, String> resolvedProperties() {
        Map<String, String> properties = new HashMap<>(catalogProperties);
        properties.replaceAll((key, value) -> SecretReference.resolve(value));
        SecretReference.parse(passwordReference)
                .read()
                .ifPresent(password -> properties.put(JdbcCatalog.PROPERTY_PREFIX + "password", password));
        return properties;
    }

    /** Hadoop settings for files of this machine: no checksum file beside each data file, Parquet and Iceberg have their own. */
    public static Configuration hadoopConfiguration() {
        Configuration configuration = new Configuration();
        configuration.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem");
        configuration.setBoolean("fs.file.impl.disable.cache", true);
        return configuration;
    }

    @Override
    public String toString() {
        return "LakeConfig[catalogName=" + catalogName + ", catalogSchema=" + catalogSchema + ", warehouse="
                + catalogProperties.get(CatalogProperties.WAREHOUSE_LOCATION) + "]";
    }
}
