package io.millrace.gateway.http;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.SecretReference;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.jspecify.annotations.Nullable;

/*
 * With a token, whoever shows it may ask. Without one the server listens on loopback only, and whoever is on this machine
 * may ask; but a web page in a browser on this machine is not somebody on this machine. Such a page is told by its
 * Origin, or, when it has its own name resolved to 127.0.0.1, by the Host that its browser sends.
 */
/** Who may ask. Immutable; any thread. */
final class Access {
    private static final int TOKEN_LENGTH_MIN = 16;
    private static final String SCHEME = "bearer ";

    private final byte @Nullable [] tokenDigest;

    /**
     * Reads the token.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} if it cannot be read or is too short
     */
    Access(SecretReference token) {
        String secret = token.read().orElse(null);
        if (secret != null && secret.length() < TOKEN_LENGTH_MIN) {
            throw new ContractException(
                    ErrorCode.INVALID_CONFIG,
                    "http-token is too short: reference=" + token + ", length=" + secret.length() + ", minLength="
                            + TOKEN_LENGTH_MIN);
        }
        tokenDigest = secret == null ? null : digest(secret);
    }

    /**
     * Lets a request in.
     *
     * @throws Refusal if it may not
     */
    void check(Route route, HttpFields headers) {
        if (tokenDigest == null) {
            checkLocal(headers);
        } else if (route != Route.LIVE && route != Route.READY) {
            checkToken(tokenDigest, headers.get(HttpHeader.AUTHORIZATION));
        }
    }

    private static void checkToken(byte[] tokenDigest, @Nullable String authorization) {
        // Digests have one length, so the comparison tells nothing of the token's.
        if (authorization == null
                || !authorization.toLowerCase(Locale.ROOT).startsWith(SCHEME)
                || !MessageDigest.isEqual(
                        tokenDigest,
                        digest(authorization.substring(SCHEME.length()).strip()))) {
            throw new Refusal(
                    HttpStatus.UNAUTHORIZED_401,
                    "request must show the token: header=Authorization, scheme=Bearer",
                    HttpHeader.WWW_AUTHENTICATE.asString(),
                    "Bearer");
        }
    }

    private static void checkLocal(HttpFields headers) {
        String origin = headers.get(HttpHeader.ORIGIN);
        if (origin != null) {
            throw new Refusal(HttpStatus.FORBIDDEN_403, "web pages may not ask a gateway without a token");
        }
        String host = headers.get(HttpHeader.HOST);
        if (host != null && !LocalHost.isNamedBy(host)) {
            throw new Refusal(
                    HttpStatus.FORBIDDEN_403, "host must name this machine where there is no token: header=Host");
        }
    }

    private static byte[] digest(String secret) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java has SHA-256", e);
        }
    }
}
