package io.millrace.gateway.model;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.store.ModelStore;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/*
 * A uri comes from whoever owns a project. So it reaches only two places: the import directory, if one is configured, by
 * the real path of the file behind every link; and the store's own directory for files to import, never a package.
 */

/** Where model files to import may be. Threads: any. */
final class ImportSource {
    private static final String FILE_SCHEME = "file:";
    private static final String KEY = "import-directory";
    private static final int BUFFER_LENGTH = 1 << 20;

    private final ModelStore store;
    private final @Nullable Path importDirectory;
    private final long fileBytesMax;

    /**
     * A source.
     *
     * @param importDirectory null when no local file may be imported
     * @param fileBytesMax largest file
     */
    ImportSource(ModelStore store, @Nullable Path importDirectory, long fileBytesMax) {
        this.store = store;
        this.importDirectory = importDirectory;
        this.fileBytesMax = fileBytesMax;
    }

    /**
     * Copies a file.
     *
     * @param wanted asked between pieces
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if the uri leads elsewhere or to nothing, {@link
     *     ErrorCode#MODEL_TOO_LARGE}, {@link ErrorCode#CANCELLED}, or what the store or the disk throws
     */
    void copy(String uri, Path target, BooleanSupplier wanted) {
        if (!uri.startsWith(FILE_SCHEME)) {
            store.fetchFile(uri, target, fileBytesMax);
            return;
        }
        Path file = realPath(uri);
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS);
                OutputStream out = Files.newOutputStream(target)) {
            checkLength(Files.size(file));
            byte[] buffer = new byte[BUFFER_LENGTH];
            long copied = 0;
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                if (!wanted.getAsBoolean()) {
                    throw new ContractException(ErrorCode.CANCELLED, "import is cancelled");
                }
                copied += length;
                // The file may still grow.
                checkLength(copied);
                out.write(buffer, 0, length);
            }
        } catch (IOException e) {
            throw new ContractException(
                    ErrorCode.IO_FAILED, "file to import cannot be read: reason=" + e.getMessage(), e);
        }
    }

    private void checkLength(long bytes) {
        if (bytes > fileBytesMax) {
            throw new ContractException(
                    ErrorCode.MODEL_TOO_LARGE,
                    "model file must be within its limit: bytes=" + bytes + ", limitBytes=" + fileBytesMax);
        }
    }

    private Path realPath(String uri) {
        if (importDirectory == null) {
            throw invalid(
                    "local file cannot be imported while " + KEY + " of gateway.properties is not set; a file of the"
                            + " model store can, as " + ModelStore.IMPORT_URI_PREFIX + "NAME: uri=" + shortened(uri));
        }
        try {
            Path directory = importDirectory.toRealPath();
            Path file = Path.of(new URI(uri)).toRealPath();
            if (file.startsWith(directory) && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                return file;
            }
        } catch (IOException
                | URISyntaxException
                | IllegalArgumentException
                | FileSystemNotFoundException
                | SecurityException e) {
            // What is outside must not tell whether it exists: one message for all.
        }
        throw invalid("file to import must be a readable file in the import directory: uri=" + shortened(uri) + ", "
                + KEY + "=" + importDirectory);
    }

    private static String shortened(String uri) {
        return uri.length() <= 200 ? uri : uri.substring(0, 200) + "...";
    }

    private static ContractException invalid(String message) {
        return new ContractException(ErrorCode.INVALID_VALUE, message);
    }
}
