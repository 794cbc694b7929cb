import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import org.postgresql.util.PSQLException;

/*
 * Every statement reads which model is deployed beside its answers, under one snapshot, so the model of each answer is
 * known, and so is what it must say: soak_expected holds that for each model and row, written while nothing else ran.
 *
 * Half of the sessions wait for a gateway that restarts (ml.restart_wait_ms); they must not notice that it is killed.
 */
/**
 * Sessions that predict and check what they get, for 68-soak.sh, for as long as a file exists: {@code URL USER
 * PASSWORD-FILE SESSIONS SEED FILE}.
 * Prints {@code wrong answer: ..} for the first wrong answers, then {@code answers plain|waiting COUNT}, {@code wrong},
 * {@code slowest-millis} and {@code error plain|waiting gateway|other SQLSTATE COUNT MESSAGE} of all sessions, with the first
 * message of each.
 */
final class SoakLoad {
    private static final int ROW_COUNT = 500;
    private static final int WRONG_SHOWN = 20;
    private static final long PAUSE_MILLIS = 50;

    private enum Kind {
        PLAIN("-c ml.timeout_ms=30s"),
        /** With the wait, ml.timeout_ms must cover it. */
        WAITING("-c ml.restart_wait_ms=150s -c ml.timeout_ms=180s");

        private final String options;
        private final LongAdder answers = new LongAdder();

