package io.millrace.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Feeds a parser damaged bytes: it may answer, or throw {@link ContractException}, and nothing else. */
public final class Survival {
    private Survival() {}

    /** Every strict prefix must be refused. */
    public static void refusesEveryPrefix(byte[] valid, Consumer<byte[]> parser) {
        assertThat(outcome(valid, parser)).as("the whole").isNull();
        for (int length = 0; length < valid.length; length++) {
            if (outcome(Arrays.copyOf(valid, length), parser) == null) {
                fail("prefix accepted: length=" + length + ", validLength=" + valid.length);
            }
        }
    }

    /** Every single flipped bit must be survived. */
    public static void survivesEveryBitFlip(byte[] valid, Consumer<byte[]> parser) {
        for (int bit = 0; bit < valid.length * 8; bit++) {
            outcome(flipped(valid, bit), parser);
        }
    }

    /** Every single flipped bit must be refused. */
    public static void refusesEveryBitFlip(byte[] valid, Consumer<byte[]> parser) {
        for (int bit = 0; bit < valid.length * 8; bit++) {
            if (outcome(flipped(valid, bit), parser) == null) {
                fail("bit flip accepted: bit=" + bit);
            }
        }
    }

    /** A copy with one bit changed. */
    public static byte[] flipped(byte[] valid, int bit) {
        byte[] damaged = valid.clone();
        damaged[bit / 8] ^= (byte) (1 << (bit % 8));
        return damaged;
    }

    /** Null when the parser answered. */
    public static @Nullable ContractException outcome(byte[] bytes, Consumer<byte[]> parser) {
        try {
            parser.accept(bytes);
            return null;
        } catch (ContractException refused) {
            assertThat(refused.code()).isNotEqualTo(ErrorCode.OK);
            assertThat(refused.getMessage()).isNotBlank();
            return refused;
        }
    }
}
