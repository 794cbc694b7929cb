package io.millrace.gateway.core;

import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The trace that a request is part of.
 *
 * @param high first half of the trace id, big-endian
 * @param low second half
 * @param spanId of the caller's span, big-endian; 0 when the trace was made up on the way and nobody has a span in it
 * @param sampled whether the caller records its part
 * @see <a href="https://www.w3.org/TR/trace-context/">W3C Trace Context</a>
 */
public record TraceParent(long high, long low, long spanId, boolean sampled) {
    /** The standard's name of the text that {@link #of} reads. */
    public static final String HEADER = "traceparent";

    private static final Pattern FORM =
            Pattern.compile("(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?");
    private static final int SAMPLED_FLAG = 1;

    /** The caller's trace, or a new one when it sends none or, as the standard wants it, a malformed one. */
    public static TraceParent of(@Nullable String header) {
        if (header != null && header.length() <= 512) {
            Matcher matcher = FORM.matcher(header);
            // Only later versions may have more.
            if (matcher.matches() && (matcher.group(4) == null || !header.startsWith("00"))) {
                String traceId = matcher.group(1);
                long high = HexFormat.fromHexDigitsToLong(traceId, 0, 16);
                long low = HexFormat.fromHexDigitsToLong(traceId, 16, 32);
                long spanId = HexFormat.fromHexDigitsToLong(matcher.group(2));
                int flags = HexFormat.fromHexDigits(matcher.group(3));
                if ((high | low) != 0 && spanId != 0) {
                    return new TraceParent(high, low, spanId, (flags & SAMPLED_FLAG) != 0);
                }
            }
        }
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return new TraceParent(random.nextLong(), random.nextLong() | 1, 0, false);
    }

    /** Whether a caller has a span that this request is a child of. */
    public boolean hasCaller() {
        return spanId != 0;
    }

    /** 32 hexadecimal digits. */
    public String traceId() {
        return HexFormat.of().toHexDigits(high) + HexFormat.of().toHexDigits(low);
    }
}
