/* SPDX-License-Identifier: MIT */
#include "sinks/text/fields.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/err.h"
#include "base/outbuf.h"

#define CLASS(c)        (1u << TEXT_##c)
#define NOT_TRACEPOINTS (((1u << NR_TEXT_CLASSES) - 1) & ~CLASS(TRACEPOINT))

static const struct field {
	const char *name;
	uint32_t bit;
	uint32_t never; /* classes that cannot have it */
	uint64_t needs; /* PERF_SAMPLE_*, any of them; 0: always there */
	const char *needs_name;
} fields[] = {
	{ "ip", TEXT_IP, 0, PERF_SAMPLE_IP, "IP" },
	{ "addr", TEXT_ADDR, 0, PERF_SAMPLE_ADDR, "ADDR" },
	{ "weight", TEXT_WEIGHT, 0, PERF_SAMPLE_WEIGHT_TYPE, "WEIGHT" },
	{ "pid", TEXT_PID, 0, PERF_SAMPLE_TID, "TID" },
	{ "tid", TEXT_TID, 0, PERF_SAMPLE_TID, "TID" },
	{ "time", TEXT_TIME, 0, PERF_SAMPLE_TIME, "TIME" },
	{ "cpu", TEXT_CPU, 0, PERF_SAMPLE_CPU, "CPU" },
	{ "phys_addr", TEXT_PHYS_ADDR, 0, PERF_SAMPLE_PHYS_ADDR, "PHYS_ADDR" },
	{ "data_page_size", TEXT_DATA_PAGE_SIZE, 0, PERF_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE" },
	{ "code_page_size", TEXT_CODE_PAGE_SIZE, 0, PERF_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE" },
	{ "comm", TEXT_COMM, 0, 0, NULL },
	{ "event", TEXT_EVENT, 0, 0, NULL },
	{ "period", TEXT_PERIOD, 0, 0, NULL },
	{ "trace", TEXT_TRACE, NOT_TRACEPOINTS, 0, NULL },
	{ "sym", TEXT_SYM, 0, 0, NULL },
	{ "symoff", TEXT_SYMOFF, 0, 0, NULL },
	{ "dso", TEXT_DSO, 0, 0, NULL },
};

/* Columns that perf has and we do not print yet: named apart from misspelt ones. */
static const char *const not_yet[] = {
	"srcline",     "iregs",         "uregs",      "brstack",        "brstacksym",
	"data_src",    "bpf-output",    "callindent", "insn",           "insnlen",
	"brstackinsn", "brstackoff",    "synth",      "metric",         "misc",
	"srccode",     "ipc",           "tod",        "ins_lat",        "flags",
	"machine_pid", "vcpu",          "cgroup",     "retire_lat",     "dsoff",
	"disasm",      "brstackdisasm", "brcntr",     "brstackinsnlen",
};

static const struct {
	const char *prefix, *name;
	uint32_t fields;
} classes[NR_TEXT_CLASSES] = {
#define WHO   (TEXT_COMM | TEXT_TID | TEXT_CPU | TEXT_TIME | TEXT_EVENT)
#define WHERE (TEXT_IP | TEXT_SYM | TEXT_SYMOFF | TEXT_DSO)
	[TEXT_HARDWARE] = { "hw", "hardware", WHO | TEXT_PERIOD | WHERE },
	[TEXT_SOFTWARE] = { "sw", "software", WHO | TEXT_PERIOD | WHERE },
	[TEXT_TRACEPOINT] = { "trace", "tracepoint", WHO | TEXT_TRACE },
	[TEXT_HW_CACHE] = { NULL, "hardware-cache", WHO | TEXT_PERIOD | WHERE },
	[TEXT_RAW] = { "raw", "raw",
		       WHO | TEXT_PERIOD | WHERE | TEXT_ADDR | TEXT_WEIGHT | TEXT_PHYS_ADDR |
			       TEXT_DATA_PAGE_SIZE | TEXT_CODE_PAGE_SIZE },
	[TEXT_BREAKPOINT] = { "break", "breakpoint", WHO | TEXT_PERIOD | WHERE },
	[TEXT_OTHER] = { NULL, "other", WHO | TEXT_PERIOD | WHERE },
	[TEXT_SYNTH] = { "synth", "synthesized", WHO | WHERE },
};

enum change { SET, ADD, REMOVE };

static const struct field *find_field(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (strlen(fields[i].name) == len && !memcmp(fields[i].name, name, len))
			return &fields[i];
	}
	return NULL;
}

static int unknown_field(const char *name, size_t len)
{
	struct outbuf list = { 0 };
	int r;

	for (size_t i = 0; i < sizeof(not_yet) / sizeof(*not_yet); i++) {
		if (strlen(not_yet[i]) == len && !memcmp(not_yet[i], name, len))
			return err_set(
				-EINVAL,
				"the field '%s' of perf script is not printed by this version",
				not_yet[i]);
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		outbuf_fmt(&list, " %s", fields[i].name);
	outbuf_char(&list, '\0');
	r = err_set(-EINVAL, "Invalid field requested: '%.*s'; there are%s", (int)len, name,
		    list.failed ? " others" : list.data);
	outbuf_done(&list);
	return r;
}

static void change_class(struct text_fields *f, int class, const struct field *field,
			 enum change change)
{
	if (change == REMOVE)
		f->classes[class].fields &= ~field->bit;
	else
		f->classes[class].fields |= field->bit;
	f->classes[class].chosen = true;
	f->classes[class].by_name_alone = false;
}

/* class < 0: all that can have the field. */
static int change_field(struct text_fields *f, int class, const struct field *field,
			enum change change)
{
	if (class >= 0) {
		if (field->never & 1u << class)
			return err_set(-EINVAL, "'%s' is not valid for %s events", field->name,
				       classes[class].name);
		change_class(f, class, field, change);
		return 0;
	}
	for (class = 0; class < NR_TEXT_CLASSES; class ++) {
		if (!(field->never & 1u << class))
			change_class(f, class, field, change);
	}
	f->asked = change == REMOVE ? f->asked & ~field->bit : f->asked | field->bit;
	return 0;
}

static int find_class(const char *prefix, size_t len)
{
	for (int i = 0; i < NR_TEXT_CLASSES; i++) {
		if (classes[i].prefix && strlen(classes[i].prefix) == len &&
		    !memcmp(classes[i].prefix, prefix, len))
			return i;
	}
	return err_set(-EINVAL,
		       "Invalid event type '%.*s' in fields: there are hw sw trace raw break synth",
		       (int)len, prefix);
}

/* Forgets the fields of one class, or of all, before others are set. */
static void clear_fields(struct text_fields *f, int class)
{
	for (int i = 0; i < NR_TEXT_CLASSES; i++) {
		if (class >= 0 && i != class)
			continue;
		f->classes[i].fields = 0;
		f->classes[i].chosen = true;
		f->classes[i].by_name_alone = class >= 0;
	}
}

static bool is_change(const char *p, const char *end)
{
	while (p < end && *p == ',')
		p++;
	return p < end && (*p == '+' || *p == '-');
}

static int parse_one(struct text_fields *f, const char *spec, size_t len)
{
	const char *end = spec + len, *colon = memchr(spec, ':', len),
		   *p = colon ? colon + 1 : spec, *next;
	bool changes = is_change(p, end);
	int class = -1;

	if (colon)
		TRY(class = find_class(spec, (size_t)(colon - spec)));
	if (!changes)
		clear_fields(f, class);
	for (; p < end; p = next + 1) {
		const struct field *field;
		enum change change = *p == '+' ? ADD : *p == '-' ? REMOVE : SET;

		next = memchr(p, ',', (size_t)(end - p));
		if (!next)
			next = end;
		if (p == next)
			continue;
		if ((change != SET) != changes)
			return err_set(-EINVAL,
				       "Cannot mix +field and -field with fields that replace the "
				       "default: '%.*s'",
				       (int)len, spec);
		p += change != SET;
		field = find_field(p, (size_t)(next - p));
		if (!field)
			return unknown_field(p, (size_t)(next - p));
		TRY(change_field(f, class, field, change));
	}
	return 0;
}

int text_fields_parse(struct text_fields *ret, const char *spec, bool callchain)
{
	struct text_fields f = { .callchain = callchain };

	for (int i = 0; i < NR_TEXT_CLASSES; i++)
		f.classes[i].fields = classes[i].fields;
	if (spec && !*spec)
		return err_set(-EINVAL, "Cannot set the fields of all events to none");
	while (spec && *spec) {
		size_t len = strcspn(spec, " ");

		if (len)
			TRY(parse_one(&f, spec, len));
		spec += len + (spec[len] == ' ');
	}
	*ret = f;
	return 0;
}

enum text_class text_class_of(const struct sonde_schema *sc)
{
	const struct perf_event_attr *attr = sc->attr;

	if (!attr)
		return sc->kind == SONDE_TRACEPOINT ? TEXT_TRACEPOINT : TEXT_OTHER;
	return attr->type < PERF_TYPE_MAX ? (enum text_class)attr->type : TEXT_OTHER;
}

uint64_t text_sample_bits(const struct sonde_schema *sc)
{
	const struct perf_event_attr *attr = sc->attr;

	return attr ? attr->sample_type
		    : PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
}

/* The first event type of a class decides for all of it, as in perf. */
static int check_first(struct text_fields *f, enum text_class class, const struct sonde_schema *sc)
{
	uint64_t bits = text_sample_bits(sc);
	uint32_t *shown = &f->classes[class].fields;

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		const struct field *field = &fields[i];

		if (!(*shown & field->bit) || !field->needs || bits & field->needs)
			continue;
		if (f->asked & field->bit)
			return err_set(
				-EINVAL,
				"the samples of '%s' do not have %s: the field '%s' cannot be "
				"printed (record it, or name the fields of each class of events: "
				"-F %s:FIELDS)",
				sc->name, field->needs_name, field->name,
				classes[class].prefix ? classes[class].prefix : "hw");
		*shown &= ~field->bit;
	}
	if (*shown & TEXT_SYMOFF && !(*shown & TEXT_SYM))
		return err_set(-EINVAL, "the field 'symoff' needs the field 'sym'");
	return 0;
}

/* perf records it along, for its mappings and names; it has no samples. */
static bool is_dummy(const struct sonde_schema *sc)
{
	const struct perf_event_attr *attr = sc->attr;

	return attr && attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

int text_fields_meet(struct text_fields *f, const struct sonde_schema *sc)
{
	enum text_class class = text_class_of(sc);

	if (sc->kind != SONDE_TRACEPOINT && sc->kind != SONDE_SAMPLE)
		return 0;
	if (!f->classes[class].met && !is_dummy(sc)) {
		f->classes[class].met = true;
		if (f->classes[class].fields && class != TEXT_OTHER)
			TRY(check_first(f, class, sc));
	}
	if (class == TEXT_TRACEPOINT && f->callchain && !f->classes[class].chosen &&
	    text_sample_bits(sc) & PERF_SAMPLE_CALLCHAIN)
		f->classes[class].fields |= WHERE;
	return 0;
}

int text_fields_met_all(const struct text_fields *f)
{
	for (int i = 0; i < NR_TEXT_CLASSES; i++) {
		if (f->classes[i].by_name_alone && !f->classes[i].met && i != TEXT_SYNTH)
			return err_set(-EINVAL,
				       "fields are given for %s events, but the recording has none",
				       classes[i].name);
	}
	return 0;
}
