/* SPDX-License-Identifier: MIT */
/*
 * Lowers nodes by the rules of C. A number is in normal form: it has 64 bits, sign-extended if its
 * type is signed, else zero-extended. Results of operators on narrower types are converted back to
 * that form.
 */
#include "model/printfmt/printfmt_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- types ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint8_t width; /* 0: a long */
	bool is_signed;
} named_types[] = {
	{ "u8", 1, false },       { "__u8", 1, false },      { "uint8_t", 1, false },
	{ "s8", 1, true },        { "__s8", 1, true },       { "int8_t", 1, true },
	{ "bool", 1, false },     { "_Bool", 1, false },     { "u16", 2, false },
	{ "__u16", 2, false },    { "uint16_t", 2, false },  { "s16", 2, true },
	{ "__s16", 2, true },     { "int16_t", 2, true },    { "__le16", 2, false },
	{ "__be16", 2, false },   { "umode_t", 2, false },   { "u32", 4, false },
	{ "__u32", 4, false },    { "uint32_t", 4, false },  { "s32", 4, true },
	{ "__s32", 4, true },     { "int32_t", 4, true },    { "__le32", 4, false },
	{ "__be32", 4, false },   { "uint", 4, false },      { "pid_t", 4, true },
	{ "uid_t", 4, false },    { "gid_t", 4, false },     { "dev_t", 4, false },
	{ "gfp_t", 4, false },    { "key_t", 4, true },      { "u64", 8, false },
	{ "__u64", 8, false },    { "uint64_t", 8, false },  { "s64", 8, true },
	{ "__s64", 8, true },     { "int64_t", 8, true },    { "__le64", 8, false },
	{ "__be64", 8, false },   { "loff_t", 8, true },     { "sector_t", 8, false },
	{ "ktime_t", 8, true },   { "ino_t", 0, false },     { "size_t", 0, false },
	{ "ssize_t", 0, true },   { "uintptr_t", 0, false }, { "ulong", 0, false },
	{ "ptrdiff_t", 0, true }, { "off_t", 0, true },
};

/* Counts of the words in a type such as `unsigned long int`. */
struct type_words {
	unsigned longs, shorts, chars, ints, un, sign, enums, other;
};

static void lower_count_word(struct type_words *w, const char *s, size_t n)
{
	const struct {
		const char *word;
		unsigned *count;
	} words[] = {
		{ "long", &w->longs }, { "short", &w->shorts }, { "char", &w->chars },
		{ "int", &w->ints },   { "unsigned", &w->un },  { "signed", &w->sign },
		{ "enum", &w->enums },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strlen(words[i].word) == n && !memcmp(words[i].word, s, n)) {
			++*words[i].count;
			return;
		}
	}
	if (!(n == 5 && !memcmp(s, "const", 5)) && !(n == 8 && !memcmp(s, "volatile", 8)))
		w->other++;
}

static bool lower_scalar_type(const char *name, size_t len, uint8_t long_bytes,
			      struct pf_ctype *ret)
{
	struct type_words w = { 0 };
	const char *last = name;
	size_t last_len = len;

	for (size_t at = 0; at < len;) {
		size_t n = 0;

		while (at + n < len && name[at + n] != ' ')
			n++;
		if (n) {
			lower_count_word(&w, name + at, n);
			last = name + at;
			last_len = n;
		}
		at += n + 1;
	}
	*ret = (struct pf_ctype){ .is_signed = !w.un };
	if (w.enums)
		ret->width = 4, ret->is_signed = false;
	else if (w.other)
		goto named;
	else if (w.chars)
		ret->width = 1;
	else if (w.shorts)
		ret->width = 2;
	else if (w.longs)
		ret->width = w.longs > 1 ? 8 : long_bytes;
	else if (w.ints || w.un || w.sign)
		ret->width = 4;
	return ret->width != 0;
named:
	for (size_t i = 0; i < sizeof(named_types) / sizeof(*named_types); i++) {
		if (strlen(named_types[i].name) == last_len &&
		    !memcmp(named_types[i].name, last, last_len)) {
			ret->width = named_types[i].width ? named_types[i].width : long_bytes;
			ret->is_signed = named_types[i].is_signed;
			return true;
		}
	}
	return false;
}

