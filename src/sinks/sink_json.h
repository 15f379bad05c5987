/* SPDX-License-Identifier: MIT */
/* Parts of JSON that several sinks write. */
#ifndef SONDE_SINKS_SINK_JSON_H
#define SONDE_SINKS_SINK_JSON_H

#include "base/json.h"
#include "sonde/sonde.h"
#include "sources/source.h"

/* Begins the one object of an output that is no lines: what it is, of which recording. */
void sink_json_begin(struct json *j, const char *schema, unsigned version, const char *input,
		     bool complete);
/* A member with the fact's value, which is known. */
void sink_json_fact(struct json *j, const struct source_fact *fact);
/* Members that say what the source says of its host and recorder. */
void sink_json_facts(struct json *j, struct source *source);
/* Members of a defect behind its name. */
void sink_json_defect(struct json *j, const struct sonde_defect *d);
/* "error", "data-loss", "info" */
const char *sink_json_severity(const struct sonde_defect *d);

#endif
