package io.millrace.region;

import io.millrace.contract.layout.PayloadLayout;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Names, modes, group and lock of the files of a region directory. */
final class RegionFiles implements AutoCloseable {
    static final String LOCK_NAME = "gateway.lock";
    static final String SOCKET_NAME = "gateway.sock";

    private static final int DIRECTORY_MODE = 02750;
    private static final int SHARED_DIRECTORY_MODE = 02770;
    private static final int SHARED_MODE = 0660;
    private static final int READABLE_MODE = 0640;

    /** All that a dead generation can leave behind. */
    private static final String DEAD_FILES = "{lines-*,req-*,resp-*,layout.bin*," + SOCKET_NAME + "}";

    private static final String DEAD_DIRECTORIES = PayloadLayout.DIRECTORY_PREFIX + "*";

    /** Times that a directory is emptied again because a backend of a dead generation still makes files in it. */
    private static final int REMOVALS_MAX = 10;

    private final Path directory;
    private final @Nullable GroupPrincipal group;
    private final FileChannel lockChannel;

    private RegionFiles(Path directory, @Nullable GroupPrincipal group, FileChannel lockChannel) {
        this.directory = directory;
        this.group = group;
        this.lockChannel = lockChannel;
    }

    /**
     * Makes the directory, takes its lock and removes what a dead gateway left in it.
     *
     * @throws RegionException if another gateway lives in it, or the directory cannot be made or written
     */
    static RegionFiles acquire(Path directory, Optional<String> groupName) {
        try {
            Files.createDirectories(directory);
            GroupPrincipal group = groupName.isPresent() ? lookup(directory, groupName.get()) : null;
            assign(directory, group, DIRECTORY_MODE);
            FileChannel channel = FileChannel.open(
                    directory.resolve(LOCK_NAME),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
            try {
                lock(directory, channel);
                RegionFiles files = new RegionFiles(directory, group, channel);
                files.removeDead();
                return files;
            } catch (IOException | RuntimeException e) {
                channel.close();
                throw e;
            }
        } catch (IOException e) {
            throw new RegionException(
                    "region directory cannot be used: directory=" + directory + ", reason=" + e,
                    "Let the gateway's user own the directory, or choose another region-directory on tmpfs.",
                    e);
        }
    }

    private static GroupPrincipal lookup(Path directory, String name) throws IOException {
        try {
            return directory.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByGroupName(name);
        } catch (IOException e) {
            throw new RegionException(
                    "region group is unknown: group=" + name,
                    "Name an existing operating-system group in region-group, usually the group of the database's user.",
                    e);
        }
    }

    private static void lock(Path directory, FileChannel channel) throws IOException {
        FileLock lock;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            lock = null;
        }
        if (lock == null) {
            throw new RegionException(
                    "region directory is in use by another gateway: directory=" + directory + ", pid="
                            + Files.readString(directory.resolve(LOCK_NAME)).strip(),
                    "Stop that gateway first, or give this one its own region-directory.",
                    null);
        }
        channel.truncate(0);
        channel.write(StandardCharsets.US_ASCII.encode(ProcessHandle.current().pid() + "\n"), 0);
    }

    /**
     * Removes the files of every generation. Backends that still map them keep their mapping until they look again, but
     * not the memory of its slabs.
     */
    void removeDead() throws IOException {
        DeadSlabs.free(directory);
        try (DirectoryStream<Path> dead = Files.newDirectoryStream(directory, DEAD_FILES)) {
            for (Path file : dead) {
                Files.deleteIfExists(file);
            }
        }
        try (DirectoryStream<Path> dead = Files.newDirectoryStream(directory, DEAD_DIRECTORIES)) {
            for (Path payloads : dead) {
                removeDirectory(payloads);
            }
        }
    }

    private static void removeDirectory(Path payloads) throws IOException {
        for (int removal = 1; ; removal++) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(payloads)) {
                for (Path file : files) {
                    Files.deleteIfExists(file);
                }
            }
            try {
                Files.deleteIfExists(payloads);
                return;
            } catch (DirectoryNotEmptyException e) {
                if (removal == REMOVALS_MAX) {
                    throw e;
                }
            }
        }
    }

    Path resolve(String name) {
        return directory.resolve(name);
    }

    /** For files that backends write: lines, request slabs, the socket. */
    void share(Path file) throws IOException {
        assign(file, group, SHARED_MODE);
    }

    /** For the directory in which backends make files. */
    void shareDirectory(Path payloads) throws IOException {
        assign(payloads, group, SHARED_DIRECTORY_MODE);
    }

    /** For files that backends only read: response slabs and the layout. */
    void expose(Path file) throws IOException {
        assign(file, group, READABLE_MODE);
    }

    /** Replaces a file in one step, readable from its first moment. */
    void publish(String name, byte[] bytes) throws IOException {
        Path temporary = resolve(name + ".tmp");
        Files.write(temporary, bytes);
        expose(temporary);
        Files.move(temporary, resolve(name), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static void assign(Path file, @Nullable GroupPrincipal group, int mode) throws IOException {
        if (group != null) {
            Files.getFileAttributeView(file, PosixFileAttributeView.class).setGroup(group);
        }
        // After the group: changing it clears the setgid bit.
        Files.setAttribute(file, "unix:mode", mode);
    }

    /** Gives the lock back; the lock file stays, since removing a lock file lets two holders meet. */
    @Override
    public void close() throws IOException {
        lockChannel.close();
    }
}
