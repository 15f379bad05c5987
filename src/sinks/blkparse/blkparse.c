/* SPDX-License-Identifier: MIT */
/*
 * Prints blkparse's default lines for events of the block layer. It depends only on the names and
 * fields of events (docs/formats/blktrace.md); the fields of a schema are looked up once.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "model/schema.h"
#include "model/value.h"
#include "sinks/blkparse/line.h"
#include "sinks/fd_writer.h"
#include "sinks/sink.h"
#include "sinks/text_only.h"
#include "sinks/text/terminal.h"

enum field {
	FIELD_MAJOR,
	FIELD_MINOR,
	FIELD_SEQUENCE,
	FIELD_PID,
	FIELD_ACTION,
	FIELD_SECTOR,
	FIELD_NR_SECTOR,
	FIELD_BYTES,
	FIELD_ERROR,
	FIELD_RWBS,
	NR_NEEDED, /* an event without one of these has no line */
	FIELD_COMM = NR_NEEDED,
	FIELD_NR_RQ,
	FIELD_NEW_SECTOR,
	FIELD_OLD_MAJOR,
	FIELD_OLD_MINOR,
	FIELD_OLD_SECTOR,
	FIELD_PDU,
	FIELD_MESSAGE,
	NR_FIELDS
};

static const char *const field_names[NR_FIELDS] = {
	"major",      "minor",     "sequence",  "pid",        "action", "sector",
	"nr_sector",  "bytes",     "error",     "rwbs",       "comm",   "nr_rq",
	"new_sector", "old_major", "old_minor", "old_sector", "pdu",    "message",
};

/* Bits of the event's field `action`. */
enum { ACTION_CATEGORIES = 0xffff << 16, ACTION_PC = 1 << 25 };

struct type {
	const struct blkparse_action *action; /* NULL if its events have no line */
	const struct sonde_field *fields[NR_FIELDS];
};

struct blkparse_sink {
	struct sink base;
	struct fd_writer writer;
	const struct recordings *recordings;
	VEC(struct type) types; /* indexed by schema id */
	bool on_terminal;       /* control characters in the recording are escaped */
	bool has_zero;
	int64_t zero_ns; /* shown times count from here */
};

static struct blkparse_sink *blkparse_sink_of(struct sink *s)
{
	return (struct blkparse_sink *)s;
}

/* ---- event types ----------------------------------------------------------------------------- */

static struct type blkparse_type_of(const struct sonde_schema *sc)
{
	struct type type = { 0 };

	if (sc->kind != SONDE_TRACEPOINT || strcmp(sc->system, "block") != 0)
		return type;
	for (size_t i = 0; i < NR_FIELDS; i++) {
		type.fields[i] = schema_find_field(sc, field_names[i], strlen(field_names[i]));
		if (i < NR_NEEDED && !type.fields[i])
			return type;
	}
	type.action = blkparse_action_find(sc->event);
	return type;
}

static int blkparse_meet(struct blkparse_sink *s, uint32_t schema)
{
	while (s->types.n <= schema) {
		const struct sonde_schema *sc =
			schema_at(&s->recordings->schemas, (uint32_t)s->types.n);
		const struct type type = sc ? blkparse_type_of(sc) : (struct type){ 0 };

		TRY(vec_push(&s->types, type));
	}
	return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static uint64_t blkparse_number_of(const struct type *type, enum field field,
				   const struct sonde_event *ev)
{
	const struct sonde_field *f = type->fields[field];

	return f ? field_u64(f, ev->bytes, ev->bytes_len, ev->flags & SONDE_EVENT_SWAPPED) : 0;
}

static const uint8_t *blkparse_bytes_of(const struct type *type, enum field field,
					const struct sonde_event *ev, uint32_t *ret_len)
{
	const struct sonde_field *f = type->fields[field];

	*ret_len = 0;
	return f ? field_bytes(f, ev->bytes, ev->bytes_len, ev->flags & SONDE_EVENT_SWAPPED,
			       ret_len)
		 : NULL;
}

/* Reads the text of a fixed field, which ends at a NUL or at the field's end. */
static const char *blkparse_text_of(const struct type *type, enum field field,
				    const struct sonde_event *ev, char *room, size_t size)
{
	uint32_t len;
	const uint8_t *p = blkparse_bytes_of(type, field, ev, &len);

	if (len > size - 1)
		len = (uint32_t)size - 1;
	if (len)
		memcpy(room, p, len);
	room[len] = '\0';
	return room;
}

/*
 * The time from which shown times count: the first event of all recordings, even if filters dropped
 * it.
 */
static int64_t blkparse_first_time(const struct blkparse_sink *s, const struct event *ev)
{
	const struct recordings *all = s->recordings;
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < all->nr; i++) {
		const struct recording_clock *c = &all->v[i].clock;
		const int64_t at = saturate_add(saturate_signed(c->first_ns), c->shift_ns);

		if (c->has_first && at < first)
			first = at;
	}
	return first == INT64_MAX ? saturate_signed(ev->pub.time_ns) : first - all->line.zero_ns;
}

static void blkparse_put_line(struct blkparse_sink *s, const struct blkparse_line *line)
{
	struct outbuf *out = &s->writer.out;
	const size_t start = out->len;

	if (!blkparse_line_put(out, line) || !s->on_terminal || out->failed)
		return;
	out->len--; /* remove the line's own end; any other line feed is from the recording */
	text_terminal_quiet(out, start, false);
	outbuf_char(out, '\n');
}

