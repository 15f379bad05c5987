/* SPDX-License-Identifier: MIT */
#include "sinks/carried.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "formats/tracefs/eventformat_put.h"
#include "model/sampled.h"
#include "model/value.h"

/* Ids of types that have none, or one that is taken: above those that kernels give. */
enum { FIRST_OWN_ID = 32768, LARGEST_OFFSET = UINT16_MAX };

int carried_init(struct carried *c, const struct recordings *recordings, const char *format)
{
	*c = (struct carried){ .recordings = recordings,
			       .format = format,
			       .next_id = FIRST_OWN_ID };
	c->ids_used = calloc(1, CARRIED_NR_IDS / 8);
	c->record = malloc(CARRIED_MOST_BYTES);
	return c->ids_used && c->record ? 0 : err_nomem();
}

void carried_done(struct carried *c)
{
	vec_foreach(t, &c->types)
		vec_done(&t->fixes);
	vec_done(&c->types);
	hash64_done(&c->comm);
	free(c->ids_used);
	free(c->record);
	c->ids_used = c->record = NULL;
}

/* ---- types ----------------------------------------------------------------------------------- */

static bool carried_take_id(struct carried *c, uint32_t id)
{
	if (!id || id >= CARRIED_NR_IDS || c->ids_used[id / 8] & 1u << id % 8)
		return false;
	c->ids_used[id / 8] |= (uint8_t)(1u << id % 8);
	return true;
}

/* False if no id is left. */
static bool carried_choose_id(struct carried *c, struct carried_type *t)
{
	t->id = t->schema->tracepoint_id;
	if (carried_take_id(c, t->id))
		return true;
	for (; c->next_id < CARRIED_NR_IDS; c->next_id++) {
		t->id = c->next_id;
		if (carried_take_id(c, t->id))
			return true;
	}
	return false;
}

/* A dynamic field has an offset, which moves; a number may have the other byte order. */
static int carried_find_fixes(struct carried_type *t, const struct sonde_field *fields, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct sonde_field *f = &fields[i];
		const bool swap = field_swap(f, t->swap);

		if (f->kind == SONDE_FIELD_NESTED) {
			TRY(carried_find_fixes(t, f->fields, f->nr_fields));
			continue;
		}
		if (f->kind == SONDE_FIELD_BITS)
			continue;
		if (f->is_dynamic ? t->added || t->swap : swap && f->elem_width > 1)
			if (vec_push(&t->fixes, (struct carried_fix){ f, swap, 0 }) < 0)
				return err_nomem();
	}
	return 0;
}

/* Names of tasks have places in front of the payload. */
static int carried_find_comms(struct carried_type *t)
{
	uint32_t at = EVENTFORMAT_COMMON_BYTES;

	for (size_t i = 0; i < t->schema->nr_fields; i++) {
		const struct sonde_field *f = &t->schema->fields[i];

		if (!eventformat_is_comm(t->schema, f))
			continue;
		if (vec_push(&t->fixes, (struct carried_fix){ .field = f, .comm_at = at }) < 0)
			return err_nomem();
		at += EVENTFORMAT_COMM_BYTES;
	}
	return 0;
}

static int carried_meet(struct carried *c, const struct event *ev, struct carried_type *t)
{
	const struct sonde_schema *sc = ev->schema;

	t->schema = sc;
	t->swap = ev->pub.flags & SONDE_EVENT_SWAPPED;
	t->is_carried = sc->kind == SONDE_TRACEPOINT && !(sc->traits & SCHEMA_PAIR) &&
			(sc->nr_fields || sc->put_text) && carried_choose_id(c, t);
	if (!t->is_carried)
		return 0;
	t->added = eventformat_added_bytes(sc);
	TRY(carried_find_comms(t));
	return carried_find_fixes(t, sc->fields, sc->nr_fields);
}

struct carried_type *carried_type_of(struct carried *c, const struct event *ev, int *ret)
{
	struct carried_type *t;

	*ret = 0;
	while (c->types.n <= ev->pub.schema) {
		*ret = vec_push(&c->types, (struct carried_type){ 0 });
		if (*ret < 0)
			return NULL;
	}
	t = &c->types.v[ev->pub.schema];
	if (!t->schema)
		*ret = carried_meet(c, ev, t);
	return *ret < 0 ? NULL : t;
}

/* ---- records --------------------------------------------------------------------------------- */

static void carried_put(uint8_t *to, const uint8_t *from, uint32_t width)
{
	for (uint32_t i = 0; i < width; i++)
		to[i] = from[width - 1 - i];
}

/* Swaps complete elements, from the payload to the record. */
static void carried_swap(const struct carried *c, const struct carried_type *t,
			 const struct event *ev, uint32_t at, uint32_t len, uint32_t width)
{
	for (uint32_t i = 0; width > 1 && len >= width && i <= len - width; i += width)
		carried_put(c->record + t->added + at + i, ev->pub.bytes + at + i, width);
}

