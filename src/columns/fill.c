/* SPDX-License-Identifier: MIT */
/*
 * Adds the pending events, which are of one plan, to the columns of a table: a loop for each
 * column. Numbers that are stored as they are recorded are copied by loops without a branch.
 */
#include <byteswap.h>
#include <string.h>

#include "base/err.h"
#include "columns/frames.h"
#include "columns/names.h"
#include "columns/table.h"
#include "columns/utf8.h"
#include "model/value.h"
#include "recording/code.h"

struct pending {
	struct tables *tables;
	struct table *t;
	const struct plan *plan;
	const struct sonde_event *const *ev;
	size_t nr, row; /* events; the row of the first one */
	/* The payload of each event; the shortest length and the byte orders of all. */
	const uint8_t *bytes[TABLE_PENDING];
	uint32_t min_len;
	bool has_swapped, has_native;
};

static bool fill_swaps(const struct sonde_event *ev)
{
	return ev->flags & SONDE_EVENT_SWAPPED;
}

static void fill_look(struct pending *r)
{
	uint32_t min_len = UINT32_MAX, any = 0, all = SONDE_EVENT_SWAPPED;

	for (size_t i = 0; i < r->nr; i++) {
		const struct sonde_event *ev = r->ev[i];

		r->bytes[i] = ev->bytes;
		min_len = ev->bytes_len < min_len ? ev->bytes_len : min_len;
		any |= ev->flags;
		all &= ev->flags;
	}
	r->min_len = min_len;
	r->has_swapped = any & SONDE_EVENT_SWAPPED;
	r->has_native = !all;
}

/* ---- numbers of the event itself ------------------------------------------------------------- */

static int fill_time(const struct pending *r, struct column *c)
{
	int64_t *to = (int64_t *)c->values->bytes + r->row;
	uint64_t all = 0;

	for (size_t i = 0; i < r->nr; i++) {
		const uint64_t time_ns = r->ev[i]->time_ns;

		to[i] = (int64_t)time_ns;
		all |= time_ns;
	}
	if (__builtin_expect(all <= INT64_MAX, 1))
		return 0;
	for (size_t i = 0; i < r->nr; i++) {
		if (to[i] >= 0)
			continue;
		r->t->unfit += r->ev[i]->time_ns != SONDE_NO_TIME;
		to[i] = 0;
		TRY(batch_set_null(r->t, c, r->row + i));
	}
	return 0;
}

#define FILL_ID(member)                              \
	do {                                         \
		for (size_t i = 0; i < r->nr; i++) { \
			to[i] = r->ev[i]->member;    \
			is_missing |= to[i] == -1;   \
		}                                    \
	} while (0)

static int fill_id(const struct pending *r, struct column *c)
{
	int32_t *to = (int32_t *)c->values->bytes + r->row;
	bool is_missing = false;

	switch (c->from) {
	case COLUMN_CPU:
		FILL_ID(cpu);
		break;
	case COLUMN_PID:
		FILL_ID(pid);
		break;
	default:
		FILL_ID(tid);
		break;
	}
	for (size_t i = 0; is_missing && i < r->nr; i++) {
		if (to[i] != -1)
			continue;
		to[i] = 0;
		TRY(batch_set_null(r->t, c, r->row + i));
	}
	return 0;
}

/* ---- numbers of fields ----------------------------------------------------------------------- */

#define FILL_COPY(type, convert)                                     \
	do {                                                         \
		type *to = (type *)c->values->bytes + r->row, v;     \
                                                                     \
		for (size_t i = 0; i < r->nr; i++) {                 \
			memcpy(&v, r->bytes[i] + offset, sizeof(v)); \
			to[i] = convert(v);                          \
		}                                                    \
	} while (0)
#define FILL_SAME(v) (v)

static void fill_copy(const struct pending *r, struct column *c, uint32_t offset)
{
	switch (c->width) {
	case 1:
		FILL_COPY(uint8_t, FILL_SAME);
		break;
	case 2:
		if (r->has_swapped)
			FILL_COPY(uint16_t, bswap_16);
		else
			FILL_COPY(uint16_t, FILL_SAME);
		break;
	case 4:
		if (r->has_swapped)
			FILL_COPY(uint32_t, bswap_32);
		else
			FILL_COPY(uint32_t, FILL_SAME);
		break;
	case 8:
		if (r->has_swapped)
			FILL_COPY(uint64_t, bswap_64);
		else
			FILL_COPY(uint64_t, FILL_SAME);
		break;
	}
}

