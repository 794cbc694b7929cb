package io.millrace.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class ModelManifestTest {
    private static final String SHA = "0123456789abcdef".repeat(4);

    private static ModelManifest manifest(Task task, @Nullable String objective, List<String> labels) {
        Map<String, Double> metrics = new LinkedHashMap<>();
        metrics.put("roc-auc", 0.9290123456789012);
        metrics.put("f1", 1.0);
        return new ModelManifest(
                ModelManifest.FORMAT_VERSION,
                "data base \"x\"",
                1,
                "churn \uD83D\uDE00",
                42,
                "xgboost",
                task,
                objective,
                "xgboost-ubj",
                List.of(
                        new ModelManifest.FileEntry("model.ubj", 123_456_789_012L, SHA),
                        new ModelManifest.FileEntry("fitted.json", 10, SHA)),
                SHA,
                0xfedc_ba98_7654_3210L,
                20,
                labels,
                metrics,
                "2026-01-01T00:00:00Z");
    }

    private static ModelManifest edited(String from, String to) {
        String json = new String(
                manifest(Task.CLASSIFICATION, null, List.of("no", "yes")).toJson(), StandardCharsets.UTF_8);
        assertThat(json).contains(from);
        return ModelManifest.parse(json.replace(from, to).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void readsBackWhatItWrites() {
        for (ModelManifest manifest : List.of(
                manifest(Task.CLASSIFICATION, null, List.of("no", "yes")),
                manifest(Task.REGRESSION, "reg:squarederror", List.of()))) {
            ModelManifest read = ModelManifest.parse(manifest.toJson());
            assertThat(read).isEqualTo(manifest);
            assertThat(read.toJson()).isEqualTo(manifest.toJson());
            assertThat(read.metrics().keySet()).containsExactly("roc-auc", "f1");
        }
    }

    @Test
    void documentIsTheSameInEveryRelease() {
        Golden.check(
                "manifest.json",
                new String(
                        manifest(Task.CLASSIFICATION, "binary:logistic", List.of("no", "yes"))
                                .toJson(),
                        StandardCharsets.UTF_8));
    }

    @Test
    void survivesDamage() {
        byte[] valid = manifest(Task.CLASSIFICATION, null, List.of("no", "yes")).toJson();
        Survival.refusesEveryPrefix(valid, ModelManifest::parse);
        Survival.survivesEveryBitFlip(valid, ModelManifest::parse);
    }

    @Test
    void rejectsAnotherVersion() {
        assertThatThrownBy(() -> edited("\"format-version\":1", "\"format-version\":2"))
                .isInstanceOf(ContractException.class)
                .hasMessage("manifest version is unknown: version=2, expectedVersion=1")
                .extracting("code")
                .isEqualTo(ErrorCode.UNKNOWN_VERSION);
    }

    @Test
    void rejectsWhatIsWrongByName() {
        assertThatThrownBy(() -> edited("\"width\":20", "\"width\":0"))
                .hasMessage("manifest width is out of range: value=0, min=1, max=1048576")
                .extracting("code")
                .isEqualTo(ErrorCode.CORRUPT_PACKAGE);
        assertThatThrownBy(() -> edited("\"width\":20", "\"width\":20.5"))
                .hasMessage("manifest field must be a whole number: field=width");
        assertThatThrownBy(() -> edited("\"width\":20,", "")).hasMessage("manifest field is missing: field=width");
        assertThatThrownBy(() -> edited("\"width\":20", "\"width\":20,\"extra\":1"))
                .hasMessage("manifest field is unknown: field=extra");
        assertThatThrownBy(() -> edited("\"width\":20", "\"width\":20,\"width\":21"))
                .hasMessageStartingWith("manifest is not JSON: length=");
        assertThatThrownBy(() -> edited("\"f1\":1.0", "\"f1\":1e999"))
                .hasMessage("manifest field must be a finite number: field=metrics");
        assertThatThrownBy(() -> edited("classification", "ranking"))
                .hasMessage("manifest field must be classification or regression: field=task");
    }

    @Test
    void rejectsAFileNameThatIsAPath() {
        for (String name : List.of("../x", "a/b", "", ".", "..", "manifest.json", ".hidden", "a\\u0000b")) {
            assertThatThrownBy(() -> edited("\"model.ubj\"", "\"" + name + "\""))
                    .as(name)
                    .hasMessage("manifest.files[0] field must be a plain file name: field=name");
        }
        assertThatThrownBy(() -> edited("\"model.ubj\"", "\"fitted.json\""))
                .hasMessage("manifest.files[1] field must be distinct: field=name");
    }

    @Test
    void rejectsLabelsThatDoNotFitTheTask() {
        String message =
                "manifest field must be two or more distinct ones for classification, none for regression: field=labels";
        assertThatThrownBy(() -> edited("[\"no\",\"yes\"]", "[\"no\"]")).hasMessage(message);
        assertThatThrownBy(() -> edited("[\"no\",\"yes\"]", "[\"no\",\"no\"]")).hasMessage(message);
        assertThatThrownBy(() -> edited("classification", "regression")).hasMessage(message);
    }
}
