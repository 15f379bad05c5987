/* SPDX-License-Identifier: MIT */
/* The schema and the payload of events that pair= derives. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "model/schema_table.h"
#include "session/pairs.h"

enum { NS_BYTES = 8, WORD_BYTES = 4, WORD_MAX = 0xffff, MAX_DEPTH = 64 };

/* ---- schema ---------------------------------------------------------------------------------- */

/* The end of the fields of known width. */
static uint64_t form_fixed(const struct sonde_field *fields, size_t nr)
{
	uint64_t end = 0;

	for (size_t i = 0; i < nr; i++) {
		const uint64_t at =
			fields[i].width ? (uint64_t)fields[i].offset + fields[i].width : 0;

		end = at > end ? at : end;
	}
	return end;
}

static int form_place_side(struct pair_side *side, const struct sonde_schema *sc, uint32_t at,
			   uint32_t *ret_end)
{
	const uint64_t fixed = form_fixed(sc->fields, sc->nr_fields);
	size_t words = 0;

	for (size_t i = 0; i < sc->nr_fields; i++)
		words += !sc->fields[i].width;
	if (fixed + words * WORD_BYTES > PAIR_MAX_FIXED)
		return err_set(-E2BIG, "pair: the fields of %s take more than %d bytes", sc->name,
			       PAIR_MAX_FIXED);
	*side = (struct pair_side){ .schema = sc, .at = at, .fixed = (uint32_t)fixed };
	*ret_end = at + (uint32_t)(fixed + words * WORD_BYTES);
	return 0;
}

static bool form_has_field(const struct sonde_schema *sc, const char *name, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(sc->fields[i].name, name))
			return true;
	return false;
}

/* A field whose name is taken gets prefixes until the name is its own. NULL without memory. */
static const char *form_field_name(struct sonde_schema *sc, const struct pair_side *side,
				   const char *name, bool is_of_stop)
{
	const char *prefix = is_of_stop ? "stop_" : "start_", *own = name;

	/* All names of START are kept, except `ns`. */
	while (is_of_stop ? form_has_field(sc, own, sc->nr_fields)
			  : !strcmp(own, "ns") ||
				    (own != name &&
				     form_has_field(side->schema, own, side->schema->nr_fields))) {
		const size_t len = strlen(own) + strlen(prefix) + 1;
		char *longer = arena_alloc(sc->arena, len);

		if (!longer)
			return NULL;
		snprintf(longer, len, "%s%s", prefix, own);
		own = longer;
	}
	return own;
}

static int form_move_fields(struct pair_form *f, struct arena *a, const struct pair_side *side,
			    struct sonde_field *fields, size_t nr, unsigned depth)
{
	const bool is_of_stop = side == &f->stop;

	for (size_t i = 0; i < nr; i++) {
		struct sonde_field *moved = &fields[i];
		struct sonde_field *members;
		const uint32_t from = moved->offset;

		moved->offset += side->at;
		if (moved->is_dynamic)
			TRY(vec_push(&f->words, (struct pair_word){ from, moved->offset, is_of_stop,
								    moved->is_relative, false }));
		if (!moved->nr_fields || depth >= MAX_DEPTH)
			continue;
		members = arena_array(a, moved->nr_fields, sizeof(*members));
		if (!members)
			return err_nomem();
		memcpy(members, moved->fields, moved->nr_fields * sizeof(*members));
		moved->fields = members;
		TRY(form_move_fields(f, a, side, members, moved->nr_fields, depth + 1));
	}
	return 0;
}

static int form_add_side(struct pair_form *f, const struct pair_side *side)
{
	struct sonde_schema *sc = f->schema;
	uint32_t word = side->at + side->fixed;

	for (size_t i = 0; i < side->schema->nr_fields; i++) {
		struct sonde_field *to = &sc->fields[sc->nr_fields];

		*to = side->schema->fields[i];
		if (!to->width) {
			const uint32_t at = word;

			word += WORD_BYTES;
			if (to->is_common)
				continue;
			TRY(vec_push(&f->words,
				     (struct pair_word){ to->offset, at, side == &f->stop, false,
							 true }));
			to->offset = at;
			to->width = WORD_BYTES;
			to->is_dynamic = 1;
			to->is_array = 1;
			to->nr_fields = 0;
			to->kind = to->kind == SONDE_FIELD_NESTED ? SONDE_FIELD_STRUCT : to->kind;
		} else if (to->is_common) {
			continue;
		} else {
			TRY(form_move_fields(f, sc->arena, side, to, 1, 0));
		}
		to->name = form_field_name(sc, side, to->name, side == &f->stop);
		if (!to->name)
			return err_nomem();
		sc->nr_fields++;
	}
	return 0;
}

