@NullMarked
package io.millrace.train.matrix;

import org.jspecify.annotations.NullMarked;