bool pf_c_type(const char *name, uint8_t long_bytes, struct pf_ctype *ret)
{
	size_t len = strlen(name);
	struct pf_ctype target = { 0 };

	while (len && name[len - 1] == ' ')
		len--;
	if (!len || name[len - 1] != '*')
		return lower_scalar_type(name, len, long_bytes, ret);
	len--;
	if (memchr(name, '*', len))
		target = (struct pf_ctype){ .width = long_bytes };
	else
		lower_scalar_type(name, len, long_bytes, &target);
	*ret = (struct pf_ctype){
		.width = long_bytes,
		.target = target.width,
		.target_signed = target.is_signed,
	};
	return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static struct pf_expr *lower_convert(struct pf_compiler *c, struct pf_expr *e, struct pf_ctype to)
{
	static const enum pf_code cuts[5][2] = {
		[1] = { PF_E_TRUNC1, PF_E_SEXT1 },
		[2] = { PF_E_TRUNC2, PF_E_SEXT2 },
		[4] = { PF_E_TRUNC4, PF_E_SEXT4 },
	};

	if (!e || to.width >= 8 || !to.width)
		return e;
	/* The result of a load is already in normal form. */
	if (to.width == 4 && !to.is_signed &&
	    (e->code == PF_E_LOAD4 || e->code == PF_E_LOAD2 || e->code == PF_E_LOAD1))
		return e;
	if (to.width == 4 && to.is_signed && e->code >= PF_E_LOADS1 && e->code <= PF_E_LOADS4)
		return e;
	if (to.width == 4 && e->code >= PF_E_LT && e->code <= PF_E_LOR)
		return e;
	return pf_expr_new(c, cuts[to.width][to.is_signed], e, NULL);
}

static struct pf_ctype lower_promote(struct pf_ctype t)
{
	t.target = 0;
	return t.width < 4 ? (struct pf_ctype){ .width = 4, .is_signed = true } : t;
}

static struct pf_ctype lower_common_type(struct pf_ctype a, struct pf_ctype b)
{
	a = lower_promote(a);
	b = lower_promote(b);
	if (a.width == b.width)
		a.is_signed &= b.is_signed;
	else if (b.width > a.width)
		a = b;
	return a;
}

static struct pf_expr *lower_refuse(struct pf_compiler *c, const char *what, const char *text)
{
	pf_refuse(c->parser, "%s %s", what, text);
	return NULL;
}

static uint64_t lower_char_value(const char *s)
{
	if (s[0] != '\\')
		return (uint64_t)(int8_t)s[0];
	switch (s[1]) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	case 'x':
		return strtoull(s + 2, NULL, 16) & 0xff;
	}
	return s[1] >= '0' && s[1] <= '7' ? strtoull(s + 1, NULL, 8) & 0xff
					  : (uint64_t)(int8_t)s[1];
}

static struct pf_expr *lower_atom(struct pf_compiler *c, const struct pf_node *n,
				  struct pf_ctype *ret)
{
	uint8_t long_bytes = c->schema->abi.long_bytes;
	uint64_t v;
	unsigned longs = 0;
	bool un = false, decimal;
	char *end;

