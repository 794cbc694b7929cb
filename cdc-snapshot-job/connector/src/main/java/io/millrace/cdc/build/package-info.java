/** Build steps of the connector's jar; nothing of it goes into the jar. */
@NullMarked
package io.millrace.cdc.build;

import org.jspecify.annotations.NullMarked;
