package io.millrace.gateway.profile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The directory of recordings and of files that live as long as a request. Several gateways may share it: every name tells
 * the pid, and what a killed process left is removed by the next one that starts.
 */
final class ProfileDirectory {
    /** JFR's directories are {@code TIME_PID}, with a number behind it for a second one of the same second. */
    private static final Pattern OWNED =
            Pattern.compile("[0-9]{4}(?:_[0-9]{2}){5}_([0-9]+)(?:_[0-9]+)?|profile-([0-9]+)-.*");

    private final Path path;

    private ProfileDirectory(Path path) {
        this.path = path;
    }

    /** Makes the directory if there is none, and removes what belongs to processes that are gone. */
    static ProfileDirectory open(Path path) throws IOException {
        Files.createDirectories(path);
        List<Path> entries;
        try (Stream<Path> listed = Files.list(path)) {
            entries = listed.filter(ProfileDirectory::isOrphan).toList();
        }
        for (Path entry : entries) {
            remove(entry);
        }
        return new ProfileDirectory(path);
    }

    private static boolean isOrphan(Path entry) {
        Matcher owned = OWNED.matcher(entry.getFileName().toString());
        if (!owned.matches()) {
            return false;
        }
        long pid = Long.parseLong(owned.group(1) == null ? owned.group(2) : owned.group(1));
        return pid != ProcessHandle.current().pid() && ProcessHandle.of(pid).isEmpty();
    }

    private static void remove(Path entry) throws IOException {
        List<Path> inner;
        try (Stream<Path> walked = Files.walk(entry)) {
            inner = walked.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path file : inner) {
            Files.deleteIfExists(file);
        }
    }

    /** A file that the caller deletes. */
    Path file(String suffix) throws IOException {
        return Files.createTempFile(path, "profile-" + ProcessHandle.current().pid() + "-", suffix);
    }
}
