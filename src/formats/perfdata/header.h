/* SPDX-License-Identifier: MIT */
/*
 * The head of a file-mode perf.data and the place of its feature bodies. It does not parse the
 * bodies. Facts: docs/formats/perf-data.md.
 */
#ifndef SONDE_FORMATS_PERFDATA_HEADER_H
#define SONDE_FORMATS_PERFDATA_HEADER_H

#include "base/arena.h"
#include "base/bytes.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/layout.h"
#include "model/defects.h"

struct perfdata_file {
	int fd;              /* owned by the caller */
	const char *path;    /* borrowed; for messages */
	uint64_t size_bytes; /* size at open; data added later is not read */
	bool is_v1;          /* the first format, "PERFFILE" */
	bool swap;           /* not the host's byte order */
	bool big_endian;
	uint64_t attr_entry_bytes;
	struct perfdata_section attrs, data;
	bool is_pipe;    /* pipe mode: a head of 16 bytes, then only records */
	bool unfinished; /* data.size was 0: the recorder did not finish */
	/* The place of each feature body, indexed by feature number. Size 0 if absent. */
	struct perfdata_section features[NR_FEATURES];
	uint64_t feature_bits[4];
	/* our private bodies; size 0 if absent */
	struct perfdata_section kallsyms, end, cgroups;
};

/* The version as perf counts. */
static inline uint32_t perfdata_header_version(const struct perfdata_file *f)
{
	return f->is_v1 ? 0 : 1;
}

/* Returns 100 for a file-mode perf.data, 0 for anything else. */
int perfdata_probe(const uint8_t *head, size_t len);
/* Reads the header and finds the feature bodies. The caller sets f->fd, path and size_bytes. */
int perfdata_header_read(struct perfdata_file *f, struct defects *defects);
/* The same for a stream with these first bytes. -EBADMSG unless it is in pipe mode. */
int perfdata_pipe_header_read(struct perfdata_file *f,
			      const uint8_t head[PERFDATA_PIPE_HEADER_BYTES]);
/* Reads a section into memory of the arena. Larger sections than max_bytes are an error. */
int perfdata_section_read(const struct perfdata_file *f, struct arena *a,
			  struct perfdata_section sec, const char *what, uint64_t max_bytes,
			  struct bytes *ret);

/* The encodings that features share. Text is borrowed from the cursor's bytes. */
int perfdata_string_read(struct bytes *b, const char *field, const char **ret, size_t *ret_len);

#endif
