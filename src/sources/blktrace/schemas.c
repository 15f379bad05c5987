/* SPDX-License-Identifier: MIT */
/*
 * Makes the schemas of all actions when a recording is opened. Their fields are this folder's own.
 */

#include "model/sampled.h"
#include "model/schema_table.h"
#include "sources/blktrace/blktrace.h"

/* Print formats. Their arguments are fields of the event. */
#define HEAD_FMT  "\"%u,%u %s "
#define HEAD_ARGS ", REC->major, REC->minor, REC->rwbs"
static const char request_fmt[] =
	HEAD_FMT "%llu + %u [%s]\"" HEAD_ARGS ", REC->sector, REC->nr_sector, REC->comm",
		  result_fmt[] = HEAD_FMT "%llu + %u [%u]\"" HEAD_ARGS
					  ", REC->sector, REC->nr_sector, REC->error",
		  plug_fmt[] = HEAD_FMT "[%s]\"" HEAD_ARGS ", REC->comm",
		  requests_fmt[] = HEAD_FMT "[%s] %llu\"" HEAD_ARGS ", REC->comm, REC->nr_rq",
		  split_fmt[] = HEAD_FMT "%llu / %llu [%s]\"" HEAD_ARGS
					 ", REC->sector, REC->new_sector, REC->comm",
		  remap_fmt[] = HEAD_FMT "%llu + %u <- (%u,%u) %llu\"" HEAD_ARGS
					 ", REC->sector, REC->nr_sector, REC->old_major, "
					 "REC->old_minor, REC->old_sector",
		  action_fmt[] = HEAD_FMT "%llu + %u [%s] action=0x%llx\"" HEAD_ARGS
					  ", REC->sector, REC->nr_sector, REC->comm, REC->action",
		  message_fmt[] = "\"%u,%u %s\", REC->major, REC->minor, REC->message";

static const struct action {
	const char *name; /* of the schema */
	enum blktrace_shape shape;
	const char *print_fmt;
} actions[] = {
	[0] = { "block:action", SHAPE_PDU, action_fmt },
	[BLKTRACE_QUEUE] = { "block:queue", SHAPE_PDU, request_fmt },
	[BLKTRACE_BACKMERGE] = { "block:backmerge", SHAPE_PDU, request_fmt },
	[BLKTRACE_FRONTMERGE] = { "block:frontmerge", SHAPE_PDU, request_fmt },
	[BLKTRACE_GETRQ] = { "block:getrq", SHAPE_PDU, request_fmt },
	[BLKTRACE_SLEEPRQ] = { "block:sleeprq", SHAPE_PDU, request_fmt },
	[BLKTRACE_REQUEUE] = { "block:requeue", SHAPE_PDU, result_fmt },
	[BLKTRACE_ISSUE] = { "block:issue", SHAPE_PDU, request_fmt },
	[BLKTRACE_COMPLETE] = { "block:complete", SHAPE_PDU, result_fmt },
	[BLKTRACE_PLUG] = { "block:plug", SHAPE_PLAIN, plug_fmt },
	[BLKTRACE_UNPLUG] = { "block:unplug", SHAPE_REQUESTS, requests_fmt },
	[BLKTRACE_UNPLUG_TIMER] = { "block:unplug_timer", SHAPE_REQUESTS, requests_fmt },
	[BLKTRACE_INSERT] = { "block:insert", SHAPE_PDU, request_fmt },
	[BLKTRACE_SPLIT] = { "block:split", SHAPE_SPLIT, split_fmt },
	[BLKTRACE_BOUNCE] = { "block:bounce", SHAPE_PDU, request_fmt },
	[BLKTRACE_REMAP] = { "block:remap", SHAPE_REMAP, remap_fmt },
	[BLKTRACE_ABORT] = { "block:abort", SHAPE_PDU, result_fmt },
	[BLKTRACE_DRV_DATA] = { "block:drv_data", SHAPE_PDU, request_fmt },
	[BLKTRACE_ZONE_PLUG] = { "block:zone_plug", SHAPE_PDU, request_fmt },
	[BLKTRACE_ZONE_UNPLUG] = { "block:zone_unplug", SHAPE_PDU, request_fmt },
	[SCHEMA_UNKNOWN_ACT] = { "block:action", SHAPE_PDU, action_fmt },
	[SCHEMA_MESSAGE] = { "block:message", SHAPE_MESSAGE, message_fmt },
};

struct payload_field {
	const char *name, *type;
	uint16_t offset, width;
	bool is_text, is_dynamic;
};

#define NUMBER(name, type)                                                         \
	{                                                                          \
#name, type, offsetof(struct blktrace_payload, name),              \
			sizeof(((struct blktrace_payload *)0)->name), false, false \
	}
#define TEXT(name, type)                                                          \
	{                                                                         \
#name, type, offsetof(struct blktrace_payload, name),             \
			sizeof(((struct blktrace_payload *)0)->name), true, false \
	}

