/* SPDX-License-Identifier: MIT */
/* sonde.h: a session, its results, and its schemas. */

#include <signal.h>
#include <stdlib.h>

#include "base/err.h"
#include "session/filter.h"
#include "session/progress_line.h"
#include "session/session.h"

/* Lends o's text; "" if out of memory. */
static const char *session_lend(struct outbuf *o)
{
	outbuf_char(o, '\0');
	return o->failed ? "" : o->data;
}

int sonde_session_open(struct sonde_session **ret, const char *text, const char *origin)
{
	NOT_NULL(ret, -EINVAL);
	NOT_NULL(text, -EINVAL);
	err_clear();
	return session_open(ret, text, origin, NULL);
}

void sonde_session_close(struct sonde_session *s)
{
	if (s)
		session_unref(s);
}

/* ---- reading --------------------------------------------------------------------------------- */

int sonde_session_pending(const struct sonde_session *s)
{
	NOT_NULL(s, -EINVAL);
	return session_pending(s);
}

int sonde_session_fill(struct sonde_session *s)
{
	NOT_NULL(s, -EINVAL);
	return session_fill(s);
}

int sonde_session_fill_until(struct sonde_session *s, uint64_t time_ns)
{
	int r;

	NOT_NULL(s, -EINVAL);
	atomic_store(&s->wake_ns, time_ns);
	r = session_fill(s);
	atomic_store(&s->wake_ns, 0);
	return r;
}

