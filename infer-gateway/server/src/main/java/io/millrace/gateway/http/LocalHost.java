package io.millrace.gateway.http;

import java.util.Locale;

/** Names of this machine that no other machine can have. */
public final class LocalHost {
    private LocalHost() {}

    /**
     * Whether a request means this machine by what no name server can say.
     *
     * @param host value of the header of this name: a name or an address, with or without a port
     */
    public static boolean isNamedBy(String host) {
        String name = host.replaceFirst(":[0-9]*$", "").toLowerCase(Locale.ROOT);
        return name.equals("localhost") || name.equals("[::1]") || name.matches("127(\\.[0-9]{1,3}){3}");
    }
}
