/* SPDX-License-Identifier: MIT */
/* The frames of an event's call chain: recorded ones, unwound ones, functions inlined into either. See code.h. */

#include <string.h>
#include <sys/utsname.h>

#include "base/bytes.h"
#include "base/err.h"
#include "code.h"
#include "model/callchain.h"
#include "session.h"
#include "unwind/unwind.h"

#define UNWINDABLE (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* ---- functions inlined ------------------------------------------------------------------------------------------- */

/* As in perf only in unwound frames: chains of frame pointers are many. perf does only where it knows a symbol. */
static bool looks_for_inlined(const struct sonde_session *s, const struct event *ev,
			      const struct sonde_frame *f, struct sonde_location *ret)
{
	if (!s->opts.inline_frames || !(f->flags & SONDE_FRAME_UNWOUND))
		return false;
	return !s->opts.compat ||
	       (sonde_event_locate(&ev->pub, f->ip, f->cpumode, ret) >= 0 && ret->sym);
}

/* perf takes for inlined what DWARF calls otherwise than the symbol table does. */
static bool is_inlined(const struct sonde_session *s, const struct line_place *p, const char *sym)
{
	return s->opts.compat ? !p->function || strcmp(p->function, sym) != 0 : p->is_inlined;
}

/* The frame, with those of the functions that are inlined at it before it. */
static int push_frame(struct sonde_session *s, const struct event *ev, struct sonde_frame f)
{
	struct sonde_location loc = { 0 };
	const struct line_place *places;
	size_t nr = 0;

	if (looks_for_inlined(s, ev, &f, &loc))
		nr = session_lines(ev, f.ip, f.cpumode, false, &places);
	if (!nr)
		return vec_push(&s->frames, f);
	TRY(vec_reserve(&s->frames, nr));
	for (size_t i = 0; i < nr; i++) {
		struct sonde_frame *to = &s->frames.v[s->frames.n++];

		*to = f;
		to->file = places[i].file;
		to->line = places[i].line;
		if (is_inlined(s, &places[i], loc.sym)) {
			to->flags |= SONDE_FRAME_INLINED;
			to->sym = places[i].function ? places[i].function : "??";
		}
	}
	return 0;
}

/* ---- recorded frames --------------------------------------------------------------------------------------------- */

/* Returns 1 when frames of user space are among them. */
static int push_recorded(struct sonde_session *s, const struct event *ev, unsigned max_frames)
{
	const uint8_t *chain = NULL;
	bool swap = ev->pub.flags & SONDE_EVENT_SWAPPED, has_user = false;
	uint32_t cpumode = CPUMODE_USER;
	int n = ev->source->ops->callchain(ev->source, ev, &chain);
	unsigned nr = 0;

	for (int i = 0; i < n && nr < max_frames; i++) {
		uint64_t ip = get_u64(chain + 8 * (size_t)i, swap);
		struct sonde_frame f = { .ip = ip, .cpumode = cpumode };

		if (ip < CALLCHAIN_MARKERS) {
			TRY(vec_push(&s->frames, f));
			has_user |= cpumode == CPUMODE_USER;
			nr++;
		} else if (s->opts.compat && !callchain_perf_knows(ip)) {
			vec_clear(&s->frames); /* perf shows nothing of such a chain */
			return 1;
		} else {
			cpumode = callchain_cpumode(ip);
			i += ip == CALLCHAIN_USER_DEFERRED;
		}
	}
	return n < 0 ? n : has_user;
}

/* ---- unwound frames ---------------------------------------------------------------------------------------------- */

static struct dso *dso_at(void *ctx, uint64_t addr, uint64_t *ret_offset)
{
	return session_dso_at(ctx, addr, ret_offset);
}

static void tell_end(struct sonde_session *s, const struct unwind_result *w)
{
	if (w->end != UNWIND_OUTERMOST && w->end != UNWIND_FULL)
		defects_add(&s->defects, DEFECT_NOT_UNWOUND, 1, "at 0x%llx: %s",
			    (unsigned long long)w->end_addr, unwind_end_text(w->end));
}

/* NULL: not known. What a recording says of its machine comes before its samples. */
static const struct unwind_arch *arch_of(struct sonde_session *s, uint64_t abi)
{
	static const uint64_t abis[] = { PERF_SAMPLE_REGS_ABI_32, PERF_SAMPLE_REGS_ABI_64 };

	if (!s->unwind_archs_known) {
		const char *arch = s->source->ops->info(s->source, "arch");
		struct utsname here;

		/* Old recordings in pipe mode do not say where they were made. */
		if (!arch && uname(&here) == 0)
			arch = here.machine;
		for (size_t i = 0; i < 2; i++)
			s->unwind_archs[i] = unwind_arch_of(arch, abis[i]);
		s->unwind_archs_known = true;
	}
	for (size_t i = 0; i < 2; i++) {
		if (abi == abis[i])
			return s->unwind_archs[i];
	}
	return NULL;
}

static int push_unwound(struct sonde_session *s, const struct event *ev, unsigned max_frames)
{
	struct unwind_input in = { .swap = ev->pub.flags & SONDE_EVENT_SWAPPED,
				   .dso_at = dso_at,
				   .ctx = (void *)ev };
	struct sonde_sample sample;
	struct unwind_result walked;

	if (ev->source->ops->sample(ev->source, ev, &sample) < 0 || !sample.user_regs_abi ||
	    !sample.user_stack_len)
		return 0; /* a thread of the kernel has neither */
	in.arch = arch_of(s, sample.user_regs_abi);
	if (!in.arch || !unwind_supported()) {
		defects_add(&s->defects, DEFECT_NOT_UNWOUND, 1, "%s",
			    in.arch ? "this build has no libdw"
				    : "not known how registers of this machine are numbered");
		return 0;
	}
	in.regs_mask = sample.user_regs_mask;
	in.regs = sample.user_regs;
	in.stack = sample.user_stack;
	in.stack_len = sample.user_stack_len;
	if (!s->unwinder)
		TRY(unwind_new(&s->unwinder, s->opts.compat));
	TRY(unwind_walk(s->unwinder, &in, max_frames, &walked));
	tell_end(s, &walked);
	for (size_t i = 0; i < walked.nr; i++) {
		struct sonde_frame f = { .ip = walked.ips[i],
					 .cpumode = CPUMODE_USER,
					 .flags = SONDE_FRAME_UNWOUND };

		if (f.ip)
			TRY(push_frame(s, ev, f));
	}
	return 0;
}

static bool has_stack(const struct event *ev)
{
	const struct perf_event_attr *attr = ev->schema->attr;

	return attr && (attr->sample_type & UNWINDABLE) == UNWINDABLE;
}

bool session_stops_chain(const struct sonde_session *s, const char *sym)
{
	for (size_t i = 0; i < s->stop_bt.nr; i++) {
		if (!strcmp(strpool_text(s->strings, s->stop_bt.comms[i]), sym))
			return true;
	}
	return false;
}

int session_chain(const struct event *ev, const struct sonde_frame **ret)
{
	struct sonde_session *s = ev->session;
	unsigned max_frames = s->max_frames;
	int has_user;

	vec_clear(&s->frames);
	has_user = push_recorded(s, ev, max_frames);
	if (has_user < 0)
		return has_user;
	/* perf unwinds what it has a stack for, even if that was recorded as a chain, too. */
	if (has_stack(ev) && (!has_user || s->opts.compat))
		TRY(push_unwound(s, ev, max_frames));
	*ret = s->frames.v;
	return (int)s->frames.n;
}
