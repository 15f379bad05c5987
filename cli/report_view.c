/* SPDX-License-Identifier: MIT */
#include "report_view.h"

#include "report_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN_DSO_WIDTH = 16, UNKNOWN_SYM_WIDTH = 22 };

/* The key whose values a text column shows. */
struct shown_key {
	const struct report_key *key; /* NULL for a field of tracepoints */
	uint32_t profile_key;
	bool is_raw;        /* a field that is shown without the print format */
	bool prints_arrays; /* perf could not print a text of it */
};

/* The memory of a table; all of it is freed at once. */
struct view_table {
	struct report_view *v;
	uint32_t index;
	struct sonde_profile_table facts;
	struct report_table t;
	struct shown_key keys[REPORT_ITEMS * 2];
	size_t nr_keys;
	uint64_t *numbers, *totals;
	uint64_t leader_period; /* of all samples of the first event */
	const char **texts;
	struct report_value *values; /* only for a hierarchy */
	char **owned;                /* texts made here */
	size_t nr_owned;
	struct report_calls calls;
};

/* ---- columns --------------------------------------------------------------------------------- */

/*
 * True if a list has exactly one name, which is stored in *ret. perf reads hexadecimal digits as an
 * address, not as a symbol.
 */
static bool report_view_single(const char *list, bool is_symbols, struct report_name *ret)
{
	size_t names = 0;

	for (size_t len; list && *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (!len || (is_symbols && strspn(list, "0123456789abcdefABCDEFx") >= len))
			continue;
		names++;
		snprintf(ret->text, sizeof(ret->text), "%.*s", (int)len, list);
	}
	return names == 1;
}

bool report_view_elided(const struct report_args *a, const struct report_key *key,
			struct report_name *ret)
{
	static const struct {
		const char *name;
		size_t offset;
	} lists[] = {
		{ "comm", offsetof(struct report_args, comms) },
		{ "dso", offsetof(struct report_args, dsos) },
		{ "symbol", offsetof(struct report_args, symbols) },
	};

	for (size_t i = 0; key && i < sizeof(lists) / sizeof(*lists); i++) {
		const char *list = *(const char *const *)((const char *)a + lists[i].offset);

		if (!strcmp(key->name, lists[i].name))
			return report_view_single(list, !strncmp(key->name, "symbol", 6), ret);
	}
	return false;
}

static void report_view_add_column(struct view_table *vt, const struct report_key *key,
				   struct report_column c)
{
	const size_t i = vt->t.nr_columns;

	if (i < vt->v->nr_fixed_widths && !vt->v->args->hierarchy)
		c.fixed_width = vt->v->fixed_widths[i];
	c.is_cut = !c.is_number;
	if (key && (key->is_uncut || (key->is_fixed && !c.fixed_width)))
		c.is_cut = false;
	c.is_address = !c.is_number && !strncmp(c.name, "addr_", 5);
	vt->t.columns[vt->t.nr_columns++] = c;
}

static void report_view_add_number(struct view_table *vt, const struct report_key *key)
{
	const bool is_percent = key->number != REPORT_SAMPLES && key->number != REPORT_PERIOD_SUM;
	const bool is_guest = key->number == REPORT_GUEST_SYS || key->number == REPORT_GUEST_USER;
	const char *fields = vt->v->args->fields;
	const bool is_self =
		key->number == REPORT_OVERHEAD && vt->v->children && !(fields && *fields != '+');

	report_view_add_column(
		vt, key,
		(struct report_column){
			.title = is_self ? "Self" : key->title,
			.is_number = true,
			.is_percent = is_percent,
			.is_right = true,
			.is_missing = key->number == REPORT_CHILDREN && !vt->v->children,
			.index = key->number,
			.width = is_guest     ? 9
				 : is_percent ? 8
					      : 12,
		});
}

