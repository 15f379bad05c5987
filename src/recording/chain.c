/* SPDX-License-Identifier: MIT */
/*
 * The frames of an event's call chain: recorded frames, unwound frames, and the functions inlined
 * into unwound frames. See code.h.
 */

#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/bytes.h"
#include "base/err.h"
#include "model/callchain.h"
#include "model/sampled.h"
#include "recording/code.h"
#include "recording/locate.h"
#include "recording/stitch.h"
#include "unwind/unwind.h"

/* The size of perf_event_attr up to and including sample_max_stack. */
#define ATTR_MAX_STACK_END (offsetof(struct perf_event_attr, sample_max_stack) + 2)
#define UNWINDABLE         (SAMPLED_CALLCHAIN | SAMPLED_REGS_USER | SAMPLED_STACK_USER)

/* ---- inlined functions ----------------------------------------------------------------------- */

/*
 * Inlined functions are looked up only for unwound frames, as in perf: chains of frame pointers
 * are too many. perf looks only if it knows a symbol.
 */
static bool chain_looks_for_inlined(const struct recording *rec, const struct event *ev,
				    const struct sonde_frame *f, struct sonde_location *ret)
{
	if (!rec->opts->inline_frames || !(f->flags & SONDE_FRAME_UNWOUND))
		return false;
	return !rec->opts->rules->inlines_by_name ||
	       ((*ret = *recording_located(ev, f->ip, f->cpumode)).sym != NULL);
}

/* For perf a function is inlined if its name in DWARF differs from its name in the symbol table. */
static bool chain_is_inlined(const struct recording *rec, const struct line_place *p,
			     const char *sym)
{
	return rec->opts->rules->inlines_by_name ? !p->function || strcmp(p->function, sym) != 0
						 : p->is_inlined;
}

/* Adds the functions that are inlined at a frame, then the frame. */
static int chain_push_frame(struct recording *rec, const struct event *ev, struct sonde_frame f)
{
	struct sonde_location loc = { 0 };
	const struct line_place *places;
	size_t nr = 0;

	if (chain_looks_for_inlined(rec, ev, &f, &loc))
		nr = recording_lines(ev, f.ip, f.cpumode, false, &places);
	if (!nr)
		return vec_push(&rec->frames, f);
	TRY(vec_reserve(&rec->frames, nr));
	for (size_t i = 0; i < nr; i++) {
		struct sonde_frame *to = &rec->frames.v[rec->frames.n++];

		*to = f;
		to->file = places[i].file;
		to->line = places[i].line;
		if (chain_is_inlined(rec, &places[i], loc.sym)) {
			to->flags |= SONDE_FRAME_INLINED;
			to->sym = places[i].function ? places[i].function : "??";
		}
	}
	return 0;
}

/* ---- recorded frames ------------------------------------------------------------------------- */

struct recorded_chain {
	const uint8_t *entries; /* borrowed from the source */
	int nr;
	bool swap;
	bool keeps_callers; /* max-stack leaves out the innermost frames, not the outermost */
};

/* True if a chain of nr frames reached a limit of the recorder or session: it may be cut. */
static bool chain_is_full(const struct event *ev, unsigned nr, unsigned max_frames)
{
	const struct perf_event_attr *attr = ev->schema->attr;
	unsigned recorded = 0;

	if (attr && ev->schema->attr_len >= ATTR_MAX_STACK_END)
		recorded = attr->sample_max_stack;
	return nr >= max_frames || nr >= (recorded ? recorded : PERF_MAX_STACK_DEPTH);
}

static uint64_t chain_entry_at(const struct recorded_chain *c, int i)
{
	return get_u64(c->entries + 8 * (size_t)i, c->swap);
}

/* The number of innermost frames that max-stack leaves out. */
static unsigned chain_frames_over(const struct recorded_chain *c, unsigned max_frames)
{
	unsigned nr = 0;

	if (!c->keeps_callers)
		return 0;
	for (int i = 0; i < c->nr; i++)
		nr += chain_entry_at(c, i) < CALLCHAIN_MARKERS;
	return nr > max_frames ? nr - max_frames : 0;
}

