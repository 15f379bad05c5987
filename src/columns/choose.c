/* SPDX-License-Identifier: MIT */
/* Chooses the columns of a table and their types, and finds their values in events of a schema. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"
#include "columns/table.h"
#include "model/sampled.h"
#include "model/schema_table.h"
#include "model/value.h"

#define SAMPLED_ID        (UINT64_C(1) << 6)
#define SAMPLED_STREAM_ID (UINT64_C(1) << 9)

#define VALUE(member, bits)                                             \
	{                                                               \
#member, bits, 0, offsetof(struct sonde_sample, member) \
	}
const struct sample_value sample_values[] = {
	VALUE(ip, SAMPLED_IP),
	VALUE(addr, SAMPLED_ADDR),
	VALUE(id, SAMPLED_ID | SAMPLED_IDENTIFIER),
	VALUE(stream_id, SAMPLED_STREAM_ID),
	VALUE(period, SAMPLED_PERIOD),
	VALUE(weight, SAMPLED_WEIGHTS),
	VALUE(data_src, SAMPLED_DATA_SRC),
	VALUE(transaction, SAMPLED_TRANSACTION),
	VALUE(phys_addr, SAMPLED_PHYS_ADDR),
	VALUE(cgroup, SAMPLED_CGROUP),
	VALUE(data_page_size, SAMPLED_DATA_PAGE_SIZE),
	VALUE(code_page_size, SAMPLED_CODE_PAGE_SIZE),
	{ "time_enabled", SAMPLED_READ, READ_TIME_ENABLED,
	  offsetof(struct sonde_sample, time_enabled_ns) },
	{ "time_running", SAMPLED_READ, READ_TIME_RUNNING,
	  offsetof(struct sonde_sample, time_running_ns) },
};
const size_t nr_sample_values = sizeof(sample_values) / sizeof(sample_values[0]);

static const char *const own_names[NR_OWN_COLUMNS] = {
	"time", "cpu", "pid", "tid", "comm", "stack"
};

/* ---- types ----------------------------------------------------------------------------------- */

static char choose_int_format(uint32_t width, bool is_signed)
{
	switch (width) {
	case 1:
		return is_signed ? 'c' : 'C';
	case 2:
		return is_signed ? 's' : 'S';
	case 4:
		return is_signed ? 'i' : 'I';
	}
	return is_signed ? 'l' : 'L';
}

static void choose_int(struct column *c, enum column_form form, uint32_t width, bool is_signed)
{
	c->form = form;
	c->width = (uint8_t)width;
	c->is_signed = is_signed;
	c->format = choose_int_format(width, is_signed);
}

