/* SPDX-License-Identifier: MIT */
#include "sinks/text/fields.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"

#define CLASS(c)    (1u << EVENT_##c)
#define ALL_CLASSES ((1u << NR_EVENT_CLASSES) - 1)
#define NO_PAYLOAD  (ALL_CLASSES & ~CLASS(TRACEPOINT))
#define NO_BPF      (ALL_CLASSES & ~(CLASS(SOFTWARE) | CLASS(TRACEPOINT)))

static const struct text_field {
	const char *name;
	uint64_t bit;
	uint32_t never; /* classes that cannot have the column */
	bool newer;     /* perf 6.1 does not have the column */
} fields[] = {
	{ "comm", TEXT_COMM, 0, false },
	{ "tid", TEXT_TID, 0, false },
	{ "pid", TEXT_PID, 0, false },
	{ "time", TEXT_TIME, 0, false },
	{ "cpu", TEXT_CPU, 0, false },
	{ "event", TEXT_EVENT, 0, false },
	{ "trace", TEXT_TRACE, NO_PAYLOAD, false },
	{ "ip", TEXT_IP, 0, false },
	{ "sym", TEXT_SYM, 0, false },
	{ "symoff", TEXT_SYMOFF, 0, false },
	{ "dso", TEXT_DSO, 0, false },
	{ "addr", TEXT_ADDR, 0, false },
	{ "period", TEXT_PERIOD, 0, false },
	{ "flags", TEXT_FLAGS, 0, false },
	{ "misc", TEXT_MISC, 0, false },
	{ "tod", TEXT_TOD, 0, false },
	{ "srcline", TEXT_SRCLINE, 0, false },
	{ "srccode", TEXT_SRCCODE, 0, false },
	{ "insn", TEXT_INSN, 0, false },
	{ "insnlen", TEXT_INSNLEN, 0, false },
	{ "iregs", TEXT_IREGS, 0, false },
	{ "uregs", TEXT_UREGS, 0, false },
	{ "weight", TEXT_WEIGHT, 0, false },
	{ "ins_lat", TEXT_INS_LAT, 0, false },
	{ "retire_lat", TEXT_RETIRE_LAT, 0, true },
	{ "data_src", TEXT_DATA_SRC, 0, false },
	{ "phys_addr", TEXT_PHYS_ADDR, 0, false },
	{ "data_page_size", TEXT_DATA_PAGE_SIZE, 0, false },
	{ "code_page_size", TEXT_CODE_PAGE_SIZE, 0, false },
	{ "cgroup", TEXT_CGROUP, 0, true },
	{ "brstack", TEXT_BRSTACK, 0, false },
	{ "brstacksym", TEXT_BRSTACKSYM, 0, false },
	{ "brstackoff", TEXT_BRSTACKOFF, 0, false },
	{ "brstackinsn", TEXT_BRSTACKINSN, 0, false },
	{ "brstackinsnlen", TEXT_BRSTACKINSNLEN, 0, false },
	{ "brstackdisasm", TEXT_BRSTACKDISASM, 0, true },
	{ "brcntr", TEXT_BRCNTR, 0, true },
	{ "disasm", TEXT_DISASM, 0, true },
	{ "dsoff", TEXT_DSOFF, 0, true },
	{ "bpf-output", TEXT_BPF_OUTPUT, NO_BPF, false },
	{ "callindent", TEXT_CALLINDENT, 0, false },
	{ "synth", TEXT_SYNTH, 0, false },
	{ "metric", TEXT_METRIC, 0, false },
	{ "ipc", TEXT_IPC, 0, false },
	{ "machine_pid", TEXT_MACHINE_PID, 0, false },
	{ "vcpu", TEXT_VCPU, 0, false },
};

enum { NR_FIELDS = sizeof(fields) / sizeof(*fields) };

