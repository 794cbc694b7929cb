package io.millrace.contract;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One file of {@code conf/}: java properties, kebab-case keys, units last in the key.
 *
 * <p>A value is read with its default and its range, and what is wrong is said once, with file, key, value and range. A
 * process reads all it knows and then calls {@link #rejectUnknownKeys}, so a misspelt key is an error and not a
 * default. A value that may be a secret is never part of a message.
 *
 * <p>Threads: one.
 */
public final class ConfigFile {
    private final Path file;
    private final Map<String, String> values;
    private final Set<String> known = new HashSet<>();
    private final Set<String> knownPrefixes = new HashSet<>();

    private ConfigFile(Path file, Map<String, String> values) {
        this.file = file;
        this.values = values;
    }

    /**
     * Reads a file.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} if it cannot be read, or a key appears twice
     */
    public static ConfigFile read(Path file) {
        UniqueProperties properties = new UniqueProperties(file);
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        } catch (IOException | IllegalArgumentException failure) {
            throw new ContractException(
                    ErrorCode.INVALID_CONFIG, "configuration file cannot be read: file=" + file, failure);
        }
        return new ConfigFile(file, properties.values);
    }

    /** The same from values in memory; {@code file} appears in messages and resolves relative paths. */
    public static ConfigFile of(Path file, Map<String, String> values) {
        return new ConfigFile(file, new TreeMap<>(values));
    }

    /** Text that must be there and not be empty. */
    public String string(String key) {
        String value = value(key);
        if (value == null || value.isEmpty()) {
            throw invalid(key, "is required");
        }
        return value;
    }

    /** Text, or {@code byDefault} when the key is absent or empty. */
    public String string(String key, String byDefault) {
        String value = value(key);
        return value == null || value.isEmpty() ? byDefault : value;
    }

    /** Text, or nothing when the key is absent or empty. */
    public Optional<String> optional(String key) {
        String value = value(key);
        return value == null || value.isEmpty() ? Optional.empty() : Optional.of(value);
    }

    /** A whole number, {@code min <= value <= max}. */
    public int integer(String key, int byDefault, int min, int max) {
        return (int) longValue(key, byDefault, min, max);
    }

    /** A whole number, {@code min <= value <= max}. */
    public long longValue(String key, long byDefault, long min, long max) {
        String value = value(key);
        if (value == null || value.isEmpty()) {
            return byDefault;
        }
        try {
            long number = Long.parseLong(value);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // Said below, in the same words as a number out of range.
        }
        throw invalid(key, "must be a whole number", value, "min=" + min + ", max=" + max);
    }

    /** A number, {@code min <= value <= max}. */
    public double decimal(String key, double byDefault, double min, double max) {
        String value = value(key);
        if (value == null || value.isEmpty()) {
            return byDefault;
        }
        try {
            double number = Double.parseDouble(value);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // Said below, in the same words as a number out of range.
        }
        throw invalid(key, "must be a number", value, "min=" + min + ", max=" + max);
    }

    /** {@code true} or {@code false}. */
    public boolean bool(String key, boolean byDefault) {
        String value = value(key);
        if (value == null || value.isEmpty()) {
            return byDefault;
        }
        if (value.equals("true") || value.equals("false")) {
            return value.equals("true");
        }
        throw invalid(key, "must be true or false", value, "default=" + byDefault);
    }

    /** A path that must be there; a relative one starts at the directory of the file. */
    public Path path(String key) {
        return resolve(key, string(key));
    }

    /** A path; a relative one starts at the directory of the file. */
    public Path path(String key, Path byDefault) {
        Optional<String> value = optional(key);
        return value.isPresent() ? resolve(key, value.get()) : byDefault;
    }

    /** A secret by reference; {@link SecretReference#NONE} when the key is absent or empty. */
    public SecretReference secret(String key) {
        String value = value(key);
        if (value == null) {
            return SecretReference.NONE;
        }
        try {
            return SecretReference.parse(value);
        } catch (ContractException notAReference) {
            throw new ContractException(
                    ErrorCode.INVALID_CONFIG,
                    "configuration secret must be env:NAME or file:PATH: file=" + file + ", key=" + key,
                    notAReference);
        }
    }

    /** All values whose keys start with a prefix, without it; they count as known. */
    public Map<String, String> prefixed(String prefix) {
        knownPrefixes.add(prefix);
        Map<String, String> found = new TreeMap<>();
        values.forEach((key, value) -> {
            if (key.startsWith(prefix)) {
                found.put(key.substring(prefix.length()), value);
            }
        });
        return found;
    }

    /** Where it was read from. */
    public Path file() {
        return file;
    }

    /**
     * Call after reading all keys.
     *
     * @throws ContractException {@link ErrorCode#INVALID_CONFIG} naming the first key nobody read and its nearest known
     */
    public void rejectUnknownKeys() {
        for (String key : new TreeSet<>(values.keySet())) {
            if (!known.contains(key) && knownPrefixes.stream().noneMatch(key::startsWith)) {
                throw new ContractException(
                        ErrorCode.INVALID_CONFIG,
                        "configuration key is unknown: file=" + file + ", key=" + key
                                + Nearest.of(key, known)
                                        .map(near -> ", nearest=" + near)
                                        .orElse(""));
            }
        }
    }

    private @Nullable String value(String key) {
        known.add(key);
        String value = values.get(key);
        return value == null ? null : value.strip();
    }

    private Path resolve(String key, String value) {
        try {
            return file.toAbsolutePath().resolveSibling(value).normalize();
        } catch (InvalidPathException notAPath) {
            throw invalid(key, "must be a path");
        }
    }

    private ContractException invalid(String key, String rule) {
        return new ContractException(
                ErrorCode.INVALID_CONFIG, "configuration value " + rule + ": file=" + file + ", key=" + key);
    }

    private ContractException invalid(String key, String rule, String value, String range) {
        return new ContractException(
                ErrorCode.INVALID_CONFIG,
                "configuration value " + rule + ": file=" + file + ", key=" + key + ", value=" + value + ", " + range);
    }

    /** Properties that refuse a key given twice, which java.util.Properties would answer with the last one. */
    private static final class UniqueProperties extends Properties {
        private static final long serialVersionUID = 1L;

        private final transient Path file;
        private final transient Map<String, String> values = new TreeMap<>();

        private UniqueProperties(Path file) {
            this.file = file;
        }

        @Override
        public synchronized Object put(Object key, Object value) {
            if (values.put((String) key, (String) value) != null) {
                throw new ContractException(
                        ErrorCode.INVALID_CONFIG, "configuration key is given twice: file=" + file + ", key=" + key);
            }
            return value;
        }
    }
}
