package io.millrace.region;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.ChronicleMapBuilder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Unlike the region's maps, whose values another process writes, this one is its owner's alone and outlives it. So it has
 * checksums, and every opening recovers it: a writer that was killed leaves a lock, or an entry half written, and recovery
 * frees the one and drops the other. What it holds only saves time at the next start, so a file that cannot be recovered is
 * thrown away.
 */
/**
 * Small documents by key that outlive their process, however it ends.
 *
 * <p>Threads: any. Processes: one at a time.
 */
public final class Registry implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Registry.class);
    private static final int ENTRY_COUNT = 4_096;
    private static final int DOCUMENT_LENGTH_MEAN = 512;

    static {
        ChronicleSettings.apply();
    }

    private final ChronicleMap<Long, byte[]> documents;

    private Registry(ChronicleMap<Long, byte[]> documents) {
        this.documents = documents;
    }

    /**
     * Opens a registry, or makes a new one when there is none or it is damaged.
     *
     * @param file in an existing directory
     * @throws IOException if it cannot be made
     */
    public static Registry open(Path file) throws IOException {
        if (Files.exists(file)) {
            try {
                return recover(file);
            } catch (IOException | RuntimeException | Error e) {
                log.warn("registry cannot be recovered and starts empty: file={}, reason={}", file, e.toString());
                Files.delete(file);
            }
        }
        create(file);
        return recover(file);
    }

    private static Registry recover(Path file) throws IOException {
        return new Registry(builder().recoverPersistedTo(file.toFile(), false));
    }

    /** Under its name only when it is whole: for a header that somebody was killed over, the library waits a minute. */
    private static void create(Path file) throws IOException {
        Path unfinished = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(unfinished);
        builder().createPersistedTo(unfinished.toFile()).close();
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static ChronicleMapBuilder<Long, byte[]> builder() {
        return ChronicleMapBuilder.of(Long.class, byte[].class)
                .name("registry")
                .entries(ENTRY_COUNT)
                .averageValueSize(DOCUMENT_LENGTH_MEAN)
                .checksumEntries(true)
                // Else it asks for the file's mount point, which there is none of in a changed root.
                .sparseFile(true)
                .skipCloseOnExitHook(true);
    }

    /**
     * Sets the document of a key.
     *
     * @return whether there was room for it
     */
    public boolean put(long key, byte[] document) {
        try {
            documents.put(key, document);
            return true;
        } catch (IllegalStateException | IllegalArgumentException e) {
            log.warn(
                    "registry has no room: key={}, length={}, count={}",
                    Long.toHexString(key),
                    document.length,
                    documents.size());
            return false;
        }
    }

    /** Forgets a key; nothing happens if it is not known. */
    public void remove(long key) {
        documents.remove(key);
    }

    /** A copy of all documents. */
    public Map<Long, byte[]> documents() {
        return new HashMap<>(documents);
    }

    @Override
    public void close() {
        documents.close();
    }
}
