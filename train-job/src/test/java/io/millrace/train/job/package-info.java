@NullMarked
package io.millrace.train.job;

import org.jspecify.annotations.NullMarked;
