/* SPDX-License-Identifier: MIT */
/*
 * Losses that are not counted on their page: a page without room for the number has only the mark.
 * The statistics of the cpu count all events that were overwritten, so the rest belongs to such
 * pages.
 */
#include <stdlib.h>
#include <unistd.h>

#include "sources/tracedat/tracedat.h"

enum { SUM_BYTES = 1 << 20 };

static uint64_t losses_number(const struct bytes *text, const char *key)
{
	const size_t len = strlen(key);
	const char *at = memmem(text->pos, bytes_left(text), key, len);
	struct bytes number = *text;

	if (!at)
		return 0;
	number.pos = (const uint8_t *)at + len;
	return (uint64_t)tracedat_number_of(&number);
}

int tracedat_losses_read(struct tracedat_source *s, const struct bytes *text)
{
	const struct tracedat_losses losses = {
		.cpu = (int32_t)losses_number(text, "CPU: "),
		.overwritten = losses_number(text, "\noverrun: "),
	};

	/* The kernel marks no page if it did not store an event. */
	s->dropped +=
		losses_number(text, "dropped events: ") + losses_number(text, "commit overrun: ");
	return vec_push(&s->losses, losses) < 0 ? err_nomem() : 0;
}

/* The statistics of a cpu. NULL if there are none, or if several buffers have some of the cpu. */
static const struct tracedat_losses *losses_of(const struct tracedat_source *s, int32_t cpu)
{
	const struct tracedat_losses *found = NULL;

	for (size_t i = 0; i < s->losses.n; i++) {
		if (s->losses.v[i].cpu != cpu)
			continue;
		if (found)
			return NULL;
		found = &s->losses.v[i];
	}
	return s->buffers.n == 1 ? found : NULL;
}

static void losses_add_page(struct tracedat_range *range, const struct ring_page *page)
{
	if (!page->has_lost)
		return;
	if (!page->lost)
		range->uncounted_pages++;
	range->uncounted -= page->lost < range->uncounted ? page->lost : range->uncounted;
}

/* Reads the heads of all pages of the cpu. */
static void losses_sum(struct tracedat_range *range, uint8_t *room, size_t size)
{
	const struct ring_layout *l = &range->instance->layout;
	ssize_t n;

	for (uint64_t off = range->begin; off < range->end; off += (uint64_t)n) {
		const uint64_t left = range->end - off;

		n = pread(range->fd, room, left < size ? (size_t)left : size, (off_t)off);
		n -= n > 0 ? n % l->page_bytes : 0;
		if (n <= 0)
			return;
		for (ssize_t at = 0; at < n; at += l->page_bytes) {
			struct ring_page page;

			if (ring_page_read(l, room + at, l->page_bytes, &page))
				losses_add_page(range, &page);
		}
	}
}

static void losses_find(struct tracedat_source *s, struct tracedat_range *range)
{
	const struct tracedat_losses *losses = losses_of(s, range->cpu);
	const uint32_t page = range->instance->layout.page_bytes;
	const size_t size = page < SUM_BYTES ? SUM_BYTES / page * page : page;
	uint8_t *room = losses && losses->overwritten ? malloc(size) : NULL;

	range->knows_uncounted = true;
	if (!room)
		return;
	range->uncounted = losses->overwritten;
	losses_sum(range, room, size);
	free(room);
}

uint64_t tracedat_losses_of_page(struct tracedat_source *s, struct tracedat_range *range)
{
	uint64_t n;

	if (!range->knows_uncounted)
		losses_find(s, range);
	if (!range->uncounted_pages)
		return 0;
	n = (range->uncounted + range->uncounted_pages - 1) / range->uncounted_pages;
	range->uncounted -= n;
	range->uncounted_pages--;
	return n;
}
