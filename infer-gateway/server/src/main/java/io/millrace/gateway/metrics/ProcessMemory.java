package io.millrace.gateway.metrics;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Resident memory of this process as Linux counts it; the parts add up to what {@code process_resident_memory_bytes} is. */
final class ProcessMemory {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final Map<String, String> PARTS =
            Map.of("RssAnon:", "anonymous", "RssFile:", "file", "RssShmem:", "shared");
    private static final long KIB = 1_024;

    private ProcessMemory() {}

    /** Bytes by part; empty where there is no such file. */
    static Map<String, Long> bytes() {
        Map<String, Long> bytes = new TreeMap<>();
        try {
            for (String line : Files.readAllLines(STATUS)) {
                String[] words = line.split("\\s+", 3);
                String part = PARTS.get(words[0]);
                if (part != null) {
                    bytes.put(part, Long.parseLong(words[1]) * KIB);
                }
            }
        } catch (IOException e) {
            // Another system: it has no such numbers.
        }
        return bytes;
    }
}
