package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ObjectStoreTest {
    private static final int READ_COUNT = 100;
    private static final int COLLECTION_COUNT = 10;

    /** OpenDAL's asynchronous calls keep all of them: a gateway would grow with every package that it loads. */
    @Test
    void whatWasReadIsNotKept(@TempDir Path root) {
        try (ObjectStore store = new ObjectStore(new StoreConfig("fs", Map.of("root", root.toString())))) {
            store.write("object", new byte[1_000]);
            List<WeakReference<byte[]>> answers = new ArrayList<>();
            for (int index = 0; index < READ_COUNT; index++) {
                answers.add(new WeakReference<>(Objects.requireNonNull(store.read("object", 0, 1_000))));
            }
            for (int collection = 0; collection < COLLECTION_COUNT && keptCount(answers) > 0; collection++) {
                System.gc();
            }
            assertThat(keptCount(answers)).isZero();
        }
    }

    private static long keptCount(List<WeakReference<byte[]>> answers) {
        return answers.stream().filter(answer -> answer.get() != null).count();
    }
}