/* Stores a number; false if the type does not have it. v is sign-extended if it is signed. */
static bool fill_store(void *values, const struct column *c, size_t at, uint64_t v, bool is_signed)
{
	const unsigned bits = 8u * c->width;
	const uint64_t max = c->is_signed ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);
	const bool is_negative = is_signed && (int64_t)v < 0;

	if (is_negative ? !c->is_signed || ~v > max : v > max)
		return false;
	switch (c->width) {
	case 1:
		((uint8_t *)values)[at] = (uint8_t)v;
		break;
	case 2:
		((uint16_t *)values)[at] = (uint16_t)v;
		break;
	case 4:
		((uint32_t *)values)[at] = (uint32_t)v;
		break;
	default:
		((uint64_t *)values)[at] = v;
		break;
	}
	return true;
}

static int fill_int(const struct pending *r, struct column *c, const struct plan_field *p)
{
	const struct sonde_field *f = p->field;
	const bool is_signed = f->is_signed;

	if (p->is_same && f->width <= r->min_len && f->offset <= r->min_len - f->width &&
	    !(r->has_swapped && r->has_native)) {
		fill_copy(r, c, f->offset);
		return 0;
	}
	for (size_t i = 0; i < r->nr; i++) {
		const struct sonde_event *ev = r->ev[i];
		const bool has = field_is_inside(f, ev->bytes_len);
		uint64_t v = field_number(f, ev->bytes, ev->bytes_len, fill_swaps(ev));

		if (is_signed)
			v = field_sign_extend(f, v);
		if (has && fill_store(c->values->bytes, c, r->row + i, v, is_signed))
			continue;
		r->t->unfit += has;
		fill_store(c->values->bytes, c, r->row + i, 0, false);
		TRY(batch_set_null(r->t, c, r->row + i));
	}
	return 0;
}

static int fill_float(const struct pending *r, struct column *c, const struct plan_field *p)
{
	const struct sonde_field *f = p->field;

	for (size_t i = 0; i < r->nr; i++) {
		const struct sonde_event *ev = r->ev[i];
		const bool has = field_is_inside(f, ev->bytes_len);
		const double v =
			has ? field_double(f, ev->bytes, ev->bytes_len, fill_swaps(ev)) : 0;

		if (c->width == sizeof(float))
			((float *)c->values->bytes)[r->row + i] = (float)v;
		else
			((double *)c->values->bytes)[r->row + i] = v;
		if (!has)
			TRY(batch_set_null(r->t, c, r->row + i));
	}
	return 0;
}

/* ---- dictionaries ---------------------------------------------------------------------------- */

static int fill_code_null(const struct pending *r, struct column *c, size_t i)
{
	((int32_t *)c->values->bytes)[r->row + i] = 0;
	return batch_set_null(r->t, c, r->row + i);
}

static int fill_text(const struct pending *r, struct column *c, const uint8_t *text, size_t len,
		     int32_t *ret)
{
	if (!c->is_binary && !utf8_is_valid(text, len)) {
		TRY(utf8_replace(text, len, &r->tables->scratch));
		text = (const uint8_t *)r->tables->scratch.data;
		len = r->tables->scratch.len;
	}
	return dictionary_code(&c->dict, text, len, ret);
}

static int fill_comm_code(const struct pending *r, struct column *c, uint32_t comm, int32_t *ret)
{
	const struct strpool *pool = &r->tables->all->strings;

	if (comm >= pool->entries.n)
		comm = 0;
	while (c->by_comm.n <= comm)
		TRY(vec_push(&c->by_comm, -1));
	if (c->by_comm.v[comm] < 0)
		TRY(fill_text(r, c, (const uint8_t *)pool->entries.v[comm].text,
			      strlen(pool->entries.v[comm].text), &c->by_comm.v[comm]));
	*ret = c->by_comm.v[comm];
	return 0;
}

static int fill_comm(const struct pending *r, struct column *c)
{
	int32_t *to = (int32_t *)c->values->bytes + r->row;

	for (size_t i = 0; i < r->nr; i++) {
		const struct sonde_event *ev = r->ev[i];

		if (__builtin_expect(ev->tid == -1, 0))
			TRY(fill_code_null(r, c, i));
		else if (__builtin_expect(ev->comm < c->by_comm.n && c->by_comm.v[ev->comm] >= 0,
					  1))
			to[i] = c->by_comm.v[ev->comm];
		else
			TRY(fill_comm_code(r, c, ev->comm, &to[i]));
	}
	return 0;
}

