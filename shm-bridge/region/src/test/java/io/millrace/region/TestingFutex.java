package io.millrace.region;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.annotations.IgnoreError;

/** Futexes in buffers, for backends in Java. */
final class TestingFutex {
    private static final long WAIT = 0;
    private static final long WAKE = 1;
    private static final CLibrary C = LibraryLoader.create(CLibrary.class).load("c");
    private static final Runtime RUNTIME = Runtime.getRuntime(C);

    /** What this class needs of the C library. */
    public interface CLibrary {
        @IgnoreError
        long syscall(long number, Pointer word, long operation, long value, Pointer limit, Pointer word2, long value3);
    }

    private TestingFutex() {}

    /** Sleeps while the word holds a value, until woken, for no reason, or until the time is over. */
    static void await(ByteBuffer memory, int offset, int expected, Duration limit) {
        ByteBuffer timespec = ByteBuffer.allocateDirect(16)
                .order(ByteOrder.nativeOrder())
                .putLong(0, limit.toSeconds())
                .putLong(8, limit.toNanosPart());
        call(memory, offset, WAIT, expected, Pointer.wrap(RUNTIME, timespec));
    }

    /** Wakes one sleeper, if there is any. */
    static void wakeOne(ByteBuffer memory, int offset) {
        call(memory, offset, WAKE, 1, Pointer.wrap(RUNTIME, 0));
    }

    private static void call(ByteBuffer memory, int offset, long operation, long value, Pointer limit) {
        Pointer word = Pointer.wrap(RUNTIME, memory.slice(offset, Integer.BYTES));
        C.syscall(Futex.SYSTEM_CALL, word, operation, value, limit, Pointer.wrap(RUNTIME, 0), 0);
    }
}