/* Adds the column of key number `profile_key`, unless it belongs to another table. */
static void report_view_add_key(struct view_table *vt, const struct report_item *it,
				uint32_t profile_key)
{
	const struct report_key *key = it->key;
	const char *title = key && key->title ? key->title : NULL;
	const char *name = it->name, *column, *own;
	uint32_t only_table = UINT32_MAX;

	column = sonde_profile_column(vt->v->profile, profile_key, &own, &only_table);
	if (!column)
		return;
	name = key ? name : column;
	title = title ? title : own;
	if (only_table != UINT32_MAX && only_table != vt->index)
		return;
	vt->keys[vt->nr_keys] = (struct shown_key){
		.key = key,
		.profile_key = profile_key,
		.is_raw = !key && (vt->v->args->raw_trace || strchr(it->name, '/')),
	};
	report_view_add_column(vt, key,
			       (struct report_column){
				       .title = title,
				       .is_right = key ? key->is_right : true,
				       .pads_last = key ? key->pads_last : true,
				       .name = name,
				       .index = (unsigned int)vt->nr_keys,
				       .level = it->level,
				       .width = (unsigned int)strlen(title),
			       });
	vt->nr_keys++;
}

/* True if [EVENT.]FIELD[/raw], EVENT.* or trace_fields asks for the column "EVENT.FIELD". */
static bool report_view_asks_for(const char *word, const char *column)
{
	const char *dot = strchr(word, '.'), *field = dot ? dot + 1 : word;
	const char *own = strrchr(column, '.');
	const size_t len = strcspn(field, "/");
	const char *colon = dot ? memchr(word, ':', (size_t)(dot - word)) : NULL;

	if (!own)
		return false;
	if (dot) {
		const char *event = colon ? colon + 1 : word;

		if (own - column != dot - event ||
		    memcmp(column, event, (size_t)(dot - event)) != 0)
			return false;
	}
	return !strncmp(field, "*", len) || !strncmp(field, "trace_fields", len) ||
	       (strlen(own + 1) == len && !memcmp(own + 1, field, len));
}

/* The column after those that begin at `key` and were made for the word. */
static uint32_t report_view_behind_fields(const struct report_view *v, const char *word,
					  uint32_t key)
{
	const char *name;

	while ((name = sonde_profile_column(v->profile, key, NULL, NULL)) &&
	       report_view_asks_for(word, name))
		key++;
	return key;
}

uint32_t report_view_find(const struct report_view *v, const struct report_item *it,
			  uint32_t *ret_first)
{
	const struct report_items *sort = &v->layout->sort;
	uint32_t key = 0, first = 0;

	for (size_t i = 0; i < sort->n; i++) {
		const struct report_item *s = &sort->v[i];

		if (s->key && !(s->key->profile_name && s->key->kind != REPORT_KEY_NUMBER))
			continue;
		first = key;
		key = s->key ? key + 1 : report_view_behind_fields(v, s->name, key);
		if (s->key == it->key && (s->key || !strcmp(s->name, it->name)))
			break;
	}
	*ret_first = first;
	return key - first;
}

/* If all keys would be left out, all of them are shown. */
bool report_view_elides(const struct report_view *v)
{
	const struct report_items *output = &v->layout->output;

	if (v->args->hierarchy)
		return false;
	for (size_t i = 0; i < output->n; i++) {
		const struct report_key *key = output->v[i].key;
		struct report_name name;

		if (!(key && key->kind == REPORT_KEY_NUMBER) &&
		    !report_view_elided(v->args, key, &name))
			return true;
	}
	return false;
}

