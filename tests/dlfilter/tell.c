/* SPDX-License-Identifier: MIT */
/*
 * A filter for --dlfilter that prints its input and the results of all functions that it may call.
 * Arguments: early=N and late=N drop every N-th sample; fail=N ends the run at the N-th sample,
 * start=N is the result of start(); at=ADDR is an address for which the functions are called.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/dlfilter/abi.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT struct dlf_fns perf_dlfilter_fns;
EXPORT int start(void **data, void *ctx);
EXPORT int stop(void *data, void *ctx);
EXPORT int filter_event(void *data, const struct dlf_sample *s, void *ctx);
EXPORT int filter_event_early(void *data, const struct dlf_sample *s, void *ctx);
EXPORT const char *filter_description(const char **details);

struct tell {
	long early, late, fail, start;
	uint64_t at;
	long nr_early, nr_late;
};

static long number(const char *arg, const char *name, long otherwise)
{
	size_t len = strlen(name);

	return strncmp(arg, name, len) || arg[len] != '=' ? otherwise
							  : (long)strtoull(arg + len + 1, NULL, 0);
}

static void tell_args(const char *when, void *ctx)
{
	int nr = -1;
	char **args = perf_dlfilter_fns.args(ctx, &nr);

	printf("%s:", when);
	for (int i = 0; i < nr; i++)
		printf(" %s", args[i]);
	printf(nr ? "\n" : " no arguments\n");
}

EXPORT int start(void **data, void *ctx)
{
	struct tell *t = calloc(1, sizeof(*t));
	int nr = 0;
	char **args = perf_dlfilter_fns.args(ctx, &nr);
	uint32_t n = 7;

	for (int i = 0; i < nr; i++) {
		t->early = number(args[i], "early", t->early);
		t->late = number(args[i], "late", t->late);
		t->fail = number(args[i], "fail", t->fail);
		t->start = number(args[i], "start", t->start);
		t->at = (uint64_t)number(args[i], "at", (long)t->at);
	}
	*data = t;
	tell_args("start", ctx);
	printf("nothing to ask yet: %d %d %d %d %d\n", perf_dlfilter_fns.resolve_ip(ctx) == NULL,
	       perf_dlfilter_fns.resolve_addr(ctx) == NULL, perf_dlfilter_fns.attr(ctx) == NULL,
	       perf_dlfilter_fns.insn(ctx, &n) == NULL, perf_dlfilter_fns.srcline(ctx, &n) == NULL);
	printf("%d\n", perf_dlfilter_fns.object_code(ctx, 0, &n, 4));
	return (int)t->start;
}

EXPORT int stop(void *data, void *ctx)
{
	tell_args("stop", ctx);
	free(data);
	return 0;
}

static void tell_location(const char *what, const struct dlf_location *l)
{
	if (!l) {
		printf("  %s: nothing\n", what);
		return;
	}
	printf("  %s: size %u addr %" PRIx64 " dso %s 64 %d kernel %d", what, l->size, l->addr,
	       l->dso ? l->dso : "-", l->is_64_bit, l->is_kernel_ip);
	if (l->sym)
		printf(" sym %s+%x %" PRIx64 "-%" PRIx64 " binding %d", l->sym, l->symoff,
		       l->sym_start, l->sym_end, l->sym_binding);
	printf(" build id ");
	for (uint32_t i = 0; i < l->buildid_size; i++)
		printf("%02x", l->buildid[i]);
	if (l->comm)
		printf(" comm %s filtered %x", l->comm, l->filtered);
	printf("\n");
}

static void tell_bytes(const char *what, const uint8_t *p, long n)
{
	printf("  %s %ld:", what, n);
	for (long i = 0; p && i < n; i++)
		printf(" %02x", p[i]);
	printf("\n");
}

static void tell_sample(const struct dlf_sample *s)
{
	printf("  size %u pid %d tid %d cpu %d time %" PRIu64 " ip %" PRIx64 " addr %" PRIx64
	       " id %" PRId64 " stream %" PRId64 " period %" PRIu64 "\n",
	       s->size, s->pid, s->tid, s->cpu, s->time_ns, s->ip, s->addr, s->id, s->stream_id,
	       s->period);
	printf("  weight %" PRIu64 " ins_lat %u p_stage_cyc %u transaction %" PRIx64
	       " insn %" PRIu64 " cyc %" PRIu64 " flags %x data_src %" PRIx64 " phys %" PRIx64
	       " pages %" PRIu64 " %" PRIu64 " cgroup %" PRIu64 "\n",
	       s->weight, s->ins_lat, s->p_stage_cyc, s->transaction, s->insn_cnt, s->cyc_cnt,
	       s->flags, s->data_src, s->phys_addr, s->data_page_size, s->code_page_size,
	       s->cgroup);
	printf("  cpumode %d correlates %d misc %x machine %d vcpu %d branches %" PRIu64 "\n",
	       s->cpumode, s->addr_correlates_sym, s->misc, s->machine_pid, s->vcpu, s->brstack_nr);
	for (uint64_t i = 0; i < 3 * s->brstack_nr; i++)
		printf(" %" PRIx64, ((const uint64_t *)s->brstack)[i]);
	tell_bytes("raw", s->raw_data, s->raw_data ? (long)s->raw_size : 0);
	printf("  chain:");
	for (uint64_t i = 0; i < s->raw_callchain_nr; i++)
		printf(" %" PRIx64, s->raw_callchain[i]);
	printf("\n");
}

static void tell_code(const struct dlf_sample *s, void *ctx)
{
	uint32_t len = 99, line = 99;
	const uint8_t *insn = perf_dlfilter_fns.insn(ctx, &len);
	const char *file = perf_dlfilter_fns.srcline(ctx, &line);
	uint8_t code[24];
	int n = perf_dlfilter_fns.object_code(ctx, s->ip, code, sizeof(code));

	/* For code of the kernel perf fills the complete buffer, which is not printed here. */
	tell_bytes("insn", insn, len);
	printf("  srcline %s:%u\n", file ? file : "-", line);
	if (s->cpumode != PERF_RECORD_MISC_KERNEL)
		tell_bytes("code", code, n);
}

