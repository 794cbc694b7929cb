@NullMarked
package io.millrace.train;

import org.jspecify.annotations.NullMarked;
