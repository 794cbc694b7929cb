/**
 * Requests and responses as they lie in a slab: encoders, and decoders that copy nothing.
 *
 * <p>The bytes live in memory another process can write while they are read. Every length is therefore read once, into
 * a field, and checked before it is used; values are whatever they are.
 */
@NullMarked
package io.millrace.contract.envelope;

import org.jspecify.annotations.NullMarked;
