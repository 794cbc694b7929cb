package io.millrace.lake.column;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DeleteCacheTest {
    private static final long QUARTER = DeleteCache.HELD_BYTES_MAX / 4;

    @Test
    void loadsOnceWhileThereIsSpace() {
        DeleteCache cache = new DeleteCache();
        AtomicInteger loads = new AtomicInteger();
        for (int round = 0; round < 2; round++) {
            for (int key = 0; key < 4; key++) {
                int value = key;
                assertThat(cache.get(
                                "k" + key,
                                () -> {
                                    loads.incrementAndGet();
                                    return value;
                                },
                                any -> QUARTER))
                        .isEqualTo(key);
            }
        }
        assertThat(loads).hasValue(4);
        assertThat(cache.heldBytes()).isEqualTo(DeleteCache.HELD_BYTES_MAX);
    }

    @Test
    void dropsTheLeastRecentlyUsed() {
        DeleteCache cache = new DeleteCache();
        for (int key = 0; key < 5; key++) {
            cache.get("k" + key, () -> "first", any -> QUARTER);
            cache.get("k0", () -> "again", any -> QUARTER);
        }
        assertThat(cache.get("k0", () -> "loaded", any -> QUARTER)).isEqualTo("first");
        assertThat(cache.get("k1", () -> "loaded", any -> QUARTER)).isEqualTo("loaded");
        assertThat(cache.heldBytes()).isEqualTo(DeleteCache.HELD_BYTES_MAX);
    }

    @Test
    void doesNotHoldWhatWouldDropAllOthers() {
        DeleteCache cache = new DeleteCache();
        cache.get("large", () -> "first", any -> DeleteCache.ENTRY_BYTES_MAX + 1);
        assertThat(cache.get("large", () -> "again", any -> 1)).isEqualTo("again");
    }
}
