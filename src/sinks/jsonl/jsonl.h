/* SPDX-License-Identifier: MIT */
/* The parts of the JSON lines sink; docs/formats/jsonl.md describes what it writes. */
#ifndef SONDE_SINKS_JSONL_JSONL_H
#define SONDE_SINKS_JSONL_JSONL_H

#include "base/arena.h"
#include "base/vec.h"
#include "model/event.h"
#include "sinks/fd_writer.h"
#include "sinks/sink.h"

#define JSONL_VERSION \
	1 /* of the schema: members may come at any time, this counts when one goes or changes */

/* A piece of JSON made once; lent from the sink's arena. */
struct jsonl_text {
	const char *text; /* NULL: none */
	uint32_t len;
};

/* What is known of an event type; indexed by schema id. */
struct jsonl_type {
	struct jsonl_text head;        /* {"event":"sched:sched_switch" */
	const struct jsonl_text *keys; /* ,"prev_comm": of each field; no text: not shown */
	uint64_t count;                /* of events written */
	bool shown;
	bool has_fields;
	bool has_sample; /* values worth a line's room were recorded */
	bool has_chain;
	bool has_place; /* where it happened is asked of ip, as there is no chain */
};

struct jsonl_sink {
	struct sink base;
	struct sonde_session *session;
	struct fd_writer writer;
	struct arena arena;
	VEC(struct jsonl_type) types;
	VEC(struct jsonl_text) comms; /* indexed by comm id; no text: not yet made */
	bool all_records;             /* events=all: also those that nothing asks for by name */
};

/* jsonl_ends.c: the first line and the last one. */
void jsonl_header_put(const struct jsonl_sink *s, struct outbuf *out);
void jsonl_summary_put(const struct jsonl_sink *s, bool complete, struct outbuf *out);
void jsonl_defect_put(const struct sonde_session *s, struct outbuf *out); /* s->defect */
/* What other JSON has in common with these lines: members of the host and recorder, the first behind comma; a defect. */
struct source;
void jsonl_facts_put(struct source *source, const char *comma, struct outbuf *out);
void jsonl_defect_object_put(const struct sonde_defect *d, const char *name, struct outbuf *out);

/* jsonl_values.c: each writes `,"name":...` and nothing where there is nothing. */
void jsonl_fields_put(const struct jsonl_type *type, const struct event *ev, struct outbuf *out);
void jsonl_sample_put(const struct event *ev, const struct sonde_sample *sample,
		      struct outbuf *out);
void jsonl_place_put(const struct event *ev, uint64_t ip, struct outbuf *out);
void jsonl_chain_put(const struct event *ev, struct outbuf *out);

#endif