/* The bytes that hold a number of so many bits. */
static uint32_t choose_bytes_of_bits(uint32_t bits)
{
	return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

static void choose_number(struct column *c, const struct sonde_field *f)
{
	const uint32_t width = f->bit_width ? choose_bytes_of_bits(f->bit_width) : f->width;

	if (f->is_pointer)
		choose_int(c, COLUMN_INT, 8, f->is_signed);
	else if (value_has_width(width))
		choose_int(c, COLUMN_INT, width, f->is_signed);
	else
		c->form = COLUMN_BYTES;
}

static bool choose_has_names(const struct sonde_schema *sc, const struct sonde_field *f)
{
	size_t nr;
	const struct sonde_define *d = schema_defines((struct sonde_schema *)sc, &nr);

	for (size_t i = 0; i < nr; i++) {
		if ((d[i].kind == SONDE_DEFINE_FLAG_FIELD ||
		     d[i].kind == SONDE_DEFINE_SYMBOLIC_FIELD) &&
		    !strcmp(d[i].field, f->name))
			return true;
	}
	return false;
}

/* The type of a field of one schema; with SONDE_COLUMNS_NAMES, of a field whose values have names.
 */
static void choose_type(struct column *c, uint32_t flags, const struct sonde_field *f)
{
	switch (f->kind) {
	case SONDE_FIELD_INT:
	case SONDE_FIELD_ENUM:
	case SONDE_FIELD_BITS:
		choose_number(c, f);
		if (c->form == COLUMN_INT && flags & SONDE_COLUMNS_NAMES) {
			c->form = COLUMN_DICT;
			c->is_names = true;
		}
		return;
	case SONDE_FIELD_FLOAT:
		c->form = COLUMN_FLOAT;
		c->width = (uint8_t)f->width;
		c->format = f->width == sizeof(float) ? 'f' : 'g';
		if (f->width != sizeof(float) && f->width != sizeof(double))
			c->form = COLUMN_BYTES;
		return;
	case SONDE_FIELD_STRING:
		c->form = COLUMN_DICT;
		c->is_binary = flags & SONDE_COLUMNS_BYTES;
		return;
	case SONDE_FIELD_ARRAY:
		if (value_has_width(f->elem_width)) {
			choose_int(c, COLUMN_LIST, f->elem_width, f->is_signed);
			return;
		}
		break;
	}
	c->form = COLUMN_BYTES;
}

/* The narrowest type with all values of both; the other schema's field is of kind `more`. */
static void choose_wider(struct column *c, const struct column *more)
{
	uint32_t width = c->width > more->width ? c->width : more->width;
	const struct column *is_unsigned = c->is_signed ? more : c;

	if (c->form != more->form)
		return;
	if (c->form == COLUMN_FLOAT) {
		c->width = (uint8_t)width;
		c->format = width == sizeof(float) ? 'f' : 'g';
	} else if (c->form == COLUMN_INT || c->form == COLUMN_LIST) {
		if (c->is_signed != more->is_signed && is_unsigned->width == width && width < 8)
			width *= 2;
		choose_int(c, c->form, width, c->is_signed || more->is_signed);
	}
}

/* ---- columns --------------------------------------------------------------------------------- */

static int choose_own_name(const char *name, size_t len)
{
	for (int i = 0; i < NR_OWN_COLUMNS; i++) {
		if (strlen(own_names[i]) == len && !memcmp(own_names[i], name, len))
			return i;
	}
	return -1;
}

static bool choose_has_column(const struct table *t, enum column_from from, const char *name,
			      size_t len)
{
	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct column *c = &t->columns[i];

		if (c->from == from && strlen(c->field) == len && !memcmp(c->field, name, len))
			return true;
	}
	return false;
}

static int choose_push(struct table *t, struct column *take, const char *prefix, const char *name,
		       size_t len)
{
	const size_t prefix_len = strlen(prefix);
	struct column *columns = reallocarray(t->columns, t->nr_columns + 1, sizeof(*columns));

	if (!columns)
		return err_nomem();
	t->columns = columns;
	take->name = malloc(prefix_len + len + 1);
	if (!take->name)
		return err_nomem();
	memcpy(take->name, prefix, prefix_len);
	memcpy(take->name + prefix_len, name, len);
	take->name[prefix_len + len] = '\0';
	take->field = take->name + prefix_len;
	t->columns[t->nr_columns++] = *take;
	t->has_samples |= take->from == COLUMN_SAMPLE;
	t->has_lists |= take->form == COLUMN_LIST || take->form == COLUMN_BYTES;
	if (take->form != COLUMN_DICT)
		return 0;
	/* The column is in the table already: whoever frees that frees the dictionary. */
	return dictionary_init(&t->columns[t->nr_columns - 1].dict,
			       take->from == COLUMN_STACK ? take->width : 1);
}

static int choose_add_own(struct table *t, enum column_from from)
{
	struct column c = { .from = from };

	if (choose_has_column(t, from, own_names[from], strlen(own_names[from])))
		return 0;
	if (from == COLUMN_TIME)
		choose_int(&c, COLUMN_INT, 8, true);
	else if (from < COLUMN_COMM)
		choose_int(&c, COLUMN_INT, 4, true);
	else if (from == COLUMN_STACK && t->frames)
		choose_int(&c, COLUMN_DICT, sizeof(int32_t), true);
	else if (from == COLUMN_STACK)
		choose_int(&c, COLUMN_DICT, sizeof(uint64_t), false);
	else
		c.form = COLUMN_DICT;
	c.is_binary = from == COLUMN_COMM && t->flags & SONDE_COLUMNS_BYTES;
	return choose_push(t, &c, "", own_names[from], strlen(own_names[from]));
}

