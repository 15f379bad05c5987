/* SPDX-License-Identifier: MIT */
#include "sources/ftracetext/view.h"

#include "sources/ftracetext/ftracetext.h"

const struct ftracetext_source *ftracetext_latency_view_of(struct source *source)
{
	struct ftracetext_source *s =
		source->ops == &ftracetext_source_ops ? ftracetext_of(source) : NULL;

	return s && s->is_latency ? s : NULL;
}

const char *ftracetext_latency_head(const struct ftracetext_source *s, size_t *ret_len)
{
	*ret_len = s->head_len;
	return s->head;
}

uint32_t ftracetext_latency_cpus(const struct ftracetext_source *s)
{
	return s->opts.inside ? s->opts.inside_cpus : 0;
}

const char *ftracetext_latency_lines(const struct ftracetext_source *s, const struct event *ev,
				     size_t *ret_len)
{
	const uint8_t *p = ev->pub.record;
	size_t at = 0, bytes;
	struct ftracetext_line line;

	for (; at < ev->pub.record_len; at += bytes) {
		ftracetext_next_line(p + at, ev->pub.record_len - at, &line, &bytes);
		if (line.kind != FTRACETEXT_LOST)
			break;
	}
	if (ev->schema == s->lost_schema) {
		*ret_len = at;
		return (const char *)p;
	}
	*ret_len = ev->pub.record_len - at;
	return (const char *)p + at;
}
