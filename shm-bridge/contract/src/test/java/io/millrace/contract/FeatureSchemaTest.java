package io.millrace.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

final class FeatureSchemaTest {
    private static final Column AGE = new Column("age", ColumnType.INT64, true);
    private static final Column CITY = new Column("city", ColumnType.TEXT, true);

    /** FNV-1a 64 of the bytes {@code age 00 02 city 00 04}, computed outside of this code. */
    private static final long FINGERPRINT = 0x86bf1e82f69d6511L;

    @Test
    void fingerprintIsTheSameInEveryRelease() {
        // A model package of an older release carries this number.
        assertThat(new FeatureSchema(List.of(AGE, CITY)).fingerprint()).isEqualTo(FINGERPRINT);
    }

    @Test
    void fingerprintChangesWithNameTypeAndOrder() {
        long fingerprint = new FeatureSchema(List.of(AGE, CITY)).fingerprint();
        assertThat(new FeatureSchema(List.of(CITY, AGE)).fingerprint()).isNotEqualTo(fingerprint);
        assertThat(new FeatureSchema(List.of(AGE)).fingerprint()).isNotEqualTo(fingerprint);
        assertThat(new FeatureSchema(List.of(new Column("age", ColumnType.FLOAT64, true), CITY)).fingerprint())
                .isNotEqualTo(fingerprint);
        assertThat(new FeatureSchema(List.of(new Column("Age", ColumnType.INT64, true), CITY)).fingerprint())
                .isNotEqualTo(fingerprint);
    }

    @Test
    void fingerprintIgnoresWhetherNullIsAllowed() {
        assertThat(new FeatureSchema(List.of(new Column("age", ColumnType.INT64, false))).fingerprint())
                .isEqualTo(new FeatureSchema(List.of(AGE)).fingerprint());
    }

    @Test
    void indexOfComparesExactly() {
        FeatureSchema schema = new FeatureSchema(List.of(AGE, CITY));
        assertThat(schema.indexOf("city")).isEqualTo(1);
        assertThat(schema.indexOf("City")).isEqualTo(-1);
    }

    @Test
    void rejectsANameGivenTwice() {
        assertThatThrownBy(() -> new FeatureSchema(List.of(AGE, AGE)))
                .isInstanceOf(ContractException.class)
                .hasMessage("schema column names must be distinct and not empty: name=\"age\"");
    }
}
