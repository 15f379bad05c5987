/* SPDX-License-Identifier: MIT */
/*
 * Print formats: the kernel's C text after "print fmt:", compiled once per schema into a small
 * program that writes an event's text. A dialect selects the right output or the known deviations
 * of a version of perf.
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

/* Callbacks for a running program. Any member may be NULL. */
struct printfmt_env {
	void *ctx;
	/* The kernel symbol that contains addr; *ret_off is the offset in it. NULL if unknown. */
	const char *(*symbol)(void *ctx, uint64_t addr, uint64_t *ret_off);
	/* The printk format string at addr (printk_formats); NULL if unknown. */
	const char *(*printk)(void *ctx, uint64_t addr);
	/* Reports a division by zero. Its result is 0. */
	void (*divided_by_zero)(void *ctx);
};

/* Fails only with -ENOMEM. The schema must outlive the program. */
int printfmt_compile(struct printfmt **ret, const struct sonde_schema *sc,
		     enum printfmt_dialect dialect);
void printfmt_free(struct printfmt *pf); /* NULL is allowed */
/*
 * The reason why the text was refused ("function x not defined"), for `-v` and tests. NULL if it
 * was not refused. Borrowed.
 */
const char *printfmt_refused(const struct printfmt *pf);
void printfmt_run(const struct printfmt *pf, const struct printfmt_env *env, const uint8_t *bytes,
		  uint32_t len, struct outbuf *out);
/*
 * Writes the value of a field of the schema, as if it was the first one; without a field,
 * " name=value" for each field that is not common.
 */
void printfmt_put_fields(const struct printfmt *pf, const struct sonde_field *f,
			 const uint8_t *bytes, uint32_t len, struct outbuf *out);
/*
 * Writes " name=value" for each field that is not common, with the conversion that the print format
 * has for the field, as libtraceevent does: conversions are searched from the last one that was
 * used, and none is used after the last of all.
 */
void printfmt_run_fields(const struct printfmt *pf, const struct printfmt_env *env,
			 const uint8_t *bytes, uint32_t len, struct outbuf *out);
/*
 * The definitions of flags and symbols that perf passes to scripts (define_flag_field ...), in
 * perf's order: see sonde_define. PRINTFMT_RIGHT gives only the entries of tables. The perf
 * dialects also give the stray definitions of a value 0 that perf makes of other constants.
 * Allocated in the arena.
 */
int printfmt_defines(const struct printfmt *pf, struct arena *a, const struct sonde_define **ret,
		     size_t *ret_nr);

#endif
