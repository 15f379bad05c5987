/* SPDX-License-Identifier: MIT */
/* Field classes of CTF 2's metadata. */
#ifndef SONDE_FORMATS_CTF_JSON_TYPES_H
#define SONDE_FORMATS_CTF_JSON_TYPES_H

#include "formats/ctf/json_tree.h"
#include "formats/ctf/model.h"

struct json_alias {
	const char *name;
	const struct ctf_type *type;
};

struct json_metadata {
	struct ctf_trace *trace;
	const char *text;
	unsigned depth;
	VEC(struct json_alias) aliases;
};

/* Fails with the line and column of the place. Returns -EBADMSG. */
int json_metadata_fail(const struct json_metadata *m, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* An optional member. */
int json_metadata_unsigned(const struct json_metadata *m, const struct json_value *of,
			   const char *name, uint64_t missing, uint64_t *ret);
int json_metadata_text(const struct json_metadata *m, const struct json_value *of, const char *name,
		       const char **ret);
/* json_types.c: a field class, or the name of an alias. */
int json_type(struct json_metadata *m, const struct json_value *v, const struct ctf_type **ret);

#endif
