package io.millrace.train.job;

import io.millrace.train.TrainConfig;
import io.millrace.train.child.TrainChildMain;
import io.millrace.train.spec.DeployedModel;
import io.millrace.train.spec.Progress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Three things end a child: the end of its work, close(), and the end of the process that started it. The last works
 * through its standard input, a pipe that this process holds open and the kernel closes however this process ends.
 *
 * Pipes cannot be read interruptibly, and a cancelled task is interrupted. So two threads read the child's output, and
 * the task waits on a queue.
 */

/** A running child JVM. One thread follows it. */
final class ChildProcess implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ChildProcess.class);
    private static final int ERROR_LINES = 40;
    static final long HEAP_BASE_BYTES = 48L << 20;
    /** For the area under the curve, and the growth of the array that holds it. */
    private static final long HEAP_BYTES_PER_TEST_ROW = 24;
    /** A model file is read into trees of objects. */
    private static final long HEAP_BYTES_PER_MODEL_BYTE = 4;

    private static final long DIRECT_BYTES = 16L << 20;
    private static final long KILL_WAIT_SECONDS = 10;

    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final Deque<String> errorTail = new ArrayDeque<>();
    private final List<Thread> readers = new ArrayList<>();

    private ChildProcess(Process process) {
        this.process = process;
    }

    /** Starts a child with a command line of {@link #command}. */
    static ChildProcess start(TrainConfig config, List<String> command, Path workDirectory) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.directory(workDirectory.toFile());
        Map<String, String> environment = builder.environment();
        // Class paths and agents of this process are not the child's.
        environment.remove("CLASSPATH");
        environment.remove("JAVA_TOOL_OPTIONS");
        environment.remove("JDK_JAVA_OPTIONS");
        // One arena, and freed memory goes back at once: the peak is what counts.
        environment.put("MALLOC_ARENA_MAX", "1");
        environment.put("MALLOC_TRIM_THRESHOLD_", "1048576");
        environment.put("MALLOC_MMAP_THRESHOLD_", "1048576");
        // Threads that spin while they wait would take the processors from everybody else on the machine.
        environment.put("OMP_WAIT_POLICY", "passive");
        environment.put("OMP_NUM_THREADS", Integer.toString(config.childThreads()));
        ChildProcess child = new ChildProcess(builder.start());
        child.read("out", child.process.getInputStream(), false);
        child.read("err", child.process.getErrorStream(), true);
        LOG.info("started child: pid={}, workDirectory={}", child.process.pid(), workDirectory);
        return child;
    }

    /**
     * Heap of a child that trains.
     *
     * @param testRows rows it evaluates
     * @param deployed the model it compares with, which it loads as it loads its own
     */
    static long heapBytes(long testRows, @Nullable DeployedModel deployed) {
        long deployedBytes = deployed == null ? 0 : deployed.bytes();
        return HEAP_BASE_BYTES + testRows * HEAP_BYTES_PER_TEST_ROW + deployedBytes * HEAP_BYTES_PER_MODEL_BYTE;
    }

    /**
     * The command line of a child.
     *
     * @param task {@link TrainChildMain#TRAIN} or {@link TrainChildMain#FETCH}
     * @param spec its specification file
     * @param workDirectory its temporary directory
     */
    static List<String> command(TrainConfig config, String task, Path spec, Path workDirectory, long heapBytes) {
        List<String> command = new ArrayList<>();
        // A session of its own: a Ctrl-C meant for the platform's terminal does not reach it half way.
        addIfInstalled(command, "setsid");
        addIfInstalled(command, "nice", "-n", Integer.toString(config.trainNiceness()));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(
                "-Xms16m",
                "-Xmx" + (heapBytes >> 20) + "m",
                "-XX:MaxDirectMemorySize=" + DIRECT_BYTES,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:ReservedCodeCacheSize=32m",
                "-XX:MaxMetaspaceSize=96m",
                "-XX:+ExitOnOutOfMemoryError",
                "-Xss512k",
                "-Xshare:auto",
                "-Djava.io.tmpdir=" + workDirectory,
                "-Djna.tmpdir=" + workDirectory,
                "-cp",
                config.trainLibDirectory() + "/*",
                TrainChildMain.class.getName(),
                task,
                spec.toString()));
        return command;
    }

    private static void addIfInstalled(List<String> command, String program, String... arguments) {
        Path installed = Path.of("/usr/bin", program);
        if (Files.isExecutable(installed)) {
            command.add(installed.toString());
            command.addAll(List.of(arguments));
        }
    }

    private void read(String name, InputStream stream, boolean error) {
        Thread reader = new Thread(
                () -> {
                    try (BufferedReader text =
                            new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                        String line = text.readLine();
                        while (line != null) {
                            accept(line, error);
                            line = text.readLine();
                        }
                    } catch (IOException e) {
                        LOG.debug("child's output ended: pid={}", process.pid(), e);
                    }
                },
                "child-" + name + "-" + process.pid());
        reader.setDaemon(true);
        reader.start();
        readers.add(reader);
    }

    private void accept(String line, boolean error) {
        if (!error && line.startsWith(Progress.PREFIX)) {
            lines.add(line);
            return;
        }
        synchronized (errorTail) {
            errorTail.addLast(line);
            if (errorTail.size() > ERROR_LINES) {
                errorTail.removeFirst();
            }
        }
    }

    /**
     * Waits for the next progress line.
     *
     * @return null once the child has ended and all lines are taken
     */
    @Nullable
    Progress next() throws InterruptedException {
        while (true) {
            String line = lines.poll(100, TimeUnit.MILLISECONDS);
            if (line != null) {
                return Progress.parse(line);
            }
            if (!process.isAlive()) {
                for (Thread reader : readers) {
                    reader.join();
                }
                String last = lines.poll();
                return last == null ? null : Progress.parse(last);
            }
        }
    }

    /** How the child ended: its exit code, 128 + the signal that killed it. Call after {@link #next} answered null. */
    int exitCode() {
        return process.exitValue();
    }

    long pid() {
        return process.pid();
    }

    /** The last lines of its other output. */
    String errorTail() {
        synchronized (errorTail) {
            return String.join("\n", errorTail);
        }
    }

    /** Kills the child and whatever it started, if they still run. */
    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        try {
            if (!process.waitFor(KILL_WAIT_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("child does not end: pid={}", process.pid());
            }
        } catch (InterruptedException e) {
            // It has been killed; the caller is in a hurry.
            Thread.currentThread().interrupt();
        }
    }
}
