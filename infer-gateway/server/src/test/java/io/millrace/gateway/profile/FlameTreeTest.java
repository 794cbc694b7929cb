package io.millrace.gateway.profile;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.gateway.profile.FlameTree.Node;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class FlameTreeTest {
    static List<Frame> stack(String... names) {
        return Arrays.stream(names)
                .map(name -> new Frame(name, Frame.Origin.PRODUCT))
                .toList();
    }

    private static String folded(FlameTree tree) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        FoldedStacks.write(tree, out);
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void foldsStacksThatBeginAlike() throws IOException {
        FlameTree tree = new FlameTree(100);
        tree.add(stack("main", "run", "score"), 5);
        tree.add(stack("main", "run", "answer"), 2);
        tree.add(stack("main", "run"), 1);
        tree.add(stack("main", "run", "score"), 5);
        assertThat(folded(tree)).isEqualTo("""
                main;run 1
                main;run;answer 2
                main;run;score 10
                """);
        assertThat(tree.sampleCount()).isEqualTo(4);
        assertThat(tree.root().total()).isEqualTo(13);
    }

    @Test
    void keepsAllWeightWhenItIsFull() throws IOException {
        FlameTree tree = new FlameTree(4);
        tree.add(stack("a", "b"), 1);
        tree.add(stack("a", "c", "d", "e"), 2);
        tree.add(stack("x", "y"), 4);
        // Root, a, b and c are four.
        assertThat(folded(tree)).isEqualTo("""
                a;b 1
                a;c 2
                """);
        assertThat(tree.root().self()).isEqualTo(4);
        assertThat(tree.root().total()).isEqualTo(7);
    }

    @Test
    void endsEndlessRecursion() {
        FlameTree tree = new FlameTree(10_000);
        tree.add(Collections.nCopies(5_000, new Frame("again", Frame.Origin.JDK)), 3);
        int depth = 0;
        Node node = tree.root();
        while (!node.children().isEmpty()) {
            node = node.children().iterator().next();
            depth++;
        }
        assertThat(depth).isEqualTo(FlameTree.DEPTH_MAX);
        assertThat(node.self()).isEqualTo(3);
    }

    @Test
    void namesCannotBreakTheFoldedText() throws IOException {
        FlameTree tree = new FlameTree(10);
        tree.add(stack("[a;b\nc]", "d"), 1);
        assertThat(folded(tree)).isEqualTo("[a:b c];d 1\n");
    }
}
