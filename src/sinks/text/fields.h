/* SPDX-License-Identifier: MIT */
/*
 * Which columns a line of text has. Columns are chosen per class of event (hardware, software, tracepoint ...), by
 * default or by a specification (`-F`):
 *
 *	[CLASS:]FIELD,FIELD,...     these and no others
 *	[CLASS:]+FIELD,-FIELD,...   the default with changes
 *
 * Several specifications are separated by blanks; a later one replaces what an earlier one said for its class. CLASS is
 * hw sw trace raw break synth; without one the fields go to every class that can have them. A default column that the
 * first recorded event of a class has no value for is left out of that class; one that was asked for is an error.
 */
#ifndef SONDE_SINKS_TEXT_FIELDS_H
#define SONDE_SINKS_TEXT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/schema.h"

enum text_field {
	TEXT_SYM = 1 << 0, /* how an address is shown: sym, symoff, dso */
	TEXT_SYMOFF = 1 << 1,
	TEXT_DSO = 1 << 2,
	TEXT_COMM = 1 << 3, /* and the columns in their order */
	TEXT_PID = 1 << 4,
	TEXT_TID = 1 << 5,
	TEXT_CPU = 1 << 6,
	TEXT_TIME = 1 << 7,
	TEXT_PERIOD = 1 << 8,
	TEXT_EVENT = 1 << 9,
	TEXT_TRACE = 1 << 10,
	TEXT_ADDR = 1 << 11,
	TEXT_WEIGHT = 1 << 12,
	TEXT_IP = 1 << 13,
	TEXT_PHYS_ADDR = 1 << 14,
	TEXT_DATA_PAGE_SIZE = 1 << 15,
	TEXT_CODE_PAGE_SIZE = 1 << 16
};

/* The first six are PERF_TYPE_*. */
enum text_class {
	TEXT_HARDWARE,
	TEXT_SOFTWARE,
	TEXT_TRACEPOINT,
	TEXT_HW_CACHE,
	TEXT_RAW,
	TEXT_BREAKPOINT,
	TEXT_OTHER,
	TEXT_SYNTH,
	NR_TEXT_CLASSES
};

struct text_fields {
	struct {
		uint32_t fields; /* columns shown */
		bool chosen;     /* the user said something about this class */
		bool by_name_alone; /* ... by `CLASS:` without any field: then the recording must have such events */
		bool met; /* an event type of this class was seen; the first decides about missing values */
	} classes[NR_TEXT_CLASSES];
	uint32_t
		asked; /* columns that the user named for all classes: events without them are an error */
	bool callchain; /* call chains are shown where recorded */
};

/* spec NULL: the defaults. -EINVAL with a message. */
int text_fields_parse(struct text_fields *ret, const char *spec, bool callchain);
/* Tells of an event type, in the order of the recording. -EINVAL when a column asked for has no value there. */
int text_fields_meet(struct text_fields *f, const struct sonde_schema *sc);
/* After the event types known at the start. */
int text_fields_met_all(const struct text_fields *f);

enum text_class text_class_of(const struct sonde_schema *sc);
/* PERF_SAMPLE_* of an event type; what any tracer records when there is no perf attribute. */
uint64_t text_sample_bits(const struct sonde_schema *sc);

#endif
