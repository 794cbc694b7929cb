package io.millrace.gateway.http;

import io.millrace.contract.ContractException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Requests read the last catalog that was found and never wait for the database. So a database that is away or hangs
 * changes nothing for them: what is deployed cannot change without it either.
 */
/** Keeps the catalog as new as the database. Threads: its own; {@link #catalog} from any. */
final class CatalogWatch implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(CatalogWatch.class);
    private static final long END_MILLIS = TimeUnit.SECONDS.toMillis(15);

    private final CatalogSource source;
    private final long refreshMillis;
    private final Thread thread;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private volatile @Nullable Catalog catalog;
    private volatile String problem = "not looked at yet";

    CatalogWatch(CatalogSource source, Duration refresh) {
        this.source = source;
        this.refreshMillis = refresh.toMillis();
        this.thread = new Thread(this::run, "http-catalog");
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Whether the database was ever read. */
    boolean isReady() {
        return catalog != null;
    }

    /**
     * The last catalog that was found.
     *
     * @throws Refusal if the database could not be read yet
     */
    Catalog catalog() {
        Catalog present = catalog;
        if (present == null) {
            throw new Refusal(
                    HttpStatus.SERVICE_UNAVAILABLE_503,
                    "projects are not known, the database cannot be read: reason=" + problem,
                    HttpHeader.RETRY_AFTER.asString(),
                    "1");
        }
        return present;
    }

    private void run() {
        try {
            do {
                refresh();
            } while (!stopped.await(refreshMillis, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            log.warn("watch of the catalog is interrupted");
        } finally {
            source.close();
        }
    }

    /** What fails now may work the next time. */
    private void refresh() {
        try {
            Catalog found = source.poll();
            if (found != null) {
                catalog = found;
            }
            if (!problem.isEmpty()) {
                log.info("projects are read from the database");
                problem = "";
            }
        } catch (SQLException e) {
            tell("sqlState=" + e.getSQLState() + ", " + e.getMessage());
        } catch (ContractException e) {
            tell(String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            log.error("projects cannot be read", e);
            tell(e.toString());
        }
    }

    private void tell(String reason) {
        if (!reason.equals(problem)) {
            problem = reason;
            log.warn("projects cannot be read, the last ones known are served: reason={}", reason);
        }
    }

    @Override
    public void close() {
        stopped.countDown();
        try {
            // A poll that hangs ends by the driver's own limits; the thread is a daemon's.
            thread.join(END_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
