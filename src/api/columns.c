/* SPDX-License-Identifier: MIT */
/* sonde.h: columns. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "columns/arrow.h"
#include "columns/frames.h"
#include "columns/table.h"
#include "session/session.h"

/* Batches of events that one call of sonde_columns_fill() reads. */
enum { COLUMNS_FILL_BATCHES = 256, COLUMNS_AGAIN = 2 };

struct sonde_columns {
	struct sonde_session *session; /* a reference */
	struct tables tables;
	bool started, ended;
	bool passes_over; /* the session's reading passes over samples that no table needs */
	/* A failure while events were added: columns may have different lengths since then. */
	int failed;
	VEC(uint8_t) unwanted; /* by schema id: the session's samples were switched off */
};

int sonde_columns_new(struct sonde_columns **ret, struct sonde_session *s)
{
	struct sonde_columns *c;

	NOT_NULL(ret, -EINVAL);
	NOT_NULL(s, -EINVAL);
	err_clear();
	c = calloc(1, sizeof(*c));
	if (!c)
		return err_nomem();
	session_ref(s);
	c->session = s;
	c->tables.all = &s->recordings;
	*ret = c;
	return 0;
}

void sonde_columns_free(struct sonde_columns *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->unwanted.n; i++) {
		if (c->unwanted.v[i])
			session_want(c->session, (uint32_t)i, true);
	}
	c->session->is_incomplete |= c->passes_over;
	vec_done(&c->unwanted);
	tables_done(&c->tables);
	session_unref(c->session);
	free(c);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int columns_options(const struct sonde_columns_options *o, struct sonde_columns_options *ret)
{
	const uint32_t known = SONDE_COLUMNS_BYTES | SONDE_COLUMNS_NAMES | SONDE_COLUMNS_STACKS |
			       SONDE_COLUMNS_FIELDS_ONLY | SONDE_COLUMNS_FRAMES;

	*ret = (struct sonde_columns_options){ 0 };
	if (o && o->size < sizeof(o->size))
		return err_set(-EINVAL, "the struct's size is not set");
	if (o)
		memcpy(ret, o, o->size < sizeof(*ret) ? o->size : sizeof(*ret));
	if (ret->flags & ~known)
		return err_set(-EINVAL, "flags of columns: 0x%x is unknown", ret->flags & ~known);
	if (ret->rows > TABLE_MAX_ROWS)
		return err_set(-EINVAL, "a batch has at most %u rows, not %u",
			       (unsigned)TABLE_MAX_ROWS, ret->rows);
	if (!ret->rows)
		ret->rows = TABLE_DEFAULT_ROWS;
	return 0;
}

int sonde_columns_add(struct sonde_columns *c, const char *event, const char *fields,
		      const struct sonde_columns_options *o)
{
	struct sonde_columns_options own;
	int r;

	NOT_NULL(c, -EINVAL);
	NOT_NULL(event, -EINVAL);
	err_clear();
	if (c->started)
		return err_set(-EINVAL, "columns that are being read take no further table");
	TRY(columns_options(o, &own));
	r = tables_add(&c->tables, event, fields, own.flags, own.rows);
	/* A pipe describes its event types in front of the events. */
	if (r == -ENOENT && c->session->is_stream && !session_pending(c->session)) {
		TRY(session_fill(c->session));
		r = tables_add(&c->tables, event, fields, own.flags, own.rows);
	}
	return r;
}

static struct table *columns_find(const struct sonde_columns *c, uint32_t table)
{
	return table < c->tables.tables.n ? c->tables.tables.v[table] : NULL;
}

