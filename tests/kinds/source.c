/* SPDX-License-Identifier: MIT */
/*
 * An input for tests, with fields of every kind, events without a task and names without a time. It
 * wraps source_open() (-Wl,--wrap), so that only test programs have it.
 *
 * A file has the magic, then records: struct head, payload.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "model/sampled.h"
#include "model/schema_table.h"
#include "sources/source.h"

#define MAGIC "SNDKINDS"

/* In this machine's byte order. */
enum { KINDS, SWITCH, NAME, NR_TYPES };
struct head {
	uint32_t len, type; /* len: bytes of the complete record */
	uint64_t time_ns;
	int32_t cpu, pid, tid;
	uint32_t unused;
};

struct kinds_source {
	struct source base; /* first */
	int fd;
	uint64_t size;
	struct sonde_schema *schemas[NR_TYPES];
	struct change change;
};

/* ---- events ---------------------------------------------------------------------------------- */

#define LITTLE .byte_order = SONDE_ORDER_LITTLE
#define BIG    .byte_order = SONDE_ORDER_BIG
#define FIELD(n, t, k, off, w, ...)                                                                \
	{                                                                                          \
		.size = sizeof(struct sonde_field), .name = n, .type = t, .kind = SONDE_FIELD_##k, \
		.offset = off, .width = w, ##__VA_ARGS__                                           \
	}

static const struct sonde_label states[] = { { 0, 0, "RUNNING" },
					     { 1, 2, "SLEEPING" },
					     { (uint64_t)-2, (uint64_t)-2, "BELOW" } };
static const struct sonde_field inner[] = {
	FIELD("x", "u8", INT, 20, 1),
	FIELD("y", "float", FLOAT, 21, 4, LITTLE),
};
static const struct sonde_field outer[] = {
	FIELD("at", "struct point", NESTED, 20, 5, .fields = inner, .nr_fields = 2),
	FIELD("state", "enum state", ENUM, 12, 2, LITTLE, .is_signed = 1, .labels = states,
	      .nr_labels = 3),
	FIELD("word", "char[4]", STRING, 25, 4, .is_array = 1, .is_text = 1, .elem_width = 1),
};
static const struct sonde_field kinds[] = {
	FIELD("single", "float", FLOAT, 0, 4, LITTLE),
	FIELD("precise", "double", FLOAT, 4, 8, BIG),
	FIELD("state", "enum state", ENUM, 12, 2, LITTLE, .is_signed = 1, .labels = states,
	      .nr_labels = 3),
	FIELD("port", "be16", INT, 14, 2, BIG),
	FIELD("low", "u16:3", BITS, 16, 2, LITTLE, .bit_width = 3),
	FIELD("across", "s16:7", BITS, 16, 2, LITTLE, .bit_offset = 5, .bit_width = 7,
	      .is_signed = 1),
	FIELD("high", "be16:3", BITS, 16, 2, BIG, .bit_width = 3),
	FIELD("plain", "s16", INT, 18, 2, .is_signed = 1),
	FIELD("outer", "struct outer", NESTED, 12, 17, .fields = outer, .nr_fields = 3),
};
static const struct sonde_field switches[] = {
	FIELD("next_pid", "pid_t", INT, 0, 4, .is_signed = 1),
};
static const struct sonde_field names[] = {
	FIELD("comm", "char[]", STRING, 0, 0, .is_array = 1, .is_text = 1, .elem_width = 1),
};

static const struct {
	enum sonde_schema_kind kind;
	const char *system, *event, *name;
	const struct sonde_field *fields;
	size_t nr;
} types[NR_TYPES] = {
	[KINDS] = { SONDE_TRACEPOINT, "test", "kinds", "test:kinds", kinds,
		    sizeof(kinds) / sizeof(*kinds) },
	[SWITCH] = { SONDE_TRACEPOINT, "test", "switch", "test:switch", switches, 1 },
	[NAME] = { SONDE_RECORD, "", "comm", "comm", names, 1 },
};

static int make_schemas(struct kinds_source *s, struct schema_table *table)
{
	for (int i = 0; i < NR_TYPES; i++) {
		struct sonde_schema *sc = arena_alloc(&table->arena, sizeof(*sc));
		struct sonde_field *f = arena_array(&table->arena, types[i].nr, sizeof(*f));

		if (!sc || !f)
			return err_nomem();
		memcpy(f, types[i].fields, types[i].nr * sizeof(*f));
		*sc = (struct sonde_schema){
			.kind = types[i].kind,
			.system = types[i].system,
			.event = types[i].event,
			.name = types[i].name,
			.event_class = EVENT_TRACEPOINT,
			.sampled = SAMPLED_TID | SAMPLED_TIME | SAMPLED_CPU | SAMPLED_RAW,
			.fields = f,
			.nr_fields = types[i].nr,
		};
		TRY(schema_table_take(table, sc, s, &s->schemas[i]));
	}
	return 0;
}

