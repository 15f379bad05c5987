/* SPDX-License-Identifier: MIT */
/* How far the reading is, for those who draw it. */

#include "base/err.h"
#include "base/now.h"
#include "session.h"

enum { FIRST_MS = 1000, BETWEEN_MS = 200 };

static void add_up(const struct sonde_session *s, struct sonde_progress *p, bool *is_unknown)
{
	uint64_t done, total;

	if (!s->order)
		return;
	order_progress(s->order, &done, &total);
	*is_unknown |= !total;
	p->done += done;
	p->total += total;
	p->events += s->progress.events;
}

static void call(struct sonde_session *s, uint64_t now, bool ended)
{
	struct sonde_progress p = { .size = sizeof(p),
				    .ended = ended,
				    .elapsed_ms = now - s->progress.begun_ms };
	bool is_unknown = false;
	struct sonde_session *part;

	if (!s->parts)
		add_up(s, &p, &is_unknown);
	for (unsigned i = 0; (part = several_part(s, i)); i++)
		add_up(part, &p, &is_unknown);
	if (is_unknown)
		p.total = 0;
	s->progress.called = true;
	s->progress.call(s->progress.ctx, &p);
}

void session_progress(void *ctx)
{
	struct sonde_session *s = ctx;
	uint64_t now;

	s = s->part_of ? s->part_of : s;
	if (!s->progress.call)
		return;
	now = now_ms();
	if (now < s->progress.next_ms)
		return;
	s->progress.next_ms = now + BETWEEN_MS;
	call(s, now, false);
}

void session_progress_end(struct sonde_session *s)
{
	s = s->part_of ? s->part_of : s;
	if (s->progress.call && s->progress.called)
		call(s, now_ms(), true);
	s->progress.call = NULL;
}

void sonde_session_on_progress(struct sonde_session *s,
			       void (*progress)(void *ctx, const struct sonde_progress *p),
			       void *ctx)
{
	uint64_t now = now_ms();

	NOT_NULL(s, );
	s->progress.call = progress;
	s->progress.ctx = ctx;
	s->progress.begun_ms = now;
	s->progress.next_ms = now + FIRST_MS;
	s->progress.called = false;
}
