/* SPDX-License-Identifier: MIT */
#include "model/printfmt/printfmt.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/printfmt/printfmt_internal.h"

/* The limit on nodes that one text is lowered to. */
#define BUDGET     200000u
#define MAX_PIECES 64

/* Compiles format string, comma, arguments. Returns 0, -EBADMSG if refused, or -ENOMEM. */
static int printfmt_compile_text(struct printfmt *pf, char *why, size_t why_size)
{
	const char *text = pf->schema->print_fmt;
	struct pf_parser p = {
		.arena = &pf->arena,
		.schema = pf->schema,
		.dialect = pf->dialect,
		.pos = text,
		.end = text ? text + strlen(text) : NULL,
		.why = why,
		.why_size = why_size,
	};
	struct pf_compiler c = {
		.arena = &pf->arena,
		.schema = pf->schema,
		.dialect = pf->dialect,
		.parser = &p,
		.budget = BUDGET,
	};
	char *format;
	bool ok = true;
	int err;

	if (!text) {
		pf_refuse(&p, "no print format");
		return -EBADMSG;
	}
	pf_next(&p);
	if (p.tok.kind != PF_TOK_STRING) {
		if (p.no_memory)
			return -ENOMEM;
		pf_refuse(&p, "a format string expected");
		return -EBADMSG;
	}
	format = pf_token_text(&p);
	pf_next(&p);
	/* A string that replaces a name left by old kernels is a token of its own. */
	for (unsigned i = 0; format && i < MAX_PIECES && p.tok.kind == PF_TOK_STRING; i++) {
		char *more = pf_token_text(&p);

		format = more ? pf_join(&p, format, "", more) : NULL;
		pf_next(&p);
	}
	if (!format)
		return -ENOMEM;
	if (p.tok.kind != PF_TOK_END) {
		if (!pf_is(&p, PF_TOK_DELIM, ","))
			ok = pf_refuse(&p, "a comma expected after the format string");
		else if (pf->dialect->c_grammar)
			ok = pf_parse_c(&p, &pf->args);
		else
			ok = pf_parse_perf(&p, &pf->args);
	}
	if (p.no_memory)
		return -ENOMEM;
	if (!ok)
		return -EBADMSG;
	err = pf_compile_steps(&c, pf, format, pf->args);
	pf->need = c.need;
	return err;
}

int printfmt_compile(struct printfmt **ret, const struct sonde_schema *sc,
		     enum printfmt_dialect dialect)
{
	struct printfmt *pf = calloc(1, sizeof(*pf));
	char why[160] = "";
	int err;

	if (!pf)
		return err_nomem();
	pf->schema = sc;
	pf->dialect = pf_dialect_find(dialect);
	pf->swap = sc->abi.swap;
	pf->is_bprint = pf_bprint_find(pf);
	pf->not_text = arena_alloc(&pf->arena, sc->nr_fields + 1);
	err = pf->not_text ? printfmt_compile_text(pf, why, sizeof(why)) : -ENOMEM;
	if (err == -EBADMSG) {
		pf->need = 0;
		pf->refused = arena_strdup(&pf->arena, why[0] ? why : "not understood");
		err = pf->refused ? 0 : -ENOMEM;
	}
	if (err < 0) {
		printfmt_free(pf);
		return err_nomem();
	}
	*ret = pf;
	return 0;
}

void printfmt_free(struct printfmt *pf)
{
	if (!pf)
		return;
	arena_done(&pf->arena);
	free(pf);
}

const char *printfmt_refused(const struct printfmt *pf)
{
	return pf->refused;
}