static int fill_strings(const struct pending *r, struct column *c, const struct sonde_field *f)
{
	int32_t *to = (int32_t *)c->values->bytes + r->row;

	for (size_t i = 0; i < r->nr; i++) {
		const struct sonde_event *ev = r->ev[i];
		uint32_t len;
		const uint8_t *p = field_bytes(f, ev->bytes, ev->bytes_len, fill_swaps(ev), &len);

		if (p)
			TRY(fill_text(r, c, p, strnlen((const char *)p, len), &to[i]));
		else
			TRY(fill_code_null(r, c, i));
	}
	return 0;
}

static int fill_names(const struct pending *r, struct column *c, const struct sonde_field *f)
{
	struct outbuf *words = &r->tables->words;
	int32_t *to = (int32_t *)c->values->bytes + r->row;

	if (c->by_schema != r->plan->schema) {
		hash64_done(&c->by_value);
		c->by_schema = r->plan->schema;
	}
	for (size_t i = 0; i < r->nr; i++) {
		const struct sonde_event *ev = r->ev[i];
		uint64_t v, code;

		if (!field_is_inside(f, ev->bytes_len)) {
			TRY(fill_code_null(r, c, i));
			continue;
		}
		v = field_sign_extend(f, field_number(f, ev->bytes, ev->bytes_len, fill_swaps(ev)));
		code = hash64_find(&c->by_value, v);
		if (code == HASH64_EMPTY) {
			TRY(names_put(r->plan->schema, f, v, words));
			TRY(fill_text(r, c, (const uint8_t *)words->data, words->len, &to[i]));
			TRY(hash64_put(&c->by_value, v, (uint64_t)to[i]));
		} else {
			to[i] = (int32_t)code;
		}
	}
	return 0;
}

static int fill_stacks(const struct pending *r, struct column *c)
{
	int32_t *to = (int32_t *)c->values->bytes + r->row;
	struct outbuf *addresses = &r->tables->scratch;

	for (size_t i = 0; i < r->nr; i++) {
		const struct sonde_frame *frames;
		const int nr = recording_chain(event_of(r->ev[i]), &frames);

		if (nr <= 0) {
			TRY(nr);
			TRY(fill_code_null(r, c, i));
			continue;
		}
		if (r->t->frames) {
			TRY(frames_code(r->t->frames, event_of(r->ev[i]), frames, (size_t)nr,
					&c->dict, &to[i]));
			continue;
		}
		addresses->len = 0;
		for (int k = 0; k < nr; k++)
			outbuf_put(addresses, &frames[k].ip, sizeof(frames[k].ip));
		if (addresses->failed)
			return err_nomem();
		TRY(dictionary_code(&c->dict, addresses->data, (size_t)nr, &to[i]));
	}
	return 0;
}

/* ---- lists and bytes ------------------------------------------------------------------------- */

static int fill_reserve_elems(struct column *c, size_t more, size_t width)
{
	const size_t used = c->nr_elems * width, room = used + more * width;

	shared_take_spare(&c->elems, &c->spare_elems);
	if (more > INT32_MAX - c->nr_elems)
		return err_set(-EFBIG, "the lists of a column exceed 2 GiB");
	if (c->elems && c->elems->room >= room)
		return 0;
	return shared_reserve(&c->elems, used, 2 * room);
}

static int fill_bytes(const struct pending *r, struct column *c, const struct plan_field *p)
{
	int32_t *to = (int32_t *)c->values->bytes + r->row + 1;

	for (size_t i = 0; i < r->nr; i++) {
		const struct sonde_event *ev = r->ev[i];
		uint32_t len;
		const uint8_t *from =
			field_bytes(p->field, ev->bytes, ev->bytes_len, fill_swaps(ev), &len);

		if (from && len) {
			TRY(fill_reserve_elems(c, len, 1));
			memcpy(c->elems->bytes + c->nr_elems, from, len);
			c->nr_elems += len;
		}
		to[i] = (int32_t)c->nr_elems;
		if (!from)
			TRY(batch_set_null(r->t, c, r->row + i));
	}
	return 0;
}

