package io.millrace.gateway.profile;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.LongByReference;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The jemalloc that serves all native memory of this process. Threads: any.
 *
 * @see <a href="https://jemalloc.net/jemalloc.3.html">jemalloc(3), mallctl</a>
 */
final class Jemalloc {
    /** ENOENT: one that is built without profiling does not know its names. */
    private static final int UNKNOWN_NAME = 2;

    private final Function mallctl;

    private Jemalloc(Function mallctl) {
        this.mallctl = mallctl;
    }

    /**
     * Nothing when the process runs with another allocator.
     *
     * @throws LinkageError where native functions cannot be called at all
     */
    static Optional<Jemalloc> ofThisProcess() {
        NativeLibrary process = NativeLibrary.getProcess();
        try {
            return Optional.of(new Jemalloc(process.getFunction("mallctl")));
        } catch (UnsatisfiedLinkError otherAllocator) {
            return Optional.empty();
        }
    }

    /** Whether it samples allocations: that is decided when it is built, and when the process starts. */
    boolean samples() throws IOException {
        try (Memory flag = new Memory(1);
                Memory length = length(1)) {
            flag.setByte(0, (byte) 0);
            int error = tryCall("opt.prof", flag, length, null, 0);
            if (error == UNKNOWN_NAME) {
                return false;
            }
            check("opt.prof", error);
            return flag.getByte(0) != 0;
        }
    }

    /** Memory in use now; bytes. */
    long allocatedBytes() throws IOException {
        // Statistics are those of the time when the epoch was last written.
        call("epoch", null, null, new LongByReference(1).getPointer(), Long.BYTES);
        try (Memory value = new Memory(Long.BYTES);
                Memory length = length(Long.BYTES)) {
            call("stats.allocated", value, length, null, 0);
            return value.getLong(0);
        }
    }

    /** Writes the sampled allocations that are in use. */
    void dump(Path file) throws IOException {
        byte[] name = file.toString().getBytes(StandardCharsets.UTF_8);
        try (Memory text = new Memory(name.length + 1L);
                Memory pointer = new Memory(Long.BYTES)) {
            text.write(0, name, 0, name.length);
            text.setByte(name.length, (byte) 0);
            pointer.setPointer(0, text);
            call("prof.dump", null, null, pointer, Long.BYTES);
        }
    }

    private static Memory length(long length) {
        Memory memory = new Memory(Long.BYTES);
        memory.setLong(0, length);
        return memory;
    }

    private void call(
            String name, @Nullable Pointer old, @Nullable Pointer oldLength, @Nullable Pointer fresh, long freshLength)
            throws IOException {
        check(name, tryCall(name, old, oldLength, fresh, freshLength));
    }

    private int tryCall(
            String name,
            @Nullable Pointer old,
            @Nullable Pointer oldLength,
            @Nullable Pointer fresh,
            long freshLength) {
        return mallctl.invokeInt(new Object[] {name, old, oldLength, fresh, freshLength});
    }

    private static void check(String name, int error) throws IOException {
        if (error != 0) {
            throw new IOException("jemalloc refuses: name=" + name + ", errno=" + error);
        }
    }
}
