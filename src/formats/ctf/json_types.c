/* SPDX-License-Identifier: MIT */
#include "formats/ctf/json_types.h"

#include <string.h>

#include "base/err.h"

static struct ctf_type *types_new(struct json_metadata *m, enum ctf_kind kind)
{
	struct ctf_type *type = arena_alloc(&m->trace->arena, sizeof(*type));

	if (!type) {
		err_nomem();
		return NULL;
	}
	*type = (struct ctf_type){ .kind = kind, .align = 1, .base = 10 };
	return type;
}

static int types_align(struct json_metadata *m, const struct json_value *v, const char *name,
		       uint32_t least, uint32_t *ret)
{
	uint64_t n;

	TRY(json_metadata_unsigned(m, v, name, 1, &n));
	if (!n || n & (n - 1) || n > UINT32_C(1) << 20)
		return json_metadata_fail(m, v->at,
					  "an alignment is a power of 2, at most 1048576");
	*ret = n > least ? (uint32_t)n : least;
	return 0;
}

/* ---- roles ----------------------------------------------------------------------------------- */

static int types_roles(struct json_metadata *m, const struct json_value *v, struct ctf_type *type)
{
	static const struct {
		const char *name;
		enum ctf_role role;
		bool is_clock;
	} roles[] = {
		{ "packet-magic-number", CTF_ROLE_MAGIC, false },
		{ "metadata-stream-uuid", CTF_ROLE_UUID, false },
		{ "data-stream-class-id", CTF_ROLE_STREAM_ID, false },
		{ "data-stream-id", CTF_ROLE_INSTANCE_ID, false },
		{ "packet-total-length", CTF_ROLE_PACKET_SIZE, false },
		{ "packet-content-length", CTF_ROLE_CONTENT_SIZE, false },
		{ "default-clock-timestamp", CTF_ROLE_NONE, true },
		{ "packet-end-default-clock-timestamp", CTF_ROLE_END, true },
		{ "discarded-event-record-counter-snapshot", CTF_ROLE_DISCARDED, false },
		{ "packet-sequence-number", CTF_ROLE_PACKET_NUMBER, false },
		{ "event-record-class-id", CTF_ROLE_EVENT_ID, false },
	};
	const struct json_value *list = json_member(v, "roles");

	for (const struct json_value *r = list ? list->first : NULL; r; r = r->next) {
		if (r->kind != JSON_TEXT)
			return json_metadata_fail(m, r->at, "a role must be a string");
		for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++) {
			if (strcmp(r->text, roles[i].name) != 0)
				continue;
			type->role = roles[i].role;
			type->is_default_clock = roles[i].is_clock;
		}
	}
	return 0;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int types_order(struct json_metadata *m, const struct json_value *v, struct ctf_type *type)
{
	const char *order, *bits;
	bool is_big;

	TRY(json_metadata_text(m, v, "byte-order", &order));
	TRY(json_metadata_text(m, v, "bit-order", &bits));
	if (!order || (strcmp(order, "little-endian") != 0 && strcmp(order, "big-endian") != 0))
		return json_metadata_fail(m, v->at,
					  "'byte-order' must be little-endian or big-endian");
	is_big = !strcmp(order, "big-endian");
	if (bits && strcmp(bits, is_big ? "last-to-first" : "first-to-last") != 0)
		return json_metadata_fail(
			m, v->at, "a bit-order of '%.40s' with bytes in %s order is not read", bits,
			order);
	type->order = is_big ? SONDE_ORDER_BIG : SONDE_ORDER_LITTLE;
	return 0;
}

static int types_base(struct json_metadata *m, const struct json_value *v, struct ctf_type *type)
{
	uint64_t base;

	TRY(json_metadata_unsigned(m, v, "preferred-display-base", type->base, &base));
	if (base != 2 && base != 8 && base != 10 && base != 16)
		return json_metadata_fail(m, v->at, "a display base is 2, 8, 10 or 16");
	type->base = (uint8_t)base;
	return 0;
}

/* A range [from, to]. */
static int types_range(struct json_metadata *m, const struct json_value *v, struct ctf_range *ret)
{
	const struct json_value *from = v->kind == JSON_ARRAY ? v->first : NULL,
				*to = from ? from->next : NULL;

	if (!to || to->next || from->kind != JSON_INTEGER || to->kind != JSON_INTEGER)
		return json_metadata_fail(m, v->at, "a range is an array of two integers");
	*ret = (struct ctf_range){ from->number, to->number };
	return 0;
}

