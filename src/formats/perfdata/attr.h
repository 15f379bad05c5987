/* SPDX-License-Identifier: MIT */
/*
 * perf_event_attr out of a recording, and what it says about the layout of its records.
 *
 * Attrs of other sizes than this build's are fine: a longer one is cut to the prefix we know, a shorter one is filled
 * with zeros. A bit of sample_type that we do not know leaves samples readable up to its field, the last one.
 */
#ifndef SONDE_FORMATS_PERFDATA_ATTR_H
#define SONDE_FORMATS_PERFDATA_ATTR_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PERFDATA_ATTR_MIN_BYTES = 64 };

/*
 * The plan that records of an attr are read by: made once, so that no record asks the bits of sample_type. An offset of 0,
 * where every record has its header: the field is not recorded.
 */
struct perfdata_layout {
	/* In SAMPLE, from the start of the record; all fields before the first one of variable length. */
	uint32_t id, ip, tid, time, addr, stream_id, cpu, period;
	uint32_t first_variable; /* where READ, CALLCHAIN or RAW begin */
	uint32_t least;          /* bytes of a sample up to there, or with RAW's size word */
	/* READ: words of the values beside a group's members; of each member, 0 if it is no group. */
	uint32_t read_words, member_words;
	uint32_t raw; /* of RAW's size word if it is at a fixed place */
	bool has_read, has_chain, has_raw;
	/* In all other kernel records, from the end of the record; the sample_id trailer. */
	uint32_t end_tid, end_time, end_id, end_cpu, trailer_bytes;
};

/* Host order out of the bytes of an entry; *ret_size is the size that the writer put in (64 for 0). */
void perfdata_attr_read(const uint8_t *p, size_t len, bool swap, struct perf_event_attr *ret,
			uint32_t *ret_size);
void perfdata_layout_of(const struct perf_event_attr *attr, struct perfdata_layout *ret);

/* Says what the attr means in the words of the model: class, traits, what samples hold. */
struct sonde_schema;
void perfdata_attr_describe(const struct perf_event_attr *attr, struct sonde_schema *sc);

/* The event's name when the recording gives none (perf's rule), "" for kinds that have no such name. */
void perfdata_attr_name(const struct perf_event_attr *attr, char *ret, size_t size);

#endif
