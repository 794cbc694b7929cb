package io.millrace.lake.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A private PostgreSQL 15 cluster in a temporary directory on a free port, with logical decoding on.
 *
 * <p>The superuser is {@link #SUPERUSER}; connections from this machine need no password. When the tests run as root the server
 * runs as the operating system user {@code postgres}, because PostgreSQL refuses root. {@link #close} stops the server by its pid
 * and removes the directory; a JVM that exits without it does the same in a shutdown hook.
 *
 * <p>The programs are looked for in the directory of the system property {@code millrace.postgres.bin}, by default that of Debian.
 * Threads: starting and stopping from one thread, connections from any.
 */
public final class TestingPostgres implements AutoCloseable {
    public static final String SUPERUSER = "millrace_test";
    public static final String WORKER = "millrace_worker";
    public static final String DATABASE = "postgres";

    private static final String HOST = "127.0.0.1";
    private static final Path BIN = Path.of(System.getProperty("millrace.postgres.bin", "/usr/lib/postgresql/15/bin"));
    private static final int START_SECONDS = 120;

    /** Loaded with this class: while the JVM ends, its jar may already be another. */
    private static final SimpleFileVisitor<Path> DELETE = new SimpleFileVisitor<>() {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure) throws IOException {
            Files.delete(directory);
            return FileVisitResult.CONTINUE;
        }
    };

    private final Path root;
    private final Path data;
    private final Path log;
    private final int port;
    private final List<String> runAs;
    private final Thread hook;
    private @Nullable Process server;

    private TestingPostgres(Path root, int port, List<String> runAs) {
        this.root = root;
        this.data = root.resolve("data");
        this.log = root.resolve("postgres.log");
        this.port = port;
        this.runAs = runAs;
        this.hook = new Thread(this::stopAndDelete, "testing-postgres-stop");
    }

    /** A running cluster without the extension. */
    public static TestingPostgres start() {
        boolean root = "root".equals(System.getProperty("user.name"));
        // setpriv replaces itself by the program, so the pid of the process is the pid of the server.
        List<String> runAs = root
                ? List.of("setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--no-new-privs", "--")
                : List.of();
        try {
            Path directory = Files.createTempDirectory("millrace-postgres-");
            if (root) {
                Files.setOwner(
                        directory,
                        directory
                                .getFileSystem()
                                .getUserPrincipalLookupService()
                                .lookupPrincipalByName("postgres"));
            }
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
            TestingPostgres postgres = new TestingPostgres(directory, freePort(), runAs);
            Runtime.getRuntime().addShutdownHook(postgres.hook);
            postgres.initialise();
            postgres.launch();
            return postgres;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A running cluster with the extension {@code millrace} created and the role {@link #WORKER} a member of {@code ml_worker}.
     * The extension must have been installed ({@code make -C sql-udfs install}) before.
     */
    public static TestingPostgres startWithMillrace() {
        TestingPostgres postgres = start();
        try {
            postgres.createMillrace(DATABASE);
            return postgres;
        } catch (RuntimeException e) {
            postgres.close();
            throw e;
        }
    }

    /** Creates the extension in {@code database} and lets the worker role log in and replicate; it has no other right than those of ml_worker. */
    public void createMillrace(String database) {
        executeIn(database, "CREATE EXTENSION IF NOT EXISTS millrace");
        executeIn(
                database,
                "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '" + WORKER + "') THEN CREATE ROLE "
                        + WORKER + " LOGIN REPLICATION; END IF; END $$",
                "GRANT ml_worker TO " + WORKER);
    }

    public String host() {
        return HOST;
    }

    public int port() {
        return port;
    }

    public String url() {
        return url(DATABASE);
    }

    public String url(String database) {
        return "jdbc:postgresql://" + HOST + ":" + port + "/" + database;
    }

    /** The keys of {@code database.properties} for {@code user} on the default database. */
    public Map<String, String> databaseProperties(String user) {
        Map<String, String> properties = new TreeMap<>();
        properties.put("database-host", HOST);
        properties.put("database-port", Integer.toString(port));
        properties.put("database-name", DATABASE);
        properties.put("database-user", user);
        properties.put("database-password", "");
        return properties;
    }

    /** A new connection as the superuser to the default database; the caller closes it. */
    public Connection connect() {
        return connect(DATABASE, SUPERUSER);
    }

    public Connection connect(String database, String user) {
        Properties properties = new Properties();
        properties.setProperty("user", user);
        properties.setProperty("ApplicationName", "testing");
        try {
            return DriverManager.getConnection(url(database), properties);
        } catch (SQLException e) {
            throw new IllegalStateException("cannot connect: user=" + user + ", port=" + port, e);
        }
    }

    /** Runs each statement in its own transaction as the superuser. */
    public void execute(String... statements) {
        executeIn(DATABASE, statements);
    }

    public void executeIn(String database, String... statements) {
        try (Connection connection = connect(database, SUPERUSER);
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("statement failed: " + e.getMessage(), e);
        }
    }

    /** The rows of a query as text, in PostgreSQL's own text form; NULL is null. */
    public List<List<@Nullable String>> query(String sql, Object... parameters) {
        try (Connection connection = connect();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            List<List<@Nullable String>> rows = new ArrayList<>();
            try (ResultSet result = statement.executeQuery()) {
                int width = result.getMetaData().getColumnCount();
                while (result.next()) {
                    List<@Nullable String> row = new ArrayList<>(width);
                    for (int i = 1; i <= width; i++) {
                        row.add(result.getString(i));
                    }
                    rows.add(row);
                }
            }
            return rows;
        } catch (SQLException e) {
            throw new IllegalStateException("query failed: " + e.getMessage(), e);
        }
    }

    /** The first column of the first row of a query as text, null when there is no row or it is NULL. */
    public @Nullable String queryOne(String sql, Object... parameters) {
        List<List<@Nullable String>> rows = query(sql, parameters);
        return rows.isEmpty() ? null : rows.get(0).get(0);
    }

    /** Pid of the postmaster. */
    public long pid() {
        Process running = server;
        if (running == null) {
            throw new IllegalStateException("server is stopped: port=" + port);
        }
        return running.pid();
    }

    /** Fast shutdown: sessions are ended, a checkpoint is written. The data stay. */
    public void stop() {
        end("INT");
    }

    /** Shutdown without a checkpoint, as in a crash: the next {@link #launch} recovers from WAL. */
    public void crash() {
        end("QUIT");
    }

    /** Starts the stopped server on the same port and waits until it answers. */
    public void launch() {
        if (server != null) {
            throw new IllegalStateException("server is running: port=" + port);
        }
        try {
            server = process(BIN.resolve("postgres").toString(), "-D", data.toString())
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        awaitReady();
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException alreadyShuttingDown) {
            return; // the hook is doing the work
        }
        stopAndDelete();
    }

    private void initialise() throws IOException {
        Process initdb = process(
                        BIN.resolve("initdb").toString(),
                        "--pgdata=" + data,
                        "--username=" + SUPERUSER,
                        "--auth=trust",
                        "--encoding=UTF8",
                        "--locale=C.UTF-8",
                        "--no-sync")
                .start();
        if (await(initdb, START_SECONDS) != 0) {
            throw new IllegalStateException("initdb failed: " + logText());
        }
        String settings = String.join(
                "\n",
                "listen_addresses = '" + HOST + "'",
                "port = " + port,
                "unix_socket_directories = ''",
                "wal_level = logical",
                "max_replication_slots = 20",
                "max_wal_senders = 20",
                "max_connections = 100",
                "shared_buffers = 32MB",
                "fsync = off",
                "timezone = 'UTC'",
                "");
        // Later settings win, and appending keeps the owner of the file.
        Files.writeString(data.resolve("postgresql.conf"), settings, StandardOpenOption.APPEND);
    }

    private void awaitReady() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        Properties properties = new Properties();
        properties.setProperty("user", SUPERUSER);
        while (true) {
            try (Connection connection = DriverManager.getConnection(url(), properties)) {
                connection.isValid(1);
                return;
            } catch (SQLException e) {
                Process running = server;
                if (running == null || !running.isAlive() || System.nanoTime() > deadline) {
                    throw new IllegalStateException("server did not start: port=" + port + "\n" + logText(), e);
                }
                sleep();
            }
        }
    }

    private void end(String signal) {
        Process running = server;
        if (running == null) {
            return;
        }
        try {
            // Java can only send TERM, which would wait for the sessions.
            new ProcessBuilder("/bin/sh", "-c", "kill -" + signal + " " + running.pid())
                    .start()
                    .waitFor();
            if (!running.waitFor(30, TimeUnit.SECONDS)) {
                running.destroyForcibly().waitFor();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            running.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        server = null;
    }

    private void stopAndDelete() {
        end("INT");
        try {
            Files.walkFileTree(root, DELETE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ProcessBuilder process(String... command) {
        List<String> line = new ArrayList<>(runAs);
        line.addAll(List.of(command));
        ProcessBuilder builder = new ProcessBuilder(line)
                .directory(root.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().put("LC_ALL", "C.UTF-8");
        return builder;
    }

    private String logText() {
        try {
            return Files.exists(log) ? Files.readString(log) : "";
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static int await(Process process, int seconds) {
        try {
            if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return -1;
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            return -1;
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(50);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the server starts", e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
