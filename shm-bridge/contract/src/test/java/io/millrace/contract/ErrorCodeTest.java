package io.millrace.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ErrorCodeTest {
    @Test
    void numbersAreDistinctAndFoundAgain() {
        Set<Integer> codes = new HashSet<>();
        for (ErrorCode code : ErrorCode.values()) {
            assertThat(codes.add(code.code())).as("%s", code).isTrue();
            assertThat(ErrorCode.of(code.code())).isEqualTo(code);
        }
    }

    @Test
    void everySqlStateHasFiveCharactersOfItsAlphabet() {
        for (ErrorCode code : ErrorCode.values()) {
            assertThat(code.sqlState()).as("%s", code).matches("[0-9A-Z]{5}");
        }
    }

    @Test
    void onlyOkIsASuccess() {
        for (ErrorCode code : ErrorCode.values()) {
            assertThat(code.sqlState().startsWith("00")).as("%s", code).isEqualTo(code == ErrorCode.OK);
        }
    }

    @Test
    void anUnknownNumberStaysAnError() {
        assertThat(ErrorCode.of(-1)).isEqualTo(ErrorCode.INTERNAL);
        assertThat(ErrorCode.of(999_999)).isEqualTo(ErrorCode.INTERNAL);
    }

    @Test
    void rangesFollowTheBlame() {
        assertThat(ErrorCode.MISSING_COLUMN.code()).isBetween(1, ErrorCode.INTERNAL_BASE - 1);
        assertThat(ErrorCode.INVALID_ENVELOPE.code()).isBetween(ErrorCode.INTERNAL_BASE, ErrorCode.RESOURCES_BASE - 1);
        assertThat(ErrorCode.QUEUE_FULL.code()).isGreaterThanOrEqualTo(ErrorCode.RESOURCES_BASE);
    }
}
