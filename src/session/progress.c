/* SPDX-License-Identifier: MIT */
/* How far the reading is, for those who draw it. */

#include <unistd.h>

#include "base/err.h"
#include "base/now.h"
#include "session/progress_line.h"
#include "session/session.h"

enum { FIRST_MS = 1000, BETWEEN_MS = 200 };

static void progress_add_up(const struct recording *rec, struct sonde_progress *p, bool *is_unknown)
{
	uint64_t done, total;

	if (!rec->order)
		return;
	recording_progress(rec, &done, &total);
	if (!total && rec->packed_total) {
		done = rec->packed_done;
		total = rec->packed_total;
	}
	*is_unknown |= !total;
	p->done += done;
	p->total += total;
	p->events += rec->samples_read + recording_order_stats(rec).passed;
}

static void progress_call(struct sonde_session *s, uint64_t now, bool ended)
{
	struct sonde_progress p = {
		.size = sizeof(p),
		.ended = ended,
		.elapsed_ms = now - s->progress.begun_ms,
	};
	bool is_unknown = false;

	for (size_t i = 0; i < s->recordings.nr; i++)
		progress_add_up(&s->recordings.v[i], &p, &is_unknown);
	if (is_unknown)
		p.total = 0;
	s->progress.called = true;
	s->progress.call(s->progress.ctx, &p);
}

/* True if the next call is due. */
static bool progress_is_due(struct sonde_session *s, uint64_t *ret_now)
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

	if (progress_is_due(s, &now))
		progress_call(s, now, false);
}

/* ---- the line on the terminal ---------------------------------------------------------------- */

static void progress_draw(void *ctx, const struct sonde_progress *p)
{
	char text[PROGRESS_LINE_BYTES];

	if (p->ended)
		progress_line_wipe(false);
	else
		progress_line_draw(text, progress_line_text(p, text));
}

void session_progress_begin(struct sonde_session *s)
{
	if (s->opts.progress && isatty(STDERR_FILENO))
		session_on_progress(s, progress_draw, NULL);
}

void session_unpacked(void *ctx, uint64_t done, uint64_t total)
{
	struct recording *rec = ctx;
	struct sonde_session *s = rec->session;
	char text[PROGRESS_LINE_BYTES];
	uint64_t now;

	rec->packed_done = done;
	rec->packed_total = total;
	/* An input that is read while it is unpacked reports the bytes read instead. */
	if (rec->order || !progress_is_due(s, &now))
		return;
	progress_line_draw(text,
			   progress_line_unpacking(done, total, now - s->progress.begun_ms, text));
}

void session_progress_opened(struct sonde_session *s)
{
	if (!s->opts.progress)
		return;
	progress_line_wipe(false);
	/* the time of unpacking does not help to estimate the time of reading */
	s->progress.begun_ms = now_ms();
}

/* ---- the end, and those who ask -------------------------------------------------------------- */

void session_progress_end(struct sonde_session *s)
{
	if (s->progress.call && s->progress.called)
		progress_call(s, now_ms(), true);
	s->progress.call = NULL;
}

void session_on_progress(struct sonde_session *s,
			 void (*progress)(void *ctx, const struct sonde_progress *p), void *ctx)
{
	uint64_t now = now_ms();

	s->progress.call = progress;
	s->progress.ctx = ctx;
	s->progress.begun_ms = now;
	s->progress.next_ms = now + FIRST_MS;
	s->progress.called = false;
}
