/* SPDX-License-Identifier: MIT */
/*
 * PERF_RECORD_SAMPLE: fields in a fixed order, each present if its sample_type bit is set.
 *
 *	header | IDENTIFIER IP TID TIME ADDR ID STREAM_ID CPU PERIOD    8 bytes each; the attr fixes
 *	                                                                their offsets
 *	       | READ | CALLCHAIN | RAW | BRANCH_STACK | REGS_USER | STACK_USER | WEIGHT
 *	       | DATA_SRC | TRANSACTION | REGS_INTR | PHYS_ADDR | CGROUP | DATA_PAGE_SIZE
 *	       | CODE_PAGE_SIZE | AUX
 */
#ifndef SONDE_FORMATS_PERFDATA_SAMPLE_H
#define SONDE_FORMATS_PERFDATA_SAMPLE_H

#include "base/bytes.h"
#include "base/vec.h"
#include "formats/perfdata/attr.h"
#include "sonde/sonde.h"

struct u64_vec {
	uint64_t *v;
	size_t n, capacity;
};

/* Reusable memory for fields of variable length. */
struct sample_scratch {
	VEC(struct sonde_read_value) reads;
	VEC(struct sonde_branch) branches;
	struct u64_vec user_regs, intr_regs;
};
void sample_scratch_done(struct sample_scratch *s);

/* The place of the fields of variable length in one record: offsets from its start. */
struct sample_extents {
	/* nr_chain entries, unaligned, in the recording's byte order; NULL if none */
	const uint8_t *chain;
	uint32_t nr_chain;
	const uint8_t *raw; /* NULL if none */
	uint32_t raw_len;
};

/* Finds call chain and raw payload. -EBADMSG if they do not fit into the record. */
int sample_extents_find(const struct perfdata_layout *l, const uint8_t *rec, uint32_t len,
			bool swap, struct sample_extents *ret);

/* Decodes all fields. b is a cursor over the complete record, header included. */
int sample_read(const struct perf_event_attr *attr, const struct perfdata_layout *l, struct bytes b,
		struct sample_scratch *scratch, struct sonde_sample *ret);
/* Reads READ values only. The cursor is on them, and is after them afterwards. */
int sample_reads_read(uint64_t read_format, struct bytes *b, struct sample_scratch *scratch,
		      struct sonde_sample *ret);

#endif
