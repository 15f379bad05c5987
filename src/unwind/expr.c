/* SPDX-License-Identifier: MIT */
#include "unwind/expr.h"

#include <dwarf.h>

enum { DEPTH = 64 };

struct stack {
	uint64_t v[DEPTH];
	unsigned n;
};

static bool expr_push(struct stack *s, uint64_t v)
{
	if (s->n == DEPTH)
		return false;
	s->v[s->n++] = v;
	return true;
}

static uint64_t expr_narrow(uint64_t v, unsigned bytes)
{
	return bytes < 8 ? v & (((uint64_t)1 << 8 * bytes) - 1) : v;
}

static int64_t expr_widen(uint64_t v, unsigned bytes)
{
	return bytes < 8 ? (int64_t)(v << (64 - 8 * bytes)) >> (64 - 8 * bytes) : (int64_t)v;
}

/* Operations on two operands; b is on top. */
static bool expr_binary(uint8_t atom, uint64_t a, uint64_t b, unsigned bytes, uint64_t *ret)
{
	int64_t sa = expr_widen(a, bytes), sb = expr_widen(b, bytes);

	switch (atom) {
	case DW_OP_and:
		*ret = a & b;
		return true;
	case DW_OP_or:
		*ret = a | b;
		return true;
	case DW_OP_xor:
		*ret = a ^ b;
		return true;
	case DW_OP_plus:
		*ret = a + b;
		return true;
	case DW_OP_minus:
		*ret = a - b;
		return true;
	case DW_OP_mul:
		*ret = a * b;
		return true;
	case DW_OP_div:
		if (!sb || sb == -1) /* avoids the overflow of the smallest number / -1 */
			*ret = 0 - a;
		else
			*ret = (uint64_t)(sa / sb);
		return sb != 0;
	case DW_OP_mod:
		*ret = b ? a % b : 0;
		return b != 0;
	case DW_OP_shl:
		*ret = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*ret = b < 64 ? a >> b : 0;
		return true;
	case DW_OP_shra:
		*ret = (uint64_t)(sa >> (b < 64 ? b : 63));
		return true;
	case DW_OP_eq:
		*ret = sa == sb;
		return true;
	case DW_OP_ne:
		*ret = sa != sb;
		return true;
	case DW_OP_lt:
		*ret = sa < sb;
		return true;
	case DW_OP_le:
		*ret = sa <= sb;
		return true;
	case DW_OP_gt:
		*ret = sa > sb;
		return true;
	case DW_OP_ge:
		*ret = sa >= sb;
		return true;
	}
	return false;
}

/* Operations that move, copy or change the top of the stack. */
static bool expr_stack_op(struct stack *s, const struct cfi_op *op, unsigned bytes)
{
	uint64_t *top = s->n ? &s->v[s->n - 1] : NULL, t;

	switch (op->atom) {
	case DW_OP_dup:
		return top && expr_push(s, *top);
	case DW_OP_drop:
		return top && s->n--;
	case DW_OP_over:
		return s->n >= 2 && expr_push(s, top[-1]);
	case DW_OP_pick:
		return op->number < s->n && expr_push(s, s->v[s->n - 1 - op->number]);
	case DW_OP_swap:
		if (s->n < 2)
			return false;
		t = top[0];
		top[0] = top[-1];
		top[-1] = t;
		return true;
	case DW_OP_rot:
		if (s->n < 3)
			return false;
		t = top[0];
		top[0] = top[-1];
		top[-1] = top[-2];
		top[-2] = t;
		return true;
	case DW_OP_plus_uconst:
		if (top)
			*top = expr_narrow(*top + op->number, bytes);
		return top;
	case DW_OP_neg:
		if (top)
			*top = expr_narrow(0 - *top, bytes);
		return top;
	case DW_OP_not:
		if (top)
			*top = expr_narrow(~*top, bytes);
		return top;
	case DW_OP_abs:
		if (top && expr_widen(*top, bytes) < 0)
			*top = expr_narrow(0 - *top, bytes);
		return top;
	}
	if (s->n < 2 || !expr_binary(op->atom, top[-1], top[0], bytes, &t))
		return false;
	s->n--;
	top[-1] = expr_narrow(t, bytes);
	return true;
}

static bool expr_load(struct stack *s, const struct expr_machine *m, unsigned bytes)
{
	return s->n && bytes && bytes <= 8 &&
	       m->memory(m->ctx, s->v[s->n - 1], bytes, &s->v[s->n - 1]);
}

static bool expr_push_register(struct stack *s, const struct expr_machine *m, uint64_t reg,
			       uint64_t offset)
{
	uint64_t v;

	return m->reg(m->ctx, reg, &v) && expr_push(s, expr_narrow(v + offset, m->word_bytes));
}

static bool expr_step(struct stack *s, const struct cfi_op *op, const struct expr_machine *m)
{
	uint8_t atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return expr_push(s, atom - DW_OP_lit0);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return expr_push_register(s, m, atom - DW_OP_breg0, op->number);
	if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
		return expr_push_register(s, m, atom - DW_OP_reg0, 0);
	switch (atom) {
	case DW_OP_nop:
		return true;
	case DW_OP_addr:
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return expr_push(s, expr_narrow(op->number, m->word_bytes));
	case DW_OP_regx:
		return expr_push_register(s, m, op->number, 0);
	case DW_OP_bregx:
		return expr_push_register(s, m, op->number, op->number2);
	case DW_OP_call_frame_cfa:
		return expr_push(s, m->cfa);
	case DW_OP_deref:
		return expr_load(s, m, m->word_bytes);
	case DW_OP_deref_size:
		return op->number <= 8 && expr_load(s, m, (unsigned)op->number);
	}
	return expr_stack_op(s, op, m->word_bytes);
}

bool expr_run(const struct cfi_op *ops, unsigned nr, const struct expr_machine *m, uint64_t *ret)
{
	struct stack s = { .n = 0 };
	unsigned at = 0;

	while (at < nr) {
		const struct cfi_op *op = &ops[at++];

		if (!*m->budget)
			return false;
		--*m->budget;
		if (op->atom == DW_OP_skip) {
			at = (unsigned)op->number;
		} else if (op->atom == DW_OP_bra) {
			if (!s.n)
				return false;
			if (s.v[--s.n])
				at = (unsigned)op->number;
		} else if (!expr_step(&s, op, m)) {
			return false;
		}
	}
	if (!s.n)
		return false;
	*ret = s.v[s.n - 1];
	return true;
}
