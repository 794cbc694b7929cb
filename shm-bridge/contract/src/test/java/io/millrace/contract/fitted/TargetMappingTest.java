package io.millrace.contract.fitted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ColumnType;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import io.millrace.contract.Task;
import io.millrace.contract.TestingRow;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TargetMappingTest {
    @Test
    void labelsArePutInTheOrderOfTheirType() {
        assertThat(TargetMapping.classification("y", ColumnType.TEXT, List.of("é", "b", "10", "2", "B"))
                        .labels())
                .containsExactly("10", "2", "B", "b", "é");
        assertThat(TargetMapping.classification("y", ColumnType.INT64, List.of("10", "2", "-1"))
                        .labels())
                .containsExactly("-1", "2", "10");
        assertThat(TargetMapping.classification("y", ColumnType.BOOLEAN, List.of("true", "false"))
                        .labels())
                .containsExactly("false", "true");
        assertThat(TargetMapping.classification("y", ColumnType.FLOAT64, List.of("1", "0.5", "-2"))
                        .labels())
                .containsExactly("-2", "0.5", "1");
    }

    @Test
    void everyTypeOfLabelIsEncodedAsItsClass() {
        TargetMapping text = TargetMapping.classification("y", ColumnType.TEXT, List.of("yes", "no"));
        assertThat(text.encode(TestingRow.of("x", "yes"), 1)).isEqualTo(1f);
        assertThat(text.label(1)).isEqualTo("yes");
        assertThat(text.classCount()).isEqualTo(2);
        TargetMapping bool = TargetMapping.classification("y", ColumnType.BOOLEAN, List.of("true", "false"));
        assertThat(bool.encode(TestingRow.of(true), 0)).isEqualTo(1f);
        TargetMapping whole = TargetMapping.classification("y", ColumnType.INT64, List.of("3", "1", "2"));
        assertThat(whole.encode(TestingRow.of(3L), 0)).isEqualTo(2f);
        TargetMapping real = TargetMapping.classification("y", ColumnType.FLOAT64, List.of("0", "1"));
        assertThat(real.encode(TestingRow.of(1.0), 0)).isEqualTo(1f);
        assertThat(real.encode(TestingRow.of(-0.0), 0)).isEqualTo(0f);
    }

    @Test
    void labelTextIsWhatEncodeFindsAgain() {
        assertThat(TargetMapping.labelText(TestingRow.of(1.0), 0, ColumnType.FLOAT64))
                .isEqualTo("1");
        assertThat(TargetMapping.labelText(TestingRow.of(-0.0), 0, ColumnType.FLOAT64))
                .isEqualTo("0");
        assertThat(TargetMapping.labelText(TestingRow.of(2.5), 0, ColumnType.FLOAT64))
                .isEqualTo("2.5");
        assertThat(TargetMapping.labelText(TestingRow.of(7L), 0, ColumnType.INT64))
                .isEqualTo("7");
        assertThat(TargetMapping.labelText(TestingRow.of(true), 0, ColumnType.BOOLEAN))
                .isEqualTo("true");
        assertThatThrownBy(() -> TargetMapping.labelText(TestingRow.of(7L), 0, ColumnType.DATE))
                .hasMessage("label cannot be a date or a timestamp: type=date");
    }

    @Test
    void aNullLabelCannotBeUsed() {
        TargetMapping text = TargetMapping.classification("y", ColumnType.TEXT, List.of("yes", "no"));
        assertThat(text.encode(TestingRow.of((Object) null), 0)).isNaN();
        TargetMapping number = TargetMapping.regression("y", ColumnType.FLOAT64);
        assertThat(number.encode(TestingRow.of((Object) null), 0)).isNaN();
        assertThat(number.encode(TestingRow.of(Double.POSITIVE_INFINITY), 0)).isNaN();
        assertThat(number.encode(TestingRow.of(2.5), 0)).isEqualTo(2.5f);
        assertThat(number.classCount()).isZero();
    }

    @Test
    void rejectsALabelThatIsNoClassWithoutRepeatingIt() {
        TargetMapping text = TargetMapping.classification("y", ColumnType.TEXT, List.of("yes", "no"));
        assertThatThrownBy(() -> text.encode(TestingRow.of("maybe"), 0))
                .isInstanceOf(ContractException.class)
                .hasMessage("label is none of the classes: column=y, classes=2")
                .extracting("code")
                .isEqualTo(ErrorCode.INVALID_LABEL);
    }

    @Test
    void rejectsATargetThatCannotBeLearnt() {
        assertThatThrownBy(() -> TargetMapping.classification("y", ColumnType.TEXT, List.of("only")))
                .isInstanceOf(ContractException.class)
                .hasMessage("label must have two or more classes: column=y, classes=1")
                .extracting("code")
                .isEqualTo(ErrorCode.INVALID_LABEL);
        assertThatThrownBy(() -> TargetMapping.regression("y", ColumnType.TEXT))
                .hasMessage("label type does not fit the task: column=y, type=text, task=regression");
        assertThatThrownBy(() -> TargetMapping.classification("y", ColumnType.DATE, List.of("1", "2")))
                .hasMessage("label type does not fit the task: column=y, type=date, task=classification");
        assertThatThrownBy(() -> new TargetMapping("y", Task.REGRESSION, ColumnType.INT64, List.of("1", "2")))
                .hasMessage("label type does not fit the task: column=y, type=int64, task=regression");
    }
}
