package io.millrace.train.job;

import io.millrace.train.matrix.MatrixCache;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Does what a task does with a child: makes a scratch directory in the matrix cache of its argument and prints it, starts
 * the command line it then reads, one word a line up to an empty one, prints the process's number and waits to be killed.
 */
public final class ChildParentMain {
    private ChildParentMain() {}

    public static void main(String[] args) throws Exception {
        MatrixCache cache = MatrixCache.open(Path.of(args[0]), Long.MAX_VALUE);
        System.out.println(cache.scratch("run-1-1").directory());
        List<String> command = new ArrayList<>();
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null && !line.isEmpty(); line = lines.readLine()) {
                command.add(line);
            }
        }
        System.out.println(new ProcessBuilder(command).start().pid());
        new CountDownLatch(1).await();
    }
}
