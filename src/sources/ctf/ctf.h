/* SPDX-License-Identifier: MIT */
/*
 * The state of a CTF trace: a folder with `metadata` and files of packets. Each event is decoded
 * into a payload of its class's own fixed layout, in this host's byte order (docs/formats/ctf.md).
 */
#ifndef SONDE_SOURCES_CTF_CTF_H
#define SONDE_SOURCES_CTF_CTF_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "formats/ctf/walk.h"
#include "sources/source.h"

enum {
	CTF_COMM_BYTES = 16,
	CTF_MOST_FIXED = 32 * 1024, /* bytes of a payload's fixed part */
	/* Offsets and lengths of dynamic fields have 16 bits. */
	CTF_LARGEST_PAYLOAD = 2 * (UINT16_MAX + 1),
	CTF_PAYLOADS_BYTES = 2 * CTF_LARGEST_PAYLOAD,
	CTF_NS_IN_S = 1000000000,
	CTF_MOST_SWITCHES = 64, /* of one call of decode() */
	/* Bits of the first byte of a record that belong to the record before (cut.flags). */
	CTF_CUT_BITS_SHIFT = 5
};

/* How a value gets into the payload (ctf_step.fill). */
enum ctf_fill {
	FILL_NONE,
	FILL_COPY,     /* this and the next steps up to copy_next, as they are recorded */
	FILL_NUMBER,   /* width bytes */
	FILL_MEMBERS,  /* a struct: its members have their own places */
	FILL_BYTES,    /* a constant array of bytes or text, as it is */
	FILL_ELEMENTS, /* a constant array of numbers, each of width bytes */
	FILL_STRING,   /* dynamic: a string */
	FILL_TEXT,     /* dynamic: a sequence of characters */
	FILL_SEQUENCE, /* dynamic: numbers of width bytes */
	FILL_PRINTED   /* dynamic: any other value, as text */
};

/* Payload of SCHEMA_LOST. */
struct ctf_lost {
	uint64_t lost, packets;
	uint64_t unknown; /* 1: a number of events that the trace does not say */
};

/* A packet's header and context, as far as they say where its events are. */
struct ctf_packet {
	bool is_read, is_truncated;
	uint64_t off;                      /* in its file */
	uint32_t header_bytes;             /* up to its first event, rounded up */
	uint64_t first_bit, content, bits; /* of the packet */
	const struct ctf_stream_class *class;
	uint64_t clock; /* behind the header */
	uint64_t roles[NR_CTF_ROLES];
	uint32_t seen;
};

/* The last packet of a stream, to count what is lost between two. */
struct ctf_stream {
	const struct ctf_stream_class *class;
	uint64_t instance;
	bool has_packet, has_number, has_discarded;
	uint64_t number, discarded;
};

struct ctf_file {
	const char *path, *name; /* in the arena */
	int fd;                  /* owned */
	uint64_t bytes;
	const struct ctf_stream_class *class; /* of its first packet; NULL if it has none */
	uint64_t instance, first_ns;
	bool has_instance, has_begin;
	uint32_t stream; /* index in streams */
	/* For cut() only. */
	struct ctf_packet packet;
	uint64_t *cut_slots;
	uint64_t cut_at;   /* where cut() stopped inside of a byte */
	unsigned cut_bits; /* and how many bits of it are done */
	/* For decode() only: the packet of the events being decoded. */
	struct ctf_packet current;
	uint8_t *header; /* owned: bytes of its header and context */
	size_t header_capacity;
	uint64_t *slots;
	int32_t cpu;
};

/* What an event of a kernel trace does to the tasks. */
enum ctf_task_rule {
	TASK_NONE,
	TASK_SWITCH,
	TASK_FORK,
	TASK_EXEC,
	TASK_STATE /* a dump of the tasks that already run */
};