/* False if the name is longer than the kernel's. */
static bool carried_fix_comm(const struct carried *c, const struct carried_fix *fix,
			     const uint8_t *name, uint32_t len)
{
	const size_t n = name ? strnlen((const char *)name, len) : 0;

	if (n >= EVENTFORMAT_COMM_BYTES)
		return false;
	if (n)
		memcpy(c->record + fix->comm_at, name, n);
	return true;
}

/* False if the field's data would be too far from the record's beginning. */
static bool carried_fix(const struct carried *c, const struct carried_type *t,
			const struct carried_fix *fix, const struct event *ev)
{
	const struct sonde_field *f = fix->field;
	const uint8_t *data;
	uint32_t len, word;

	data = field_bytes(f, ev->pub.bytes, ev->pub.bytes_len, t->swap, &len);
	if (fix->comm_at)
		return carried_fix_comm(c, fix, data, len);
	if (f->is_dynamic) {
		if (f->offset > ev->pub.bytes_len || ev->pub.bytes_len - f->offset < 4)
			return true;
		word = get_u32(ev->pub.bytes + f->offset, t->swap);
		if (!f->is_relative && (word & 0xffff) + t->added > LARGEST_OFFSET)
			return false;
		word += f->is_relative ? 0 : t->added;
		memcpy(c->record + t->added + f->offset, &word, sizeof(word));
	}
	if (data && fix->swap && f->kind != SONDE_FIELD_STRING && f->kind != SONDE_FIELD_STRUCT)
		carried_swap(c, t, ev, (uint32_t)(data - ev->pub.bytes), len, f->elem_width);
	return true;
}

struct carried_type *carried_make(struct carried *c, const struct event *ev, const uint8_t **ret,
				  uint32_t *ret_len, int *ret_error)
{
	struct carried_type *t = carried_type_of(c, ev, ret_error);
	uint16_t id;

	if (!t)
		return NULL;
	if (!t->is_carried || ev->pub.bytes_len > CARRIED_MOST_BYTES - t->added ||
	    (!t->added && ev->pub.bytes_len < EVENTFORMAT_COMMON_BYTES)) {
		t->refused++;
		return NULL;
	}
	if (t->added) {
		const int32_t tid = ev->pub.tid > 0 ? ev->pub.tid : 0;

		memset(c->record, 0, t->added);
		memcpy(c->record + EVENTFORMAT_PID_AT, &tid, sizeof(tid));
	}
	memcpy(c->record + t->added, ev->pub.bytes, ev->pub.bytes_len);
	vec_foreach(fix, &t->fixes) {
		if (carried_fix(c, t, fix, ev))
			continue;
		t->refused++;
		return NULL;
	}
	id = (uint16_t)t->id;
	memcpy(c->record, &id, sizeof(id));
	*ret = c->record;
	*ret_len = t->added + ev->pub.bytes_len;
	carried_written(c, t, ev);
	return t;
}

void carried_written(struct carried *c, struct carried_type *t, const struct event *ev)
{
	t->nr++;
	c->without_time += ev->pub.time_ns == SONDE_NO_TIME;
	c->sampled |= t->schema->sampled;
}

void carried_refuse(struct carried *c, struct carried_type *t, const struct event *ev)
{
	t->nr--;
	c->without_time -= ev->pub.time_ns == SONDE_NO_TIME;
	t->refused++;
}

int carried_kind_of(struct carried *c, const struct event *ev)
{
	struct carried_type *t;
	int r;

	if (ev->schema->kind != SONDE_RECORD)
		return CARRIED_SAMPLE;
	if (ev->schema->traits & SCHEMA_LOSS)
		return CARRIED_LOSS;
	if (ev->change && ev->change->kind == CHANGE_COMM)
		return CARRIED_NOTHING;
	t = carried_type_of(c, ev, &r);
	if (t)
		t->refused++;
	return r < 0 ? r : CARRIED_NOTHING;
}

uint64_t carried_time(struct carried *c, const struct event *ev)
{
	if (ev->pub.time_ns != SONDE_NO_TIME)
		c->last_ns = ev->pub.time_ns;
	return c->last_ns;
}

bool carried_loss(struct carried *c, const struct event *ev, struct carried_lost *ret)
{
	static const char name[] = "is_counted", unknown[] = "unknown";
	const struct sonde_field *counted = schema_find_field(ev->schema, name, strlen(name)),
				 *not_known =
					 schema_find_field(ev->schema, unknown, strlen(unknown));
	const struct source_report report = source_read_report(ev->source, ev);

	ret->events = report.lost;
	ret->is_counted =
		!(counted && !field_u64(counted, ev->pub.bytes, ev->pub.bytes_len, false)) &&
		!(not_known && field_u64(not_known, ev->pub.bytes, ev->pub.bytes_len, false));
	if (report.kind == REPORT_LOST_EXACT)
		c->lost_exact += report.lost;
	if (report.kind != REPORT_LOST || !report.lost)
		return false;
	c->lost += report.lost;
	return true;
}