/* Returns 1 if it added user space frames, or if perf's rule dropped the chain. */
static int chain_push_entries(struct recording *rec, const struct event *ev,
			      const struct recorded_chain *c, unsigned max_frames)
{
	uint32_t cpumode = CPUMODE_USER;
	bool has_user = false;
	unsigned nr = 0, over = chain_frames_over(c, max_frames);

	for (int i = 0; i < c->nr && nr < max_frames; i++) {
		uint64_t ip = chain_entry_at(c, i);
		struct sonde_frame f = { .ip = ip, .cpumode = cpumode };

		if (ip < CALLCHAIN_MARKERS && over) {
			over--;
		} else if (ip < CALLCHAIN_MARKERS) {
			TRY(vec_push(&rec->frames, f));
			has_user |= cpumode == CPUMODE_USER;
			nr++;
		} else if (rec->opts->rules->drops_chains_of_unknown_markers &&
			   !callchain_perf_knows(ip)) {
			vec_clear(&rec->frames); /* perf shows no frame of this chain */
			return 1;
		} else {
			cpumode = callchain_cpumode(ip);
			i += ip == CALLCHAIN_USER_DEFERRED;
		}
	}
	rec->chain_is_cut |= chain_is_full(ev, nr, max_frames);
	return has_user;
}

/* --call-graph lbr: the hardware records a stack of the calls that have not returned yet. */
static bool chain_has_call_stack(const struct event *ev)
{
	return ev->schema->sampled & SAMPLED_BRANCH_STACK &&
	       ev->schema->traits & SCHEMA_CALL_STACKS;
}

/*
 * The index of the marker before the user space frames; c->nr if there is none. perf searches only
 * the first max_frames entries.
 */
static int chain_first_user(const struct recording *rec, const struct recorded_chain *c,
			    unsigned max_frames)
{
	for (int i = 0;
	     i < c->nr && (!rec->opts->rules->counts_no_call_stacks || (unsigned)i < max_frames);
	     i++) {
		uint64_t ip = chain_entry_at(c, i);

		if (ip == (uint64_t)PERF_CONTEXT_USER ||
		    (ip == CALLCHAIN_USER_DEFERRED &&
		     !rec->opts->rules->drops_chains_of_unknown_markers))
			return i;
	}
	return c->nr;
}

/* Adds the callers that the hardware had in the samples before. */
static int chain_push_joined(struct recording *rec, const struct event *ev,
			     const struct sonde_sample *sample, unsigned max_frames)
{
	struct sonde_frame f = { .cpumode = CPUMODE_USER, .flags = SONDE_FRAME_BRANCH };
	const uint64_t *callers;
	const int n = stitch_callers(&rec->stitches, ev, sample, &callers);

	for (int i = 0; i < n; i++) {
		if (rec->frames.n >= max_frames && !rec->opts->rules->counts_no_call_stacks) {
			rec->chain_is_cut = true;
			break;
		}
		f.ip = callers[i];
		TRY(vec_push(&rec->frames, f));
	}
	return n < 0 ? n : 0;
}

/*
 * Adds the branches of a call stack as frames. The target of the newest call is in the running
 * function. The source of each branch is in the caller, one frame further out. perf has no limit
 *for these frames.
 *
 *	branches   c -> d+0 | b -> c+0 | a -> b+0        frames   d+0, c, b, a
 */
static int chain_push_call_stack(struct recording *rec, const struct event *ev, unsigned max_frames)
{
	struct sonde_frame f = { .cpumode = CPUMODE_USER, .flags = SONDE_FRAME_BRANCH };
	struct sonde_sample sample;

	if (source_sample(ev->source, ev, &sample) < 0)
		return 0; /* the source has counted the damage */
	if (!sample.nr_branches) {
		defects_add(&rec->defects, DEFECT_EMPTY_CALL_STACK, 1, NULL);
		return 0;
	}
	for (uint64_t i = 0; i <= sample.nr_branches; i++) {
		if (rec->frames.n >= max_frames && !rec->opts->rules->counts_no_call_stacks) {
			rec->chain_is_cut = true;
			break;
		}
		f.ip = i ? sample.branches[i - 1].from : sample.branches[0].to;
		TRY(vec_push(&rec->frames, f));
	}
	return rec->opts->stitch_lbr ? chain_push_joined(rec, ev, &sample, max_frames) : 0;
}

