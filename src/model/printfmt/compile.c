/* SPDX-License-Identifier: MIT */
/* Compiles a format string and its arguments to steps: literal text, then a conversion. */
#include "model/printfmt/printfmt_internal.h"

#include <string.h>

/* Bytes after each prefix that must be readable, because it is copied in fixed portions. */
#define PREFIX_SLACK 32
#define MAX_WIDTH    4096u

struct builder {
	struct pf_compiler *c;
	struct printfmt *pf;
	size_t room;         /* steps allocated */
	struct pf_node *arg; /* the next argument */
	char *literal;       /* text before the next conversion */
	size_t literal_len;
};

/* One conversion while it is parsed. */
struct conversion {
	struct pf_spec spec;
	int ls;           /* -2 hh, -1 h, 0, 1 l, 2 ll L */
	bool is_size;     /* z t */
	bool odd;         /* no valid conversion of C */
	bool as_unsigned; /* printed without sign, even with %d */
	const struct pf_node *star;
	struct pf_node *arg;
};

static int compile_hex_digit(char c)
{
	return c >= '0' && c <= '9'                 ? c - '0'
	       : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
						    : -1;
}

/* The character after a backslash at s; *ret_len bytes of s belong to it. */
static char compile_escape(const char *s, bool c_escapes, size_t *ret_len)
{
	static const char from[] = "ntrabfv", to[] = "\n\t\r\a\b\f\v";
	const char *at = *s ? strchr(from, *s) : NULL;
	unsigned v = 0, n = 0;

	*ret_len = *s != 0;
	if (at && (c_escapes || at < from + 3))
		return to[at - from];
	if (!c_escapes || !*s)
		return *s;
	if (*s == 'x' && compile_hex_digit(s[1]) >= 0) {
		for (n = 1; n < 3 && compile_hex_digit(s[n]) >= 0; n++)
			v = v * 16 + (unsigned)compile_hex_digit(s[n]);
		*ret_len = n;
		return (char)v;
	}
	if (*s < '0' || *s > '7')
		return *s;
	for (; n < 3 && s[n] >= '0' && s[n] <= '7'; n++)
		v = v * 8 + (unsigned)(s[n] - '0');
	*ret_len = n;
	return (char)v;
}

char *pf_unescape(struct pf_compiler *c, const char *s, size_t *ret_len)
{
	char *text = arena_alloc(c->arena, strlen(s) + 1), *to = text;
	size_t n;

	if (!text) {
		c->no_memory = true;
		return NULL;
	}
	while (*s) {
		if (*s != '\\') {
			*to++ = *s++;
			continue;
		}
		*to++ = compile_escape(s + 1, c->dialect->c_escapes, &n);
		s += 1 + n;
	}
	*ret_len = (size_t)(to - text);
	return text;
}

static struct pf_step *compile_add_step(struct builder *b, enum pf_step_code code)
{
	struct pf_step *s = &b->pf->steps[b->pf->nr_steps];
	char *prefix = arena_alloc(b->c->arena, b->literal_len + PREFIX_SLACK);

	if (!prefix || b->pf->nr_steps >= b->room) {
		b->c->no_memory = true;
		return NULL;
	}
	memcpy(prefix, b->literal, b->literal_len);
	*s = (struct pf_step){
		.code = (uint8_t)code,
		.prefix = prefix,
		.prefix_len = (uint32_t)b->literal_len,
		.room = (uint32_t)b->literal_len + PREFIX_SLACK + 24,
	};
	b->literal_len = 0;
	b->pf->nr_steps++;
	return s;
}

static void compile_add_literal(struct builder *b, char c)
{
	b->literal[b->literal_len++] = c;
}

static struct pf_expr *compile_lower(struct pf_compiler *c, const struct pf_node *n)
{
	struct pf_ctype t;

	return c->dialect->c_grammar ? pf_lower_c(c, n, &t) : pf_lower_perf(c, n);
}

static bool compile_keep_spec(struct builder *b, struct pf_step *s, const struct pf_spec *spec)
{
	struct pf_spec *kept = arena_alloc(b->c->arena, sizeof(*kept));

	if (!kept) {
		b->c->no_memory = true;
		return false;
	}
	*kept = *spec;
	s->spec = kept;
	return true;
}

