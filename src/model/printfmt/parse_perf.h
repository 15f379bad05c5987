/* SPDX-License-Identifier: MIT */
/* Functions that the files of perf's parser of print formats share. */
#ifndef SONDE_MODEL_PRINTFMT_PARSE_PERF_H
#define SONDE_MODEL_PRINTFMT_PARSE_PERF_H

#include "model/printfmt/printfmt_internal.h"

/* parse_perf.c */

/* Parses the operand after the token. */
bool pf_perf_operand(struct pf_parser *p, struct pf_node *n);
/* Parses the operator at the token and what follows it. n is its left operand. */
bool pf_perf_operator(struct pf_parser *p, struct pf_node *n);
/* Moves to the next token if the current one is as given; else refuses the text. */
bool pf_perf_expect(struct pf_parser *p, enum pf_token_kind kind, const char *text);
/* False, with "`wanted` expected" as the reason. */
bool pf_perf_refuse_token(struct pf_parser *p, const char *wanted);
/* True if the token is a word, a number, a string or a character. */
bool pf_perf_at_value(const struct pf_parser *p);

/* parse_perf_calls.c: parses a call. The function's name was read; the token is "(". */
bool pf_perf_call(struct pf_parser *p, struct pf_node *n, const char *name);

/* parse_perf_constants.c */

/* The text of a table's value; NULL, with a reason, if it is not constant. */
const char *pf_perf_constant_text(struct pf_parser *p, const struct pf_node *n);
/* Computes operators of two constants, like libtraceevent. Text of the result replaces them. */
bool pf_perf_fold(struct pf_parser *p, struct pf_node *n, unsigned depth);

#endif