        Kind(String options) {
            this.options = options;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private record Expected(double prediction, double[] probabilities, String label) {}

    /** What a session asks about: the rows of a relation, as an expression on one of them. */
    private record Project(String name, String relation, String features, boolean hasClasses) {}

    private static final Map<Long, Map<Long, Expected>> expected = new HashMap<>();
    private static final List<Project> projects = new ArrayList<>();
    private static final LongAdder wrong = new LongAdder();
    private static final Map<String, LongAdder> errors = new ConcurrentSkipListMap<>();
    private static final Map<String, String> messages = new ConcurrentSkipListMap<>();
    private static volatile long slowestMillis;

    private final String url;
    private final Properties login = new Properties();
    private final Path runs;
    private final Kind kind;
    private final SplittableRandom random;
    private Connection connection;

    private SoakLoad(String url, Properties login, Path runs, Kind kind, SplittableRandom random) {
        this.url = url;
        this.runs = runs;
        this.kind = kind;
        this.random = random;
        this.login.putAll(login);
        this.login.put("options", kind.options);
        this.login.put("ApplicationName", "soak " + kind);
    }

    public static void main(String[] arguments) throws Exception {
        Properties login = new Properties();
        login.put("user", arguments[1]);
        login.put("password", Files.readString(Path.of(arguments[2])).strip());
        // Longer than any statement may take: a session that hangs must be told from one that waits.
        login.put("socketTimeout", "400");
        try (Connection connection = DriverManager.getConnection(arguments[0], login)) {
            read(connection);
        }
        int sessions = Integer.parseInt(arguments[3]);
        SplittableRandom random = new SplittableRandom(Long.parseLong(arguments[4]));
        List<Thread> threads = new ArrayList<>();
        for (int session = 0; session < sessions; session++) {
            Kind kind = Kind.values()[session % Kind.values().length];
            SoakLoad load = new SoakLoad(arguments[0], login, Path.of(arguments[5]), kind, random.split());
            Thread thread = new Thread(load::run);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (Kind kind : Kind.values()) {
            System.out.println("answers " + kind + " " + kind.answers.sum());
        }
        System.out.println("wrong " + wrong.sum());
        System.out.println("slowest-millis " + slowestMillis);
        new TreeMap<>(errors).forEach((key, count) -> System.out.println("error " + key + " " + count.sum() + " " + messages.get(key)));
    }

    private static void read(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            try (ResultSet rows = statement.executeQuery("SELECT name, relation, features, has_classes FROM soak_projects")) {
                while (rows.next()) {
                    projects.add(new Project(rows.getString(1), rows.getString(2), rows.getString(3), rows.getBoolean(4)));
                }
            }
            try (ResultSet rows = statement.executeQuery("SELECT model_id, id, prediction, proba, label FROM soak_expected")) {
                while (rows.next()) {
                    expected.computeIfAbsent(rows.getLong(1), model -> new HashMap<>())
                            .put(rows.getLong(2), new Expected(rows.getDouble(3), vector(rows.getArray(4)), rows.getString(5)));
                }
            }
        }
    }

    private static double[] vector(Array array) throws SQLException {
        return array == null ? null : Arrays.stream((Double[]) array.getArray()).mapToDouble(Double::doubleValue).toArray();
    }

    private void run() {
        while (Files.exists(runs)) {
            long begin = System.nanoTime();
            try {
                if (connection == null) {
                    connection = DriverManager.getConnection(url, login);
                }
                ask();
            } catch (SQLException e) {
                failed(e);
            } catch (RuntimeException | Error e) {
                // NULL in an array, say; the session goes on, in a transaction of its own.
                wrong(kind + " session: " + e);
                disconnect();
            }
            note((System.nanoTime() - begin) / 1_000_000);
        }
        disconnect();
    }

    private static synchronized void note(long millis) {
        slowestMillis = Math.max(slowestMillis, millis);
    }

    private void failed(SQLException failure) {
        String key = kind + (isOfGateway(failure) ? " gateway " : " other ") + failure.getSQLState();
        errors.computeIfAbsent(key, unseen -> new LongAdder()).increment();
        messages.putIfAbsent(key, String.valueOf(failure.getMessage()).replaceAll("\\s+", " "));
        // A session that is over, or a server that recovers; 57P03 and 57P01 are also said by the gateway, of a session that lives.
        try {
            // Who asks again at once takes the processor from the gateway that starts.
            Thread.sleep(PAUSE_MILLIS);
            if (connection == null || connection.isClosed() || !connection.isValid(30)) {
                disconnect();
                Thread.sleep(4 * PAUSE_MILLIS);
            } else if (!connection.getAutoCommit()) {
                connection.rollback();
                connection.setAutoCommit(true);
            }
        } catch (SQLException e) {
            disconnect();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** By the message alone: the gateway and a server that recovers share SQLSTATEs. Its context names statements. */
    private static boolean isOfGateway(SQLException failure) {
        return failure instanceof PSQLException e && e.getServerErrorMessage() != null
                && String.valueOf(e.getServerErrorMessage().getMessage()).contains("gateway");
    }

    private void disconnect() {
        try {
            if (connection != null) {
                connection.close();
            }
        } catch (SQLException gone) {
            // It was lost already.
        }
        connection = null;
    }

    private void ask() throws SQLException {
        Project project = projects.get(random.nextInt(projects.size()));
        int dice = random.nextInt(100);
        if (dice < 45) {
            one(project, "ml.predict");
        } else if (dice < 65 && project.hasClasses()) {
            one(project, dice < 55 ? "ml.predict_proba" : "ml.predict_class");
        } else if (dice < 75) {
            array(project);
        } else if (dice < 83 && project.hasClasses()) {
            relation(project);
        } else if (dice < 90) {
            transaction(project);
        } else if (dice < 95) {
            payload();
        } else {
            cutShort(project);
        }
    }

    private String deployed(Project project) {
        return "(SELECT deployed_model_id FROM ml.list_projects('" + project.name() + "'))";
    }

    private void one(Project project, String function) throws SQLException {
        String query = "SELECT " + deployed(project) + ", " + function + "('" + project.name() + "', " + project.features() + ") FROM "
                + project.relation() + " t WHERE id = ?";
        long id = 1 + random.nextInt(ROW_COUNT);
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            statement.setLong(1, id);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                Expected right = right(row.getLong(1), id);
                boolean same = switch (function) {
                    case "ml.predict" -> row.getDouble(2) == right.prediction() && !row.wasNull();
                    case "ml.predict_class" -> right.label().equals(row.getString(2));
                    default -> Arrays.equals(vector(row.getArray(2)), right.probabilities());
                };
                check(same, function, row.getLong(1), id, row.getString(2));
            }
        }
    }

    private static Expected right(long model, long id) {
        Expected right = expected.getOrDefault(model, Map.of()).get(id);
        if (right == null) {
            throw new IllegalStateException("nobody knows what model " + model + " says of row " + id);
        }
        return right;
    }

    private void check(boolean same, String what, long model, long id, String answer) {
        kind.answers.increment();
        if (!same) {
            wrong(what + ", model " + model + ", row " + id + ": " + answer + " instead of " + right(model, id));
        }
    }

    private static void wrong(String what) {
        wrong.increment();
        if (wrong.sum() <= WRONG_SHOWN) {
            System.out.println("wrong answer: " + what);
        }
    }

    /** Many rows in one request; only numbers go into an array. */
    private void array(Project project) throws SQLException {
        if (!project.features().startsWith("ARRAY")) {
            one(project, "ml.predict");
            return;
        }
        int count = 1 + random.nextInt(ROW_COUNT);
        String query = "SELECT " + deployed(project) + ", b.n, b.p FROM ROWS FROM (ml.predict_batch('" + project.name()
                + "', (SELECT array_agg(" + project.features() + " ORDER BY id) FROM " + project.relation()
                + " t WHERE id <= " + count + "))) WITH ORDINALITY AS b (p, n)";
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            checkAll(rows, "predict_batch of an array", count);
        }
    }

