package io.millrace.gateway.profile;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.millrace.gateway.profile.NativeSymbols.Symbol;
import org.junit.jupiter.api.Test;

class NativeSymbolsTest {
    private final NativeSymbols symbols = new NativeSymbols();

    private static long address(NativeLibrary library, String function) {
        return Pointer.nativeValue(library.getFunction(function));
    }

    @Test
    void findsFunctionsOfLoadedLibraries() {
        long qsort = address(NativeLibrary.getProcess(), "qsort");
        assertThat(symbols.at(qsort)).isEqualTo(new Symbol("libc.so.6", "qsort"));
        assertThat(symbols.at(qsort + 1)).as("within it").isEqualTo(new Symbol("libc.so.6", "qsort"));
    }

    @Test
    void knowsNothingOfWhereThereIsNoCode() {
        assertThat(symbols.at(0)).isEqualTo(new Symbol("", null));
        assertThat(symbols.at(Native.malloc(64))).isEqualTo(new Symbol("", null));
    }

    @Test
    void namesOfCppAreReadable() {
        // std::terminate()
        long address = address(NativeLibrary.getInstance("stdc++"), "_ZSt9terminatev");
        assertThat(symbols.at(address).function()).isIn("std::terminate()", "_ZSt9terminatev");
    }
}
