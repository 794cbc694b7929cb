package io.millrace.gateway.trace;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.net.URI;
import java.util.Optional;

/**
 * What {@code gateway.properties} says of traces.
 *
 * @param endpoint where a collector takes OTLP over HTTP
 * @param ratio of the requests without a caller's span that are traced, {@code 0 <= ratio <= 1}
 */
public record TraceConfig(URI endpoint, double ratio) {
    private static final String PATH = "/v1/traces";

    /**
     * Reads the keys of traces; nothing when {@code otlp-endpoint} is absent or empty, which turns them off.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} if a key is malformed or out of range
     */
    public static Optional<TraceConfig> from(ConfigFile file) {
        double ratio = file.decimal("trace-ratio", 0.01, 0, 1);
        return file.optional("otlp-endpoint").map(value -> new TraceConfig(endpoint(file, value), ratio));
    }

    private static URI endpoint(ConfigFile file, String value) {
        try {
            URI uri = URI.create(value);
            boolean web = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
            if (web && uri.getHost() != null && uri.getUserInfo() == null) {
                String path = uri.getPath();
                return path.isEmpty() || path.equals("/") ? uri.resolve(PATH) : uri;
            }
        } catch (IllegalArgumentException notAnUri) {
            // Said below, in the same words as another scheme.
        }
        throw new ContractException(
                ErrorCode.INVALID_CONFIG,
                "configuration value must be http://HOST:PORT or https://.., with or without a path, and no user: file="
                        + file.file() + ", key=otlp-endpoint");
    }
}