	*ret = (struct pf_ctype){ .width = 4, .is_signed = true };
	if (n->is_char)
		return pf_expr_const(c, lower_char_value(n->text));
	if (n->is_string)
		return lower_refuse(c, "a string where a number should be:", n->text);
	if (n->text[0] < '0' || n->text[0] > '9') {
		/*
		 * A variable of the kernel, or an enum that it did not resolve: 0, like in perf.
		 * The rest of the text remains right.
		 */
		return pf_expr_const(c, pf_known_name(n->text, false, &v) ? v : 0);
	}
	decimal = n->text[0] != '0';
	v = strtoull(n->text, &end, 0);
	for (; *end; end++) {
		longs += (*end | 32) == 'l';
		un |= (*end | 32) == 'u';
		if (!strchr("uUlL", *end))
			return lower_refuse(c, "not a number:", n->text);
	}
	ret->is_signed = !un;
	if (longs)
		ret->width = longs > 1 ? 8 : long_bytes;
	if (ret->width == 4 && v > (un || !decimal ? UINT32_MAX : INT32_MAX))
		ret->width = 8;
	else if (ret->width == 4 && v > INT32_MAX)
		ret->is_signed = false;
	if (ret->width == 8 && v > INT64_MAX)
		ret->is_signed = false;
	return pf_expr_const(c, v);
}

static struct pf_expr *lower_field(struct pf_compiler *c, const struct sonde_field *f,
				   struct pf_ctype *ret)
{
	*ret = (struct pf_ctype){ .width = 4, .is_signed = true };
	if (!f)
		return pf_expr_const(c, 0);
	if (f->is_array || (f->width != 1 && f->width != 2 && f->width != 4 && f->width != 8)) {
		*ret = (struct pf_ctype){ .width = c->schema->abi.long_bytes, .target = 1 };
		if (f->is_dynamic)
			return pf_expr_dynamic(c, PF_E_DYNADDR, f);
		return pf_expr_const(c, 0); /* an address in a ring that no longer exists */
	}
	*ret = (struct pf_ctype){ .width = (uint8_t)f->width, .is_signed = f->is_signed };
	if (f->is_pointer) {
		struct pf_ctype t;

		ret->is_signed = false;
		if (pf_c_type(f->type, c->schema->abi.long_bytes, &t))
			ret->target = t.target;
	}
	return pf_expr_load(c, f->offset, f->width, ret->is_signed);
}

/* Loads a number of type elem at a place. */
static struct pf_expr *lower_load_place(struct pf_compiler *c, const struct pf_place *pl,
					struct pf_ctype elem)
{
	static const enum pf_code extend[5] = {
		[1] = PF_E_SEXT1, [2] = PF_E_SEXT2, [4] = PF_E_SEXT4
	};
	const struct sonde_field *f = pl->field;
	struct pf_expr *e;

	if (!f->is_dynamic &&
	    (!pl->skip || (pl->skip->code == PF_E_CONST && pl->skip->value < PF_MAX_OFFSET)) &&
	    f->offset < PF_MAX_OFFSET)
		return pf_expr_load(c, f->offset + (uint32_t)(pl->skip ? pl->skip->value : 0),
				    elem.width, elem.is_signed);
	e = pf_expr_dynamic(c, f->is_dynamic ? PF_E_DYNINDEX : PF_E_INDEX, f);
	if (!e)
		return NULL;
	e->offset = f->is_dynamic ? 0 : f->offset;
	e->width = elem.width;
	e->value = 1;
	e->a = pl->skip ? pl->skip : pf_expr_const(c, 0);
	if (!e->a)
		return NULL;
	return elem.is_signed && elem.width < 8 ? pf_expr_new(c, extend[elem.width], e, NULL) : e;
}

static struct pf_expr *lower_load_at(struct pf_compiler *c, const struct pf_node *address,
				     const struct pf_expr *index, const char *what,
				     struct pf_ctype *ret)
{
	struct pf_place pl;
	struct pf_ctype elem;

	if (!pf_lower_place(c, address, &pl, &elem))
		return lower_refuse(c, what, "of something that is not in the record");
	if (elem.width != 1 && elem.width != 2 && elem.width != 4 && elem.width != 8)
		return lower_refuse(c, what, "of elements that are no numbers");
	if (index) {
		index = pf_expr_new(c, PF_E_MUL, index, pf_expr_const(c, elem.width));
		if (index && pl.skip)
			index = pf_expr_new(c, PF_E_ADD, pl.skip, index);
		if (!index)
			return NULL;
		pl.skip = index;
	}
	*ret = elem;
	return lower_load_place(c, &pl, elem);
}

