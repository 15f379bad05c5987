/* SPDX-License-Identifier: MIT */
/*
 * The head of a file-mode perf.data and its feature bodies: where things are, not what they mean.
 * Facts: docs/formats/perf-data.md.
 */
#ifndef SONDE_FORMATS_PERFDATA_HEADER_H
#define SONDE_FORMATS_PERFDATA_HEADER_H

#include "base/arena.h"
#include "base/bytes.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/layout.h"
#include "model/defects.h"

struct perfdata_file {
	int fd;              /* the caller's */
	const char *path;    /* lent; for messages */
	uint64_t size_bytes; /* as seen at open: what grows later is not read */
	bool is_v1;          /* the first format, "PERFFILE" */
	bool swap;           /* other byte order than the host's */
	bool big_endian;
	uint64_t attr_entry_bytes;
	struct perfdata_section attrs, data;
	bool is_pipe;    /* pipe mode: a head of 16 bytes, then records only */
	bool unfinished; /* data.size was 0: the recorder did not end */
	/* Where each feature body is; size 0: absent. Indexed by feature number. */
	struct perfdata_section features[NR_FEATURES];
	uint64_t feature_bits[4];
	struct perfdata_section kallsyms, end; /* our private bodies, size 0: absent */
};

/* As perf counts. */
static inline uint32_t perfdata_header_version(const struct perfdata_file *f)
{
	return f->is_v1 ? 0 : 1;
}

/* 100: file mode of perf.data; 0: something else. */
int perfdata_probe(const uint8_t *head, size_t len);
/* Reads the header and finds the feature bodies. ret->fd, path and size_bytes are set by the caller. */
int perfdata_header_read(struct perfdata_file *f, struct defects *defects);
/* The same of a stream, whose first bytes are these; -EBADMSG unless it is in pipe mode. */
int perfdata_pipe_header_read(struct perfdata_file *f,
			      const uint8_t head[PERFDATA_PIPE_HEADER_BYTES]);
/* The bytes of a section, in memory of the arena. At most max_bytes are accepted. */
int perfdata_section_read(const struct perfdata_file *f, struct arena *a,
			  struct perfdata_section sec, const char *what, uint64_t max_bytes,
			  struct bytes *ret);

/* The encodings that features share; text is lent from the cursor's bytes. */
int perfdata_string_read(struct bytes *b, const char *field, const char **ret, size_t *ret_len);

#endif
