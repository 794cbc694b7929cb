package io.millrace.lake.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.NotEmpty;
import net.jqwik.api.constraints.Size;

class StatisticsPropertyTest {
    @Property(tries = 200)
    void momentsDoNotDependOnHowRowsAreSplit(
            @ForAll @NotEmpty @Size(max = 200) List<@DoubleRange(min = -1e9, max = 1e9) Double> values,
            @ForAll @IntRange(min = 1, max = 50) int part) {
        double[] all = values.stream().mapToDouble(Double::doubleValue).toArray();
        Moments whole = new Moments();
        whole.add(all, all.length);
        Moments merged = new Moments();
        for (int from = 0; from < all.length; from += part) {
            double[] block = Arrays.copyOfRange(all, from, Math.min(all.length, from + part));
            Moments piece = new Moments();
            piece.add(block, block.length);
            merged.merge(piece);
        }
        assertThat(merged.count()).isEqualTo(whole.count());
        assertThat(merged.min()).isEqualTo(whole.min());
        assertThat(merged.max()).isEqualTo(whole.max());
        double mean = Arrays.stream(all).average().orElseThrow();
        double tolerance = 1e-12 * Math.max(1, Math.max(Math.abs(whole.min()), Math.abs(whole.max())));
        assertThat(merged.mean()).isCloseTo(mean, within(tolerance * 10));
        double variance =
                Arrays.stream(all).map(v -> (v - mean) * (v - mean)).average().orElseThrow();
        assertThat(merged.variance()).isCloseTo(variance, within(1e-9 * Math.max(1, variance)));
    }

    @Property(tries = 100)
    void quantilesOfFewValuesAreExact(
            @ForAll @NotEmpty @Size(max = 300) List<@DoubleRange(min = -1e6, max = 1e6) Double> values,
            @ForAll @DoubleRange(min = 0, max = 1) double fraction) {
        double[] all = values.stream().mapToDouble(Double::doubleValue).toArray();
        QuantileSketch left = new QuantileSketch();
        QuantileSketch right = new QuantileSketch();
        int half = all.length / 2;
        left.add(Arrays.copyOf(all, half), half);
        right.add(Arrays.copyOfRange(all, half, all.length), all.length - half);
        left.merge(right);
        Arrays.sort(all);
        double position = fraction * (all.length - 1);
        int below = (int) position;
        double expected = all[below] + (all[Math.min(below + 1, all.length - 1)] - all[below]) * (position - below);
        assertThat(left.quantile(fraction)).isCloseTo(expected, within(1e-6));
    }

    @Property(tries = 20)
    void quantilesOfManyValuesAreNearInRank(@ForAll long seed, @ForAll @IntRange(min = 1, max = 7) int parts) {
        Random random = new Random(seed);
        int perPart = 400_000 / parts;
        double[] all = new double[perPart * parts];
        QuantileSketch merged = new QuantileSketch();
        QuantileSketch again = new QuantileSketch();
        for (int part = 0; part < parts; part++) {
            double[] values = new double[perPart];
            for (int i = 0; i < perPart; i++) {
                // Sorted parts, skewed parts, plain parts: a compactor must not mind.
                values[i] = part % 3 == 0 ? i : part % 3 == 1 ? Math.exp(random.nextGaussian()) : random.nextDouble();
            }
            System.arraycopy(values, 0, all, part * perPart, perPart);
            QuantileSketch piece = new QuantileSketch();
            for (int from = 0; from < perPart; from += 4_096) {
                double[] block = Arrays.copyOfRange(values, from, Math.min(perPart, from + 4_096));
                piece.add(block, block.length);
            }
            merged.merge(piece);
            again.merge(piece);
        }
        Arrays.sort(all);
        assertThat(merged.count()).isEqualTo(all.length);
        assertThat(merged.heldBytes()).isLessThan(128_000);
        for (double fraction : new double[] {0, 0.01, 0.25, 0.5, 0.75, 0.99, 1}) {
            double value = merged.quantile(fraction);
            assertThat(again.quantile(fraction)).isEqualTo(value);
            // Between two kept values it interpolates, so the value need not be one of the stream.
            int found = Arrays.binarySearch(all, value);
            int low = found < 0 ? Math.max(0, -found - 2) : found;
            int high = found < 0 ? Math.min(all.length - 1, -found - 1) : found;
            while (low > 0 && all[low - 1] == value) {
                low--;
            }
            while (high < all.length - 1 && all[high + 1] == value) {
                high++;
            }
            double rank = fraction * (all.length - 1);
            double error = rank < low ? low - rank : rank > high ? rank - high : 0;
            assertThat(error / all.length).isLessThan(0.005);
        }
    }

    @Property(tries = 100)
    void countsOfNumbersAreExactOrGivenUp(@ForAll @Size(max = 500) List<@IntRange(min = 0, max = 40) Integer> values) {
        NumberCounts counts = new NumberCounts();
        Map<Double, Long> expected = new HashMap<>();
        for (int value : values) {
            assertThat(counts.add(value / 7.0, 1)).isTrue();
            expected.merge(value / 7.0, 1L, Long::sum);
        }
        assertThat(counts.distinct()).isEqualTo(expected.size());
        for (double value : counts.values()) {
            assertThat(counts.count(value)).isEqualTo(expected.get(value));
        }
    }

    @Property(tries = 10)
    void heavyHittersSurviveAnyNumberOfRareTexts(@ForAll long seed) {
        Random random = new Random(seed);
        TextCounts left = new TextCounts();
        TextCounts right = new TextCounts();
        long common = 0;
        for (int i = 0; i < 60_000; i++) {
            TextCounts one = random.nextBoolean() ? left : right;
            if (random.nextInt(10) == 0) {
                one.add("common");
                common++;
            } else {
                one.add("rare" + random.nextInt(1_000_000));
            }
        }
        left.merge(right);
        assertThat(left.isExact()).isFalse();
        assertThat(left.size()).isLessThanOrEqualTo(TextCounts.DISTINCT_MAX);
        long kept = left.levels().stream()
                .filter(level -> level.text().equals("common"))
                .findFirst()
                .orElseThrow()
                .count();
        assertThat(kept).isBetween(common - left.undercount(), common);
    }
}
