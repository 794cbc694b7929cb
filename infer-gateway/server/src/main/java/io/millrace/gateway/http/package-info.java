/** The connector of HTTP: the Open Inference Protocol, version 2, over the same pipeline as shared memory. */
@NullMarked
package io.millrace.gateway.http;

import org.jspecify.annotations.NullMarked;
