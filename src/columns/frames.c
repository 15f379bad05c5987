/* SPDX-License-Identifier: MIT */
#include "columns/frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "columns/utf8.h"
#include "model/callchain.h"
#include "recording/locate.h"

enum {
	FRAMES_COLUMNS = 4,
	/* Bytes of chains that are remembered. Without one its frames are looked up again. */
	FRAMES_CHAIN_BYTES = 64 << 20,
};

/* A distinct frame. Codes are -1 and the offset is FRAMES_NO_OFFSET if they are unknown. */
struct frames_place {
	uint64_t ip, offset;
	int32_t symbol, dso;
};
#define FRAMES_NO_OFFSET UINT64_MAX

/* ---- the table ------------------------------------------------------------------------------- */

static int frames_add_column(struct table *t, const char *name, enum column_form form)
{
	struct column *c = &t->columns[t->nr_columns];

	*c = (struct column){ .from = COLUMN_FIELD, .form = form, .width = 8, .format = 'L' };
	c->name = strdup(name);
	if (!c->name)
		return err_nomem();
	c->field = c->name;
	t->nr_columns++;
	return form == COLUMN_DICT ? dictionary_init(&c->dict, 1) : 0;
}

static int frames_make(struct frames *f)
{
	struct table *t = &f->table;

	t->name = "frames";
	t->max_rows = INT32_MAX;
	t->columns = calloc(FRAMES_COLUMNS, sizeof(*t->columns));
	if (!t->columns)
		return err_nomem();
	TRY(frames_add_column(t, "ip", COLUMN_INT));
	TRY(frames_add_column(t, "symbol", COLUMN_DICT));
	TRY(frames_add_column(t, "offset", COLUMN_INT));
	TRY(frames_add_column(t, "dso", COLUMN_DICT));
	TRY(dictionary_init(&f->places, 1));
	return dictionary_init(&f->chains, 1);
}

int frames_new(struct frames **ret)
{
	struct frames *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return err_nomem();
	r = frames_make(f);
	if (r < 0) {
		frames_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	table_done(&f->table);
	dictionary_done(&f->places);
	dictionary_done(&f->chains);
	vec_done(&f->stacks);
	outbuf_done(&f->key);
	outbuf_done(&f->positions);
	outbuf_done(&f->scratch);
	free(f);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The code of a name; -1 if there is none. */
static int frames_name(struct frames *f, struct dictionary *d, const char *name, int32_t *ret)
{
	size_t len = name ? strlen(name) : 0;

	*ret = -1;
	if (!name)
		return 0;
	if (utf8_is_valid((const uint8_t *)name, len))
		return dictionary_code(d, name, len, ret);
	TRY(utf8_replace((const uint8_t *)name, len, &f->scratch));
	return dictionary_code(d, f->scratch.data, f->scratch.len, ret);
}

static int frames_put_code(struct table *t, struct column *c, int32_t code)
{
	((int32_t *)c->values->bytes)[t->rows] = code < 0 ? 0 : code;
	return code < 0 ? batch_set_null(t, c, t->rows) : 0;
}

static int frames_add_row(struct table *t, const struct frames_place *p)
{
	struct column *c = t->columns;
	const bool has_offset = p->offset != FRAMES_NO_OFFSET;

	TRY(batch_reserve(t, 1));
	((uint64_t *)c[0].values->bytes)[t->rows] = p->ip;
	TRY(frames_put_code(t, &c[1], p->symbol));
	((uint64_t *)c[2].values->bytes)[t->rows] = has_offset ? p->offset : 0;
	if (!has_offset)
		TRY(batch_set_null(t, &c[2], t->rows));
	TRY(frames_put_code(t, &c[3], p->dso));
	t->rows++;
	return 0;
}

/* The position of a frame. */
static int frames_position(struct frames *f, const struct event *ev,
			   const struct sonde_frame *frame, int32_t *ret)
{
	const struct sonde_location *loc = recording_located(ev, frame->ip, frame->cpumode);
	const bool is_inlined = frame->flags & SONDE_FRAME_INLINED;
	const char *symbol = frame->sym ? frame->sym : loc->sym;
	struct frames_place p = {
		.ip = frame->ip,
		.offset = loc->sym && !is_inlined ? loc->sym_off : FRAMES_NO_OFFSET,
	};

	TRY(frames_name(f, &f->table.columns[1].dict, symbol, &p.symbol));
	TRY(frames_name(f, &f->table.columns[3].dict, loc->dso, &p.dso));
	TRY(dictionary_code(&f->places, &p, sizeof(p), ret));
	return (size_t)*ret < f->table.rows ? 0 : frames_add_row(&f->table, &p);
}

/* ---- chains ---------------------------------------------------------------------------------- */

static uint64_t frames_stamp(const struct event *ev, const struct sonde_frame *chain, size_t nr,
			     bool is_kernel)
{
	const struct address_space *space;

	for (size_t i = 0; i < nr; i++) {
		if ((chain[i].cpumode == CPUMODE_KERNEL) != is_kernel)
			continue;
		space = recording_space(ev, chain[i].cpumode);
		if (space)
			return space->stamp;
	}
	return 0;
}

/* All that the places of a chain depend on. */
static int frames_put_key(struct outbuf *key, const struct event *ev,
			  const struct sonde_frame *chain, size_t nr)
{
	const uint64_t head[] = { (uintptr_t)ev->recording, frames_stamp(ev, chain, nr, true),
				  frames_stamp(ev, chain, nr, false) };

	key->len = 0;
	outbuf_put(key, head, sizeof(head));
	for (size_t i = 0; i < nr; i++) {
		const uint64_t frame[] = { chain[i].ip,
					   chain[i].cpumode | (uint64_t)chain[i].flags << 32,
					   (uintptr_t)chain[i].sym };

		outbuf_put(key, frame, sizeof(frame));
	}
	return key->failed ? err_nomem() : 0;
}

static int frames_put_positions(struct frames *f, const struct event *ev,
				const struct sonde_frame *chain, size_t nr)
{
	f->positions.len = 0;
	for (size_t i = 0; i < nr; i++) {
		int32_t at;

		TRY(frames_position(f, ev, &chain[i], &at));
		outbuf_put(&f->positions, &at, sizeof(at));
	}
	return f->positions.failed ? err_nomem() : 0;
}

static int frames_forget_chains(struct frames *f)
{
	if (f->chains.nr_elems < FRAMES_CHAIN_BYTES)
		return 0;
	dictionary_done(&f->chains);
	vec_clear(&f->stacks);
	return dictionary_init(&f->chains, 1);
}

int frames_code(struct frames *f, const struct event *ev, const struct sonde_frame *chain,
		size_t nr, struct dictionary *stacks, int32_t *ret)
{
	int32_t known;

	TRY(frames_forget_chains(f));
	TRY(frames_put_key(&f->key, ev, chain, nr));
	TRY(dictionary_code(&f->chains, f->key.data, f->key.len, &known));
	if ((size_t)known < f->stacks.n) {
		*ret = f->stacks.v[known];
		return 0;
	}
	TRY(frames_put_positions(f, ev, chain, nr));
	TRY(dictionary_code(stacks, f->positions.data, nr, ret));
	return vec_push(&f->stacks, *ret);
}
