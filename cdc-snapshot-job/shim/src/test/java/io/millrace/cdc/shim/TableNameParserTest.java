package io.millrace.cdc.shim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TableNameParserTest {
    @Test
    void readsQuotedNamesBack() {
        assertThat(TableNameParser.parse("\"public\".\"a\"")).containsExactly("public", "a");
        assertThat(TableNameParser.parse("\"Odd.Schema\".\"le \"\"q\"\", x\""))
                .containsExactly("Odd.Schema", "le \"q\", x");
        assertThat(TableNameParser.parse("\"a\".\"\"\"\"")).containsExactly("a", "\"");
    }

    @Test
    void losesNothingOfANameWithoutQuotes() {
        assertThat(TableNameParser.parse("public.two words \"x\"")).containsExactly("public", "two words \"x\"");
        assertThat(TableNameParser.parse("a.b.c.d")).containsExactly("a", "b", "c.d");
        assertThat(TableNameParser.parse("alone")).containsExactly("alone");
    }
}
