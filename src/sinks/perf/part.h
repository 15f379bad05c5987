/* SPDX-License-Identifier: MIT */
/*
 * Writes a recording with records of another one: its header, then the records in the order of the
 * calls. The file gets its name when it is complete; on failure no file remains.
 *
 *	part_open(&p, rec, "out.data");
 *	part_put(&p, record, len, time_ns, is_sample);   // any number of times
 *	part_finish(&p, &build_ids);                     // or part_discard(&p)
 *
 * Call part_put() in the order of delivery, so that nothing has to be sorted again. Rounds are
 * written at intervals, so that readers can deliver events early. Two rounds are written in front
 * of a record that acts when it is read or that was late. Then every reader delivers all earlier
 * records before it.
 */
#ifndef SONDE_SINKS_PERF_PART_H
#define SONDE_SINKS_PERF_PART_H

#include "base/outbuf.h"
#include "base/vec.h"
#include "recording/recording.h"

struct perfdata_writer;

struct part_aux {
	uint64_t offset, size; /* place and size of an AUXTRACE record in the file */
};

struct part {
	struct recording *rec;
	struct perfdata_writer *writer; /* NULL if no file is open */
	char *path, *temp_path;         /* temp_path is NULL if the file has no name yet */
	int fd;                         /* the writer's */
	struct outbuf out;              /* records that are not written yet */
	bool swap;
	bool takes_place; /* replaces a file that has its name at the end */
	bool has_samples;
	uint64_t first_ns, last_ns; /* first and last time of samples */
	uint64_t newest_ns;         /* newest time of the records put */
	uint64_t since_round;       /* bytes written since the last round */
	bool is_settled;            /* no record with a time is after the last two rounds */
	VEC(struct part_aux) aux;
};

/* Checks that a part may be written to `path`. Fails with -EEXIST, -EISDIR ... and a message. */
int part_check(const struct recording *rec, const char *path);
/* Fails with -EEXIST and a message if the path exists. */
int part_check_free(const char *path);
/*
 * takes_place: a file that has the name at the end is renamed to PATH.old. Otherwise it stays, and
 * part_finish() fails.
 */
int part_open(struct part *p, struct recording *rec, const char *path, bool takes_place);
/* time_ns is 0 if the record acts when it is read. */
int part_put(struct part *p, const uint8_t *record, uint32_t len, uint64_t time_ns, bool is_sample);
/* Writes a record of trace data and the bytes after it, from offset `from` of the input file. */
int part_put_aux(struct part *p, const uint8_t *record, uint32_t len,
		 const struct source_file *file, uint64_t from, uint64_t bytes);
/* Gives the file its name. `build_ids`: entries of FEAT_BUILD_ID in addition to the header's. */
int part_finish(struct part *p, const struct outbuf *build_ids);
void part_discard(struct part *p);

#endif