static bool compile_is_plain(const struct conversion *v)
{
	const struct pf_spec *p = &v->spec;

	return !v->star && !p->left && !p->zero && !p->alt && !p->plus && !p->space &&
	       !p->has_prec && !p->width;
}

static bool compile_add_number(struct builder *b, struct conversion *v)
{
	static const uint8_t bits[] = { 8, 16, 32, 64, 64 };
	bool is_signed = (v->spec.conv == 'd' || v->spec.conv == 'i') && !v->as_unsigned;
	struct pf_step *s = compile_add_step(b, PF_S_NUMBER);

	if (!s)
		return false;
	if (v->as_unsigned)
		v->spec.conv = 'u';
	s->num = compile_lower(b->c, v->arg);
	s->star = v->star ? compile_lower(b->c, v->star) : NULL;
	if (!s->num || (v->star && !s->star))
		return false;
	v->spec.bits = bits[(v->ls < -2 ? -2 : v->ls > 2 ? 2 : v->ls) + 2];
	if (b->c->dialect->c_conversions && (v->ls == 1 || v->is_size))
		v->spec.bits = (uint8_t)(8 * b->c->schema->abi.long_bytes);
	if (!compile_keep_spec(b, s, &v->spec))
		return false;
	if (!compile_is_plain(v))
		return true;

	s->offset = s->num->offset;
	if (is_signed || v->spec.conv == 'u')
		s->code = is_signed ? PF_S_DEC : PF_S_UDEC;
	else if (v->spec.conv == 'x')
		s->code = PF_S_HEX;
	else
		return true;
	/* Numbers that need no truncation are read directly from their field. */
	switch (s->num->code) {
	case PF_E_LOAD4:
	case PF_E_LOADS4:
		if (v->spec.bits == 32)
			s->code = s->code == PF_S_DEC    ? PF_S_DEC4S
				  : s->code == PF_S_UDEC ? PF_S_DEC4U
							 : PF_S_HEX4;
		break;
	case PF_E_LOAD8:
		if (v->spec.bits == 64)
			s->code = s->code == PF_S_DEC    ? PF_S_DEC8S
				  : s->code == PF_S_UDEC ? PF_S_DEC8U
							 : PF_S_HEX8;
		break;
	}
	return true;
}

static bool compile_add_text(struct builder *b, struct conversion *v)
{
	struct pf_step *s = compile_add_step(b, PF_S_STR);
	const struct sonde_field *f;

	if (!s)
		return false;
	s->text = b->c->dialect->c_grammar ? pf_lower_text_c(b->c, v->arg)
					   : pf_lower_text_perf(b->c, v->arg);
	s->star = v->star ? compile_lower(b->c, v->star) : NULL;
	if (!s->text || (v->star && !s->star))
		return false;
	if (!compile_is_plain(v)) {
		s->code = PF_S_STR_SPEC;
		return compile_keep_spec(b, s, &v->spec);
	}
	f = s->text->place.field;
	if (s->text->kind != PF_T_BYTES || s->text->place.skip ||
	    (f->is_dynamic && !s->text->place.itself) || !f->width ||
	    (uint64_t)f->offset + f->width > PF_MAX_OFFSET)
		return true;
	pf_need(b->c, (uint64_t)f->offset + f->width);
	s->code = f->width == 16 ? PF_S_COMM : PF_S_BYTES;
	s->offset = f->offset;
	s->width = f->width;
	s->room += f->width;
	return true;
}

static bool compile_add_char(struct builder *b, struct conversion *v)
{
	struct pf_step *s = compile_add_step(b, PF_S_CHAR);

	if (!s)
		return false;
	s->num = compile_lower(b->c, v->arg);
	s->star = v->star ? compile_lower(b->c, v->star) : NULL;
	return s->num && (!v->star || s->star) && compile_keep_spec(b, s, &v->spec);
}