static int fill_list(const struct pending *r, struct column *c, const struct plan_field *p)
{
	int32_t *to = (int32_t *)c->values->bytes + r->row + 1;
	const struct sonde_field *f = p->field;
	const uint32_t width = f->elem_width;

	for (size_t i = 0; i < r->nr; i++) {
		const struct sonde_event *ev = r->ev[i];
		const bool swap = field_swap(f, fill_swaps(ev));
		uint32_t len;
		const uint8_t *from =
			field_bytes(f, ev->bytes, ev->bytes_len, fill_swaps(ev), &len);

		if (from)
			TRY(fill_reserve_elems(c, len / width, c->width));
		for (uint32_t k = 0; from && k < len / width; k++) {
			const uint64_t raw = value_u64(from + k * width, width, swap),
				       v = f->is_signed ? (uint64_t)value_sign_extend(raw, width)
							: raw;

			/* An element cannot be null: the schema says that items are not. */
			if (!fill_store(c->elems->bytes, c, c->nr_elems, v, f->is_signed)) {
				r->t->unfit++;
				fill_store(c->elems->bytes, c, c->nr_elems, 0, false);
			}
			c->nr_elems++;
		}
		to[i] = (int32_t)c->nr_elems;
		if (!from)
			TRY(batch_set_null(r->t, c, r->row + i));
	}
	return 0;
}

/* ---- all columns ----------------------------------------------------------------------------- */

static int fill_nulls(const struct pending *r, struct column *c, bool is_unfit)
{
	for (size_t i = 0; i < r->nr; i++) {
		const size_t row = r->row + i;

		if (c->form == COLUMN_LIST || c->form == COLUMN_BYTES)
			((int32_t *)c->values->bytes)[row + 1] = (int32_t)c->nr_elems;
		else if (c->form == COLUMN_DICT)
			((int32_t *)c->values->bytes)[row] = 0;
		else
			memset(c->values->bytes + row * c->width, 0, c->width);
		TRY(batch_set_null(r->t, c, row));
	}
	r->t->unfit += is_unfit ? r->nr : 0;
	return 0;
}

static int fill_field(const struct pending *r, struct column *c, const struct plan_field *p)
{
	if (!p->field)
		return fill_nulls(r, c, p->is_unfit);
	switch (c->form) {
	case COLUMN_INT:
		return fill_int(r, c, p);
	case COLUMN_FLOAT:
		return fill_float(r, c, p);
	case COLUMN_DICT:
		return c->is_names ? fill_names(r, c, p->field) : fill_strings(r, c, p->field);
	case COLUMN_LIST:
		return fill_list(r, c, p);
	case COLUMN_BYTES:
		return fill_bytes(r, c, p);
	}
	return 0;
}

static int fill_column(const struct pending *r, struct column *c, const struct plan_field *p)
{
	switch (c->from) {
	case COLUMN_TIME:
		return fill_time(r, c);
	case COLUMN_CPU:
	case COLUMN_PID:
	case COLUMN_TID:
		return fill_id(r, c);
	case COLUMN_COMM:
		return fill_comm(r, c);
	case COLUMN_STACK:
		return fill_stacks(r, c);
	case COLUMN_FIELD:
		return fill_field(r, c, p);
	case COLUMN_SAMPLE:
		break;
	}
	return 0;
}

static bool fill_sample_has(const struct sonde_sample *s, const struct sample_value *v)
{
	return s->present & v->bits && (!v->read || s->read_format & v->read);
}

/* All values of one sample are decoded at once. */
static int fill_samples(const struct pending *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct event *ev = event_of(r->ev[i]);
		struct sonde_sample s = { .size = sizeof(s) };

		const int read = source_sample(ev->source, ev, &s);

		if (read == -ENOMEM)
			return read;
		if (read < 0) {
			s.present = 0; /* the record is damaged */
			err_clear();
		}
		for (size_t k = 0; k < r->t->nr_columns; k++) {
			struct column *c = &r->t->columns[k];
			const struct sample_value *v = &sample_values[c->member];
			uint64_t *to = (uint64_t *)c->values->bytes + r->row + i;

			if (c->from != COLUMN_SAMPLE)
				continue;
			*to = 0;
			if (fill_sample_has(&s, v))
				memcpy(to, (const char *)&s + v->offset, sizeof(*to));
			else
				TRY(batch_set_null(r->t, c, r->row + i));
		}
	}
	return 0;
}

int fill_pending(struct tables *tables, struct table *t)
{
	struct pending r = {
		.tables = tables,
		.t = t,
		.plan = t->pending_plan,
		.ev = t->pending,
		.nr = t->nr_pending,
		.row = t->rows,
	};

	fill_look(&r);
	for (size_t i = 0; i < t->nr_columns; i++)
		TRY(fill_column(&r, &t->columns[i], &t->pending_plan->fields[i]));
	if (t->has_samples)
		TRY(fill_samples(&r));
	t->rows += r.nr;
	return 0;
}
