package io.millrace.contract;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where a secret is: {@code env:NAME}, {@code file:/path}, or nothing. The secret itself is read at each use, so it can
 * be rotated, and is in no field, message or log.
 */
public final class SecretReference {
    /** No secret. */
    public static final SecretReference NONE = new SecretReference("");

    private static final String ENV = "env:";
    private static final String FILE = "file:";
    private static final long SECRET_LIMIT_BYTES = 65_536;

    private final String reference;

    private SecretReference(String reference) {
        this.reference = reference;
    }

    /**
     * Reads a reference.
     *
     * @param text {@code env:NAME}, {@code file:PATH} or empty
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} if it is neither; the text is not repeated, it may be
     *     the secret
     */
    public static SecretReference parse(String text) {
        if (text.isEmpty()) {
            return NONE;
        }
        if (!isReference(text)) {
            throw new ContractException(
                    ErrorCode.INVALID_CONFIG, "secret must be a reference: expected=env:NAME or file:PATH");
        }
        return new SecretReference(text);
    }

    /**
     * A value that may be a reference: the secret when it is one, itself when not. A {@code file://} URI is a plain
     * value.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} if the secret is not there
     */
    public static String resolve(String valueOrReference) {
        return isReference(valueOrReference) && !valueOrReference.startsWith("file://")
                ? new SecretReference(valueOrReference).required()
                : valueOrReference;
    }

    /**
     * The secret, without a trailing line end; nothing when there is no reference.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} if the variable is not set or the file cannot be read
     */
    public Optional<String> read() {
        return reference.isEmpty() ? Optional.empty() : Optional.of(required());
    }

    private String required() {
        String secret = reference.startsWith(ENV)
                ? System.getenv(reference.substring(ENV.length()))
                : content(reference.substring(FILE.length()));
        if (secret == null) {
            throw unreadable(null);
        }
        return secret;
    }

    private String content(String path) {
        try {
            Path file = Path.of(path);
            if (Files.size(file) > SECRET_LIMIT_BYTES) {
                throw unreadable(null);
            }
            return Files.readString(file).stripTrailing();
        } catch (IOException | InvalidPathException failure) {
            throw unreadable(failure);
        }
    }

    private ContractException unreadable(@Nullable Exception cause) {
        String message = "secret cannot be read: reference=" + reference;
        return cause == null
                ? new ContractException(ErrorCode.INVALID_CONFIG, message)
                : new ContractException(ErrorCode.INVALID_CONFIG, message, cause);
    }

    private static boolean isReference(String text) {
        return (text.startsWith(ENV) && text.length() > ENV.length())
                || (text.startsWith(FILE) && text.length() > FILE.length());
    }

    /** The reference, never the secret. */
    @Override
    public String toString() {
        return reference;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof SecretReference that && that.reference.equals(reference);
    }

    @Override
    public int hashCode() {
        return reference.hashCode();
    }
}
