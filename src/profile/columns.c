/* SPDX-License-Identifier: MIT */
#include "profile/columns.h"

#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "compat/rules.h"
#include "model/schema_table.h"
#include "profile/branches.h"
#include "profile/last_comms.h"
#include "profile/memory.h"
#include "profile/texts.h"
#include "profile/values.h"

const struct key_def key_defs[] = {
#define KEY(name, title, width, raw, value, order) { name, title, width, raw, value, &order },
#include "profile/keys.def"
#undef KEY
};
const size_t nr_key_defs = sizeof(key_defs) / sizeof(*key_defs);

static const struct key_def *columns_find_key(const char *name, size_t len)
{
	for (size_t i = 0; i < nr_key_defs; i++) {
		if (strlen(key_defs[i].name) == len && !memcmp(key_defs[i].name, name, len))
			return &key_defs[i];
	}
	return NULL;
}

static bool columns_is_place(enum profile_raw raw)
{
	return raw == RAW_PLACE || raw == RAW_LINE;
}

static int columns_add(struct profile *p, const struct key_def *def, struct profile_column c)
{
	c.def = def;
	c.raw_at = -1;
	if (p->columns.n == PROFILE_MAX_COLUMNS)
		return err_set(-EINVAL, "more than %d sort keys", PROFILE_MAX_COLUMNS);
	p->has_dso |= def->value == value_dso && def->raw == RAW_PLACE;
	p->has_parent |= def->raw == RAW_PARENT;
	p->needs_lines |=
		def->raw == RAW_LINE || def->raw == RAW_FROM_LINE || def->raw == RAW_TO_LINE;
	p->needs_sample |= def->raw >= RAW_WEIGHT || def->raw == RAW_CGROUP_NAME;
	p->needs_place |= def->raw == RAW_PHYS || def->raw == RAW_CODE; /* their letter */
	if (columns_is_place(def->raw))
		p->needs_place = true;
	else
		c.raw_at = (int)p->nr_raws++;
	return vec_push(&p->columns, c);
}

/* ---- fields of tracepoints ------------------------------------------------------------------- */

static const struct key_def field_def = { "", "", 0, RAW_FIELD, value_field, &order_field };

/* The parts of "sched_switch.prev_pid/raw". event_len is 0 for any event. */
struct field_spec {
	const char *event, *field;
	size_t event_len, field_len;
	bool is_raw;
};

static struct field_spec columns_parse_field(const char *word, size_t len)
{
	struct field_spec s = { .field = word };
	const char *dot = memchr(word, '.', len);

	if (len > 4 && !memcmp(word + len - 4, "/raw", 4)) {
		s.is_raw = true;
		len -= 4;
	}
	if (dot && dot < word + len) {
		s.event = word;
		s.event_len = (size_t)(dot - word);
		s.field = dot + 1;
		len -= s.event_len + 1;
	}
	s.field_len = len;
	if (len == 12 && !memcmp(s.field, "trace_fields", 12)) {
		s.field = "*";
		s.field_len = 1;
	}
	return s;
}

static bool columns_is(const char *name, const char *word, size_t len)
{
	return strlen(name) == len && !memcmp(name, word, len);
}

static uint32_t columns_field_width(const struct sonde_field *f)
{
	if (f->is_dynamic)
		return f->is_text ? 4 : 10; /* of the number with its offset and length */
	return f->is_text ? f->width : 2 * f->width + 2;
}

static int columns_add_field(struct profile *p, const struct sonde_schema *sc,
			     const struct sonde_field *f, bool is_raw)
{
	char name[512];
	struct profile_column c = { .field = f, .schema = sc->id, .is_raw = is_raw };

	snprintf(name, sizeof(name), "%s.%s", sc->event, f->name);
	c.name = texts_intern(p, name);
	c.title = texts_intern(p, f->name);
	c.event = texts_intern(p, sc->name);
	c.width = columns_field_width(f);
	return c.name && c.title && c.event ? columns_add(p, &field_def, c) : -ENOMEM;
}

