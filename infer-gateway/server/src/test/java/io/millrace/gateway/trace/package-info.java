@NullMarked
package io.millrace.gateway.trace;

import org.jspecify.annotations.NullMarked;