struct pf_expr *pf_truth_c(struct pf_compiler *c, const struct pf_node *n)
{
	const struct pf_node *base = n;
	struct pf_ctype t;

	while (base->kind == PF_CAST)
		base = base->a;
	if (base->kind == PF_ADDR || (base->kind == PF_FIELD && base->field &&
				      base->field->is_array && !base->field->is_dynamic))
		return pf_expr_const(c, 1);
	return pf_lower_c(c, n, &t);
}

static struct pf_expr *lower_conditional(struct pf_compiler *c, const struct pf_node *n,
					 struct pf_ctype *ret)
{
	struct pf_ctype yt, nt;
	struct pf_expr *a = pf_truth_c(c, n->a), *e;
	struct pf_expr *yes = a ? pf_lower_c(c, n->b->a, &yt) : NULL;
	struct pf_expr *no = yes ? pf_lower_c(c, n->b->b, &nt) : NULL;

	if (!no)
		return NULL;
	*ret = lower_common_type(yt, nt);
	yes = lower_convert(c, yes, *ret);
	no = lower_convert(c, no, *ret);
	if (!yes || !no)
		return NULL;
	if (a->code == PF_E_CONST)
		return a->value ? yes : no;
	e = pf_expr_dynamic(c, PF_E_COND, NULL);
	if (e) {
		e->a = a;
		e->b = yes;
		e->c = no;
	}
	return e;
}

enum result { ARITH, SHIFT, COMPARE, LOGIC };

static const struct {
	char op[4];
	enum pf_code code, signed_code;
	enum result result;
} binaries[] = {
	{ "+", PF_E_ADD, PF_E_ADD, ARITH },    { "-", PF_E_SUB, PF_E_SUB, ARITH },
	{ "*", PF_E_MUL, PF_E_MUL, ARITH },    { "/", PF_E_DIV, PF_E_SDIV, ARITH },
	{ "%", PF_E_MOD, PF_E_SMOD, ARITH },   { "&", PF_E_AND, PF_E_AND, ARITH },
	{ "|", PF_E_OR, PF_E_OR, ARITH },      { "^", PF_E_XOR, PF_E_XOR, ARITH },
	{ "<<", PF_E_SHL, PF_E_SHL, SHIFT },   { ">>", PF_E_SHR, PF_E_SSHR, SHIFT },
	{ "<", PF_E_LT, PF_E_SLT, COMPARE },   { "<=", PF_E_LE, PF_E_SLE, COMPARE },
	{ ">", PF_E_GT, PF_E_SGT, COMPARE },   { ">=", PF_E_GE, PF_E_SGE, COMPARE },
	{ "==", PF_E_EQ, PF_E_EQ, COMPARE },   { "!=", PF_E_NE, PF_E_NE, COMPARE },
	{ "&&", PF_E_LAND, PF_E_LAND, LOGIC }, { "||", PF_E_LOR, PF_E_LOR, LOGIC },
};

static struct pf_expr *lower_binary(struct pf_compiler *c, const struct pf_node *n,
				    struct pf_ctype *ret)
{
	struct pf_ctype at, bt, t;
	struct pf_expr *a, *b, *e;
	size_t i = 0;

	while (i < sizeof(binaries) / sizeof(*binaries) && strcmp(binaries[i].op, n->op))
		i++;
	if (i == sizeof(binaries) / sizeof(*binaries))
		return lower_refuse(c, "unknown operator", n->op);

