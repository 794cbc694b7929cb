package io.millrace.gateway.profile;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import io.millrace.gateway.http.LocalHost;
import java.util.List;
import java.util.Set;

/*
 * Names of classes, threads and files are nobody's business but the operator's. The port may be open to a Prometheus
 * elsewhere; the profiles still answer only whoever is on this machine. Two that seem to be on it are not. A web page that a
 * browser on this machine shows is told by its Origin, by what the browser says of the site that asks (Fetch Metadata), or,
 * when it had its own name resolved to this machine, by the Host its browser sends. Somebody behind a proxy on this machine
 * is told by the headers with which proxies name those they ask for.
 */
/** Who may see profiles: the operator of this machine. */
final class CallerCheck {
    private static final String SITE = "Sec-Fetch-Site";
    private static final Set<String> OWN_SITES = Set.of("none", "same-origin");
    private static final List<String> PROXIES = List.of("Forwarded", "X-Forwarded-For", "Via");

    private CallerCheck() {}

    /**
     * Refuses everybody else.
     *
     * @throws ProfileException naming the header that tells
     */
    static void check(HttpExchange exchange) {
        if (!exchange.getRemoteAddress().getAddress().isLoopbackAddress()) {
            throw new ProfileException(
                    ProfileException.FORBIDDEN, "profiles are answered on the gateway's own machine only");
        }
        Headers headers = exchange.getRequestHeaders();
        String host = headers.getFirst("Host");
        if (headers.containsKey("Origin") || (host != null && !LocalHost.isNamedBy(host))) {
            throw new ProfileException(
                    ProfileException.FORBIDDEN,
                    "host must name this machine, and no other web page may ask: header=Host");
        }
        if (!OWN_SITES.containsAll(headers.getOrDefault(SITE, List.of()))) {
            throw new ProfileException(ProfileException.FORBIDDEN, "no other web page may ask: header=" + SITE);
        }
        for (String proxy : PROXIES) {
            if (headers.containsKey(proxy)) {
                throw new ProfileException(
                        ProfileException.FORBIDDEN, "profiles are not answered through a proxy: header=" + proxy);
            }
        }
    }
}
