/* SPDX-License-Identifier: MIT */
/* Parts of JSON that several sinks write. */
#ifndef SONDE_SINKS_SINK_JSON_H
#define SONDE_SINKS_SINK_JSON_H

#include "base/json.h"
#include "sonde/sonde.h"
#include "sources/source.h"

/*
 * Begins the object of an output that consists of one object: writes its schema and the recording.
 */
void sink_json_begin(struct json *j, const char *schema, unsigned version, const char *input,
		     bool complete);
/* Writes a member with the fact's value, which must be known. */
void sink_json_fact(struct json *j, const struct source_fact *fact);
/* Writes the source's facts about its host and recorder as members. */
void sink_json_facts(struct json *j, struct source *source);
/* Writes the members of a defect that follow its name. */
void sink_json_defect(struct json *j, const struct sonde_defect *d);
/* "error", "data-loss", "info" */
const char *sink_json_severity(const struct sonde_defect *d);

#endif
