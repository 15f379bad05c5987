/* SPDX-License-Identifier: MIT */
/* Makes the schemas: the fields of each class of events, and their places in the payload. */

#include <stdio.h>

#include "base/err.h"
#include "formats/ctf/text.h"
#include "model/record_schema.h"
#include "model/sampled.h"
#include "model/schema_table.h"
#include "sources/ctf/ctf.h"

/* The most of all events together: each has the fields of its stream's context, too. */
enum { MOST_FIELDS = 1 << 20 };

/* Chooses places in one payload. */
struct layout {
	struct ctf_source *s;
	VEC(struct sonde_field) fields;
	uint32_t used;
	const struct ctf_alias *alias; /* the event has a name of the kernel; NULL if not */
	bool is_context;
	bool is_perf;   /* the event was converted by perf */
	bool is_copied; /* places are as in the record, where fields may be unaligned */
};

static uint32_t schemas_width(const struct ctf_step *s)
{
	return s->is_leb ? 8 : s->bits <= 8 ? 1 : s->bits <= 16 ? 2 : s->bits <= 32 ? 4 : 8;
}

static bool schemas_is_number(const struct ctf_step *s)
{
	return s->kind == CTF_INT || s->kind == CTF_ENUM ||
	       (s->kind == CTF_FLOAT && (s->bits == 32 || s->bits == 64));
}

/* The place of n bytes; false if the payload's fixed part is full. */
static bool schemas_place(struct layout *l, struct ctf_step *s, uint64_t n, uint32_t align)
{
	const uint32_t at = l->is_copied ? l->used : (l->used + align - 1) & ~(align - 1);

	if (n > CTF_MOST_FIXED || at > CTF_MOST_FIXED - n)
		return false;
	s->to = at;
	l->used = at + (uint32_t)n;
	return true;
}

static const char *schemas_integer_type(struct layout *l, const struct ctf_step *s, const char *end)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%u%s",
		 s->kind == CTF_FLOAT ? "float"
		 : s->is_signed       ? "s"
				      : "u",
		 s->is_leb ? 64 : s->bits, end);
	return arena_strdup(&l->s->opts.schemas->arena, text);
}

static struct sonde_field schemas_field(const struct ctf_step *s, uint32_t width)
{
	return (struct sonde_field){
		.size = sizeof(struct sonde_field),
		.offset = s->to,
		.width = width,
		.elem_width = width,
		.kind = SONDE_FIELD_INT,
		.is_signed = s->is_signed,
	};
}

/* A copy: schemas may outlive their source. NULL without memory. */
static const struct sonde_label *schemas_labels(struct layout *l, const struct ctf_type *type)
{
	struct arena *a = &l->s->opts.schemas->arena;
	struct sonde_label *to = arena_array(a, type->nr_labels + 1, sizeof(*to));

	for (uint32_t i = 0; to && i < type->nr_labels; i++) {
		to[i] = type->labels[i];
		to[i].text = arena_strdup(a, type->labels[i].text);
		if (!to[i].text)
			to = NULL;
	}
	if (!to)
		err_nomem();
	return to;
}

/* A number of one of the places, or elements of it. */
static bool schemas_number(struct layout *l, struct ctf_step *s, struct sonde_field *ret)
{
	const uint32_t width = schemas_width(s);

	if (!schemas_place(l, s, width, width))
		return false;
	s->fill = FILL_NUMBER;
	s->width = (uint8_t)width;
	*ret = schemas_field(s, width);
	ret->is_pointer = s->kind == CTF_INT && s->base == 16;
	if (s->kind == CTF_ENUM) {
		ret->kind = SONDE_FIELD_ENUM;
		ret->labels = schemas_labels(l, s->type);
		ret->nr_labels = ret->labels ? s->type->nr_labels : 0;
	} else if (s->kind == CTF_FLOAT) {
		ret->kind = SONDE_FIELD_FLOAT;
		ret->is_signed = false;
	}
	ret->type = s->kind == CTF_ENUM    ? "enum"
		    : s->kind != CTF_FLOAT ? schemas_integer_type(l, s, "")
		    : s->bits == 32        ? "float"
					   : "double";
	return true;
}

