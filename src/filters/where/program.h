/* SPDX-License-Identifier: MIT */
/* A program of tests: bind.c makes it, run.c runs it. */
#ifndef SONDE_FILTERS_WHERE_PROGRAM_H
#define SONDE_FILTERS_WHERE_PROGRAM_H

#include "filters/where/where.h"

/* The place of a test's value. */
enum where_place {
	WHERE_NOWHERE, /* the test is false */
	/* fields of the payload */
	WHERE_AT_INT,     /* a number in the byte order of the recording */
	WHERE_AT_SPECIAL, /* a number with a byte order of its own, or of some bits */
	WHERE_AT_FLOAT,
	WHERE_AT_LABEL, /* the label of a number */
	WHERE_AT_TEXT,
	WHERE_AT_POINTER, /* the address of a string in the kernel */
	WHERE_AT_CPUMASK,
	/* values of the event */
	WHERE_AT_CPU,
	WHERE_AT_PID,
	WHERE_AT_TID,
	WHERE_AT_COMM,
	/* values of a sample */
	WHERE_AT_IP,
	WHERE_AT_ADDR,
	WHERE_AT_PERIOD,
	WHERE_AT_WEIGHT,
};

struct where_step {
	uint16_t on_true, on_false;
	uint8_t place; /* enum where_place */
	uint8_t gap;   /* enum where_gap; set if the place is WHERE_NOWHERE */
	uint8_t long_bytes;
	bool is_signed;
	bool has_weight_struct;
	uint64_t number; /* of the test, converted to the type of the field */
	const struct sonde_field *field;
	const struct where_test *test;
};

struct where_program {
	size_t nr; /* at least 1 */
	struct where_step steps[];
};

#endif
