/* SPDX-License-Identifier: MIT */
/* The rows of an aggregation as one JSON object: docs/formats/aggregate-json.md. */
#include "base/json.h"

#include <string.h>

#include "aggregate/aggregate.h"
#include "base/err.h"

/* The functions of a call chain, the outermost first. */
static void json_put_stack(struct json *j, const char *text)
{
	json_array(j);
	while (*text) {
		const size_t len = strcspn(text, ";");

		json_string(j, text, len);
		text += len + (text[len] == ';');
	}
	json_end(j);
}

static void json_put_value(struct json *j, const struct sonde_aggregate_value *v)
{
	switch (v->kind) {
	case SONDE_AGGREGATE_NUMBER:
		json_i64(j, (int64_t)v->number);
		return;
	case SONDE_AGGREGATE_UNSIGNED:
	case SONDE_AGGREGATE_ADDRESS:
		json_u64(j, v->number);
		return;
	case SONDE_AGGREGATE_TEXT:
		json_text(j, v->text);
		return;
	case SONDE_AGGREGATE_STACK:
		json_put_stack(j, v->text);
		return;
	default:
		json_null(j);
	}
}

static void json_put_buckets(struct json *j, const struct sonde_aggregate_row *row)
{
	json_member_array(j, "buckets");
	for (uint32_t i = 0; i < row->nr_buckets; i++) {
		const struct sonde_aggregate_bucket *b = &row->buckets[i];

		json_object(j);
		if (b->low == INT64_MIN)
			json_member_null(j, "from");
		else
			json_member_i64(j, "from", b->low);
		if (b->high == INT64_MAX)
			json_member_null(j, "below");
		else
			json_member_i64(j, "below", b->high + 1);
		json_member_u64(j, "count", b->count);
		json_end(j);
	}
	json_end(j);
}

static void json_put_row(struct json *j, const struct aggregate *a,
			 const struct sonde_aggregate_row *row)
{
	json_object(j);
	if (row->flags & SONDE_AGGREGATE_OTHER)
		json_member_bool(j, "other", true);
	json_member_object(j, "keys");
	for (unsigned i = 0; i < row->nr_keys; i++) {
		json_name(j, a->keys[i].name, strlen(a->keys[i].name));
		json_put_value(j, &row->keys[i]);
	}
	json_end(j);
	json_member_u64(j, "count", row->count);
	if (a->field) {
		json_member_i64(j, "sum", row->sum);
		json_member_i64(j, "min", row->min);
		json_member_i64(j, "max", row->max);
		json_member_i64(j, "mean", row->mean);
	}
	if (row->flags & SONDE_AGGREGATE_SATURATED)
		json_member_bool(j, "saturated", true);
	if (a->kind == AGGREGATE_STATS) {
		json_member_i64(j, "p50", row->p50);
		json_member_i64(j, "p90", row->p90);
		json_member_i64(j, "p95", row->p95);
		json_member_i64(j, "p99", row->p99);
	}
	if (a->kind >= AGGREGATE_HIST)
		json_put_buckets(j, row);
	json_end(j);
}

static void json_put_head(struct json *j, const struct aggregate *a,
			  const struct sonde_aggregate_print_options *o)
{
	json_object(j);
	json_member_text(j, "schema", "sonde-aggregate");
	json_member_u64(j, "version", 1);
	json_member_text(j, "title", a->title);
	json_member_text(j, "kind", aggregate_kind_names[a->kind]);
	json_member_text(j, "events", a->events);
	if (a->field)
		json_member_text(j, "field", a->field);
	json_member_array(j, "by");
	for (unsigned i = 0; i < a->nr_keys; i++)
		json_text(j, a->keys[i].name);
	json_end(j);
	if (a->where_text)
		json_member_text(j, "where", a->where_text);
	if (a->kind == AGGREGATE_LHIST) {
		json_member_i64(j, "low", a->low);
		json_member_i64(j, "high", a->high);
		json_member_i64(j, "step", a->step);
	}
	if (o->to_ns) {
		json_member_u64(j, "from_ns", o->from_ns);
		json_member_u64(j, "to_ns", o->to_ns);
	}
	json_member_u64(j, "count", a->count);
	json_member_u64(j, "unfit", a->unfit);
	json_member_u64(j, "merged", a->merged_shown);
}

/* The number of rows behind the first `top`, without the row of merged keys. */
static uint64_t json_left_out(const struct aggregate *a, uint32_t top)
{
	const size_t nr = a->order.n;
	const size_t own = nr - (nr && a->order.v[nr - 1] == AGGREGATE_OTHER);

	return top && top < own ? own - top : 0;
}

int aggregate_put_json(struct aggregate *a, const struct sonde_aggregate_print_options *o,
		       struct outbuf *out)
{
	const uint32_t top = o->top;
	struct json j = json_to(out);
	const int nr = aggregate_sort(a);

	TRY(nr);
	json_put_head(&j, a, o);
	json_member_u64(&j, "left_out", json_left_out(a, top));
	json_member_array(&j, "rows");
	for (int i = 0; i < nr; i++) {
		struct sonde_aggregate_row row;

		TRY(aggregate_row_at(a, (size_t)i, &row));
		if (!top || (uint32_t)i < top || row.flags & SONDE_AGGREGATE_OTHER)
			json_put_row(&j, a, &row);
	}
	json_end_line(&j);
	return out->failed ? err_nomem() : 0;
}
