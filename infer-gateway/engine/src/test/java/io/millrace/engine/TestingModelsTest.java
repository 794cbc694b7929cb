package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.millrace.contract.ModelManifest;
import io.millrace.contract.fitted.BoundTransform;
import io.millrace.contract.fitted.FittedPreprocessing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A package read back from its files answers as XGBoost did when it was written. */
class TestingModelsTest {
    static List<BiFunction<Path, Long, TestingModels.TestingPackage>> kinds() {
        return List.of(TestingModels::binary, TestingModels::multiclass, TestingModels::regression);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void answersAsItsEvaluation(BiFunction<Path, Long, TestingModels.TestingPackage> kind, @TempDir Path directory)
            throws IOException {
        TestingModels.TestingPackage made = kind.apply(directory, 7L);
        ModelManifest manifest = ModelManifest.parse(Files.readAllBytes(directory.resolve(ModelManifest.FILE_NAME)));
        FittedPreprocessing fitted =
                FittedPreprocessing.parse(Files.readAllBytes(directory.resolve(ModelManifest.FITTED_FILE_NAME)));
        assertThat(fitted.fittedId()).isEqualTo(manifest.fittedId());
        BoundTransform transform = fitted.bind(fitted.inputs().columns());
        try (Scorer scorer = Engines.load(directory, manifest)) {
            float[] features = new float[scorer.width()];
            float[] out = new float[scorer.outputs()];
            for (int row = 0; row < TestingModels.TEST_ROWS; row++) {
                transform.apply(made.testRows().get(row), features, 0);
                scorer.score(features, 1, out);
                for (int output = 0; output < out.length; output++) {
                    assertThat(out[output]).isCloseTo(made.testScores().get(row).get(output), within(1e-6f));
                }
            }
        }
    }
}
