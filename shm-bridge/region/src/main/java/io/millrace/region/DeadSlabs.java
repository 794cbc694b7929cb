package io.millrace.region;

import io.millrace.contract.layout.RegionLayout;
import io.millrace.contract.layout.RegionLayout.SlotOffsets;
import io.millrace.contract.layout.SlotLayout;
import io.millrace.contract.layout.SlotState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import net.openhft.posix.OpenFlag;
import net.openhft.posix.PosixAPI;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * A removed file lives on while a process maps it, and a session that rests maps its last generation until it asks again:
 * each restart would cost the tmpfs another 135 MB. So holes are punched first. Truncating would kill the sessions with
 * SIGBUS; a hole reads as zero.
 *
 * Zeros must not be taken for an answer: a response that is done may be read at this very moment, so its slab stays. No
 * other slab is read by anybody, since no gateway lives that could finish a request.
 */
/** Gives back the memory of a dead generation's slabs. */
final class DeadSlabs {
    private static final Logger log = LoggerFactory.getLogger(DeadSlabs.class);

    /** FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE. */
    private static final int PUNCH_HOLE = 1 | 2;

    private DeadSlabs() {}

    /** Frees what it can; nothing when there is no layout, since no session maps what was never published. */
    static void free(Path directory) {
        Path file = directory.resolve(RegionLayout.FILE_NAME);
        if (!Files.exists(file)) {
            return;
        }
        try {
            RegionLayout layout = RegionLayout.decode(Files.readAllBytes(file));
            List<Long> requests = new ArrayList<>();
            List<Long> responses = new ArrayList<>();
            List<SlotState> states = states(directory.resolve(layout.linesName()), layout.slots());
            for (int slotIndex = 0; slotIndex < states.size(); slotIndex++) {
                requests.add(layout.slots().get(slotIndex).request());
                if (states.get(slotIndex) != SlotState.DONE) {
                    responses.add(layout.slots().get(slotIndex).response());
                }
            }
            punch(directory.resolve(layout.requestName()), requests);
            punch(directory.resolve(layout.responseName()), responses);
        } catch (IOException | RuntimeException e) {
            // Of another version, or damaged; its memory comes back when its last session looks again.
            log.warn("slabs of a dead generation stay in memory: directory={}, reason={}", directory, e.toString());
        }
    }

    private static List<SlotState> states(Path linesFile, List<SlotOffsets> slots) throws IOException {
        ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        List<SlotState> states = new ArrayList<>();
        try (FileChannel lines = FileChannel.open(linesFile, StandardOpenOption.READ)) {
            for (SlotOffsets slot : slots) {
                word.clear();
                if (lines.read(word, slot.slot() + SlotLayout.STATE_OFFSET) != Long.BYTES) {
                    throw new IOException("lines are too short: file=" + linesFile.getFileName());
                }
                states.add(SlotLayout.state(word.getLong(0)));
            }
        }
        return states;
    }

    private static void punch(Path file, List<Long> offsets) throws IOException {
        PosixAPI posix = PosixAPI.posix();
        int descriptor = posix.open(file.toString(), OpenFlag.O_RDWR, 0);
        if (descriptor < 0) {
            throw new IOException("slabs cannot be opened: file=" + file.getFileName());
        }
        try {
            for (long offset : offsets) {
                if (posix.fallocate(descriptor, PUNCH_HOLE, offset, SlotLayout.SLAB_LENGTH) != 0) {
                    throw new IOException("slabs cannot be freed: file=" + file.getFileName() + ", offset=" + offset);
                }
            }
        } finally {
            posix.close(descriptor);
        }
    }
}
