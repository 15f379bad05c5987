/* SPDX-License-Identifier: MIT */
/*
 * A recording made of another one's records: its header, then the records in the order in which
 * they are put. It gets its name when it is complete; a failure leaves nothing behind.
 *
 *	part_open(&p, rec, "out.data");
 *	part_put(&p, record, len, time_ns, is_sample);   // any number of times
 *	part_finish(&p, &build_ids);                     // or part_discard(&p)
 *
 * Records come in the order of their delivery, so that nothing has to be sorted again: a round now
 * and then lets readers go on. A record that acts when it is read, or that was late, finds two
 * rounds before it: what was delivered before it is then delivered before it by every reader.
 */
#ifndef SONDE_SINKS_PERF_PART_H
#define SONDE_SINKS_PERF_PART_H

#include "base/outbuf.h"
#include "base/vec.h"
#include "recording/recording.h"

struct perfdata_writer;

struct part_aux {
	uint64_t offset, size; /* of an AUXTRACE record in the file */
};

struct part {
	struct recording *rec;
	struct perfdata_writer *writer; /* NULL: none is open */
	char *path, *temp_path;         /* temp_path NULL: the file has no name yet */
	int fd;                         /* the writer's */
	struct outbuf out;              /* records that are not written yet */
	bool swap;
	bool takes_place; /* of what has its name when it is finished */
	bool has_samples;
	uint64_t first_ns, last_ns; /* of samples with a time */
	uint64_t newest_ns;         /* of the records put */
	uint64_t since_round;       /* bytes */
	bool is_settled;            /* no record with a time is behind the last two rounds */
	VEC(struct part_aux) aux;
};

/* Whether a part may be written there: -EEXIST, -EISDIR ... with a message. */
int part_check(const struct recording *rec, const char *path);
/* -EEXIST with a message when there is something of that name. */
int part_check_free(const char *path);
/* takes_place: what has the name at the end becomes PATH.old; else it stays, which is an error. */
int part_open(struct part *p, struct recording *rec, const char *path, bool takes_place);
/* time_ns 0: it acts when it is read. */
int part_put(struct part *p, const uint8_t *record, uint32_t len, uint64_t time_ns, bool is_sample);
/* A record of trace data and the bytes behind it, from offset `from` of the input file. */
int part_put_aux(struct part *p, const uint8_t *record, uint32_t len,
		 const struct source_file *file, uint64_t from, uint64_t bytes);
/* Gives the file its name. build_ids: entries of FEAT_BUILD_ID beside the header's. */
int part_finish(struct part *p, const struct outbuf *build_ids);
void part_discard(struct part *p);

#endif