static int types_mappings(struct json_metadata *m, const struct json_value *v,
			  struct ctf_type *type)
{
	const struct json_value *list = json_member(v, "mappings");
	VEC(struct sonde_label) labels = { 0 };
	int r = 0;

	if (!list || list->kind != JSON_OBJECT || !list->nr)
		return 0;
	for (const struct json_value *l = list->first; l && r >= 0; l = l->next) {
		for (const struct json_value *range = l->first; range && r >= 0;
		     range = range->next) {
			struct ctf_range ends = { 0, 0 };

			r = types_range(m, range, &ends);
			if (r >= 0 && labels.n >= CTF_MOST_MEMBERS)
				r = json_metadata_fail(m, l->at, "more than %d mappings",
						       CTF_MOST_MEMBERS);
			if (r >= 0 && vec_push(&labels, (struct sonde_label){ ends.from, ends.to,
									      l->name }) < 0)
				r = err_nomem();
		}
	}
	type->kind = CTF_ENUM;
	type->nr_labels = (uint32_t)labels.n;
	type->labels = ctf_copy(m->trace, labels.v, labels.n, sizeof(*labels.v));
	vec_done(&labels);
	return r < 0 ? r : type->labels ? 0 : err_nomem();
}

static int types_fixed(struct json_metadata *m, const struct json_value *v, struct ctf_type *type)
{
	uint64_t bits;

	TRY(json_metadata_unsigned(m, v, "length", 0, &bits));
	if (!bits || bits > 64)
		return json_metadata_fail(m, v->at, "a number of %llu bits is not read (1 to 64)",
					  (unsigned long long)bits);
	if (type->kind == CTF_FLOAT && bits != 32 && bits != 64)
		return json_metadata_fail(m, v->at, "a float has %llu bits; sonde reads 32 and 64",
					  (unsigned long long)bits);
	type->bits = (uint32_t)bits;
	TRY(types_align(m, v, "alignment", 1, &type->align));
	TRY(types_order(m, v, type));
	TRY(types_base(m, v, type));
	TRY(types_roles(m, v, type));
	return type->kind == CTF_INT ? types_mappings(m, v, type) : 0;
}

static int types_variable(struct json_metadata *m, const struct json_value *v,
			  struct ctf_type *type)
{
	type->is_leb = true;
	type->bits = 64;
	type->align = 8;
	type->order = SONDE_ORDER_LITTLE;
	TRY(types_base(m, v, type));
	TRY(types_roles(m, v, type));
	return types_mappings(m, v, type);
}

/* ---- locations ------------------------------------------------------------------------------- */

static int types_location(struct json_metadata *m, const struct json_value *of, const char *name,
			  struct ctf_path *ret)
{
	static const struct {
		const char *origin;
		const char *words[3];
	} origins[] = {
		{ "packet-header", { "trace", "packet", "header" } },
		{ "packet-context", { "stream", "packet", "context" } },
		{ "event-record-header", { "stream", "event", "header" } },
		{ "event-record-common-context", { "stream", "event", "context" } },
		{ "event-record-specific-context", { "event", "context", NULL } },
		{ "event-record-payload", { "event", "fields", NULL } },
	};
	const struct json_value *v = json_member(of, name), *path;
	VEC(const char *) words = { 0 };
	const char *origin;
	bool is_known = false;
	int r = 0;

	path = json_member(v, "path");
	if (!path || path->kind != JSON_ARRAY || !path->nr || path->nr > CTF_MOST_DEPTH)
		return json_metadata_fail(m, of->at, "'%s' must have a path of 1 to %d names", name,
					  CTF_MOST_DEPTH);
	TRY(json_metadata_text(m, v, "origin", &origin));
	for (size_t i = 0; origin && i < sizeof(origins) / sizeof(*origins); i++) {
		if (strcmp(origin, origins[i].origin) != 0)
			continue;
		is_known = true;
		for (size_t k = 0; k < 3 && origins[i].words[k] && r >= 0; k++)
			r = vec_push(&words, origins[i].words[k]);
	}
	if (origin && !is_known)
		r = json_metadata_fail(m, v->at, "'%.60s' is no origin", origin);
	/* null names the parent, which is searched without it. */
	for (const struct json_value *w = path->first; w && r >= 0; w = w->next) {
		if (w->kind == JSON_TEXT)
			r = vec_push(&words, w->text);
		else if (w->kind != JSON_NULL)
			r = json_metadata_fail(m, w->at, "a path has names");
	}
	ret->nr = words.n;
	ret->is_absolute = is_known;
	ret->words = ctf_copy(m->trace, words.v, words.n, sizeof(*words.v));
	vec_done(&words);
	return r == -ENOMEM || !ret->words ? err_nomem() : r;
}

