/* SPDX-License-Identifier: MIT */
/* Filters in shared objects, as stages of a session: what they are given and what they may ask. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "model/callchain.h"
#include "model/sampled.h"
#include "recording/code.h"
#include "recording/locate.h"
#include "session/session.h"
#include "sinks/sink.h"

/* Bits of dlf_location.filtered: the kinds of filters that refuse the location. */
enum { FILTERED_DSO = 1, FILTERED_THREAD = 2, FILTERED_SYMBOL = 8 };

/* An unknown load or store: only the first bit of each group is set. */
#define NO_DATA_SRC UINT64_C(0x5080021)

static struct sonde_session *dlfilter_session_of(const struct dlfilter *f)
{
	return f->ctx;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static bool dlfilter_is_kernel_address(uint64_t addr)
{
	return addr >> 63;
}

/* The cpumode of an address in a sample: its value decides between kernel and user. */
static uint32_t dlfilter_mode_of(const struct event *ev, uint64_t addr)
{
	uint32_t mode = ev->pub.cpumode;

	if (mode != CPUMODE_KERNEL && mode != CPUMODE_USER)
		return mode;
	return dlfilter_is_kernel_address(addr) ? CPUMODE_KERNEL : CPUMODE_USER;
}

static uint8_t *dlfilter_build_id_bytes(struct recording *rec, const char *hex, uint32_t *ret_len)
{
	const struct build_id id = build_id_of_hex(hex);
	uint32_t len = id.len < DLF_BUILD_ID_BYTES ? id.len : DLF_BUILD_ID_BYTES, bytes;

	*ret_len = 0;
	if (!len || strpool_intern(rec->strings, (const char *)id.bytes, len, &bytes) < 0)
		return NULL;
	*ret_len = len;
	return (uint8_t *)strpool_text(rec->strings, bytes);
}

/*
 * Converts an address into an offset in its file. An address of the kernel itself, or without a
 * mapping, does not change.
 */
static uint64_t dlfilter_file_address(const struct event *ev, uint64_t addr, uint32_t cpumode,
				      const struct sonde_location *loc)
{
	uint64_t offset;

	if (cpumode != CPUMODE_KERNEL)
		return recording_dso_at(ev, addr, &offset) ? offset : addr;
	if (!loc->dso || !loc->map_end || !strncmp(loc->dso, "[kernel", 7))
		return addr;
	return addr - loc->map_start;
}

static void dlfilter_fill_location(const struct event *ev, uint64_t addr, uint32_t cpumode,
				   const struct sonde_location *loc, struct dlf_location *ret)
{
	struct recording *rec = ev->recording;

	*ret = (struct dlf_location){
		.size = rec->opts->rules->dlfilters_lack_al_cleanup ? DLF_LOCATION_BYTES_BEFORE_PRIV
								    : sizeof(*ret),
		.addr = dlfilter_file_address(ev, addr, cpumode, loc),
		.dso = loc->dso,
		.is_64_bit = loc->dso != NULL,
		.is_kernel_ip = dlfilter_is_kernel_address(addr),
	};
	if (loc->dso)
		ret->buildid = dlfilter_build_id_bytes(rec, loc->dso_build_id, &ret->buildid_size);
	if (loc->sym) {
		ret->sym = loc->sym;
		ret->symoff = (uint32_t)loc->sym_off;
		ret->sym_start = ret->addr - loc->sym_off;
		ret->sym_end = ret->sym_start + (loc->sym_end - loc->sym_start);
		ret->sym_binding = (uint8_t)loc->sym_binding;
	}
}

static const struct dlf_location *dlfilter_resolve_ip(void *ctx)
{
	struct dlfilter *f = ctx;
	struct sonde_session *s = dlfilter_session_of(f);
	struct dlfilter_answers *a = &s->dlfilter_answers;
	const struct sonde_location *loc;
	uint32_t cpumode;

	if (!f->called)
		return NULL;
	if (a->has_ip)
		return &a->ip;
	cpumode = a->ev->pub.cpumode;
	loc = recording_located(a->ev, a->sample->ip, cpumode);
	dlfilter_fill_location(a->ev, a->sample->ip, cpumode, loc, &a->ip);
	a->ip.comm = strpool_text(&s->recordings.strings, a->ev->pub.comm);
	if (!late_filter_pass(&s->filters.late, &a->ev->pub))
		a->ip.filtered |= FILTERED_THREAD;
	if (!place_filter_pass_dso(&s->filters.places, loc))
		a->ip.filtered |= FILTERED_DSO;
	if (!place_filter_pass_symbol(&s->filters.places, loc))
		a->ip.filtered |= FILTERED_SYMBOL;
	a->has_ip = true;
	return &a->ip;
}

static const struct dlf_location *dlfilter_resolve_addr(void *ctx)
{
	struct dlfilter *f = ctx;
	struct dlfilter_answers *a = &dlfilter_session_of(f)->dlfilter_answers;
	const struct sonde_location *loc;
	uint32_t cpumode;

	if (!f->called || !a->sample->addr_correlates_sym)
		return NULL;
	if (a->has_addr)
		return &a->addr;
	cpumode = dlfilter_mode_of(a->ev, a->sample->addr);
	loc = recording_located(a->ev, a->sample->addr, cpumode);
	dlfilter_fill_location(a->ev, a->sample->addr, cpumode, loc, &a->addr);
	a->has_addr = true;
	return &a->addr;
}

/* The caller's struct may be of another version: fills as many bytes of it as fit. */
static int32_t dlfilter_resolve_address(void *ctx, uint64_t addr, struct dlf_location *ret)
{
	struct dlfilter *f = ctx;
	struct dlfilter_answers *a = &dlfilter_session_of(f)->dlfilter_answers;
	struct dlf_location mine;
	const struct sonde_location *loc;
	uint32_t cpumode, size;

	if (!f->called || !ret)
		return -1;
	size = ret->size;
	cpumode = dlfilter_mode_of(a->ev, addr);
	loc = recording_located(a->ev, addr, cpumode);
	dlfilter_fill_location(a->ev, addr, cpumode, loc, &mine);
	memcpy(ret, &mine, size < mine.size ? size : mine.size);
	if (size >= sizeof(ret->size))
		ret->size = size;
	return 0;
}

/* Answers of dlfilter_resolve_address() need not be freed: they live as long as the session. */
static void dlfilter_al_cleanup(void *ctx, struct dlf_location *loc)
{
}

/* ---- the rest -------------------------------------------------------------------------------- */

static char **dlfilter_args(void *ctx, int *ret_nr)
{
	struct dlfilter *f = ctx;

	if (!ret_nr)
		return NULL;
	*ret_nr = 0;
	if (!f->called && !f->starts_or_stops)
		return NULL;
	*ret_nr = (int)f->args.n;
	return f->args.v;
}

static const uint8_t *dlfilter_insn(void *ctx, uint32_t *ret_len)
{
	struct dlfilter *f = ctx;
	struct dlfilter_answers *a = &dlfilter_session_of(f)->dlfilter_answers;
	struct code_insn code = { 0 };

	if (!ret_len)
		return NULL;
	*ret_len = 0;
	if (!f->called)
		return NULL;
	if (!a->has_insn) {
		if (a->sample->ip)
			recording_insn(a->ev, a->sample->ip, a->ev->pub.cpumode, &code);
		a->insn_len = code.len;
		memcpy(a->insn, code.bytes, sizeof(a->insn));
		a->has_insn = true;
	}
	*ret_len = a->insn_len;
	return a->insn_len ? a->insn : NULL;
}

static const char *dlfilter_srcline(void *ctx, uint32_t *ret_line)
{
	struct dlfilter *f = ctx;
	const struct dlfilter_answers *a = &dlfilter_session_of(f)->dlfilter_answers;
	const struct line_place *places;

	if (!f->called || !ret_line)
		return NULL;
	*ret_line = 0;
	if (!recording_lines(a->ev, a->sample->ip, a->ev->pub.cpumode, false, &places) ||
	    !places[0].file)
		return NULL;
	*ret_line = places[0].line;
	return places[0].file;
}

static void *dlfilter_attr(void *ctx)
{
	struct dlfilter *f = ctx;

	return f->called ? (void *)dlfilter_session_of(f)->dlfilter_answers.ev->schema->attr : NULL;
}

static int32_t dlfilter_object_code(void *ctx, uint64_t addr, void *buf, uint32_t len)
{
	struct dlfilter *f = ctx;
	const struct dlfilter_answers *a = &dlfilter_session_of(f)->dlfilter_answers;
	const struct sonde_location *loc;
	uint32_t cpumode;
	size_t n;

	if (!f->called || !buf)
		return -1;
	cpumode = dlfilter_mode_of(a->ev, addr);
	loc = recording_located(a->ev, addr, cpumode);
	if (!loc->map_end)
		return -1;
	if (loc->map_end - addr < len)
		len = (uint32_t)(loc->map_end - addr);
	if (len > INT32_MAX)
		len = INT32_MAX;
	n = recording_code_bytes(a->ev, addr, cpumode, buf, len);
	return n ? (int32_t)n : -1;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* True if addr is an address in code or data of the process. */
static bool dlfilter_addr_has_names(const struct sonde_schema *sc)
{
	return sc->sampled & SAMPLED_ADDR && sc->traits & (SCHEMA_BRANCH | SCHEMA_ADDR_IN_TASK);
}

/* Gets the chain's entries, aligned and in this host's byte order. */
static int dlfilter_take_chain(struct dlfilter_answers *a, const struct event *ev,
			       struct dlf_sample *to)
{
	const uint8_t *entries = NULL;
	bool swap = ev->pub.flags & SONDE_EVENT_SWAPPED;
	int n = source_callchain(ev->source, ev, &entries);

	if (n <= 0)
		return n;
	vec_clear(&a->chain);
	TRY(vec_reserve(&a->chain, n));
	for (int i = 0; i < n; i++)
		a->chain.v[i] = get_u64(entries + 8 * (size_t)i, swap);
	to->raw_callchain_nr = (uint64_t)n;
	to->raw_callchain = a->chain.v;
	return 0;
}

static int dlfilter_fill_sample(struct dlfilter_answers *a, const struct event *ev,
				struct dlf_sample *to)
{
	const struct perf_event_attr *at = ev->schema->attr;
	struct sonde_sample s;
	bool damaged = source_sample(ev->source, ev, &s) < 0;
	uint64_t has;

	if (damaged) { /* the source has counted the damage */
		err_clear();
		s = (struct sonde_sample){ .size = sizeof(s) };
	}
	has = s.present;
	*to = (struct dlf_sample){
		.size = sizeof(*to),
		.ip = s.ip,
		.pid = ev->pub.pid,
		.tid = ev->pub.tid,
		.time_ns = ev->pub.time_ns,
		.addr = s.addr,
		.id = has & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? s.id : UINT64_MAX,
		.stream_id = has & PERF_SAMPLE_STREAM_ID ? s.stream_id : UINT64_MAX,
		.period = has & PERF_SAMPLE_PERIOD || ev->period || !at ? s.period
									: at->sample_period,
		.weight = s.weight,
		.transaction = s.transaction,
		.cpu = ev->pub.cpu,
		.data_src = has & PERF_SAMPLE_DATA_SRC ? s.data_src : NO_DATA_SRC,
		.phys_addr = s.phys_addr,
		.data_page_size = s.data_page_size,
		.code_page_size = s.code_page_size,
		.cgroup = s.cgroup,
		.cpumode = (uint8_t)ev->pub.cpumode,
		.addr_correlates_sym = dlfilter_addr_has_names(ev->schema),
		.misc = get_u16(ev->pub.record + 4, ev->pub.flags & SONDE_EVENT_SWAPPED),
		.event = ev->schema->name,
	};
	if (has & PERF_SAMPLE_WEIGHT_STRUCT) {
		to->weight = (uint32_t)s.weight;
		to->ins_lat = (uint16_t)(s.weight >> 32);
		to->p_stage_cyc = (uint16_t)(s.weight >> 48);
	}
	if (has & PERF_SAMPLE_RAW) {
		to->raw_size = (uint32_t)s.raw_len;
		to->raw_data = ev->pub.bytes;
	}
	if (has & PERF_SAMPLE_BRANCH_STACK) {
		to->brstack_nr = s.nr_branches;
		to->brstack = s.branches;
	}
	to->vcpu = -1;
	return dlfilter_take_chain(a, ev, to);
}

int session_dlfilters_ask(struct sonde_session *s, const struct event *ev, bool early)
{
	struct dlfilter_answers *a = &s->dlfilter_answers;
	struct dlf_sample sample;
	int r;

	if (early ? !s->dlfilters.has_early : !s->dlfilters.has_late)
		return 1;
	TRY(dlfilter_fill_sample(a, ev, &sample));
	a->ev = ev;
	a->sample = &sample;
	a->has_ip = a->has_addr = a->has_insn = false;
	r = dlfilters_ask(&s->dlfilters, early, &sample);
	a->ev = NULL;
	a->sample = NULL;
	if (!r && !s->opts.rules->silent_about_dlfilters)
		defects_add(&ev->recording->defects, DEFECT_DLFILTER, 1, NULL);
	return r;
}

/* ---- text in its order ----------------------------------------------------------------------- */

/*
 * Keeps a filter's own output to stdout after the earlier events: writes our text first, then the
 * buffer of stdio.
 */
static void dlfilter_before_call(void *ctx)
{
	struct sink *sink = ctx;

	if (!__fbufsize(stdout) || __flbf(stdout))
		sink->ops->flush(sink);
}

static void dlfilter_after_call(void *ctx)
{
	struct sink *sink = ctx;

	if (__fpending(stdout) && sink->ops->flush(sink) >= 0)
		fflush(stdout);
}

void session_dlfilters_text(struct sonde_session *s, struct sink *sink)
{
	s->dlfilters.before = sink ? dlfilter_before_call : NULL;
	s->dlfilters.after = sink ? dlfilter_after_call : NULL;
	s->dlfilters.order_ctx = sink;
}

/* ---- all filters ----------------------------------------------------------------------------- */

int session_dlfilters_load(struct sonde_session *s)
{
	const struct dlf_fns fns = {
		.resolve_ip = dlfilter_resolve_ip,
		.resolve_addr = dlfilter_resolve_addr,
		.args = dlfilter_args,
		.resolve_address = dlfilter_resolve_address,
		.insn = dlfilter_insn,
		.srcline = dlfilter_srcline,
		.attr = dlfilter_attr,
		.object_code = dlfilter_object_code,
		.al_cleanup = s->opts.rules->dlfilters_lack_al_cleanup ? NULL : dlfilter_al_cleanup,
	};

	return s->opts.dlfilters ? dlfilters_load(&s->dlfilters, s->opts.dlfilters,
						  s->opts.rules->last_dlfilter_only, &fns, s)
				 : 0;
}

void session_dlfilters_done(struct sonde_session *s)
{
	dlfilters_done(&s->dlfilters);
	vec_done(&s->dlfilter_answers.chain);
}
