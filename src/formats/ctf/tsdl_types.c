/* SPDX-License-Identifier: MIT */
/* Types of TSDL: enums, declarators, structs, variants, specifiers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/tsdl.h"

enum { WORDS_BYTES = 256, MOST_DIMENSIONS = 16 };

static int types_enter(struct tsdl *p)
{
	if (p->depth >= CTF_MOST_DEPTH)
		return tsdl_fail(p, "types are nested more than %d deep", CTF_MOST_DEPTH);
	p->depth++;
	return 0;
}

/* ---- enums ----------------------------------------------------------------------------------- */

static int types_enum_number(struct tsdl *p, bool is_signed, uint64_t *ret)
{
	struct tsdl_value v;

	TRY(tsdl_value(p, &v));
	if (!v.is_number)
		return tsdl_fail_at(p, v.at.line, v.at.column, "the value of a label is a number");
	if (v.is_negative && v.number && !is_signed)
		return tsdl_fail_at(p, v.at.line, v.at.column,
				    "a label of unsigned integers cannot be negative");
	*ret = v.is_negative ? -v.number : v.number;
	return 0;
}

static int types_labels(struct tsdl *p, struct ctf_type *type)
{
	VEC(struct sonde_label) labels = { 0 };
	const bool is_signed = type->of->is_signed;
	uint64_t next = 0;
	char room[80];
	int r = 0, has_number;

	while (!tsdl_is_sign(p, '}')) {
		struct sonde_label label = { .from = next, .text = p->token.text };

		if (p->token.kind != TOKEN_WORD && p->token.kind != TOKEN_TEXT) {
			r = tsdl_fail(p, "expected a label, found %s", tsdl_found(p, room));
			break;
		}
		has_number = 0;
		r = tsdl_advance(p);
		if (r >= 0)
			r = has_number = tsdl_take(p, '=');
		if (has_number > 0)
			r = types_enum_number(p, is_signed, &label.from);
		label.to = label.from;
		if (r >= 0 && has_number && p->token.kind == TOKEN_DOTS) {
			r = tsdl_advance(p);
			if (r >= 0)
				r = types_enum_number(p, is_signed, &label.to);
		}
		if (r >= 0 &&
		    (is_signed ? (int64_t)label.to < (int64_t)label.from : label.to < label.from))
			r = tsdl_fail(p, "the range of the label '%.60s' ends before it begins",
				      label.text);
		if (r >= 0 && labels.n >= CTF_MOST_MEMBERS)
			r = tsdl_fail(p, "the enum has more than %d labels", CTF_MOST_MEMBERS);
		if (r >= 0 && vec_push(&labels, label) < 0)
			r = err_nomem();
		next = label.to + 1;
		if (r >= 0 && !tsdl_is_sign(p, '}'))
			r = tsdl_expect(p, ',');
		if (r < 0)
			break;
	}
	type->nr_labels = (uint32_t)labels.n;
	type->labels = ctf_copy(p->trace, labels.v, labels.n, sizeof(*labels.v));
	vec_done(&labels);
	if (r < 0)
		return r;
	return type->labels ? tsdl_expect(p, '}') : err_nomem();
}

/* The name of a struct, variant or enum, if one is here. */
static int types_tag_name(struct tsdl *p, const char **ret)
{
	*ret = NULL;
	if (p->token.kind != TOKEN_WORD)
		return 0;
	*ret = p->token.text;
	return tsdl_advance(p);
}

static int types_named(struct tsdl *p, enum tsdl_space space, const char *word, const char *name,
		       const struct tsdl_token *at, const struct ctf_type **ret)
{
	*ret = name ? tsdl_name_find(p, space, name) : NULL;
	if (!name)
		return tsdl_fail_at(p, at->line, at->column, "the %s has no name and no body",
				    word);
	return *ret ? 0
		    : tsdl_fail_at(p, at->line, at->column, "no %s '%.100s' is defined", word,
				   name);
}

