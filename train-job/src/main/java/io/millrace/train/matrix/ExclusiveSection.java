package io.millrace.train.matrix;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Runs short actions one at a time among all threads and processes of the machine that use the same file.
 *
 * <p>A file lock keeps processes apart; threads of one process, even of different class loaders, are kept apart by an
 * interned string, of which a JVM has one.
 */
final class ExclusiveSection {
    private final Path file;
    private final String monitor;

    ExclusiveSection(Path file) {
        this.file = file;
        this.monitor = ("io.millrace.train.matrix " + file).intern();
    }

    <T> T run(Action<T> action) throws IOException {
        synchronized (monitor) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                // Released with the channel.
                channel.lock();
                return action.run();
            }
        }
    }

    interface Action<T> {
        T run() throws IOException;
    }
}
