/* SPDX-License-Identifier: MIT */
/*
 * Definitions for scripts (define_flag_field ...) from a print format's tables, in perf's order.
 */
#include "model/printfmt/printfmt_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define MAX_VISITS 200000u

struct defines {
	const struct printfmt *pf;
	struct arena *arena;
	struct pf_compiler compiler; /* for values in C's grammar */
	const char *field;           /* the last field met */
	struct sonde_define *to;     /* NULL while counting */
	size_t n, limit;
	unsigned depth, visits; /* `a ?: b` visits one node twice */
	bool stopped;
};

static void defines_add(struct defines *d, enum sonde_define_kind kind, uint64_t value,
			const char *text)
{
	if (d->to && d->n < d->limit)
		d->to[d->n] = (struct sonde_define){
			.size = sizeof(*d->to),
			.kind = kind,
			.value = value,
			.field = d->field ? d->field : "",
			.text = text,
		};
	d->n++;
}

static uint64_t defines_perf_value(const char *text)
{
	uint64_t v;

	if (text[0] >= '0' && text[0] <= '9')
		return strtoull(text, NULL, 0);
	return pf_known_name(text, true, &v) ? v : 0;
}

/* ---- perf ------------------------------------------------------------------------------------ */

/* Walks over all arguments. Each constant counts as a value 0 of the last field met. */
static void defines_walk_perf(struct defines *d, const struct pf_node *n)
{
	if (!n || d->stopped || d->depth >= 2 * PF_MAX_DEPTH)
		return;
	d->depth++;
	switch (n->kind) {
	case PF_NULL:
	case PF_STR:
		break;
	case PF_ATOM:
		defines_add(d, SONDE_DEFINE_FLAG_VALUE, 0, n->text);
		break;
	case PF_FIELD:
		d->field = n->text;
		break;
	case PF_FLAGS:
	case PF_SYMBOL:
		defines_walk_perf(d, n->a);
		if (n->kind == PF_FLAGS)
			defines_add(d, SONDE_DEFINE_FLAG_FIELD, 0, n->delim ? n->delim : "");
		else
			defines_add(d, SONDE_DEFINE_SYMBOLIC_FIELD, 0, "");
		for (const struct pf_pair *p = n->pairs; p; p = p->next)
			defines_add(d,
				    n->kind == PF_FLAGS ? SONDE_DEFINE_FLAG_VALUE
							: SONDE_DEFINE_SYMBOLIC_VALUE,
				    defines_perf_value(p->value_text), p->name);
		break;
	case PF_HEX:
	case PF_HEX_STR:
	case PF_ARRAY:
		defines_walk_perf(d, n->a);
		defines_walk_perf(d, n->b);
		defines_walk_perf(d, n->c);
		break;
	case PF_CAST:
		defines_walk_perf(d, n->a);
		break;
	case PF_OP:
		defines_walk_perf(d, n->a);
		defines_walk_perf(d, n->b);
		break;
	default:
		/*
		 * perf's walk ends at a node of any other kind. At the top level it also skips the
		 * arguments after it.
		 */
		d->depth--;
		d->stopped = d->depth == 0;
		return;
	}
	d->depth--;
}

/* ---- only the tables ------------------------------------------------------------------------- */

static const char *defines_field_in(const struct pf_node *n, unsigned depth)
{
	const char *name;

	if (!n || depth >= PF_MAX_DEPTH)
		return NULL;
	if (n->kind == PF_FIELD)
		return n->text;
	name = defines_field_in(n->a, depth + 1);
	return name ? name : defines_field_in(n->b, depth + 1);
}

static void defines_table_c(struct defines *d, const struct pf_node *n)
{
	const char *field = defines_field_in(n->a, 0);

	if (field)
		d->field = field;
	if (n->kind == PF_FLAGS)
		defines_add(d, SONDE_DEFINE_FLAG_FIELD, 0, n->delim ? n->delim : "");
	else
		defines_add(d, SONDE_DEFINE_SYMBOLIC_FIELD, 0, "");
	for (const struct pf_pair *p = n->pairs; p; p = p->next) {
		struct pf_ctype t;
		struct pf_expr *e;

		d->compiler.budget = 4096;
		e = pf_lower_c(&d->compiler, p->value, &t);
		if (e && e->code == PF_E_CONST)
			defines_add(d,
				    n->kind == PF_FLAGS ? SONDE_DEFINE_FLAG_VALUE
							: SONDE_DEFINE_SYMBOLIC_VALUE,
				    e->value, p->name);
	}
}

static void defines_walk_c(struct defines *d, const struct pf_node *n)
{
	if (!n || d->depth >= 2 * PF_MAX_DEPTH || ++d->visits > MAX_VISITS)
		return;
	d->depth++;
	if (n->kind == PF_FLAGS || n->kind == PF_SYMBOL) {
		defines_table_c(d, n);
	} else if (n->kind == PF_OP && n->op[0] == '?') {
		const struct pf_node *yes = n->b->a, *no = n->b->b;

		defines_walk_c(d, n->a);
		defines_walk_c(d, yes);
		/* `v ? __print_flags(v, ...) : "R"`: "R" is the name of 0. */
		if (yes->kind == PF_FLAGS && no->kind == PF_ATOM && no->is_string)
			defines_add(d, SONDE_DEFINE_FLAG_VALUE, 0, no->text);
		else
			defines_walk_c(d, no);
	} else {
		defines_walk_c(d, n->a);
		defines_walk_c(d, n->b);
		defines_walk_c(d, n->c);
	}
	d->depth--;
}

static void defines_walk(struct defines *d)
{
	d->n = 0;
	d->field = NULL;
	d->stopped = false;
	d->visits = 0;
	for (const struct pf_node *n = d->pf->args; n && !d->stopped; n = n->next) {
		if (d->pf->dialect->perf_defines)
			defines_walk_perf(d, n);
		else
			defines_walk_c(d, n);
	}
}

int printfmt_defines(const struct printfmt *pf, struct arena *a, const struct sonde_define **ret,
		     size_t *ret_nr)
{
	char why[8] = "";
	struct pf_parser parser = { .why = why, .why_size = sizeof(why) };
	struct defines d = {
		.pf = pf,
		.arena = a,
		.compiler = { .arena = a,
			      .schema = pf->schema,
			      .dialect = pf->dialect,
			      .parser = &parser },
	};

	defines_walk(&d);
	*ret = NULL;
	*ret_nr = 0;
	if (!d.n)
		return 0;
	d.limit = d.n;
	d.to = arena_array(a, d.n, sizeof(*d.to));
	if (!d.to)
		return err_nomem();
	defines_walk(&d);
	/* Copies the texts, because the program's arena may be freed first. */
	for (size_t i = 0; i < d.n; i++) {
		d.to[i].field = arena_strdup(a, d.to[i].field);
		if (!d.to[i].field)
			return err_nomem();
		d.to[i].text = arena_strdup(a, d.to[i].text);
		if (!d.to[i].text)
			return err_nomem();
	}
	*ret = d.to;
	*ret_nr = d.n;
	return 0;
}
