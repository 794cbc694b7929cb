package io.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.millrace.contract.fitted.Encoder;
import io.millrace.contract.fitted.FittedColumn;
import io.millrace.contract.fitted.FittedPreprocessing;
import io.millrace.lake.testing.TestingLake;
import io.millrace.lake.testing.TestingMirror;
import io.millrace.lake.testing.TestingPostgres;
import io.millrace.lake.testing.TestingTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.SupportsNamespaces;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.io.CloseableIterable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The lake on a real database: its catalog, and rows that equal the source's. */
class PostgresLakeIT {
    private static TestingPostgres postgres;

    @TempDir
    Path directory;

    @BeforeAll
    static void start() {
        postgres = TestingPostgres.start();
        postgres.execute("CREATE ROLE worker LOGIN", "CREATE ROLE stranger LOGIN");
    }

    @AfterAll
    static void stop() {
        postgres.close();
    }

    @Test
    void keepsItsCatalogInOneSchemaBesideAnother() throws Exception {
        postgres.execute("CREATE DATABASE crowded", "CREATE ROLE crowd LOGIN");
        postgres.executeIn(
                "crowded",
                "GRANT CREATE ON DATABASE crowded TO crowd",
                "CREATE TABLE public.iceberg_tables (other int)");
        LakeConfig config = in("crowded", "crowd");
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<Namespace>> made = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Namespace namespace = Namespace.of("n" + i);
                made.add(threads.submit(() -> {
                    try (Lake lake = Lake.open(config)) {
                        ((SupportsNamespaces) lake.catalog()).createNamespace(namespace);
                        return namespace;
                    }
                }));
            }
            for (Future<Namespace> future : made) {
                future.get();
            }
        } finally {
            threads.shutdown();
        }
        try (Lake lake = Lake.open(config)) {
            assertThat(((SupportsNamespaces) lake.catalog()).listNamespaces()).hasSize(4);
        }
    }

    @Test
    void saysWhyTheCatalogCannotBeMade() {
        postgres.execute("CREATE DATABASE closed");
        assertThatThrownBy(() -> Lake.open(in("closed", "stranger")))
                .hasMessage("lake catalog cannot be opened: schema=ml_lake, sqlstate=42501, "
                        + "reason=ERROR: permission denied for database closed");
    }

    @Test
    void usesASchemaItMayNotCreate() {
        postgres.execute("CREATE DATABASE prepared", "CREATE ROLE tenant LOGIN");
        postgres.executeIn("prepared", "CREATE SCHEMA ml_lake AUTHORIZATION tenant");
        try (Lake lake = Lake.open(in("prepared", "tenant"))) {
            assertThat(((SupportsNamespaces) lake.catalog()).listNamespaces()).isEmpty();
        }
    }

    @Test
    void survivesARestartOfTheDatabase() {
        postgres.execute("GRANT CREATE ON DATABASE postgres TO worker");
        try (Lake lake = Lake.open(TestingLake.postgres(directory, postgres, "worker"))) {
            TestingTable rows = TestingLake.table(lake, "restarted", "id integer", "v text");
            rows.append(List.of(rows.row(1, "a")));
            postgres.stop();
            postgres.launch();
            rows.append(List.of(rows.row(2, "b")));
            assertThat(SnapshotSize.of(lake.table("public.restarted"), rows.snapshotId(), null)
                            .rows())
                    .isEqualTo(2);
        }
    }

    @Test
    void rowsEqualTheSourceInEveryType() throws IOException {
        postgres.execute(
                "CREATE TYPE mood AS ENUM ('sad', 'OK', '😀 happy')",
                "CREATE TABLE \"Every Type\" (id bigint PRIMARY KEY, i2 smallint, i4 integer, r real, d double precision,"
                        + " n numeric, n2 numeric(12,4), n3 numeric(38,0), n4 numeric(5,-2), b boolean, t text,"
                        + " v varchar(10), c character(6), day date, ts timestamp, ts3 timestamp(3), tz timestamptz,"
                        + " u uuid, m mood, \"quoted \"\"name\"\". x\" text)",
                "INSERT INTO \"Every Type\" SELECT g, g, -g, (random() * 10 ^ (g % 60 - 30))::real,"
                        + " random() * 10 ^ (g % 40 - 20), (random() * 1000)::numeric(20, 8) / 3, g / 7.0,"
                        + " '12345678901234567890123456789012345678', g * 100, g % 2 = 0, 't' || g, 'vé', 'c' || g % 9,"
                        + " date '2000-02-28' + g, timestamp '1999-12-31 23:59:59.9' + g * interval '1.000001 s',"
                        + " timestamp '2024-01-01' + g * interval '7 ms', timestamptz '1969-12-31 20:00+00' + g * interval '1 h',"
                        + " gen_random_uuid(), (enum_range(NULL::mood))[1 + g % 3], 'q' FROM generate_series(1, 500) g",
                "INSERT INTO \"Every Type\" (id) VALUES (0)",
                "INSERT INTO \"Every Type\" (id, r, d, n, t, c, day, ts, tz) VALUES (-1, 'NaN', '-Infinity', 'NaN', '', '', "
                        + "'0044-03-15 BC', '0001-01-01 00:00:00.5 BC', '9999-12-31 23:59:59.999999+00'),"
                        + " (-2, 3.4e38, 1e-310, 'Infinity', E'a\\nb', '  x', '10000-01-01', '12345-06-07', '0001-01-01 BC'),"
                        + " (-3, 1e6, 1e15, 0.10, 'b', 'c', '1970-01-01', '1970-01-01', '1970-01-01'),"
                        + " (-4, 999999, 999999999999999, -1.50, 'b', 'c', '1969-12-31', '1969-12-31 23:59:59.999999', '1970-01-01'),"
                        + " (-5, 1e-4, 1e-4, 100, 'b', 'c', NULL, NULL, NULL), (-6, 1e-5, 1e-5, 100.00, 'b', 'c', NULL, NULL, NULL),"
                        + " (-7, -0.0, 2e-323, 1e-20, 'b', 'c', NULL, NULL, NULL), (-8, 1.17549435e-38, 5e-324, 1e20, 'b', 'c', NULL, NULL, NULL)");
        CapturedTable source = TestingMirror.describe(postgres, "public", "Every Type");
        try (Lake lake = Lake.open(TestingLake.sqlite(directory))) {
            TestingTable mirror = new TestingTable(lake.createTable(source));
            mirror.append(TestingMirror.rows(postgres, source, mirror));
            List<List<@Nullable String>> texts = new ArrayList<>();
            RowChecksum.forEachRow(mirror.table(), mirror.snapshotId(), row -> texts.add(new ArrayList<>(row)));
            assertThat(texts).containsExactlyElementsOf(TestingMirror.texts(postgres, source));
            assertThat(RowChecksum.of(mirror.table(), mirror.snapshotId()))
                    .isEqualTo(TestingMirror.checksum(postgres, source));
            assertThat(LakeNames.of("public", "Every Type").name()).matches("Every_Type_[0-9a-f]{8}");

            postgres.execute(
                    "UPDATE \"Every Type\" SET t = t || '!' WHERE id % 50 = 0",
                    "DELETE FROM \"Every Type\" WHERE id = 7");
            assertThat(RowChecksum.of(mirror.table(), mirror.snapshotId()))
                    .isNotEqualTo(TestingMirror.checksum(postgres, source));
        }
    }

    /** PostgreSQL computes the same numbers in another way: exact sums of numeric, sorted values for the median. */
    @Test
    void fittedNumbersEqualTheDatabasesOwn() throws IOException {
        postgres.execute(
                "CREATE TABLE customers (id integer PRIMARY KEY, age integer, fee numeric(10,2), score double precision,"
                        + " plan text, joined date, active boolean, churn text)",
                "INSERT INTO customers SELECT g, CASE WHEN g % 11 <> 0 THEN (g * 37) % 71 + 18 END, (g * 7919 % 100000) / 100.0,"
                        + " CASE WHEN g % 13 <> 0 THEN ln(g) * 1e6 + 1e9 END, 'plan ' || (g * g % 17), date '2020-01-01' + g % 900,"
                        + " g % 3 = 0, CASE WHEN g % 5 = 0 THEN 'yes' WHEN g % 7 > 0 THEN 'no' END FROM generate_series(1, 5000) g",
                "DELETE FROM customers WHERE id % 97 = 0",
                "UPDATE customers SET fee = fee + 1000 WHERE id % 89 = 0");
        CapturedTable source = TestingMirror.describe(postgres, "public", "customers");
        try (Lake lake = Lake.open(TestingLake.sqlite(directory))) {
            TestingTable mirror = new TestingTable(lake.createTable(source));
            List<Record> rows = TestingMirror.rows(postgres, source, mirror);
            mirror.append(rows.subList(0, 2_000));
            mirror.append(rows.subList(2_000, rows.size()));
            FittedPreprocessing fitted = new Fitter()
                    .fit(
                            mirror.table(),
                            mirror.snapshotId(),
                            new FitRequest(
                                    1,
                                    "churn",
                                    List.of("id"),
                                    null,
                                    null,
                                    JsonNodeFactory.instance.objectNode().put("default", "linear")));
            for (FittedColumn column : fitted.columns()) {
                if (column.encoder() instanceof Encoder.None) {
                    assertNumbers(column);
                }
            }
            assertThat(fitted.columns().get(3).encoder())
                    .isEqualTo(new Encoder.OneHot(
                            postgres
                                    .query("SELECT plan FROM customers GROUP BY plan HAVING count(*) >="
                                            + " 0.01 * (SELECT count(*) FROM customers) ORDER BY plan COLLATE \"C\"")
                                    .stream()
                                    .map(row -> String.valueOf(row.get(0)))
                                    .toList(),
                            false));
            assertThat(fitted.target().labels()).containsExactly("no", "yes");
            assertThat(fitted.counts().rows() + " " + fitted.counts().nullLabelRows())
                    .isEqualTo(postgres.queryOne(
                            "SELECT count(*) || ' ' || count(*) FILTER (WHERE churn IS NULL) FROM customers"));
        }
    }

    private static void assertNumbers(FittedColumn column) {
        String value = switch (column.type()) {
            case BOOLEAN -> column.name() + "::int";
            case DATE -> column.name() + " - date '1970-01-01'";
            default -> column.name();
        };
        List<@Nullable String> expected = postgres.query(
                        "WITH v AS (SELECT (" + value + ")::text::numeric AS x FROM customers),"
                                + " m AS (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x::float8) AS median FROM v),"
                                + " f AS (SELECT coalesce(x, median::text::numeric) AS x FROM v, m)"
                                + " SELECT (SELECT median FROM m), avg(x), stddev_pop(x) FROM f")
                .get(0);
        assertThat(column.imputer().value()).isEqualTo(Double.parseDouble(String.valueOf(expected.get(0))));
        double center = Double.parseDouble(String.valueOf(expected.get(1)));
        double scale = Double.parseDouble(String.valueOf(expected.get(2)));
        assertThat(column.scaler().center()).isCloseTo(center, within(1e-13 * Math.abs(center)));
        assertThat(column.scaler().scale()).isCloseTo(scale, within(1e-12 * scale));
    }

    @Test
    void valuesAndKeysAreThoseOfTheSource() throws IOException {
        postgres.execute(
                "CREATE TABLE composite (a numeric(5,2), b text, c boolean, d character(4), e timestamptz, x numeric, y real,"
                        + " PRIMARY KEY (b, a, c, d, e))",
                "INSERT INTO composite VALUES (1.50, 'plain', true, 'ab', '2024-05-06 07:08:09.1+00', 0.1, 0.1),"
                        + " (-2, 'with \"quotes\" and \\', false, 'abcd', '2024-05-06 07:08:09+00', 1e400, 16777217),"
                        + " (3, '', true, '', '2024-05-06 07:08:09+00', 123456789012345678901234567890.123456789, NULL),"
                        + " (4, 'a,b', true, 'x', '2024-05-06 07:08:09+00', 'NaN', 1.5),"
                        + " (5, E'tab\\there', true, 'x', '2024-05-06 07:08:09+00', '-Infinity', 1.5)");
        CapturedTable source = TestingMirror.describe(postgres, "public", "composite");
        List<String> expected = new ArrayList<>();
        for (List<@Nullable String> row : postgres.query(
                "SELECT ROW(a, b, c, d, e)::text || ' ' || x::text::float8::text FROM composite WHERE x < 1e300"
                        + " OR x = 'NaN' ORDER BY 1")) {
            expected.add(String.valueOf(row.get(0)));
        }
        try (Lake lake = Lake.open(TestingLake.sqlite(directory))) {
            TestingTable mirror = new TestingTable(lake.createTable(source));
            mirror.append(TestingMirror.rows(postgres, source, mirror));
            List<String> actual = new ArrayList<>();
            LakeSplit split =
                    SnapshotScan.plan(mirror.table(), mirror.snapshotId()).get(0);
            try (CloseableIterable<LakeRow> rows = SnapshotScan.open(mirror.table(), split, List.of("x"))) {
                for (LakeRow row : rows) {
                    double x = row.float64(0);
                    if (x < 1e300 || Double.isNaN(x)) {
                        actual.add(row.key() + " " + PostgresText.doublePrecision(x));
                    }
                }
            }
            assertThat(actual).containsExactlyInAnyOrderElementsOf(expected);
        }
    }

    @Test
    void leavesNoChecksumFilesBesideTheData() throws IOException {
        try (Lake lake = Lake.open(TestingLake.sqlite(directory))) {
            TestingTable rows = TestingLake.table(lake, "t", "id integer", "v text");
            rows.append(List.of(rows.row(1, "a")));
        }
        try (Stream<Path> files = Files.walk(directory)) {
            assertThat(files.map(file -> file.getFileName().toString())).noneMatch(name -> name.endsWith(".crc"));
        }
    }

    private LakeConfig in(String database, String user) {
        LakeConfig config = TestingLake.postgres(directory, postgres, user);
        config.catalogProperties()
                .computeIfPresent("uri", (key, uri) -> uri.replace("/postgres?", "/" + database + "?"));
        return config;
    }
}