static int choose_add_sample(struct table *t, uint32_t member)
{
	const char *name = sample_values[member].name;
	struct column c = { .from = COLUMN_SAMPLE, .member = member };

	choose_int(&c, COLUMN_INT, 8, false);
	return choose_push(t, &c, "", name, strlen(name));
}

/* The table's flags for a field: with SONDE_COLUMNS_NAMES if a schema of the family names values.
 */
static uint32_t choose_flags(const struct tables *t, const struct table *table, const char *name,
			     size_t len)
{
	vec_foreach(sc, &t->all->schemas.schemas) {
		const struct sonde_field *f;

		if ((*sc)->family != table->family)
			continue;
		f = schema_find_field(*sc, name, len);
		if (f && choose_has_names(*sc, f))
			return table->flags;
	}
	return table->flags & ~(uint32_t)SONDE_COLUMNS_NAMES;
}

/* Adds the column of a field, with the type that all schemas of the family need. */
static int choose_add_field(const struct tables *t, struct table *table, const char *name,
			    size_t len)
{
	const uint32_t flags = choose_flags(t, table, name, len);
	struct column c = { .from = COLUMN_FIELD };

	vec_foreach(sc, &t->all->schemas.schemas) {
		struct column more = { .from = COLUMN_FIELD };
		const struct sonde_field *f;

		if ((*sc)->family != table->family)
			continue;
		f = schema_find_field(*sc, name, len);
		if (!f)
			continue;
		if (c.type) {
			choose_type(&more, flags, f);
			choose_wider(&c, &more);
		} else {
			choose_type(&c, flags, f);
			c.type = f->type ? f->type : "";
		}
	}
	if (!c.type)
		return 0;
	TRY(choose_push(table, &c, choose_own_name(name, len) >= 0 ? "f_" : "", name, len));
	return 1;
}

static bool choose_has_sample_value(const struct sonde_schema *sc, const struct sample_value *v)
{
	return sc->kind <= SONDE_SAMPLE && sc->sampled & v->bits;
}

static int choose_find_sample(const struct tables *t, const struct table *table, const char *name,
			      size_t len)
{
	for (uint32_t i = 0; i < nr_sample_values; i++) {
		if (strlen(sample_values[i].name) != len ||
		    memcmp(sample_values[i].name, name, len))
			continue;
		vec_foreach(sc, &t->all->schemas.schemas) {
			if ((*sc)->family == table->family &&
			    choose_has_sample_value(*sc, &sample_values[i]))
				return (int)i;
		}
	}
	return -1;
}

static int choose_unknown(const struct tables *t, const struct table *table, const char *name,
			  size_t len)
{
	char meant[3 * NEAR_NAME + 40];
	struct near near;

	near_init_part(&near, name, len);
	vec_foreach(sc, &t->all->schemas.schemas) {
		if ((*sc)->family != table->family)
			continue;
		for (size_t i = 0; i < (*sc)->nr_fields; i++)
			near_offer(&near, (*sc)->fields[i].name);
		for (size_t i = 0; i < nr_sample_values; i++) {
			if (choose_has_sample_value(*sc, &sample_values[i]))
				near_offer(&near, sample_values[i].name);
		}
	}
	for (unsigned i = 0; i < NR_OWN_COLUMNS; i++)
		near_offer(&near, own_names[i]);
	near_text(&near, meant, sizeof(meant));
	return err_set(-ENOENT, "%s has no field '%s'%s", table->name, near.wanted, meant);
}

