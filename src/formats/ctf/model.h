/* SPDX-License-Identifier: MIT */
/*
 * What the metadata of a CTF trace say, as types and classes. Both languages of metadata make this
 * model: TSDL (CTF 1.8, tsdl.h) and JSON (CTF 2, json_metadata.c). docs/formats/ctf.md has the
 * facts.
 */
#ifndef SONDE_FORMATS_CTF_MODEL_H
#define SONDE_FORMATS_CTF_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "sonde/sonde.h"

/* Limits of metadata. Larger metadata is refused with a message. */
enum {
	CTF_METADATA_BYTES = 64 << 20,
	CTF_MOST_DEPTH = 64,        /* of nested types */
	CTF_MOST_MEMBERS = 1 << 16, /* of a struct, a variant, an enum, a path */
	CTF_MOST_STEPS = 1 << 20,   /* of all programs of a trace */
	CTF_MOST_EVENTS = 1 << 16,
	CTF_MOST_STREAMS = 1 << 12
};
/* The largest constant array: an event would not fit into any packet. */
#define CTF_MOST_ELEMENTS (UINT64_C(1) << 32)

enum ctf_kind {
	CTF_INT, /* also booleans and bit arrays */
	CTF_FLOAT,
	CTF_ENUM,
	CTF_STRING, /* ends with a NUL */
	CTF_STRUCT,
	CTF_VARIANT,
	CTF_ARRAY,   /* of a length that the metadata state */
	CTF_SEQUENCE /* of a length that another field has */
};

/* Fields that describe packets and events themselves. */
enum ctf_role {
	CTF_ROLE_NONE,
	CTF_ROLE_MAGIC,
	CTF_ROLE_UUID,
	CTF_ROLE_STREAM_ID,
	CTF_ROLE_INSTANCE_ID,
	CTF_ROLE_CONTENT_SIZE,
	CTF_ROLE_PACKET_SIZE,
	CTF_ROLE_BEGIN,
	CTF_ROLE_END,
	CTF_ROLE_DISCARDED,
	CTF_ROLE_PACKET_NUMBER,
	CTF_ROLE_EVENT_ID,
	NR_CTF_ROLES
};

struct ctf_clock {
	const char *name;
	uint64_t freq;
	int64_t offset_s, offset_cycles;
	int64_t base_ns; /* of both offsets, limited to the range of int64_t */
	bool is_absolute, has_uuid;
	uint8_t uuid[16];
};

/* Values of a number that select an option. Compared as signed numbers if the tag is signed. */
struct ctf_range {
	uint64_t from, to;
};

struct ctf_member {
	const char *name;  /* as written: lengths and tags refer to it */
	const char *shown; /* without the underscore that CTF 1.8 puts in front of names */
	const struct ctf_type *type;
	const struct ctf_range *ranges; /* CTF 2: option of a variant */
	size_t nr_ranges;
};

/* The place of a length or a tag. */
struct ctf_path {
	const char *const *words;
	size_t nr;
	bool is_absolute; /* the first two or three words name a scope */
	unsigned line, column;
};

struct ctf_type {
	enum ctf_kind kind;
	bool is_signed;
	bool is_text;  /* an array of such integers is text */
	bool is_leb;   /* LEB128: of variable length */
	uint8_t order; /* enum sonde_byte_order; 0: that of the trace */
	uint8_t base;
	enum ctf_role role;    /* CTF 2 states it; for CTF 1.8 see compile.c */
	bool is_default_clock; /* CTF 2: shows the default clock of its stream */
	uint32_t bits;         /* of a number */
	uint32_t align;        /* of a number; least of a struct, an array */
	const struct ctf_clock *clock;
	const struct ctf_type *of; /* container of an enum; element of an array */
	/* ENUM: labels in the order of their declaration; an enum has a container. */
	const struct sonde_label *labels;
	uint32_t nr_labels;
	const struct ctf_member *members; /* STRUCT, VARIANT */
	uint32_t nr_members;
	bool has_tag;           /* VARIANT */
	bool is_optional;       /* VARIANT of one option, which may be absent */
	uint64_t length;        /* ARRAY */
	const char *length_env; /* ARRAY: the length is a value of env */
	struct ctf_path path;   /* SEQUENCE: the length; VARIANT: the tag */
};

