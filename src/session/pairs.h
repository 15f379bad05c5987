/* SPDX-License-Identifier: MIT */
/*
 * Pairs of events (pair=): a derived event for each STOP event that matches a START event.
 *
 *	pump.c, merge.c --in time order--> pair.c --START, STOP, derived, others--> caller or sink
 *
 * pair_text.c splits the key's text, pair_members.c finds the key of an event, pair_starts.c keeps
 *the starts that have no stop yet, and pair_form.c makes the schema and the payload of a derived
 *event.
 */
#ifndef SONDE_SESSION_PAIRS_H
#define SONDE_SESSION_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/event.h"
#include "session/pair_text.h"

struct schema_table;
struct sonde_session;

/* ---- forms (pair_form.c) --------------------------------------------------------------------- */

/*
 * The schema of a pair for one layout of START and one of STOP, and its payload:
 *
 *	u64 ns | START fixed | words | STOP fixed | words | rest of START | rest of STOP
 *
 * fixed: the bytes up to the end of the fields of known width; words: one for each field that runs
 * to the end of its payload, which is a dynamic field of the derived event. The words of dynamic
 * fields are changed so that they point to the same bytes.
 */
enum { PAIR_MAX_FIXED = 1 << 16 }; /* limit on fixed and words of an event */

struct pair_side {
	const struct sonde_schema *schema;
	uint32_t at, fixed; /* place in the payload, and length */
};

/* A word to be written. */
struct pair_word {
	uint32_t from, to; /* offsets in the old and the new payload */
	bool is_of_stop;
	bool is_relative;
	bool is_open; /* the field ran to the end of the old payload */
};

struct pair_form {
	struct pair_side start, stop;
	uint32_t fixed; /* length of everything before the rests */
	struct sonde_schema *schema;
	VEC(struct pair_word) words;
};

/* Payload bytes of one event. */
struct pair_bytes {
	const uint8_t *p;
	uint32_t len;
};

/* The schema is added to the table. name is borrowed, as long as the table. */
int pair_form_make(struct pair_form *ret, struct schema_table *t, const char *name,
		   const struct sonde_schema *start, const struct sonde_schema *stop);
/* The length of a payload; pair_form_write() writes it. */
size_t pair_form_room(const struct pair_form *f, uint32_t start_len, uint32_t stop_len);
void pair_form_write(const struct pair_form *f, uint64_t ns, struct pair_bytes start,
		     struct pair_bytes stop, bool swap, uint8_t *ret);
void pair_form_done(struct pair_form *f);

/* ---- members (pair_members.c)
 * -------------------------------------------------------------------- */

/* The origin of a key's value. */
enum pair_own { PAIR_FIELD, PAIR_TID, PAIR_PID, PAIR_CPU, PAIR_COMM };

/* The member that a schema has in a pair, and where its events have the key. */
struct pair_member {
	const struct sonde_schema *schema;
	bool is_stop;
	enum pair_own own;
	const struct sonde_field *field; /* PAIR_FIELD */
	bool is_text;
};

/* The value of a key: a text, which is borrowed from the event, or a number. */
struct pair_key {
	uint64_t number; /* 0 for a text */
	const char *text;
	uint32_t len;
};

struct pair {
	struct pair_text is; /* owned */
	bool by_field;       /* the key is a field of START */
	VEC(struct pair_member) members;
	VEC(struct pair_form) forms;
	bool is_due;        /* event is to be delivered */
	struct event event; /* the last derived event; its payload is in room */
	uint8_t *room;      /* owned */
	size_t room_bytes;
	struct sonde_pair facts; /* without size and name */
};

struct pair_list {
	struct pair *v; /* owned */
	size_t n, capacity;
};

/*
 * Adds the member of a schema as START or STOP. The caller adds a START before the STOP. Returns 1,
 * 0 if it has no such member, -EINVAL if it does not have the key.
 */
int pair_members_add(const struct sonde_session *s, struct pair *p, const struct sonde_schema *sc,
		     bool is_stop);