bool recording_user_ip(const struct event *ev, uint64_t *ret)
{
	struct recorded_chain c = { .swap = ev->pub.flags & SONDE_EVENT_SWAPPED };
	uint32_t cpumode = CPUMODE_USER;

	c.nr = source_callchain(ev->source, ev, &c.entries);
	for (int i = 0; i < c.nr; i++) {
		uint64_t ip = chain_entry_at(&c, i);

		if (ip >= CALLCHAIN_MARKERS) {
			cpumode = callchain_cpumode(ip);
			i += ip == CALLCHAIN_USER_DEFERRED;
		} else if (cpumode == CPUMODE_USER) {
			*ret = ip;
			return true;
		}
	}
	return false;
}

/* Returns 1 if it added user space frames, or if the recorded call stack has none. */
static int chain_push_recorded(struct recording *rec, const struct event *ev, unsigned max_frames,
			       bool from_caller)
{
	struct recorded_chain c = {
		.swap = ev->pub.flags & SONDE_EVENT_SWAPPED,
		.keeps_callers = from_caller && rec->opts->rules->limits_callees,
	};
	int at, r;

	c.nr = source_callchain(ev->source, ev, &c.entries);
	if (c.nr <= 0)
		return c.nr;
	at = chain_has_call_stack(ev) ? chain_first_user(rec, &c, max_frames) : c.nr;
	if (at == c.nr)
		return chain_push_entries(rec, ev, &c, max_frames);
	c.nr = at;
	r = chain_push_entries(rec, ev, &c, max_frames);
	if (r)
		return r;
	TRY(chain_push_call_stack(rec, ev, max_frames));
	return 1;
}

/* Adds the chain that the recorder's own unwinder made. Returns 1 if there is one. */
static int chain_push_user(struct recording *rec, const struct event *ev, unsigned max_frames)
{
	struct recorded_chain c = { .swap = ev->pub.flags & SONDE_EVENT_SWAPPED };

	c.nr = source_user_chain(ev->source, ev, &c.entries);
	for (int i = 0; i < c.nr && rec->frames.n < max_frames; i++) {
		struct sonde_frame f = { .ip = chain_entry_at(&c, i), .cpumode = CPUMODE_USER };

		if (f.ip < CALLCHAIN_MARKERS)
			TRY(vec_push(&rec->frames, f));
	}
	rec->chain_is_cut |= c.nr > 0 && rec->frames.n >= max_frames;
	return c.nr > 0 ? 1 : c.nr;
}

/* ---- unwound frames -------------------------------------------------------------------------- */

static struct dso *chain_dso_at(void *ctx, uint64_t addr, uint64_t *ret_offset)
{
	return recording_dso_at(ctx, addr, ret_offset);
}

static void chain_report_end(struct recording *rec, const struct unwind_result *w)
{
	if (w->end != UNWIND_OUTERMOST && w->end != UNWIND_FULL)
		defects_add(&rec->defects, DEFECT_NOT_UNWOUND, 1, "at 0x%llx: %s",
			    (unsigned long long)w->end_addr, unwind_end_text(w->end));
}

/* NULL if unknown. A recording describes its machine before its samples. */
static const struct unwind_arch *chain_arch_of(struct recording *rec, uint64_t abi)
{
	static const uint64_t abis[] = { PERF_SAMPLE_REGS_ABI_32, PERF_SAMPLE_REGS_ABI_64 };

	if (!rec->unwind_archs_known) {
		const char *arch = source_info(rec->source, "arch");
		struct utsname here;

		/* Old recordings in pipe mode do not name their machine: assume this one. */
		if (!arch && uname(&here) == 0)
			arch = here.machine;
		for (size_t i = 0; i < 2; i++)
			rec->unwind_archs[i] = unwind_arch_of(arch, abis[i]);
		rec->unwind_archs_known = true;
	}
	for (size_t i = 0; i < 2; i++) {
		if (abi == abis[i])
			return rec->unwind_archs[i];
	}
	return NULL;
}

/*
 * perf determines how to unwind registers from the first mapped file that it finds, and supports
 * only its own machine. It checks neither if the recording does not name its machine.
 */
