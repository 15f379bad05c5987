/* SPDX-License-Identifier: MIT */
/*
 * The form of an event type in a CTF trace: the text of its members, and the steps that write an
 * event. Every value begins at a byte.
 */
#ifndef SONDE_SINKS_CTF_SHAPE_H
#define SONDE_SINKS_CTF_SHAPE_H

#include "base/outbuf.h"
#include "base/vec.h"
#include "recording/recording.h"

/* How a value is written. */
enum ctf_put {
	PUT_BYTES,    /* n bytes of the field, as they are recorded */
	PUT_NUMBER,   /* the value of a field of bits, in n bytes of the little byte order */
	PUT_STRING,   /* up to its NUL */
	PUT_SEQUENCE, /* u32 number of elements of n bytes | elements */
	PUT_TID,
	PUT_PID,
	PUT_COMM,
	PUT_VALUE,    /* u64 at the offset `at` of struct sonde_sample */
	PUT_CALLCHAIN /* u32 number of entries | entries */
};

struct ctf_put_step {
	uint8_t how; /* enum ctf_put */
	uint32_t n, at;
	const struct sonde_field *field; /* borrowed from the schema; NULL if it is no field */
};

struct ctf_shape {
	VEC(struct ctf_put_step) steps; /* owned: those of the context, then those of the fields */
	struct outbuf context, fields;  /* owned: text of the members */
	uint64_t end;      /* where the last field ends; UINT64_MAX if one ends with the record */
	bool needs_sample; /* values of struct sonde_sample are written */
	bool adds_pid, adds_tid, adds_comm; /* pid, tid, procname are no fields of the event */
};

/* What is written of the samples' values; others have no place. */
extern const uint64_t ctf_shape_sampled;

/* swap: the events have the other byte order. callchain: call chains are written. */
int ctf_shape_make(struct ctf_shape *ret, const struct sonde_schema *sc, bool swap, bool callchain);
void ctf_shape_done(struct ctf_shape *shape);
/* Appends the context and the fields of an event. */
int ctf_shape_put(const struct ctf_shape *shape, const struct event *ev, const char *comm,
		  struct outbuf *o);

#endif