static int choose_add_named(struct tables *t, struct table *table, const char *name, size_t len)
{
	const int own = choose_own_name(name, len);
	int r;

	if (len > 2 && !memcmp(name, "f_", 2) && choose_own_name(name + 2, len - 2) >= 0) {
		name += 2;
		len -= 2;
	}
	if (choose_has_column(table, COLUMN_FIELD, name, len) ||
	    choose_has_column(table, COLUMN_SAMPLE, name, len))
		return err_set(-EINVAL, "the field '%.*s' is named twice", (int)len, name);
	r = choose_add_field(t, table, name, len);
	if (r)
		return r < 0 ? r : 0;
	if (own >= 0)
		return choose_add_own(table, (enum column_from)own);
	r = choose_find_sample(t, table, name, len);
	return r < 0 ? choose_unknown(t, table, name, len) : choose_add_sample(table, (uint32_t)r);
}

static int choose_add_all(struct tables *t, struct table *table)
{
	bool is_sample = false;

	vec_foreach(sc, &t->all->schemas.schemas) {
		if ((*sc)->family != table->family)
			continue;
		is_sample |= (*sc)->kind == SONDE_SAMPLE;
		for (size_t i = (*sc)->nr_common; i < (*sc)->nr_fields; i++) {
			const char *name = (*sc)->fields[i].name;

			if (!choose_has_column(table, COLUMN_FIELD, name, strlen(name)))
				TRY(choose_add_field(t, table, name, strlen(name)));
		}
	}
	for (uint32_t i = 0; is_sample && i < nr_sample_values; i++) {
		const char *name = sample_values[i].name;

		if (choose_find_sample(t, table, name, strlen(name)) >= 0 &&
		    !choose_has_column(table, COLUMN_FIELD, name, strlen(name)))
			TRY(choose_add_sample(table, i));
	}
	return 0;
}

int choose_columns(struct tables *t, struct table *table, const char *fields)
{
	for (enum column_from i = 0;
	     i < COLUMN_STACK && !(table->flags & SONDE_COLUMNS_FIELDS_ONLY); i++)
		TRY(choose_add_own(table, i));
	if (table->flags & (SONDE_COLUMNS_STACKS | SONDE_COLUMNS_FRAMES))
		TRY(choose_add_own(table, COLUMN_STACK));
	if (!fields)
		return choose_add_all(t, table);
	while (*fields) {
		const size_t len = strcspn(fields, ",");

		TRY(choose_add_named(t, table, fields, len));
		fields += len + (fields[len] == ',');
	}
	return 0;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static struct plan_field choose_place(const struct table *t, const struct column *c,
				      const struct sonde_schema *sc)
{
	const struct sonde_field *f = schema_find_field(sc, c->field, strlen(c->field));
	struct column own = { .from = COLUMN_FIELD };

	if (!f)
		return (struct plan_field){ 0 };
	choose_type(&own, t->flags & ~(uint32_t)SONDE_COLUMNS_NAMES, f);
	if (own.form != (c->is_names ? COLUMN_INT : c->form))
		return (struct plan_field){ .is_unfit = true };
	return (struct plan_field){
		.field = f,
		.is_same = own.format == c->format && !field_is_special(f) &&
			   (c->form != COLUMN_INT || f->width == c->width),
	};
}

int choose_plan(struct table *table, const struct sonde_schema *sc, struct plan **ret)
{
	struct plan *p = calloc(1, sizeof(*p));

	if (!p)
		return err_nomem();
	*p = (struct plan){ .schema = sc, .table = table };
	p->fields = calloc(table->nr_columns + 1, sizeof(*p->fields));
	if (!p->fields) {
		free(p);
		return err_nomem();
	}
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (table->columns[i].from == COLUMN_FIELD)
			p->fields[i] = choose_place(table, &table->columns[i], sc);
	}
	*ret = p;
	return 0;
}

void choose_plan_done(struct plan *p)
{
	while (p) {
		struct plan *next = p->next;

		free(p->fields);
		free(p);
		p = next;
	}
}
