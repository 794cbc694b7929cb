package io.millrace.gateway.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeSet;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.jspecify.annotations.Nullable;

/** What can be asked for; the OpenAPI document lists the same. */
enum Route {
    SERVER("GET", "/v2"),
    LIVE("GET", "/v2/health/live"),
    READY("GET", "/v2/health/ready"),
    MODEL("GET", "/v2/models/{model}"),
    MODEL_READY("GET", "/v2/models/{model}/ready"),
    MODEL_INFER("POST", "/v2/models/{model}/infer"),
    VERSION("GET", "/v2/models/{model}/versions/{version}"),
    VERSION_READY("GET", "/v2/models/{model}/versions/{version}/ready"),
    VERSION_INFER("POST", "/v2/models/{model}/versions/{version}/infer"),
    INDEX("POST", "/v2/repository/index"),
    LOAD("POST", "/v2/repository/models/{model}/load"),
    UNLOAD("POST", "/v2/repository/models/{model}/unload"),
    OPENAPI("GET", "/openapi.yaml");

    private final String method;
    private final String template;
    /** List.of, so immutable. */
    @SuppressWarnings("ImmutableEnumChecker")
    private final List<String> segments;

    Route(String method, String template) {
        this.method = method;
        this.template = template;
        this.segments = List.of(template.substring(1).split("/", -1));
    }

    String method() {
        return method;
    }

    String template() {
        return template;
    }

    /**
     * A route with what its path names.
     *
     * @param model empty when the path names none
     * @param version null when the path names none
     */
    record Match(Route route, String model, @Nullable String version) {}

    /**
     * Finds the route of a request.
     *
     * @param path as received, still percent-encoded
     * @throws Refusal if there is none, or it has another method
     */
    static Match of(String method, String path) {
        String trimmed = path.startsWith("/") ? path.substring(1) : path;
        List<String> given = List.of(trimmed.split("/", -1));
        TreeSet<String> methods = new TreeSet<>();
        for (Route route : values()) {
            if (route.fits(given)) {
                if (route.method.equals(method)) {
                    return route.match(given);
                }
                methods.add(route.method);
            }
        }
        if (methods.isEmpty()) {
            throw new Refusal(HttpStatus.NOT_FOUND_404, "path is unknown: path=" + path);
        }
        String allowed = String.join(", ", methods);
        throw new Refusal(
                HttpStatus.METHOD_NOT_ALLOWED_405,
                "method must be one that the path has: method=" + method + ", path=" + path + ", methods=" + allowed,
                HttpHeader.ALLOW.asString(),
                allowed);
    }

    private boolean fits(List<String> given) {
        if (given.size() != segments.size()) {
            return false;
        }
        for (int index = 0; index < given.size(); index++) {
            boolean fits = isVariable(index)
                    ? !given.get(index).isEmpty()
                    : segments.get(index).equals(given.get(index));
            if (!fits) {
                return false;
            }
        }
        return true;
    }

    private boolean isVariable(int index) {
        return segments.get(index).startsWith("{");
    }

    private Match match(List<String> given) {
        String model = "";
        String version = null;
        for (int index = 0; index < given.size(); index++) {
            if (segments.get(index).equals("{model}")) {
                model = decode(given.get(index));
            } else if (segments.get(index).equals("{version}")) {
                version = decode(given.get(index));
            }
        }
        return new Match(this, model, version);
    }

    private static String decode(String segment) {
        try {
            // In a path a plus is a plus.
            return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new Refusal(HttpStatus.BAD_REQUEST_400, "path must be percent-encoded: segment=" + segment);
        }
    }
}
