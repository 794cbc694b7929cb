@NullMarked
package io.millrace.train.dispatch;

import org.jspecify.annotations.NullMarked;
