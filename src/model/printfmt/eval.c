/* SPDX-License-Identifier: MIT */
/* Builds expressions when a program is compiled, and evaluates them with a record's bytes. */
#include "model/printfmt/printfmt_internal.h"

#include "base/bytes.h"
#include "model/value.h"

/*
 * The offset that a dynamic field points to; UINT32_MAX if the field is outside the record.
 * *ret_len is the length that the field contains, not clipped.
 */
static uint32_t eval_dynamic_begin(const struct pf_run *r, const struct sonde_field *f,
				   uint32_t *ret_len)
{
	uint32_t word = 0;

	*ret_len = 0;
	if (f->offset > r->len || r->len - f->offset < 4)
		return UINT32_MAX;
	word = get_u32(r->bytes + f->offset, r->swap);
	*ret_len = word >> 16;
	return (word & 0xffff) + (f->is_relative ? f->offset + 4 : 0);
}

static uint64_t eval_load_checked(const struct pf_run *r, uint64_t at, unsigned width)
{
	if (at > r->len || width > r->len - at)
		return 0;
	return value_u64(r->bytes + at, width, r->swap);
}

static uint64_t eval_divide(const struct pf_run *r, const struct pf_expr *e, uint64_t a, uint64_t b)
{
	if (!b) {
		if (r->env && r->env->divided_by_zero)
			r->env->divided_by_zero(r->env->ctx);
		return 0;
	}
	switch (e->code) {
	case PF_E_DIV:
		return a / b;
	case PF_E_MOD:
		return a % b;
	case PF_E_SDIV:
		return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
	default:
		return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
	}
}

uint64_t pf_eval(const struct pf_run *r, const struct pf_expr *e)
{
	const uint8_t *at = r->bytes + e->offset;
	uint32_t begin, len;
	uint64_t a, b;

	switch (e->code) {
	case PF_E_CONST:
		return e->value;
	case PF_E_LOAD1:
		return *at;
	case PF_E_LOAD2:
		return load_u16(at);
	case PF_E_LOAD4:
		return load_u32(at);
	case PF_E_LOAD8:
		return load_u64(at);
	case PF_E_LOADS1:
		return (uint64_t)(int8_t)*at;
	case PF_E_LOADS2:
		return (uint64_t)(int16_t)load_u16(at);
	case PF_E_LOADS4:
		return (uint64_t)(int32_t)load_u32(at);
	case PF_E_SWAP2:
		return get_u16(at, true);
	case PF_E_SWAP4:
		return get_u32(at, true);
	case PF_E_SWAP8:
		return get_u64(at, true);
	case PF_E_MASK4:
		return load_u32(at) & e->value;
	case PF_E_MASK8:
		return load_u64(at) & e->value;
	case PF_E_INDEX:
		return eval_load_checked(r, e->offset + pf_eval(r, e->a) * e->value, e->width);
	case PF_E_DYNINDEX:
		begin = eval_dynamic_begin(r, e->field, &len);
		if (begin == UINT32_MAX)
			return 0;
		return eval_load_checked(r, begin + e->offset + pf_eval(r, e->a) * e->value,
					 e->width);
	case PF_E_DYNLEN:
		eval_dynamic_begin(r, e->field, &len);
		return len;
	case PF_E_DYNADDR:
		begin = eval_dynamic_begin(r, e->field, &len);
		return begin == UINT32_MAX ? 0 : begin;
	case PF_E_LAND:
		return pf_eval(r, e->a) && pf_eval(r, e->b);
	case PF_E_LOR:
		return pf_eval(r, e->a) || pf_eval(r, e->b);
	case PF_E_COND:
		return pf_eval(r, pf_eval(r, e->a) ? e->b : e->c);
	}

	a = pf_eval(r, e->a);
	switch (e->code) {
	case PF_E_TRUNC1:
		return (uint8_t)a;
	case PF_E_TRUNC2:
		return (uint16_t)a;
	case PF_E_TRUNC4:
		return (uint32_t)a;
	case PF_E_SEXT1:
		return (uint64_t)(int8_t)a;
	case PF_E_SEXT2:
		return (uint64_t)(int16_t)a;
	case PF_E_SEXT4:
		return (uint64_t)(int32_t)a;
	case PF_E_NEG:
		return -a;
	case PF_E_NOT:
		return ~a;
	case PF_E_LNOT:
		return !a;
	}

	b = pf_eval(r, e->b);
	switch (e->code) {
	case PF_E_ADD:
		return a + b;
	case PF_E_SUB:
		return a - b;
	case PF_E_MUL:
		return a * b;
	case PF_E_DIV:
	case PF_E_MOD:
	case PF_E_SDIV:
	case PF_E_SMOD:
		return eval_divide(r, e, a, b);
	case PF_E_SHL:
		return a << (b & 63);
	case PF_E_SHR:
		return a >> (b & 63);
	case PF_E_SSHR:
		return (uint64_t)((int64_t)a >> (b & 63));
	case PF_E_AND:
		return a & b;
	case PF_E_OR:
		return a | b;
	case PF_E_XOR:
		return a ^ b;
	case PF_E_LT:
		return a < b;
	case PF_E_LE:
		return a <= b;
	case PF_E_GT:
		return a > b;
	case PF_E_GE:
		return a >= b;
	case PF_E_SLT:
		return (int64_t)a < (int64_t)b;
	case PF_E_SLE:
		return (int64_t)a <= (int64_t)b;
	case PF_E_SGT:
		return (int64_t)a > (int64_t)b;
	case PF_E_SGE:
		return (int64_t)a >= (int64_t)b;
	case PF_E_EQ:
		return a == b;
	case PF_E_NE:
		return a != b;
	}
	return 0;
}

