package io.millrace.gateway.profile;

import java.util.Collection;
import java.util.List;
import java.util.TreeMap;

/**
 * Stacks folded into a tree: stacks that begin alike share nodes. Bounded: what would make too many nodes or too deep a
 * tree ends at the last node that there is, so no weight is lost. Threads: one.
 */
final class FlameTree {
    static final int DEPTH_MAX = 256;

    private final int nodesMax;
    private final Node root = new Node(new Frame("all", Frame.Origin.THREAD));
    private int nodeCount = 1;
    private long sampleCount;

    FlameTree(int nodesMax) {
        this.nodesMax = nodesMax;
    }

    /** What all stacks have in common: a frame, what it weighs with all below it, and by itself. */
    static final class Node {
        private final Frame frame;
        private final TreeMap<String, Node> children = new TreeMap<>();
        private long total;
        private long self;

        private Node(Frame frame) {
            this.frame = frame;
        }

        Frame frame() {
            return frame;
        }

        /** In the order of their names. */
        Collection<Node> children() {
            return children.values();
        }

        long total() {
            return total;
        }

        long self() {
            return self;
        }
    }

    /**
     * Adds a stack.
     *
     * @param frames outermost first
     */
    void add(List<Frame> frames, long weight) {
        sampleCount++;
        Node node = root;
        node.total += weight;
        int depth = Math.min(frames.size(), DEPTH_MAX);
        for (int level = 0; level < depth; level++) {
            Node child = child(node, frames.get(level));
            if (child == node) {
                break;
            }
            node = child;
            node.total += weight;
        }
        node.self += weight;
    }

    private Node child(Node node, Frame frame) {
        Node child = node.children.get(frame.name());
        if (child != null) {
            return child;
        }
        if (nodeCount == nodesMax) {
            return node;
        }
        nodeCount++;
        Node added = new Node(frame);
        node.children.put(frame.name(), added);
        return added;
    }

    Node root() {
        return root;
    }

    /** Stacks that were added. */
    long sampleCount() {
        return sampleCount;
    }
}
