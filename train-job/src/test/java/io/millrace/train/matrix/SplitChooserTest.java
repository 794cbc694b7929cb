package io.millrace.train.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.RowReader;
import io.millrace.train.spec.RunRefusedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SplitChooserTest {
    @TempDir
    private Path directory;

    @Test
    void ranksOfKeysAreForEver() {
        // A change of these numbers changes which rows are test rows of every seed.
        assertThat(KeyRank.hashed(42, "1")).isEqualTo(0x8e5604b657d64f9L);
        assertThat(KeyRank.hashed(43, "1")).isNotEqualTo(KeyRank.hashed(42, "1"));
    }

    @Test
    void lastTakesTheLargestKeys() throws IOException {
        SplitSpec spec = new SplitSpec(0.3, Sampling.LAST, 1, 0);
        List<Column> keys = List.of(new Column("id", ColumnType.INT64, false));
        try (SplitChooser chooser = new SplitChooser(spec, 3, directory)) {
            for (long id = -5; id < 5; id++) {
                chooser.add(0, KeyRank.last(keys, key(id), 0));
            }
            SplitRule rule = chooser.rule();
            assertThat(rule.part(0, KeyRank.last(keys, key(4), 0))).isEqualTo(Part.TEST);
            assertThat(rule.part(0, KeyRank.last(keys, key(2), 0))).isEqualTo(Part.TEST);
            assertThat(rule.part(0, KeyRank.last(keys, key(1), 0))).isEqualTo(Part.TRAIN);
            assertThat(rule.part(0, KeyRank.last(keys, key(-5), 0))).isEqualTo(Part.TRAIN);
        }
    }

    @Test
    void lastRefusesKeysWithoutAnOrder() {
        List<Column> keys = List.of(new Column("name", ColumnType.TEXT, false));
        assertThatThrownBy(() -> KeyRank.checkOrdered(keys))
                .isInstanceOf(RunRefusedException.class)
                .hasMessage(
                        "run is refused: test sampling last must have one key column of a number, date or timestamp:"
                                + " keys=[name TEXT]");
    }

    @Test
    void refusesToSplitOneRow() throws IOException {
        try (SplitChooser chooser = new SplitChooser(new SplitSpec(0.5, Sampling.RANDOM, 1, 0), 0, directory)) {
            chooser.add(0, 7);
            assertThatThrownBy(chooser::rule)
                    .isInstanceOf(RunRefusedException.class)
                    .hasMessage(
                            "run is refused: a snapshot must have two or more rows with a label to train and test on:"
                                    + " rows=1");
        }
    }

    @Test
    void keepsRowsOfATableOfFiveForBothParts() throws IOException {
        try (SplitChooser chooser = new SplitChooser(new SplitSpec(0.25, Sampling.STRATIFIED, 1, 0), 2, directory)) {
            for (int row = 0; row < 5; row++) {
                chooser.add(row % 2, KeyRank.hashed(1, Integer.toString(row)));
            }
            SplitRule rule = chooser.rule();
            long tests = 0;
            for (int row = 0; row < 5; row++) {
                tests += rule.part(row % 2, KeyRank.hashed(1, Integer.toString(row))) == Part.TEST ? 1 : 0;
            }
            assertThat(tests).isEqualTo(2);
            assertThat(rule.rows()).isEqualTo(5);
        }
    }

    @Test
    void takesValidationRowsFromThoseNotHeldOut() throws IOException {
        SplitSpec spec = new SplitSpec(0.2, Sampling.RANDOM, 1, 0.1);
        try (SplitChooser chooser = new SplitChooser(spec, 0, directory)) {
            for (int row = 0; row < 100; row++) {
                chooser.add(0, row);
            }
            SplitRule rule = chooser.rule();
            assertThat(rule.part(0, 19)).isEqualTo(Part.TEST);
            assertThat(rule.part(0, 20)).isEqualTo(Part.VALIDATION);
            assertThat(rule.part(0, 29)).isEqualTo(Part.VALIDATION);
            assertThat(rule.part(0, 30)).isEqualTo(Part.TRAIN);
        }
    }

    private static RowReader key(long id) {
        return new RowReader() {
            @Override
            public boolean isNull(int column) {
                return false;
            }

            @Override
            public boolean booleanValue(int column) {
                throw new AssertionError("not a boolean");
            }

            @Override
            public long int64(int column) {
                return id;
            }

            @Override
            public double float64(int column) {
                throw new AssertionError("not a number with a fraction");
            }

            @Override
            public String text(int column) {
                throw new AssertionError("not a text");
            }
        };
    }
}
