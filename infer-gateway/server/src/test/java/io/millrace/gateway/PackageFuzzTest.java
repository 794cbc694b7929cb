package io.millrace.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.millrace.contract.Column;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.ModelManifest;
import io.millrace.contract.Task;
import io.millrace.contract.envelope.ModelReference;
import io.millrace.contract.layout.RequestKind;
import io.millrace.engine.TestingGraphs;
import io.millrace.engine.TestingImports;
import io.millrace.engine.TestingModels;
import io.millrace.engine.TestingRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Damaged packages through the whole gateway: each load ends, with an error that has a name or with a model that can be
 * asked, and the models that serve do not notice.
 */
class PackageFuzzTest {
    private static final int PACKAGE_COUNT = System.getenv("MILLRACE_TEST_FULL") == null ? 400 : 100_000;
    private static final long SEED = 20_260_402;
    private static final long GOOD_ID = 1;
    private static final long DAMAGED_ID = 2;
    private static final int LOOK_EVERY = 100;

    /** What a package may be refused with. */
    private static final Set<ErrorCode> REFUSALS = EnumSet.of(
            ErrorCode.CORRUPT_PACKAGE,
            ErrorCode.CORRUPT_FITTED,
            ErrorCode.UNKNOWN_VERSION,
            ErrorCode.UNSUPPORTED_KIND,
            ErrorCode.MODEL_TOO_LARGE,
            // By the native library, or because it scores otherwise than we do.
            ErrorCode.SCORER_FAILED);

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final TestingDamage damage = new TestingDamage(SEED);

    /** A sound package in memory, and what it is asked. */
    private record Sound(
            Map<String, byte[]> files, List<String> readable, List<Column> columns, List<TestingRow> rows) {}

    private static Map<String, byte[]> read(Path directory) throws IOException {
        Map<String, byte[]> files = new LinkedHashMap<>();
        try (Stream<Path> entries = Files.list(directory)) {
            for (Path file : entries.sorted().toList()) {
                files.put(file.getFileName().toString(), Files.readAllBytes(file));
            }
        }
        return files;
    }

    private static Sound trees(Path directory, List<String> labels) throws IOException {
        TestingModels.TestingPackage trees = TestingModels.write(directory, 3, labels, 2);
        return new Sound(
                read(directory),
                List.of("model.ubj", ModelManifest.FITTED_FILE_NAME),
                trees.fitted().inputs().columns(),
                trees.testRows().subList(0, 3));
    }

    private static Sound graph(Path directory) throws IOException {
        Files.createDirectories(directory);
        TestingImports.write(directory, TestingGraphs.linear(3), TestingImports.request(Task.REGRESSION));
        return new Sound(
                read(directory),
                List.of("onnx.json", ModelManifest.FITTED_FILE_NAME),
                TestingImports.fitted(directory).inputs().columns(),
                List.of(TestingRow.of(1.0, 2.0, 3.0)));
    }

    @Test
    void everyDamagedPackageIsRefusedOrServesAndHarmsNoOther() throws Exception {
        try (TestingGateway testing = new TestingGateway(Map.of());
                TestingClient client = testing.client()) {
            TestingModels.TestingPackage good = TestingModels.binary(testing.freshDirectory(), 1);
            ModelReference goodReference = testing.publish(good, GOOD_ID);
            List<Sound> sound = List.of(
                    trees(testing.freshDirectory(), List.of("no", "yes")),
                    trees(testing.freshDirectory(), List.of("high", "low", "middle")),
                    trees(testing.freshDirectory(), List.of()),
                    graph(testing.freshDirectory()));
            for (int index = 0; index < PACKAGE_COUNT; index++) {
                Sound from = sound.get(random.nextInt(sound.size()));
                Sound other = sound.get(random.nextInt(sound.size()));
                TestingDamage.Damaged damaged = damage.damage(from.files(), other.files(), from.readable());
                loads(testing, client, from, damaged, "package " + index + ", " + damaged.what());
                if (index % LOOK_EVERY == 0) {
                    answers(client, goodReference, good);
                }
            }
            answers(client, goodReference, good);
            assertThat(remains(testing.cacheDirectory())).isEmpty();
        }
    }

    private static void answers(TestingClient client, ModelReference reference, TestingModels.TestingPackage good)
            throws IOException {
        TestingClient.Answer answer = client.ask(
                RequestKind.PREDICT, reference, good.fitted().inputs().columns(), good.testRows());
        assertThat(answer.status()).as(answer.message()).isEqualTo(ErrorCode.OK);
        for (int row = 0; row < answer.rows().size(); row++) {
            assertThat((float) answer.rows().get(row).scalar())
                    .isCloseTo(good.testScores().get(row).get(0), within(1e-6f));
        }
    }

    private static void loads(
            TestingGateway testing, TestingClient client, Sound from, TestingDamage.Damaged damaged, String what)
            throws IOException {
        Path directory = testing.storeRoot().resolve("testing/1/" + DAMAGED_ID + "-1");
        Files.createDirectories(directory);
        for (Map.Entry<String, byte[]> file : damaged.files().entrySet()) {
            Files.write(directory.resolve(file.getKey()), file.getValue());
        }
        ModelReference reference = new ModelReference(
                DAMAGED_ID, "testing", "testing", "store:testing/1/" + DAMAGED_ID + "-1", damaged.manifestSha256(), 1);
        TestingClient.Answer answer = client.load(reference);
        if (answer.status() == ErrorCode.OK) {
            assertThat(damaged.published()).as("%s must be refused", what).isTrue();
            TestingClient.Answer asked = client.ask(RequestKind.FULL, reference, from.columns(), from.rows());
            assertThat(asked.status()).as("%s: %s", what, asked.message()).isNotEqualTo(ErrorCode.INTERNAL);
        } else {
            assertThat(answer.status()).as("%s: %s", what, answer.message()).isIn(REFUSALS);
            assertThat(answer.message()).as(what).isNotBlank();
        }
        delete(directory);
        delete(testing.cacheDirectory().resolve(damaged.manifestSha256()));
    }

    private static void delete(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        for (Path file : list(directory)) {
            Files.delete(file);
        }
        Files.delete(directory);
    }

    private static List<Path> list(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return new ArrayList<>(entries.toList());
        }
    }

    private static List<Path> remains(Path cache) throws IOException {
        return list(cache).stream()
                .filter(entry -> entry.getFileName().toString().startsWith(".fetch"))
                .toList();
    }
}
