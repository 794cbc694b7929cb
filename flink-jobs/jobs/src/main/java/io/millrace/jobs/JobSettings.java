package io.millrace.jobs;

import io.millrace.contract.ConfigFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A main class's command line: pairs of {@code --name value}, {@code --conf DIR} always among them.
 *
 * @param confDirectory holds one properties file per concern, {@code database.properties} and the like
 * @param arguments every other pair, by name without dashes
 */
public record JobSettings(Path confDirectory, Map<String, String> arguments) {

    public JobSettings {
        arguments = Map.copyOf(arguments);
    }

    /**
     * Parses a command line.
     *
     * @throws IllegalArgumentException naming the argument that is missing or stands alone
     */
    public static JobSettings parse(String... commandLine) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (int i = 0; i < commandLine.length; i += 2) {
            if (!commandLine[i].startsWith("--") || i + 1 == commandLine.length) {
                throw new IllegalArgumentException(
                        "arguments must be pairs of --name value: argument=" + commandLine[i]);
            }
            pairs.put(commandLine[i].substring(2), commandLine[i + 1]);
        }
        String conf = pairs.remove("conf");
        if (conf == null) {
            throw new IllegalArgumentException(
                    "argument --conf DIR must be given: it names the configuration directory");
        }
        return new JobSettings(Path.of(conf), pairs);
    }

    /** The argument {@code --name}. */
    public Optional<String> argument(String name) {
        return Optional.ofNullable(arguments.get(name));
    }

    /**
     * The argument {@code --name}.
     *
     * @throws IllegalArgumentException if it was not given
     */
    public String required(String name) {
        return argument(name).orElseThrow(() -> new IllegalArgumentException("argument must be given: --" + name));
    }

    /**
     * Reads {@code <name>.properties} of the configuration directory.
     *
     * @throws IllegalArgumentException if there is no such file
     */
    public ConfigFile file(String name) {
        Path path = confDirectory.resolve(name + ".properties");
        if (!Files.isRegularFile(path)) {
            throw new IllegalArgumentException("configuration file must exist: path=" + path);
        }
        return ConfigFile.read(path);
    }

    /** The source database of {@code database.properties}. */
    public DatabaseConnections database() {
        return DatabaseConnections.from(file("database"));
    }
}
