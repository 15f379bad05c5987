/* SPDX-License-Identifier: MIT */
/* Parses the settings of struct sampling. */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "capture/limits.h"
#include "capture/setup/registers.h"
#include "capture/setup/sampling.h"
#include "capture/setup/values.h"

enum { STACK_BYTES = 8192 };

/* ---- call chains ----------------------------------------------------------------------------- */

/* The size of the copied stack: a multiple of 8. Hexadecimal is accepted. */
static int parse_stack_bytes(const char *option, const char *text, uint32_t *ret)
{
	char *end;
	unsigned long bytes;

	errno = 0;
	bytes = strtoul(text, &end, 0);
	if (*text < '0' || *text > '9' || *end || errno || !bytes ||
	    bytes > SAMPLING_STACK_BYTES_MAX)
		return err_set(-EBADR, "%s: dwarf needs a stack size from 1 to %d bytes, not '%s'",
			       option, SAMPLING_STACK_BYTES_MAX, text);
	*ret = (uint32_t)(bytes + 7) & ~7u;
	return 0;
}

static int parse_frames(const char *option, const char *text, uint16_t *ret)
{
	const long limit = kernel_setting("perf_event_max_stack", 127);
	uint64_t nr;

	TRY(capture_value_number(option, text, 0, UINT64_MAX, &nr));
	/* a number above the kernel's limit means the limit, as in perf */
	*ret = nr < (uint64_t)limit ? (uint16_t)nr : 0;
	return 0;
}

int sampling_parse_callchain(struct callchain *ret, const char *option, const char *text)
{
	struct callchain c = { .mode = CALLCHAIN_FP };
	const char *comma = strchr(text, ',');
	const size_t len = comma ? (size_t)(comma - text) : strlen(text);
	const char *number = comma && comma[1] ? comma + 1 : NULL;

	if (!*text || (len == 2 && !strncmp(text, "fp", len))) {
		if (number)
			TRY(parse_frames(option, number, &c.max_frames));
	} else if (len == 5 && !strncmp(text, "dwarf", len)) {
		c.mode = CALLCHAIN_DWARF;
		c.stack_bytes = STACK_BYTES;
		if (number)
			TRY(parse_stack_bytes(option, number, &c.stack_bytes));
	} else if (len == 3 && !strncmp(text, "lbr", len) && !number) {
		c.mode = CALLCHAIN_LBR;
	} else {
		return err_set(-EBADR, "%s takes fp[,FRAMES], dwarf[,BYTES] or lbr, not '%s'",
			       option, text);
	}
	*ret = c;
	return 0;
}

/* ---- branches -------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint64_t bit;
} branches[] = {
	{ "any", PERF_SAMPLE_BRANCH_ANY },
	{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
	{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
	{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
	{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
	{ "call", PERF_SAMPLE_BRANCH_CALL },
	{ "cond", PERF_SAMPLE_BRANCH_COND },
	{ "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
	{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
	{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
	{ "stack", PERF_SAMPLE_BRANCH_CALL_STACK },
	{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE },
	{ "priv", PERF_SAMPLE_BRANCH_PRIV_SAVE },
	{ "u", PERF_SAMPLE_BRANCH_USER },
	{ "k", PERF_SAMPLE_BRANCH_KERNEL },
	{ "hv", PERF_SAMPLE_BRANCH_HV },
};

/* Levels alone do not choose branches: they mean any, at the levels of the events, as in perf. */
int sampling_parse_branches(const char *option, const char *text, uint64_t *ret)
{
	const uint64_t levels =
		PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV;
	uint64_t mask = 0;

	for (const char *at = text;; at++) {
		const size_t len = strcspn(at, ",");
		uint64_t bit = 0;

		for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
			if (strlen(branches[i].name) == len &&
			    !strncasecmp(at, branches[i].name, len))
				bit = branches[i].bit;
		if (!bit)
			return err_set(
				-EBADR,
				"%s: there is no branch type '%.*s'; the types are any, any_call, "
				"any_ret, ind_call, ind_jmp, call, cond, abort_tx, in_tx, no_tx, "
				"stack, save_type, priv, and the levels u, k, hv",
				option, (int)(len < 64 ? len : 64), at);
		mask |= bit;
		at += len;
		if (!*at)
			break;
	}
	*ret = mask & ~levels ? mask : PERF_SAMPLE_BRANCH_ANY;
	return 0;
}

/* ---- all settings ---------------------------------------------------------------------------- */

static int parse_rate(struct sampling *s, const struct capture_options *o, const struct say *to)
{
	if (o->count && o->freq)
		return err_set(-EBADR, "-c and -F exclude each other");
	if (o->count)
		TRY(capture_value_number("-c", o->count, 0, UINT64_MAX, &s->period));
	if (o->count && !s->period)
		say(to, SAY_NORMAL,
		    "-c 0 is not a period: the events are recorded as without -c, counters with a "
		    "frequency");
	if (o->freq && !strcmp(o->freq, "max"))
		s->freq_hz = UINT64_MAX;
	else if (o->freq)
		TRY(capture_value_number("-F", o->freq, 1, UINT64_MAX - 1, &s->freq_hz));
	return 0;
}

static int parse_registers(struct sampling *s, const struct capture_options *o)
{
	if (o->intr_regs)
		TRY(capture_registers_parse("-I", o->intr_regs, true, &s->intr_regs));
	if (o->user_regs)
		TRY(capture_registers_parse("--user-regs", o->user_regs, false, &s->user_regs));
	return 0;
}

int sampling_parse(struct sampling *ret, const struct capture_options *o, const struct say *to)
{
	struct sampling s = { .opts = o };

	if (o->kernel_callchains && o->user_callchains)
		return err_set(-EBADR, "--kernel-callchains excludes --user-callchains");
	if (o->all_kernel && o->all_user)
		return err_set(-EBADR, "--all-kernel excludes --all-user");
	if (o->snapshot || o->aux_sample)
		return err_set(-EBADR,
			       "%s is not taken, because it is for traces that the processor "
			       "writes (Intel PT, CoreSight), which are not supported",
			       o->snapshot ? "-S" : "--aux-sample");
	TRY(parse_rate(&s, o, to));
	TRY(parse_registers(&s, o));
	if (o->call_graph)
		TRY(sampling_parse_callchain(&s.callchain, "--call-graph", o->call_graph));
	s.has_data = o->data || s.callchain.mode == CALLCHAIN_DWARF; /* as in perf */
	if (o->branch_filter)
		TRY(sampling_parse_branches("-j", o->branch_filter, &s.branches));
	if (o->clockid)
		TRY(capture_clock_parse(&s.clock, o->clockid));
	if (s.callchain.mode == CALLCHAIN_LBR && s.branches) {
		say(to, SAY_WARNING,
		    "--call-graph lbr cannot be combined with -b or -j: taking fp instead");
		s.callchain.mode = CALLCHAIN_FP;
	}
	if (s.callchain.mode == CALLCHAIN_DWARF && s.user_regs &&
	    s.user_regs != capture_registers_all())
		say(to, SAY_WARNING,
		    "--call-graph dwarf with some registers only (--user-regs): instruction and "
		    "stack pointer are recorded as well, but many stacks will not be unwound");
	*ret = s;
	return 0;
}
