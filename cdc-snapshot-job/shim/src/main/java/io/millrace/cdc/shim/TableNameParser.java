package io.millrace.cdc.shim;

import java.util.ArrayList;
import java.util.List;

/**
 * Splits the text of a table's name into its parts, for names of any characters. The connector's own parser refuses blanks and
 * quotes in a name that stands without quotes, and the connector writes names that way in places.
 */
public final class TableNameParser {
    private static final char QUOTE = '"';
    private static final char SEPARATOR = '.';
    private static final int PARTS_MAX = 3;

    private TableNameParser() {}

    /**
     * The parts of {@code text}. Text that begins with a double quote consists of quoted parts, inner quotes doubled. Other text
     * is split at its dots into at most three parts, so that joining them with dots gives the text again.
     */
    public static List<String> parse(String text) {
        return !text.isEmpty() && text.charAt(0) == QUOTE ? quoted(text) : List.of(text.split("\\.", PARTS_MAX));
    }

    private static List<String> quoted(String text) {
        List<String> parts = new ArrayList<>();
        StringBuilder part = new StringBuilder();
        boolean inside = false;
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            boolean doubled = inside && character == QUOTE && i + 1 < text.length() && text.charAt(i + 1) == QUOTE;
            if (doubled) {
                part.append(QUOTE);
                i++;
            } else if (character == QUOTE) {
                inside = !inside;
            } else if (character == SEPARATOR && !inside) {
                parts.add(part.toString());
                part.setLength(0);
            } else {
                part.append(character);
            }
        }
        parts.add(part.toString());
        return parts;
    }
}
