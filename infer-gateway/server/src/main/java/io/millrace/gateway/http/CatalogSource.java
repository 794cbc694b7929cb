package io.millrace.gateway.http;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Where the projects are looked up. Threads: one at a time. */
interface CatalogSource extends AutoCloseable {
    /**
     * The catalog as it is now; null when it is as it was the last time.
     *
     * @throws SQLException if the database does not answer, or does not have what is asked for
     */
    @Nullable
    Catalog poll() throws SQLException;

    @Override
    void close();
}