/* A dynamic field: a word with its place and length. */
static bool schemas_dynamic(struct layout *l, struct ctf_step *s, enum ctf_fill fill,
			    struct sonde_field *ret)
{
	if (!schemas_place(l, s, 4, 4))
		return false;
	s->fill = (uint8_t)fill;
	*ret = schemas_field(s, 4);
	ret->kind = SONDE_FIELD_STRING;
	ret->is_signed = false;
	ret->is_array = ret->is_dynamic = ret->is_text = true;
	ret->elem_width = 1;
	ret->type = "__data_loc char[]";
	return true;
}

static bool schemas_sequence(struct layout *l, struct ctf_step *s, struct sonde_field *ret)
{
	const struct ctf_step *elem = s + 1;

	if (!schemas_dynamic(l, s, FILL_SEQUENCE, ret))
		return false;
	s->width = (uint8_t)schemas_width(elem);
	ret->kind = SONDE_FIELD_ARRAY;
	ret->is_text = false;
	ret->is_signed = elem->is_signed;
	ret->elem_width = s->width;
	ret->type = schemas_integer_type(l, elem, "[]");
	return true;
}

static bool schemas_array(struct layout *l, struct ctf_step *s, struct sonde_field *ret)
{
	const struct ctf_step *elem = s + 1;
	const bool is_text = ctf_is_text_array(s);
	const uint32_t width = schemas_width(elem);
	char end[32];

	if (s->count > CTF_MOST_FIXED || !schemas_place(l, s, s->count * width, width))
		return false;
	s->fill = is_text ? FILL_BYTES : FILL_ELEMENTS;
	s->width = (uint8_t)width;
	*ret = schemas_field(s, (uint32_t)(s->count * width));
	ret->kind = is_text ? SONDE_FIELD_STRING : SONDE_FIELD_ARRAY;
	ret->is_array = true;
	ret->is_text = is_text;
	ret->is_signed = elem->is_signed;
	ret->elem_width = width;
	snprintf(end, sizeof(end), "[%llu]", (unsigned long long)s->count);
	if (is_text) {
		char type[48];

		snprintf(type, sizeof(type), "char%s", end);
		ret->type = arena_strdup(&l->s->opts.schemas->arena, type);
	} else {
		ret->type = schemas_integer_type(l, elem, end);
	}
	return true;
}

static int schemas_members(struct layout *l, struct ctf_step *steps, uint32_t at,
			   const struct sonde_field **ret, uint32_t *ret_nr);

/* The field of one step. Returns 0 if the payload has no room for it. */
static int schemas_value(struct layout *l, struct ctf_step *steps, uint32_t at,
			 struct sonde_field *ret)
{
	struct ctf_step *s = &steps[at];
	const struct ctf_step *elem = s + 1;

	switch ((enum ctf_kind)s->kind) {
	case CTF_INT:
	case CTF_ENUM:
	case CTF_FLOAT:
		return schemas_is_number(s) ? schemas_number(l, s, ret) : 0;
	case CTF_STRING:
		return schemas_dynamic(l, s, FILL_STRING, ret);
	case CTF_STRUCT:
		s->fill = FILL_MEMBERS;
		s->to = l->used = (l->used + 7) & ~7u;
		*ret = schemas_field(s, 0);
		TRY(schemas_members(l, steps, at, &ret->fields, &ret->nr_fields));
		ret->kind = SONDE_FIELD_NESTED;
		ret->type = "struct";
		ret->width = l->used > s->to ? l->used - s->to : 0;
		ret->elem_width = 0;
		return ret->width > 0; /* a width of 0 would mean the rest of the payload */
	case CTF_ARRAY:
		if (elem->kind == CTF_INT && s->count && s->count <= CTF_MOST_FIXED / 8 &&
		    (ctf_is_text_array(s) || !elem->is_text || elem->bits != 8))
			return schemas_array(l, s, ret);
		break;
	case CTF_SEQUENCE:
		if (ctf_is_text_array(s))
			return schemas_dynamic(l, s, FILL_TEXT, ret);
		if (elem->kind == CTF_INT)
			return schemas_sequence(l, s, ret);
		break;
	case CTF_VARIANT:
		break;
	}
	return schemas_dynamic(l, s, FILL_PRINTED, ret);
}

