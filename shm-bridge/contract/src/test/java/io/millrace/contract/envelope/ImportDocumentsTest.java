package io.millrace.contract.envelope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Task;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ImportDocumentsTest {
    private static final ImportRequest FULL = new ImportRequest(
            "0f-a1",
            "shop \"1\"",
            7,
            "churn",
            Task.CLASSIFICATION,
            "file:/models/a.onnx",
            "onnx",
            "ab".repeat(32),
            "{\"format-version\": 1}",
            List.of("a", "b"),
            List.of("no", "yes"),
            "p",
            "logit",
            "2026-01-01T00:00:00Z");
    private static final ImportRequest SPARSE = new ImportRequest(
            "1", "d", 0, "p", Task.REGRESSION, "u", "onnx", null, null, List.of(), List.of(), null, null, "t");
    private static final ImportAnswer ANSWER = new ImportAnswer(
            "store:d/1/import-1", "ab".repeat(32), 5, "onnx", "cd".repeat(32), List.of("no", "yes"), List.of("note"));

    @Test
    void readBackEqual() {
        assertThat(ImportRequest.parse(FULL.toJson())).isEqualTo(FULL);
        assertThat(ImportRequest.parse(SPARSE.toJson())).isEqualTo(SPARSE);
        assertThat(ImportAnswer.parse(ANSWER.toJson())).isEqualTo(ANSWER);
    }

    @Test
    void listsThatAreNullOrAbsentAreEmpty() {
        String text = new String(SPARSE.toJson(), StandardCharsets.UTF_8);
        for (String other : List.of(text.replace("\"features\":[],\"labels\":[],", ""), text.replace("[]", "null"))) {
            assertThat(ImportRequest.parse(other.getBytes(StandardCharsets.UTF_8)))
                    .isEqualTo(SPARSE);
        }
    }

    @Test
    void anIdThatWouldBeAPathIsRefused() {
        String text = new String(FULL.toJson(), StandardCharsets.UTF_8).replace("0f-a1", "../x");
        assertThatThrownBy(() -> ImportRequest.parse(text.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOfSatisfying(
                        ContractException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ENVELOPE))
                .hasMessage("import request field must be hexadecimal digits and dashes: field=import-id");
    }
}