static bool columns_have_field(const struct profile *p, const struct sonde_field *f)
{
	for (size_t i = 0; i < p->columns.n; i++) {
		if (p->columns.v[i].field == f)
			return true;
	}
	return false;
}

/*
 * Adds the columns of a word, without those of fields that have one. Returns the number of fields.
 */
static int columns_add_fields(struct profile *p, const struct schema_table *schemas,
			      const struct field_spec *spec)
{
	int nr = 0;

	for (uint32_t i = 0; schemas && i < schemas->schemas.n; i++) {
		const struct sonde_schema *sc = schemas->schemas.v[i];

		if (sc->kind != SONDE_TRACEPOINT ||
		    (spec->event && !columns_is(sc->name, spec->event, spec->event_len) &&
		     !columns_is(sc->event, spec->event, spec->event_len)))
			continue;
		for (size_t f = sc->nr_common; f < sc->nr_fields; f++) {
			if (!columns_is("*", spec->field, spec->field_len) &&
			    !columns_is(sc->fields[f].name, spec->field, spec->field_len))
				continue;
			nr++;
			if (columns_have_field(p, &sc->fields[f]))
				continue;
			TRY(columns_add_field(p, sc, &sc->fields[f],
					      spec->is_raw || p->opts.raw_fields));
		}
	}
	return nr;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void columns_offer_field(struct near *n, const char *name)
{
	if (!columns_find_key(name, strlen(name)))
		near_offer(n, name);
}

static int columns_unknown_key(const struct schema_table *schemas, const char *name, size_t len)
{
	char meant[3 * NEAR_NAME + 40];
	struct near n;

	near_init_part(&n, name, len);
	for (size_t i = 0; i < nr_key_defs; i++)
		near_offer(&n, key_defs[i].name);
	for (size_t i = 0; schemas && i < schemas->schemas.n; i++) {
		const struct sonde_schema *sc = schemas->schemas.v[i];

		for (size_t f = sc->nr_common; sc->kind == SONDE_TRACEPOINT && f < sc->nr_fields;
		     f++)
			columns_offer_field(&n, sc->fields[f].name);
	}
	near_text(&n, meant, sizeof(meant));
	return err_set(-EINVAL, "there is no sort key '%s'%s", n.wanted, meant);
}

static int columns_add_word(struct profile *p, const struct schema_table *schemas, const char *word,
			    size_t len)
{
	const struct key_def *def = columns_find_key(word, len);
	struct field_spec spec;
	int nr;

	if (def && def->raw >= RAW_FROM && def->raw <= RAW_CYCLES && !p->opts.branches)
		return err_set(-EINVAL, "the sort key '%s' is about branches: it needs branches=1",
			       def->name);
	if (def)
		return columns_add(
			p, def, (struct profile_column){ .name = def->name, .title = def->title });
	spec = columns_parse_field(word, len);
	nr = columns_add_fields(p, schemas, &spec);
	return nr ? nr : columns_unknown_key(schemas, word, len);
}

size_t columns_word_length(const char *text)
{
	size_t n = 0, depth = 0;

	for (; text[n] && (depth || text[n] != ','); n++) {
		depth += text[n] == '(';
		depth -= text[n] == ')' && depth;
	}
	return depth ? strcspn(text, ",") : n;
}

int columns_check(struct profile *p)
{
	const char *text = p->opts.keys ? p->opts.keys : PROFILE_DEFAULT_KEYS;

	p->is_bound = true;
	while (*text) {
		const size_t len = columns_word_length(text);

		p->is_bound &= columns_find_key(text, len) != NULL;
		if (!text[len])
			break;
		text += len + 1;
	}
	return p->is_bound ? columns_bind(p, NULL) : 0;
}

static int columns_ready(struct profile *p)
{
	p->needs_paths =
		p->opts.callgraph != CALLGRAPH_NONE || p->has_parent || p->opts.ignore_callees;
	wordset_init(&p->combinations, 1 + p->nr_raws);
	wordset_init(&p->row_values, 1 + (unsigned)p->columns.n);
	return 0;
}

int columns_bind(struct profile *p, const struct schema_table *schemas)
{
	const char *text = p->opts.keys ? p->opts.keys : PROFILE_DEFAULT_KEYS;

	p->is_bound = true;
	while (*text) {
		const size_t len = columns_word_length(text);

		TRY(columns_add_word(p, schemas, text, len));
		if (!text[len])
			break;
		text += len + 1;
	}
	return columns_ready(p);
}

int columns_copy(struct profile *p, const struct profile *from)
{
	p->is_bound = true;
	for (size_t i = 0; i < from->columns.n; i++) {
		const struct profile_column *c = &from->columns.v[i];
		struct profile_column own = {
			.name = texts_intern(p, c->name),
			.title = texts_intern(p, c->title),
			.event = c->event ? texts_intern(p, c->event) : NULL,
			.width = c->width,
			.is_raw = c->is_raw,
		};

		if (!own.name || !own.title || (c->event && !own.event))
			return -ENOMEM;
		TRY(columns_add(p, c->def, own));
	}
	return columns_ready(p);
}

void columns_done(struct profile *p)
{
	vec_foreach(c, &p->columns) {
		vec_done(&c->values);
		vec_done(&c->by_id);
		hash64_done(&c->by_raw);
		hash64_done(&c->fields);
	}
	vec_done(&p->columns);
}

const struct profile_value *column_value(const struct profile *p, const struct profile_column *c,
					 uint32_t cell)
{
	const uint64_t raw = c->raw_at < 0 ? 2 * (uint64_t)cell_place(p, cell)
					   : wordset_key(&p->combinations,
							 cell_combination(p, cell))[1 + c->raw_at];

	return &c->values.v[hash64_find(&c->by_raw, raw)];
}

uint32_t column_width(const struct profile *p, const struct profile_column *c)
{
	if (c->def->raw == RAW_TIME && p->opts.nanoseconds)
		return c->def->width + 4;
	return c->event ? c->width : c->def->width;
}

bool columns_are_merged_twice(const struct profile *p)
{
	bool is_merged = false;

	for (size_t i = 0; i < p->columns.n; i++) {
		const enum profile_raw raw = p->columns.v[i].def->raw;

		is_merged |= raw == RAW_COMM || raw == RAW_LINE;
	}
	return is_merged;
}

bool column_is_made_late(const struct profile_column *c)
{
	const enum profile_raw raw = c->def->raw;

	return raw == RAW_TRACE || raw == RAW_LINE || raw == RAW_FROM_LINE || raw == RAW_TO_LINE;
}

static bool column_is_compared(const struct profile *p, const struct profile_column *c,
			       uint32_t row)
{
	const ptrdiff_t key = c - p->columns.v;

	return key >= PROFILE_MAX_LATE_COLUMN || (p->rows.v[row].compared_keys >> key & 1);
}

bool row_column_is_unmade(const struct profile *p, const struct profile_column *c, uint32_t row)
{
	const bool is_branch = c->def->raw == RAW_FROM_LINE || c->def->raw == RAW_TO_LINE;

	return is_branch && p->rules->lacks_uncompared_lines && !column_is_compared(p, c, row);
}

uint32_t row_column_width(const struct profile *p, const struct profile_column *c, uint32_t row,
			  const struct profile_value *v)
{
	const uint32_t least = column_width(p, c);

	if (c->def->raw == RAW_COMM)
		return last_comms_width(p, row);
	if (row_column_is_unmade(p, c, row))
		return 1;
	if (c->def->raw == RAW_TRACE || c->def->raw == RAW_LINE)
		return p->rules->narrow_columns && !column_is_compared(p, c, row);
	if (c->def->raw == RAW_TIME)
		return p->rules->narrow_columns ? least : 0;
	if (c->def->value == value_dso_size)
		return p->rules->map_sizes_are_ints;
	return v->width > least ? v->width : least;
}

uint32_t column_table(const struct profile *p, const struct profile_column *c)
{
	if (!c->event)
		return UINT32_MAX;
	for (uint32_t t = 0; t < p->tables.n; t++) {
		if (p->tables.v[t].own.schema == c->schema)
			return t;
	}
	return UINT32_MAX - 1;
}