uint64_t carried_lost_elsewhere(const struct carried *c)
{
	return c->lost_exact > c->lost ? c->lost_exact - c->lost : 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

int carried_learn_comm(struct carried *c, const struct event *ev)
{
	const uint64_t tid = (uint32_t)ev->pub.tid;
	uint64_t known;

	if (ev->pub.tid < 0)
		return 0;
	known = hash64_find(&c->comm, tid);
	if (known == ev->pub.comm)
		return 0;
	/* ":TID" is what is shown without a name */
	if (known != HASH64_EMPTY)
		c->renamed += *strpool_text(&c->recordings->strings, (uint32_t)known) != ':';
	return hash64_put(&c->comm, tid, ev->pub.comm) < 0 ? err_nomem() : 1;
}

/* ---- notes ----------------------------------------------------------------------------------- */

static const struct {
	uint64_t bit;
	const char *name;
} carried_values[] = {
	{ SAMPLED_IP, "ip" },
	{ SAMPLED_ADDR, "addr" },
	{ SAMPLED_READ, "counter values" },
	{ SAMPLED_CALLCHAIN, "call chains" },
	{ SAMPLED_PERIOD, "period" },
	{ SAMPLED_BRANCH_STACK, "branch stacks" },
	{ SAMPLED_REGS_USER | SAMPLED_REGS_INTR, "registers" },
	{ SAMPLED_STACK_USER, "stacks" },
	{ SAMPLED_WEIGHTS, "weight" },
	{ SAMPLED_DATA_SRC, "data_src" },
	{ SAMPLED_TRANSACTION, "transaction" },
	{ SAMPLED_PHYS_ADDR, "phys_addr" },
	{ SAMPLED_CGROUP, "cgroup" },
	{ SAMPLED_DATA_PAGE_SIZE | SAMPLED_CODE_PAGE_SIZE, "page sizes" },
};

/* "NAME COUNT, NAME COUNT" */
static void carried_put_refused(const struct carried *c, struct outbuf *out)
{
	const size_t before = out->len;

	for (size_t i = 0; i < c->types.n; i++) {
		const struct carried_type *t = &c->types.v[i];

		if (!t->refused)
			continue;
		outbuf_fmt(out, "%s%s %" PRIu64, out->len == before ? "" : ", ", t->schema->name,
			   t->refused);
	}
}

void carried_put_notes(const struct carried *c, uint64_t sampled, struct outbuf *out)
{
	const uint64_t left = c->sampled & ~sampled;
	const char *before = "";
	bool any = false;

	for (size_t i = 0; i < c->types.n; i++)
		any |= c->types.v[i].refused > 0;
	if (any) {
		outbuf_fmt(out, "events without a place in %s are not written: ", c->format);
		carried_put_refused(c, out);
		outbuf_char(out, '\n');
	}
	for (size_t i = 0; i < sizeof(carried_values) / sizeof(*carried_values); i++) {
		if (!(left & carried_values[i].bit))
			continue;
		if (!*before)
			outbuf_fmt(out, "values of samples without a place in %s are not written: ",
				   c->format);
		outbuf_fmt(out, "%s%s", before, carried_values[i].name);
		before = ", ";
	}
	if (*before)
		outbuf_char(out, '\n');
	if (c->without_time)
		outbuf_fmt(out,
			   "%llu events without a time have that of the event before them, or 0\n",
			   (unsigned long long)c->without_time);
}

/* ---- formats --------------------------------------------------------------------------------- */

static int carried_order(const void *a, const void *b)
{
	const struct carried_format *x = a, *y = b;
	const int by_system = strcmp(x->system, y->system);

	return by_system ? by_system : (x->type->id > y->type->id) - (x->type->id < y->type->id);
}

static int carried_format_make(const struct carried_type *t, struct carried_format *ret)
{
	struct outbuf text = { 0 }, system = { 0 };

	eventformat_put(&text, t->schema, t->id);
	eventformat_put_name(&system, t->schema->system);
	outbuf_char(&system, '\0');
	*ret = (struct carried_format){ t, system.data, text.data, text.len };
	if (!text.failed && !system.failed)
		return 0;
	outbuf_done(&text);
	outbuf_done(&system);
	return err_nomem();
}

int carried_formats_make(struct carried_formats *f, const struct carried *c)
{
	*f = (struct carried_formats){ 0 };
	for (size_t i = 0; i < c->types.n; i++) {
		struct carried_format made;

		if (!c->types.v[i].nr)
			continue;
		TRY(carried_format_make(&c->types.v[i], &made));
		if (vec_push(&f->list, made) < 0) {
			free(made.system);
			free(made.text);
			return err_nomem();
		}
	}
	if (f->list.n)
		qsort(f->list.v, f->list.n, sizeof(*f->list.v), carried_order);
	return 0;
}

void carried_formats_done(struct carried_formats *f)
{
	vec_foreach(each, &f->list) {
		free(each->system);
		free(each->text);
	}
	vec_done(&f->list);
}
