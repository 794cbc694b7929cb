package io.millrace.gateway.http;

import io.millrace.contract.ConfigFile;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.SecretReference;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;

/**
 * What {@code gateway.properties} says of HTTP.
 *
 * @param host address to listen on; loopback unless there is a token
 * @param port its port; 0 takes any free one
 * @param token what callers must show; read once, at the start
 * @param headerBytesMax request line and headers
 * @param requestBytesMax body of a request
 * @param rowsMax rows of a request
 * @param memoryBytesMax bodies, rows and answers of all requests at a time
 * @param concurrentMax requests at a time
 * @param connectionsMax connections at a time
 * @param idle how long a connection may say nothing
 * @param timeout longest time for an answer, and the one of a request that names none
 * @param refresh how often the database is looked at for deployments
 * @param database where projects are resolved
 */
public record HttpConfig(
        String host,
        int port,
        SecretReference token,
        int headerBytesMax,
        int requestBytesMax,
        int rowsMax,
        long memoryBytesMax,
        int concurrentMax,
        int connectionsMax,
        Duration idle,
        Duration timeout,
        Duration refresh,
        DatabaseAddress database) {

    /**
     * Reads the keys of HTTP; nothing when {@code http-port} is absent or empty, which turns it off.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} if a key is out of range, or the address is not
     *     loopback and there is no token
     */
    public static Optional<HttpConfig> from(ConfigFile file) {
        HttpConfig config = new HttpConfig(
                file.string("http-host", "127.0.0.1"),
                file.integer("http-port", 0, 0, 65_535),
                file.secret("http-token"),
                file.integer("http-header-bytes-max", 8_192, 1_024, 65_536),
                file.integer("http-request-bytes-max", 4_194_304, 1_024, 1 << 28),
                file.integer("http-rows-max", 65_536, 1, 1 << 20),
                file.longValue("http-memory-bytes-max", 33_554_432, 1 << 16, Integer.MAX_VALUE),
                file.integer("http-concurrent-max", 256, 1, 65_536),
                file.integer("http-connections-max", 512, 1, 65_536),
                Duration.ofMillis(file.longValue("http-idle-millis", 30_000, 100, 3_600_000)),
                Duration.ofMillis(file.longValue("http-timeout-millis", 30_000, 1, 3_600_000)),
                Duration.ofMillis(file.longValue("http-refresh-millis", 500, 50, 60_000)),
                DatabaseAddress.from(file));
        if (file.optional("http-port").isEmpty()) {
            return Optional.empty();
        }
        if (config.token.equals(SecretReference.NONE) && !isLoopback(config.host)) {
            throw new ContractException(
                    ErrorCode.INVALID_CONFIG,
                    "http-host must be a loopback address unless http-token is set: file=" + file.file()
                            + ", http-host=" + config.host);
        }
        return Optional.of(config);
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            throw new ContractException(
                    ErrorCode.INVALID_CONFIG, "http-host must be an address of this machine: http-host=" + host, e);
        }
    }
}
