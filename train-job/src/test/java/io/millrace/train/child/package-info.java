@NullMarked
package io.millrace.train.child;

import org.jspecify.annotations.NullMarked;
