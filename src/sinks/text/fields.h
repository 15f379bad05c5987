/* SPDX-License-Identifier: MIT */
/*
 * Which columns a line of text has. Columns are chosen per class of event (hardware, software,
 * tracepoint ...), by default or by a specification (`-F`):
 *
 *	[CLASS:]FIELD,FIELD,...     these and no others
 *	[CLASS:]+FIELD,-FIELD,...   the default with changes
 *
 * Several specifications are separated by blanks; a later one replaces what an earlier one said for
 * its class. CLASS is hw sw trace raw break synth; without one the fields go to every class that
 * can have them. A default column that the first recorded event of a class has no value for is left
 * out of that class; one that was asked for is an error.
 *
 * Several recordings, which perf does not merge, may differ in what their samples hold. Then each
 * event type leaves out the columns that its own samples have no value for, and one that was asked
 * for is an error only if no event type of the class has it. So the order in which recordings are
 * named decides nothing.
 */
#ifndef SONDE_SINKS_TEXT_FIELDS_H
#define SONDE_SINKS_TEXT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "compat/rules.h"
#include "model/schema.h"

/* A bit per column. */
#define TEXT_SYM            (UINT64_C(1) << 0) /* how an address is shown */
#define TEXT_SYMOFF         (UINT64_C(1) << 1)
#define TEXT_DSO            (UINT64_C(1) << 2)
#define TEXT_DSOFF          (UINT64_C(1) << 3) /* and the address in the dso's file */
#define TEXT_SRCLINE        (UINT64_C(1) << 4)
#define TEXT_MACHINE_PID    (UINT64_C(1) << 5) /* the columns in their order */
#define TEXT_VCPU           (UINT64_C(1) << 6)
#define TEXT_COMM           (UINT64_C(1) << 7)
#define TEXT_PID            (UINT64_C(1) << 8)
#define TEXT_TID            (UINT64_C(1) << 9)
#define TEXT_CPU            (UINT64_C(1) << 10)
#define TEXT_MISC           (UINT64_C(1) << 11)
#define TEXT_TOD            (UINT64_C(1) << 12)
#define TEXT_TIME           (UINT64_C(1) << 13)
#define TEXT_PERIOD         (UINT64_C(1) << 14)
#define TEXT_EVENT          (UINT64_C(1) << 15)
#define TEXT_FLAGS          (UINT64_C(1) << 16)
#define TEXT_CALLINDENT     (UINT64_C(1) << 17)
#define TEXT_TRACE          (UINT64_C(1) << 18)
#define TEXT_SYNTH          (UINT64_C(1) << 19)
#define TEXT_ADDR           (UINT64_C(1) << 20)
#define TEXT_DATA_SRC       (UINT64_C(1) << 21)
#define TEXT_WEIGHT         (UINT64_C(1) << 22)
#define TEXT_INS_LAT        (UINT64_C(1) << 23)
#define TEXT_RETIRE_LAT     (UINT64_C(1) << 24)
#define TEXT_CGROUP         (UINT64_C(1) << 25)
#define TEXT_IP             (UINT64_C(1) << 26)
#define TEXT_IREGS          (UINT64_C(1) << 27)
#define TEXT_UREGS          (UINT64_C(1) << 28)
#define TEXT_BRSTACK        (UINT64_C(1) << 29)
#define TEXT_BRSTACKSYM     (UINT64_C(1) << 30)
#define TEXT_BRSTACKOFF     (UINT64_C(1) << 31)
#define TEXT_BPF_OUTPUT     (UINT64_C(1) << 32)
#define TEXT_INSNLEN        (UINT64_C(1) << 33)
#define TEXT_INSN           (UINT64_C(1) << 34)
#define TEXT_DISASM         (UINT64_C(1) << 35)
#define TEXT_BRSTACKINSN    (UINT64_C(1) << 36)
#define TEXT_BRSTACKINSNLEN (UINT64_C(1) << 37)
#define TEXT_BRSTACKDISASM  (UINT64_C(1) << 38)
#define TEXT_BRCNTR         (UINT64_C(1) << 39)
#define TEXT_PHYS_ADDR      (UINT64_C(1) << 40)
#define TEXT_DATA_PAGE_SIZE (UINT64_C(1) << 41)
#define TEXT_CODE_PAGE_SIZE (UINT64_C(1) << 42)
#define TEXT_IPC            (UINT64_C(1) << 43)
#define TEXT_SRCCODE        (UINT64_C(1) << 44)
#define TEXT_METRIC         (UINT64_C(1) << 45)

/* Columns behind an address; in the low 32 bits. */
#define TEXT_NAMES (TEXT_SYM | TEXT_SYMOFF | TEXT_DSO | TEXT_DSOFF | TEXT_SRCLINE)

struct text_class_fields {
	uint64_t fields; /* columns shown */
	/* Columns that the user named for all classes: events without them are an error. */
	uint64_t asked;
	uint64_t refused; /* columns that the user took away: -FIELD */
	bool chosen;      /* the user said something about this class */
	/* By `CLASS:` without any field: then the recording must have such events. */
	bool by_name_alone;
	bool met; /* an event type of this class was seen; the first decides about missing values */
	/* Of several recordings: */
	const struct sonde_schema *first; /* the first event type that was met; NULL: none */
	uint64_t sampled;                 /* what any of them samples */
	bool is_checked;                  /* against the columns that were asked for */
};

struct text_fields {
	struct text_class_fields classes[NR_EVENT_CLASSES];
	const struct rules *rules;
	bool callchain; /* call chains are shown where recorded */
	bool flags;     /* the column of flags, which all classes have or none */
};

/* Recording-wide facts that, together with the event type, decide whether a column is available. */
struct text_recording {
	unsigned traits;      /* enum schema_trait: of all event types together */
	bool aux_trace;       /* hardware traces: what they give is not known beforehand */
	bool clock_data;      /* times of day are known */
	bool is_pipe;         /* in pipe mode, where perf learns of events late */
	bool counts;          /* of `perf stat`: has no samples */
	bool is_several;      /* recordings are merged */
	bool has_fixed_types; /* event types are those of the format (struct source_traits) */
};

/*
 * spec NULL: the defaults. -EINVAL with a message. notes, if not NULL, gets lines about what was
 * passed over.
 */
int text_fields_parse(struct text_fields *ret, const char *spec, bool callchain,
		      const struct rules *rules, struct outbuf *notes);

/* fields_check.c */
/*
 * Takes an event type, in the order of the recording. -EINVAL when a column asked for has no value
 * there.
 */
int text_fields_meet(struct text_fields *f, const struct text_recording *rec,
		     const struct sonde_schema *sc);
/* After the event types known at the start. */
int text_fields_met_all(struct text_fields *f, const struct text_recording *rec);
/* The columns of an event type, once all types known at the start were met. */
uint64_t text_fields_of(const struct text_fields *f, const struct text_recording *rec,
			const struct sonde_schema *sc);

const char *text_class_name(enum event_class class);
const char *text_class_prefix(enum event_class class); /* "hw"; of those without one: NULL */
const char *text_field_name(uint64_t bit);

#endif