/* False if the place is outside the record. *ret_len is the field's length, not clipped. */
static bool eval_place_begin(const struct pf_run *r, const struct pf_place *pl, uint64_t *ret_begin,
			     uint64_t *ret_len)
{
	const struct sonde_field *f = pl->field;
	uint64_t begin = f->offset, len = f->width;
	uint64_t skip = pl->skip ? pf_eval(r, pl->skip) : 0;

	if (f->is_dynamic && !pl->itself) {
		uint32_t n;

		begin = eval_dynamic_begin(r, f, &n);
		len = n;
	} else if (!len) {
		len = begin < r->len ? r->len - begin : 0;
	}
	if (begin > r->len || skip > r->len - begin)
		return false;
	*ret_begin = begin + skip;
	*ret_len = skip < len ? len - skip : 0;
	return true;
}

const uint8_t *pf_place_bytes(const struct pf_run *r, const struct pf_place *pl, uint32_t *ret_len)
{
	uint64_t begin, len;

	*ret_len = 0;
	if (!eval_place_begin(r, pl, &begin, &len))
		return NULL;
	*ret_len = (uint32_t)(len < r->len - begin ? len : r->len - begin);
	return r->bytes + begin;
}

const uint8_t *pf_place_rest(const struct pf_run *r, const struct pf_place *pl, uint32_t *ret_len)
{
	uint64_t begin, len;

	*ret_len = 0;
	if (!eval_place_begin(r, pl, &begin, &len))
		return NULL;
	*ret_len = (uint32_t)(r->len - begin);
	return r->bytes + begin;
}

/* ---- building -------------------------------------------------------------------------------- */

bool pf_enter(struct pf_compiler *c)
{
	if (c->depth >= PF_MAX_DEPTH || !c->budget)
		return pf_refuse(c->parser, c->budget ? "nested too deeply" : "too large");
	c->depth++;
	c->budget--;
	return true;
}

void pf_leave(struct pf_compiler *c)
{
	c->depth--;
}

void pf_need(struct pf_compiler *c, uint64_t end)
{
	if (end > c->need)
		c->need = (uint32_t)end;
}

static struct pf_expr *eval_expr_alloc(struct pf_compiler *c, enum pf_code code)
{
	struct pf_expr *e = arena_alloc(c->arena, sizeof(*e));

	if (e)
		e->code = (uint8_t)code;
	else
		c->no_memory = true;
	return e;
}

struct pf_expr *pf_expr_const(struct pf_compiler *c, uint64_t v)
{
	struct pf_expr *e = eval_expr_alloc(c, PF_E_CONST);

	if (e)
		e->value = v;
	return e;
}

static bool eval_is_const(const struct pf_expr *e)
{
	return e && e->code == PF_E_CONST;
}

/*
 * For operators only. Folds constants, except for a division by zero, which must be reported when
 * the program runs.
 */
struct pf_expr *pf_expr_new(struct pf_compiler *c, enum pf_code code, const struct pf_expr *a,
			    const struct pf_expr *b)
{
	static const struct pf_run nothing = { .bytes = (const uint8_t *)"" };
	struct pf_expr *e;

	if (!a || (code >= PF_E_ADD && !b))
		return NULL;
	e = eval_expr_alloc(c, code);
	if (!e)
		return NULL;
	e->a = a;
	e->b = b;
	if (code == PF_E_AND && eval_is_const(b) &&
	    (a->code == PF_E_LOAD4 || a->code == PF_E_LOAD8)) {
		*e = (struct pf_expr){
			.code = a->code == PF_E_LOAD4 ? PF_E_MASK4 : PF_E_MASK8,
			.offset = a->offset,
			.value = b->value,
		};
		return e;
	}
	if (!eval_is_const(a) || (b && !eval_is_const(b)))
		return e;
	if (code >= PF_E_DIV && code <= PF_E_SMOD && !b->value)
		return e;
	*e = (struct pf_expr){ .code = PF_E_CONST, .value = pf_eval(&nothing, e) };
	return e;
}

struct pf_expr *pf_expr_load(struct pf_compiler *c, uint32_t offset, uint32_t width, bool is_signed)
{
	bool swap = c->schema->abi.swap && width > 1;
	struct pf_expr *e;
	enum pf_code code;

	switch (width) {
	case 1:
		code = is_signed ? PF_E_LOADS1 : PF_E_LOAD1;
		break;
	case 2:
		code = swap ? PF_E_SWAP2 : is_signed ? PF_E_LOADS2 : PF_E_LOAD2;
		break;
	case 4:
		code = swap ? PF_E_SWAP4 : is_signed ? PF_E_LOADS4 : PF_E_LOAD4;
		break;
	case 8:
		code = swap ? PF_E_SWAP8 : PF_E_LOAD8;
		break;
	default:
		return pf_expr_const(c, 0);
	}
	if (offset > PF_MAX_OFFSET - width)
		return pf_expr_const(c, 0);
	e = eval_expr_alloc(c, code);
	if (!e)
		return NULL;
	e->offset = offset;
	pf_need(c, (uint64_t)offset + width);
	if (swap && is_signed && width < 8)
		return pf_expr_new(c, width == 2 ? PF_E_SEXT2 : PF_E_SEXT4, e, NULL);
	return e;
}

struct pf_expr *pf_expr_dynamic(struct pf_compiler *c, enum pf_code code,
				const struct sonde_field *f)
{
	struct pf_expr *e = eval_expr_alloc(c, code);

	if (e)
		e->field = f;
	return e;
}