static int types_enum(struct tsdl *p, const struct ctf_type **ret)
{
	const struct tsdl_token at = p->token;
	const struct ctf_type *container = NULL;
	struct ctf_type *type;
	const char *name;

	TRY(types_tag_name(p, &name));
	if (tsdl_is_sign(p, ':')) {
		TRY(tsdl_advance(p));
		TRY(tsdl_specifier(p, &container));
	}
	if (!tsdl_is_sign(p, '{') && !container)
		return types_named(p, SPACE_ENUM, "enum", name, &at, ret);
	if (!container)
		container = tsdl_name_find(p, SPACE_TYPE, "int");
	if (!container)
		return tsdl_fail_at(p, at.line, at.column,
				    "the enum names no integer type, and there is no type 'int'");
	if (container->kind != CTF_INT)
		return tsdl_fail_at(p, at.line, at.column,
				    "the container of an enum must be an integer");
	type = tsdl_type_new(p, CTF_ENUM);
	if (!type)
		return -ENOMEM;
	*type = *container;
	type->kind = CTF_ENUM;
	type->of = container;
	TRY(tsdl_expect(p, '{'));
	TRY(types_labels(p, type));
	*ret = type;
	return name ? tsdl_name_add(p, SPACE_ENUM, name, type, &at) : 0;
}

/* ---- declarators ----------------------------------------------------------------------------- */

static int types_path(struct tsdl *p, struct ctf_path *ret)
{
	VEC(const char *) words = { 0 };
	char room[80];
	int r = 0;

	*ret = (struct ctf_path){ .line = p->token.line, .column = p->token.column };
	do {
		if (p->token.kind != TOKEN_WORD)
			r = tsdl_fail(p, "expected the name of a field, found %s",
				      tsdl_found(p, room));
		else if (words.n >= CTF_MOST_DEPTH)
			r = tsdl_fail(p, "the path has more than %d names", CTF_MOST_DEPTH);
		else if (vec_push(&words, p->token.text) < 0)
			r = err_nomem();
		if (r >= 0)
			r = tsdl_advance(p);
	} while (r >= 0 && (r = tsdl_take(p, '.')) > 0);
	ret->nr = words.n;
	ret->words = ctf_copy(p->trace, words.v, words.n, sizeof(*words.v));
	vec_done(&words);
	if (r < 0)
		return r;
	return ret->words ? 0 : err_nomem();
}

/* "[3]", "[length]" or "[env.NAME]" after a name. */
static int types_dimension(struct tsdl *p, struct ctf_type **ret)
{
	struct ctf_type *type;

	TRY(types_enter(p));
	p->depth--;
	TRY(tsdl_expect(p, '['));
	type = *ret = tsdl_type_new(p, CTF_ARRAY);
	if (!type)
		return -ENOMEM;
	if (p->token.kind == TOKEN_NUMBER) {
		type->length = p->token.number;
		if (type->length > CTF_MOST_ELEMENTS)
			return tsdl_fail(p, "the array has more than %llu elements",
					 (unsigned long long)CTF_MOST_ELEMENTS);
		TRY(tsdl_advance(p));
	} else {
		TRY(types_path(p, &type->path));
		if (type->path.nr == 2 && !strcmp(type->path.words[0], "env"))
			type->length_env = type->path.words[1];
		else
			type->kind = CTF_SEQUENCE;
	}
	return tsdl_expect(p, ']');
}

static int types_bit_field(struct tsdl *p, const struct ctf_type **ret)
{
	struct ctf_type *type = tsdl_type_new(p, CTF_INT);

	if (!type)
		return -ENOMEM;
	if ((*ret)->kind != CTF_INT && (*ret)->kind != CTF_ENUM)
		return tsdl_fail(p, "only integers can be bit-fields");
	*type = **ret;
	if (p->token.kind != TOKEN_NUMBER || !p->token.number || p->token.number > type->bits)
		return tsdl_fail(p, "a bit-field of this type has 1 to %u bits", type->bits);
	type->bits = (uint32_t)p->token.number;
	type->align = 1;
	*ret = type;
	return tsdl_advance(p);
}

/*
 * The name with what follows it. `words` are those of the specifier: "void *p" is of the type
 * "void *".
 */
