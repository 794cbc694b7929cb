package io.millrace.store;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** A package on the local disk: reading its manifest, and comparing every file with it. */
final class PackageFiles {
    /** A manifest is a page of text; more is an error or an attack. */
    static final int MANIFEST_LENGTH_MAX = 4 << 20;

    private static final int FILE_COUNT_MAX = 64;

    private PackageFiles() {}

    /** The manifest's bytes; {@link ErrorCode#CORRUPT_PACKAGE} if absent or absurdly long. */
    static byte[] readManifest(Path directory) {
        Path file = directory.resolve(ModelManifest.FILE_NAME);
        try {
            if (!Files.isRegularFile(file)) {
                throw corrupt("manifest is missing from its package", "package=" + directory);
            }
            checkManifestLength(Files.size(file), directory.toString());
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw ioFailed("manifest cannot be read", file, e);
        }
    }

    static void checkManifestLength(long length, String directory) {
        if (length > MANIFEST_LENGTH_MAX) {
            throw new ContractException(
                    ErrorCode.MODEL_TOO_LARGE,
                    "manifest must be within its limit: package=" + directory + ", actualBytes=" + length
                            + ", limitBytes=" + MANIFEST_LENGTH_MAX);
        }
    }

    /** Parses a manifest and checks what the store relies on: plain, distinct names and a total within the limit. */
    static ModelManifest checkedManifest(byte[] bytes, String directory, StoreConfig config) {
        ModelManifest manifest = ModelManifest.parse(bytes);
        List<ModelManifest.FileEntry> files = manifest.files();
        if (files.isEmpty() || files.size() > FILE_COUNT_MAX) {
            throw corrupt(
                    "manifest must name a sane count of files",
                    "package=" + directory + ", actual=" + files.size() + ", limit=" + FILE_COUNT_MAX);
        }
        Set<String> names = new HashSet<>();
        long total = 0;
        for (ModelManifest.FileEntry file : files) {
            if (!StorePath.isFileName(file.name())
                    || file.name().equals(ModelManifest.FILE_NAME)
                    || !names.add(file.name())) {
                throw corrupt(
                        "manifest must name each file once and plainly",
                        "package=" + directory + ", file=" + StorePath.shortened(file.name()));
            }
            total = file.bytes() < 0 || total + file.bytes() < total ? Long.MAX_VALUE : total + file.bytes();
            if (total > config.packageBytesMax()) {
                throw new ContractException(
                        ErrorCode.MODEL_TOO_LARGE,
                        "package must be within its limit: package=" + directory + ", file=" + file.name()
                                + ", actualBytes=" + total + ", limitBytes=" + config.packageBytesMax());
            }
        }
        return manifest;
    }

    /** Compares a local directory with its manifest: no file missing, altered or extra. */
    static void verify(Path directory, ModelManifest manifest) {
        Set<String> present = new HashSet<>();
        try (Stream<Path> files = Files.list(directory)) {
            files.forEach(file -> present.add(file.getFileName().toString()));
        } catch (IOException e) {
            throw ioFailed("package cannot be listed", directory, e);
        }
        checkNames(present, manifest, directory.toString());
        for (ModelManifest.FileEntry file : manifest.files()) {
            Path path = directory.resolve(file.name());
            try {
                checkLength(file, Files.size(path), directory.toString());
                checkDigest(file, Sha256.hex(path), directory.toString());
            } catch (IOException e) {
                throw ioFailed("package file cannot be read", path, e);
            }
        }
    }

    /** Every file of the manifest is present, and nothing else but the manifest. */
    static void checkNames(Set<String> present, ModelManifest manifest, String directory) {
        Set<String> extra = new HashSet<>(present);
        extra.remove(ModelManifest.FILE_NAME);
        for (ModelManifest.FileEntry file : manifest.files()) {
            if (!extra.remove(file.name())) {
                throw corrupt(
                        "file is missing from its package",
                        "package=" + directory + ", file=" + file.name() + ", expectedBytes=" + file.bytes());
            }
        }
        if (!extra.isEmpty()) {
            String first = extra.stream().sorted().findFirst().orElseThrow();
            throw corrupt(
                    "package cannot hold a file its manifest does not name",
                    "package=" + directory + ", file=" + StorePath.shortened(first));
        }
    }

    static void checkLength(ModelManifest.FileEntry file, long actualBytes, String directory) {
        if (actualBytes != file.bytes()) {
            throw corrupt(
                    "file must have the manifest's length",
                    "package=" + directory + ", file=" + file.name() + ", expectedBytes=" + file.bytes()
                            + ", actualBytes=" + actualBytes);
        }
    }

    static void checkDigest(ModelManifest.FileEntry file, String actualSha256, String directory) {
        if (!actualSha256.equals(file.sha256())) {
            throw corrupt(
                    "file must have the manifest's digest",
                    "package=" + directory + ", file=" + file.name() + ", expectedSha256=" + file.sha256()
                            + ", actualSha256=" + actualSha256);
        }
    }

    static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    static ContractException corrupt(String rule, String values) {
        return new ContractException(ErrorCode.CORRUPT_PACKAGE, rule + ": " + values);
    }

    static ContractException ioFailed(String rule, Path path, IOException cause) {
        boolean full = String.valueOf(cause.getMessage()).contains("No space left");
        return new ContractException(
                full ? ErrorCode.DISK_FULL : ErrorCode.IO_FAILED,
                rule + ": path=" + path + ", cause=" + cause.getMessage(),
                cause);
    }
}
