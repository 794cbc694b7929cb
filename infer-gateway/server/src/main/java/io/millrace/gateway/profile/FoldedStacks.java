package io.millrace.gateway.profile;

/** A tree as text, a line for each stack: {@code outermost;..;innermost WEIGHT}, as flame graph tools read it. */
final class FoldedStacks {
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder path = new StringBuilder();

    private FoldedStacks() {}

    static String of(FlameTree tree) {
        FoldedStacks folded = new FoldedStacks();
        tree.root().children().forEach(folded::add);
        return folded.text.toString();
    }

    private void add(FlameTree.Node node) {
        int length = path.length();
        if (length > 0) {
            path.append(';');
        }
        // The two characters that the format is made of.
        path.append(node.frame().name().replace(';', ':').replace('\n', ' '));
        if (node.self() > 0) {
            text.append(path).append(' ').append(node.self()).append('\n');
        }
        node.children().forEach(this::add);
        path.setLength(length);
    }
}
