/* SPDX-License-Identifier: MIT */
/*
 * Writes one stream of a CTF 1.8 trace, a file of packets in this host's byte order. The metadata
 * that describe them are made by tsdl_put.h.
 *
 *	packet:  u32 magic | u8 uuid[16] | u32 stream_id | u64 stream_instance_id
 *	         u64 content_size, packet_size, timestamp_begin, timestamp_end, events_discarded,
 *	         u64 packet_seq_num | u32 cpu_id (class CTF_STREAM_OF_CPU only) | events
 *	event:   u16 id | u64 timestamp | context, fields
 *
 * A trace without a clock has no timestamps.
 *
 * The file is opened for each packet only, so that any number of streams may be written.
 */
#ifndef SONDE_FORMATS_CTF_STREAM_WRITER_H
#define SONDE_FORMATS_CTF_STREAM_WRITER_H

#include "base/outbuf.h"

enum {
	CTF_UUID_BYTES = 16,
	CTF_PACKET_BYTES = 128 * 1024, /* a packet ends behind the event that exceeds it */
	CTF_STREAM_NAME_BYTES = 48
};

/* Classes of streams: ids in the metadata. */
enum ctf_stream_id { CTF_STREAM_OF_CPU, CTF_STREAM_OF_NO_CPU, NR_CTF_STREAM_IDS };

struct ctf_stream_writer {
	int dir;                          /* borrowed */
	const uint8_t *uuid;              /* borrowed; of the trace */
	char name[CTF_STREAM_NAME_BYTES]; /* of the file */
	enum ctf_stream_id id;
	uint64_t instance;
	int32_t cpu;
	bool has_clock;
	struct outbuf out;          /* owned: the packet; empty if none has begun */
	uint64_t begin_ns, last_ns; /* of the packet; last_ns: of the stream */
	uint64_t discarded;         /* events lost so far */
	uint64_t nr_packets;        /* complete ones */
};

/* For events of no cpu and without a clock; the caller may then set id, cpu and has_clock. */
void ctf_stream_writer_init(struct ctf_stream_writer *w, int dir, const uint8_t *uuid,
			    const char *name, uint64_t instance);
/*
 * Begins an event, no older than the last one. The caller appends its context and fields to w->out,
 * then calls ctf_stream_writer_tick().
 */
void ctf_stream_writer_event(struct ctf_stream_writer *w, uint16_t id, uint64_t time_ns);
int ctf_stream_writer_tick(struct ctf_stream_writer *w);
/*
 * Events were lost at this time. A reader knows their number from the difference to the packet
 * before. is_unknown: the number is not known; only in front of everything else in the stream.
 */
int ctf_stream_writer_lost(struct ctf_stream_writer *w, uint64_t time_ns, uint64_t lost,
			   bool is_unknown);
/* True if nothing has been put into the stream. */
bool ctf_stream_writer_is_new(const struct ctf_stream_writer *w);
int ctf_stream_writer_end(struct ctf_stream_writer *w);
void ctf_stream_writer_done(struct ctf_stream_writer *w);

#endif
