/* SPDX-License-Identifier: MIT */
/*
 * Print formats: the kernel's C text behind "print fmt:", compiled once per schema into a small
 * program that writes an event's text. Dialects keep what is known of perf's deviations apart from
 * what is right.
 *
 *	// Bad text is no failure: the fields are then printed as "name=value".
 *	printfmt_compile(&pf, schema, PRINTFMT_RIGHT);
 *	printfmt_run(pf, &env, bytes, len, &out);
 *	printfmt_free(pf);
 */
#ifndef SONDE_MODEL_PRINTFMT_H
#define SONDE_MODEL_PRINTFMT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/outbuf.h"
#include "compat/rules.h"
#include "sonde/sonde.h"

struct printfmt;

/* What a running program may ask its surroundings. Any member may be NULL. */
struct printfmt_env {
	void *ctx;
	/* Kernel symbol that holds addr, *ret_off the distance from its start; NULL unknown. */
	const char *(*symbol)(void *ctx, uint64_t addr, uint64_t *ret_off);
	/* Text of a printk format string at addr (printk_formats); NULL unknown. */
	const char *(*printk)(void *ctx, uint64_t addr);
	/* A division by zero was met (the result is 0). */
	void (*divided_by_zero)(void *ctx);
};

/* -ENOMEM only. The schema must outlive the program. */
int printfmt_compile(struct printfmt **ret, const struct sonde_schema *sc,
		     enum printfmt_dialect dialect);
void printfmt_free(struct printfmt *pf); /* NULL is fine */
/*
 * NULL when the text was understood, else why not ("function x not defined"), for `-v` and tests.
 * Borrowed.
 */
const char *printfmt_refused(const struct printfmt *pf);
void printfmt_run(const struct printfmt *pf, const struct printfmt_env *env, const uint8_t *bytes,
		  uint32_t len, struct outbuf *out);
/*
 * What perf passes to scripts about flag and symbol tables (define_flag_field ...), in perf's
 * order: a walk over the arguments; see sonde_define. With PRINTFMT_RIGHT only real table entries;
 * with the perf dialects also the stray "value 0" definitions that perf makes of other constants.
 * Allocated in the arena.
 */
int printfmt_defines(const struct printfmt *pf, struct arena *a, const struct sonde_define **ret,
		     size_t *ret_nr);

#endif
