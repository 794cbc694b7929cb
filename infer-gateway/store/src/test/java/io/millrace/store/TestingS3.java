package io.millrace.store;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** An S3 server in its own process, over a local directory; a bucket is a directory below it. */
final class TestingS3 implements AutoCloseable {
    static final String ACCESS_KEY = "testing-access-key";
    static final String SECRET_KEY = "testing-secret-key";
    static final String BUCKET = "models";

    private static final long START_MILLIS = 60_000;

    private final Path base;
    private final int port;
    private final Process process;

    private TestingS3(Path base, int port, Process process) {
        this.base = base;
        this.port = port;
        this.process = process;
    }

    /** Starts a server with one bucket and waits until it accepts connections. */
    static TestingS3 start(Path directory) throws IOException, InterruptedException {
        Path base = Files.createDirectories(directory.resolve("s3"));
        Files.createDirectories(base.resolve(BUCKET));
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Path properties = directory.resolve("s3proxy.properties");
        Files.write(
                properties,
                List.of(
                        "s3proxy.authorization=aws-v4",
                        "s3proxy.endpoint=http://127.0.0.1:" + port,
                        "s3proxy.identity=" + ACCESS_KEY,
                        "s3proxy.credential=" + SECRET_KEY,
                        "jclouds.provider=filesystem-nio2",
                        "jclouds.identity=unused",
                        "jclouds.credential=unused",
                        "jclouds.filesystem.basedir=" + base));
        Path log = directory.resolve("s3proxy.log");
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "org.gaul.s3proxy.Main",
                        "--properties",
                        properties.toString()))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        TestingS3 server = new TestingS3(base, port, process);
        try {
            server.awaitConnections(log);
        } catch (IOException | InterruptedException | RuntimeException e) {
            server.close();
            throw e;
        }
        return server;
    }

    private void awaitConnections(Path log) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_MILLIS);
        while (System.nanoTime() - deadline < 0 && process.isAlive()) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
                return;
            } catch (IOException notYet) {
                Thread.sleep(50);
            }
        }
        throw new IllegalStateException("S3 server does not start: log=" + Files.readString(log));
    }

    /** A store in the bucket. */
    StoreConfig config(long timeoutMillis) {
        return config(BUCKET, SECRET_KEY, timeoutMillis);
    }

    StoreConfig config(String bucket, String secret, long timeoutMillis) {
        return new StoreConfig(
                "s3",
                Map.of(
                        "root",
                        "/production/models",
                        "bucket",
                        bucket,
                        "endpoint",
                        "http://127.0.0.1:" + port,
                        "region",
                        "us-east-1",
                        "access_key_id",
                        ACCESS_KEY,
                        "secret_access_key",
                        secret,
                        "disable_config_load",
                        "true",
                        "disable_ec2_metadata",
                        "true"),
                timeoutMillis,
                1L << 30,
                1L << 33);
    }

    /** The file behind an object of the bucket. */
    Path file(String object) {
        return base.resolve(BUCKET).resolve("production/models").resolve(object);
    }

    /** Sends a signal: STOP, CONT. */
    void signal(String name) throws IOException, InterruptedException {
        int status = new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                .inheritIO()
                .start()
                .waitFor();
        if (status != 0) {
            throw new IllegalStateException("signal cannot be sent: name=" + name + ", status=" + status);
        }
    }

    /** Ends the server at once, as a crash does. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
