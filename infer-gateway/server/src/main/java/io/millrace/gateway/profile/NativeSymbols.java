package io.millrace.gateway.profile;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/*
 * The dynamic linker of the process knows every library that is loaded, also one whose file is deleted, and its exported
 * functions. So nothing has to be read from files, and no tools are needed; functions that are not exported are shown as
 * their library.
 */
/** Names of native code addresses of this process. Threads: one. */
final class NativeSymbols {
    private static final int NAME_LENGTH_MAX = 240;

    /** Dl_info of dlfcn.h: four pointers. */
    private static final int INFO_LENGTH = 32;

    private static final int FILE_NAME_OFFSET = 0;
    private static final int SYMBOL_NAME_OFFSET = 16;

    private final Function dladdr = NativeLibrary.getProcess().getFunction("dladdr");
    private final @Nullable Function demangle = optional("__cxa_demangle");
    private final @Nullable Function free = optional("free");
    private final Map<Long, Symbol> known = new HashMap<>();

    /**
     * Where an address is.
     *
     * @param file name of the library without its directory; empty for code of no file, as Java's compilers make
     * @param function null where the library does not tell
     */
    record Symbol(String file, @Nullable String function) {}

    private static @Nullable Function optional(String name) {
        try {
            return NativeLibrary.getProcess().getFunction(name);
        } catch (UnsatisfiedLinkError none) {
            return null;
        }
    }

    Symbol at(long address) {
        return known.computeIfAbsent(address, this::find);
    }

    private Symbol find(long address) {
        try (Memory info = new Memory(INFO_LENGTH)) {
            if (dladdr.invokeInt(new Object[] {new Pointer(address), info}) == 0) {
                return new Symbol("", null);
            }
            String path = text(info.getPointer(FILE_NAME_OFFSET));
            String name = text(info.getPointer(SYMBOL_NAME_OFFSET));
            return new Symbol(path.substring(path.lastIndexOf('/') + 1), name.isEmpty() ? null : readable(name));
        }
    }

    private static String text(@Nullable Pointer text) {
        return text == null ? "" : text.getString(0);
    }

    private String readable(String name) {
        String readable = name.startsWith("_Z") ? demangled(name) : name;
        return readable.length() <= NAME_LENGTH_MAX ? readable : readable.substring(0, NAME_LENGTH_MAX) + "..";
    }

    private String demangled(String name) {
        if (demangle == null || free == null) {
            return name;
        }
        IntByReference status = new IntByReference();
        Pointer text = demangle.invokePointer(new Object[] {name, null, null, status});
        if (text == null) {
            return name;
        }
        String demangled = text.getString(0);
        free.invokeVoid(new Object[] {text});
        return demangled;
    }
}
