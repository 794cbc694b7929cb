package io.millrace.gateway.http;

import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The trace of a request.
 *
 * @param high first half of the trace id, big-endian
 * @param low second half
 * @see <a href="https://www.w3.org/TR/trace-context/">W3C Trace Context</a>
 */
record TraceParent(long high, long low) {
    static final String HEADER = "traceparent";

    private static final Pattern FORM =
            Pattern.compile("(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?");

    /** The caller's trace, or a new one when it sends none or, as the standard wants it, a malformed one. */
    static TraceParent of(@Nullable String header) {
        if (header != null && header.length() <= 512) {
            Matcher matcher = FORM.matcher(header);
            if (matcher.matches()) {
                String traceId = matcher.group(1);
                long high = HexFormat.fromHexDigitsToLong(traceId, 0, 16);
                long low = HexFormat.fromHexDigitsToLong(traceId, 16, 32);
                if ((high | low) != 0) {
                    return new TraceParent(high, low);
                }
            }
        }
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return new TraceParent(random.nextLong(), random.nextLong() | 1);
    }

    /** 32 hexadecimal digits. */
    String traceId() {
        return HexFormat.of().toHexDigits(high) + HexFormat.of().toHexDigits(low);
    }
}
