@NullMarked
package io.millrace.train.algorithm;

import org.jspecify.annotations.NullMarked;
