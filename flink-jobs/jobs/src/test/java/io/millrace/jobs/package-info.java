/** Tests of the shared job settings and of the REST client, against a cluster inside the test's own JVM. */
@NullMarked
package io.millrace.jobs;

import org.jspecify.annotations.NullMarked;