struct pair_key pair_key_of(const struct pair_member *member, const struct event *ev);

/* ---- open starts (pair_starts.c) ------------------------------------------------------------- */

/*
 * Limits on the open starts of a session, in number and in bytes. A start has room for
 * PAIR_KEPT_BYTES bytes at least.
 */
enum { PAIR_MAX_OPEN = 1 << 16, PAIR_MAX_BYTES = 64 << 20, PAIR_KEPT_BYTES = 128 };

/* A start and its stop have the same. */
struct pair_of {
	struct pair_key key;
	uint32_t pair, recording; /* indexes */
};

/* A start that has no stop yet. */
struct pair_start {
	struct pair_of of;
	uint64_t hash;
	uint64_t time_ns;
	uint64_t losses; /* of the recording, when the start was met */
	const struct sonde_schema *schema;
	uint8_t *bytes;        /* owned: the payload, len bytes; then the text of the key */
	uint32_t len, room;    /* room: allocated bytes */
	uint32_t next, prev;   /* in its bucket, the youngest first; PAIR_NONE at the ends */
	uint32_t older, newer; /* of all open starts; `older` also links the free ones */
};

#define PAIR_NONE UINT32_MAX

/* A vec of starts, open and free. */
struct pair_starts {
	struct pair_start *v;
	size_t n, capacity;
	uint32_t nr_open;
	uint32_t free, oldest, newest;
	uint32_t *buckets; /* owned; the first start of each; nr_buckets is a power of 2 */
	uint32_t nr_buckets;
	uint64_t bytes; /* the room of all starts */
};

void pair_starts_init(struct pair_starts *l);
/* The youngest open start; PAIR_NONE if there is none. */
uint32_t pair_starts_find(const struct pair_starts *l, const struct pair_of *of);
void pair_starts_remove(struct pair_starts *l, uint32_t i);
/* True if the oldest start must be removed before one of so many bytes is added. */
bool pair_starts_is_full(const struct pair_starts *l, uint64_t bytes);
/* Copies the payload at start->bytes and the text of the key. */
int pair_starts_add(struct pair_starts *l, const struct pair_start *start);
void pair_starts_done(struct pair_starts *l);

/* ---- pairs (pair.c) -------------------------------------------------------------------------- */

struct session_pairs {
	struct pair_list list;
	size_t due_at; /* the first pair whose event may be due; list.n if none is */
	/* By schema id. */
	VEC(struct pair_role {
		bool is_in_pair;
		bool is_unwanted; /* sonde_session_want(), for a schema that is in a pair */
	})
	roles;
	uint64_t *losses; /* owned; by recording: records of losses so far */
	struct pair_starts starts;
};

/* Called before and after the recordings are opened. */
int session_pair_parse(struct sonde_session *s);
int session_pair_open(struct sonde_session *s);
void session_pair_done(struct sonde_session *s);
/* True if the name is that of a pair, even if its schema is not known yet. */
bool session_pair_is_name(const struct sonde_session *s, const char *name);
/*
 * Returns 1 for a START or a STOP, 0 for others. Their events are read even if event= or where=
 * refuse them; session_pair_next() asks these filters again.
 */
int session_pair_reads(struct sonde_session *s, const struct sonde_schema *sc);
/* The next event: derived from the last one, or from `next`. Returns what next() returns. */
int session_pair_next(struct sonde_session *s,
		      int (*next)(struct sonde_session *s, const struct sonde_event **ret),
		      const struct sonde_event **ret);
/* Like session_want(). False if the schema is in no pair. */
bool session_pair_want(struct sonde_session *s, uint32_t schema, bool wanted);
/* See sonde_session_pair(). */
int session_pair_facts(const struct sonde_session *s, size_t i, struct sonde_pair *ret);

static inline bool session_has_pairs(const struct session_pairs *p)
{
	return __builtin_expect(p->list.n != 0, 0);
}

static inline bool session_pair_is_due(const struct session_pairs *p)
{
	return p->due_at < p->list.n;
}

#endif
