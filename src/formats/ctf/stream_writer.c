/* SPDX-License-Identifier: MIT */
#include "formats/ctf/stream_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "base/write_all.h"
#include "formats/ctf/layout.h"

/* Places in a packet (stream_writer.h). */
enum { CONTENT_AT = 32, SIZE_AT = 40, CONTEXT_AT = 48, TIMES_BYTES = 16 };

void ctf_stream_writer_init(struct ctf_stream_writer *w, int dir, const uint8_t *uuid,
			    const char *name, uint64_t instance)
{
	*w = (struct ctf_stream_writer){
		.dir = dir,
		.uuid = uuid,
		.id = CTF_STREAM_OF_NO_CPU,
		.instance = instance,
		.cpu = -1,
	};
	snprintf(w->name, sizeof(w->name), "%s", name);
}

static void writer_put_u32(struct ctf_stream_writer *w, uint32_t v)
{
	outbuf_put(&w->out, &v, sizeof(v));
}

static void writer_put_u64(struct ctf_stream_writer *w, uint64_t v)
{
	outbuf_put(&w->out, &v, sizeof(v));
}

static void writer_begin_packet(struct ctf_stream_writer *w, uint64_t time_ns)
{
	w->begin_ns = w->last_ns = time_ns;
	writer_put_u32(w, CTF_PACKET_MAGIC);
	outbuf_put(&w->out, w->uuid, CTF_UUID_BYTES);
	writer_put_u32(w, w->id);
	writer_put_u64(w, w->instance);
	writer_put_u64(w, 0); /* sizes and timestamp_end are set at the end */
	writer_put_u64(w, 0);
	if (w->has_clock) {
		writer_put_u64(w, time_ns);
		writer_put_u64(w, 0);
	}
	writer_put_u64(w, w->discarded);
	writer_put_u64(w, w->nr_packets);
	if (w->id == CTF_STREAM_OF_CPU)
		writer_put_u32(w, (uint32_t)w->cpu);
}

static int writer_append(const struct ctf_stream_writer *w)
{
	const int fd = openat(w->dir, w->name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	int r = fd < 0 ? -errno : write_all(fd, w->out.data, w->out.len);

	if (fd >= 0 && close(fd) < 0 && r == 0)
		r = -errno;
	return r < 0 ? err_errno(-r, "cannot write the file %s of the trace", w->name) : 0;
}

static int writer_end_packet(struct ctf_stream_writer *w)
{
	const uint64_t bits = 8 * (uint64_t)w->out.len;

	if (w->out.failed)
		return err_nomem();
	memcpy(w->out.data + CONTENT_AT, &bits, sizeof(bits));
	memcpy(w->out.data + SIZE_AT, &bits, sizeof(bits));
	if (w->has_clock)
		memcpy(w->out.data + CONTEXT_AT + TIMES_BYTES / 2, &w->last_ns, sizeof(w->last_ns));
	memcpy(w->out.data + CONTEXT_AT + (w->has_clock ? TIMES_BYTES : 0), &w->discarded,
	       sizeof(w->discarded));
	TRY(writer_append(w));
	w->out.len = 0;
	w->nr_packets++;
	return 0;
}

void ctf_stream_writer_event(struct ctf_stream_writer *w, uint16_t id, uint64_t time_ns)
{
	if (!w->out.len)
		writer_begin_packet(w, time_ns);
	w->last_ns = time_ns;
	outbuf_put(&w->out, &id, sizeof(id));
	if (w->has_clock)
		writer_put_u64(w, time_ns);
}

int ctf_stream_writer_tick(struct ctf_stream_writer *w)
{
	return w->out.len < CTF_PACKET_BYTES && !w->out.failed ? 0 : writer_end_packet(w);
}

int ctf_stream_writer_lost(struct ctf_stream_writer *w, uint64_t time_ns, uint64_t lost,
			   bool is_unknown)
{
	const uint64_t at = time_ns < w->last_ns ? w->last_ns : time_ns;

	/* Losses in a row share a packet. The first packet's counter says nothing by itself. */
	if (!w->out.len && !w->nr_packets && !is_unknown)
		writer_begin_packet(w, at);
	if (w->out.len)
		TRY(writer_end_packet(w));
	w->discarded += lost;
	writer_begin_packet(w, at);
	return 0;
}

bool ctf_stream_writer_is_new(const struct ctf_stream_writer *w)
{
	return !w->out.len && !w->nr_packets;
}

int ctf_stream_writer_end(struct ctf_stream_writer *w)
{
	return w->out.len || w->out.failed ? writer_end_packet(w) : 0;
}

void ctf_stream_writer_done(struct ctf_stream_writer *w)
{
	outbuf_done(&w->out);
}
