package io.millrace.lake.testing;

import io.millrace.contract.ConfigFile;
import io.millrace.lake.CapturedTable;
import io.millrace.lake.Lake;
import io.millrace.lake.LakeConfig;
import io.millrace.lake.SourceColumn;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Lakes in a temporary directory. */
public final class TestingLake {
    private TestingLake() {}

    /** A lake whose catalog is a SQLite file. */
    public static LakeConfig sqlite(Path directory) {
        return config(
                directory,
                Map.of(
                        "iceberg.catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog",
                        "iceberg.uri",
                                "jdbc:sqlite:" + directory.resolve("catalog.db")
                                        + "?journal_mode=WAL&busy_timeout=30000",
                        "iceberg.jdbc.schema-version", "V1",
                        "iceberg.jdbc.init-catalog-tables", "false"),
                Map.of());
    }

    /** A lake whose catalog is in schema {@code ml_lake} of a PostgreSQL database, as in production. */
    public static LakeConfig postgres(Path directory, TestingPostgres postgres, String user) {
        return config(directory, Map.of(), postgres.databaseProperties(user));
    }

    /** A table of a lake by name and columns, each {@code name type}, the key first. */
    public static TestingTable table(Lake lake, String name, String... columns) {
        List<SourceColumn> source = new ArrayList<>();
        for (String column : columns) {
            int space = column.indexOf(' ');
            source.add(new SourceColumn(column.substring(0, space), column.substring(space + 1), true, false));
        }
        return new TestingTable(lake.createTable(new CapturedTable(
                "public." + name, "public", name, List.of(source.get(0).name()), source)));
    }

    private static LakeConfig config(Path directory, Map<String, String> lake, Map<String, String> database) {
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Map<String, String> values = new HashMap<>(lake);
        values.put("warehouse-uri", directory.resolve("warehouse").toUri().toString());
        return LakeConfig.from(
                ConfigFile.of(directory.resolve("lake.properties"), values),
                ConfigFile.of(directory.resolve("database.properties"), database));
    }
}
