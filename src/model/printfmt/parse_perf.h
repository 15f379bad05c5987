/* SPDX-License-Identifier: MIT */
/* The files of perf's reading of print formats: what they use of each other. */
#ifndef SONDE_MODEL_PRINTFMT_PARSE_PERF_H
#define SONDE_MODEL_PRINTFMT_PARSE_PERF_H

#include "model/printfmt/printfmt_internal.h"

/* parse_perf.c */

/* The operand after the token. */
bool pf_perf_operand(struct pf_parser *p, struct pf_node *n);
/* The operator that is the token, and what follows it; n is its left operand. */
bool pf_perf_operator(struct pf_parser *p, struct pf_node *n);
/* The token must be this one; moves on. */
bool pf_perf_expect(struct pf_parser *p, enum pf_token_kind kind, const char *text);
/* False, with "`wanted` expected" as the reason. */
bool pf_perf_refuse_token(struct pf_parser *p, const char *wanted);
/* True if the token is a word, a number, a string or a character. */
bool pf_perf_at_value(const struct pf_parser *p);

/* parse_perf_calls.c: a function's name was read, the token is "(". */
bool pf_perf_call(struct pf_parser *p, struct pf_node *n, const char *name);

/* parse_perf_constants.c */

/* The text of a table's value; NULL, with a reason, if it is not constant. */
const char *pf_perf_constant_text(struct pf_parser *p, const struct pf_node *n);
/* libtraceevent computes operators of two constants; the result replaces them as text. */
bool pf_perf_fold(struct pf_parser *p, struct pf_node *n, unsigned depth);

#endif