static const struct {
	const char *prefix, *name;
	const char *perf_name; /* the name in perf's messages */
	uint64_t fields;
} classes[NR_EVENT_CLASSES] = {
#define WHO   (TEXT_COMM | TEXT_TID | TEXT_CPU | TEXT_TIME | TEXT_EVENT)
#define WHERE (TEXT_IP | TEXT_SYM | TEXT_SYMOFF | TEXT_DSO)
	[EVENT_HARDWARE] = { "hw", "hardware", "hardware", WHO | TEXT_PERIOD | WHERE },
	[EVENT_SOFTWARE] = { "sw", "software", "software",
			     WHO | TEXT_PERIOD | WHERE | TEXT_BPF_OUTPUT },
	[EVENT_TRACEPOINT] = { "trace", "tracepoint", "tracepoint", WHO | TEXT_TRACE },
	[EVENT_HW_CACHE] = { NULL, "hardware-cache", "hardware-cache", WHO | TEXT_PERIOD | WHERE },
	[EVENT_RAW] = { "raw", "raw", "unknown",
			WHO | TEXT_PERIOD | WHERE | TEXT_ADDR | TEXT_DATA_SRC | TEXT_WEIGHT |
				TEXT_INS_LAT | TEXT_PHYS_ADDR | TEXT_DATA_PAGE_SIZE |
				TEXT_CODE_PAGE_SIZE },
	[EVENT_BREAKPOINT] = { "break", "breakpoint", "unknown", WHO | TEXT_PERIOD | WHERE },
	[EVENT_OTHER] = { NULL, "other", "unknown", WHO | TEXT_PERIOD | WHERE },
	[EVENT_SYNTH] = { "synth", "synthesized", "unknown", WHO | WHERE | TEXT_SYNTH },
};

enum change { SET, ADD, REMOVE };

const char *text_class_name(enum event_class class)
{
	return classes[class].name;
}

const char *text_class_prefix(enum event_class class)
{
	return classes[class].prefix;
}

const char *text_field_name(uint64_t bit)
{
	for (int i = 0; i < NR_FIELDS; i++) {
		if (fields[i].bit == bit)
			return fields[i].name;
	}
	return "";
}

static bool fields_is_known(const struct text_fields *f, const struct text_field *field)
{
	return !field->newer || !f->rules->lacks_newer_columns;
}

static const struct text_field *field_find(const struct text_fields *f, const char *name,
					   size_t len)
{
	for (int i = 0; i < NR_FIELDS; i++) {
		if (strlen(fields[i].name) == len && !memcmp(fields[i].name, name, len) &&
		    fields_is_known(f, &fields[i]))
			return &fields[i];
	}
	return NULL;
}

static int field_unknown(const struct text_fields *f, const char *name, size_t len)
{
	char typed[NEAR_NAME], nearest[512];
	struct outbuf list = { 0 };
	struct near near;
	int r;

	snprintf(typed, sizeof(typed), "%.*s", (int)len, name);
	near_init(&near, typed);
	for (int i = 0; i < NR_FIELDS; i++) {
		if (!fields_is_known(f, &fields[i]))
			continue;
		outbuf_fmt(&list, " %s", fields[i].name);
		near_offer(&near, fields[i].name);
	}
	outbuf_char(&list, '\0');
	near_text(&near, nearest, sizeof(nearest));
	r = err_set(-EINVAL, "Invalid field requested: '%.*s'%s%s there are%s", (int)len, name,
		    nearest, *nearest ? "" : ";", list.failed ? " others" : list.data);
	outbuf_done(&list);
	return r;
}

static void fields_change_class(struct text_class_fields *c, const struct text_field *field,
				enum change change)
{
	if (change == REMOVE) {
		c->fields &= ~field->bit;
		c->refused |= field->bit;
	} else {
		c->fields |= field->bit;
		c->refused &= ~field->bit;
	}
	c->chosen = true;
	c->by_name_alone = false;
}

/* Adds or removes a field. class < 0 means all classes that can have it. */
static int field_change(struct text_fields *f, int class, const struct text_field *field,
			enum change change, struct outbuf *notes)
{
	if (field->bit == TEXT_DISASM)
		return err_set(
			-EINVAL,
			"there is no disassembler in sonde for the field 'disasm': use the field "
			"'insn', the bytes of instructions, and --xed to have xed read them");
	if (field->bit == TEXT_FLAGS) {
		f->flags = change != REMOVE;
		return 0;
	}
	if (class >= 0) {
		if (field->never & 1u << class)
			return err_set(-EINVAL, "'%s' is not valid for %s events", field->name,
				       classes[class].name);
		fields_change_class(&f->classes[class], field, change);
		return 0;
	}
	for (class = 0; class < NR_EVENT_CLASSES; class ++) {
		struct text_class_fields *c = &f->classes[class];

		if (!(field->never & 1u << class)) {
			fields_change_class(c, field, change);
			c->asked =
				change == REMOVE ? c->asked & ~field->bit : c->asked | field->bit;
		} else if (notes && f->rules->notes_as_perf) {
			outbuf_fmt(notes, "'%s' not valid for %s events. Ignoring.\n", field->name,
				   classes[class].perf_name);
		}
	}
	return 0;
}

