/* SPDX-License-Identifier: MIT */
#include "sinks/perf/counts.h"

#include <inttypes.h>
#include <string.h>

#include "model/value.h"

static uint64_t counts_field(const struct event *ev, const char *name)
{
	return field_u64(schema_find_field(ev->schema, name, strlen(name)), ev->pub.bytes,
			 ev->pub.bytes_len, false);
}

void perf_count_put(const struct event *ev, bool *head_put, struct outbuf *out)
{
	const struct sonde_field *name = schema_find_field(ev->schema, "event", 5);
	uint32_t len;
	const uint8_t *text = field_bytes(name, ev->pub.bytes, ev->pub.bytes_len, false, &len);

	if (!ev->is_summed_up && ev->pub.cpu < 0 && ev->pub.tid < 0)
		return; /* perf 6.1 passes this sum to scripts instead of printing these lines */
	if (!*head_put)
		outbuf_fmt(out, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA",
			   "RUN", "TIME", "EVENT");
	*head_put = true;
	outbuf_fmt(out, "%3d %8d %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %.*s\n",
		   ev->pub.cpu, ev->pub.tid, counts_field(ev, "val"), counts_field(ev, "ena"),
		   counts_field(ev, "run"), counts_field(ev, "time"),
		   (int)strnlen((const char *)text, len), (const char *)text);
}
