/**
 * What the training operator and the child JVM tell each other: the specification file that starts a child, the
 * progress lines it prints and the result file it leaves. JSON throughout, keys in kebab-case.
 */
@NullMarked
package io.millrace.train.spec;

import org.jspecify.annotations.NullMarked;
