#ifndef MILLRACE_PAYLOAD_FILE_H
#define MILLRACE_PAYLOAD_FILE_H

#include "postgres.h"

/*
 * What does not fit a slab is a file of the region, named by the slot and by
 * its use. The writer makes it before it hands the slot over, the reader
 * removes it; who gives a slot up removes what is left.
 */

extern char *millrace_payload_create(int slot, uint64_t word, size_t length);
extern void millrace_payload_close(char *payload, size_t length);
extern char *millrace_payload_read(int slot, uint64_t word, size_t length);
extern void millrace_payload_remove_request(int slot, uint64_t word);
extern void millrace_payload_remove_response(int slot, uint64_t word);

#endif							/* MILLRACE_PAYLOAD_FILE_H */