/* ---- the source ------------------------------------------------------------------------------ */

static bool kinds_file(struct source *source, unsigned i, struct source_file *ret)
{
	struct kinds_source *s = (struct kinds_source *)source;

	*ret = (struct source_file){
		.fd = s->fd,
		.path = "kinds",
		.begin = sizeof(MAGIC) - 1,
		.end = s->size,
	};
	return i == 0;
}

static int kinds_cut(const struct source *source, unsigned file, struct unit *unit,
		     const uint8_t *p, size_t len, uint64_t file_off, struct cut *ret, int max,
		     uint64_t *ret_used, size_t *ret_need)
{
	int n = 0;
	struct head h;

	*ret_used = 0;
	*ret_need = sizeof(h);
	for (; n < max && len - *ret_used >= sizeof(h); n++) {
		memcpy(&h, p + *ret_used, sizeof(h));
		if (h.len < sizeof(h) || h.type >= NR_TYPES)
			return -EBADMSG;
		*ret_need = h.len;
		if (len - *ret_used < h.len)
			return n;
		ret[n] = (struct cut){
			.time_ns = h.time_ns,
			.file_off = file_off + *ret_used,
			.bytes = p + *ret_used,
			.len = h.len,
			.order = h.type == NAME ? CUT_AT_ONCE : CUT_ORDERED,
			.flags = h.type == NAME ? 0 : CUT_SAMPLE,
		};
		*ret_used += h.len;
		*ret_need = sizeof(h);
	}
	return n;
}

/* Reads one record at a time. Some change the state. */
static int kinds_decode(struct source *source, const struct cut *cuts, int nr, int *at,
			struct event *ret, int max)
{
	struct kinds_source *s = (struct kinds_source *)source;
	const struct cut *cut = &cuts[(*at)++];
	const struct event old = *ret;
	const uint8_t *payload = cut->bytes + sizeof(struct head);
	struct head h;

	memcpy(&h, cut->bytes, sizeof(h));
	*ret = (struct event){ .pub = { .size = old.pub.size,
					.schema = s->schemas[h.type]->id,
					.time_ns = h.type == NAME ? SONDE_NO_TIME : h.time_ns,
					.cpu = h.cpu,
					.pid = h.pid,
					.tid = h.tid,
					.bytes = payload,
					.bytes_len = h.len - (uint32_t)sizeof(h),
					.record = cut->bytes,
					.record_len = cut->len,
					.file_off = cut->file_off },
			       .recording = old.recording,
			       .schema = s->schemas[h.type],
			       .source = old.source,
			       .cut = cut };
	s->change = (struct change){ .pid = h.pid, .tid = h.tid, .cpu = h.cpu };
	if (h.type == NAME) {
		s->change.kind = CHANGE_COMM;
		s->change.is_untimed = true;
		s->change.text = (const char *)payload;
		ret->change = &s->change;
	} else if (h.type == SWITCH) {
		s->change.kind = CHANGE_SWITCH;
		s->change.pid = -1;
		memcpy(&s->change.tid, payload, sizeof(s->change.tid));
		ret->change = &s->change;
	}
	return 1;
}

static void kinds_close(struct source *source)
{
	struct kinds_source *s = (struct kinds_source *)source;

	close(s->fd);
	free(s);
}

static const struct source_ops ops = {
	.name = "kinds",
	.summary = "fields of every kind",
	.file = kinds_file,
	.cut = kinds_cut,
	.decode = kinds_decode,
	.close = kinds_close,
};

static int kinds_open(struct source **ret, int fd, const struct source_options *opts)
{
	struct kinds_source *s = calloc(1, sizeof(*s));
	struct stat st;
	int r;

	if (!s || fstat(fd, &st) < 0) {
		close(fd);
		free(s);
		return err_nomem();
	}
	*s = (struct kinds_source){ .base = { &ops }, .fd = fd, .size = (uint64_t)st.st_size };
	r = make_schemas(s, opts->schemas);
	if (r < 0)
		kinds_close(&s->base);
	else
		*ret = &s->base;
	return r;
}

int __real_source_open(struct source **ret, const struct source_options *opts);
int __wrap_source_open(struct source **ret, const struct source_options *opts);

int __wrap_source_open(struct source **ret, const struct source_options *opts)
{
	int fd = open(opts->path, O_RDONLY | O_CLOEXEC);
	char magic[sizeof(MAGIC) - 1];

	if (fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	    !memcmp(magic, MAGIC, sizeof(magic)))
		return kinds_open(ret, fd, opts);
	if (fd >= 0)
		close(fd);
	return __real_source_open(ret, opts);
}