/* Fields of all events. */
static const struct payload_field common[] = {
	NUMBER(dev, "u32"),    NUMBER(sector, "u64"),   NUMBER(nr_sector, "u32"),
	NUMBER(bytes, "u32"),  TEXT(rwbs, "char[8]"),   NUMBER(error, "u32"),
	NUMBER(pid, "u32"),    TEXT(comm, "char[16]"),  NUMBER(major, "u32"),
	NUMBER(minor, "u32"),  NUMBER(sequence, "u32"), NUMBER(action, "u64"),
	NUMBER(cgroup, "u64"),
};
enum { NR_COMMON = sizeof(common) / sizeof(*common), MOST_OWN = 4 };

/* Fields of a shape, after the common ones. */
static const struct payload_field own[NR_SHAPES][MOST_OWN] = {
	[SHAPE_PDU] = { { "pdu", "__data_loc u8[]", offsetof(struct blktrace_payload, pdu), 4,
			  false, true } },
	[SHAPE_REQUESTS] = { { "nr_rq", "u64", offsetof(struct blktrace_payload, count), 8 } },
	[SHAPE_SPLIT] = { { "new_sector", "u64", offsetof(struct blktrace_payload, count), 8 } },
	[SHAPE_REMAP] = { NUMBER(old_dev, "u32"), NUMBER(old_sector, "u64"),
			  NUMBER(old_major, "u32"), NUMBER(old_minor, "u32") },
	[SHAPE_MESSAGE] = { { "message", "char[]", offsetof(struct blktrace_payload, count), 0,
			      true } },
};

/* Fields of the records of state. */
static const struct payload_field comm_fields[] = {
	{ "pid", "u32", offsetof(struct blktrace_comm, pid), 4 },
	{ "comm", "char[]", offsetof(struct blktrace_comm, comm), 0, true },
};
static const struct payload_field lost_fields[] = {
	{ "dev", "u64", offsetof(struct blktrace_lost, dev), 8 },
	{ "lost", "u64", offsetof(struct blktrace_lost, lost), 8 },
};

enum blktrace_shape blktrace_shape_of(unsigned schema)
{
	return actions[schema].shape;
}

static struct sonde_field schemas_field_of(const struct payload_field *f)
{
	return (struct sonde_field){
		.size = sizeof(struct sonde_field),
		.offset = f->offset,
		.width = f->width,
		.elem_width = f->is_text || f->is_dynamic ? 1 : f->width,
		.kind = f->is_text      ? SONDE_FIELD_STRING
			: f->is_dynamic ? SONDE_FIELD_ARRAY
					: SONDE_FIELD_INT,
		.is_array = f->is_text || f->is_dynamic,
		.is_dynamic = f->is_dynamic,
		.is_text = f->is_text,
		.name = f->name,
		.type = f->type,
	};
}

static int schemas_make(struct blktrace_source *s, unsigned place, const struct sonde_schema *like,
			const struct payload_field *first, size_t nr_first,
			const struct payload_field *more, size_t nr_more)
{
	struct arena *a = &s->opts.schemas->arena;
	struct sonde_schema *sc = arena_alloc(a, sizeof(*sc));

	if (!sc)
		return err_nomem();
	*sc = *like;
	sc->abi = (struct abi){
		.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
		.long_bytes = 8,
	};
	sc->dialect = (int)s->opts.rules->printfmt_dialect;
	sc->nr_fields = nr_first + nr_more;
	sc->fields = arena_array(a, sc->nr_fields, sizeof(*sc->fields));
	if (!sc->fields)
		return err_nomem();
	for (size_t i = 0; i < nr_first; i++)
		sc->fields[i] = schemas_field_of(&first[i]);
	for (size_t i = 0; i < nr_more; i++)
		sc->fields[nr_first + i] = schemas_field_of(&more[i]);
	return schema_table_take(s->opts.schemas, sc, s, &s->schemas[place]);
}

static int schemas_make_action(struct blktrace_source *s, unsigned place)
{
	const struct action *a = &actions[place];
	const struct payload_field *more = own[a->shape];
	size_t n = 0;

	while (n < MOST_OWN && more[n].name)
		n++;
	return schemas_make(
		s, place,
		&(struct sonde_schema){
			.kind = SONDE_TRACEPOINT,
			.system = "block",
			.event = a->name + strlen("block:"),
			.name = a->name,
			.print_fmt = a->print_fmt,
			.event_class = EVENT_TRACEPOINT,
			.sampled = SAMPLED_TID | SAMPLED_TIME | SAMPLED_CPU | SAMPLED_RAW,
		},
		common, NR_COMMON, more, n);
}

static int schemas_make_record(struct blktrace_source *s, unsigned place, const char *name,
			       unsigned traits, const struct payload_field *fields, size_t nr)
{
	return schemas_make(s, place,
			    &(struct sonde_schema){
				    .kind = SONDE_RECORD,
				    .traits = traits,
				    .system = "",
				    .event = name,
				    .name = name,
			    },
			    fields, nr, NULL, 0);
}

int blktrace_schemas_make(struct blktrace_source *s)
{
	for (unsigned place = 1; place <= SCHEMA_MESSAGE; place++)
		TRY(schemas_make_action(s, place));
	TRY(schemas_make_record(s, SCHEMA_COMM, "comm", 0, comm_fields,
				sizeof(comm_fields) / sizeof(*comm_fields)));
	return schemas_make_record(s, SCHEMA_LOST, "lost", SCHEMA_LOSS, lost_fields,
				   sizeof(lost_fields) / sizeof(*lost_fields));
}