    private void relation(Project project) throws SQLException {
        String query = "SELECT " + deployed(project) + ", b.key::bigint, b.prediction FROM ml.predict_batch('" + project.name() + "', '"
                + project.relation() + "', 'id', " + (1 + random.nextInt(1024)) + ") b";
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            checkAll(rows, "predict_batch of a table", ROW_COUNT);
        }
    }

    private void checkAll(ResultSet rows, String what, int count) throws SQLException {
        int seen = 0;
        while (rows.next()) {
            double right = right(rows.getLong(1), rows.getLong(2)).prediction();
            check(rows.getDouble(3) == right && !rows.wasNull(), what, rows.getLong(1), rows.getLong(2), rows.getString(3));
            seen++;
        }
        if (seen != count) {
            wrong(what + ": " + seen + " rows instead of " + count);
        }
    }

    /** A transaction that reads one state of the database keeps its model, whatever is deployed meanwhile. */
    private void transaction(Project project) throws SQLException {
        connection.setAutoCommit(false);
        long model = 0;
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
            for (int step = 0; step < 4; step++) {
                try (ResultSet row = statement.executeQuery("SELECT " + deployed(project))) {
                    row.next();
                    if (step > 0 && row.getLong(1) != model) {
                        wrong("a transaction saw two models deployed: " + model + ", " + row.getLong(1));
                    }
                    model = row.getLong(1);
                }
                one(project, "ml.predict");
            }
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    /** Bytes there and back, of which half do not fit a slot. */
    private void payload() throws SQLException {
        int length = random.nextInt(300_000);
        String query = "SELECT ml._echo(p) = p FROM convert_to(repeat('m', " + length + "), 'UTF8') p";
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            kind.answers.increment();
            if (!row.getBoolean(1)) {
                wrong("an echo of " + length + " bytes");
            }
        }
    }

    /** A statement that is likely to be cancelled in the middle of its requests. */
    private void cutShort(Project project) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCAL statement_timeout = " + (1 + random.nextInt(40)));
            statement.execute("SELECT count(ml.predict('" + project.name() + "', " + project.features() + ")) FROM "
                    + project.relation() + " t, generate_series(1, 20)");
        }
        connection.rollback();
        connection.setAutoCommit(true);
    }
}
