/**
 * The pipeline of a request: admission, resolve, per-model queue, natural batching, score, answer per row. It knows
 * neither shared memory nor HTTP: a connector decodes into a {@link io.millrace.gateway.core.Request} and gets the answer
 * through its {@link io.millrace.gateway.core.Completion}.
 */
@NullMarked
package io.millrace.gateway.core;

import org.jspecify.annotations.NullMarked;
