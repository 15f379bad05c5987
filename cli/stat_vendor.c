/* SPDX-License-Identifier: MIT */
#include "stat_vendor.h"

#include "stat_args.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- events that the processor's source in sysfs may name ------------------------------------ */

struct vendor_search {
	const char *event;
	bool found;
};

static void vendor_look(void *ctx, const struct sonde_listed_event *e)
{
	struct vendor_search *s = ctx;

	s->found |= !strcmp(e->name, s->event);
}

static bool vendor_has(const char *event)
{
	const struct sonde_list_options opts = { .size = sizeof(opts), .kinds = SONDE_EVENT_PMU };
	struct vendor_search s = { .event = event };

	(void)sonde_list_events(&opts, vendor_look, &s);
	return s.found;
}

/* An option is refused if the kernel publishes no such event. */
static int vendor_need(struct opt_parser *p, const char *option, const char *event)
{
	return vendor_has(event) ? 0
				 : opt_error(p,
					     "%s: the kernel publishes no event %s for this "
					     "processor",
					     option, event);
}

static int vendor_need_each(struct opt_parser *p, const char *option, const char *const *events)
{
	int e = 0;

	for (; *events && e == 0; events++)
		e = vendor_need(p, option, *events);
	return e;
}

int stat_set_transaction(struct opt_parser *p, void *values, const char *value, bool negated)
{
	static const char *const events[] = { "cpu/cycles-t/", "cpu/tx-start/", NULL };
	struct stat_args *a = values;
	const bool has_elision = vendor_has("cpu/el-start/") && vendor_has("cpu/cycles-ct/");

	if (negated)
		return 0;
	if (vendor_need_each(p, "-T", events) < 0)
		return -1;
	return opt_events_add(p, &a->events,
			      has_elision ? "task-clock,{instructions,cycles,cpu/cycles-t/,"
					    "cpu/tx-start/,cpu/el-start/,cpu/cycles-ct/}"
					  : "task-clock,{instructions,cycles,cpu/cycles-t/,"
					    "cpu/tx-start/}");
}

int stat_set_topdown(struct opt_parser *p, void *values, const char *value, bool negated)
{
	((struct stat_args *)values)->topdown = !negated;
	return 0;
}

int stat_set_smi(struct opt_parser *p, void *values, const char *value, bool negated)
{
	static const char *const events[] = { "msr/aperf/", "msr/smi/", NULL };
	struct stat_args *a = values;

	if (negated)
		return 0;
	if (access(STAT_FREEZE_ON_SMI, F_OK) < 0)
		return opt_error(p, "--smi-cost: this processor cannot stop its counters in system "
				    "management interrupts (no " STAT_FREEZE_ON_SMI ")");
	if (vendor_need_each(p, "--smi-cost", events) < 0)
		return -1;
	a->smi_cost = a->metric_only = true;
	return opt_events_add(p, &a->events, "{msr/aperf/,msr/smi/,cycles}");
}

/* ---- --topdown ------------------------------------------------------------------------------- */

#define LEVEL_1                                                                          \
	"{cpu/slots/,cpu/topdown-retiring/,cpu/topdown-bad-spec/,cpu/topdown-fe-bound/," \
	"cpu/topdown-be-bound/"
#define LEVEL_2                                                                      \
	",cpu/topdown-heavy-ops/,cpu/topdown-br-mispredict/,cpu/topdown-fetch-lat/," \
	"cpu/topdown-mem-bound/"

/* Older processors count the slots of a core, whatever runs on it. */
static int vendor_add_slots(struct opt_parser *p, struct stat_args *a)
{
	a->per_core = true;
	return opt_events_add(p, &a->events,
			      vendor_has("cpu/topdown-recovery-bubbles/")
				      ? "{cpu/topdown-total-slots/,cpu/topdown-slots-retired/,"
					"cpu/topdown-recovery-bubbles/,cpu/topdown-fetch-bubbles/,"
					"cpu/topdown-slots-issued/}:W"
				      : "{cpu/topdown-total-slots/,cpu/topdown-slots-retired/,"
					"cpu/topdown-fetch-bubbles/,cpu/topdown-slots-issued/}:W");
}

int stat_vendor_choose(struct opt_parser *p, struct stat_args *a)
{
	static const char *const older[] = { "cpu/topdown-total-slots/",
					     "cpu/topdown-slots-retired/",
					     "cpu/topdown-fetch-bubbles/",
					     "cpu/topdown-slots-issued/", NULL };
	const char *level = a->topdown_level ? a->topdown_level : "";
	const bool is_newer = a->topdown && vendor_has("cpu/topdown-retiring/");
	const bool has_two = is_newer && vendor_has("cpu/topdown-heavy-ops/");

	if (!a->topdown)
		return *level ? opt_error(p, "--td-level needs --topdown") : 0;
	if (*level && strcmp(level, "1") != 0 && (!has_two || strcmp(level, "2") != 0))
		return opt_error(p, "--td-level: the events of this processor have level%s, not %s",
				 has_two ? "s 1 and 2" : " 1", level);
	a->metric_only = true;
	if (is_newer)
		return opt_events_add(p, &a->events,
				      has_two && strcmp(level, "1") != 0 ? LEVEL_1 LEVEL_2 "}"
									 : LEVEL_1 "}");
	if (!vendor_has(*older))
		return vendor_need(p, "--topdown", "cpu/topdown-retiring/");
	if (vendor_need_each(p, "--topdown", older) < 0)
		return -1;
	return vendor_add_slots(p, a);
}

/* ---- counters that stop in system management interrupts -------------------------------------- */

int stat_freeze_on_smi(char value)
{
	FILE *f = fopen(STAT_FREEZE_ON_SMI, "r+e");
	int before = f ? fgetc(f) : EOF;

	if (before != EOF && before != value) {
		rewind(f);
		if (fputc(value, f) == EOF || fflush(f) == EOF)
			before = EOF;
	}
	if (f)
		fclose(f);
	return before == EOF ? -1 : before;
}

/* ---- what perf answers from its own tables --------------------------------------------------- */

int stat_refuse_metrics(struct opt_parser *p, void *values, const char *value, bool negated)
{
	return negated ? 0
		       : opt_error(p, "-M is not taken: metrics by name are perf's own tables; the "
				      "figures behind # need no option");
}

int stat_refuse_iostat(struct opt_parser *p, void *values, const char *value, bool negated)
{
	return negated ? 0
		       : opt_error(p, "--iostat is not taken: which events make a metric of a "
				      "device is in perf's own tables");
}
