/* SPDX-License-Identifier: MIT */
/* Constants that perf computes while it parses a print format. */
#include "model/printfmt/parse_perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t parse_truncate(int64_t v, const char *type)
{
	return pf_perf_cast((uint64_t)v, type, false);
}

/* Computes the operators that perf computes while it parses a table. */
static bool parse_constant(struct pf_parser *p, const struct pf_node *n, int64_t *ret)
{
	int64_t a = 0, b = 0;

	if (n->kind == PF_ATOM) {
		*ret = strtoll(n->text, NULL, 0);
		return true;
	}
	if (n->kind == PF_CAST) {
		if (!parse_constant(p, n->a, &a))
			return false;
		*ret = (int64_t)parse_truncate(a, n->text);
		return true;
	}
	if (n->kind != PF_OP)
		return pf_refuse(p, "a table's value must be a constant");
	if (n->a && n->a->kind != PF_NULL && n->op[0] != '~' && !parse_constant(p, n->a, &a))
		return false;
	if (n->a && n->a->kind == PF_NULL && !strchr("-+~", n->op[0]))
		return pf_refuse(p, "unknown operator %s in a table", n->op);
	if (!n->b || !parse_constant(p, n->b, &b))
		return false;
	switch (n->op[0]) {
	case '|':
		*ret = n->op[1] ? a || b : a | b;
		return true;
	case '&':
		*ret = n->op[1] ? a && b : a & b;
		return true;
	case '<':
		*ret = !n->op[1]         ? a < b
		       : n->op[1] == '<' ? (int64_t)((uint64_t)a << (b & 63))
					 : a <= b;
		return true;
	case '>':
		*ret = !n->op[1] ? a > b : n->op[1] == '>' ? a >> (b & 63) : a >= b;
		return true;
	case '=':
		*ret = a == b;
		return true;
	case '!':
		if (!n->op[1])
			break;
		*ret = a != b;
		return true;
	case '-':
		*ret = (int64_t)((uint64_t)a - (uint64_t)b);
		return true;
	case '+':
		*ret = (int64_t)((uint64_t)a + (uint64_t)b);
		return true;
	case '~':
		*ret = ~b;
		return true;
	}
	return pf_refuse(p, "unknown operator %s in a table", n->op);
}

const char *pf_perf_constant_text(struct pf_parser *p, const struct pf_node *n)
{
	char digits[24];
	int64_t v;

	while (n->kind == PF_CAST)
		n = n->a;
	if (n->kind == PF_ATOM)
		return n->text;
	if (n->kind != PF_OP) {
		pf_refuse(p, "a table's value must be a constant");
		return NULL;
	}
	if (!parse_constant(p, n, &v))
		return NULL;
	snprintf(digits, sizeof(digits), "%lld", (long long)v);
	return pf_join(p, digits, "", "");
}

bool pf_perf_fold(struct pf_parser *p, struct pf_node *n, unsigned depth)
{
	uint64_t a, b, v;
	char digits[24];

	if (n->kind != PF_OP || depth >= PF_MAX_DEPTH)
		return true;
	if (!pf_perf_fold(p, n->a, depth + 1) || !pf_perf_fold(p, n->b, depth + 1))
		return false;
	if (n->a->kind != PF_ATOM || n->b->kind != PF_ATOM)
		return true;
	a = strtoull(n->a->text, NULL, 0);
	b = strtoull(n->b->text, NULL, 0);
	if (!pf_perf_binary(n->op, a, b, &v))
		return true;
	snprintf(digits, sizeof(digits), "%lld", (long long)v);
	*n = (struct pf_node){
		.kind = PF_ATOM,
		.text = pf_join(p, digits, "", ""),
		.next = n->next,
	};
	return n->text != NULL;
}