	*ret = (struct pf_ctype){ .width = 4, .is_signed = true };
	if (binaries[i].result == LOGIC) {
		a = pf_truth_c(c, n->a);
		return a ? pf_expr_new(c, binaries[i].code, a, pf_truth_c(c, n->b)) : NULL;
	}
	a = pf_lower_c(c, n->a, &at);
	b = a ? pf_lower_c(c, n->b, &bt) : NULL;
	if (!b)
		return NULL;
	t = binaries[i].result == SHIFT ? lower_promote(at) : lower_common_type(at, bt);
	a = lower_convert(c, a, t);
	if (binaries[i].result != SHIFT)
		b = lower_convert(c, b, t);
	else if (t.width == 4) /* like in processors, too large counts wrap */
		b = pf_expr_new(c, PF_E_AND, b, pf_expr_const(c, 31));
	if (!a || !b)
		return NULL;
	e = pf_expr_new(c, t.is_signed ? binaries[i].signed_code : binaries[i].code, a, b);
	if (binaries[i].result == COMPARE)
		return e;
	*ret = t;
	/* Bit operations and unsigned divisions preserve the normal form. */
	if (e && (e->code == PF_E_AND || e->code == PF_E_OR || e->code == PF_E_XOR ||
		  e->code == PF_E_SHR || e->code == PF_E_SSHR || e->code == PF_E_DIV ||
		  e->code == PF_E_MOD))
		return e;
	return lower_convert(c, e, t);
}

static struct pf_expr *lower_operator(struct pf_compiler *c, const struct pf_node *n,
				      struct pf_ctype *ret)
{
	struct pf_ctype t;
	struct pf_expr *e;

	if (n->op[0] == '[') {
		struct pf_expr *index = pf_lower_c(c, n->b, &t);

		return index ? lower_load_at(c, n->a, index, "element", ret) : NULL;
	}
	if (n->op[0] == '?')
		return lower_conditional(c, n, ret);
	if (n->a)
		return lower_binary(c, n, ret);
	if (n->op[0] == '!') {
		*ret = (struct pf_ctype){ .width = 4, .is_signed = true };
		return pf_expr_new(c, PF_E_LNOT, pf_truth_c(c, n->b), NULL);
	}
	e = pf_lower_c(c, n->b, &t);
	if (!e)
		return NULL;
	*ret = lower_promote(t);
	e = lower_convert(c, e, *ret);
	return e ? lower_convert(c, pf_expr_new(c, n->op[0] == '~' ? PF_E_NOT : PF_E_NEG, e, NULL),
				 *ret)
		 : NULL;
}

static struct pf_expr *lower_cast(struct pf_compiler *c, const struct pf_node *n,
				  struct pf_ctype *ret)
{
	struct pf_ctype from, to;
	struct pf_expr *e = pf_lower_c(c, n->a, &from);

	if (!e)
		return NULL;
	*ret = from;
	if (!pf_c_type(n->text, c->schema->abi.long_bytes, &to))
		return e;
	*ret = to;
	if (!strcmp(n->text, "bool") || !strcmp(n->text, "_Bool"))
		return pf_expr_new(c, PF_E_NE, e, pf_expr_const(c, 0));
	return lower_convert(c, e, to);
}

static struct pf_expr *lower_number(struct pf_compiler *c, const struct pf_node *n,
				    struct pf_ctype *ret)
{
	uint8_t long_bytes = c->schema->abi.long_bytes;

	switch (n->kind) {
	case PF_ATOM:
		return lower_atom(c, n, ret);
	case PF_NUMBER:
		*ret = (struct pf_ctype){ .width = long_bytes };
		return pf_expr_const(c, n->value);
	case PF_FIELD:
		return lower_field(c, n->field, ret);
	case PF_CAST:
		return lower_cast(c, n, ret);
	case PF_OP:
		return lower_operator(c, n, ret);
	case PF_DEREF:
		return lower_load_at(c, n->a, NULL, "value", ret);
	case PF_DYNLEN:
		*ret = (struct pf_ctype){ .width = 4, .is_signed = true };
		return pf_expr_dynamic(c, PF_E_DYNLEN, n->field);
	case PF_STR:
	case PF_DYNARRAY:
	case PF_BITMASK:
	case PF_CPUMASK:
	case PF_SOCKADDR:
		*ret = (struct pf_ctype){ .width = long_bytes, .target = 1 };
		return pf_expr_dynamic(c, PF_E_DYNADDR, n->field);
	case PF_ADDR:
		*ret = (struct pf_ctype){ .width = long_bytes };
		return pf_expr_const(c, 0);
	}
	return lower_refuse(c, "text where a number should be", "");
}

