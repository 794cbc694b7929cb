package io.millrace.store;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.SecretReference;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Where packages are kept.
 *
 * @param scheme OpenDAL's name of the service: {@code fs}, {@code s3}, {@code gcs}, {@code azblob}, ...
 * @param options of the service, values or references to secrets ({@code env:NAME}, {@code file:/path}), which are read
 *     when the store is opened; {@code root} is the directory or prefix under which all packages are
 * @param operationTimeoutMillis how long one operation may take; large uploads get more by their size
 * @param packageBytesMax largest package that is published or fetched
 * @param cacheBytesMax size of a local cache above which the longest unused packages are removed
 */
public record StoreConfig(
        String scheme,
        Map<String, String> options,
        long operationTimeoutMillis,
        long packageBytesMax,
        long cacheBytesMax) {
    private static final long OPERATION_TIMEOUT_MILLIS = 30_000;
    private static final long OPERATION_TIMEOUT_MILLIS_MIN = 100;
    private static final long OPERATION_TIMEOUT_MILLIS_MAX = 600_000;
    private static final long PACKAGE_BYTES_MAX = 2L << 30;
    private static final long CACHE_BYTES_MAX = 8L << 30;

    public StoreConfig {
        options = Map.copyOf(options);
        if (scheme.equals("fs")) {
            checkRoot(options.getOrDefault("root", ""));
        }
    }

    /** A store with the default limits. */
    public StoreConfig(String scheme, Map<String, String> options) {
        this(scheme, options, OPERATION_TIMEOUT_MILLIS, PACKAGE_BYTES_MAX, CACHE_BYTES_MAX);
    }

    /**
     * Reads {@code store-scheme}, {@code store-root}, {@code store-option.*}, {@code operation-timeout-millis}, {@code
     * package-bytes-max} and {@code package-cache-bytes-max}.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} if a key is missing or out of range
     */
    public static StoreConfig from(ConfigFile file) {
        String scheme = file.string("store-scheme", "fs");
        Map<String, String> options = new HashMap<>(file.prefixed("store-option."));
        options.put("root", file.string("store-root"));
        return new StoreConfig(
                scheme,
                options,
                file.longValue(
                        "operation-timeout-millis",
                        OPERATION_TIMEOUT_MILLIS,
                        OPERATION_TIMEOUT_MILLIS_MIN,
                        OPERATION_TIMEOUT_MILLIS_MAX),
                file.longValue("package-bytes-max", PACKAGE_BYTES_MAX, 1, Long.MAX_VALUE),
                file.longValue("package-cache-bytes-max", CACHE_BYTES_MAX, 0, Long.MAX_VALUE));
    }

    private static void checkRoot(String root) {
        try {
            if (Path.of(root).isAbsolute()) {
                return;
            }
        } catch (InvalidPathException e) {
            // the message below names it
        }
        throw new ContractException(ErrorCode.INVALID_CONFIG, "store root must be an absolute path: root=" + root);
    }

    /**
     * The options as OpenDAL takes them, secrets read.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} if a secret is not there
     */
    Map<String, String> resolvedOptions() {
        Map<String, String> resolved = new HashMap<>();
        options.forEach((key, value) -> resolved.put(key, SecretReference.resolve(value)));
        if (scheme.equals("fs")) {
            // Unfinished writes stay here, so that an object appears whole; same file system, hence one rename.
            resolved.putIfAbsent("atomic_write_dir", resolved.get("root") + "/.unfinished");
        }
        return resolved;
    }

    /** Names of the options only: a value may be a secret. */
    @Override
    public String toString() {
        return "StoreConfig[scheme=" + scheme + ", options="
                + options.keySet().stream().sorted().toList() + ", operationTimeoutMillis=" + operationTimeoutMillis
                + ", packageBytesMax=" + packageBytesMax + ", cacheBytesMax="
                + cacheBytesMax + "]";
    }
}
