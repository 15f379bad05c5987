/* SPDX-License-Identifier: MIT */
/*
 * Which columns a line of text has. Columns are chosen per class of event (hardware, software,
 * tracepoint ...), by default or by a specification (`-F`):
 *
 *	[CLASS:]FIELD,FIELD,...     these and no others
 *	[CLASS:]+FIELD,-FIELD,...   the default with changes
 *
 * Several specifications are separated by blanks; a later one replaces an earlier one for the same
 * class. CLASS is hw sw trace raw break synth; without CLASS the fields apply to every class that
 * can have them. If the first recorded event of a class has no value for a column, a default column
 * is left out of that class, and a requested column is an error.
 *
 * The samples of several recordings may contain different kinds of values. (perf does not merge
 * recordings.) Then each event type leaves out columns that its own samples have no value for. A
 * requested column is an error only if no event type of the class has it. So the order in which
 * recordings are named does not matter.
 */
#ifndef SONDE_SINKS_TEXT_FIELDS_H
#define SONDE_SINKS_TEXT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "compat/rules.h"
#include "model/schema.h"

/* A bit per column. */
#define TEXT_SYM            (UINT64_C(1) << 0) /* from here: how an address is shown */
#define TEXT_SYMOFF         (UINT64_C(1) << 1)
#define TEXT_DSO            (UINT64_C(1) << 2)
#define TEXT_DSOFF          (UINT64_C(1) << 3) /* also the address in the dso's file */
#define TEXT_SRCLINE        (UINT64_C(1) << 4)
#define TEXT_MACHINE_PID    (UINT64_C(1) << 5) /* from here: columns, in output order */
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

/* The columns printed after an address; all in the low 32 bits. */
#define TEXT_NAMES (TEXT_SYM | TEXT_SYMOFF | TEXT_DSO | TEXT_DSOFF | TEXT_SRCLINE)

struct text_class_fields {
	uint64_t fields; /* columns shown */
	/*
	 * Columns that the user requested for all classes; an event type without them is an error.
	 */
	uint64_t asked;
	uint64_t refused; /* columns removed by the user: -FIELD */
	bool chosen;      /* the user specified columns for this class */
	/*
	 * Specified by `CLASS:` without any field; then the recording must have events of the
	 * class.
	 */
	bool by_name_alone;
	/* an event type of this class was seen; the first one decides about missing values */
	bool met;
	/* The next three are used with several recordings. */
	const struct sonde_schema *first; /* the first event type seen; NULL if none */
	uint64_t sampled;                 /* union of the values that these event types sample */
	bool is_checked;                  /* checked against the requested columns */
};

struct text_fields {
	struct text_class_fields classes[NR_EVENT_CLASSES];
	const struct rules *rules;
	bool callchain; /* call chains are shown where recorded */
	bool flags;     /* the flags column is shown, for all classes or for none */
};

/* Recording-wide facts that, together with the event type, decide whether a column is available. */
struct text_recording {
	unsigned traits;      /* enum schema_trait; union over all event types */
	bool aux_trace;       /* has hardware traces, whose values are not known in advance */
	bool clock_data;      /* times of day are known */
	bool is_pipe;         /* in pipe mode, where perf learns of events late */
	bool counts;          /* recorded by `perf stat`; has no samples */
	bool is_several;      /* recordings are merged */
	bool has_fixed_types; /* event types are those of the format (struct source_traits) */
};

/*
 * If `spec` is NULL, uses the defaults. Fails with -EINVAL and a message. `notes`, if not NULL,
 * receives lines about ignored columns.
 */
int text_fields_parse(struct text_fields *ret, const char *spec, bool callchain,
		      const struct rules *rules, struct outbuf *notes);

/* fields_check.c */
/*
 * Adds an event type; call it in the order of the recording. -EINVAL if a requested column has no
 * value there.
 */
int text_fields_meet(struct text_fields *f, const struct text_recording *rec,
		     const struct sonde_schema *sc);
/* To be called after the event types known at the start. */
int text_fields_met_all(struct text_fields *f, const struct text_recording *rec);
/* The columns of an event type, valid after text_fields_met_all(). */
uint64_t text_fields_of(const struct text_fields *f, const struct text_recording *rec,
			const struct sonde_schema *sc);

const char *text_class_name(enum event_class class);
const char *text_class_prefix(enum event_class class); /* "hw"; NULL if the class has no prefix */
const char *text_field_name(uint64_t bit);

#endif
