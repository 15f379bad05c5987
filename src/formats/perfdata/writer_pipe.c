/* SPDX-License-Identifier: MIT */
/* Pipe mode: the contents of a file's header, as records. Facts: docs/formats/perf-data.md. */

#include <string.h>

#include "base/err.h"
#include "formats/perfdata/writer.h"

enum {
	RECORD_MAX_BYTES = UINT16_MAX & ~7,
	FEATURES_END = 32, /* the feature that ends the list */
	UPDATE_NAME = 2
};

/* Writes the head of a record of `bytes` in all. The caller pads it to a multiple of 8. */
static void writer_pipe_put_head(struct outbuf *o, uint32_t type, size_t bytes)
{
	struct perfdata_record_header h = {
		.type = type,
		.size = (uint16_t)((bytes + 7) & ~(size_t)7),
	};

	outbuf_put(o, &h, sizeof(h));
}

static void writer_pipe_pad8(struct outbuf *o, size_t len)
{
	outbuf_pad(o, '\0', -len & 7);
}

static int writer_pipe_put_attr(struct outbuf *o, const struct perfdata_writer_event *e)
{
	size_t bytes = sizeof(struct perfdata_record_header) + PERFDATA_WRITER_ATTR_SIZE +
		       e->nr_ids * sizeof(uint64_t);

	if (bytes > RECORD_MAX_BYTES)
		return err_set(-E2BIG,
			       "event '%s' has %zu counters, too many for a record of a pipe: "
			       "record to a file (-o FILE)",
			       e->name, e->nr_ids);
	writer_pipe_put_head(o, RECORD_HEADER_ATTR, bytes);
	outbuf_put(o, e->attr, PERFDATA_WRITER_ATTR_SIZE);
	outbuf_put(o, e->ids, e->nr_ids * sizeof(uint64_t));
	return 0;
}

static void writer_pipe_put_name(struct outbuf *o, const struct perfdata_writer_event *e)
{
	size_t len = strlen(e->name) + 1, bytes = sizeof(struct perfdata_record_header) + 16 + len;

	if (!e->nr_ids || bytes > RECORD_MAX_BYTES)
		return;
	writer_pipe_put_head(o, RECORD_EVENT_UPDATE, bytes);
	perfdata_put_u64(o, UPDATE_NAME);
	perfdata_put_u64(o, e->ids[0]);
	outbuf_put(o, e->name, len);
	writer_pipe_pad8(o, len);
}

/* Entries of a feature body are records that only need their type. */
static void writer_pipe_put_build_ids(struct outbuf *o, const struct perfdata_writer_feature *f)
{
	const char *p = f->body, *end = p + f->len;

	while ((size_t)(end - p) >= sizeof(struct perfdata_record_header)) {
		struct perfdata_record_header h;

		memcpy(&h, p, sizeof(h));
		if (h.size < sizeof(h) || h.size > end - p)
			return;
		h.type = RECORD_HEADER_BUILD_ID;
		outbuf_put(o, &h, sizeof(h));
		outbuf_put(o, p + sizeof(h), h.size - sizeof(h));
		p += h.size;
	}
}

/* The bytes follow the record, which contains their number. */
static void pipe_put_tracing_data(struct outbuf *o, const struct perfdata_writer_feature *f)
{
	writer_pipe_put_head(o, RECORD_HEADER_TRACING_DATA, 16);
	perfdata_put_u32(o, (uint32_t)((f->len + 7) & ~(size_t)7));
	perfdata_put_u32(o, 0);
	outbuf_put(o, f->body, f->len);
	writer_pipe_pad8(o, f->len);
}

static void writer_pipe_put_feature(struct outbuf *o, uint64_t feature, const void *body,
				    size_t len)
{
	size_t bytes = sizeof(struct perfdata_record_header) + sizeof(feature) + len;

	if (bytes > RECORD_MAX_BYTES)
		return; /* there is no longer form, so the reader does not get it */
	writer_pipe_put_head(o, RECORD_HEADER_FEATURE, bytes);
	perfdata_put_u64(o, feature);
	if (len)
		outbuf_put(o, body, len);
	writer_pipe_pad8(o, len);
}

void perfdata_put_pipe_feature(struct outbuf *o, const struct perfdata_writer_feature *f)
{
	if (f->feature == FEAT_BUILD_ID)
		writer_pipe_put_build_ids(o, f);
	else if (f->feature == FEAT_TRACING_DATA)
		pipe_put_tracing_data(o, f);
	else if (f->feature < NR_FEATURES)
		writer_pipe_put_feature(o, f->feature, f->body, f->len);
}

int perfdata_put_pipe_beginning(struct outbuf *o, const struct perfdata_writer_event *events,
				size_t nr_events, const struct perfdata_writer_feature *features,
				size_t nr_features)
{
	perfdata_put_u64(o, PERFDATA_MAGIC);
	perfdata_put_u64(o, PERFDATA_PIPE_HEADER_BYTES);
	for (size_t i = 0; i < nr_events; i++)
		TRY(writer_pipe_put_attr(o, &events[i]));
	for (size_t i = 0; i < nr_features; i++) {
		if (features[i].feature != FEAT_BUILD_ID &&
		    features[i].feature != FEAT_TRACING_DATA)
			perfdata_put_pipe_feature(o, &features[i]);
	}
	writer_pipe_put_feature(o, FEATURES_END, NULL, 0);
	for (size_t i = 0; i < nr_features; i++) {
		if (features[i].feature == FEAT_BUILD_ID ||
		    features[i].feature == FEAT_TRACING_DATA)
			perfdata_put_pipe_feature(o, &features[i]);
	}
	for (size_t i = 0; i < nr_events; i++)
		writer_pipe_put_name(o, &events[i]);
	return o->failed ? err_nomem() : 0;
}