/* Finds the bytes that a pointer's letters print. False if the record does not contain them. */
static bool compile_pointer_place(struct builder *b, struct pf_step *s, const struct pf_node *n)
{
	bool c_grammar = b->c->dialect->c_grammar, had_reason = b->c->parser->why[0] != 0;
	struct pf_ctype elem;

	if (!c_grammar)
		while (n->kind == PF_CAST)
			n = n->a;
	if (n->kind == PF_FIELD ||
	    (!c_grammar && (n->kind == PF_DYNARRAY || n->kind == PF_SOCKADDR))) {
		s->place = (struct pf_place){
			.field = n->field,
			.itself = !c_grammar && n->kind == PF_FIELD,
		};
		if (n->kind == PF_DYNARRAY)
			s->place.field = pf_perf_array_field(b->c, n->field);
		return n->field != NULL;
	}
	if (c_grammar && pf_lower_place(b->c, n, &s->place, &elem))
		return true;
	s->place.field = NULL;
	if (!had_reason)
		b->c->parser->why[0] = 0;
	return false;
}

static bool compile_skips_casts(const struct pf_dialect *d, uint8_t kind)
{
	return kind == PF_P_IP4 || kind == PF_P_IP6 || kind == PF_P_SOCKADDR ||
	       (d->pointer_casts && kind != PF_P_BUFFER);
}

/* Sets the complaint of perf's parser about the kind of an argument. False if memory ran out. */
static bool compile_check_sort(struct builder *b, const struct pf_node *n,
			       struct pf_pointer_spec *ps)
{
	static const char *const sorts[] = { "0", "1", "2",  "3",  "4",  "5",  "6",  "7",
					     "8", "9", "10", "11", "12", "13", "14", "15" };
	const int wanted = ps->kind == PF_P_BUFFER ? PF_DYNARRAY : PF_FIELD;

	while (compile_skips_casts(b->c->dialect, ps->kind) && n->kind == PF_CAST)
		n = n->a;
	if (n->kind == wanted || n->kind == PF_SOCKADDR) {
		if (!n->field)
			ps->complaint = "";
		return true;
	}
	ps->complaint = pf_join(b->c->parser, "ARG TYPE NOT FIELD BUT", " ", sorts[n->kind & 15]);
	return ps->complaint;
}

/* The complaint about a field whose size is wrong for the value; NULL if it is right. */
static const char *compile_wrong_size(uint8_t kind, const struct pf_place *place)
{
	static const struct {
		uint32_t bytes; /* 0 if any size is right */
		const char *complaint;
	} sizes[] = { [PF_P_MAC] = { 6, "INVALIDMAC" },
		      [PF_P_IP4] = { 4, "INVALIDIPv4" },
		      [PF_P_IP6] = { 16, "INVALIDIPv6" },
		      [PF_P_UUID] = { 16, "INVALIDUUID" },
		      [PF_P_BITMAP] = { 0 } };
	const bool is_fixed = !place->field->is_dynamic || place->itself;

	return sizes[kind].bytes && is_fixed && !place->skip &&
			       place->field->width != sizes[kind].bytes
		       ? sizes[kind].complaint
		       : NULL;
}

static bool compile_is_number(const struct pf_pointer_spec *ps)
{
	return ps->kind == PF_P_ADDRESS || ps->kind == PF_P_FUNC;
}

static bool compile_add_pointer(struct builder *b, struct conversion *v, struct pf_pointer_spec *ps)
{
	struct pf_step *s = compile_add_step(b, PF_S_POINTER);
	struct pf_pointer_spec *kept = arena_alloc(b->c->arena, sizeof(*kept));

	if (!s || !kept) {
		b->c->no_memory = true;
		return false;
	}
	s->pointer = kept;
	s->star = v->star ? compile_lower(b->c, v->star) : NULL;
	if ((v->star && !s->star) || !compile_keep_spec(b, s, &v->spec))
		return false;
	if (!compile_is_number(ps)) {
		compile_pointer_place(b, s, v->arg);
		/* perf checks the kind of the argument first, then the size of the field. */
		if (!b->c->dialect->c_grammar && !compile_check_sort(b, v->arg, ps))
			return false;
		if (!ps->complaint && s->place.field)
			ps->complaint = compile_wrong_size(ps->kind, &s->place);
		else if (!ps->complaint)
			ps->kind = PF_P_ADDRESS;
	}
	*kept = *ps;
	if (!compile_is_number(ps))
		return true;
	s->num = compile_lower(b->c, v->arg);
	return s->num != NULL;
}

/* Takes the next argument; false if there is none. */
static bool compile_take_arg(struct builder *b, struct pf_node **ret)
{
	*ret = b->arg;
	if (!b->arg)
		return pf_refuse(b->c->parser, "too few arguments");
	b->arg = b->arg->next;
	return true;
}

