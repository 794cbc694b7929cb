package io.millrace.gateway.profile;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/**
 * A tree as text, a line for each stack: {@code outermost;..;innermost WEIGHT}, as flame graph tools read it. Every line
 * repeats its callers, so the text may be a thousand times the tree; no more than a line of it is in memory.
 */
final class FoldedStacks {
    private final StringBuilder path = new StringBuilder();
    private final Writer out;

    private FoldedStacks(Writer out) {
        this.out = out;
    }

    /** Writes all lines in UTF-8, and leaves the stream open. */
    static void write(FlameTree tree, OutputStream out) throws IOException {
        Writer text = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8), 1 << 16);
        FoldedStacks folded = new FoldedStacks(text);
        for (FlameTree.Node node : tree.root().children()) {
            folded.add(node);
        }
        text.flush();
    }

    private void add(FlameTree.Node node) throws IOException {
        int length = path.length();
        if (length > 0) {
            path.append(';');
        }
        // The two characters that the format is made of.
        path.append(node.frame().name().replace(';', ':').replace('\n', ' '));
        if (node.self() > 0) {
            out.append(path).append(' ').append(Long.toString(node.self())).append('\n');
        }
        for (FlameTree.Node child : node.children()) {
            add(child);
        }
        path.setLength(length);
    }
}
