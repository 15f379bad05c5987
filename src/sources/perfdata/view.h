/* SPDX-License-Identifier: MIT */
/*
 * The parts that only recordings in perf.data's format have: records with heads, a header with
 * sections, attrs, ids. It is for code that prints or copies the content of perf.data
 *(sinks/perf/); all other code uses sources/source.h, which every input implements.
 *
 *	struct perfdata_view *view = perfdata_view_of(rec->source);
 *	if (!view)
 *		return err_set(-ENOTSUP, "...: only perf.data has sections");
 *	if (perfdata_view_section(view, FEAT_GROUP_DESC, &b) > 0)
 *		...
 */
#ifndef SONDE_SOURCES_PERFDATA_VIEW_H
#define SONDE_SOURCES_PERFDATA_VIEW_H

#include "base/bytes.h"
#include "model/event.h"

/* Borrowed from its source. Opaque: it is the source itself, known to be of this format. */
struct perfdata_view;

/* NULL if the source reads another format, or is NULL. */
struct perfdata_view *perfdata_view_of(struct source *s);

/* The head of a record and its ids, for lists of records (--show-task-events, -D). */
struct perfdata_view_record {
	uint32_t type; /* PERF_RECORD_*; types from 64 on are the recorder's own */
	uint16_t misc;
	bool swap;              /* its bytes are in the opposite byte order */
	bool is_damaged;        /* its sizes contradict each other */
	bool has_ids;           /* a sample, or records of this recording end in sample ids */
	uint64_t sample_types;  /* of all events of the recording together: PERF_SAMPLE_* */
	uint32_t trailer_bytes; /* size of the sample ids at its end */
	/*
	 * From the sample or the sample ids. All ones if not recorded, 0 in the recorder's own
	 * records.
	 */
	int32_t pid, tid;
	uint32_t cpu;
	uint64_t time_ns, id;
	const struct sonde_schema *schema; /* schema of the record's event; NULL if unknown */
};

/* The head of the recording. */
struct perfdata_view_header {
	int64_t changed_s; /* when the file was last changed, seconds since 1970 */
	uint32_t version;
	uint64_t data_off, data_bytes, features_off;
	bool is_pipe;           /* pipe mode */
	bool swap;              /* the byte order is not this machine's */
	uint64_t features[4];   /* bit n is set if there is section n */
	uint64_t marks;         /* features that describe samples, with or without a section */
	uint64_t compressed[2]; /* COMPRESSED and COMPRESSED2 records read so far; none is a cut */
};

/* An event as the recording describes it. Borrowed from the source. */
struct perfdata_view_event {
	const uint8_t *attr; /* struct perf_event_attr as recorded, in the recording's byte order */
	size_t attr_bytes;
	const char *name;
	bool is_named; /* the recorder gave the name */
};

/*
 * A record as an event without fields, for lists and copies of records: its bytes, where it is
 * stored, the event (attr) that it belongs to. Sets only what differs between records: the caller
 * clears *ret before the first one, and sets recording and source. 0 on success, negative errno on
 * failure.
 */
int perfdata_view_raw(struct perfdata_view *v, const struct cut *cut, struct event *ret);
/* The record from which decode() or perfdata_view_raw() made an event. */
void perfdata_view_record(const struct perfdata_view *v, const struct event *ev,
			  struct perfdata_view_record *ret);
void perfdata_view_header(const struct perfdata_view *v, struct perfdata_view_header *ret);
/* Gets the bytes of a header section, borrowed. Returns 1, 0 if absent or damaged, or -ENOMEM. */
int perfdata_view_section(struct perfdata_view *v, uint64_t feature, struct bytes *ret);
/* The i-th event; the i-th id and the index of its event. False after the last. */
bool perfdata_view_event_at(const struct perfdata_view *v, size_t i,
			    struct perfdata_view_event *ret);
bool perfdata_view_id_at(const struct perfdata_view *v, size_t i, uint64_t *ret_id,
			 size_t *ret_event);

#endif
