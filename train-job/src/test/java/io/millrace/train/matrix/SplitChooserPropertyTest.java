package io.millrace.train.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class SplitChooserPropertyTest {
    @Property(tries = 100)
    void selectsTheSameRankAsSorting(@ForAll @Size(min = 1, max = 300) List<Long> ranks, @ForAll Random random)
            throws IOException {
        Path directory = Files.createTempDirectory("ranks");
        int index = random.nextInt(ranks.size());
        try (RankFile file = new RankFile(directory.resolve("ranks"))) {
            for (long rank : ranks) {
                file.append(rank);
            }
            List<Long> sorted = new ArrayList<>(ranks);
            sorted.sort(Long::compareUnsigned);
            assertThat(file.select(index)).isEqualTo(sorted.get(index));
        } finally {
            Directories.delete(directory);
        }
    }

    @Property(tries = 100)
    void holdsOutTheExactShareOfEachClassInAnyOrder(
            @ForAll @IntRange(min = 2, max = 400) int first,
            @ForAll @IntRange(min = 2, max = 400) int second,
            @ForAll @DoubleRange(min = 0.01, max = 0.9) double testSize,
            @ForAll long seed)
            throws IOException {
        SplitSpec spec = new SplitSpec(testSize, Sampling.STRATIFIED, seed, 0);
        List<Long> rows =
                new ArrayList<>(LongStream.range(0, first + second).boxed().toList());
        SplitRule rule = rule(spec, rows, first);
        Collections.shuffle(rows, new Random(seed));
        assertThat(rule(spec, rows, first)).isEqualTo(rule);
        long tests = rows.stream()
                .filter(row -> row < first && part(rule, spec, row, first) == Part.TEST)
                .count();
        assertThat(tests).isEqualTo(Math.min(first - 1, Math.max(1, Math.round(first * testSize))));
        long trained = rows.stream()
                .filter(row -> row >= first && part(rule, spec, row, first) == Part.TRAIN)
                .count();
        assertThat(trained).isEqualTo(second - Math.min(second - 1, Math.max(1, Math.round(second * testSize))));
    }

    private static SplitRule rule(SplitSpec spec, List<Long> rows, int first) throws IOException {
        Path directory = Files.createTempDirectory("split");
        try (SplitChooser chooser = new SplitChooser(spec, 2, directory)) {
            for (long row : rows) {
                chooser.add(row < first ? 0 : 1, KeyRank.hashed(spec.seed(), Long.toString(row)));
            }
            return chooser.rule();
        } finally {
            Directories.delete(directory);
        }
    }

    private static Part part(SplitRule rule, SplitSpec spec, long row, int first) {
        return rule.part(row < first ? 0 : 1, KeyRank.hashed(spec.seed(), Long.toString(row)));
    }
}
