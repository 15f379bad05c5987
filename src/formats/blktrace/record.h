/* SPDX-License-Identifier: MIT */
/*
 * Parses one record of blktrace. Each record contains its version and byte order, so no state is
 * kept between records. Nothing is copied: a payload is borrowed from the input.
 *
 *	struct blktrace_head head;
 *	if (blktrace_head_find(p, len, &head) && head.bytes <= len)
 *		TRY(blktrace_record_read(&head, p, len, &rec));
 */
#ifndef SONDE_FORMATS_BLKTRACE_RECORD_H
#define SONDE_FORMATS_BLKTRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/blktrace/layout.h"

/* The facts about a record that are known before it is read. */
struct blktrace_head {
	bool swap; /* not this host's byte order */
	uint8_t version;
	uint8_t header_bytes;
	uint32_t bytes; /* size with payload; 0 while the header is incomplete */
	/* While the header is incomplete these are 0. */
	uint64_t time_ns;
	uint16_t act;
	bool is_note;
};

struct blktrace_record {
	uint64_t time_ns, sector;
	uint64_t action; /* as recorded */
	uint64_t cgroup; /* id; 0 if not recorded */
	uint32_t sequence, bytes, pid, device, cpu;
	uint32_t categories; /* enum blktrace_category */
	uint16_t act;        /* enum blktrace_act or blktrace_note, without flags */
	uint16_t error;
	bool swap;
	const uint8_t *pdu; /* the payload after the id of the control group */
	uint32_t pdu_len;
};

/* REMAP: source and destination of the request. */
struct blktrace_remap {
	uint32_t from_device, to_device;
	uint64_t from_sector;
};

/* "FWFSM": the longest text has six letters. */
enum { BLKTRACE_RWBS_BYTES = 8 };

/* Checks the first len bytes at p. False if they are not a record of a known version. */
bool blktrace_head_find(const uint8_t *p, size_t len, struct blktrace_head *ret);
/*
 * Reads the record at p. head must be the record's own, and all of its bytes must be there.
 * -EBADMSG if its payload is too short for its flags.
 */
int blktrace_record_read(const struct blktrace_head *head, const uint8_t *p,
			 struct blktrace_record *ret);

/* Parse payloads. False if the record's payload is too short. */
bool blktrace_remap_read(const struct blktrace_record *rec, struct blktrace_remap *ret);
/* UNPLUG, UNPLUG_TIMER: number of requests. SPLIT: the sector where the second part begins. */
bool blktrace_count_read(const struct blktrace_record *rec, uint64_t *ret);
/* For the note TIMESTAMP. */
bool blktrace_timestamp_read(const struct blktrace_record *rec, uint64_t *ret_wall_ns);
/*
 * Letters for the direction and flags of a request, NUL-padded: F(lush), then D W R or N, then
 * F(UA) A S M.
 */
void blktrace_rwbs(const struct blktrace_record *rec, char ret[BLKTRACE_RWBS_BYTES]);

#endif
