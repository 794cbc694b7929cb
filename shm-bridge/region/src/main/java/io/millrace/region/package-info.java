/**
 * The shared region: Chronicle Maps on tmpfs that a database backend maps too, slots moved by compare-and-set, a Unix
 * socket as doorbell, a heartbeat, and the return of slots whose owner died. Nothing here knows models or envelopes,
 * and nothing outside knows Chronicle.
 */
@NullMarked
package io.millrace.region;

import org.jspecify.annotations.NullMarked;
