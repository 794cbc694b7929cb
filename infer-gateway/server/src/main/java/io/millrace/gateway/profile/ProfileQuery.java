package io.millrace.gateway.profile;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which profile is asked for: {@code /debug/profile/KIND?seconds=N&format=FORMAT}.
 *
 * @param seconds how far it reaches back; memory in use is that of now
 */
record ProfileQuery(Kind kind, int seconds, Format format) {
    static final String ROOT = "/debug/profile";

    private static final int SECONDS_DEFAULT = 60;

    /** What is measured. */
    enum Kind {
        CPU,
        HEAP,
        NATIVE;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** How it is told: a page, folded stacks, the recording itself. */
    enum Format {
        HTML,
        COLLAPSED,
        JFR;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Reads a path and a query.
     *
     * @throws ProfileException naming what is wrong, the value and the valid ones
     */
    static ProfileQuery of(String path, @Nullable String query) {
        Kind kind = kind(path);
        int seconds = SECONDS_DEFAULT;
        Format format = Format.HTML;
        for (String parameter : (query == null ? "" : query).split("&", -1)) {
            int equals = parameter.indexOf('=');
            String name = equals < 0 ? parameter : parameter.substring(0, equals);
            String value = equals < 0 ? "" : parameter.substring(equals + 1);
            switch (name) {
                case "" -> {}
                case "seconds" -> seconds = seconds(value);
                case "format" -> format = format(value);
                default ->
                    throw new ProfileException(
                            ProfileException.BAD_REQUEST,
                            "parameter is unknown: parameter=" + name + ", parameters=seconds, format");
            }
        }
        if (kind == Kind.NATIVE && format == Format.JFR) {
            throw new ProfileException(
                    ProfileException.BAD_REQUEST,
                    "native memory is not in JFR's recording: format=jfr, formats=html, collapsed");
        }
        return new ProfileQuery(kind, seconds, format);
    }

    private static Kind kind(String path) {
        for (Kind kind : Kind.values()) {
            if (path.equals(ROOT + "/" + kind.text())) {
                return kind;
            }
        }
        throw new ProfileException(
                ProfileException.NOT_FOUND,
                "path is unknown: path=" + path + ", paths=/metrics"
                        + Arrays.stream(Kind.values())
                                .map(kind -> ", " + ROOT + "/" + kind.text())
                                .collect(Collectors.joining()));
    }

    private static int seconds(String value) {
        if (value.matches("[0-9]{1,4}")) {
            int seconds = Integer.parseInt(value);
            if (seconds >= 1 && seconds <= ProfileConfig.SECONDS_MAX) {
                return seconds;
            }
        }
        throw new ProfileException(
                ProfileException.BAD_REQUEST,
                "seconds must be a whole number: seconds=" + value + ", min=1, max=" + ProfileConfig.SECONDS_MAX);
    }

    private static Format format(String value) {
        for (Format format : Format.values()) {
            if (value.equals(format.text())) {
                return format;
            }
        }
        throw new ProfileException(
                ProfileException.BAD_REQUEST,
                "format is unknown: format=" + value + ", formats="
                        + Arrays.stream(Format.values()).map(Format::text).collect(Collectors.joining(", ")));
    }
}
