/* SPDX-License-Identifier: MIT */
/* Arrow's Schema as a flatbuffer, and the numbers of the messages around it. */
#ifndef SONDE_CLI_IPC_SCHEMA_H
#define SONDE_CLI_IPC_SCHEMA_H

#include "flatbuf.h"

#include <sonde/sonde.h>

enum { ARROW_METADATA_V5 = 4 };
enum arrow_header { ARROW_HEADER_SCHEMA = 1, ARROW_HEADER_DICTIONARY = 2, ARROW_HEADER_BATCH = 3 };

/*
 * Writes the Schema of a struct's fields. Dictionaries get the ids 0, 1 ... in the order in which a
 * walk meets them, the field before its values and its children. ret_dictionaries, which may be
 * NULL, gets their number. Returns 0, -ENOMEM, or -ENOTSUP for a type that is not supported.
 */
int ipc_schema_put(struct flatbuf *b, const struct ArrowSchema *schema, size_t *ret,
		   size_t *ret_dictionaries);
/* KeyValue; returns its position. */
size_t ipc_schema_put_pair(struct flatbuf *b, const char *key, size_t key_len, const char *value,
			   size_t value_len);

#endif
