/* SPDX-License-Identifier: MIT */
/*
 * perf_event_attr of a recording, and the record layout that follows from it.
 *
 * Attrs may have other sizes than in this build: a longer one is truncated to the known prefix, a
 * shorter one is filled with zeros. An unknown bit of sample_type leaves samples readable up to its
 * field, which is the last one.
 */
#ifndef SONDE_FORMATS_PERFDATA_ATTR_H
#define SONDE_FORMATS_PERFDATA_ATTR_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PERFDATA_ATTR_MIN_BYTES = 64 };

/*
 * The offsets for reading records of an attr, computed once, so that no record tests the bits of
 * sample_type. An offset of 0, where every record has its header, means that the field is not
 * recorded.
 */
struct perfdata_layout {
	/*
	 * In SAMPLE, from the start of the record: all fields before the first one of variable
	 * length.
	 */
	uint32_t id, ip, tid, time, addr, stream_id, cpu, period;
	uint32_t first_variable; /* where READ, CALLCHAIN or RAW begins */
	uint32_t least; /* minimum bytes of a sample: up to there, or including RAW's size word */
	/*
	 * READ: the number of words in front of the members of a group, and the words of each
	 * member. Without a group, the number of all words, and 0.
	 */
	uint32_t read_words, member_words;
	uint32_t raw; /* offset of RAW's size word, if it is fixed */
	bool has_read, has_chain, has_raw;
	/* In all other kernel records, from the end of the record: the sample_id trailer. */
	uint32_t end_tid, end_time, end_id, end_cpu, trailer_bytes;
};

/* Reads an entry to host byte order. *ret_size is the size that the writer stored (64 for 0). */
void perfdata_attr_read(const uint8_t *p, size_t len, bool swap, struct perf_event_attr *ret,
			uint32_t *ret_size);
void perfdata_layout_of(const struct perf_event_attr *attr, struct perfdata_layout *ret);

/* Translates the attr to the model: class, traits, contents of samples. */
struct sonde_schema;
void perfdata_attr_describe(const struct perf_event_attr *attr, struct sonde_schema *sc);

/* The event's name if the recording gives none (perf's rule); "" for kinds without such a name. */
void perfdata_attr_name(const struct perf_event_attr *attr, char *ret, size_t size);

#endif
