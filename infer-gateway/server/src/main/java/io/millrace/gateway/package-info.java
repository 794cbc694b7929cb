/** The gateway process: configuration, wiring, start and shutdown. */
@NullMarked
package io.millrace.gateway;

import org.jspecify.annotations.NullMarked;