static int form_make_schema(struct pair_form *f, struct schema_table *t, const char *name)
{
	const struct sonde_schema *start = f->start.schema, *stop = f->stop.schema;
	struct sonde_schema *sc = arena_alloc(&t->arena, sizeof(*sc));
	struct sonde_field *fields =
		arena_array(&t->arena, 1 + start->nr_fields + stop->nr_fields, sizeof(*fields));

	if (!sc || !fields)
		return err_nomem();
	fields[0] = (struct sonde_field){
		.size = sizeof(*fields),
		.width = NS_BYTES,
		.elem_width = NS_BYTES,
		.kind = SONDE_FIELD_INT,
		.name = "ns",
		.type = "u64",
	};
	*sc = (struct sonde_schema){
		.kind = SONDE_TRACEPOINT,
		.abi = stop->abi,
		.system = "",
		.event = name,
		.name = name,
		.fields = fields,
		.nr_fields = 1,
		.arena = &t->arena,
		.event_class = EVENT_TRACEPOINT,
		.traits = SCHEMA_PAIR,
		.sampled = stop->sampled,
		.attr = stop->attr,
		.attr_len = stop->attr_len,
	};
	f->schema = sc;
	TRY(form_add_side(f, &f->start));
	TRY(form_add_side(f, &f->stop));
	return schema_table_add(t, sc);
}

int pair_form_make(struct pair_form *ret, struct schema_table *t, const char *name,
		   const struct sonde_schema *start, const struct sonde_schema *stop)
{
	struct pair_form f = { 0 };
	uint32_t end;
	int r;

	TRY(form_place_side(&f.start, start, NS_BYTES, &end));
	TRY(form_place_side(&f.stop, stop, end, &f.fixed));
	r = form_make_schema(&f, t, name);
	if (r < 0) {
		pair_form_done(&f);
		return r;
	}
	*ret = f;
	return 0;
}

void pair_form_done(struct pair_form *f)
{
	vec_done(&f->words);
}

/* ---- payload --------------------------------------------------------------------------------- */

static void form_put_u32(uint8_t *p, uint32_t v, bool swap)
{
	v = swap ? __builtin_bswap32(v) : v;
	memcpy(p, &v, sizeof(v));
}

static uint32_t form_rest(const struct pair_side *side, uint32_t len)
{
	return len > side->fixed ? len - side->fixed : 0;
}

size_t pair_form_room(const struct pair_form *f, uint32_t start_len, uint32_t stop_len)
{
	return (size_t)f->fixed + form_rest(&f->start, start_len) + form_rest(&f->stop, stop_len);
}

static void form_copy(const struct pair_side *side, struct pair_bytes b, uint8_t *to, uint8_t *rest)
{
	const uint32_t fixed = b.len < side->fixed ? b.len : side->fixed;

	memcpy(to + side->at, b.p, fixed);
	memcpy(rest, b.p + fixed, form_rest(side, b.len));
}

/* Data that a word cannot point to become empty. */
static void form_write_word(const struct pair_word *w, const struct pair_side *side,
			    struct pair_bytes b, size_t rest_at, bool swap, uint8_t *ret)
{
	uint32_t len, word = 0;
	int64_t at;

	if (w->is_open) {
		at = w->from;
		len = w->from < b.len ? b.len - w->from : 0;
		len = len < WORD_MAX ? len : WORD_MAX;
	} else {
		if (b.len < WORD_BYTES || w->from > b.len - WORD_BYTES)
			return;
		word = get_u32(b.p + w->from, swap);
		at = (int64_t)(word & WORD_MAX) + (w->is_relative ? w->from + WORD_BYTES : 0);
		len = word >> 16;
	}
	/* No further than its own payload: what follows here is of the other event. */
	len = at > b.len ? 0 : len < b.len - at ? len : (uint32_t)(b.len - at);
	at += at >= side->fixed ? (int64_t)rest_at - side->fixed : side->at;
	at -= w->is_relative ? w->to + WORD_BYTES : 0;
	word = at < 0 || at > WORD_MAX ? 0 : (uint32_t)at | len << 16;
	form_put_u32(ret + w->to, word, swap);
}

void pair_form_write(const struct pair_form *f, uint64_t ns, struct pair_bytes start,
		     struct pair_bytes stop, bool swap, uint8_t *ret)
{
	const size_t start_rest = f->fixed,
		     stop_rest = start_rest + form_rest(&f->start, start.len);

	memset(ret, 0, f->fixed);
	ns = swap ? __builtin_bswap64(ns) : ns;
	memcpy(ret, &ns, sizeof(ns));
	form_copy(&f->start, start, ret, ret + start_rest);
	form_copy(&f->stop, stop, ret, ret + stop_rest);
	for (size_t i = 0; i < f->words.n; i++) {
		const struct pair_word *w = &f->words.v[i];

		if (w->is_of_stop)
			form_write_word(w, &f->stop, stop, stop_rest, swap, ret);
		else
			form_write_word(w, &f->start, start, start_rest, swap, ret);
	}
}
