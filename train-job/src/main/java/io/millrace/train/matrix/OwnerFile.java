package io.millrace.train.matrix;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/*
 * Why not a lock on the file: POSIX drops all locks a process has on a file as soon as it closes any descriptor of it,
 * so one thread that merely looks whether a file is locked would release the lock of another thread of its process.
 */

/**
 * A file that says which process owns something. A process is known by its number and the moment it started, so a
 * number used again is not mistaken for it.
 */
final class OwnerFile implements AutoCloseable {
    private static final int START_FIELD_AFTER_NAME = 19;

    private final Path file;

    private OwnerFile(Path file) {
        this.file = file;
    }

    /** Marks something as owned by this process. */
    static OwnerFile create(Path file) throws IOException {
        long pid = ProcessHandle.current().pid();
        Files.writeString(file, pid + " " + startTicks(pid));
        return new OwnerFile(file);
    }

    /** Whether the process that wrote the file still runs; false if there is no such file. */
    static boolean ownerAlive(Path file) throws IOException {
        try {
            List<String> fields = List.of(Files.readString(file).split(" ", -1));
            return fields.size() == 2
                    && startTicks(Long.parseLong(fields.get(0))).equals(fields.get(1));
        } catch (NoSuchFileException e) {
            return false;
        } catch (NumberFormatException e) {
            // Its writer died between making and filling it.
            return false;
        }
    }

    /** When a process started, in the kernel's ticks; empty if it does not run. */
    private static String startTicks(long pid) throws IOException {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            // The name before it may hold spaces and parentheses; nothing after it does.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return fields[START_FIELD_AFTER_NAME];
        } catch (NoSuchFileException e) {
            return "";
        }
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(file);
    }
}