static void tell_attr(void *ctx)
{
	const struct perf_event_attr *attr = perf_dlfilter_fns.attr(ctx);

	printf("  attr %u %llx size %u period %llu sample %llx\n", attr->type, attr->config,
	       attr->size, attr->sample_period, attr->sample_type);
}

static void tell_address(uint64_t addr, void *ctx)
{
	union {
		struct dlf_location l;
		uint8_t bytes[200];
	} whole = { .l.size = 88 }, part = { .l.size = 40 };

	memset(part.bytes + 4, 0xee, sizeof(part) - 4);
	if (perf_dlfilter_fns.resolve_address(ctx, addr, &whole.l) < 0)
		return;
	tell_location("address", &whole.l);
	perf_dlfilter_fns.resolve_address(ctx, addr, &part.l);
	printf("  part %u %x\n", part.l.size, part.bytes[40]);
	if (perf_dlfilter_fns.al_cleanup) {
		perf_dlfilter_fns.al_cleanup(ctx, &whole.l);
		perf_dlfilter_fns.al_cleanup(ctx, &part.l);
	}
}

static int tell(const char *when, struct tell *t, long nr, long every, const struct dlf_sample *s,
		void *ctx)
{
	printf("%s %ld %s\n", when, nr, s->event);
	tell_sample(s);
	tell_location("ip", perf_dlfilter_fns.resolve_ip(ctx));
	tell_location("addr", perf_dlfilter_fns.resolve_addr(ctx));
	tell_address(t->at ? t->at : s->ip, ctx);
	tell_code(s, ctx);
	tell_attr(ctx);
	if (t->fail == nr)
		return -5;
	return every && nr % every == 0;
}

EXPORT int filter_event_early(void *data, const struct dlf_sample *s, void *ctx)
{
	struct tell *t = data;

	return tell("early", t, ++t->nr_early, t->early, s, ctx);
}

EXPORT int filter_event(void *data, const struct dlf_sample *s, void *ctx)
{
	struct tell *t = data;

	return tell("late", t, ++t->nr_late, t->late, s, ctx);
}

EXPORT const char *filter_description(const char **details)
{
	*details = "All samples, and all that can be asked about them.\nArguments: early=N late=N";
	return "prints all that it is given";
}
