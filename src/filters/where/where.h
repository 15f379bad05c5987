/* SPDX-License-Identifier: MIT */
/*
 * Expressions over the fields of events, in the filter language of the kernel:
 *
 *	prev_state & 3 && (next_comm ~ "kw*" || cpu & CPUS{0,2-3})
 *
 * An expression is parsed once into tests (parse.c). For each schema the tests become a program
 * without names (bind.c), which runs on the payload of events (run.c). A test says which test is
 * next if it is true, and which if it is false; later tests only, so that a program ends after
 * WHERE_MAX_TESTS steps at most:
 *
 *	    test                    on_true   on_false
 *	0   prev_state & 3          1         refuse
 *	1   next_comm ~ "kw*"       pass      2
 *	2   cpu & CPUS{0,2-3}       pass      refuse
 *
 * Negations are moved into the tests. A test whose field an event misses is false, also if it is
 * negated.
 *
 *	struct where w = { 0 };
 *	TRY(where_parse("prev_pid == 1", &w));
 *	TRY(where_bind(&w, schema, &program));
 *	if (!where_pass(program, &input)) ...
 *	where_program_free(program);
 *	where_done(&w);
 */
#ifndef SONDE_FILTERS_WHERE_WHERE_H
#define SONDE_FILTERS_WHERE_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "filters/cpu_list.h"
#include "model/schema.h"
#include "sonde/sonde.h"

enum {
	WHERE_MAX_TEXT = 4096, /* bytes of an expression */
	WHERE_MAX_TESTS = 256,
	WHERE_MAX_DEPTH = 64,   /* brackets and negations inside each other */
	WHERE_MAX_STRING = 255, /* bytes of a string in quotes, as in the kernel */
	WHERE_MAX_DIGITS = 23,  /* characters of a number, as in the kernel */
};

/* Targets of jumps that are no test. */
enum { WHERE_PASS = 0xffff, WHERE_REFUSE = 0xfffe };

enum where_op { WHERE_GLOB, WHERE_EQ, WHERE_NE, WHERE_LE, WHERE_LT, WHERE_GE, WHERE_GT, WHERE_AND };

enum where_value { WHERE_NUMBER, WHERE_STRING, WHERE_CPUS };

struct where_test {
	uint16_t on_true, on_false; /* a later test, WHERE_PASS or WHERE_REFUSE */
	enum where_op op;
	enum where_value value;
	bool is_inverted;
	bool is_negative;         /* the number was written with a minus */
	size_t name_at, value_at; /* offsets in the text */
	const char *name;         /* in the arena, as all texts */
	const char *string;       /* STRING */
	size_t len;               /* STRING: its bytes */
	uint64_t number;          /* NUMBER: two's complement if is_negative */
	struct cpu_list cpus;     /* CPUS; owned */
};

struct where {
	struct arena arena;
	const char *text; /* NULL if there is no expression */
	VEC(struct where_test) tests;
	bool needs_state; /* a test may need the task of an event, or its name */
};

/*
 * -EINVAL with a message that shows the position, or -ENOMEM. ret must be zero; it is written only
 * on success.
 */
int where_parse(const char *text, struct where *ret);
void where_done(struct where *w);
/* Sets the error of a position: "where=TEXT: MESSAGE, at character N: 'REST'". Returns -EINVAL. */
int where_fail(const char *text, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- programs -------------------------------------------------------------------------------- */

/* Why the events of a schema have no value for a test. */
enum where_gap {
	WHERE_GAP_NONE,
	WHERE_GAP_NO_FIELD,
	WHERE_GAP_IS_STRING,
	WHERE_GAP_IS_NUMBER,
	WHERE_GAP_IS_UNSIGNED,
	WHERE_GAP_OUT_OF_RANGE,
	WHERE_GAP_IS_FLOAT,
	WHERE_GAP_IS_CPUMASK,
	WHERE_GAP_NO_VALUE, /* an array or a struct */
	WHERE_GAP_ADDRESS   /* the address of a string that was not recorded */
};

struct where_program;

/* Makes the program of a schema; where_program_free() frees it. Fails with -ENOMEM only. */
int where_bind(const struct where *w, const struct sonde_schema *sc, struct where_program **ret);
void where_program_free(struct where_program *p);
enum where_gap where_gap_of(const struct where_program *p, size_t test);
/*
 * Sets the error about a test for which the events of a schema have no value. If several is true,
 * the message is about all n schemas, otherwise n is 1. Returns -EINVAL.
 */
int where_explain(const struct where *w, size_t test, enum where_gap gap,
		  const struct sonde_schema *const *schemas, size_t n);

/* An event, and what it needs to be judged. */
struct where_input {
	const struct sonde_event *event;
	const char *(*comm)(void *ctx); /* the name of the event's task */
	/* The string at an address of the recorded kernel; NULL if unknown. */
	const char *(*string_at)(void *ctx, uint64_t addr);
	int (*sample)(void *ctx, struct sonde_sample *ret); /* <0 if the sample is damaged */
	void *ctx;
};

bool where_pass(const struct where_program *p, const struct where_input *in);

/* ---- glob.c ---------------------------------------------------------------------------------- */

/*
 * Compares a text with a pattern of the kernel: * any text, ? any character, [a-z] one of these,
 * [!a-z] none of these, \ takes away the meaning of the next character. A [ without its ] is a
 * character.
 */
bool where_glob(const char *pattern, size_t pattern_len, const char *text, size_t len);

#endif
