/* SPDX-License-Identifier: MIT */
/* The schema of a tracepoint of the running kernel, without a recording. */
#ifndef SONDE_CAPTURE_TRACEPOINT_H
#define SONDE_CAPTURE_TRACEPOINT_H

#include "capture/tracefs.h"
#include "model/schema_table.h"

/* Must not be moved: the schema refers to its table's arena. */
struct sonde_tracepoint {
	struct schema_table table; /* owns the schema, its only one */
	struct sonde_schema *schema;
};

/*
 * Reads the format file of SYSTEM:EVENT. -ENOENT if there is no such tracepoint; -EINVAL if name is
 * not of that form.
 */
int tracepoint_read(const struct tracefs *t, const char *name, struct sonde_tracepoint *ret);
void tracepoint_done(struct sonde_tracepoint *t);

#endif
