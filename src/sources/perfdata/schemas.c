/* SPDX-License-Identifier: MIT */
/*
 * Makes the schemas of a recording's event types, and those of records of state, whose layout is
 * the kernel's.
 */

#include <stdio.h>

#include "formats/tracefs/eventformat.h"
#include "model/printfmt/printfmt.h"
#include "model/schema_table.h"
#include "sources/perfdata/perfdata.h"

/*
 * A field of a record. The offset is in the payload, which begins after the record header. width 0
 * is text up to its NUL.
 */
struct record_field {
	const char *name;
	uint8_t offset, width;
	bool is_signed;
};

struct record_kind {
	uint32_t type;
	const char *name;
	struct record_field fields[12]; /* ends with a NULL name */
};

static const struct record_kind kinds[] = {
	{ PERF_RECORD_MMAP,
	  "mmap",
	  { { "pid", 0, 4, true },
	    { "tid", 4, 4, true },
	    { "addr", 8, 8 },
	    { "len", 16, 8 },
	    { "pgoff", 24, 8 },
	    { "filename", 32, 0 } } },
	{ PERF_RECORD_LOST, "lost", { { "id", 0, 8 }, { "lost", 8, 8 } } },
	{ PERF_RECORD_COMM,
	  "comm",
	  { { "pid", 0, 4, true }, { "tid", 4, 4, true }, { "comm", 8, 0 } } },
	{ PERF_RECORD_EXIT,
	  "exit",
	  { { "pid", 0, 4, true },
	    { "ppid", 4, 4, true },
	    { "tid", 8, 4, true },
	    { "ptid", 12, 4, true },
	    { "time", 16, 8 } } },
	{ PERF_RECORD_THROTTLE,
	  "throttle",
	  { { "time", 0, 8 }, { "id", 8, 8 }, { "stream_id", 16, 8 } } },
	{ PERF_RECORD_UNTHROTTLE,
	  "unthrottle",
	  { { "time", 0, 8 }, { "id", 8, 8 }, { "stream_id", 16, 8 } } },
	{ PERF_RECORD_FORK,
	  "fork",
	  { { "pid", 0, 4, true },
	    { "ppid", 4, 4, true },
	    { "tid", 8, 4, true },
	    { "ptid", 12, 4, true },
	    { "time", 16, 8 } } },
	{ PERF_RECORD_READ,
	  "read",
	  { { "pid", 0, 4, true }, { "tid", 4, 4, true }, { "value", 8, 8 } } },
	{ PERF_RECORD_MMAP2,
	  "mmap2",
	  { { "pid", 0, 4, true },
	    { "tid", 4, 4, true },
	    { "addr", 8, 8 },
	    { "len", 16, 8 },
	    { "pgoff", 24, 8 },
	    { "prot", 56, 4 },
	    { "flags", 60, 4 },
	    { "filename", 64, 0 } } },
	{ PERF_RECORD_AUX,
	  "aux",
	  { { "aux_offset", 0, 8 }, { "aux_size", 8, 8 }, { "flags", 16, 8 } } },
	{ PERF_RECORD_ITRACE_START,
	  "itrace_start",
	  { { "pid", 0, 4, true }, { "tid", 4, 4, true } } },
	{ PERF_RECORD_LOST_SAMPLES, "lost_samples", { { "lost", 0, 8 } } },
	/*
	 * The payload of these two begins with misc: bit 13 is set if a task left its cpu, bit 14
	 * if it did so unwillingly.
	 */
	{ PERF_RECORD_SWITCH, "switch", { { "misc", 0, 2 } } },
	{ PERF_RECORD_SWITCH_CPU_WIDE,
	  "switch_cpu_wide",
	  { { "misc", 0, 2 }, { "next_prev_pid", 4, 4, true }, { "next_prev_tid", 8, 4, true } } },
	{ PERF_RECORD_NAMESPACES,
	  "namespaces",
	  { { "pid", 0, 4, true }, { "tid", 4, 4, true }, { "nr", 8, 8 } } },
	{ PERF_RECORD_KSYMBOL,
	  "ksymbol",
	  { { "addr", 0, 8 },
	    { "len", 8, 4 },
	    { "ksym_type", 12, 2 },
	    { "flags", 14, 2 },
	    { "name", 16, 0 } } },
	{ PERF_RECORD_BPF_EVENT,
	  "bpf_event",
	  { { "type", 0, 2 }, { "flags", 2, 2 }, { "id", 4, 4 } } },
	{ PERF_RECORD_CGROUP, "cgroup", { { "id", 0, 8 }, { "path", 8, 0 } } },
	{ PERF_RECORD_TEXT_POKE,
	  "text_poke",
	  { { "addr", 0, 8 }, { "old_len", 8, 2 }, { "new_len", 10, 2 } } },
	{ PERF_RECORD_AUX_OUTPUT_HW_ID, "aux_output_hw_id", { { "hw_id", 0, 8 } } },
	/* Records of the recorder, whose payloads records.c and counts.c make. */
	{ RECORD_AUXTRACE_ERROR,
	  "auxtrace_error",
	  { { "type", 0, 4 },
	    { "code", 4, 4 },
	    { "cpu", 8, 4, true },
	    { "pid", 12, 4, true },
	    { "tid", 16, 4, true },
	    { "cpumode", 20, 4 },
	    { "ip", 24, 8 },
	    { "time", 32, 8 },
	    { "machine_pid", 40, 4, true },
	    { "vcpu", 44, 4, true },
	    { "msg", 48, 0 } } },
	{ RECORD_STAT,
	  "stat",
	  { { "cpu", 0, 4, true },
	    { "thread", 4, 4, true },
	    { "time", 8, 8 },
	    { "val", 16, 8 },
	    { "ena", 24, 8 },
	    { "run", 32, 8 },
	    { "event", 40, 0 } } },
	{ RECORD_STAT_ROUND, "stat_round", { { "type", 0, 8 }, { "time", 8, 8 } } },
};

