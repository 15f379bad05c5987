/* SPDX-License-Identifier: MIT */
#include "capture/tracepoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "formats/tracefs/eventformat.h"

/* The name becomes part of a path; it must not lead out of the folder of events. */
static bool tracepoint_is_name(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && colon > name && colon[1] && !strchr(colon + 1, ':') && !strchr(name, '/') &&
	       *name != '.' && colon[1] != '.' && strlen(name) < 256;
}

static int tracepoint_parse(const struct tracefs *t, const char *path, const char *system,
			    struct sonde_tracepoint *ret)
{
	const struct abi abi = {
		.long_bytes = sizeof(long),
		.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
	};
	char *text;
	size_t len;
	int r;

	TRY(tracefs_read(t, path, &text, &len));
	r = eventformat_parse(&ret->table.arena, bytes_init(text, len, 0, path, false), system, abi,
			      &ret->schema);
	free(text);
	TRY(r);
	return schema_table_add(&ret->table, ret->schema);
}

int tracepoint_read(const struct tracefs *t, const char *name, struct sonde_tracepoint *ret)
{
	char path[512], system[256];
	int r;

	if (!tracepoint_is_name(name))
		return err_set(-EINVAL, "'%.64s' is not the name of a tracepoint, SYSTEM:EVENT",
			       name);
	snprintf(system, sizeof(system), "%.*s", (int)strcspn(name, ":"), name);
	snprintf(path, sizeof(path), "events/%s/%s/format", system, strchr(name, ':') + 1);
	*ret = (struct sonde_tracepoint){ 0 };
	r = tracepoint_parse(t, path, system, ret);
	if (r < 0)
		tracepoint_done(ret);
	return r;
}

void tracepoint_done(struct sonde_tracepoint *t)
{
	schema_table_done(&t->table);
}
