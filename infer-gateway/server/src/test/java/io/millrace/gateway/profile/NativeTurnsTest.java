package io.millrace.gateway.profile;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.gateway.profile.NativeTurns.Look;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NativeTurnsTest {
    private static final Instant START = Instant.ofEpochSecond(1_000);

    private static List<Look> turns(int threads, int looks, long firstMillis, long periodMillis) {
        List<Look> taken = new ArrayList<>();
        for (int look = 0; look < looks; look++) {
            taken.add(new Look(START.plusMillis(firstMillis + periodMillis * look), look % threads));
        }
        return taken;
    }

    @Test
    void aLookStandsForAllThatTakeTurns() {
        assertThat(NativeTurns.weights(turns(5, 200, 0, 20))).hasSize(200).containsOnly(5);
        assertThat(NativeTurns.weights(turns(1, 200, 0, 20))).containsOnly(1);
        assertThat(NativeTurns.weights(turns(20, 200, 0, 1_000)))
                .as("whatever the period")
                .containsOnly(20);
        assertThat(NativeTurns.weights(List.of())).isEmpty();
    }

    @Test
    void onlyTheLooksAroundItCount() {
        List<Look> looks = turns(4, 100, 0, 20);
        looks.addAll(turns(2, 100, 60_000, 20));
        int[] weights = NativeTurns.weights(looks);
        assertThat(List.of(weights[50], weights[150])).containsExactly(4, 2);
    }
}
