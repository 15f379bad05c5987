/* SPDX-License-Identifier: MIT */
/* Columns against what the recording holds: those without values are dropped, or are errors if they were asked for. */
#include <linux/perf_event.h>

#include "base/err.h"
#include "sinks/text/fields.h"

#define PERF_TYPE_SYNTH \
	(INT32_MAX + 1u) /* perf's own: events that its decoders of hardware traces make */
#define BRANCH_COUNTERS     (UINT64_C(1) << 19) /* PERF_SAMPLE_BRANCH_COUNTERS */
#define HAS_ADDRESS         (PERF_SAMPLE_IP | PERF_SAMPLE_ADDR)
#define BRANCH_INSTRUCTIONS (TEXT_BRSTACKINSN | TEXT_BRSTACKINSNLEN | TEXT_BRSTACKDISASM)

/* In the order in which perf looks. */
static const struct need {
	uint64_t bits;  /* TEXT_*, any of them */
	uint64_t needs; /* PERF_SAMPLE_*, any of them */
	const char *name;
	bool trace_may_have; /* hardware traces may give it without that */
} needs_first[] = {
	{ TEXT_IP, PERF_SAMPLE_IP, "IP", false },
	{ TEXT_ADDR, PERF_SAMPLE_ADDR, "ADDR", true },
	{ TEXT_DATA_SRC, PERF_SAMPLE_DATA_SRC, "DATA_SRC", true },
	{ TEXT_WEIGHT, PERF_SAMPLE_WEIGHT_TYPE, "WEIGHT", true },
}, needs_then[] = {
	{ TEXT_PID | TEXT_TID, PERF_SAMPLE_TID, "TID", false },
	{ TEXT_TIME, PERF_SAMPLE_TIME, "TIME", false },
	{ TEXT_CPU, PERF_SAMPLE_CPU, "CPU", true },
	{ TEXT_IREGS, PERF_SAMPLE_REGS_INTR, "IREGS", true },
	{ TEXT_UREGS, PERF_SAMPLE_REGS_USER, "UREGS", false },
	{ TEXT_PHYS_ADDR, PERF_SAMPLE_PHYS_ADDR, "PHYS_ADDR", true },
	{ TEXT_DATA_PAGE_SIZE, PERF_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE", false },
	{ TEXT_CODE_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE", false },
	{ TEXT_INS_LAT, PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT", false },
	{ TEXT_CGROUP, PERF_SAMPLE_CGROUP, "CGROUP", true },
	{ TEXT_RETIRE_LAT, PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT", false },
};

enum text_class text_class_of(const struct sonde_schema *sc)
{
	const struct perf_event_attr *attr = sc->attr;

	if (!attr)
		return sc->kind == SONDE_TRACEPOINT ? TEXT_TRACEPOINT : TEXT_OTHER;
	if (attr->type == PERF_TYPE_SYNTH)
		return TEXT_SYNTH_CLASS;
	return attr->type < PERF_TYPE_MAX ? (enum text_class)attr->type : TEXT_OTHER;
}

uint64_t text_sample_bits(const struct sonde_schema *sc)
{
	const struct perf_event_attr *attr = sc->attr;

	return attr ? attr->sample_type
		    : PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
}

static int check_needs(struct text_class_fields *c, const struct need *needs, size_t nr,
		       const struct text_recording *rec, const struct sonde_schema *sc)
{
	uint64_t bits = text_sample_bits(sc);

	for (const struct need *n = needs; n < needs + nr; n++) {
		uint64_t missing = c->fields & n->bits, asked = missing & c->asked;
		const char *prefix;

		if (!missing || bits & n->needs)
			continue;
		if (!asked)
			c->fields &= ~missing;
		if (!asked || (n->trace_may_have && rec->aux_trace))
			continue;
		prefix = text_class_prefix(text_class_of(sc));
		return err_set(-EINVAL,
			       "the samples of '%s' do not have %s: the field '%s' cannot be "
			       "printed (record it, or name the fields of each class of events: "
			       "-F %s:FIELDS)",
			       sc->name, n->name, text_field_name(asked & -asked),
			       prefix ? prefix : "hw");
	}
	return 0;
}

/* What columns need of each other. */
static int check_names(const struct text_class_fields *c, const struct text_recording *rec,
		       const struct sonde_schema *sc)
{
	bool address = text_sample_bits(sc) & HAS_ADDRESS;

	if (c->fields & TEXT_SYM && !address)
		return err_set(-EINVAL,
			       "the samples of '%s' have neither IP nor ADDR: the field 'sym' has "
			       "no address "
			       "to name",
			       sc->name);
	if (c->fields & TEXT_SYMOFF && !(c->fields & TEXT_SYM))
		return err_set(-EINVAL, "the field 'symoff' needs the field 'sym'");
	if (c->fields & TEXT_DSO && !address)
		return err_set(-EINVAL,
			       "the samples of '%s' have neither IP nor ADDR: the field 'dso' has "
			       "no address "
			       "to look for",
			       sc->name);
	if (c->fields & (TEXT_SRCLINE | TEXT_SRCCODE) && !(c->fields & TEXT_IP))
		return err_set(-EINVAL, "the field '%s' of %s events needs the field 'ip'",
			       c->fields & TEXT_SRCLINE ? "srcline" : "srccode",
			       text_class_name(text_class_of(sc)));
	if (c->fields & BRANCH_INSTRUCTIONS && !rec->aux_trace &&
	    !(rec->branch_types & PERF_SAMPLE_BRANCH_ANY))
		return err_set(-EINVAL,
			       "the instructions of branch stacks are known only when all branches "
			       "were recorded (perf record -b)");
	if (c->fields & TEXT_BRCNTR && !(rec->branch_types & BRANCH_COUNTERS))
		return err_set(-EINVAL,
			       "the field 'brcntr' needs branch counters, which were not recorded "
			       "(perf record -j any,counter)");
	if (c->fields & TEXT_BRCNTR)
		return err_set(-EINVAL,
			       "the counters of branches (the field 'brcntr') are in the recording "
			       "and sonde does not read them: use the field 'brstack', the "
			       "branches without them");
	return 0;
}

/* The first event type of a class decides for all of it, as in perf. */
static int check_first(struct text_class_fields *c, const struct rules *rules,
		       const struct text_recording *rec, const struct sonde_schema *sc)
{
	TRY(check_needs(c, needs_first, sizeof(needs_first) / sizeof(*needs_first), rec, sc));
	/* perf refuses to print such events at all. */
	if (!rules->refuses_without_address && !(text_sample_bits(sc) & HAS_ADDRESS))
		c->fields &= ~(TEXT_SYM | TEXT_SYMOFF | TEXT_DSO) | c->asked;
	TRY(check_names(c, rec, sc));
	return check_needs(c, needs_then, sizeof(needs_then) / sizeof(*needs_then), rec, sc);
}

/* Of a pipe that does not say it has counts only; perf asks nothing of such events, either. */
static bool is_only_counted(const struct text_recording *rec, const struct sonde_schema *sc)
{
	const struct perf_event_attr *attr = sc->attr;

	return rec->is_pipe && attr && !attr->sample_type;
}

/* perf records it along, for its mappings and names; it has no samples. */
static bool is_dummy(const struct sonde_schema *sc)
{
	const struct perf_event_attr *attr = sc->attr;

	return attr && attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

int text_fields_meet(struct text_fields *f, const struct text_recording *rec,
		     const struct sonde_schema *sc)
{
	enum text_class class = text_class_of(sc);
	struct text_class_fields *c = &f->classes[class];

	if (sc->kind != SONDE_TRACEPOINT && sc->kind != SONDE_SAMPLE)
		return 0;
	if (!c->met && !is_dummy(sc) && !is_only_counted(rec, sc)) {
		c->met = true;
		if (c->fields && !rec->counts)
			TRY(check_first(c, f->rules, rec, sc));
		if (c->fields & TEXT_DSOFF)
			c->fields |= TEXT_DSO;
	}
	if (!f->callchain || !(text_sample_bits(sc) & PERF_SAMPLE_CALLCHAIN))
		return 0;
	/* perf meets events of a pipe one by one, and then adds these to whatever was chosen. */
	if (f->rules->learns_of_events_late && rec->is_pipe)
		c->fields |= (TEXT_IP | TEXT_SYM) & ~c->refused;
	else if (class == TEXT_TRACEPOINT && !c->chosen)
		c->fields |= TEXT_IP | TEXT_SYM | TEXT_SYMOFF | TEXT_DSO;
	return 0;
}

int text_fields_met_all(const struct text_fields *f, const struct text_recording *rec)
{
	bool tod = false;

	for (int i = 0; i < NR_TEXT_CLASSES; i++) {
		const struct text_class_fields *c = &f->classes[i];

		if (c->by_name_alone && !c->met && i != TEXT_SYNTH_CLASS)
			return err_set(-EINVAL,
				       "fields are given for %s events, but the recording has none",
				       text_class_name(i));
		tod |= c->met && c->fields & TEXT_TOD;
	}
	if (tod && !rec->clock_data)
		return err_set(-EINVAL, "the field 'tod' needs the time of day, which was not "
					"recorded: record with "
					"-k CLOCK");
	return 0;
}