/* Names of the fields that a rule or a task's identity needs. */
enum ctf_known {
	KNOWN_PID,
	KNOWN_TID,
	KNOWN_COMM,
	KNOWN_CPU,
	KNOWN_PREV_TID,
	KNOWN_PREV_COMM,
	KNOWN_NEXT_TID,
	KNOWN_NEXT_COMM,
	KNOWN_CHILD_TID,
	KNOWN_CHILD_PID,
	KNOWN_PARENT_TID,
	KNOWN_PARENT_PID,
	KNOWN_FILENAME,
	KNOWN_TASK_TID,
	KNOWN_TASK_PID,
	KNOWN_TASK_NAME,
	NR_KNOWN
};

struct ctf_event_type {
	const struct ctf_stream_class *stream;
	const struct ctf_event_class *class;
	struct sonde_schema *schema;
	uint32_t fixed; /* bytes of the payload's fixed part */
	enum ctf_task_rule rule;
	const struct sonde_field *known[NR_KNOWN]; /* NULL: the event has no such field */
	/* SWITCH: all four are in the fixed part, 4 and CTF_COMM_BYTES bytes of this byte order. */
	bool is_plain_switch;
	bool is_alias;
	bool has_task; /* fields name the cpu, the process or the thread */
	/* The step that copies the complete payload of an event, or NULL. */
	const struct ctf_step *copy;
	/* Contexts that sonde added when it wrote the trace: no fields of the schema. */
	struct sonde_field *added; /* in the arena */
	size_t nr_added;
};

struct ctf_task {
	char comm[CTF_COMM_BYTES];
};

/* A switch, and that to the task before it. The other members of both changes stay 0. */
struct ctf_switch {
	struct change change, before;
};

struct ctf_source {
	struct source source;
	struct source_options opts;
	struct arena arena;
	struct ctf_trace trace;
	VEC(struct ctf_file) files;
	VEC(struct ctf_stream) streams;
	struct ctf_event_type *types; /* in the arena; by the place of the class in the trace */
	struct sonde_schema *lost_schema;
	struct hash64 task_of_tid; /* names from contexts: tid -> index in tasks */
	VEC(struct ctf_task) tasks;
	bool is_kernel;                       /* of LTTng's kernel tracer */
	bool is_own;                          /* sonde wrote it */
	const char *added_contexts;           /* their names, from env; NULL if there are none */
	struct outbuf aliases, field_aliases; /* "sched_switch=sched:sched_switch", " tid=pid" */
	uint32_t nr_fields;                   /* of all schemas */
	bool omits_values;                    /* events get neither payloads nor tasks */
	int32_t vpid;                         /* env: the traced process; -1 if unknown */
	bool has_named_vpid;
	char fact[32];
	char recorder[160];
	struct outbuf scratch; /* for values that are printed */
	/* For the events of the last decode(). */
	_Alignas(8) uint8_t payloads[CTF_PAYLOADS_BYTES];
	size_t payloads_used;
	struct change change;
	char change_text[4096];
	struct change before; /* of change */
	char before_text[CTF_COMM_BYTES];
	struct ctf_switch switches[CTF_MOST_SWITCHES];
	size_t nr_switches;
};

static inline struct ctf_source *ctf_source_of(struct source *s)
{
	return (struct ctf_source *)s;
}

static inline const struct ctf_source *ctf_const_of(const struct source *s)
{
	return (const struct ctf_source *)s;
}

/* files.c: opens the metadata and all files of packets. */
int ctf_files_open(struct ctf_source *s);
int ctf_head_file(int dir, char ret[NAME_MAX + 1]);
/* packet.c */
/*
 * Reads the header and context of the packet at `off`, of which p has len bytes. -EAGAIN: *ret_need
 * bytes are needed. -EBADMSG: *ret_why says what is wrong.
 */
int ctf_packet_read(const struct ctf_source *s, const struct ctf_file *file, uint64_t off,
		    const uint8_t *p, size_t len, uint64_t clock, uint64_t *slots,
		    struct ctf_packet *ret, size_t *ret_need, const char **ret_why);
