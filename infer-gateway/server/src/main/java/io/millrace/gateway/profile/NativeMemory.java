package io.millrace.gateway.profile;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Who holds native memory: the sampled allocations that are in use, by library and function. */
final class NativeMemory {
    private static final String ALLOCATOR = "libjemalloc.so.2";
    private static final String HINT = "start the gateway with LD_PRELOAD=" + ALLOCATOR
            + " and MALLOC_CONF=prof:true (Debian package libjemalloc2; scripts/start does)";

    private final Jemalloc allocator;

    private NativeMemory(Jemalloc allocator) {
        this.allocator = allocator;
    }

    /**
     * The allocator of this process.
     *
     * @throws ProfileException if it does not sample, saying what to do
     */
    static NativeMemory ofThisProcess() throws IOException {
        Jemalloc allocator = Jemalloc.ofThisProcess()
                .orElseThrow(() ->
                        new ProfileException(ProfileException.UNAVAILABLE, "gateway runs without jemalloc: " + HINT));
        if (!allocator.samples()) {
            throw new ProfileException(
                    ProfileException.UNAVAILABLE, "jemalloc of the gateway does not sample allocations: " + HINT);
        }
        return new NativeMemory(allocator);
    }

    /** All native memory in use, sampled or not; bytes. */
    long allocatedBytes() throws IOException {
        return allocator.allocatedBytes();
    }

    /**
     * Memory in use by library and function; bytes, estimated.
     *
     * @param directory for a file that lives as long as the call
     */
    FlameTree inUse(ProfileDirectory directory, int nodesMax) throws IOException {
        Path file = directory.file(".heap");
        try {
            allocator.dump(file);
            FlameTree tree = new FlameTree(nodesMax);
            NativeSymbols symbols = new NativeSymbols();
            for (HeapDump.Stack stack : HeapDump.read(file).stacks()) {
                tree.add(frames(stack.addresses(), symbols), stack.bytes());
            }
            return tree;
        } finally {
            ProfileDirectory.delete(file);
        }
    }

    /** The library that asked for the memory, and the stack, outermost first. */
    private static List<Frame> frames(long[] addresses, NativeSymbols symbols) {
        List<Frame> frames = new ArrayList<>();
        String owner = "";
        for (long address : addresses) {
            // A return address is behind its call, which may be the last instruction of a function.
            NativeSymbols.Symbol symbol = symbols.at(address - 1);
            if (symbol.file().equals(ALLOCATOR)) {
                continue;
            }
            if (owner.isEmpty()) {
                owner = symbol.file();
            }
            Frame frame = frame(symbol);
            if (frames.isEmpty() || !frames.get(frames.size() - 1).equals(frame)) {
                frames.add(frame);
            }
        }
        frames.add(new Frame("[" + (owner.isEmpty() ? "unknown library" : owner) + "]", Frame.Origin.THREAD));
        Collections.reverse(frames);
        return frames;
    }

    private static Frame frame(NativeSymbols.Symbol symbol) {
        if (symbol.file().isEmpty()) {
            return new Frame("Java code", Frame.Origin.JDK);
        }
        String function = symbol.function();
        if (function == null) {
            return new Frame(symbol.file(), Frame.Origin.NATIVE);
        }
        return new Frame(
                symbol.file() + " " + function, function.startsWith("Java_") ? Frame.Origin.JDK : Frame.Origin.NATIVE);
    }
}
