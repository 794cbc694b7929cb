package io.millrace.region;

import java.util.Map;
import jnr.ffi.LibraryLoader;
import jnr.ffi.annotations.IgnoreError;
import net.openhft.chronicle.core.Memory;
import net.openhft.chronicle.core.OS;

/*
 * A ring of the doorbell is a byte that passes through a socket: allocated and written here, waited for and read there, three
 * system calls and most of what a short answer costs. A futex is one call on either side and moves nothing. A word in a mapped
 * file means the same to every process that maps it, whatever the address.
 *
 * Who sleeps at a word hears nothing else, neither a connection that ends nor one that begins; so it does for short, and then
 * at the doorbell.
 */
/** Short sleeps at a word of shared memory, and their end: futex(2). Threads: any. */
final class Futex {
    /** The kernel's number of the system call; the newer architectures share one. */
    private static final Map<String, Long> SYSTEM_CALLS = Map.of("amd64", 202L, "aarch64", 98L, "riscv64", 98L);

    static final long SYSTEM_CALL = SYSTEM_CALLS.getOrDefault(System.getProperty("os.arch"), -1L);

    private static final long WAIT = 0;
    private static final long WAKE = 1;
    private static final long ONE = 1;
    private static final long NOTHING = 0;

    /** Longest sleep. */
    private static final long LIMIT_NANOS = 5_000_000;

    private static final CLibrary C = LibraryLoader.create(CLibrary.class).load("c");
    private static final long LIMIT = timespec(LIMIT_NANOS);

    /** What this class needs of the C library. */
    public interface CLibrary {
        @IgnoreError
        long syscall(long number, long word, long operation, long value, long timeout, long word2, long value3);
    }

    private Futex() {}

    /** Memory that is kept for good. */
    private static long timespec(long nanos) {
        Memory memory = OS.memory();
        long address = memory.allocate(16);
        memory.writeLong(address, 0);
        memory.writeLong(address + 8, nanos);
        return address;
    }

    /** Whether the number of the call is known for this processor; if not, sleepers must be woken by other means. */
    static boolean isSupported() {
        return SYSTEM_CALL >= 0;
    }

    /** Sleeps while the word holds a value, until woken, for no reason, or for 5 ms. */
    static void await(long wordAddress, int value) {
        C.syscall(SYSTEM_CALL, wordAddress, WAIT, value, LIMIT, NOTHING, NOTHING);
    }

    /** Wakes one sleeper, if there is any. */
    static void wakeOne(long wordAddress) {
        C.syscall(SYSTEM_CALL, wordAddress, WAKE, ONE, NOTHING, NOTHING, NOTHING);
    }
}
