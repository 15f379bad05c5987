/* SPDX-License-Identifier: MIT */
/* How far the reading is, for those who draw it. */

#include <unistd.h>

#include "base/err.h"
#include "base/now.h"
#include "progress_line.h"
#include "session.h"

enum { FIRST_MS = 1000, BETWEEN_MS = 200 };

static void add_up(const struct sonde_session *s, struct sonde_progress *p, bool *is_unknown)
{
	uint64_t done, total;

	if (!s->order)
		return;
	order_progress(s->order, &done, &total);
	if (!total && s->progress.packed_total) {
		done = s->progress.packed_done;
		total = s->progress.packed_total;
	}
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

/* Whether it is time for the next call; s is no part. */
static bool is_due(struct sonde_session *s, uint64_t *ret_now)
{
	if (!s->progress.call)
		return false;
	*ret_now = now_ms();
	if (*ret_now < s->progress.next_ms)
		return false;
	s->progress.next_ms = *ret_now + BETWEEN_MS;
	return true;
}

void session_progress(void *ctx)
{
	struct sonde_session *s = ctx;
	uint64_t now;

	s = s->part_of ? s->part_of : s;
	if (is_due(s, &now))
		call(s, now, false);
}

/* ---- the line on the terminal ------------------------------------------------------------------------------------ */

static void draw(void *ctx, const struct sonde_progress *p)
{
	char text[PROGRESS_LINE_BYTES];

	if (p->ended)
		sonde_progress_wipe(0);
	else
		progress_line_draw(text, progress_line_text(p, text));
}

void session_progress_begin(struct sonde_session *s)
{
	if (s->opts.progress && isatty(STDERR_FILENO))
		sonde_session_on_progress(s, draw, NULL);
}

void session_unpacked(void *ctx, uint64_t done, uint64_t total)
{
	struct sonde_session *s = ctx, *whole = s->part_of ? s->part_of : s;
	char text[PROGRESS_LINE_BYTES];
	uint64_t now;

	s->progress.packed_done = done;
	s->progress.packed_total = total;
	if (s->order || !is_due(whole, &now)) /* else it is read meanwhile, which is what counts */
		return;
	progress_line_draw(text, progress_line_unpacking(done, total,
							 now - whole->progress.begun_ms, text));
}

void session_progress_opened(struct sonde_session *s)
{
	if (!s->opts.progress)
		return;
	sonde_progress_wipe(0);
	s->progress.begun_ms = now_ms(); /* how long unpacking took says nothing of what comes */
}

/* ---- the end, and those who ask ---------------------------------------------------------------------------------- */

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