/* ---- texts, blobs, arrays -------------------------------------------------------------------- */

/* Bytes of text or of a blob. */
static int types_bytes(struct json_metadata *m, const struct json_value *v, struct ctf_type *type,
		       bool is_text)
{
	struct ctf_type *byte = types_new(m, CTF_INT);
	const char *encoding = NULL;

	if (!byte)
		return -ENOMEM;
	if (is_text)
		TRY(json_metadata_text(m, v, "encoding", &encoding));
	byte->bits = byte->align = 8;
	byte->order = SONDE_ORDER_LITTLE;
	byte->is_text = is_text && (!encoding || !strcmp(encoding, "utf-8"));
	byte->base = is_text ? 10 : 16;
	type->of = byte;
	type->align = 8;
	return types_roles(m, v, type);
}

static int types_length(struct json_metadata *m, const struct json_value *v, struct ctf_type *type)
{
	if (type->kind == CTF_SEQUENCE)
		return types_location(m, v, "length-field-location", &type->path);
	TRY(json_metadata_unsigned(m, v, "length", 0, &type->length));
	return type->length <= CTF_MOST_ELEMENTS
		       ? 0
		       : json_metadata_fail(m, v->at, "a length of more than %llu is not read",
					    (unsigned long long)CTF_MOST_ELEMENTS);
}

static int types_array(struct json_metadata *m, const struct json_value *v, struct ctf_type *type)
{
	const struct json_value *of = json_member(v, "element-field-class");

	if (!of)
		return json_metadata_fail(m, v->at, "the array has no element-field-class");
	TRY(types_align(m, v, "minimum-alignment", 1, &type->align));
	TRY(types_length(m, v, type));
	return json_type(m, of, &type->of);
}

static int types_string(struct json_metadata *m, const struct json_value *v, struct ctf_type *type)
{
	const char *encoding;

	TRY(json_metadata_text(m, v, "encoding", &encoding));
	if (encoding && strcmp(encoding, "utf-8") != 0)
		return json_metadata_fail(m, v->at, "a string of encoding '%.40s' is not read",
					  encoding);
	type->align = 8;
	return 0;
}

/* ---- structures, variants -------------------------------------------------------------------- */

/* Members of a structure, or options of a variant. */
static int types_members(struct json_metadata *m, const struct json_value *list,
			 struct ctf_type *type)
{
	struct ctf_member *members;
	uint32_t n = 0;

	if (list && list->nr > CTF_MOST_MEMBERS)
		return json_metadata_fail(m, list->at, "more than %d members", CTF_MOST_MEMBERS);
	members = arena_array(&m->trace->arena, (list ? list->nr : 0) + 1, sizeof(*members));
	if (!members)
		return err_nomem();
	for (const struct json_value *v = list ? list->first : NULL; v; v = v->next, n++) {
		const struct json_value *class = json_member(v, "field-class"),
					*ranges = json_member(v, "selector-field-ranges");
		struct ctf_range *to = NULL;

		TRY(json_metadata_text(m, v, "name", &members[n].name));
		if (!class || (type->kind == CTF_STRUCT && !members[n].name))
			return json_metadata_fail(m, v->at,
						  "a member has a name and a field-class");
		members[n].name = members[n].name ? members[n].name : "";
		members[n].shown = members[n].name;
		TRY(json_type(m, class, &members[n].type));
		if (type->kind == CTF_STRUCT)
			continue;
		to = arena_array(&m->trace->arena, (ranges ? ranges->nr : 0) + 1, sizeof(*to));
		if (!to)
			return err_nomem();
		for (const struct json_value *r = ranges ? ranges->first : NULL; r; r = r->next)
			TRY(types_range(m, r, &to[members[n].nr_ranges++]));
		members[n].ranges = to;
	}
	type->members = members;
	type->nr_members = n;
	return 0;
}

static int types_structure(struct json_metadata *m, const struct json_value *v,
			   struct ctf_type *type)
{
	TRY(types_align(m, v, "minimum-alignment", 1, &type->align));
	return types_members(m, json_member(v, "member-classes"), type);
}

static int types_variant(struct json_metadata *m, const struct json_value *v, struct ctf_type *type)
{
	type->has_tag = true;
	TRY(types_location(m, v, "selector-field-location", &type->path));
	return types_members(m, json_member(v, "options"), type);
}

/* A variant of one option. Without ranges, any value but 0 (true) chooses it. */
static int types_optional(struct json_metadata *m, const struct json_value *v,
			  struct ctf_type *type)
{
	static const struct ctf_range is_true = { 1, UINT64_MAX };
	const struct json_value *class = json_member(v, "field-class"),
				*ranges = json_member(v, "selector-field-ranges");
	struct ctf_member *option = arena_alloc(&m->trace->arena, sizeof(*option));
	struct ctf_range *to;