static unsigned schemas_traits_of_record(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return SCHEMA_LOSS;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return SCHEMA_SWITCH;
	default:
		return 0;
	}
}

int perfdata_record_schema(struct perfdata_source *s, uint32_t type, struct sonde_schema **ret)
{
	struct arena *a = &s->opts.schemas->arena;
	const struct record_kind *kind = NULL;
	struct sonde_schema *sc;
	size_t n = 0;

	*ret = type < NR_RECORD_SCHEMAS ? s->record_schemas[type] : NULL;
	if (type >= NR_RECORD_SCHEMAS || *ret)
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].type == type)
			kind = &kinds[i];
	}
	if (!kind)
		return 0;
	while (kind->fields[n].name)
		n++;
	sc = arena_alloc(a, sizeof(*sc));
	if (!sc)
		return err_nomem();
	*sc = (struct sonde_schema){
		.kind = SONDE_RECORD,
		.abi = s->abi,
		.record_type = type,
		.traits = schemas_traits_of_record(type),
		.system = "",
		.event = kind->name,
		.name = kind->name,
		.fields = arena_array(a, n ? n : 1, sizeof(*sc->fields)),
		.nr_fields = n,
	};
	if (!sc->fields)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		const struct record_field *f = &kind->fields[i];

		sc->fields[i] = (struct sonde_field){
			.size = sizeof(sc->fields[i]),
			.offset = f->offset,
			.width = f->width,
			.elem_width = f->width ? f->width : 1,
			.kind = f->width ? SONDE_FIELD_INT : SONDE_FIELD_STRING,
			.is_signed = f->is_signed,
			.is_array = !f->width,
			.is_text = !f->width,
			.name = f->name,
			.type = f->width == 8   ? "u64"
				: f->width == 2 ? "u16"
				: !f->width     ? "char[]"
				: f->is_signed  ? "s32"
						: "u32",
		};
	}
	TRY(schema_table_take(s->opts.schemas, sc, s, &sc));
	s->record_schemas[type] = *ret = sc;
	return 0;
}

/* Makes the schema of a tracepoint without a format in the recording: a name and no fields. */
static int schema_of_bare(struct perfdata_source *s, const struct perfdata_event *e,
			  struct sonde_schema *sc)
{
	struct arena *a = &s->opts.schemas->arena;
	const char *name = e->name, *colon;
	char text[80];

