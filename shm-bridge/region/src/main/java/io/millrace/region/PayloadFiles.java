package io.millrace.region;

import io.millrace.contract.layout.PayloadLayout;
import io.millrace.contract.layout.SlotLayout;
import io.millrace.contract.layout.SlotState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.openhft.chronicle.core.cleaner.CleanerServiceLocator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * A file belongs to one use of a slot: its name carries the slot and the state word of the claim, and it exists only
 * while that use lasts. A request's file is made by the backend before SUBMITTED and removed by the gateway when it opens
 * it; a response's file is made by the gateway before DONE and removed by the backend before FREE. Whoever gives up a
 * slot removes what is left of it, and for who died the sweeper does: a file whose slot is in another use belongs to
 * nobody. No name comes twice within a generation, and each generation has a directory of its own.
 *
 * The directory is the one place of the region where backends make files, so it is writable for the group; a link in the
 * place of a file is never followed.
 */
/** Requests and responses that do not fit their slabs, as files; see {@link PayloadLayout}. Threads: any. */
public final class PayloadFiles {
    private static final Logger log = LoggerFactory.getLogger(PayloadFiles.class);
    private static final Pattern NAME = Pattern.compile("(?:req|resp)-(\\d{1,3})-([0-9a-f]{16})");

    private final RegionFiles files;
    private final SlotTable slots;
    private final Path directory;

    PayloadFiles(RegionFiles files, SlotTable slots, long generation) throws IOException {
        this.files = files;
        this.slots = slots;
        this.directory = files.resolve(PayloadLayout.directoryName(generation));
        Files.createDirectory(directory);
        files.shareDirectory(directory);
    }

    /**
     * Maps the request in a slot and removes its file; the memory is given back by {@link #free}.
     *
     * @param length of the request, as the slot line says
     * @return little-endian, read-only, {@code length} bytes
     * @throws IOException if there is no such file, or it has another length
     */
    public ByteBuffer openRequest(int slotIndex, long stateWord, int length) throws IOException {
        Path file = directory.resolve(PayloadLayout.requestName(slotIndex, stateWord));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            if (channel.size() != length) {
                throw new IOException("payload must have the length its slot says: fileLength=" + channel.size()
                        + ", length=" + length);
            }
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, length).order(ByteOrder.LITTLE_ENDIAN);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    /**
     * Makes the file of a response, before {@link SlotTable#finish}.
     *
     * @param response from position to limit
     * @throws IOException if there is no room for it; nothing is left behind
     */
    public void writeResponse(int slotIndex, long stateWord, ByteBuffer response) throws IOException {
        Path file = directory.resolve(PayloadLayout.responseName(slotIndex, stateWord));
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            files.expose(file);
            while (response.hasRemaining()) {
                channel.write(response);
            }
        } catch (IOException e) {
            Files.deleteIfExists(file);
            throw e;
        }
    }

    /** Removes what is left of both files of a slot's use; nothing happens if nothing is. */
    public void remove(int slotIndex, long stateWord) {
        remove(directory.resolve(PayloadLayout.requestName(slotIndex, stateWord)));
        remove(directory.resolve(PayloadLayout.responseName(slotIndex, stateWord)));
    }

    private static void remove(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            log.warn("payload cannot be removed: file={}, reason={}", file, e.toString());
        }
    }

    /** Memory that {@link #openRequest} mapped, or a direct buffer; nobody may touch it or a view of it any more. */
    public static void free(ByteBuffer buffer) {
        CleanerServiceLocator.cleanerService().clean(buffer);
    }

    /**
     * Removes files of uses of a slot that have ended.
     *
     * @return how many
     */
    int sweep() {
        int removed = 0;
        try {
            for (Path file : list()) {
                // Listed first, looked at then: the use has begun before its file was made.
                if (isOrphan(file.getFileName().toString())) {
                    Files.deleteIfExists(file);
                    removed++;
                }
            }
        } catch (IOException e) {
            log.warn("payloads cannot be looked for: directory={}, reason={}", directory, e.toString());
        }
        return removed;
    }

    private boolean isOrphan(String name) {
        Matcher matcher = NAME.matcher(name);
        if (!matcher.matches()) {
            return true;
        }
        int slotIndex = Integer.parseInt(matcher.group(1));
        if (slotIndex >= slots.slotCount()) {
            return true;
        }
        long word = slots.stateWord(slotIndex);
        return SlotLayout.stateCode(word) == SlotState.FREE.code()
                || SlotLayout.withState(word, SlotState.FREE) != Long.parseUnsignedLong(matcher.group(2), 16);
    }

    /** Files of all slots. */
    public int count() throws IOException {
        return list().size();
    }

    private List<Path> list() throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
            stream.forEach(found::add);
        }
        return found;
    }
}