int sonde_session_next_pending(struct sonde_session *s, const struct sonde_event **ret)
{
	NOT_NULL(s, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	return session_next_pending(s, ret);
}

int sonde_session_next(struct sonde_session *s, const struct sonde_event **ret)
{
	NOT_NULL(s, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	return session_next(s, ret);
}

int sonde_session_next_batch(struct sonde_session *s, const struct sonde_event *const **ret,
			     size_t *nr)
{
	NOT_NULL(s, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	NOT_NULL(nr, -EINVAL);
	return session_next_batch(s, ret, nr);
}

int sonde_session_next_batch_pending(struct sonde_session *s, const struct sonde_event *const **ret,
				     size_t *nr)
{
	NOT_NULL(s, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	NOT_NULL(nr, -EINVAL);
	return session_next_batch_pending(s, ret, nr);
}

int sonde_session_unread(struct sonde_session *s, size_t nr)
{
	NOT_NULL(s, -EINVAL);
	return session_unread(s, nr);
}

void sonde_session_want(struct sonde_session *s, uint32_t schema, int wanted)
{
	NOT_NULL(s, );
	session_want(s, schema, wanted);
}

void sonde_session_stop(struct sonde_session *s)
{
	if (s) /* without a cause: signal handlers call this */
		atomic_store(&s->stopped, 1);
}

int sonde_session_write(struct sonde_session *s, int fd)
{
	NOT_NULL(s, -EINVAL);
	return session_write(s, sinks[s->opts.format], fd);
}

int sonde_session_write_text(struct sonde_session *s, int fd)
{
	NOT_NULL(s, -EINVAL);
	return session_write(s, &text_sink_ops, fd);
}

void sonde_session_on_progress(struct sonde_session *s,
			       void (*progress)(void *ctx, const struct sonde_progress *p),
			       void *ctx)
{
	NOT_NULL(s, );
	session_on_progress(s, progress, ctx);
}

void sonde_progress_wipe(int is_last)
{
	progress_line_wipe(is_last);
}

void sonde_progress_signal(int nr)
{
	progress_line_wipe(true);
	signal(nr, SIG_DFL);
	raise(nr);
}

/* ---- conditions ------------------------------------------------------------------------------ */

int sonde_filter_new(struct sonde_filter **ret, struct sonde_session *s, const char *condition)
{
	NOT_NULL(ret, -EINVAL);
	NOT_NULL(condition, -EINVAL);
	return session_filter_new(ret, s, condition);
}

int sonde_filter_matches(struct sonde_filter *f, const struct sonde_event *ev, int is_named)
{
	NOT_NULL(f, -EINVAL);
	NOT_NULL(ev, -EINVAL);
	return session_filter_matches(f, ev, is_named);
}

const char *sonde_filter_field(const struct sonde_filter *f, size_t i)
{
	NOT_NULL(f, NULL);
	return session_filter_field(f, i);
}

void sonde_filter_free(struct sonde_filter *f)
{
	session_filter_free(f);
}

/* ---- questions ------------------------------------------------------------------------------- */

const char *sonde_session_print(struct sonde_session *s)
{
	NOT_NULL(s, "");
	s->printed.len = 0;
	session_options_print(&s->opts, &s->printed);
	return session_lend(&s->printed);
}

int sonde_session_parse(const char *text, char **ret)
{
	struct session_options o;
	struct outbuf out = { 0 };

	NOT_NULL(text, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	err_clear();
	TRY(session_options_parse(&o, text, NULL));
	session_options_print(&o, &out);
	session_options_done(&o);
	outbuf_char(&out, '\0');
	if (out.failed) {
		outbuf_done(&out);
		return err_nomem();
	}
	*ret = out.data;
	return 0;
}

const char *sonde_session_info(struct sonde_session *s, const char *key)
{
	NOT_NULL(s, NULL);
	NOT_NULL(key, NULL);
	return recording_info(s->recordings.v, key);
}

const struct sonde_defect *sonde_session_defect(struct sonde_session *s, size_t i)
{
	NOT_NULL(s, NULL);
	return recordings_defect(&s->recordings, i);
}

const char *sonde_session_defects_line(struct sonde_session *s)
{
	NOT_NULL(s, "");
	recordings_note_memory(&s->recordings);
	s->defects_line.len = 0;
	defects_line(recordings_defects(&s->recordings), &s->defects_line);
	return session_lend(&s->defects_line);
}

int sonde_session_pair(struct sonde_session *s, size_t i, struct sonde_pair *ret)
{
	NOT_NULL(s, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	return session_pair_facts(s, i, ret);
}

const char *sonde_session_notes(struct sonde_session *s)
{
	NOT_NULL(s, "");
	s->text.len = 0;
	for (unsigned i = 0; i < NR_SINKS; i++) {
		const struct sink_options own = session_options_of_sink(&s->opts, sinks[i]);

		if (sinks[i]->notes)
			sinks[i]->notes(&own, &s->text);
	}
	if (!s->sink_notes.failed)
		outbuf_put(&s->text, s->sink_notes.data, s->sink_notes.len);
	if (s->wrote_none)
		outbuf_fmt(&s->text, "%s: %s\n", s->opts.input,
			   s->filters.is_set || s->filters.is_choosy
				   ? "no event was chosen, so none was written"
				   : "there is no event in it, so none was written");
	return session_lend(&s->text);
}

const char *sonde_session_filters_line(struct sonde_session *s)
{
	NOT_NULL(s, "");
	s->filters_line.len = 0;
	session_filters_line(s, &s->filters_line);
	return session_lend(&s->filters_line);
}

const char *sonde_session_string(const struct sonde_session *s, uint32_t id)
{
	NOT_NULL(s, "");
	return strpool_text(&s->recordings.strings, id);
}

size_t sonde_session_schemas(const struct sonde_session *s)
{
	NOT_NULL(s, 0);
	return s->recordings.schemas.schemas.n;
}

const struct sonde_schema *sonde_session_schema(const struct sonde_session *s, uint32_t id)
{
	NOT_NULL(s, NULL);
	return schema_at(&s->recordings.schemas, id);
}

uint32_t sonde_schema_id(const struct sonde_schema *sc)
{
	NOT_NULL(sc, 0);
	return sc->id;
}

uint32_t sonde_schema_family(const struct sonde_schema *sc)
{
	NOT_NULL(sc, 0);
	return sc->family;
}

enum sonde_schema_kind sonde_schema_kind(const struct sonde_schema *sc)
{
	NOT_NULL(sc, SONDE_TRACEPOINT);
	return sc->kind;
}

const char *sonde_schema_system(const struct sonde_schema *sc)
{
	NOT_NULL(sc, "");
	return sc->system;
}

const char *sonde_schema_event(const struct sonde_schema *sc)
{
	NOT_NULL(sc, "");
	return sc->event;
}

const char *sonde_schema_name(const struct sonde_schema *sc)
{
	NOT_NULL(sc, "");
	return sc->name;
}

const struct sonde_field *sonde_schema_fields(const struct sonde_schema *sc, size_t *ret_nr)
{
	NOT_NULL(ret_nr, NULL);
	*ret_nr = 0;
	NOT_NULL(sc, NULL);
	*ret_nr = sc->nr_fields;
	return sc->fields;
}

const struct sonde_field *sonde_schema_field(const struct sonde_schema *sc, const char *name)
{
	NOT_NULL(sc, NULL);
	NOT_NULL(name, NULL);
	return schema_find_field(sc, name, strlen(name));
}

const struct sonde_define *sonde_schema_defines(const struct sonde_schema *sc, size_t *ret_nr)
{
	/* Schemas are const for callers, but some members are made on first use. */
	struct sonde_schema *own = (struct sonde_schema *)sc;

	NOT_NULL(ret_nr, NULL);
	*ret_nr = 0;
	NOT_NULL(sc, NULL);
	return schema_defines(own, ret_nr);
}

const void *sonde_schema_attr(const struct sonde_schema *sc, size_t *ret_len)
{
	NOT_NULL(ret_len, NULL);
	*ret_len = 0;
	NOT_NULL(sc, NULL);
	*ret_len = sc->attr_len;
	return sc->attr;
}

uint64_t sonde_schema_sampled(const struct sonde_schema *sc)
{
	NOT_NULL(sc, 0);
	return sc->sampled;
}
