/* SPDX-License-Identifier: MIT */
/*
 * The text sink's inside. The constant parts of an event type's lines are made once, when the type
 * is first met (struct line, line.c). A line is written in two parts: in front of the payload
 * (head.c) and behind it (tail.c).
 */
#ifndef SONDE_SINKS_TEXT_LINE_H
#define SONDE_SINKS_TEXT_LINE_H

#include <time.h>

#include "base/arena.h"
#include "base/vec.h"
#include "compat/rules.h"
#include "sinks/fd_writer.h"
#include "sinks/sink.h"
#include "sinks/text/branches.h"
#include "sinks/text/code_columns.h"
#include "sinks/text/columns.h"
#include "sinks/text/event_files.h"
#include "sinks/text/fields.h"
#include "sinks/text/frames.h"
#include "sinks/text/options.h"
#include "sinks/text/provider.h"

/* How lines of one event type look; indexed by schema id. */
struct line {
	uint64_t fields;     /* TEXT_*; 0: not shown at all */
	bool needs_sample;   /* values behind the fixed ones are shown */
	bool has_tail;       /* columns behind the payload are shown */
	bool has_chain;      /* recorded and wanted: shown in place of ip */
	bool bare_comm;      /* before a chain comm is not padded */
	bool odd_head;       /* it has columns that few ask for */
	bool addr_has_names; /* addr is in the process: symbol and dso behind it */
	bool weight_struct;  /* weight is three numbers */
	bool is_bpf_output;
	bool samples_addr;
	bool is_branch;   /* of hardware branch traces: has a layout of its own */
	bool branch_addr; /* ... with where it goes to, unless columns were chosen */
	uint32_t name_len;
	/* Bytes at `name`: NAME_COPY_BYTES at least, a multiple of COPY_BYTES. */
	uint32_t name_room;
	const char *name; /* "sched:sched_switch: " right aligned; from the arena */
};

enum text_times { TIMES_RECORDED, TIMES_FROM_FIRST, TIMES_BETWEEN, TIMES_OF_DAY };

/* The text of a second, made once for all events in it. */
struct day_text {
	time_t second;
	uint32_t len; /* 0: none yet */
	char text[64], zone[8];
};

struct text_sink {
	struct sink base;
	struct recordings *recordings;
	const struct text_options *o;
	struct fd_writer writer;
	struct event_files files; /* per-event-dump */
	bool has_files;
	struct text_fields fields;
	struct text_frames frames;
	struct text_branches branches;
	const struct text_provider_ops *provider_ops;
	struct text_provider *provider;
	struct outbuf metric_line;
	struct text_code code;
	size_t data_src_width; /* of the longest text so far */
	struct text_recording recording;
	struct arena arena;
	VEC(struct line) lines;
	VEC(struct comm_text) comms; /* indexed by comm id */
	struct outbuf quiet_comm;
	struct seconds_text seconds;
	struct who_text who[RECENT_WHO];
	struct sonde_sample sample; /* of the event at hand, if its line needs it */
	unsigned id_width;          /* of pid and tid */
	unsigned name_width;        /* of the longest event name, 0: not yet known */
	const struct rules *rules;
	bool nanoseconds;
	bool terminal;          /* what is written is read on one: no control characters */
	bool color;             /* names of events are bold */
	bool takes_raw_records; /* there are lines of records themselves, not of their events */
	struct event raw;       /* the current one */
	bool latency;
	enum text_times times;
	uint64_t tod_ns; /* what is to be added to an event's time for the time of day */
	struct day_text tod, of_day;
	bool utc;              /* times of day are those of UTC */
	uint64_t time_base_ns; /* what times count from; 0: not yet known */
};

/* Makes the lines of event types up to this one; -EINVAL for columns that they cannot have. */
int text_lines_meet(struct text_sink *s, uint32_t schema);

/* Writes the part in front of a sample's payload, or of the line of a record of state. */
int text_head_put(struct text_sink *s, const struct event *ev, const struct line *line);
/* Writes the part behind the payload, up to the line's end. */
void text_tail_put(struct text_sink *s, const struct event *ev, const struct line *line);

#endif
