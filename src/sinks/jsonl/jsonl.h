/* SPDX-License-Identifier: MIT */
/* The parts of the JSON lines sink; docs/formats/jsonl.md describes what it writes. */
#ifndef SONDE_SINKS_JSONL_JSONL_H
#define SONDE_SINKS_JSONL_JSONL_H

#include "base/arena.h"
#include "base/json.h"
#include "base/vec.h"
#include "model/event.h"
#include "sinks/fd_writer.h"
#include "sinks/line_options.h"
#include "sinks/sink.h"
#include "sinks/text_only.h"

#define JSONL_VERSION \
	1 /* of the schema: new members keep it; a removed or changed member raises it */

/* Facts about an event type; indexed by schema id. */
struct jsonl_type {
	/* Pieces are borrowed from the sink's arena. */
	struct json_piece head;         /* {"event":"sched:sched_switch" */
	const struct json_piece *names; /* ,"prev_comm": of each field; no text: not shown */
	/* True for each field that is a number of complete bytes in the recording's byte order. */
	const bool *is_plain;
	uint64_t count; /* of events written */
	bool shown;
	bool has_fields;
	bool has_sample; /* values worth a line's room were recorded */
	bool has_chain;
	bool has_place; /* the place is looked up from ip, because there is no chain */
};

struct jsonl_options {
	struct line_options lines;
	struct text_only text; /* refused */
};

struct jsonl_sink {
	struct sink base;
	struct recordings *recordings;
	const struct jsonl_options *o;
	const char *input;
	enum clock_shown clock;
	bool callchain;
	struct fd_writer writer;
	struct arena arena;
	VEC(struct jsonl_type) types;
	VEC(struct json_piece) comms; /* indexed by comm id; no text: not yet made */
	bool all_records;             /* events=all: also those that nothing asks for by name */
};

/* jsonl_ends.c: the first line and the last one. */
void jsonl_header_put(const struct jsonl_sink *s, struct outbuf *out);
void jsonl_summary_put(const struct jsonl_sink *s, bool complete, struct outbuf *out);
void jsonl_defect_put(const struct recording *rec, struct outbuf *out); /* rec->reported */

/* jsonl_values.c: each writes a member of the line, and nothing where there is nothing. */
void jsonl_fields_put(const struct jsonl_type *type, const struct event *ev, struct json *j);
void jsonl_sample_put(const struct event *ev, const struct sonde_sample *sample, struct json *j);
void jsonl_place_put(const struct event *ev, uint64_t ip, struct json *j);
void jsonl_chain_put(const struct event *ev, struct json *j);

#endif
