/* SPDX-License-Identifier: MIT */
/*
 * Compares columns with the values in the recording. A default column without values is dropped; a
 * requested column without values is an error.
 */
#include "base/err.h"
#include "model/sampled.h"
#include "sinks/text/fields.h"

#define HAS_ADDRESS         (SAMPLED_IP | SAMPLED_ADDR)
#define BRANCH_INSTRUCTIONS (TEXT_BRSTACKINSN | TEXT_BRSTACKINSNLEN | TEXT_BRSTACKDISASM)

/* In the order of perf's checks. */
static const struct need {
	uint64_t bits;  /* TEXT_*, any of them */
	uint64_t needs; /* SAMPLED_*, any of them */
	const char *name;
	bool trace_may_have; /* hardware traces may have the column without that value */
} needs_first[] = {
	{ TEXT_IP, SAMPLED_IP, "IP", false },
	{ TEXT_ADDR, SAMPLED_ADDR, "ADDR", true },
	{ TEXT_DATA_SRC, SAMPLED_DATA_SRC, "DATA_SRC", true },
	{ TEXT_WEIGHT, SAMPLED_WEIGHTS, "WEIGHT", true },
}, needs_then[] = {
	{ TEXT_PID | TEXT_TID, SAMPLED_TID, "TID", false },
	{ TEXT_TIME, SAMPLED_TIME, "TIME", false },
	{ TEXT_CPU, SAMPLED_CPU, "CPU", true },
	{ TEXT_IREGS, SAMPLED_REGS_INTR, "IREGS", true },
	{ TEXT_UREGS, SAMPLED_REGS_USER, "UREGS", false },
	{ TEXT_PHYS_ADDR, SAMPLED_PHYS_ADDR, "PHYS_ADDR", true },
	{ TEXT_DATA_PAGE_SIZE, SAMPLED_DATA_PAGE_SIZE, "DATA_PAGE_SIZE", false },
	{ TEXT_CODE_PAGE_SIZE, SAMPLED_CODE_PAGE_SIZE, "CODE_PAGE_SIZE", false },
	{ TEXT_INS_LAT, SAMPLED_WEIGHT_STRUCT, "WEIGHT_STRUCT", false },
	{ TEXT_CGROUP, SAMPLED_CGROUP, "CGROUP", true },
	{ TEXT_RETIRE_LAT, SAMPLED_WEIGHT_STRUCT, "WEIGHT_STRUCT", false },
};

static int check_needs(struct text_class_fields *c, const struct need *needs, size_t nr,
		       const struct text_recording *rec, const struct sonde_schema *sc)
{
	uint64_t bits = sc->sampled;

	for (const struct need *n = needs; n < needs + nr; n++) {
		uint64_t missing = c->fields & n->bits, asked = missing & c->asked;
		const char *prefix;

		if (!missing || bits & n->needs)
			continue;
		if (!asked)
			c->fields &= ~missing;
		if (!asked || (n->trace_may_have && rec->aux_trace))
			continue;
		prefix = text_class_prefix(sc->event_class);
		return err_set(-EINVAL,
			       "the samples of '%s' do not have %s: the field '%s' cannot be "
			       "printed (record it, or name the fields of each class of events: "
			       "-F %s:FIELDS)",
			       sc->name, n->name, text_field_name(asked & -asked),
			       prefix ? prefix : "hw");
	}
	return 0;
}