static bool chain_perf_unwinds(struct recording *rec, const struct event *ev)
{
	uint64_t native = sizeof(long) == 8 ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_32;
	const char *arch = source_info(rec->source, "arch");
	const struct address_space *space;
	struct utsname here;

	if (!arch || rec->opts->no_follow || uname(&here) < 0)
		return true;
	if (unwind_arch_of(arch, native) != unwind_arch_of(here.machine, native))
		return false;
	space = recording_space(ev, CPUMODE_USER);
	if (!space)
		return false;
	if (rec->unwindable_stamp != space->stamp) {
		rec->unwindable_stamp = space->stamp;
		rec->unwindable = recording_has_file_here(rec, space) ||
				  recording_has_file_here(rec, space->before);
	}
	return rec->unwindable;
}

static int chain_push_unwound(struct recording *rec, const struct event *ev, unsigned max_frames)
{
	struct unwind_input in = {
		.swap = ev->pub.flags & SONDE_EVENT_SWAPPED,
		.dso_at = chain_dso_at,
		.ctx = (void *)ev,
	};
	struct sonde_sample sample;
	struct unwind_result walked;
	int r;

	r = source_sample(ev->source, ev, &sample);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || !sample.user_regs_abi || !sample.user_stack_len)
		return 0; /* a kernel thread has neither registers nor stack of user space */
	rec->chain_is_cut = true;
	in.arch = chain_arch_of(rec, sample.user_regs_abi);
	if (!in.arch || !unwind_supported()) {
		defects_add(&rec->defects, DEFECT_NOT_UNWOUND, 1, "%s",
			    in.arch ? "libdw is not available"
				    : "not known how registers of this machine are numbered");
		return 0;
	}
	if (rec->opts->rules->unwinds_with_files_only && !chain_perf_unwinds(rec, ev))
		return 0;
	in.regs_mask = sample.user_regs_mask;
	in.regs = sample.user_regs;
	in.stack = sample.user_stack;
	in.stack_len = sample.user_stack_len;
	if (!rec->unwinder)
		TRY(unwind_new(&rec->unwinder, rec->opts->rules));
	TRY(unwind_walk(rec->unwinder, &in, max_frames, &walked));
	rec->chain_is_cut = walked.end != UNWIND_OUTERMOST;
	chain_report_end(rec, &walked);
	for (size_t i = 0; i < walked.nr; i++) {
		struct sonde_frame f = {
			.ip = walked.ips[i],
			.cpumode = CPUMODE_USER,
			.flags = SONDE_FRAME_UNWOUND,
		};

		if (f.ip)
			TRY(chain_push_frame(rec, ev, f));
	}
	return 0;
}

static bool chain_has_stack(const struct event *ev)
{
	return (ev->schema->sampled & UNWINDABLE) == UNWINDABLE;
}

bool recording_stops_chain(const struct recording *rec, const char *sym)
{
	for (size_t i = 0; i < rec->opts->stop_bt.nr; i++) {
		if (!strcmp(strpool_text(rec->strings, rec->opts->stop_bt.comms[i]), sym))
			return true;
	}
	return false;
}

int recording_plain_chain(const struct event *ev, const uint8_t **ret)
{
	if (chain_has_stack(ev) || chain_has_call_stack(ev) || ev->chain_off)
		return -1;
	return source_callchain(ev->source, ev, ret);
}

bool recording_chain_is_full(const struct event *ev, unsigned nr)
{
	return chain_is_full(ev, nr, ev->recording->opts->max_frames);
}

int recording_chain(const struct event *ev, const struct sonde_frame **ret)
{
	return recording_chain_as(ev, false, ret);
}

int recording_chain_as(const struct event *ev, bool from_caller, const struct sonde_frame **ret)
{
	struct recording *rec = ev->recording;
	unsigned max_frames = rec->opts->max_frames;
	int has_user;

	vec_clear(&rec->frames);
	rec->chain_is_cut = false;
	has_user = chain_push_recorded(rec, ev, max_frames, from_caller);
	if (has_user < 0)
		return has_user;
	if (!has_user && !rec->opts->rules->ignores_user_chains)
		has_user = chain_push_user(rec, ev, max_frames);
	if (has_user < 0)
		return has_user;
	/* perf unwinds every recorded stack, even if a chain was recorded, too. */
	if (chain_has_stack(ev) && (!has_user || rec->opts->rules->unwinds_beside_chains))
		TRY(chain_push_unwound(rec, ev, max_frames));
	if (rec->frames.n && rec->chain_is_cut)
		rec->frames.v[rec->frames.n - 1].flags |= SONDE_FRAME_CUT;
	*ret = rec->frames.v;
	return (int)rec->frames.n;
}
