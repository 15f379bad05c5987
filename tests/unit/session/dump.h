/* SPDX-License-Identifier: MIT */
/*
 * The answers of all functions about an event as one text. They must be the same for a kept event
 * when the session continues.
 */
#ifndef TEST_DUMP_H
#define TEST_DUMP_H

#include <inttypes.h>

#include "base/outbuf.h"
#include "sonde/sonde.h"

static inline void dump_bytes(struct outbuf *o, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		outbuf_fmt(o, "%02x", ((const uint8_t *)p)[i]);
}

static inline void dump_location(struct outbuf *o, const struct sonde_event *ev, uint64_t addr,
				 uint32_t cpumode)
{
	struct sonde_location loc;

	if (sonde_event_locate(ev, addr, cpumode, &loc) >= 0)
		outbuf_fmt(o, " %s[%" PRIx64 "]%s", loc.dso ? loc.dso : "?", loc.map_start,
			   loc.sym ? loc.sym : "");
}

static inline void dump_event(struct outbuf *o, const struct sonde_event *ev)
{
	struct sonde_session *s = sonde_event_session(ev);
	const struct sonde_schema *sc = sonde_event_schema(s, ev);
	const struct sonde_frame *frames;
	const struct sonde_field *f;
	struct sonde_sample sample;
	const char *text;
	size_t n, len;
	int nr_frames;

	outbuf_fmt(o, "%s %" PRIu64 " %d %d/%d %s flags %x mode %u at %" PRIu64 " payload ",
		   sonde_schema_name(sc), ev->time_ns, ev->cpu, ev->pid, ev->tid,
		   sonde_session_string(s, ev->comm), ev->flags, ev->cpumode, ev->file_off);
	dump_bytes(o, ev->bytes, ev->bytes_len);
	outbuf_str(o, " record ");
	dump_bytes(o, ev->record, ev->record_len);
	f = sonde_schema_fields(sc, &n);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = sonde_event_bytes(ev, &f[i], &len);

		outbuf_fmt(o, " %s=%" PRIx64 "/%" PRIi64 "/", f[i].name, sonde_event_u64(ev, &f[i]),
			   sonde_event_i64(ev, &f[i]));
		dump_bytes(o, p, len);
	}
	if (sonde_event_sample(ev, &sample) >= 0) {
		outbuf_fmt(o, " ip %" PRIx64 " id %" PRIu64 " period %" PRIu64 " reads", sample.ip,
			   sample.id, sample.period);
		for (uint32_t i = 0; i < sample.nr_reads; i++)
			outbuf_fmt(o, " %" PRIu64 ":%" PRIu64, sample.reads[i].id,
				   sample.reads[i].value);
		dump_location(o, ev, sample.ip, ev->cpumode);
	}
	nr_frames = sonde_event_callchain(ev, &frames);
	for (int i = 0; i < nr_frames; i++) {
		outbuf_fmt(o, " %u:%" PRIx64, frames[i].cpumode, frames[i].ip);
		dump_location(o, ev, frames[i].ip, frames[i].cpumode);
	}
	text = sonde_event_text(ev, &len);
	outbuf_put(o, text, len);
	outbuf_char(o, '\0');
}

/* dump_event() as a text that the caller frees. */
static inline char *said_of(const struct sonde_event *ev)
{
	struct outbuf o = { 0 };

	dump_event(&o, ev);
	assert_false(o.failed);
	return o.data;
}

#endif
