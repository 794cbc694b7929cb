package io.millrace.train.child;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;

/** Pages of mapped files. */
final class MemoryPages {
    private static final long PAGE_BYTES = 4096;
    private static final int MADV_DONTNEED = 4;
    private static final LibC LIBC = Native.load("c", LibC.class);

    private MemoryPages() {}

    /**
     * Takes whole pages of a read-only file mapping out of this process; a later read brings them back from the file. Part
     * pages at either end stay: they hold a neighbour's bytes.
     */
    static void drop(long address, long length) {
        long first = (address + PAGE_BYTES - 1) & -PAGE_BYTES;
        long end = (address + length) & -PAGE_BYTES;
        if (end > first) {
            // A hint: if the kernel does not take it, memory is used for longer.
            int ignored = LIBC.madvise(new Pointer(first), new NativeLong(end - first), MADV_DONTNEED);
        }
    }

    /** The call of the C library, which JNA finds by its name. */
    interface LibC extends Library {
        int madvise(Pointer address, NativeLong length, int advice);
    }
}
