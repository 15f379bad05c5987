/* SPDX-License-Identifier: MIT */
#include "model/schema_table.h"

#include <string.h>

const struct printfmt *schema_printfmt(struct sonde_schema *sc)
{
	if (!sc->print && sc->print_fmt)
		printfmt_compile(&sc->print, sc, sc->dialect);
	return sc->print;
}

int schema_table_add(struct schema_table *t, struct sonde_schema *sc)
{
	uint64_t key, first;

	if (t->schemas.n >= UINT32_MAX)
		return err_set(-E2BIG, "more than 4294967295 event types");
	sc->arena = &t->arena;
	sc->id = sc->family = (uint32_t)t->schemas.n;
	key = hash_bytes(sc->name, strlen(sc->name));
	while ((first = hash64_find(&t->by_name, key)) != HASH64_EMPTY &&
	       strcmp(t->schemas.v[first]->name, sc->name) != 0)
		key++;
	if (first != HASH64_EMPTY)
		sc->family = t->schemas.v[first]->family;
	else
		TRY(hash64_put(&t->by_name, key, sc->id));
	return vec_push(&t->schemas, sc);
}

static bool table_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool table_same_fields(const struct sonde_field *a, const struct sonde_field *b, size_t nr);

static bool table_same_labels(const struct sonde_field *a, const struct sonde_field *b)
{
	bool is_same = a->nr_labels == b->nr_labels;

	for (uint32_t i = 0; is_same && i < a->nr_labels; i++)
		is_same = a->labels[i].from == b->labels[i].from &&
			  a->labels[i].to == b->labels[i].to &&
			  table_same_text(a->labels[i].text, b->labels[i].text);
	return is_same;
}

static bool table_same_field(const struct sonde_field *a, const struct sonde_field *b)
{
	return a->offset == b->offset && a->width == b->width && a->elem_width == b->elem_width &&
	       a->kind == b->kind && a->is_signed == b->is_signed && a->is_array == b->is_array &&
	       a->is_dynamic == b->is_dynamic && a->is_relative == b->is_relative &&
	       a->is_text == b->is_text && a->is_pointer == b->is_pointer &&
	       a->is_long == b->is_long && a->is_common == b->is_common &&
	       a->byte_order == b->byte_order && a->bit_offset == b->bit_offset &&
	       a->bit_width == b->bit_width && table_same_text(a->name, b->name) &&
	       table_same_text(a->type, b->type) && table_same_labels(a, b) &&
	       a->nr_fields == b->nr_fields &&
	       table_same_fields(a->fields, b->fields, a->nr_fields);
}

static bool table_same_fields(const struct sonde_field *a, const struct sonde_field *b, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!table_same_field(&a[i], &b[i]))
			return false;
	}
	return true;
}

static bool table_same(const struct sonde_schema *a, const struct sonde_schema *b)
{
	if (!table_same_text(a->name, b->name) || !table_same_text(a->system, b->system) ||
	    !table_same_text(a->event, b->event) || a->kind != b->kind ||
	    a->abi.swap != b->abi.swap || a->abi.big_endian != b->abi.big_endian ||
	    a->abi.long_bytes != b->abi.long_bytes || a->tracepoint_id != b->tracepoint_id ||
	    a->record_type != b->record_type || a->nr_fields != b->nr_fields ||
	    a->nr_common != b->nr_common || a->dialect != b->dialect ||
	    !table_same_text(a->print_fmt, b->print_fmt) || a->put_text != b->put_text ||
	    a->event_class != b->event_class || a->traits != b->traits ||
	    a->sampled != b->sampled || a->attr_len != b->attr_len ||
	    (a->attr_len && memcmp(a->attr, b->attr, a->attr_len) != 0))
		return false;
	return table_same_fields(a->fields, b->fields, a->nr_fields);
}

int schema_table_take(struct schema_table *t, struct sonde_schema *sc, const void *maker,
		      struct sonde_schema **ret)
{
	t->maker = t->maker ? t->maker : maker;
	t->has_makers |= t->maker != maker;
	for (size_t i = 0; t->has_makers && i < t->schemas.n; i++) {
		struct sonde_schema **other = &t->schemas.v[i];

		/* Two equal events of one recording remain two. */
		if ((*other)->maker && (*other)->maker != maker && table_same(*other, sc)) {
			(*other)->maker = maker;
			*ret = *other;
			return 0;
		}
	}
	sc->maker = maker;
	TRY(schema_table_add(t, sc));
	*ret = sc;
	return 0;
}

void schema_table_done(struct schema_table *t)
{
	vec_foreach(sc, &t->schemas)
		printfmt_free((*sc)->print);
	vec_done(&t->schemas);
	hash64_done(&t->by_name);
	arena_done(&t->arena);
}
