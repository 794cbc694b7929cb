package io.millrace.gateway.profile;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Several gateways may share the directory, also from containers that number their processes alike. So each has a directory
 * of its own in it with a locked file: the kernel gives the lock back however the process ends, and what can be locked by
 * another was left behind. Whoever removes one holds its lock meanwhile; whoever has made one and then finds it locked or
 * gone makes another.
 */
/** The directory of this process for recordings and for files that live as long as a request. Threads: any. */
final class ProfileDirectory implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ProfileDirectory.class);
    private static final String PREFIX = "process-";
    private static final String LOCK = "lock";
    private static final int ATTEMPTS_MAX = 10;

    /** Of this very process: closing any channel of a file would give all its locks back. */
    private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final FileChannel lock;

    private ProfileDirectory(Path path, FileChannel lock) {
        this.path = path;
        this.lock = lock;
    }

    /**
     * Makes one, and removes those of processes that are gone.
     *
     * @param parent is made if there is none
     */
    static ProfileDirectory open(Path parent) throws IOException {
        Files.createDirectories(parent);
        Path real = parent.toRealPath();
        try (DirectoryStream<Path> listed = Files.newDirectoryStream(real, PREFIX + "*")) {
            for (Path entry : listed) {
                removeOrphan(entry);
            }
        }
        for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
            ProfileDirectory made = make(real);
            if (made != null) {
                return made;
            }
        }
        throw new IOException("directory of this process is removed by others: directory=" + real);
    }

    private static @Nullable ProfileDirectory make(Path parent) throws IOException {
        Path path = Files.createTempDirectory(parent, PREFIX);
        OWN.add(path);
        FileChannel channel = null;
        try {
            channel = lock(path);
            if (channel != null && Files.exists(path.resolve(LOCK))) {
                return new ProfileDirectory(path, channel);
            }
        } catch (NoSuchFileException e) {
            log.debug("directory of this process was removed by another: directory={}", path, e);
        }
        if (channel != null) {
            channel.close();
        }
        OWN.remove(path);
        return null;
    }

    /** The locked file; null while another process has it. */
    private static @Nullable FileChannel lock(Path path) throws IOException {
        FileChannel channel = FileChannel.open(path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = null;
        try {
            lock = channel.tryLock();
        } finally {
            if (lock == null) {
                channel.close();
            }
        }
        return lock == null ? null : channel;
    }

    private static void removeOrphan(Path entry) {
        if (OWN.contains(entry)) {
            return;
        }
        try (FileChannel lock = lock(entry)) {
            if (lock != null) {
                remove(entry);
            }
        } catch (IOException e) {
            log.warn("files of an ended process cannot be removed: path={}", entry, e);
        }
    }

    /** JFR may remove its own at the same time. */
    private static void remove(Path entry) throws IOException {
        if (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
            try (DirectoryStream<Path> inner = Files.newDirectoryStream(entry)) {
                for (Path file : inner) {
                    remove(file);
                }
            } catch (NoSuchFileException gone) {
                return;
            }
        }
        Files.deleteIfExists(entry);
    }

    Path path() {
        return path;
    }

    /** A file that the caller deletes; nobody else may read it. */
    Path file(String suffix) throws IOException {
        return Files.createTempFile(path, "profile-", suffix);
    }

    /** Deletes such a file; one that stays goes with the directory, and must not hide why it was not needed. */
    static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            log.warn("file of a profile cannot be deleted: file={}", file, e);
        }
    }

    /** Removes it with all that is in it. */
    @Override
    public void close() {
        try (lock) {
            remove(path);
        } catch (IOException e) {
            log.warn("directory of profiles cannot be removed: directory={}", path, e);
        }
        OWN.remove(path);
    }
}
