/* SPDX-License-Identifier: MIT */
/*
 * Notes the addresses of samples and their call chains, once per process and page, for
 * dsos_settle().
 */

#include "record/describe/dsos_internal.h"

#include <stdlib.h>

#include "formats/perfdata/attr.h"

enum {
	/* offsets in a sample: all our attrs have IDENTIFIER, IP, TID */
	SAMPLE_ID_AT = 8,
	SAMPLE_IP_AT = 16,
	SAMPLE_PID_AT = 24,
};

struct dso_chain dso_chain_of(const struct perf_event_attr *a)
{
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	const uint64_t format = a->read_format;
	struct perfdata_layout layout;
	struct dso_chain c = {
		.is_recorded = a->sample_type & PERF_SAMPLE_CALLCHAIN,
		.has_stack = a->sample_type & PERF_SAMPLE_STACK_USER,
		.has_read = a->sample_type & PERF_SAMPLE_READ,
		.read_group = format & PERF_FORMAT_GROUP,
	};

	perfdata_layout_of(a, &layout);
	c.read_at = layout.first_variable;
	c.read_each = 1 + (uint32_t)__builtin_popcountll(format & ~times & ~PERF_FORMAT_GROUP);
	c.read_head = (uint32_t)__builtin_popcountll(format & times) + c.read_group;
	return c;
}

static void dso_hits_push(struct dso_hits *h, int32_t pid, uint64_t page)
{
	if (!h->recent)
		h->recent = calloc(RECENT, sizeof(*h->recent));
	/* if out of memory, one file may be left out */
	if (vec_push(&h->pending, (struct dso_page){ pid, page }) < 0)
		return;
}

static inline void dso_hits_note(struct dso_hits *h, int32_t pid, uint64_t page)
{
	const uint64_t key = page ^ (uint64_t)(uint32_t)pid << 40;

	if (h->recent) {
		uint64_t *slot = &h->recent[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 52];

		if (*slot == key)
			return;
		*slot = key;
	}
	dso_hits_push(h, pid, page);
}
_Static_assert(RECENT == 1 << (64 - 52), "slots are found by the highest bits");

/* u64 nr, nr x address; addresses from PERF_CONTEXT_MAX on are the context of the next ones */
static void dso_hits_note_chain(const struct dsos *d, struct dso_hits *h, const struct ring *r,
				uint64_t pos, uint64_t end, int32_t pid)
{
	uint64_t context = PERF_CONTEXT_USER, nr = dso_word(r, pos);

	if (nr > (end - pos) / 8 - 1)
		return;
	while (nr--) {
		const uint64_t ip = dso_word(r, pos += 8);

		if (ip >= PERF_CONTEXT_MAX)
			context = ip;
		else if (context == PERF_CONTEXT_USER)
			dso_hits_note(h, pid, ip >> PAGE_SHIFT);
		else if (context == PERF_CONTEXT_KERNEL && dsos_have_modules(d))
			dso_hits_note(h, DSOS_KERNEL_PID, ip >> PAGE_SHIFT);
	}
}

static const struct dso_chain *dso_hits_chain_by_id(const struct dsos *d, struct dso_hits *h,
						    uint64_t id)
{
	uint64_t event;

	if (h->last_chain && h->last_id == id)
		return h->last_chain;
	event = hash64_find(&d->event_by_id, id);
	if (event >= d->chains.n)
		return NULL;
	h->last_id = id;
	h->last_chain = &d->chains.v[event];
	return h->last_chain;
}

void dso_hits_sample(const struct dsos *d, struct dso_hits *hits, const struct ring *r,
		     uint64_t pos, const struct perfdata_record_header *h)
{
	const uint64_t end = pos + h->size;
	const int mode = h->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	const struct dso_chain *c;
	uint64_t at;
	int32_t pid;

	hits->any_kernel |= mode == PERF_RECORD_MISC_KERNEL;
	if (h->size < SAMPLE_PID_AT + 8)
		return;
	pid = (int32_t)dso_word(r, pos + SAMPLE_PID_AT);
	if (mode == PERF_RECORD_MISC_USER)
		dso_hits_note(hits, pid, dso_word(r, pos + SAMPLE_IP_AT) >> PAGE_SHIFT);
	else if (mode == PERF_RECORD_MISC_KERNEL && dsos_have_modules(d))
		dso_hits_note(hits, DSOS_KERNEL_PID, dso_word(r, pos + SAMPLE_IP_AT) >> PAGE_SHIFT);
	if (!d->any_chain)
		return;
	c = dso_hits_chain_by_id(d, hits, dso_word(r, pos + SAMPLE_ID_AT));
	if (!c)
		return;
	/* the reader unwinds the copied stack: it may need every file that is mapped */
	if (c->has_stack)
		dso_hits_note(hits, pid, WHOLE_PROCESS);
	if (!c->is_recorded)
		return;
	at = pos + c->read_at;
	if (c->has_read && at + 8 <= end) {
		const uint64_t nr = c->read_group ? dso_word(r, at) : 1;

		if (nr > h->size / 8)
			return;
		at += 8 * (c->read_head + nr * c->read_each);
	}
	if (at + 8 <= end)
		dso_hits_note_chain(d, hits, r, at, end, pid);
}

void dso_hits_done(struct dso_hits *h)
{
	free(h->recent);
	vec_done(&h->pending);
}