struct pf_expr *pf_lower_c(struct pf_compiler *c, const struct pf_node *n, struct pf_ctype *ret)
{
	struct pf_expr *e;

	if (!pf_enter(c))
		return NULL;
	e = lower_number(c, n, ret);
	pf_leave(c);
	return e;
}

/* ---- places ---------------------------------------------------------------------------------- */

static bool lower_place_plus(struct pf_compiler *c, const struct pf_node *base,
			     const struct pf_node *offset, bool minus, struct pf_place *ret,
			     struct pf_ctype *ret_elem)
{
	struct pf_ctype t;
	struct pf_expr *e;

	if (!pf_lower_place(c, base, ret, ret_elem))
		return false;
	e = pf_lower_c(c, offset, &t);
	e = e ? pf_expr_new(c, PF_E_MUL, e, pf_expr_const(c, ret_elem->width ? ret_elem->width : 1))
	      : NULL;
	if (e && minus)
		e = pf_expr_new(c, PF_E_NEG, e, NULL);
	if (e && ret->skip)
		e = pf_expr_new(c, PF_E_ADD, ret->skip, e);
	ret->skip = e;
	return e != NULL;
}

static bool lower_place(struct pf_compiler *c, const struct pf_node *n, struct pf_place *ret,
			struct pf_ctype *ret_elem)
{
	struct pf_ctype t;

	switch (n->kind) {
	case PF_FIELD:
		if (!n->field || !n->field->is_array)
			return false;
		*ret = (struct pf_place){ .field = n->field };
		*ret_elem = (struct pf_ctype){
			.width = (uint8_t)(n->field->elem_width <= 8 ? n->field->elem_width : 0),
			.is_signed = n->field->is_signed,
		};
		return true;
	case PF_STR:
	case PF_DYNARRAY:
	case PF_BITMASK:
	case PF_CPUMASK:
	case PF_SOCKADDR:
		if (!n->field)
			return false;
		*ret = (struct pf_place){ .field = n->field };
		*ret_elem = (struct pf_ctype){ .width = 1 };
		return true;
	case PF_CAST:
		if (!pf_lower_place(c, n->a, ret, ret_elem))
			return false;
		if (pf_c_type(n->text, c->schema->abi.long_bytes, &t) && strchr(n->text, '*'))
			*ret_elem = (struct pf_ctype){
				.width = t.target,
				.is_signed = t.target_signed,
			};
		return true;
	case PF_ADDR:
		n = n->a;
		if (n->kind == PF_DEREF)
			return pf_lower_place(c, n->a, ret, ret_elem);
		if (n->kind == PF_OP && n->op[0] == '[')
			return lower_place_plus(c, n->a, n->b, false, ret, ret_elem);
		if (n->kind != PF_FIELD || !n->field)
			return false;
		*ret = (struct pf_place){ .field = n->field };
		*ret_elem = (struct pf_ctype){
			.width = (uint8_t)(n->field->elem_width <= 8 ? n->field->elem_width : 0),
			.is_signed = n->field->is_signed,
		};
		return true;
	case PF_OP:
		if (!n->a || (strcmp(n->op, "+") && strcmp(n->op, "-")))
			return false;
		return lower_place_plus(c, n->a, n->b, n->op[0] == '-', ret, ret_elem);
	}
	return false;
}

bool pf_lower_place(struct pf_compiler *c, const struct pf_node *n, struct pf_place *ret,
		    struct pf_ctype *ret_elem)
{
	bool ok;

	if (!pf_enter(c))
		return false;
	ok = lower_place(c, n, ret, ret_elem);
	pf_leave(c);
	return ok;
}
