package io.millrace.contract.fitted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Golden;
import io.millrace.contract.Sha256;
import io.millrace.contract.Survival;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class FittedPreprocessingTest {
    private static final FittedPreprocessing EVERYTHING = TestingFitted.everything();

    private static FittedPreprocessing edited(String from, String to) {
        String json = new String(EVERYTHING.toJson(), StandardCharsets.UTF_8);
        assertThat(json).contains(from);
        return FittedPreprocessing.parse(json.replace(from, to).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void readsBackWhatItWrites() {
        FittedPreprocessing read = FittedPreprocessing.parse(EVERYTHING.toJson());
        assertThat(read.columns()).isEqualTo(EVERYTHING.columns());
        assertThat(read.target()).isEqualTo(EVERYTHING.target());
        assertThat(read.counts()).isEqualTo(EVERYTHING.counts());
        assertThat(read.inputs()).isEqualTo(EVERYTHING.inputs());
        assertThat(read.toJson()).isEqualTo(EVERYTHING.toJson());
        assertThat(read.fittedId()).isEqualTo(Sha256.hex(EVERYTHING.toJson()));
        assertThat(read).isEqualTo(EVERYTHING).hasSameHashCodeAs(EVERYTHING);
    }

    @Test
    void documentIsTheSameInEveryRelease() {
        Golden.check("fitted.json", new String(EVERYTHING.toJson(), StandardCharsets.UTF_8));
    }

    @Test
    void namesEveryFeature() {
        assertThat(EVERYTHING.featureNames())
                .containsExactly(
                        "a",
                        "a missing",
                        "b",
                        "\"c.d\" \uD83D\uDE00",
                        "i",
                        "zip=1",
                        "zip=2",
                        "zip=10",
                        "flag",
                        "flag2",
                        "city",
                        "plan=basic",
                        "plan=none",
                        "plan other",
                        "day",
                        "at");
        assertThat(EVERYTHING.width()).isEqualTo(16);
    }

    @Test
    void keepsTheBytesItWasReadFrom() {
        // Another writer may space the document differently; its hash must stay what the database recorded.
        FittedPreprocessing spaced = edited("{\"format-version\":1", "{ \"format-version\":1");
        assertThat(spaced.columns()).isEqualTo(EVERYTHING.columns());
        assertThat(spaced.fittedId()).isNotEqualTo(EVERYTHING.fittedId());
        assertThat(FittedPreprocessing.parse(spaced.toJson()).fittedId()).isEqualTo(spaced.fittedId());
    }

    @Test
    void survivesDamage() {
        byte[] valid = EVERYTHING.toJson();
        Survival.refusesEveryPrefix(valid, FittedPreprocessing::parse);
        Survival.survivesEveryBitFlip(valid, FittedPreprocessingTest::parseAndBind);
    }

    private static void parseAndBind(byte[] document) {
        FittedPreprocessing fitted = FittedPreprocessing.parse(document);
        fitted.bind(fitted.inputs().columns());
    }

    @Test
    void rejectsAnotherVersion() {
        assertThatThrownBy(() -> edited("\"format-version\":1", "\"format-version\":2"))
                .isInstanceOf(ContractException.class)
                .hasMessage("fitted version is unknown: version=2, expectedVersion=1")
                .extracting("code")
                .isEqualTo(ErrorCode.UNKNOWN_VERSION);
    }

    @Test
    void rejectsAFingerprintOrWidthThatIsNotOfItsColumns() {
        assertThatThrownBy(() -> edited("\"name\":\"city\"", "\"name\":\"town\""))
                .hasMessageMatching("fitted fingerprint is wrong: fingerprint=[0-9a-f]{16}, computed=[0-9a-f]{16}")
                .extracting("code")
                .isEqualTo(ErrorCode.CORRUPT_FITTED);
        assertThatThrownBy(() -> edited("\"width\":16", "\"width\":15"))
                .hasMessage("fitted width is wrong: width=15, computed=16");
    }

    @Test
    void rejectsPartsThatDoNotFitTheColumn() {
        assertThatThrownBy(() -> edited("\"scale\":4.0", "\"scale\":0.0"))
                .hasMessage("fitted scaler scale does not fit the column: column=i, type=int64");
        assertThatThrownBy(() -> edited("\"level\":\"none\"", "\"value\":1"))
                .hasMessage("fitted imputer does not fit the column: column=plan, type=text");
        assertThatThrownBy(() -> edited("[\"1\",\"2\",\"10\"]", "[\"1\",\"2\",\"x\"]"))
                .hasMessage("fitted level is not of the column's type: column=zip, type=int64");
        assertThatThrownBy(() -> edited("[\"1\",\"2\",\"10\"]", "[\"1\",\"2\",\"2\"]"))
                .hasMessage("fitted levels must be distinct: column=zip, count=3");
        assertThatThrownBy(() -> edited("[\"1\",\"2\",\"10\"]", "[\"1\",\"2\",\"010\"]"))
                .hasMessage("fitted level is not of the column's type: column=zip, type=int64");
        assertThatThrownBy(() -> TestingFitted.text("city", Encoder.none()))
                .hasMessage("fitted encoder does not fit the column: column=city, type=text");
        assertThatThrownBy(() -> new FittedColumn(
                        "x",
                        ColumnType.FLOAT64,
                        Imputer.none(),
                        new Encoder.Ordinal(List.of("1"), false),
                        Scaler.none()))
                .hasMessage("fitted encoder does not fit the column: column=x, type=float64");
        assertThatThrownBy(() -> TestingFitted.number("x", Imputer.of(Imputer.Kind.MEAN, Double.NaN), Scaler.none()))
                .hasMessage("fitted imputer value does not fit the column: column=x, type=float64");
        assertThatThrownBy(() -> new FittedColumn(
                        "x",
                        ColumnType.TEXT,
                        Imputer.none(),
                        new Encoder.OneHot(List.of("1"), false),
                        new Scaler(Scaler.Kind.STANDARD, 0, 1)))
                .hasMessage("fitted scaler does not fit the column: column=x, type=text");
    }

    @Test
    void rejectsAColumnTwiceTheLabelAsInputAndNoFeatures() {
        FittedColumn x = TestingFitted.number("x", Imputer.none(), Scaler.none());
        assertThatThrownBy(() -> TestingFitted.of(x, x))
                .isInstanceOf(ContractException.class)
                .hasMessage("schema column names must be distinct and not empty: name=\"x\"");
        assertThatThrownBy(() -> TestingFitted.of(TestingFitted.number("churn", Imputer.none(), Scaler.none())))
                .hasMessage("label cannot be an input: column=churn");
        assertThatThrownBy(TestingFitted::of).hasMessage("fitted width is out of range: width=0, min=1, max=1048576");
        FittedColumn tooMany = TestingFitted.text(
                "t",
                new Encoder.OneHot(
                        IntStream.rangeClosed(0, 1 << 20)
                                .mapToObj(Integer::toString)
                                .toList(),
                        false));
        assertThatThrownBy(() -> TestingFitted.of(tooMany))
                .hasMessage("fitted width is out of range: width=1048577, min=1, max=1048576");
    }
}