static int fields_find_class(const char *prefix, size_t len)
{
	for (int i = 0; i < NR_EVENT_CLASSES; i++) {
		if (classes[i].prefix && strlen(classes[i].prefix) == len &&
		    !memcmp(classes[i].prefix, prefix, len))
			return i;
	}
	return err_set(-EINVAL,
		       "Invalid event type '%.*s' in fields: there are hw sw trace raw break synth",
		       (int)len, prefix);
}

/* Clears the fields of one class, or of all classes if class < 0, before others are set. */
static void fields_clear(struct text_fields *f, int class)
{
	for (int i = 0; i < NR_EVENT_CLASSES; i++) {
		if (class >= 0 && i != class)
			continue;
		f->classes[i].fields = 0;
		f->classes[i].chosen = true;
		f->classes[i].by_name_alone = class >= 0;
	}
}

/*
 * Notes that a specification replaces an earlier one for the class, or for any class if it applies
 * to all. perf prints this note even if the specification only adds columns.
 */
static void fields_note_override(const struct text_fields *f, int class, bool changes,
				 struct outbuf *notes)
{
	bool chosen = false;

	for (int i = 0; i < NR_EVENT_CLASSES; i++)
		chosen |= f->classes[i].chosen && (class < 0 || class == i);
	if (!chosen || !notes)
		return;
	if (class >= 0 && (f->rules->notes_as_perf || !changes))
		outbuf_fmt(notes, "Overriding previous field request for %s events.\n",
			   f->rules->notes_as_perf ? classes[class].perf_name
						   : classes[class].name);
	else if (class < 0 && !changes)
		outbuf_str(notes, "Overriding previous field request for all events.\n");
}

/*
 * True if the defaults are changed, not replaced. For perf any + or - means this, even the one in
 * "bpf-output".
 */
static bool fields_is_change(const struct text_fields *f, const char *p, const char *end)
{
	bool start = true;

	for (; p < end; start = *p++ == ',') {
		if ((*p == '+' || *p == '-') && (start || f->rules->any_sign_is_change))
			return true;
	}
	return false;
}

static int fields_parse_one(struct text_fields *f, const char *spec, size_t len,
			    struct outbuf *notes)
{
	const char *end = spec + len, *colon = memchr(spec, ':', len),
		   *p = colon ? colon + 1 : spec, *next;
	bool changes = fields_is_change(f, p, end);
	enum change style = SET, change;
	bool any = false;
	int class = -1;

	if (colon)
		TRY(class = fields_find_class(spec, (size_t)(colon - spec)));
	fields_note_override(f, class, changes, notes);
	if (!changes)
		fields_clear(f, class);
	for (; p < end; p = next + 1) {
		const struct text_field *field;

		next = memchr(p, ',', (size_t)(end - p));
		if (!next)
			next = end;
		if (p == next)
			continue;
		change = *p == '+' ? ADD : *p == '-' ? REMOVE : SET;
		if (any && (change == SET) != (style == SET))
			return err_set(-EINVAL,
				       "Cannot mix +field and -field with fields that replace the "
				       "default: '%.*s'",
				       (int)len, spec);
		any = true;
		style = change;
		p += change != SET;
		field = field_find(f, p, (size_t)(next - p));
		if (!field)
			return field_unknown(f, p, (size_t)(next - p));
		TRY(field_change(f, class, field, change, notes));
	}
	return 0;
}

int text_fields_parse(struct text_fields *ret, const char *spec, bool callchain,
		      const struct rules *rules, struct outbuf *notes)
{
	struct text_fields f = { .callchain = callchain, .rules = rules };

	for (int i = 0; i < NR_EVENT_CLASSES; i++)
		f.classes[i].fields = classes[i].fields;
	if (rules->raw_shows_retire_lat)
		f.classes[EVENT_RAW].fields |= TEXT_RETIRE_LAT;
	if (spec && !*spec)
		return err_set(-EINVAL, "Cannot set the fields of all events to none");
	while (spec && *spec) {
		size_t len = strcspn(spec, " ");

		if (len)
			TRY(fields_parse_one(&f, spec, len, notes));
		spec += len + (spec[len] == ' ');
	}
	*ret = f;
	return 0;
}
