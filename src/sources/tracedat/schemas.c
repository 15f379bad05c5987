/* SPDX-License-Identifier: MIT */
/* Makes a schema of each event format of the file, and those of the records that sonde makes. */

#include <stdio.h>
#include <stdlib.h>

#include "formats/tracefs/eventformat.h"
#include "model/record_schema.h"
#include "model/sampled.h"
#include "model/schema_table.h"
#include "sources/tracedat/tracedat.h"

/* Events that name a task. A task's name from then on is the one in the field comm. */
static const struct naming_event {
	const char *name, *pid, *comm;
} naming_events[] = {
	{ "sched:sched_switch", "next_pid", "next_comm" },
	{ "sched:sched_wakeup", "pid", "comm" },
	{ "sched:sched_wakeup_new", "pid", "comm" },
	{ "sched:sched_process_fork", "child_pid", "child_comm" },
	{ "task:task_rename", "pid", "newcomm" },
};

static const struct sonde_field *schemas_find_field(const struct sonde_schema *sc, const char *name)
{
	return schema_find_field(sc, name, strlen(name));
}

static int schemas_find_naming(struct tracedat_source *s, const struct sonde_schema *sc,
			       const struct tracedat_naming **ret)
{
	for (size_t i = 0; i < sizeof(naming_events) / sizeof(*naming_events); i++) {
		const struct naming_event *e = &naming_events[i];
		struct tracedat_naming naming, *kept;

		if (strcmp(sc->name, e->name) != 0)
			continue;
		naming.pid = schemas_find_field(sc, e->pid);
		naming.comm = schemas_find_field(sc, e->comm);
		if (!naming.pid || !naming.comm || naming.pid->kind != SONDE_FIELD_INT ||
		    naming.comm->kind != SONDE_FIELD_STRING)
			return 0;
		kept = arena_alloc(&s->arena, sizeof(*kept));
		if (!kept)
			return err_nomem();
		*kept = naming;
		*ret = kept;
	}
	return 0;
}

/* Bits of the common fields with flags of the moment: the latency columns of ftrace's text. */
static const struct common_bits {
	const char *name, *of;
	uint8_t first, width;
} common_bits[] = {
	{ "common_irqs_off", "common_flags", 0, 1 },
	{ "common_need_resched", "common_flags", 2, 1 },
	{ "common_hardirq", "common_flags", 3, 1 },
	{ "common_softirq", "common_flags", 4, 1 },
	{ "common_preempt_depth", "common_preempt_count", 0, 4 },
};
enum { NR_COMMON_BITS = sizeof(common_bits) / sizeof(*common_bits) };

/* Puts the fields of bits after the common fields. */
static int schemas_add_bits(struct tracedat_source *s, struct sonde_schema *sc)
{
	struct sonde_field *fields = arena_array(&s->opts.schemas->arena,
						 sc->nr_fields + NR_COMMON_BITS, sizeof(*fields));
	size_t n = sc->nr_common;

	if (!fields)
		return err_nomem();
	if (!sc->nr_common)
		return 0;
	for (size_t i = 0; i < sc->nr_fields; i++)
		if (sc->fields[i].is_common != (i < sc->nr_common))
			return 0;
	memcpy(fields, sc->fields, n * sizeof(*fields));
	for (size_t i = 0; i < NR_COMMON_BITS; i++) {
		const struct common_bits *bits = &common_bits[i];
		const struct sonde_field *of = schemas_find_field(sc, bits->of);

		if (!of || of->width != 1 || !of->is_common || schemas_find_field(sc, bits->name))
			continue;
		fields[n] = *of;
		fields[n].kind = SONDE_FIELD_BITS;
		fields[n].is_signed = false;
		fields[n].byte_order = SONDE_ORDER_LITTLE;
		fields[n].bit_offset = bits->first;
		fields[n].bit_width = bits->width;
		fields[n].name = bits->name;
		fields[n++].type = "unsigned char";
	}
	memcpy(fields + n, sc->fields + sc->nr_common,
	       (sc->nr_fields - sc->nr_common) * sizeof(*fields));
	sc->nr_fields += n - sc->nr_common;
	sc->nr_common = n;
	sc->fields = fields;
	return 0;
}

/* Makes sc the schema of events with its id. The first one counts, as in trace-cmd. */
static int schemas_take(struct tracedat_source *s, struct sonde_schema *sc)
{
	struct tracedat_type *type = &s->types[sc->tracepoint_id];

	sc->kind = SONDE_TRACEPOINT;
	sc->is_unseen = true;
	sc->event_class = EVENT_TRACEPOINT;
	sc->sampled = SAMPLED_TID | SAMPLED_TIME | SAMPLED_CPU | SAMPLED_RAW;
	sc->dialect = (int)s->opts.rules->printfmt_dialect;
	TRY(schemas_add_bits(s, sc));
	return schema_table_take(s->opts.schemas, sc, s, &type->schema);
}

