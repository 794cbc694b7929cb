package io.millrace.engine;

import java.io.IOException;
import java.nio.file.Path;

/** The process of {@link OnnxCheck}: {@code OnnxCheckMain DIRECTORY}. */
final class OnnxCheckMain {
    private OnnxCheckMain() {}

    /** Leaves the answer in the directory; what the model does to the process is its end. */
    public static void main(String[] arguments) throws IOException {
        OnnxCheck.answer(Path.of(arguments[0]));
        // Without the hooks: the runtime's would free what a thread of its own may still use.
        Runtime.getRuntime().halt(0);
    }
}