	if (!name) {
		if (e->attr.type == PERF_TYPE_TRACEPOINT)
			snprintf(text, sizeof(text), "unknown:%llu",
				 (unsigned long long)e->attr.config);
		else
			perfdata_attr_name(&e->attr, text, sizeof(text));
		name = arena_strdup(a, text);
	}
	sc->name = sc->event = name;
	sc->system = "";
	if (name && e->attr.type == PERF_TYPE_TRACEPOINT && (colon = strchr(name, ':'))) {
		sc->system = arena_strndup(a, name, (size_t)(colon - name));
		sc->event = colon + 1;
	}
	return name && sc->system ? 0 : err_nomem();
}

/* Counts a defect in both cases. *ret is NULL if no format is found. */
static int schemas_find_elsewhere(struct perfdata_source *s, const struct perfdata_event *e,
				  struct sonde_schema **ret)
{
	const struct source_tracepoint wanted = { e->attr.config, e->name, s->info.osrelease };
	const char *name = e->name ? e->name : "of a tracepoint without a name", *system = "";
	struct bytes text;
	int r = -ENOENT;

	*ret = NULL;
	if (s->opts.find_format && !s->abi.swap)
		r = s->opts.find_format(s->opts.find_format_ctx, &wanted, &system, &text);
	if (r >= 0) {
		text.what = "a format of the running kernel";
		r = eventformat_parse(&s->opts.schemas->arena, text, system, s->abi, ret);
	}
	if (r == -ENOMEM)
		return r;
	if (r >= 0)
		defects_add(s->opts.defects, DEFECT_KERNEL_FORMATS, 1, "%s", (*ret)->name);
	else if (s->opts.find_format && !s->abi.swap)
		defects_add(s->opts.defects, DEFECT_NO_FORMAT, 1, "%s: %s", name, err_text());
	else
		defects_add(s->opts.defects, DEFECT_NO_FORMAT, 1, "%s", name);
	err_clear();
	return 0;
}

int perfdata_schema_make(struct perfdata_source *s, struct perfdata_event *e)
{
	struct arena *a = &s->opts.schemas->arena;
	struct sonde_schema *sc = arena_alloc(a, sizeof(*sc)), *format = NULL;

	if (!sc)
		return err_nomem();
	if (e->attr.type == PERF_TYPE_TRACEPOINT) {
		uint64_t i = hash64_find(&s->format_by_id, e->attr.config);

		if (i != HASH64_EMPTY)
			format = s->formats.v[i];
		if (!format)
			TRY(schemas_find_elsewhere(s, e, &format));
	}
	if (format) {
		*sc = *format;
		if (e->name)
			sc->name = e->name;
	} else {
		sc->abi = s->abi;
		TRY(schema_of_bare(s, e, sc));
	}
	sc->kind = e->attr.type == PERF_TYPE_TRACEPOINT ? SONDE_TRACEPOINT : SONDE_SAMPLE;
	sc->dialect = (int)s->opts.rules->printfmt_dialect;
	/* The schema gets a copy: schemas belong to the session, events.v to the source. */
	sc->attr = arena_strndup(a, (const char *)&e->attr, sizeof(e->attr));
	sc->attr_len = sizeof(e->attr);
	perfdata_attr_describe(&e->attr, sc);
	if (!sc->attr)
		return err_nomem();
	TRY(schema_table_take(s->opts.schemas, sc, s, &sc));
	if (e->schema && e->schema != sc) {
		/* Its description followed the first samples. */
		if (format && e->attr.type == PERF_TYPE_TRACEPOINT && !e->schema->nr_fields)
			defects_correct(s->opts.defects, DEFECT_NO_FORMAT, 1, 0);
		e->schema->newer = sc;
		sc->is_newer = true;
	}
	e->schema = sc;
	e->schema_id = sc->id;
	e->is_renamed = false;
	return 0;
}

int perfdata_schemas_make(struct perfdata_source *s)
{
	vec_foreach(e, &s->events)
		TRY(perfdata_schema_make(s, e));
	s->schemas_made = true;
	return 0;
}