/* Checks columns that depend on other columns. */
static int check_names(const struct text_class_fields *c, const struct text_recording *rec,
		       const struct sonde_schema *sc)
{
	bool address = sc->sampled & HAS_ADDRESS;

	if (c->fields & TEXT_SYM && !address)
		return err_set(-EINVAL,
			       "the samples of '%s' have neither IP nor ADDR: the field 'sym' has "
			       "no address to name",
			       sc->name);
	if (c->fields & TEXT_SYMOFF && !(c->fields & TEXT_SYM))
		return err_set(-EINVAL, "the field 'symoff' needs the field 'sym'");
	if (c->fields & TEXT_DSO && !address)
		return err_set(-EINVAL,
			       "the samples of '%s' have neither IP nor ADDR: the field 'dso' has "
			       "no address to look up",
			       sc->name);
	if (c->fields & (TEXT_SRCLINE | TEXT_SRCCODE) && !(c->fields & TEXT_IP))
		return err_set(-EINVAL, "the field '%s' of %s events needs the field 'ip'",
			       c->fields & TEXT_SRCLINE ? "srcline" : "srccode",
			       text_class_name(sc->event_class));
	if (c->fields & BRANCH_INSTRUCTIONS && !rec->aux_trace &&
	    !(rec->traits & SCHEMA_ALL_BRANCHES))
		return err_set(-EINVAL,
			       "the instructions of branch stacks are known only when all branches "
			       "were recorded (perf record -b)");
	if (c->fields & TEXT_BRCNTR && !(rec->traits & SCHEMA_BRANCH_COUNTERS))
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

/* Checks the columns of a class against its first event type, as perf does. */
static int check_first(struct text_class_fields *c, const struct rules *rules,
		       const struct text_recording *rec, const struct sonde_schema *sc)
{
	TRY(check_needs(c, needs_first, sizeof(needs_first) / sizeof(*needs_first), rec, sc));
	/* perf refuses to print events without an address. */
	if (!rules->refuses_without_address && !(sc->sampled & HAS_ADDRESS))
		c->fields &= ~(TEXT_SYM | TEXT_SYMOFF | TEXT_DSO) | c->asked;
	TRY(check_names(c, rec, sc));
	return check_needs(c, needs_then, sizeof(needs_then) / sizeof(*needs_then), rec, sc);
}

/*
 * True for events of a pipe with counts only; its header does not report that it has no samples.
 * perf checks nothing for them either.
 */
static bool fields_is_only_counted(const struct text_recording *rec, const struct sonde_schema *sc)
{
	return rec->is_pipe && !sc->sampled;
}

/*
 * Adds an event type to its class. The first type of a class decides; with several recordings all
 * its types decide together.
 */
static int fields_meet_class(struct text_class_fields *c, const struct rules *rules,
			     const struct text_recording *rec, const struct sonde_schema *sc)
{
	const bool is_first = !c->met;

	c->met = true;
	if (rec->is_several && !c->is_checked) {
		c->first = c->first ? c->first : sc;
		c->sampled |= sc->sampled;
	}
	if (!is_first)
		return 0;
	if (!rec->is_several && c->fields && !rec->counts)
		TRY(check_first(c, rules, rec, sc));
	if (c->fields & TEXT_DSOFF)
		c->fields |= TEXT_DSO;
	return 0;
}

/* For several recordings: refuses a requested column that no event type of the class has. */
static int check_together(struct text_class_fields *c, const struct rules *rules,
			  const struct text_recording *rec)
{
	struct text_class_fields all = *c;
	struct sonde_schema sc;

	if (!c->first || c->is_checked || !c->fields || rec->counts)
		return 0;
	c->is_checked = true;
	sc = *c->first;
	sc.sampled = c->sampled;
	return check_first(&all, rules, rec, &sc);
}

/* Removes columns that the type's own samples have no value for. */
static uint64_t fields_drop_missing(const struct text_class_fields *c, const struct need *needs,
				    size_t nr, const struct text_recording *rec, uint64_t sampled)
{
	uint64_t fields = c->fields;

	for (const struct need *n = needs; n < needs + nr; n++) {
		bool may_have = n->trace_may_have && rec->aux_trace && c->asked & n->bits;

		if (!(sampled & n->needs) && !may_have)
			fields &= ~n->bits;
	}
	return fields;
}

uint64_t text_fields_of(const struct text_fields *f, const struct text_recording *rec,
			const struct sonde_schema *sc)
{
	const struct text_class_fields *c = &f->classes[sc->event_class];
	const uint64_t sampled = sc->sampled;
	/* A chain starts with the address. */
	const bool has_chain = f->callchain && sampled & SAMPLED_CALLCHAIN;
	uint64_t fields = c->fields;

	if (!rec->is_several || !fields || rec->counts || fields_is_only_counted(rec, sc))
		return fields;
	fields &= fields_drop_missing(c, needs_first, sizeof(needs_first) / sizeof(*needs_first),
				      rec, has_chain ? sampled | SAMPLED_IP : sampled);
	fields &= fields_drop_missing(c, needs_then, sizeof(needs_then) / sizeof(*needs_then), rec,
				      sampled);
	if (!(sampled & HAS_ADDRESS) && !has_chain)
		fields &= ~TEXT_NAMES;
	if (!(fields & TEXT_IP))
		fields &= ~(TEXT_SRCLINE | TEXT_SRCCODE);
	return fields;
}

int text_fields_meet(struct text_fields *f, const struct text_recording *rec,
		     const struct sonde_schema *sc)
{
	enum event_class class = sc->event_class;
	struct text_class_fields *c = &f->classes[class];

	if (sc->kind != SONDE_TRACEPOINT && sc->kind != SONDE_SAMPLE)
		return 0;
	if (!(sc->traits & SCHEMA_DUMMY) && !fields_is_only_counted(rec, sc))
		TRY(fields_meet_class(c, f->rules, rec, sc));
	if (!f->callchain || !(sc->sampled & SAMPLED_CALLCHAIN))
		return 0;
	/* perf meets events of a pipe one by one, and adds these columns to the chosen ones. */
	if (f->rules->learns_of_events_late && rec->is_pipe)
		c->fields |= (TEXT_IP | TEXT_SYM) & ~c->refused;
	else if (class == EVENT_TRACEPOINT && !c->chosen)
		c->fields |= TEXT_IP | TEXT_SYM | TEXT_SYMOFF | TEXT_DSO;
	return 0;
}

int text_fields_met_all(struct text_fields *f, const struct text_recording *rec)
{
	bool tod = false;

	for (int i = 0; i < NR_EVENT_CLASSES; i++) {
		struct text_class_fields *c = &f->classes[i];

		TRY(check_together(c, f->rules, rec));
		if (c->by_name_alone && !c->met && i != EVENT_SYNTH)
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