uint64_t ctf_ns_of_any(const struct ctf_clock *clock, uint64_t cycles);
/* Cycles of a clock in ns since 1970, at least 0. */
static inline uint64_t ctf_ns(const struct ctf_clock *clock, uint64_t cycles)
{
	int64_t ns;

	return clock->freq == CTF_NS_IN_S && cycles <= INT64_MAX &&
			       !__builtin_add_overflow(clock->base_ns, (int64_t)cycles, &ns) &&
			       ns >= 0
		       ? (uint64_t)ns
		       : ctf_ns_of_any(clock, cycles);
}
const struct ctf_event_class *ctf_event_class_search(const struct ctf_stream_class *stream,
						     const struct ctf_reader *rd, uint64_t id);
/* The class of the event whose header was walked over; NULL if there is none. */
static inline const struct ctf_event_class *ctf_event_class_of(
	const struct ctf_stream_class *stream, const struct ctf_reader *rd)
{
	const uint64_t id = rd->seen & 1u << CTF_ROLE_EVENT_ID ? rd->roles[CTF_ROLE_EVENT_ID] : 0;

	/* most tracers number them from 0 on */
	if (__builtin_expect(id < stream->events.n && stream->events.v[id]->id == id, 1))
		return stream->events.v[id];
	return ctf_event_class_search(stream, rd, id);
}
/* cut.c */
int ctf_cut(const struct source *s, unsigned file, struct unit *unit, const uint8_t *p, size_t len,
	    uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used, size_t *ret_need);
/* schemas.c */
int ctf_schemas_make(struct ctf_source *s);
/* fill.c */
struct ctf_filler {
	uint8_t *to; /* the payload */
	size_t used; /* with the fixed part */
	bool is_cut; /* a dynamic value was too long */
	struct outbuf *scratch;
};
int ctf_fill_steps(const struct ctf_program *program, struct ctf_reader *rd, struct ctf_filler *f);
static inline int ctf_fill_program(const struct ctf_program *program, struct ctf_reader *rd,
				   struct ctf_filler *f)
{
	return program->nr ? ctf_fill_steps(program, rd, f) : 0;
}
/* Copies the bytes of the complete fields of a type whose `copy` is not NULL. */
void ctf_fill_copy(const struct ctf_event_type *type, const uint8_t *fields, uint8_t *to);
/* aliases.c */
struct ctf_alias {
	const char *name; /* of LTTng's event */
	const char *system, *event;
};
/* The kernel's own name of an event of LTTng. False if it has none. */
bool ctf_alias_event(const char *name, struct ctf_alias *ret, char room[128]);
/* The kernel's own name of a field, and what to add to its value; NULL if they are the same. */
const char *ctf_alias_field(const struct ctf_alias *event, const char *name, int32_t *ret_add);
/* decode.c */
int ctf_decode(struct source *s, const struct cut *cuts, int nr, int *at, struct event *ret,
	       int max);
/*
 * Sets up a reader over the bytes of an event, in front of its header. event.member is the bit
 * behind the header.
 */
void ctf_event_reader(struct ctf_source *s, const struct cut *cut, struct ctf_reader *ret);
/* tasks.c: what an event changes, or NULL. */
const struct change *ctf_task_change(struct ctf_source *s, const struct ctf_event_type *type,
				     const struct event *ev);
/*
 * A switch whose names are in the event's payload. It is valid until the next call of decode().
 * NULL if there is no room, or if it must be made by ctf_task_change().
 */
const struct change *ctf_task_switch(struct ctf_source *s, const struct ctf_event_type *type,
				     const struct event *ev);
enum ctf_task_rule ctf_task_rule_of(const char *name);
void ctf_task_find_fields(struct ctf_event_type *type);
int64_t ctf_known_number(const struct ctf_event_type *type, enum ctf_known known,
			 const struct event *ev, int64_t missing);
bool ctf_task_is_named_by(struct ctf_source *s, const struct ctf_event_type *type,
			  const struct event *ev);
/* True if the event changes nothing: it names its task as before, or not at all. */
static inline bool ctf_task_is_named(struct ctf_source *s, const struct ctf_event_type *type,
				     const struct event *ev)
{
	if (!type->known[KNOWN_COMM])
		return s->vpid < 0 || s->has_named_vpid;
	return ctf_task_is_named_by(s, type, ev);
}

#endif