	if (!class)
		return json_metadata_fail(m, v->at, "the optional field has no field-class");
	type->has_tag = type->is_optional = true;
	TRY(types_location(m, v, "selector-field-location", &type->path));
	to = arena_array(&m->trace->arena, (ranges ? ranges->nr : 0) + 1, sizeof(*to));
	if (!option || !to)
		return err_nomem();
	option->name = option->shown = "";
	TRY(json_type(m, class, &option->type));
	for (const struct json_value *r = ranges ? ranges->first : NULL; r; r = r->next)
		TRY(types_range(m, r, &to[option->nr_ranges++]));
	option->ranges = ranges ? to : &is_true;
	option->nr_ranges = ranges ? option->nr_ranges : 1;
	type->members = option;
	type->nr_members = 1;
	return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Completes the type of the field class; 0 if its name is unknown. */
static int types_by_name(struct json_metadata *m, const struct json_value *v, const char *name,
			 struct ctf_type *type)
{
	static const struct {
		const char *name;
		enum ctf_kind kind;
		int (*read)(struct json_metadata *m, const struct json_value *v,
			    struct ctf_type *type);
		bool is_signed, is_hex;
	} kinds[] = {
		{ "fixed-length-unsigned-integer", CTF_INT, types_fixed, false, false },
		{ "fixed-length-signed-integer", CTF_INT, types_fixed, true, false },
		{ "fixed-length-boolean", CTF_INT, types_fixed, false, false },
		{ "fixed-length-bit-array", CTF_INT, types_fixed, false, true },
		{ "fixed-length-bit-map", CTF_INT, types_fixed, false, true },
		{ "fixed-length-floating-point-number", CTF_FLOAT, types_fixed, false, false },
		{ "variable-length-unsigned-integer", CTF_INT, types_variable, false, false },
		{ "variable-length-signed-integer", CTF_INT, types_variable, true, false },
		{ "null-terminated-string", CTF_STRING, types_string, false, false },
		{ "structure", CTF_STRUCT, types_structure, false, false },
		{ "static-length-array", CTF_ARRAY, types_array, false, false },
		{ "dynamic-length-array", CTF_SEQUENCE, types_array, false, false },
		{ "variant", CTF_VARIANT, types_variant, false, false },
		{ "optional", CTF_VARIANT, types_optional, false, false },
	};
	static const struct {
		const char *name;
		enum ctf_kind kind;
		bool is_text;
	} bytes[] = {
		{ "static-length-string", CTF_ARRAY, true },
		{ "dynamic-length-string", CTF_SEQUENCE, true },
		{ "static-length-blob", CTF_ARRAY, false },
		{ "dynamic-length-blob", CTF_SEQUENCE, false },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(name, kinds[i].name) != 0)
			continue;
		type->kind = kinds[i].kind;
		type->is_signed = kinds[i].is_signed;
		type->base = kinds[i].is_hex ? 16 : 10;
		TRY(kinds[i].read(m, v, type));
		return 1;
	}
	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		if (strcmp(name, bytes[i].name) != 0)
			continue;
		type->kind = bytes[i].kind;
		TRY(types_length(m, v, type));
		TRY(types_bytes(m, v, type, bytes[i].is_text));
		return 1;
	}
	return 0;
}

int json_type(struct json_metadata *m, const struct json_value *v, const struct ctf_type **ret)
{
	struct ctf_type *type;
	const char *name;
	int r;

	if (v->kind == JSON_TEXT) {
		vec_foreach(alias, &m->aliases) {
			if (!strcmp(alias->name, v->text)) {
				*ret = alias->type;
				return 0;
			}
		}
		return json_metadata_fail(m, v->at, "no alias '%.60s' is defined", v->text);
	}
	TRY(json_metadata_text(m, v, "type", &name));
	if (!name)
		return json_metadata_fail(m, v->at, "the field class has no type");
	if (m->depth >= CTF_MOST_DEPTH)
		return json_metadata_fail(m, v->at, "field classes are nested more than %d deep",
					  CTF_MOST_DEPTH);
	type = types_new(m, CTF_INT);
	if (!type)
		return -ENOMEM;
	m->depth++;
	r = types_by_name(m, v, name, type);
	m->depth--;
	*ret = type;
	return r < 0 ? r
	       : r   ? 0
		     : json_metadata_fail(m, v->at, "'%.60s' is no type of a field class", name);
}