static int types_declarator(struct tsdl *p, const struct ctf_type *base, const char *words,
			    const char **ret_name, const struct ctf_type **ret)
{
	struct ctf_type *dimensions[MOST_DIMENSIONS];
	char alias[WORDS_BYTES], room[80];
	size_t nr = 0;

	snprintf(alias, sizeof(alias), "%s", words ? words : "");
	while (tsdl_is_sign(p, '*')) {
		const size_t n = strlen(alias);

		snprintf(alias + n, sizeof(alias) - n, " *");
		base = tsdl_name_find(p, SPACE_TYPE, alias);
		if (!words || !base)
			return tsdl_fail(p, "no type '%.100s' is defined", alias);
		TRY(tsdl_advance(p));
		if (base->kind == CTF_INT && base->base == 10) {
			struct ctf_type *pointer = tsdl_type_new(p, CTF_INT);

			if (!pointer)
				return -ENOMEM;
			*pointer = *base;
			pointer->base = 16;
			base = pointer;
		}
	}
	if (p->token.kind != TOKEN_WORD)
		return tsdl_fail(p, "expected a name, found %s", tsdl_found(p, room));
	*ret_name = p->token.text;
	TRY(tsdl_advance(p));
	if (!base)
		return tsdl_fail(p, "no type '%.100s' is defined", words);
	if (tsdl_is_sign(p, ':')) {
		TRY(tsdl_advance(p));
		TRY(types_bit_field(p, &base));
	}
	while (tsdl_is_sign(p, '[')) {
		if (nr == MOST_DIMENSIONS)
			return tsdl_fail(p, "more than %d dimensions", MOST_DIMENSIONS);
		TRY(types_dimension(p, &dimensions[nr++]));
	}
	while (nr) {
		dimensions[--nr]->of = base;
		base = dimensions[nr];
	}
	*ret = base;
	return 0;
}

/*
 * Reads words of a type's name, such as "const unsigned long". room gets them joined by blanks; it
 * is empty if the type is written out (integer, struct ...), which *ret then is.
 */
static int types_specifier_words(struct tsdl *p, char room[WORDS_BYTES],
				 const struct ctf_type **ret);

/* ---- structs and variants -------------------------------------------------------------------- */

struct members {
	VEC(struct ctf_member) list;
};

static int types_by_name(const void *a, const void *b)
{
	return strcmp((*(const struct ctf_member *const *)a)->name,
		      (*(const struct ctf_member *const *)b)->name);
}

static int types_check_members(struct tsdl *p, const struct members *m, const struct tsdl_token *at)
{
	const struct ctf_member **sorted = calloc(m->list.n + 1, sizeof(*sorted));
	int r = 0;

	if (!sorted)
		return err_nomem();
	for (size_t i = 0; i < m->list.n; i++)
		sorted[i] = &m->list.v[i];
	qsort(sorted, m->list.n, sizeof(*sorted), types_by_name);
	for (size_t i = 1; i < m->list.n && r == 0; i++)
		if (!strcmp(sorted[i - 1]->name, sorted[i]->name))
			r = tsdl_fail_at(p, at->line, at->column, "two members are called '%.100s'",
					 sorted[i]->name);
	free(sorted);
	return r;
}

static int types_member_line(struct tsdl *p, struct members *m)
{
	const struct ctf_type *base = NULL;
	char words[WORDS_BYTES];
	int r;

	r = tsdl_declaration(p);
	if (r)
		return r;
	TRY(types_specifier_words(p, words, &base));
	do {
		struct ctf_member member = { 0 };

		TRY(types_declarator(p, base, *words ? words : NULL, &member.name, &member.type));
		member.shown = member.name + (member.name[0] == '_');
		if (m->list.n >= CTF_MOST_MEMBERS)
			return tsdl_fail(p, "more than %d members", CTF_MOST_MEMBERS);
		if (vec_push(&m->list, member) < 0)
			return err_nomem();
		r = tsdl_take(p, ',');
	} while (r > 0);
	return r < 0 ? r : tsdl_expect(p, ';');
}

static int types_body(struct tsdl *p, struct ctf_type *type, const struct tsdl_token *at)
{
	struct members m = { 0 };
	int r;

	TRY(types_enter(p));
	tsdl_scope_begin(p);
	r = tsdl_expect(p, '{');
	while (r >= 0 && !tsdl_is_sign(p, '}'))
		r = types_member_line(p, &m);
	if (r >= 0)
		r = types_check_members(p, &m, at);
	type->nr_members = (uint32_t)m.list.n;
	type->members = ctf_copy(p->trace, m.list.v, m.list.n, sizeof(*m.list.v));
	vec_done(&m.list);
	tsdl_scope_end(p);
	p->depth--;
	if (r < 0)
		return r;
	return type->members ? tsdl_advance(p) : err_nomem();
}

