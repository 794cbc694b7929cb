/**
 * Fakes and real servers for tests of everything above the lake: a private PostgreSQL cluster and writers that make Iceberg tables
 * with the same kinds of files as the streaming job. Published as this module's test jar.
 */
@NullMarked
package io.millrace.lake.testing;

import org.jspecify.annotations.NullMarked;
