package io.millrace.gateway.profile;

import com.fasterxml.jackson.core.JsonGenerator;
import io.millrace.contract.JsonText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * A tree as a web page that needs nothing but itself. The page is {@code flame.html}; the tree is put into it as JSON,
 * without what would be too narrow to see.
 */
final class FlamePage {
    private static final String TEMPLATE = resource("flame.html");

    /** Narrower frames are left out: less than a pixel on a wide screen, also when a tenth of it is zoomed in on. */
    private static final double SHARE_MIN = 0.00005;

    private final long totalMin;
    private final Map<Frame, Integer> names = new LinkedHashMap<>();

    private FlamePage(FlameTree tree) {
        totalMin = (long) (tree.root().total() * SHARE_MIN);
    }

    /** What the numbers are, for the page to write them. */
    enum Unit {
        MICROSECONDS,
        BYTES
    }

    /**
     * What the page says beside the graph.
     *
     * @param kind of the profile, as in its path
     * @param seconds that were asked for
     * @param title in a few words
     * @param explanation what a width means, in a sentence or two
     * @param facts what was looked at when, how often, by whom
     */
    record Text(String kind, int seconds, String title, String explanation, List<String> facts) {}

    /** The page. */
    static String of(FlameTree tree, Unit unit, Text text) {
        FlamePage page = new FlamePage(tree);
        byte[] json = JsonText.of(out -> page.write(out, tree, unit, text));
        // In a script element only this could end it.
        String data = new String(json, StandardCharsets.UTF_8).replace("<", "\\u003c");
        return TEMPLATE.replace("{{title}}", escape(text.title())).replace("{{data}}", data);
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private void write(JsonGenerator out, FlameTree tree, Unit unit, Text text) throws IOException {
        out.writeStartObject();
        out.writeStringField("kind", text.kind());
        out.writeNumberField("seconds", text.seconds());
        out.writeStringField("title", text.title());
        out.writeStringField("explanation", text.explanation());
        JsonText.writeTexts(out, "facts", text.facts());
        out.writeStringField("unit", unit.name().toLowerCase(Locale.ROOT));
        out.writeFieldName("tree");
        write(out, tree.root());
        out.writeArrayFieldStart("frames");
        for (Frame frame : new ArrayList<>(names.keySet())) {
            out.writeStartArray();
            out.writeString(frame.name());
            out.writeString(frame.origin().name().toLowerCase(Locale.ROOT));
            out.writeEndArray();
        }
        out.writeEndArray();
        out.writeEndObject();
    }

    /** {@code [frame, total, self, child, child, ..]}. */
    private void write(JsonGenerator out, FlameTree.Node node) throws IOException {
        out.writeStartArray();
        out.writeNumber(names.computeIfAbsent(node.frame(), frame -> names.size()));
        out.writeNumber(node.total());
        out.writeNumber(node.self());
        for (FlameTree.Node child : node.children()) {
            if (child.total() > totalMin) {
                write(out, child);
            }
        }
        out.writeEndArray();
    }

    private static String resource(String name) {
        try (var in = Objects.requireNonNull(FlamePage.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("resource cannot be read: name=" + name, e);
        }
    }
}