static const char *schemas_name_of(struct layout *l, struct ctf_step *s)
{
	const char *name = l->alias ? ctf_alias_field(l->alias, s->shown, &s->add) : NULL;

	return name ? name : s->shown;
}

/* The byte order of a copied value; 0 if it is that of this host. */
static uint8_t schemas_order(const struct ctf_step *steps, uint32_t i)
{
	const struct ctf_step *number = steps[i].kind == CTF_ARRAY ? &steps[i + 1] : &steps[i];
	const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	return number->is_big == host_is_big ? 0
	       : number->is_big              ? SONDE_ORDER_BIG
					     : SONDE_ORDER_LITTLE;
}

/* True if something can be added to the number after it was copied. */
static bool schemas_can_add(const struct ctf_step *s)
{
	return s->kind == CTF_INT && s->is_big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* True if the value may be copied as it is recorded: bytes, or numbers of complete bytes. */
static bool schemas_is_plain(struct layout *l, const struct ctf_step *s)
{
	const struct ctf_step *number = s->kind == CTF_ARRAY ? s + 1 : s;
	int32_t add = 0;

	if (l->alias && s->shown)
		(void)ctf_alias_field(l->alias, s->shown, &add);
	return s->is_fixed && !s->is_hidden && (!add || schemas_can_add(s)) && !(s->align % 8) &&
	       schemas_is_number(number) && !(number->align % 8) &&
	       (number->bits == 8 || number->bits == 16 || number->bits == 32 ||
		number->bits == 64) &&
	       (s->kind != CTF_ARRAY ||
		(s->count && s->count <= CTF_MOST_FIXED / 8 && number->kind == CTF_INT &&
		 number->align <= number->bits && (ctf_is_text_array(s) || !number->is_text)));
}

/* The end of the plain members from step i on; *ret_bytes: their size with what is between. */
static uint32_t schemas_plain_run(struct layout *l, const struct ctf_step *steps, uint32_t i,
				  uint32_t end, uint32_t *ret_bytes)
{
	const uint32_t align = steps[i].align;
	uint64_t bytes = 0;

	for (; i < end && schemas_is_plain(l, &steps[i]) && steps[i].align <= align;
	     i = steps[i].next) {
		const uint32_t own = steps[i].align / 8;
		const uint64_t at = (bytes + own - 1) & ~(uint64_t)(own - 1);

		if (at + steps[i].fixed_bits / 8 > CTF_MOST_FIXED / 2)
			break;
		bytes = at + steps[i].fixed_bits / 8;
	}
	*ret_bytes = (uint32_t)bytes;
	return i;
}

/* True for the length of the sequence behind it, if sonde wrote it: the sequence has it. */
static bool schemas_is_own_length(const struct layout *l, const struct ctf_step *s,
				  const struct ctf_step *end)
{
	const struct ctf_step *sequence = s + 1;
	const size_t n = sequence < end && sequence->shown ? strlen(sequence->shown) : 0;

	return l->s->is_own && n && s->kind == CTF_INT && sequence->kind == CTF_SEQUENCE &&
	       s->slot != CTF_NO_SLOT && s->slot == sequence->ref && s->shown[0] == '_' &&
	       !strncmp(s->shown + 1, sequence->shown, n) &&
	       !strncmp(s->shown + 1 + n, "_length", strlen("_length"));
}

/* What is added to numbers of the copied steps from the i-th one on. */
static int schemas_make_adds(struct layout *l, struct ctf_step *steps, uint32_t i)
{
	struct ctf_step *first = &steps[i];
	struct ctf_add *adds;
	uint32_t n = 0;

	for (uint32_t k = i; k < first->copy_next; k = steps[k].next)
		n += steps[k].add != 0;
	if (!n)
		return 0;
	first->adds = adds = arena_array(&l->s->arena, n, sizeof(*adds));
	if (!adds)
		return err_nomem();
	for (uint32_t k = i; k < first->copy_next; k = steps[k].next)
		if (steps[k].add)
			adds[first->nr_adds++] = (struct ctf_add){
				.to = steps[k].to,
				.add = steps[k].add,
				.width = (uint8_t)(steps[k].bits / 8),
			};
	return 0;
}

/* The members of the struct at a step, which become fields. */
static int schemas_members(struct layout *l, struct ctf_step *steps, uint32_t at,
			   const struct sonde_field **ret, uint32_t *ret_nr)
{
	VEC(struct sonde_field) fields = { 0 };
	struct arena *a = &l->s->opts.schemas->arena;
	struct sonde_field *copy;
	uint32_t run_end = 0, run_at = 0;
	int r = 0;

	for (uint32_t i = at + 1; i < steps[at].next && r >= 0; i = steps[i].next) {
		struct sonde_field f = { 0 };

		if (steps[i].is_hidden || !steps[i].shown ||
		    schemas_is_own_length(l, &steps[i], &steps[steps[at].next]))
			continue;
		if (i >= run_end) {
			uint32_t bytes;

			run_end = schemas_plain_run(l, steps, i, steps[at].next, &bytes);
			run_at = l->used;
			steps[i].copy_next =
				bytes && l->used + bytes <= CTF_MOST_FIXED ? run_end : 0;
			steps[i].copy_bytes = bytes;
			run_end = steps[i].copy_next;
		}
		l->is_copied = i < run_end;
		if (l->is_copied) {
			const uint32_t own = steps[i].align / 8, into = l->used - run_at;

			l->used = run_at + ((into + own - 1) & ~(own - 1));
		}
		r = schemas_value(l, steps, i, &f);
		if (r > 0 && l->is_copied && (f.elem_width ? f.elem_width : f.width) > 1)
			f.byte_order = schemas_order(steps, i);
		l->is_copied = false;
		if (steps[i].copy_next)
			steps[i].fill = FILL_COPY;
		if (r > 0) {
			f.name = arena_strdup(a, schemas_name_of(l, &steps[i]));
			r = f.name && f.type && vec_push(&fields, f) >= 0 ? 0 : err_nomem();
		} else if (r == 0) {
			steps[i].fill = FILL_NONE;
		}
	}
	for (uint32_t i = at + 1; i < steps[at].next && r >= 0; i = steps[i].next)
		if (steps[i].fill == FILL_COPY)
			r = schemas_make_adds(l, steps, i);
	copy = arena_array(a, fields.n + 1, sizeof(*copy));
	if (copy && fields.n)
		memcpy(copy, fields.v, fields.n * sizeof(*copy));
	*ret = copy;
	*ret_nr = (uint32_t)fields.n;
	vec_done(&fields);
	return r < 0 ? r : copy ? 0 : err_nomem();
}

/*
 * perf data convert puts what a sample has, and the common fields, in front of the event's own;
 * sonde convert only the call chain.
 */
static bool schemas_is_perf_common(const char *name)
{
	return !strncmp(name, "perf_", 5) || !strncmp(name, "common_", 7);
}

static bool schemas_is_perf(const struct ctf_program *program)
{
	const struct ctf_step *steps = program->steps;

	for (uint32_t i = 1; i < program->nr; i = steps[i].next)
		if (steps[i].shown && (!strcmp(steps[i].shown, "perf_tid") ||
				       !strcmp(steps[i].shown, "perf_callchain_size")))
			return true;
	return false;
}

/* Adds the fields of a scope. */
static int schemas_scope(struct layout *l, const struct ctf_program *program)
{
	const struct sonde_field *fields;
	uint32_t nr;

	if (!program->nr)
		return 0;
	program->steps[0].fill = FILL_MEMBERS;
	TRY(schemas_members(l, program->steps, 0, &fields, &nr));
	for (uint32_t i = 0; i < nr; i++) {
		struct sonde_field f = fields[i];

		f.is_common = l->is_context || (l->is_perf && schemas_is_perf_common(f.name));
		if (l->s->nr_fields++ >= MOST_FIELDS)
			return err_set(-E2BIG, "%s: its events have more than %d fields",
				       l->s->trace.path, MOST_FIELDS);
		if (vec_push(&l->fields, f) < 0)
			return err_nomem();
	}
	return 0;
}

/* A context's field has another name if the event has a field of its name. */
static int schemas_rename_contexts(struct layout *l, size_t nr_contexts)
{
	struct hash64 later = { 0 }; /* hash of a name -> its last field */
	struct sonde_field *f = l->fields.v;
	int r = 0;

	for (size_t i = l->fields.n; nr_contexts && i-- > 0 && r >= 0;) {
		const uint64_t hash = hash_bytes(f[i].name, strlen(f[i].name)),
			       same = hash64_find(&later, hash);
		char name[256];

		if (same == HASH64_EMPTY) {
			r = hash64_put(&later, hash, i);
		} else if (i < nr_contexts && !strcmp(f[same].name, f[i].name)) {
			snprintf(name, sizeof(name), "ctx_%s", f[i].name);
			f[i].name = arena_strdup(&l->s->opts.schemas->arena, name);
			r = f[i].name ? 0 : -ENOMEM;
		}
	}
	hash64_done(&later);
	return r < 0 ? err_nomem() : 0;
}

/* "provider:event": *ret_system is the provider; for other names it is "ctf". */
static int schemas_split_name(struct ctf_source *s, struct ctf_event_type *type,
			      struct sonde_schema *sc)
{
	struct arena *a = &s->opts.schemas->arena;
	struct ctf_alias alias;
	char room[128], name[200];
	const char *recorded = type->class->name ? type->class->name : "", *colon;

	type->is_alias = s->is_kernel && ctf_alias_event(recorded, &alias, room);
	if (type->is_alias) {
		snprintf(name, sizeof(name), "%s:%s", alias.system, alias.event);
		outbuf_fmt(&s->aliases, "%s%s=%s", s->aliases.len ? " " : "", recorded, name);
		recorded = name;
	}
	sc->name = arena_strdup(a, recorded);
	colon = strchr(recorded, ':');
	sc->system = colon ? arena_strndup(a, recorded, (size_t)(colon - recorded)) : "ctf";
	sc->event = !sc->name ? NULL : colon ? sc->name + (colon - recorded) + 1 : sc->name;
	return sc->name && sc->system ? 0 : err_nomem();
}

/* Lists an alias of a field once. */
static void schemas_note_field(struct ctf_source *s, const char *from, const char *to)
{
	char text[128];
	size_t n;

	n = (size_t)snprintf(text, sizeof(text), " %s=%s", from, to);
	if (n < sizeof(text) &&
	    !(s->field_aliases.len && memmem(s->field_aliases.data, s->field_aliases.len, text, n)))
		outbuf_put(&s->field_aliases, text, n);
}

static void schemas_note_fields(struct ctf_source *s, const struct ctf_alias *alias,
				const struct ctf_program *program)
{
	const struct ctf_step *steps = program->steps;
	int32_t add;

	for (uint32_t i = 1; alias && i < program->nr; i = steps[i].next) {
		const char *name = ctf_alias_field(alias, steps[i].shown, &add);

		if (name && strcmp(name, steps[i].shown) != 0)
			schemas_note_field(s, steps[i].shown, name);
	}
}

/* The text of an event that has no fields of its own. */
static void schemas_put_nothing(const struct event *ev __attribute__((unused)),
				struct outbuf *out __attribute__((unused)))
{
}

static bool schemas_is_added(const struct ctf_source *s, const char *name)
{
	const size_t n = strlen(name);
	const char *p = s->added_contexts;

	for (; p && *p; p += strcspn(p, " ") + (p[strcspn(p, " ")] == ' '))
		if (strcspn(p, " ") == n && !strncmp(p, name, n))
			return true;
	return false;
}

/*
 * Takes the contexts that sonde added when it wrote the trace away from the fields: the event
 * itself has their values.
 */
static int schemas_take_added(struct layout *l, struct ctf_event_type *type)
{
	size_t n = 0;

	type->added = arena_array(&l->s->arena, l->fields.n + 1, sizeof(*type->added));
	if (!type->added)
		return err_nomem();
	for (size_t i = 0; i < l->fields.n; i++) {
		if (schemas_is_added(l->s, l->fields.v[i].name))
			type->added[type->nr_added++] = l->fields.v[i];
		else
			l->fields.v[n++] = l->fields.v[i];
	}
	l->fields.n = n;
	for (size_t i = 0; i < type->nr_added; i++)
		type->added[i].is_common = true;
	return 0;
}

/* The step that copies all `used` bytes of a payload, if there is such a one. */
static const struct ctf_step *schemas_only_copy(const struct ctf_event_type *type, uint32_t used)
{
	const struct ctf_program *fields = &type->class->fields_program;
	const struct ctf_step *first = fields->nr > 1 ? &fields->steps[1] : NULL;

	return first && !type->stream->event_context_program.nr &&
			       !type->class->context_program.nr && first->fill == FILL_COPY &&
			       first->copy_next == fields->nr && !first->to &&
			       first->copy_bytes == used
		       ? first
		       : NULL;
}

static int schemas_make_type(struct ctf_source *s, struct ctf_event_type *type)
{
	struct layout l = { .s = s, .is_context = true };
	struct arena *a = &s->opts.schemas->arena;
	struct sonde_schema *sc = arena_alloc(a, sizeof(*sc));
	struct ctf_alias alias;
	char room[128];
	size_t nr_contexts;
	int r;

	if (!sc)
		return err_nomem();
	*sc = (struct sonde_schema){
		.kind = SONDE_TRACEPOINT,
		.event_class = EVENT_TRACEPOINT,
		.sampled = SAMPLED_TID | SAMPLED_CPU | SAMPLED_RAW |
			   (type->stream->clock ? SAMPLED_TIME : 0),
		.abi = { .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, .long_bytes = 8 },
	};
	sc->dialect = (int)s->opts.rules->printfmt_dialect;
	TRY(schemas_split_name(s, type, sc));
	r = schemas_scope(&l, &type->stream->event_context_program);
	if (r >= 0)
		r = schemas_scope(&l, &type->class->context_program);
	if (r >= 0 && s->added_contexts)
		r = schemas_take_added(&l, type);
	nr_contexts = l.fields.n;
	l.is_context = false;
	l.is_perf = schemas_is_perf(&type->class->fields_program);
	if (type->is_alias) {
		(void)ctf_alias_event(type->class->name, &alias, room);
		l.alias = &alias;
		schemas_note_fields(s, l.alias, &type->class->fields_program);
	}
	if (r >= 0)
		r = schemas_scope(&l, &type->class->fields_program);
	if (r >= 0)
		r = schemas_rename_contexts(&l, nr_contexts);
	sc->nr_fields = l.fields.n;
	for (sc->nr_common = 0; sc->nr_common < l.fields.n; sc->nr_common++)
		if (!l.fields.v[sc->nr_common].is_common)
			break;
	if (sc->nr_fields == sc->nr_common)
		sc->put_text = schemas_put_nothing;
	sc->fields = arena_array(a, l.fields.n + 1, sizeof(*sc->fields));
	if (sc->fields && l.fields.n)
		memcpy(sc->fields, l.fields.v, l.fields.n * sizeof(*sc->fields));
	vec_done(&l.fields);
	if (r < 0)
		return r;
	if (!sc->fields)
		return err_nomem();
	type->fixed = (l.used + 7) & ~7u;
	type->copy = schemas_only_copy(type, l.used);
	TRY(schema_table_take(s->opts.schemas, sc, s, &type->schema));
	type->rule = s->is_kernel ? ctf_task_rule_of(type->class->name)
		     : l.is_perf && !strcmp(sc->system, "sched") ? ctf_task_rule_of(sc->event)
								 : TASK_NONE;
	ctf_task_find_fields(type);
	type->has_task = type->known[KNOWN_CPU] || type->known[KNOWN_PID] || type->known[KNOWN_TID];
	return 0;
}

static int schemas_make_lost(struct ctf_source *s)
{
	static const struct sonde_field fields[] = {
		RECORD_NUMBER(struct ctf_lost, lost, "u64", false),
		RECORD_NUMBER(struct ctf_lost, packets, "u64", false),
		RECORD_NUMBER(struct ctf_lost, unknown, "u64", false),
	};

	return record_schema_make(s->opts.schemas, s, "lost", SCHEMA_LOSS, fields, 3,
				  &s->lost_schema);
}

int ctf_schemas_make(struct ctf_source *s)
{
	s->types = arena_array(&s->arena, s->trace.events.n + 1, sizeof(*s->types));
	if (!s->types)
		return err_nomem();
	vec_foreach(stream, &s->trace.streams) {
		vec_foreach(event, &(*stream)->events) {
			struct ctf_event_type *type = &s->types[(*event)->place];

			type->stream = *stream;
			type->class = *event;
			TRY(schemas_make_type(s, type));
		}
	}
	outbuf_put(&s->aliases, s->field_aliases.data, s->field_aliases.len);
	return schemas_make_lost(s);
}
