package io.millrace.store;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/*
 * OpenDAL's file system service joins a path to its root without looking at it, so "../" leaves the store. Every path
 * therefore passes here, and what passes has only plain segments: letters, digits, and . _ - %, never beginning with a
 * dot (which also keeps clear of the directory for unfinished writes).
 */

/** Names in the store: {@code store:<directory>}, relative to the configured root. */
final class StorePath {
    static final String URI_PREFIX = "store:";

    /** No database's name is escaped to this: a dot never stays. */
    static final String IMPORT_DIRECTORY = "import.d";

    private static final int DIRECTORY_LENGTH_MAX = 900;
    private static final int DEPTH_MAX = 8;
    private static final Pattern SEGMENT = Pattern.compile("[A-Za-z0-9_%-][A-Za-z0-9._%-]{0,249}");
    private static final String PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

    private StorePath() {}

    /** The directory of one attempt of one run; the database's name may hold any character. */
    static String directory(String database, long projectId, long runId, int attempt) {
        return validDirectory(escaped(database) + "/" + projectId + "/" + runId + "-" + attempt);
    }

    /** The directory of one import. */
    static String importedDirectory(String database, long projectId, String importId) {
        return validDirectory(escaped(database) + "/" + projectId + "/import-" + importId);
    }

    /**
     * The path of a file that was put into the store to be imported.
     *
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if the uri is of another scheme, or leads elsewhere
     */
    static String importPathOf(String uri) {
        if (!uri.startsWith(URI_PREFIX + IMPORT_DIRECTORY + "/")) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "uri of a file to import must begin with file: or " + URI_PREFIX + IMPORT_DIRECTORY + "/: uri="
                            + shortened(uri));
        }
        return validDirectory(uri.substring(URI_PREFIX.length()));
    }

    /** Percent-escapes all bytes of UTF-8 that are not plain. */
    private static String escaped(String name) {
        StringBuilder escaped = new StringBuilder();
        for (byte unit : name.getBytes(StandardCharsets.UTF_8)) {
            if (PLAIN.indexOf(unit) >= 0) {
                escaped.append((char) unit);
            } else {
                escaped.append(String.format("%%%02X", unit & 0xFF));
            }
        }
        return escaped.toString();
    }

    /**
     * The directory a URI names.
     *
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if it is not of this store or leaves its root
     */
    static String directoryOf(String uri) {
        if (!uri.startsWith(URI_PREFIX)) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE, "model uri must begin with " + URI_PREFIX + ": uri=" + shortened(uri));
        }
        return validDirectory(uri.substring(URI_PREFIX.length()));
    }

    /** The same string, checked; errors as {@link #directoryOf}. */
    static String validDirectory(String directory) {
        String[] segments = directory.split("/", -1);
        boolean valid = directory.length() <= DIRECTORY_LENGTH_MAX && segments.length <= DEPTH_MAX;
        for (String segment : segments) {
            valid &= SEGMENT.matcher(segment).matches();
        }
        if (!valid) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE,
                    "model directory must be a relative path of plain segments: directory=" + shortened(directory)
                            + ", length=" + directory.length() + ", lengthLimit=" + DIRECTORY_LENGTH_MAX
                            + ", depthLimit=" + DEPTH_MAX);
        }
        return directory;
    }

    /** Whether a name from a manifest is one plain segment. */
    static boolean isFileName(String name) {
        return SEGMENT.matcher(name).matches();
    }

    static String shortened(String text) {
        return text.length() <= 120 ? text : text.substring(0, 120) + "...";
    }
}
