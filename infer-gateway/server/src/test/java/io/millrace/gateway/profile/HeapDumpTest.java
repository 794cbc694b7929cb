package io.millrace.gateway.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeapDumpTest {
    @TempDir
    Path directory;

    private HeapDump read(String text) throws IOException {
        Path file = directory.resolve("dump.heap");
        Files.writeString(file, text);
        return HeapDump.read(file);
    }

    @Test
    void readsStacksAndEstimatesWhatTheySampleStandsFor() throws IOException {
        HeapDump dump = read("""
                heap_v2/524288
                  t*: 4: 10486784 [0: 0]
                  t0: 4: 10486784 [0: 0]
                @ 0x7f45bd6a2630 0xffffffffff600000 0x55ddc6c671f1
                  t*: 1: 10485760 [0: 0]
                  t0: 1: 10485760 [0: 0]
                @ 0x7f45bd6a2630
                  t*: 2: 1024 [0: 0]
                  t1: 1: 512 [0: 0]
                  t2: 1: 512 [0: 0]
                @ 0x7f45bd6a2631
                  t*: 0: 0 [0: 0]

                MAPPED_LIBRARIES:
                55ddc6c60000-55ddc6c65000 r--p 00000000 fe:00 1234 /usr/bin/java
                """);
        assertThat(dump.stacks()).hasSize(2);
        HeapDump.Stack large = dump.stacks().get(0);
        assertThat(large.addresses()).containsExactly(0x7f45bd6a2630L, 0xffffffffff600000L, 0x55ddc6c671f1L);
        // Ten megabytes are sampled for certain; of allocations of 512 bytes every 1024th or so is.
        assertThat(large.bytes()).isEqualTo(10_485_760);
        assertThat(dump.stacks().get(1).bytes()).isBetween(1_049_000L, 1_049_200L);
    }

    @Test
    void aStackWithoutAddressesKeepsItsBytes() throws IOException {
        HeapDump dump = read("heap_v2/1\n@\n  t*: 1: 4096 [0: 0]\n@ \n  t*: 1: 8192 [0: 0]\n");
        assertThat(dump.stacks()).extracting(HeapDump.Stack::bytes).containsExactly(4_096L, 8_192L);
        assertThat(dump.stacks().get(0).addresses()).isEmpty();
    }

    @Test
    void refusesWhatIsNoDump() {
        assertThatThrownBy(() -> read("heap profile: 1\n"))
                .isInstanceOf(IOException.class)
                .hasMessage("dump must begin with heap_v2: line=heap profile: 1");
        assertThatThrownBy(() -> read("heap_v2/524288\n@ 0xzz\n"))
                .isInstanceOf(IOException.class)
                .hasMessage("dump has an address that is no number");
        assertThatThrownBy(() -> read("heap_v2/524288\n@ 0x\n")).isInstanceOf(IOException.class);
    }
}