/* Parses a '*'. False if there is no argument for it. */
static bool compile_take_star(struct builder *b, struct conversion *v, bool is_prec)
{
	struct pf_node *n;

	if (v->star)
		return pf_refuse(b->c->parser, "two lengths given as arguments");
	if (!compile_take_arg(b, &n))
		return false;
	v->star = n;
	v->spec.star_prec = is_prec;
	v->spec.star_width = !is_prec;
	if (is_prec)
		v->spec.has_prec = true;
	return true;
}

static bool compile_add_value(struct builder *b, struct conversion *v, const char **at)
{
	const char conv = v->spec.conv;
	struct pf_pointer_spec ps;

	if (conv == 's')
		return compile_add_text(b, v);
	if (conv == 'c')
		return compile_add_char(b, v);
	if (conv != 'p')
		return compile_add_number(b, v);
	*at += pf_pointer_parse(*at, v->star != NULL, b->c->dialect, &b->c->schema->abi, &ps);
	return compile_add_pointer(b, v, &ps);
}

static bool compile_finish(struct builder *b, struct conversion *v, const char **at)
{
	const struct pf_node *n;

	v->spec.conv = **at;
	if (!compile_take_arg(b, &v->arg))
		return false;
	++*at;
	if (!compile_add_value(b, v, at))
		return false;
	for (n = v->arg; n->kind == PF_CAST;)
		n = n->a;
	if (n->kind == PF_FIELD)
		b->pf->steps[b->pf->nr_steps - 1].only = n->field;
	return true;
}

static uint32_t compile_add_digit(uint32_t v, char c)
{
	v = v * 10 + (uint32_t)(c - '0');
	return v > MAX_WIDTH ? MAX_WIDTH : v;
}

/*
 * Parts of a conversion, in C's order. perf collects the characters in any order and passes them to
 * printf(), which prints a conversion that it does not understand unchanged.
 */
enum conversion_stage { FLAGS, WIDTH, STAR, DOT, DOT_STAR, LENGTH, LENGTH_TWICE };

static void compile_enter_stage(struct conversion *v, enum conversion_stage *stage,
				enum conversion_stage next)
{
	v->odd |=
		*stage > next || (*stage == next && next != FLAGS && next != WIDTH && next != DOT);
	*stage = next;
}

static void compile_length_letter(struct conversion *v, enum conversion_stage *stage, char c,
				  char last)
{
	bool twice = *stage == LENGTH && c == last && (c == 'h' || c == 'l');

	if (twice)
		*stage = LENGTH_TWICE;
	else
		compile_enter_stage(v, stage, LENGTH);
	if (c == 'h')
		v->ls--;
	else if (c == 'l')
		v->ls++;
	else if (c == 'L')
		v->ls = 2;
	else
		v->is_size = true;
}

static bool compile_finish_perf(struct builder *b, struct conversion *v, const char *start,
				const char **at)
{
	char conv = **at;

	if (conv == 'p')
		return compile_finish(b, v, at);
	if (v->is_size && (b->c->dialect->size_is_long || v->star)) {
		v->ls = 1;
	} else if (v->is_size) { /* perf passes an int for a size_t, so it is never negative */
		if (conv == 'd' || conv == 'i')
			v->as_unsigned = true;
	}
	/* The bytes are no wide string, so %ls prints nothing. */
	if (conv == 's' && v->ls > 0)
		v->odd = true;
	if (!v->odd)
		return compile_finish(b, v, at);
	if (!compile_take_arg(b, &v->arg))
		return false;
	++*at;
	if (conv == 's' && v->ls > 0)
		return true;
	compile_add_literal(b, '%');
	while (start < *at)
		compile_add_literal(b, *start++);
	return true;
}