struct ctf_env {
	const char *name;
	const char *text; /* NULL: a number */
	int64_t number;
};

struct ctf_step;
/* A type compiled for one place: compile.h. No steps: the scope has no fields. */
struct ctf_program {
	struct ctf_step *steps;
	uint32_t nr;
};

struct ctf_event_class {
	uint64_t id;
	bool has_stream_id;
	uint64_t stream_id;
	const char *name, *uri;
	int64_t log_level; /* -1: none */
	const struct ctf_type *context, *fields;
	struct ctf_program context_program, fields_program;
	uint32_t place; /* number of the class in the trace */
	/* Has only fields, and these never change their size: ctf_find_quick(). */
	bool is_quick;
	uint32_t quick_align; /* of the fields, in bits */
	uint64_t quick_bits;  /* of the fields if they begin at their alignment */
};

struct ctf_stream_class {
	uint64_t id;
	bool has_id;
	const char *clock_id; /* CTF 2: the default clock */
	const struct ctf_type *packet_context, *event_header, *event_context;
	struct ctf_program packet_context_program, event_header_program, event_context_program;
	const struct ctf_clock *clock; /* NULL if nothing of it has a time */
	VEC(struct ctf_event_class *) events;
	struct hash64 event_of_id; /* index in events */
	uint32_t place;
	/*
	 * The event header is LTTng's compact one: 5 bits of id, 27 of the clock in one word, or
	 * an id of 31 and more behind it. compact_slot gets the id; CTF_NO_SLOT for other headers.
	 */
	uint32_t compact_slot;
	uint32_t compact_align; /* of the header, in bits; at least 8 */
	bool is_header_needed;  /* lengths or tags outside of the header refer to it */
	uint32_t cpu_slot;      /* of the packet context's cpu_id; CTF_NO_SLOT if it has none */
	uint8_t discarded_bits; /* of the counter of discarded events, which may wrap */
};

struct ctf_trace {
	struct arena arena;
	const char *path; /* of the metadata, for messages */
	unsigned major, minor;
	uint8_t order; /* enum sonde_byte_order */
	bool has_uuid;
	uint8_t uuid[16];
	const struct ctf_type *packet_header;
	struct ctf_program packet_header_program;
	VEC(struct ctf_clock *) clocks;
	VEC(struct ctf_env) env;
	VEC(struct ctf_stream_class *) streams;
	VEC(struct ctf_event_class *) events; /* of all streams */
	struct ctf_clock implicit_clock;
	uint32_t nr_slots; /* values that lengths and tags refer to */
	uint32_t nr_steps;
	uint32_t nr_ignored; /* attributes and blocks without a meaning */
};

/*
 * Reads the metadata, which may be text, JSON, or packets of either. path is for messages; it is
 * kept. The trace is complete and compiled. On failure, ctf_trace_done() frees it, too.
 */
int ctf_trace_read(struct ctf_trace *t, const char *path, const uint8_t *bytes, size_t len);
void ctf_trace_done(struct ctf_trace *t);
/* True if a file begins as metadata do. */
bool ctf_is_metadata(const uint8_t *head, size_t len);
/* A value of env; NULL if there is none. */
const struct ctf_env *ctf_env_find(const struct ctf_trace *t, const char *name);
/* A text of env; NULL if there is none. */
const char *ctf_env_text(const struct ctf_trace *t, const char *name);

/* tsdl.c, json_metadata.c: fill in the trace's model, which is not yet compiled. */
int ctf_tsdl_parse(struct ctf_trace *t, const char *text, size_t len);
int ctf_json_parse(struct ctf_trace *t, const char *text, size_t len);
/* compile.c */
int ctf_compile(struct ctf_trace *t);
/* finish.c */
int ctf_finish(struct ctf_trace *t);

/* Text as it is printed: 16 bytes as a UUID. False if it is none. */
bool ctf_uuid_parse(const char *text, uint8_t ret[16]);

/* A copy of the array in the arena. NULL if memory ran out. */
void *ctf_copy(struct ctf_trace *t, const void *v, size_t n, size_t size);

#endif
