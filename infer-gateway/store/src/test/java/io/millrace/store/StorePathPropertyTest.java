package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.contract.ContractException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.Chars;
import net.jqwik.api.constraints.StringLength;

class StorePathPropertyTest {
    private static final Path ROOT = Path.of("/srv/models");

    @Property
    void whatPassesStaysBelowTheRoot(
            @ForAll
                    @CharRange(from = 'a', to = 'b')
                    @Chars({'.', '/', '\\', '%', ' ', '\n', '\u0000', '~'})
                    @StringLength(max = 12)
                    String directory) {
        String valid;
        try {
            valid = StorePath.validDirectory(directory);
        } catch (ContractException e) {
            return;
        }
        Path resolved = ROOT.resolve(valid);
        assertThat(resolved.normalize().toString())
                .isEqualTo(resolved.toString())
                .startsWith(ROOT + "/");
    }

    @Property
    void databaseNamesGiveDistinctPlainDirectories(
            @ForAll @StringLength(max = 40) String one, @ForAll @StringLength(max = 40) String other) {
        Assume.that(isText(one) && isText(other));
        Assume.that(!one.isEmpty() && !other.isEmpty() && one.length() < 40);
        String first = directoryOrNull(one);
        String second = directoryOrNull(other);
        if (!first.isEmpty() && !second.isEmpty()) {
            assertThat(first.equals(second)).isEqualTo(one.equals(other));
        }
    }

    /** No half of a surrogate pair. */
    private static boolean isText(String text) {
        return text.equals(new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
    }

    /** PostgreSQL's names have at most 63 bytes; longer ones may be refused. */
    private static String directoryOrNull(String database) {
        return database.getBytes(StandardCharsets.UTF_8).length > 63 ? "" : StorePath.directory(database, 1, 2, 3);
    }
}