static int schemas_read_format(void *ctx, const char *system, struct bytes text)
{
	struct tracedat_source *s = ctx;
	struct sonde_schema *sc = NULL;
	int r = eventformat_parse(&s->opts.schemas->arena, text, system, s->abi, &sc);

	if (r == -EBADMSG || (r >= 0 && sc->tracepoint_id >= TRACEDAT_NR_IDS)) {
		defects_add(s->opts.defects, DEFECT_BAD_FORMAT, 1, "%s",
			    r < 0 ? err_text() : "an id of more than 16 bits");
		err_clear();
		return 0;
	}
	if (r < 0 || s->types[sc->tracepoint_id].schema)
		return r;
	TRY(schemas_take(s, sc));
	return schemas_find_naming(s, s->types[sc->tracepoint_id].schema,
				   &s->types[sc->tracepoint_id].naming);
}

/* Asks for the running kernel's format (--kernel-formats). *ret is NULL if there is none. */
static int schemas_find_elsewhere(struct tracedat_source *s, uint32_t id, struct sonde_schema **ret)
{
	const struct source_tracepoint wanted = {
		.id = id,
		.release = *s->release ? s->release : NULL,
	};
	const char *system = "";
	struct bytes text;
	int r = -ENOENT;

	*ret = NULL;
	if (!s->opts.find_format || s->is_swapped)
		return 0;
	r = s->opts.find_format(s->opts.find_format_ctx, &wanted, &system, &text);
	if (r >= 0)
		r = eventformat_parse(&s->opts.schemas->arena, text, system, s->abi, ret);
	if (r == -ENOMEM)
		return r;
	err_clear();
	if (r < 0 || (*ret)->tracepoint_id != id)
		*ret = NULL;
	return 0;
}

static int schemas_make_bare(struct tracedat_source *s, uint32_t id, struct sonde_schema **ret)
{
	struct arena *a = &s->opts.schemas->arena;
	struct sonde_schema *sc = arena_alloc(a, sizeof(*sc));
	char name[32];

	if (!sc)
		return err_nomem();
	snprintf(name, sizeof(name), "unknown:%u", id);
	sc->abi = s->abi;
	sc->tracepoint_id = id;
	sc->system = "unknown";
	sc->name = arena_strdup(a, name);
	if (!sc->name)
		return err_nomem();
	sc->event = sc->name + strlen("unknown:");
	*ret = sc;
	return 0;
}

/* Events of such a type name no task: cut() looks at `naming`, maybe in another thread. */
int tracedat_schema_unknown(struct tracedat_source *s, uint32_t id, struct sonde_schema **ret)
{
	struct sonde_schema *sc;

	TRY(schemas_find_elsewhere(s, id, &sc));
	defects_add(s->opts.defects, sc ? DEFECT_KERNEL_FORMATS : DEFECT_NO_FORMAT, 1, "id %u", id);
	if (!sc)
		TRY(schemas_make_bare(s, id, &sc));
	TRY(schemas_take(s, sc));
	s->types[id].schema->is_unseen = false;
	*ret = s->types[id].schema;
	return 0;
}

/* ---- records that sonde makes ---------------------------------------------------------------- */

static const struct sonde_field comm_fields[] = {
	RECORD_NUMBER(struct tracedat_comm_payload, pid, "u32", false),
	RECORD_TEXT(struct tracedat_comm_payload, comm),
};

static const struct sonde_field lost_fields[] = {
	RECORD_NUMBER(struct tracedat_lost_payload, cpu, "s32", true),
	RECORD_NUMBER(struct tracedat_lost_payload, is_counted, "u32", false),
	RECORD_NUMBER(struct tracedat_lost_payload, lost, "u64", false),
};

/* ---- all ------------------------------------------------------------------------------------- */

/* The place of a common field, which is the same in all events. */
static void schemas_find_common(struct tracedat_source *s, const char *name, uint32_t width,
				uint32_t *off)
{
	for (size_t id = 0; id < TRACEDAT_NR_IDS; id++) {
		const struct sonde_schema *sc = s->types[id].schema;
		const struct sonde_field *f = sc ? schemas_find_field(sc, name) : NULL;

		if (f && f->width == width) {
			*off = f->offset;
			return;
		}
	}
}

static int schemas_read_section(struct tracedat_source *s, struct bytes part,
				int (*read)(struct bytes *, tracedat_format_fn *, void *))
{
	int r = bytes_left(&part) ? read(&part, schemas_read_format, s) : 0;

	if (r != -EBADMSG)
		return r;
	defects_add(s->opts.defects, DEFECT_BAD_FORMAT, 1, "%s", err_text());
	err_clear();
	return 0;
}

int tracedat_schemas_make(struct tracedat_source *s)
{
	s->types = calloc(TRACEDAT_NR_IDS, sizeof(*s->types));
	if (!s->types)
		return err_nomem();
	TRY(schemas_read_section(s, s->sections.ftrace_events, tracedat_ftrace_events_read));
	TRY(schemas_read_section(s, s->sections.event_formats, tracedat_event_formats_read));
	s->pid_off = 4;
	schemas_find_common(s, "common_type", 2, &s->type_off);
	schemas_find_common(s, "common_pid", 4, &s->pid_off);
	TRY(record_schema_make(s->opts.schemas, s, "comm", 0, comm_fields, 2, &s->comm_schema));
	return record_schema_make(s->opts.schemas, s, "lost", SCHEMA_LOSS, lost_fields, 3,
				  &s->lost_schema);
}
