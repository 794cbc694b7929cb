package io.millrace.train.testing;

import io.millrace.contract.ConfigFile;
import io.millrace.train.TrainConfig;
import java.io.IOException;
import java.io.Reader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.stream.Collectors;

/** A configuration directory of its own for a test. */
public final class TestingConf {
    private final Path directory;

    private TestingConf(Path directory) {
        this.directory = directory;
    }

    /**
     * Writes store and train properties.
     *
     * @param directory of the files
     * @param data where store and matrices go
     */
    public static TestingConf write(Path directory, Path data) throws IOException {
        Files.createDirectories(directory);
        Files.writeString(
                directory.resolve("store.properties"),
                "store-scheme=fs\nstore-root=" + Files.createDirectories(data.resolve("store")) + "\n");
        TestingConf conf = new TestingConf(directory);
        conf.train("http://127.0.0.1:1", data);
        return conf;
    }

    /** Writes {@code train.properties} for a cluster. */
    public void train(String flinkRestUri, Path data) throws IOException {
        Path target = Path.of("target").toAbsolutePath();
        Files.writeString(
                directory.resolve("train.properties"),
                String.join(
                        "\n",
                        "flink-rest-uri=" + flinkRestUri,
                        "job-jar=" + target.resolve("millrace-train-job-0.1.0-job.jar"),
                        "matrix-directory=" + Files.createDirectories(data.resolve("matrix")),
                        "train-lib-directory=" + target.resolve("lib"),
                        "lease-seconds=2",
                        "poll-millis=100",
                        ""));
    }

    public Path directory() {
        return directory;
    }

    /** The same for another cluster. */
    public TrainConfig trainConfig(URI flinkRestUri) throws IOException {
        Properties values = new Properties();
        Path file = directory.resolve("train.properties");
        try (Reader reader = Files.newBufferedReader(file)) {
            values.load(reader);
        }
        values.setProperty("flink-rest-uri", flinkRestUri.toString());
        return TrainConfig.from(ConfigFile.of(
                file,
                values.stringPropertyNames().stream().collect(Collectors.toMap(key -> key, values::getProperty))));
    }

    public TrainConfig trainConfig() {
        return TrainConfig.from(ConfigFile.read(directory.resolve("train.properties")));
    }
}
