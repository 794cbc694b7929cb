package io.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ColumnType;
import java.util.List;
import org.apache.iceberg.Schema;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PostgresTypesTest {
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            smallint; int; INT64
            integer; int; INT64
            bigint; long; INT64
            real; float; FLOAT64
            double precision; double; FLOAT64
            numeric(10,2); decimal(10, 2); FLOAT64
            numeric(38,0); decimal(38, 0); FLOAT64
            numeric(39,0); string; FLOAT64
            numeric(3,-2); string; FLOAT64
            numeric(2,4); string; FLOAT64
            numeric; string; FLOAT64
            boolean; boolean; BOOLEAN
            text; string; TEXT
            character varying(20); string; TEXT
            character varying; string; TEXT
            character(3); string; TEXT
            bpchar; string; TEXT
            public.citext; string; TEXT
            uuid; string; TEXT
            date; date; DATE
            timestamp without time zone; timestamp; TIMESTAMP
            timestamp(3) without time zone; timestamp; TIMESTAMP
            timestamp with time zone; timestamptz; TIMESTAMP
            """)
    void carriesTypes(String postgresType, String lakeType, ColumnType columnType) {
        Types.NestedField field = PostgresTypes.schema(table("v", postgresType)).findField("v");
        assertThat(field.type().toString()).isEqualTo(lakeType);
        assertThat(field.doc()).isEqualTo(postgresType);
        assertThat(field.isOptional()).isTrue();
        assertThat(PostgresTypes.columnType(field)).isEqualTo(columnType);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"bytea", "integer[]", "jsonb", "time without time zone", "interval", "point", "int4range", "mood"
            })
    void refusesTypesByColumnName(String postgresType) {
        assertThatThrownBy(() -> PostgresTypes.schema(table("odd one", postgresType)))
                .hasMessage("column type cannot be captured: relation=public.t, column=odd one, type=" + postgresType);
    }

    @Test
    void refusesReservedNamesAndFloatingKeys() {
        assertThatThrownBy(() -> PostgresTypes.schema(table("_ver", "integer")))
                .hasMessage("column name is reserved in the lake: relation=public.t, column=_ver");
        assertThatThrownBy(() -> PostgresTypes.schema(table("_file", "integer")))
                .hasMessage("column name is reserved in the lake: relation=public.t, column=_file");
        CapturedTable floating = new CapturedTable(
                "public.t", "public", "t", List.of("k"), List.of(new SourceColumn("k", "real", false, false)));
        assertThatThrownBy(() -> PostgresTypes.schema(floating))
                .hasMessage("key column cannot be a floating point number: relation=public.t, column=k, type=real");
    }

    @Test
    void keysAreIdentifiersAndTheVersionComesLast() {
        Schema schema = PostgresTypes.schema(table("v", "text"));
        assertThat(schema.identifierFieldNames()).containsExactly("id");
        assertThat(schema.findField("id").isRequired()).isTrue();
        assertThat(schema.columns().get(2).name()).isEqualTo("_ver");
    }

    @Test
    void parsesTheColumnsOfTheCatalog() {
        CapturedTable table = CapturedTable.parse(
                "public.t",
                "public",
                "t",
                List.of("id"),
                "[{\"name\": \"id\", \"pg-type\": \"bigint\", \"nullable\": false, \"kind\": \"b\"},"
                        + " {\"name\": \"m\", \"pg-type\": \"mood\", \"nullable\": true, \"kind\": \"e\", \"more\": 1}]");
        assertThat(table.columns())
                .containsExactly(
                        new SourceColumn("id", "bigint", false, false), new SourceColumn("m", "mood", true, true));
        assertThat(PostgresTypes.schema(table).findField("m").type()).isEqualTo(Types.StringType.get());
        assertThatThrownBy(() -> CapturedTable.parse("public.t", "public", "t", List.of("id"), "{"))
                .hasMessage("columns of a captured table are no JSON: relation=public.t");
        assertThatThrownBy(() -> CapturedTable.parse("public.t", "public", "t", List.of("id"), "[{}]"))
                .hasMessage("column of a captured table must have a name and a pg-type: relation=public.t, ordinal=0");
        assertThatThrownBy(() -> new CapturedTable("public.t", "public", "t", List.of("id"), List.of()))
                .hasMessage("key column is not a column of the table: relation=public.t, column=id");
    }

    @Test
    void namesOfTablesNeverMeet() {
        assertThat(LakeNames.of("public", "churn_2").toString()).isEqualTo("public.churn_2");
        assertThat(LakeNames.of("public", "a b").name()).matches("a_b_[0-9a-f]{8}");
        assertThat(LakeNames.of("public", "a b")).isNotEqualTo(LakeNames.of("public", "a.b"));
        assertThat(LakeNames.of("public", "é😀\"").name()).matches("_{4}_[0-9a-f]{8}");
        assertThat(LakeNames.of("public", "T")).isNotEqualTo(LakeNames.of("public", "t"));
    }

    private static CapturedTable table(String column, String type) {
        return new CapturedTable(
                "public.t",
                "public",
                "t",
                List.of("id"),
                List.of(new SourceColumn("id", "bigint", false, false), new SourceColumn(column, type, true, false)));
    }
}
