package io.millrace.region;

import io.millrace.contract.layout.SlotLayout;
import net.openhft.posix.PosixAPI;

/*
 * A page of tmpfs that was never written takes its memory at the first touch, and when the file system is full that touch is
 * SIGBUS: the death of a backend, and with it a restart of the whole database. So whoever writes a slab first asks the kernel
 * for all its pages, which is a call that can fail. The backend does so for requests (region_attach.c), this for responses.
 */
/** Memory of slabs, taken before they are written for the first time. */
final class SlabMemory {
    private static final long PAGE_LENGTH = 4096;

    /** MADV_REMOVE: frees the pages of a shared tmpfs mapping; they read as zero and return when touched. */
    private static final int REMOVE = 9;

    /** MADV_POPULATE_WRITE, Linux 5.14: takes the pages, or fails where a write would end in SIGBUS. */
    private static final int POPULATE_WRITE = 23;

    private SlabMemory() {}

    /** Whether the kernel can take memory in a way that can fail; asked with a page that has some. */
    static boolean isSupported(long residentAddress) {
        return PosixAPI.posix().madvise(residentAddress & -PAGE_LENGTH, PAGE_LENGTH, POPULATE_WRITE) == 0;
    }

    /** Takes the memory of a slab; false when there is none. */
    static boolean take(long slabAddress) {
        return PosixAPI.posix().madvise(slabAddress, SlotLayout.SLAB_LENGTH, POPULATE_WRITE) == 0;
    }

    /** Gives it back. */
    static void giveBack(long slabAddress) {
        PosixAPI.posix().madvise(slabAddress, SlotLayout.SLAB_LENGTH, REMOVE);
    }
}
