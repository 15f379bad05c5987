/* SPDX-License-Identifier: MIT */
/*
 * Schemas of records that sonde makes, as names of tasks and losses: their payload is a struct of
 * this host.
 *
 *	static const struct sonde_field fields[] = {
 *		RECORD_NUMBER(struct lost, cpu, "s32", true),
 *		RECORD_TEXT(struct comm, comm),
 *	};
 *	TRY(record_schema_make(schemas, source, "lost", SCHEMA_LOSS, fields, 2, &s->lost_schema));
 */
#ifndef SONDE_MODEL_RECORD_SCHEMA_H
#define SONDE_MODEL_RECORD_SCHEMA_H

#include <stddef.h>

#include "model/schema_table.h"

/* A member that is a number. */
#define RECORD_NUMBER(of, member, type_name, sign)                                             \
	{                                                                                      \
		.size = sizeof(struct sonde_field), .offset = offsetof(of, member),            \
		.width = sizeof(((of *)0)->member), .elem_width = sizeof(((of *)0)->member),   \
		.kind = SONDE_FIELD_INT, .is_signed = sign, .name = #member, .type = type_name \
	}
/* The last member: text up to the end of the record. */
#define RECORD_TEXT(of, member)                                                                 \
	{                                                                                       \
		.size = sizeof(struct sonde_field), .offset = offsetof(of, member),             \
		.elem_width = 1, .kind = SONDE_FIELD_STRING, .is_array = true, .is_text = true, \
		.name = #member, .type = "char[]"                                               \
	}

/* name is static; the fields are copied. maker: see schema_table_take(). */
int record_schema_make(struct schema_table *t, const void *maker, const char *name, unsigned traits,
		       const struct sonde_field *fields, size_t nr, struct sonde_schema **ret);

#endif
