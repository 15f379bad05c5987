/* SPDX-License-Identifier: MIT */
/*
 * Internals of the text sink. The constant parts of an event type's lines are made once, when the
 * type is first met (struct line, line.c). A line is written in two parts: in front of the payload
 * (head.c) and after it (tail.c).
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

/* Layout of the lines of one event type; indexed by schema id. */
struct line {
	uint64_t fields;     /* TEXT_*; 0 if the event type is not shown */
	bool needs_sample;   /* sample values other than the fixed ones are shown */
	bool has_tail;       /* some columns after the payload are shown */
	bool has_chain;      /* the call chain is recorded and wanted; replaces ip */
	bool bare_comm;      /* comm is not padded, because a chain follows */
	bool odd_head;       /* the head has rarely requested columns */
	bool addr_has_names; /* addr is in the process, so symbol and dso follow it */
	bool weight_struct;  /* weight consists of three numbers */
	bool is_bpf_output;
	bool samples_addr;
	bool is_branch;   /* hardware branch trace, with its own layout */
	bool branch_addr; /* branch with its target address; false if the user chose columns */
	uint32_t name_len;
	/* Size of the memory at `name`: at least NAME_COPY_BYTES, a multiple of COPY_BYTES. */
	uint32_t name_room;
	const char *name; /* "sched:sched_switch: " right aligned; from the arena */
};

enum text_times { TIMES_RECORDED, TIMES_FROM_FIRST, TIMES_BETWEEN, TIMES_OF_DAY };

/* The text of one second, made once for all events in that second. */
struct day_text {
	time_t second;
	uint32_t len; /* 0 if no text is made yet */
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
	size_t data_src_width; /* width of the longest text so far */
	struct text_recording recording;
	struct arena arena;
	VEC(struct line) lines;
	VEC(struct comm_text) comms; /* indexed by comm id */
	struct outbuf quiet_comm;
	struct seconds_text seconds;
	struct who_text who[RECENT_WHO];
	struct sonde_sample sample; /* sample of the current event, if its line needs it */
	unsigned id_width;          /* width of pid and tid */
	unsigned name_width;        /* length of the longest event name; 0 if not yet known */
	const struct rules *rules;
	bool nanoseconds;
	bool terminal;          /* the output is a terminal: control characters are escaped */
	bool color;             /* event names are bold */
	bool takes_raw_records; /* some lines print the raw record, not its event */
	struct event raw;       /* the current raw record */
	bool latency;
	enum text_times times;
	uint64_t tod_ns; /* added to an event's time to get the time of day */
	struct day_text tod, of_day;
	bool utc;              /* times of day are in UTC */
	uint64_t time_base_ns; /* times are printed relative to it; 0 if not yet known */
};

/*
 * Makes the lines of all event types up to `schema`. -EINVAL if a type cannot have a requested
 * column.
 */
int text_lines_meet(struct text_sink *s, uint32_t schema);

/* Writes the part in front of a sample's payload, or in front of the text of a record of state. */
int text_head_put(struct text_sink *s, const struct event *ev, const struct line *line);
/* Writes the part after the payload, up to the line's end. */
void text_tail_put(struct text_sink *s, const struct event *ev, const struct line *line);

#endif