static int blkparse_put_event(struct blkparse_sink *s, const struct event *event)
{
	const struct sonde_event *ev = &event->pub;
	const struct type *type;
	struct blkparse_line line;
	char rwbs[16], comm[32];
	uint64_t action;

	if (__builtin_expect(ev->schema >= s->types.n, 0))
		TRY(blkparse_meet(s, ev->schema));
	type = &s->types.v[ev->schema];
	if (!type->action)
		return 0;
	action = blkparse_number_of(type, FIELD_ACTION, ev);
	if (!(action & ACTION_CATEGORIES))
		return 0;
	if (!s->has_zero) {
		s->zero_ns = blkparse_first_time(s, event);
		s->has_zero = true;
	}
	line = (struct blkparse_line){
		.action = type->action,
		.since_ns = saturate_signed(ev->time_ns) - s->zero_ns,
		.major = (uint32_t)blkparse_number_of(type, FIELD_MAJOR, ev),
		.minor = (uint32_t)blkparse_number_of(type, FIELD_MINOR, ev),
		.cpu = (uint32_t)ev->cpu,
		.sequence = (uint32_t)blkparse_number_of(type, FIELD_SEQUENCE, ev),
		.pid = (uint32_t)blkparse_number_of(type, FIELD_PID, ev),
		.is_pc = action & ACTION_PC,
		.error = (uint16_t)blkparse_number_of(type, FIELD_ERROR, ev),
		.bytes = (uint32_t)blkparse_number_of(type, FIELD_BYTES, ev),
		.nr_sector = (uint32_t)blkparse_number_of(type, FIELD_NR_SECTOR, ev),
		.sector = blkparse_number_of(type, FIELD_SECTOR, ev),
		.count = blkparse_number_of(
			type, type->fields[FIELD_NR_RQ] ? FIELD_NR_RQ : FIELD_NEW_SECTOR, ev),
		.old_major = (uint32_t)blkparse_number_of(type, FIELD_OLD_MAJOR, ev),
		.old_minor = (uint32_t)blkparse_number_of(type, FIELD_OLD_MINOR, ev),
		.old_sector = blkparse_number_of(type, FIELD_OLD_SECTOR, ev),
		.rwbs = blkparse_text_of(type, FIELD_RWBS, ev, rwbs, sizeof(rwbs)),
		.comm = blkparse_text_of(type, FIELD_COMM, ev, comm, sizeof(comm)),
	};
	if (!*line.comm)
		line.comm = NULL;
	line.pdu = blkparse_bytes_of(type, type->fields[FIELD_MESSAGE] ? FIELD_MESSAGE : FIELD_PDU,
				     ev, &line.pdu_len);
	if (type->fields[FIELD_MESSAGE] && line.pdu_len) /* the text without its NUL */
		line.pdu_len = (uint32_t)strnlen((const char *)line.pdu, line.pdu_len);
	blkparse_put_line(s, &line);
	return fd_writer_tick(&s->writer);
}

static int blkparse_events(struct sink *sink, const struct event *const *events, size_t nr)
{
	struct blkparse_sink *s = blkparse_sink_of(sink);

	for (size_t i = 0; i < nr; i++)
		TRY(blkparse_put_event(s, events[i]));
	return 0;
}

/* ---- options --------------------------------------------------------------------------------- */

static const struct key keys[] = { ONE_FORM_KEYS(struct one_form_options, ) };

static const char blkparse_instead[] = "the lines of format=blkparse have one form (choose events "
				       "with time, cpu, pid, comm)";

/* ---- the sink -------------------------------------------------------------------------------- */

static int blkparse_flush(struct sink *sink)
{
	return fd_writer_flush(&blkparse_sink_of(sink)->writer);
}

static int blkparse_finish(struct sink *sink, bool complete)
{
	(void)complete;
	return blkparse_flush(sink);
}

static void blkparse_close(struct sink *sink)
{
	struct blkparse_sink *s = blkparse_sink_of(sink);

	if (!s)
		return;
	fd_writer_done(&s->writer);
	vec_done(&s->types);
	free(s);
}

static struct sink_wants blkparse_wants(const struct sink_options *opts)
{
	(void)opts;
	return (struct sink_wants){ .samples = true };
}

static bool blkparse_has_lines(struct blkparse_sink *s)
{
	vec_foreach(type, &s->types) {
		if (type->action)
			return true;
	}
	return false;
}

static int blkparse_open(struct sink **ret, const struct sink_options *opts)
{
	struct blkparse_sink *s;
	size_t nr = opts->recordings->schemas.schemas.n;
	int r;

	TRY(one_form_refuse(opts->own, blkparse_instead));
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem();
	s->base.ops = &blkparse_sink_ops;
	s->recordings = opts->recordings;
	s->on_terminal = opts->on_terminal || isatty(opts->fd);
	r = fd_writer_init(&s->writer, opts->fd);
	if (r >= 0 && nr)
		r = blkparse_meet(s, (uint32_t)nr - 1);
	if (r >= 0 && !blkparse_has_lines(s))
		r = err_set(-EINVAL,
			    "format blkparse is for recordings of the block layer (blktrace); "
			    "%s has none of its events",
			    opts->input);
	if (r < 0) {
		blkparse_close(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}

const struct sink_ops blkparse_sink_ops = {
	.name = "blkparse",
	.summary = "a line per event of the block layer, as blkparse prints it",
	.takes_several = true,
	.keys = keys,
	.nr_keys = sizeof(keys) / sizeof(*keys),
	.options_bytes = sizeof(struct one_form_options),
	.wants = blkparse_wants,
	.open = blkparse_open,
	.events = blkparse_events,
	.finish = blkparse_finish,
	.flush = blkparse_flush,
	.close = blkparse_close,
};