/* *at is after the '%'. perf skips characters up to one that ends a conversion. */
static bool compile_conversion_perf(struct builder *b, const char **at)
{
	const char *start = *at;
	struct conversion v = { 0 };
	enum conversion_stage stage = FLAGS;

	for (; **at; ++*at) {
		char c = **at;

		switch (c) {
		case '#':
		case '-':
			v.spec.alt |= c == '#';
			v.spec.left |= c == '-';
			compile_enter_stage(&v, &stage, FLAGS);
			continue;
		case '.':
			v.odd |= stage >= DOT;
			stage = DOT;
			v.spec.has_prec = true;
			continue;
		case 'h':
		case 'l':
		case 'L':
		case 'z':
		case 'Z':
			compile_length_letter(&v, &stage, c, (*at)[-1]);
			continue;
		case '*':
			if (!compile_take_star(b, &v, stage == DOT))
				return false;
			compile_enter_stage(&v, &stage, stage == DOT ? DOT_STAR : STAR);
			continue;
		case '0' ... '9':
			if (stage == FLAGS && c == '0') {
				v.spec.zero = true;
			} else if (stage == DOT) {
				v.spec.prec = compile_add_digit(v.spec.prec, c);
			} else {
				compile_enter_stage(&v, &stage, WIDTH);
				v.spec.width = compile_add_digit(v.spec.width, c);
			}
			continue;
		case 'd':
		case 'i':
		case 'u':
		case 'x':
		case 'X':
		case 'o':
		case 's':
		case 'p':
			return compile_finish_perf(b, &v, start, at);
		}
		compile_add_literal(b, '>');
		compile_add_literal(b, c);
		compile_add_literal(b, '<');
		++*at;
		return true;
	}
	return true;
}

static bool compile_conversion_c(struct builder *b, const char **at)
{
	struct conversion v = { 0 };
	const char *start = *at;

	for (; **at && strchr("-+ #0", **at); ++*at) {
		v.spec.left |= **at == '-';
		v.spec.plus |= **at == '+';
		v.spec.space |= **at == ' ';
		v.spec.alt |= **at == '#';
		v.spec.zero |= **at == '0';
	}
	if (**at == '*') {
		if (!compile_take_star(b, &v, false))
			return false;
		++*at;
	}
	for (; **at >= '0' && **at <= '9'; ++*at)
		v.spec.width = compile_add_digit(v.spec.width, **at);
	if (**at == '.') {
		v.spec.has_prec = true;
		++*at;
		if (**at == '*') {
			if (!compile_take_star(b, &v, true))
				return false;
			++*at;
		}
		for (; **at >= '0' && **at <= '9'; ++*at)
			v.spec.prec = compile_add_digit(v.spec.prec, **at);
	}
	for (; **at && strchr("hlLqjztZ", **at); ++*at) {
		if (**at == 'h')
			v.ls--;
		else if (**at == 'l')
			v.ls++;
		else if (strchr("Lqj", **at))
			v.ls = 2;
		else
			v.is_size = true;
	}
	if (**at && strchr("diuxXoscp", **at))
		return compile_finish(b, &v, at);
	/* The kernel has no such conversion: prints its text. */
	compile_add_literal(b, '%');
	while (start < *at)
		compile_add_literal(b, *start++);
	return true;
}

int pf_compile_steps(struct pf_compiler *c, struct printfmt *pf, const char *format,
		     struct pf_node *args)
{
	const struct pf_dialect *d = c->dialect;
	struct builder b = { .c = c, .pf = pf, .arg = args };
	size_t len = strlen(format);
	bool ok = true;

	for (const char *s = format; *s; s++)
		b.room += *s == '%';
	b.room++;
	pf->steps = arena_array(c->arena, b.room, sizeof(*pf->steps));
	b.literal = arena_alloc(c->arena, 2 * len + 4);
	if (!pf->steps || !b.literal)
		return -ENOMEM;
	while (ok && *format) {
		size_t n;

		if (*format == '\\') {
			compile_add_literal(&b, compile_escape(format + 1, d->c_escapes, &n));
			format += 1 + n;
		} else if (*format == '%' && format[1] == '%') {
			compile_add_literal(&b, '%');
			format += 2;
		} else if (*format == '%') {
			format++;
			ok = d->c_conversions ? compile_conversion_c(&b, &format)
					      : compile_conversion_perf(&b, &format);
		} else {
			compile_add_literal(&b, *format++);
		}
	}
	if (ok && b.literal_len)
		ok = compile_add_step(&b, PF_S_TEXT) != NULL;
	if (c->no_memory || c->parser->no_memory)
		return -ENOMEM;
	return ok ? 0 : -EBADMSG;
}