static int types_struct(struct tsdl *p, const struct ctf_type **ret)
{
	const struct tsdl_token at = p->token;
	struct ctf_type *type;
	const char *name;

	TRY(types_tag_name(p, &name));
	if (!tsdl_is_sign(p, '{'))
		return types_named(p, SPACE_STRUCT, "struct", name, &at, ret);
	type = tsdl_type_new(p, CTF_STRUCT);
	if (!type)
		return -ENOMEM;
	TRY(types_body(p, type, &at));
	if (tsdl_is_word(p, "align")) {
		struct tsdl_value v;

		TRY(tsdl_advance(p));
		TRY(tsdl_expect(p, '('));
		TRY(tsdl_value(p, &v));
		TRY(tsdl_align(p, &v, &type->align));
		TRY(tsdl_expect(p, ')'));
	}
	*ret = type;
	return name ? tsdl_name_add(p, SPACE_STRUCT, name, type, &at) : 0;
}

static int types_variant(struct tsdl *p, const struct ctf_type **ret)
{
	const struct tsdl_token at = p->token;
	const struct ctf_type *named = NULL;
	struct ctf_type *type = tsdl_type_new(p, CTF_VARIANT);
	const char *name;

	if (!type)
		return -ENOMEM;
	TRY(types_tag_name(p, &name));
	if (tsdl_is_sign(p, '<')) {
		TRY(tsdl_advance(p));
		TRY(types_path(p, &type->path));
		TRY(tsdl_expect(p, '>'));
		type->has_tag = true;
	}
	if (!tsdl_is_sign(p, '{')) {
		TRY(types_named(p, SPACE_VARIANT, "variant", name, &at, &named));
		type->members = named->members;
		type->nr_members = named->nr_members;
		if (!type->has_tag) {
			type->path = named->path;
			type->has_tag = named->has_tag;
		}
		*ret = type;
		return 0;
	}
	TRY(types_body(p, type, &at));
	*ret = type;
	return name ? tsdl_name_add(p, SPACE_VARIANT, name, type, &at) : 0;
}

/* ---- specifiers ------------------------------------------------------------------------------ */

static bool types_is_c_word(const char *word, bool *ret_is_qualifier)
{
	static const char *const words[] = { "const",    "void",       "char",    "short",  "int",
					     "long",     "float",      "double",  "signed", "_Bool",
					     "_Complex", "_Imaginary", "unsigned" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(word, words[i])) {
			*ret_is_qualifier = i == 0;
			return true;
		}
	}
	return false;
}

static int types_written_out(struct tsdl *p, const struct ctf_type **ret)
{
	static const struct {
		const char *word;
		int (*read)(struct tsdl *p, const struct ctf_type **ret);
	} kinds[] = { { "integer", tsdl_integer }, { "floating_point", tsdl_float },
		      { "string", tsdl_string },   { "enum", types_enum },
		      { "struct", types_struct },  { "variant", types_variant } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		int r = tsdl_take_word(p, kinds[i].word);

		if (r < 0)
			return r;
		if (r)
			return kinds[i].read(p, ret);
	}
	return 0;
}

static int types_specifier_words(struct tsdl *p, char room[WORDS_BYTES],
				 const struct ctf_type **ret)
{
	const struct tsdl_token at = p->token;
	size_t n = 0;
	bool is_complete = false, is_qualifier;
	char found[80];

	room[0] = '\0';
	*ret = NULL;
	TRY(types_written_out(p, ret));
	while (!*ret && p->token.kind == TOKEN_WORD) {
		if (types_is_c_word(p->token.text, &is_qualifier)) {
			is_complete |= !is_qualifier;
		} else if (is_complete) {
			break;
		} else {
			is_complete = true;
		}
		n += (size_t)snprintf(room + n, WORDS_BYTES - n, "%s%s", n ? " " : "",
				      p->token.text);
		if (n >= WORDS_BYTES)
			return tsdl_fail(p, "the type's name is longer than %d bytes", WORDS_BYTES);
		TRY(tsdl_advance(p));
		if (!is_complete && p->token.kind == TOKEN_WORD) {
			TRY(types_written_out(p, ret)); /* const struct ... */
			if (*ret)
				room[0] = '\0';
		}
	}
	if (*ret)
		return 0;
	if (!n)
		return tsdl_fail(p, "expected a type, found %s", tsdl_found(p, found));
	*ret = tsdl_name_find(p, SPACE_TYPE, room);
	if (!*ret && !tsdl_is_sign(p, '*')) /* "void" alone is no type, "void *" may be one */
		return tsdl_fail_at(p, at.line, at.column, "no type '%.100s' is defined", room);
	return 0;
}

