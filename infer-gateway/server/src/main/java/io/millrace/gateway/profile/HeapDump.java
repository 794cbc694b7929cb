package io.millrace.gateway.profile;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/*
 * jemalloc's text format, heap_v2:
 *
 *   heap_v2/524288                        mean bytes between samples
 *     t*: 128: 1280 [0: 0]                all threads: objects in use: their bytes [..]; one line for each thread follows
 *   @ 0x5f86da8 0x5f5a1dc ..              a stack, innermost first
 *     t*: 13: 6688 [0: 0]                 the same of this stack
 *   MAPPED_LIBRARIES:                     what follows is not needed here
 */
/** A dump of jemalloc: sampled stacks, and an estimate of the bytes that each has in use. */
final class HeapDump {
    private static final Pattern HEAD = Pattern.compile("heap_v2/([0-9]{1,18})");
    private static final Pattern COUNTS = Pattern.compile("\\s+t\\*: ([0-9]{1,18}): ([0-9]{1,18}) \\[.*");
    private static final String END = "MAPPED_LIBRARIES:";

    private final List<Stack> stacks = new ArrayList<>();

    /** Where memory was allocated. */
    static final class Stack {
        private final long[] addresses;
        private final long bytes;

        private Stack(long[] addresses, long bytes) {
            this.addresses = addresses;
            this.bytes = bytes;
        }

        /** Of the code, innermost first. */
        long[] addresses() {
            return addresses;
        }

        /** Estimate of what is in use. */
        long bytes() {
            return bytes;
        }
    }

    /**
     * Reads a dump.
     *
     * @throws IOException if it is not one
     */
    static HeapDump read(Path file) throws IOException {
        HeapDump dump = new HeapDump();
        try (BufferedReader in = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            dump.read(in);
        } catch (NumberFormatException e) {
            throw new IOException("dump has an address that is no number", e);
        }
        return dump;
    }

    private void read(BufferedReader in) throws IOException {
        String first = in.readLine();
        Matcher head = HEAD.matcher(first == null ? "" : first);
        if (!head.matches()) {
            throw new IOException("dump must begin with heap_v2: line=" + first);
        }
        long samplePeriodBytes = Long.parseLong(head.group(1));
        long @Nullable [] addresses = null;
        for (String line = in.readLine(); line != null && !line.equals(END); line = in.readLine()) {
            if (line.startsWith("@")) {
                addresses = addresses(line);
                continue;
            }
            Matcher counts = COUNTS.matcher(line);
            // Before the first stack they are the sum of all.
            if (addresses != null && counts.matches()) {
                long count = Long.parseLong(counts.group(1));
                long bytes = Long.parseLong(counts.group(2));
                if (count > 0) {
                    stacks.add(new Stack(addresses, estimate(count, bytes, samplePeriodBytes)));
                }
            }
        }
    }

    private static long[] addresses(String line) {
        // None where the stack could not be walked.
        return Arrays.stream(line.substring(1).strip().split(" "))
                .filter(address -> !address.isEmpty())
                .mapToLong(address -> Long.parseUnsignedLong(address.replaceFirst("^0x", ""), 16))
                .toArray();
    }

    /**
     * What a sample stands for: an allocation of b bytes is sampled with probability 1 - exp(-b / period).
     *
     * @see <a href="https://github.com/jemalloc/jemalloc/blob/5.3.0/bin/jeprof.in">jeprof, AdjustSamples</a>
     */
    private static long estimate(long count, long bytes, long samplePeriodBytes) {
        double mean = (double) bytes / count;
        return Math.round(bytes / -Math.expm1(-mean / samplePeriodBytes));
    }

    List<Stack> stacks() {
        return stacks;
    }
}