static int report_view_make_columns(struct view_table *vt)
{
	const struct report_items *output = &vt->v->layout->output;
	const bool elides = report_view_elides(vt->v);

	vt->t.columns = calloc(sizeof(vt->keys) / sizeof(*vt->keys), sizeof(*vt->t.columns));
	if (!vt->t.columns)
		return -ENOMEM;
	for (size_t i = 0; i < output->n; i++) {
		const struct report_item *it = &output->v[i];
		uint32_t first = 0, n = 1;
		struct report_name name;

		if (elides && report_view_elided(vt->v->args, it->key, &name))
			continue;
		if (it->key && it->key->kind == REPORT_KEY_NUMBER) {
			report_view_add_number(vt, it->key);
			continue;
		}
		if (!it->key || it->key->profile_name)
			n = report_view_find(vt->v, it, &first);
		for (uint32_t k = 0; k < n && vt->nr_keys < sizeof(vt->keys) / sizeof(*vt->keys);
		     k++)
			report_view_add_key(vt, it, first + k);
	}
	return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *report_view_own(struct view_table *vt, char *text)
{
	if (!text)
		return NULL;
	vt->owned[vt->nr_owned++] = text;
	return text;
}

/* The place whose letter is in front of a text. */
static uint32_t report_view_level_place(const struct report_key *key,
					const struct sonde_profile_value *value, uint32_t row_place)
{
	/*
	 * A value of symbol has one place in all tables; phys_daddr has none, and the mode of
	 * symbol_iaddr is not recorded.
	 */
	return !value->place || !strcmp(key->name, "symbol") || !strcmp(key->name, "symbol_iaddr")
		       ? row_place
		       : value->place;
}

/*
 * perf's text of a raw field: once it met a text with bytes that cannot be printed, it prints the
 * field's bytes.
 */
static const char *report_view_raw_field(struct view_table *vt, struct shown_key *k,
					 const struct sonde_profile_value *value)
{
	const bool is_array = !strncmp(value->text, "ARRAY[", 6);
	char *text = NULL;
	size_t size;
	FILE *f;

	k->prints_arrays |= is_array;
	if (is_array || !k->prints_arrays || !value->long_text)
		return value->text;
	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	fputs("ARRAY[", f);
	for (uint32_t i = 0; i < value->bytes_len; i++)
		fprintf(f, "%s%02x", i ? ", " : "", (unsigned char)value->long_text[i]);
	fputc(']', f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return report_view_own(vt, text);
}

/* The text of a cell in the row at position `at`; NULL if there is no memory. */
static const char *report_view_text(struct view_table *vt, struct shown_key *k, uint64_t at,
				    const struct sonde_profile_row *row)
{
	struct sonde_profile_value value = { .size = sizeof(value) };
	struct sonde_profile_place place = { .size = sizeof(place) };
	char *text;

	if (sonde_profile_value(vt->v->profile, vt->index, at, k->profile_key, &value) != 1)
		return "";
	if (k->key && k->key->is_sum) {
		if (asprintf(&text, "%" PRIu64, value.number * row->samples) < 0)
			return NULL;
		return report_view_own(vt, text);
	}
	if (k->key && k->key->has_level && !vt->v->is_for_programs) {
		const uint32_t of = report_view_level_place(k->key, &value, row->place);

		if (!value.level && sonde_profile_place(vt->v->profile, of, &place) != 1)
			return value.text;
		if (asprintf(&text, "[%c] %s%s", value.level ? value.level : place.level,
			     value.text, place.is_inlined ? REPORT_INLINED : "") < 0)
			return NULL;
		return report_view_own(vt, text);
	}
	if (vt->v->verbose && k->key && !strncmp(k->key->name, "dso", 3) && value.long_text &&
	    strcmp(k->key->name, "dso_size"))
		return value.long_text;
	if (k->is_raw && vt->v->as_perf)
		return report_view_raw_field(vt, k, &value);
	if (vt->v->is_for_programs)
		return value.text + strspn(value.text, " ");
	return value.text;
}

static void report_view_numbers(uint64_t *to, const struct sonde_profile_row *row)
{
	to[REPORT_OVERHEAD] = to[REPORT_PERIOD_SUM] = row->period;
	to[REPORT_CHILDREN] = row->children_period;
	to[REPORT_SYS] = row->period_sys;
	to[REPORT_USER] = row->period_us;
	to[REPORT_GUEST_SYS] = row->period_guest_sys;
	to[REPORT_GUEST_USER] = row->period_guest_us;
	to[REPORT_SAMPLES] = row->samples;
}

static bool report_view_has_symbol(const struct view_table *vt,
				   const struct sonde_profile_value *value)
{
	struct sonde_profile_place place = { .size = sizeof(place) };

	return sonde_profile_place(vt->v->profile, value->place, &place) == 1 && place.sym;
}

/*
 * perf measures the dso of a branch only if the address has a symbol, and the address itself only
 * if it has none.
 */
static bool report_view_is_unmeasured(const struct view_table *vt, const struct report_key *key,
				      const struct sonde_profile_value *value)
{
	if (key->kind != REPORT_KEY_BRANCH)
		return false;
	if (!strncmp(key->name, "dso_", 4))
		return !report_view_has_symbol(vt, value);
	return !strncmp(key->name, "addr_", 5) && report_view_has_symbol(vt, value);
}

/* True if a width that the profile gives for a value replaces that of its text. */
static bool report_view_is_fixed(const struct report_key *key)
{
	static const char *const names[] = { "comm",    "trace", "dso_size",     "srcline",
					     "srcfile", "time",  "srcline_from", "srcline_to" };

	for (size_t i = 0; key && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(key->name, names[i]))
			return true;
	return !key; /* a field of tracepoints */
}

/* perf makes the column of dsos wider for a place without a name. */
static bool report_view_is_unknown_dso(const struct report_key *key,
				       const struct sonde_profile_value *value, bool unresolved)
{
	if (key && !strcmp(key->name, "dso_daddr"))
		return value->kind == SONDE_VALUE_NONE;
	return key && !strcmp(key->name, "dso") && unresolved;
}

static void report_view_widen(struct view_table *vt, const struct report_row *row, bool unresolved)
{
	const struct report_args *a = vt->v->args;

	for (size_t i = 0; i < vt->t.nr_columns; i++) {
		struct report_column *c = &vt->t.columns[i];
		const struct shown_key *k = &vt->keys[c->index];
		struct sonde_profile_value value = { .size = sizeof(value) };
		unsigned int width;

		if (c->is_number)
			continue;
		width = k->key && k->key->is_fixed
				? 0
				: (unsigned int)report_text_width(row->texts[c->index]);
		if (sonde_profile_value(vt->v->profile, vt->index, row->id, k->profile_key,
					&value) == 1) {
			if (value.width > width || (value.width && report_view_is_fixed(k->key)))
				width = value.width;
			if (k->key && k->key->has_level && value.kind == SONDE_VALUE_ADDRESS &&
			    width < UNKNOWN_SYM_WIDTH)
				width = UNKNOWN_SYM_WIDTH;
		}
		if (k->key && report_view_is_unmeasured(vt, k->key, &value))
			width = 0;
		if (report_view_is_unknown_dso(k->key, &value, unresolved) && !a->widths &&
		    !a->separator && !a->dsos && width < UNKNOWN_DSO_WIDTH)
			width = UNKNOWN_DSO_WIDTH;
		if (width > c->width)
			c->width = width;
	}
}

/* True if only other members of a group have samples in the row. */
static bool report_view_lacks_leader(const struct report_view *v, uint32_t index, uint64_t n)
{
	struct sonde_profile_row leader = { .size = sizeof(leader) };

	return sonde_profile_row_member(v->profile, index, n, 0, &leader) == 1 && !leader.samples &&
	       !leader.children_samples;
}

bool report_view_has_word(const struct report_view *v, uint32_t index, uint64_t n,
			  const struct sonde_profile_row *row)
{
	const char *word = v->args->symbol_filter;
	struct sonde_profile_place place = { .size = sizeof(place) };

	if (!word || v->filters_none || (index && v->filters_first))
		return true;
	if (v->filters_first && report_view_lacks_leader(v, index, n))
		return true;
	return sonde_profile_place(v->profile, row->place, &place) == 1 && place.sym &&
	       strstr(place.sym, word);
}

static void report_view_put_values(const struct view_table *vt, uint64_t row,
				   struct report_value *to)
{
	for (size_t k = 0; k < vt->nr_keys; k++) {
		struct sonde_profile_value value = { .size = sizeof(value) };
		if (sonde_profile_value(vt->v->profile, vt->index, row, vt->keys[k].profile_key,
					&value) == 1)
			to[k] = (struct report_value){ value.id, value.rank };
	}
}

static uint32_t report_view_unknown(const struct view_table *vt, uint32_t place)
{
	struct sonde_profile_place p = { .size = sizeof(p) };

	return sonde_profile_place(vt->v->profile, place, &p) == 1 ? p.unknown : SONDE_KNOWN;
}

static int report_view_make_rows(struct view_table *vt)
{
	const size_t nr = (size_t)vt->facts.nr_rows, members = vt->t.nr_members;
	struct sonde_profile_row row = { .size = sizeof(row) };
	int r;

	vt->numbers = calloc(nr * members * REPORT_NUMBERS + 1, sizeof(*vt->numbers));
	vt->texts = calloc(nr * vt->nr_keys + 1, sizeof(*vt->texts));
	vt->owned = calloc(nr * vt->nr_keys + 1, sizeof(*vt->owned));
	vt->t.rows = calloc(nr + 1, sizeof(*vt->t.rows));
	if (vt->v->args->hierarchy)
		vt->values = calloc(nr * vt->nr_keys + 1, sizeof(*vt->values));
	if (!vt->numbers || !vt->texts || !vt->owned || !vt->t.rows ||
	    (vt->v->args->hierarchy && !vt->values))
		return -ENOMEM;
	for (uint64_t i = 0; (r = sonde_profile_row(vt->v->profile, vt->index, i, &row)) > 0; i++) {
		const size_t n = vt->t.nr_rows;
		uint64_t *numbers = vt->numbers + n * members * REPORT_NUMBERS;
		const char **texts = vt->texts + n * vt->nr_keys;
		struct report_row *to = &vt->t.rows[n];
		const bool unresolved = row.flags & SONDE_ROW_UNRESOLVED;

		if (n == nr || row.flags & SONDE_ROW_FILTERED || vt->v->hides_rows ||
		    !report_view_has_word(vt->v, vt->index, i, &row))
			continue;
		for (size_t k = 0; k < vt->nr_keys; k++) {
			texts[k] = report_view_text(vt, &vt->keys[k], i, &row);
			if (!texts[k])
				return -ENOMEM;
		}
		for (uint32_t m = 0; m < members; m++) {
			struct sonde_profile_row member = { .size = sizeof(member) };

			if (members == 1)
				report_view_numbers(numbers, &row);
			else if (sonde_profile_row_member(vt->v->profile, vt->index, i, m,
							  &member) == 1)
				report_view_numbers(numbers + m * REPORT_NUMBERS, &member);
		}
		*to = (struct report_row){ .numbers = numbers, .texts = texts, .id = i };
		if (vt->v->is_for_programs && unresolved)
			to->unknown = report_view_unknown(vt, row.place);
		if (vt->values) {
			to->values = vt->values + n * vt->nr_keys;
			to->merged = row.merged;
			report_view_put_values(vt, i, vt->values + n * vt->nr_keys);
		}
		report_view_widen(vt, to, unresolved);
		vt->t.nr_rows++;
	}
	return r;
}

static int report_view_make_totals(struct view_table *vt)
{
	vt->totals = calloc(vt->t.nr_members, sizeof(*vt->totals));
	if (!vt->totals)
		return -ENOMEM;
	vt->t.totals = vt->totals;
	for (uint32_t m = 0; m < vt->t.nr_members; m++) {
		struct sonde_profile_table member = { .size = sizeof(member) };

		if (sonde_profile_member(vt->v->profile, vt->index, m, &member) != 1)
			continue;
		vt->totals[m] = vt->v->args->is_relative ? member.shown_period : member.period;
		if (!m)
			vt->leader_period = member.period;
	}
	return 0;
}

/* True if -s, with the keys that `+` adds to, begins with a symbol. The default does not count. */
static bool report_view_begins_with_sym(const struct report_args *a)
{
	const char *keys = a->sort;

	if (keys && *keys == '+')
		keys = a->default_sort;
	return keys && !strncmp(keys, "sym", 3);
}

/* ---- call graphs ----------------------------------------------------------------------------- */

static int report_view_draw(void *ctx, FILE *out, const struct report_row *row)
{
	struct view_table *vt = ctx;
	const struct report_args *a = vt->v->args;
	struct report_graph g = a->graph;
	struct report_graph_row drawn = {
		.value = row->numbers[vt->v->children ? REPORT_CHILDREN : REPORT_OVERHEAD],
		.omits_first = !a->fields && report_view_begins_with_sym(a),
	};
	uint64_t least;
	int r;

	g.total = vt->totals[0];
	/* perf's branches are shares of all samples, also with --percentage relative */
	if (vt->v->as_perf && !a->hierarchy)
		g.percent_total = vt->leader_period;
	least = vt->v->put_calls ? 0 : report_graph_least(&g);
	r = report_calls_make(&vt->calls, vt->v->profile, a, vt->index, row->id, least,
			      &drawn.roots);
	g.separator = a->separator;
	g.in_color = a->in_color;
	if (r <= 0)
		return r;
	return vt->v->put_calls ? vt->v->put_calls(out, drawn.roots)
				: report_graph_print(out, &g, &drawn);
}

/* Chains that an event borrows are drawn only on request. */
static bool report_view_has_graphs(const struct view_table *vt)
{
	const struct sonde_schema *sc = sonde_session_schema(vt->v->session, vt->facts.schema);
	const uint64_t of_paths = vt->v->by_history
					  ? PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK
					  : PERF_SAMPLE_CALLCHAIN;

	return vt->v->has_graphs &&
	       (vt->v->args->show_ref_graph || sonde_schema_sampled(sc) & of_paths);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void report_view_done(struct view_table *vt)
{
	for (size_t i = 0; i < vt->nr_owned; i++)
		free(vt->owned[i]);
	free(vt->owned);
	free(vt->texts);
	free(vt->numbers);
	free(vt->values);
	free(vt->totals);
	free(vt->t.rows);
	free(vt->t.columns);
	report_calls_done(&vt->calls);
	free(vt);
}

int report_view_make(struct report_view *v, uint32_t index,
		     int (*print)(void *ctx, FILE *out, const struct report_table *t), void *ctx,
		     FILE *out)
{
	struct view_table *vt = calloc(1, sizeof(*vt));
	int r;

	if (!vt)
		return -ENOMEM;
	vt->v = v;
	vt->index = index;
	vt->facts.size = sizeof(vt->facts);
	r = sonde_profile_table(v->profile, index, &vt->facts) == 1 ? 0 : -EINVAL;
	vt->t.nr_members = vt->facts.nr_members;
	vt->t.separator = v->args->separator;
	vt->t.no_titles = v->args->quiet;
	vt->t.in_color = v->args->in_color;
	vt->t.min_percent = v->min_percent;
	vt->t.draw = report_view_has_graphs(vt) ? report_view_draw : NULL;
	vt->t.draw_ctx = vt;
	if (!r)
		r = report_view_make_columns(vt);
	if (!r)
		r = report_view_make_totals(vt);
	if (!r)
		r = report_view_make_rows(vt);
	if (!r)
		r = print(ctx, out, &vt->t);
	report_view_done(vt);
	return r;
}

static int report_view_put(void *ctx, FILE *out, const struct report_table *t)
{
	const struct report_view *v = ctx;

	return v->args->hierarchy ? report_hierarchy_print(out, t) : report_table_print(out, t);
}

int report_view_print(FILE *out, struct report_view *v, uint32_t index)
{
	return report_view_make(v, index, report_view_put, v, out);
}
