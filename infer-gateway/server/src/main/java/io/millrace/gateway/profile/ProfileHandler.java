package io.millrace.gateway.profile;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Making a profile takes memory and processor, so it is done one at a time; sending it takes as long as its reader likes, so
 * that is done beside it, for a few readers.
 */
/** Answers {@code /debug/profile/..}. Threads: any. */
public final class ProfileHandler implements HttpHandler, AutoCloseable {
    /** Of the ten threads that the port has; the metrics need some. */
    static final int READERS_MAX = 4;

    private static final Logger log = LoggerFactory.getLogger(ProfileHandler.class);

    private final @Nullable Profiles profiles;
    private final String reason;
    private final Semaphore turn = new Semaphore(1);
    private final Semaphore readers = new Semaphore(READERS_MAX);

    private ProfileHandler(@Nullable Profiles profiles, String reason) {
        this.profiles = profiles;
        this.reason = reason;
    }

    /**
     * Begins to record, if that is configured. A gateway that cannot be profiled serves all the same, also on a Java runtime
     * without JFR, so then each profile is answered with the reason.
     *
     * @param version of the gateway
     */
    public static ProfileHandler start(ProfileConfig config, String version) {
        if (!config.enabled()) {
            return new ProfileHandler(null, "profiling is off: file=gateway.properties, key=profiling, value=false");
        }
        try {
            return new ProfileHandler(Profiles.start(config, version), "");
        } catch (IOException | RuntimeException | LinkageError e) {
            log.warn("gateway runs without profiles: directory={}", config.directory(), e);
            return new ProfileHandler(null, "profiling did not start: reason=" + e);
        }
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            try {
                CallerCheck.check(exchange);
                checkMethod(exchange);
                answer(exchange);
            } catch (ProfileException e) {
                if (e.getCause() != null) {
                    log.warn("profile cannot be made", e);
                }
                try (Answer sentence = Answer.sentence(String.valueOf(e.getMessage()))) {
                    sentence.send(exchange, e.status());
                }
            }
        }
    }

    private static void checkMethod(HttpExchange exchange) {
        String method = exchange.getRequestMethod();
        if (!method.equals("GET") && !method.equals("HEAD")) {
            exchange.getResponseHeaders().set("Allow", "GET, HEAD");
            throw new ProfileException(
                    ProfileException.METHOD_NOT_ALLOWED, "method must be GET or HEAD: method=" + method);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        ProfileQuery query = ProfileQuery.of(
                exchange.getRequestURI().getPath(), exchange.getRequestURI().getRawQuery());
        if (profiles == null) {
            throw new ProfileException(ProfileException.UNAVAILABLE, reason);
        }
        acquire(readers, exchange, "other profiles are being read: max=" + READERS_MAX + ", try again");
        try (Answer answer = inTurn(exchange, query, profiles)) {
            answer.send(exchange, 200);
        } finally {
            readers.release();
        }
    }

    private static void acquire(Semaphore semaphore, HttpExchange exchange, String otherwise) {
        if (!semaphore.tryAcquire()) {
            exchange.getResponseHeaders().set("Retry-After", "1");
            throw new ProfileException(ProfileException.UNAVAILABLE, otherwise);
        }
    }

    private Answer inTurn(HttpExchange exchange, ProfileQuery query, Profiles profiles) {
        acquire(turn, exchange, "another profile is being made: one at a time, try again");
        try {
            return make(query, profiles);
        } catch (ProfileException e) {
            throw e;
        } catch (LinkageError e) {
            throw new ProfileException(
                    ProfileException.UNAVAILABLE, "Java runtime lacks what the profile needs: reason=" + e, e);
        } catch (IOException | RuntimeException e) {
            throw new ProfileException(ProfileException.INTERNAL, "profile cannot be made: reason=" + e, e);
        } finally {
            turn.release();
        }
    }

    private static Answer make(ProfileQuery query, Profiles profiles) throws IOException {
        if (query.format() == ProfileQuery.Format.JFR) {
            return profiles.recording(query);
        }
        Profiles.Profile profile = profiles.profile(query);
        return query.format() == ProfileQuery.Format.COLLAPSED
                ? Answer.folded(profile.tree())
                : Answer.page(FlamePage.of(profile.tree(), profile.unit(), profile.text()));
    }

    /** Ends the recording. */
    @Override
    public void close() {
        if (profiles != null) {
            profiles.close();
        }
    }
}