int sonde_columns_schema(struct sonde_columns *c, uint32_t table, struct ArrowSchema *ret)
{
	static const char *const clocks[] = { "raw", "relative", "utc", "local" };
	const struct table *t;

	NOT_NULL(c, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	t = columns_find(c, table);
	if (!t)
		return err_set(-ENOENT, "there is no table %u of columns", table);
	return batch_schema(t, clocks[c->session->opts.clock], ret);
}

int sonde_columns_frames(struct sonde_columns *c, uint32_t table, struct ArrowSchema *ret_schema,
			 struct ArrowArray *ret)
{
	struct table *t, *frames;
	int r;

	NOT_NULL(c, -EINVAL);
	NOT_NULL(ret_schema, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	err_clear();
	t = columns_find(c, table);
	if (!t || !t->frames)
		return err_set(-ENOENT, "table %u of columns has no frames", table);
	if (c->failed)
		return err_set(c->failed, "reading the columns failed before");
	frames = &t->frames->table;
	TRY(batch_schema(frames, "", ret_schema));
	r = batch_so_far(frames, ret);
	if (r < 0)
		arrow_schema_done(ret_schema);
	return r;
}

int sonde_columns_table(const struct sonde_columns *c, uint32_t table,
			struct sonde_columns_table *ret)
{
	struct sonde_columns_table all = { .size = sizeof(all) };
	const struct table *t;
	uint32_t known;

	NOT_NULL(c, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	memcpy(&known, ret, sizeof(known));
	if (known < sizeof(known))
		return err_set(-EINVAL, "the struct's size is not set");
	t = columns_find(c, table);
	if (!t)
		return 0;
	all.schema = t->schema;
	all.name = t->name;
	all.nr_columns = (uint32_t)t->nr_columns;
	all.rows = t->all_rows + t->rows;
	all.unfit = t->unfit;
	all.lost = recordings_defects(&c->session->recordings)->count[DEFECT_LOST_EVENTS];
	if (known < all.size)
		all.size = known;
	memcpy(ret, &all, all.size);
	return 1;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Switches off the schemas that appeared since the last call and that no table needs. */
static int columns_want(struct sonde_columns *c)
{
	const size_t nr = c->session->recordings.schemas.schemas.n;
	int r;

	if (__builtin_expect(c->unwanted.n == nr, 1))
		return 0;
	TRY(tables_plan(&c->tables));
	TRY(vec_reserve(&c->unwanted, nr - c->unwanted.n));
	for (uint32_t i = (uint32_t)c->unwanted.n; i < nr; i++) {
		const struct sonde_schema *sc = schema_at(&c->session->recordings.schemas, i);
		const bool is_off =
			!tables_need(&c->tables, i) && sc->kind <= SONDE_SAMPLE && !sc->unwanted;

		if (is_off)
			session_want(c->session, i, false);
		c->unwanted.v[c->unwanted.n++] = is_off;
	}
	if (c->session->passes_over)
		return 0;
	r = session_pass_over(c->session);
	c->passes_over = c->session->passes_over;
	return r;
}

/*
 * Reads a batch of events. Returns 1, 0 at the end, COLUMNS_AGAIN if a wait ended without an event,
 * a negative errno.
 */
static int columns_read(struct sonde_columns *c)
{
	const struct sonde_event *const *events;
	size_t nr = RECORDING_EVENTS;
	int r = session_next_batch_pending(c->session, &events, &nr);

	while (!r) {
		TRY(r = session_fill(c->session));
		nr = RECORDING_EVENTS;
		if (!r) { /* one more defect may still be reported */
			r = session_next_batch(c->session, &events, &nr);
			break;
		}
		if (!session_pending(c->session))
			return COLUMNS_AGAIN;
		r = session_next_batch_pending(c->session, &events, &nr);
	}
	if (r <= 0)
		return r;
	r = tables_take(&c->tables, events, nr);
	if (r < 0)
		c->failed = r;
	return r < 0 ? r : 1;
}

static bool columns_has_ready(const struct sonde_columns *c)
{
	return c->tables.ready_at < c->tables.ready.n;
}

static int columns_end(struct sonde_columns *c)
{
	const int r = tables_finish(&c->tables);

	if (r < 0)
		c->failed = r;
	c->ended = true;
	return r;
}

int sonde_columns_fill(struct sonde_columns *c)
{
	NOT_NULL(c, -EINVAL);
	err_clear();
	c->started = true;
	if (c->failed)
		return err_set(c->failed, "reading the columns failed before");
	if (c->ended)
		return 0;
	TRY(columns_want(c));
	for (int i = 0; i < COLUMNS_FILL_BATCHES && !columns_has_ready(c); i++) {
		const int r = columns_read(c);

		if (r < 0)
			return r;
		if (r == COLUMNS_AGAIN) /* the caller handles its signals */
			return 1;
		if (!r)
			return columns_end(c);
	}
	return 1;
}

int sonde_columns_flush(struct sonde_columns *c)
{
	int r;

	NOT_NULL(c, -EINVAL);
	err_clear();
	if (c->failed)
		return err_set(c->failed, "reading the columns failed before");
	r = tables_finish(&c->tables);
	if (r < 0)
		c->failed = r;
	return r;
}

int sonde_columns_next_pending(struct sonde_columns *c, uint32_t *ret_table, struct ArrowArray *ret)
{
	NOT_NULL(c, -EINVAL);
	NOT_NULL(ret_table, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	return tables_next(&c->tables, ret_table, ret);
}

int sonde_columns_next(struct sonde_columns *c, uint32_t *ret_table, struct ArrowArray *ret)
{
	NOT_NULL(c, -EINVAL);
	NOT_NULL(ret_table, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	for (;;) {
		int r = tables_next(&c->tables, ret_table, ret);

		if (r)
			return r;
		r = sonde_columns_fill(c);
		if (r < 0 || (!r && !columns_has_ready(c)))
			return r;
	}
}

/* ---- stream ---------------------------------------------------------------------------------- */

struct columns_stream {
	struct sonde_columns *columns; /* owned */
	char *error;                   /* owned; the text of the last failure, or NULL */
};

/* Returns the errno as Arrow has it: positive. */
static int columns_stream_fail(struct columns_stream *s, int r)
{
	free(s->error);
	s->error = r < 0 ? strdup(err_text()) : NULL;
	return r < 0 ? -r : 0;
}

static int columns_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
	struct columns_stream *s = stream->private_data;

	return columns_stream_fail(s, sonde_columns_schema(s->columns, 0, ret));
}

static int columns_stream_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
	struct columns_stream *s = stream->private_data;
	uint32_t table;
	const int r = sonde_columns_next(s->columns, &table, ret);

	if (!r)
		*ret = (struct ArrowArray){ 0 };
	return columns_stream_fail(s, r);
}

static const char *columns_stream_error(struct ArrowArrayStream *stream)
{
	const struct columns_stream *s = stream->private_data;

	return s->error;
}

static void columns_stream_release(struct ArrowArrayStream *stream)
{
	struct columns_stream *s = stream->private_data;

	sonde_columns_free(s->columns);
	free(s->error);
	free(s);
	stream->release = NULL;
	stream->private_data = NULL;
}

int sonde_columns_stream(struct sonde_columns *c, struct ArrowArrayStream *ret)
{
	struct columns_stream *s;

	NOT_NULL(c, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	err_clear();
	if (c->tables.tables.n != 1)
		return err_set(-EINVAL, "a stream has one table, these columns have %zu",
			       c->tables.tables.n);
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem();
	s->columns = c;
	*ret = (struct ArrowArrayStream){
		.get_schema = columns_stream_schema,
		.get_next = columns_stream_next,
		.get_last_error = columns_stream_error,
		.release = columns_stream_release,
		.private_data = s,
	};
	return 0;
}
