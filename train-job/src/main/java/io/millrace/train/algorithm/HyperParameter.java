package io.millrace.train.algorithm;

import java.util.List;

/**
 * One hyper-parameter an algorithm takes: its name (the library's own), other names it answers to, and what it accepts.
 *
 * @param name the canonical name, as the library spells it
 * @param aliases other accepted spellings
 * @param kind the type of its values
 * @param minimum smallest accepted number; meaningless for {@link Kind#CHOICE}
 * @param maximum largest accepted number; meaningless for {@link Kind#CHOICE}
 * @param minimumExcluded whether {@code minimum} itself is refused
 * @param choices the accepted words; empty unless {@link Kind#CHOICE}
 */
public record HyperParameter(
        String name,
        List<String> aliases,
        Kind kind,
        double minimum,
        double maximum,
        boolean minimumExcluded,
        List<String> choices) {

    /** The type of a hyper-parameter's values. */
    public enum Kind {
        INTEGER,
        REAL,
        CHOICE
    }

    public HyperParameter {
        aliases = List.copyOf(aliases);
        choices = List.copyOf(choices);
    }

    static HyperParameter integer(String name, long minimum, long maximum, String... aliases) {
        return new HyperParameter(name, List.of(aliases), Kind.INTEGER, minimum, maximum, false, List.of());
    }

    static HyperParameter real(String name, double minimum, double maximum, String... aliases) {
        return new HyperParameter(name, List.of(aliases), Kind.REAL, minimum, maximum, false, List.of());
    }

    static HyperParameter realAbove(String name, double minimum, double maximum, String... aliases) {
        return new HyperParameter(name, List.of(aliases), Kind.REAL, minimum, maximum, true, List.of());
    }

    static HyperParameter choice(String name, List<String> choices, String... aliases) {
        return new HyperParameter(name, List.of(aliases), Kind.CHOICE, 0, 0, false, choices);
    }

    /** What is accepted, in words for an error message. */
    String range() {
        return switch (kind) {
            case CHOICE -> String.join(" or ", choices);
            case INTEGER -> (long) minimum + ".." + (long) maximum;
            case REAL -> (minimumExcluded ? "above " : "") + minimum + ".." + maximum;
        };
    }
}