int tsdl_specifier(struct tsdl *p, const struct ctf_type **ret)
{
	char words[WORDS_BYTES];

	TRY(types_specifier_words(p, words, ret));
	while (tsdl_is_sign(p, '*')) {
		const size_t n = strlen(words);

		snprintf(words + n, sizeof(words) - n, " *");
		*ret = tsdl_name_find(p, SPACE_TYPE, words);
		TRY(tsdl_advance(p));
	}
	return *ret ? 0 : tsdl_fail(p, "no type '%.100s' is defined", words);
}

/* ---- declarations of names ------------------------------------------------------------------- */

/* "typedef T a, b[2];", after its first word. */
int tsdl_typedef(struct tsdl *p)
{
	const struct ctf_type *base, *type;
	char words[WORDS_BYTES];
	int r;

	TRY(types_specifier_words(p, words, &base));
	do {
		const struct tsdl_token at = p->token;
		const char *name;

		TRY(types_declarator(p, base, *words ? words : NULL, &name, &type));
		TRY(tsdl_name_add(p, SPACE_TYPE, name, type, &at));
		r = tsdl_take(p, ',');
	} while (r > 0);
	return r < 0 ? r : tsdl_expect(p, ';');
}

/* "typealias T := NAME;", after its first word. The name may have several words and '*'. */
int tsdl_typealias(struct tsdl *p)
{
	const struct ctf_type *base, *type;
	struct tsdl_token at;
	char words[WORDS_BYTES], room[80], *name;
	const char *ignored;
	size_t n = 0;

	TRY(types_specifier_words(p, words, &base));
	type = base;
	if (p->token.kind != TOKEN_ASSIGN)
		TRY(types_declarator(p, base, *words ? words : NULL, &ignored, &type));
	if (p->token.kind != TOKEN_ASSIGN)
		return tsdl_fail(p, "expected ':=', found %s", tsdl_found(p, room));
	TRY(tsdl_advance(p));
	at = p->token;
	words[0] = '\0';
	while (p->token.kind == TOKEN_WORD || tsdl_is_sign(p, '*')) {
		n += (size_t)snprintf(words + n, sizeof(words) - n, "%s%s", n ? " " : "",
				      p->token.kind == TOKEN_WORD ? p->token.text : "*");
		if (n >= sizeof(words))
			return tsdl_fail(p, "the type's name is longer than %d bytes", WORDS_BYTES);
		TRY(tsdl_advance(p));
	}
	if (!n)
		return tsdl_fail(p, "expected the name of a type, found %s", tsdl_found(p, room));
	name = arena_strdup(&p->trace->arena, words);
	if (!name)
		return err_nomem();
	TRY(tsdl_name_add(p, SPACE_TYPE, name, type, &at));
	return tsdl_expect(p, ';');
}

int tsdl_declaration(struct tsdl *p)
{
	int r = tsdl_take_word(p, "typedef");

	if (r)
		return r < 0 ? r : tsdl_typedef(p) < 0 ? -EBADMSG : 1;
	r = tsdl_take_word(p, "typealias");
	if (r)
		return r < 0 ? r : tsdl_typealias(p) < 0 ? -EBADMSG : 1;
	return 0;
}

int tsdl_scope_type(struct tsdl *p, const struct ctf_type **ret)
{
	const struct tsdl_token at = p->token;

	TRY(tsdl_specifier(p, ret));
	return (*ret)->kind == CTF_STRUCT
		       ? 0
		       : tsdl_fail_at(p, at.line, at.column, "a scope must be a struct");
}
