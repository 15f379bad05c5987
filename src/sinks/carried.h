/* SPDX-License-Identifier: MIT */
/*
 * The events of a recording as records of the kernel's tracepoints, for sinks that write a
 * recording of another format: trace.dat, or perf.data from another input.
 *
 *	event's payload --> common fields with an id of the new recording | fields, in this host's
 *	                    byte order
 *
 * Events that are no tracepoints, and those whose fields the recording does not describe, have no
 * such record. They are counted by name.
 */
#ifndef SONDE_SINKS_CARRIED_H
#define SONDE_SINKS_CARRIED_H

#include "base/hash.h"
#include "base/vec.h"
#include "recording/recording.h"
#include "sinks/sink.h"

enum { CARRIED_NR_IDS = 1 << 16, CARRIED_MOST_BYTES = 1 << 17 };

/* A value that is not copied as it is. */
struct carried_fix {
	const struct sonde_field *field; /* borrowed from the schema */
	bool swap;                       /* not in this host's byte order */
	uint32_t comm_at; /* the place of a name of a task in the record; 0: it is none */
};

/* An event type, by the id of its schema. */
struct carried_type {
	const struct sonde_schema *schema; /* NULL until its first event */
	bool is_carried;
	uint32_t id;      /* in the new recording */
	uint32_t added;   /* bytes in front of the payload: eventformat_added_bytes() */
	bool swap;        /* fixes are for events of this byte order */
	uint64_t nr;      /* events whose record was made */
	uint64_t refused; /* events that have none */
	VEC(struct carried_fix) fixes; /* owned */
};

struct carried {
	const struct recordings *recordings;
	const char *format; /* its name, for notes */
	VEC(struct carried_type) types;
	uint8_t *ids_used; /* owned; bits */
	uint32_t next_id;
	uint64_t sampled;          /* SAMPLED_* of all carried events */
	uint64_t last_ns;          /* for events without a time */
	uint64_t without_time;     /* written events */
	uint64_t lost, lost_exact; /* events, as buffers and as event types count them */
	struct hash64 comm;        /* tid -> id of the thread's last comm */
	uint64_t renamed;          /* tasks with several names */
	uint8_t *record;           /* owned; CARRIED_MOST_BYTES */
};

int carried_init(struct carried *c, const struct recordings *recordings, const char *format);
void carried_done(struct carried *c);

/*
 * Makes the record of an event. Returns its type; NULL with *ret_error 0 if it has none, which is
 * counted. The record has *ret_len bytes and is valid until the next call.
 */
struct carried_type *carried_make(struct carried *c, const struct event *ev, const uint8_t **ret,
				  uint32_t *ret_len, int *ret_error);
/* The record of the event does not fit into the new recording. */
void carried_refuse(struct carried *c, struct carried_type *t, const struct event *ev);
/* The type of an event, for a sink that makes no record of it. NULL without memory. */
struct carried_type *carried_type_of(struct carried *c, const struct event *ev, int *ret_error);
/* An event of the type was written, without a record of it. */
void carried_written(struct carried *c, struct carried_type *t, const struct event *ev);

enum carried_kind {
	CARRIED_SAMPLE,
	CARRIED_LOSS,   /* a record of losses */
	CARRIED_NOTHING /* a name, which the next event of the task has; or it was counted as left
			   out */
};
/* <0 without memory. */
int carried_kind_of(struct carried *c, const struct event *ev);
/* The event's time, or that of the previous event if it has none. */
uint64_t carried_time(struct carried *c, const struct event *ev);

struct carried_lost {
	uint64_t events; /* 1 if their number is unknown */
	bool is_counted; /* the number is known */
};
/* The losses that a record reports. False if the sink writes nothing for the record. */
bool carried_loss(struct carried *c, const struct event *ev, struct carried_lost *ret);
/* Losses that are counted for an event type only, without a time. Valid after the last event. */
uint64_t carried_lost_elsewhere(const struct carried *c);
/* True if the thread of the event has another name than before. <0 without memory. */
int carried_learn_comm(struct carried *c, const struct event *ev);
/* What was left out; lines for sonde_session_notes(). sampled: SAMPLED_* that the format has. */
void carried_put_notes(const struct carried *c, uint64_t sampled, struct outbuf *out);

/* ---- formats --------------------------------------------------------------------------------- */

/* The text of the format of a type. */
struct carried_format {
	const struct carried_type *type;
	char *system, *text; /* owned */
	size_t len;
};
struct carried_formats {
	VEC(struct carried_format) list;
};
/* Formats of all types with events, by system. */
int carried_formats_make(struct carried_formats *f, const struct carried *c);
void carried_formats_done(struct carried_formats *f);

#endif
