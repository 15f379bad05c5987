/* SPDX-License-Identifier: MIT */
/* Opens a recording of blktrace: its files, the facts in its first records, its schemas. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sources/blktrace/blktrace.h"
#include "sources/codecs.h"

enum { FIRST_BYTES = 64 * 1024 }; /* searched for the note of the time of day */

int blktrace_probe(const uint8_t *head, size_t len)
{
	struct blktrace_head h;

	return blktrace_head_find(head, len, &h) ? 100 : 0;
}

/* blktrace -o - writes a stream. */
static bool open_blktrace_streams(const uint8_t *head, size_t len)
{
	return blktrace_probe(head, len) > 0;
}

/* ---- the time of day ------------------------------------------------------------------------- */

/*
 * A note has the time of day at its own time. In a stream of blkparse -d all times except those of
 * notes count from the first event. Then the time of day is that of the first event.
 */
static void open_find_wall(struct blktrace_source *s, const uint8_t *p, size_t len)
{
	struct blktrace_head head;
	struct blktrace_record rec;
	bool has_note = false;

	while (blktrace_head_find(p, len, &head) && head.bytes && head.bytes <= len) {
		if (!head.is_note) {
			if (has_note && head.time_ns < s->wall_clock_ns)
				s->wall_clock_ns = head.time_ns;
			return;
		}
		if (head.act == BLKTRACE_NOTE_TIMESTAMP && !s->has_wall &&
		    blktrace_record_read(&head, p, &rec) >= 0 &&
		    blktrace_timestamp_read(&rec, &s->wall_ns)) {
			s->wall_clock_ns = rec.time_ns;
			s->has_wall = has_note = true;
		}
		p += head.bytes;
		len -= head.bytes;
	}
	err_clear();
}

/* Reads the part of a stream that has arrived with its first record. */
static int64_t open_read_first(struct blktrace_source *s, const struct blktrace_file *file,
			       uint8_t *to)
{
	int64_t n, at;

	if (file->fd >= 0) {
		n = pread(file->fd, to, FIRST_BYTES, 0);
		return n < 0 ? err_errno(errno, "cannot read %s", file->path) : n;
	}
	for (at = 0; at < FIRST_BYTES; at += n) {
		struct blktrace_head head;

		if (blktrace_head_find(to, (size_t)at, &head) && head.bytes && head.bytes <= at)
			break;
		n = stream_read(s->opts.stream, (uint64_t)at, to + at, (size_t)(FIRST_BYTES - at));
		if (n < 0)
			return n;
		if (!n)
			break;
	}
	return at;
}

static int open_look_at_first(struct blktrace_source *s)
{
	uint8_t *first = malloc(FIRST_BYTES);
	struct blktrace_head head;
	int64_t n = 0;

	if (!first)
		return err_nomem();
	vec_foreach(file, &s->files) {
		const struct codec_ops *codec;

		n = open_read_first(s, file, first);
		if (n < 0)
			break;
		codec = codec_find(first, (size_t)n);
		if (codec) {
			n = err_set(-EBADMSG,
				    "%s is packed with %s: unpack it, sonde reads only unpacked "
				    "files of a directory",
				    file->path, codec->name);
			break;
		}
		if (!s->version && blktrace_head_find(first, (size_t)n, &head)) {
			s->swap = head.swap;
			s->version = head.version;
		}
		open_find_wall(s, first, (size_t)n);
	}
	free(first);
	return n < 0 ? (int)n : 0;
}

/* ---- the table's functions ------------------------------------------------------------------- */

static void open_blktrace_close(struct source *source)
{
	struct blktrace_source *s = blktrace_of(source);

	vec_foreach(file, &s->files) {
		if (file->fd >= 0)
			close(file->fd);
	}
	if (s->opts.is_copied)
		close(s->opts.fd);
	vec_done(&s->files);
	stream_free(s->opts.stream);
	hash64_done(&s->process_of_pid);
	vec_done(&s->processes);
	hash64_done(&s->sequence_of);
	vec_done(&s->sequences);
	arena_done(&s->arena);
	free(s);
}

static int open_steps(struct blktrace_source *s)
{
	TRY(blktrace_files_open(s));
	TRY(open_look_at_first(s));
	return blktrace_schemas_make(s);
}

static int blktrace_open(struct source **ret, const struct source_options *opts)
{
	struct blktrace_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return source_refuse_without_memory(opts);
	s->source.ops = &blktrace_source_ops;
	s->opts = *opts;
	r = open_steps(s);
	if (r < 0) {
		open_blktrace_close(&s->source);
		return r;
	}
	*ret = &s->source;
	return 0;
}

static bool open_blktrace_file(struct source *source, unsigned i, struct source_file *ret)
{
	struct blktrace_source *s = blktrace_of(source);

	if (i >= s->files.n)
		return false;
	*ret = (struct source_file){
		.fd = s->files.v[i].fd,
		.stream = s->files.v[i].fd < 0 ? s->opts.stream : NULL,
		.path = s->files.v[i].path,
		.end = s->files.v[i].fd < 0 ? UINT64_MAX : s->files.v[i].bytes,
	};
	return true;
}

static void open_blktrace_clock(struct source *source, struct source_clock *ret)
{
	const struct blktrace_source *s = blktrace_of(source);

	*ret = (struct source_clock){
		.is_known = true,
		.id = CLOCK_MONOTONIC,
		.has_reference = s->has_wall,
		.reference_id = CLOCK_MONOTONIC,
		.wall_ns = s->wall_ns,
		.clock_ns = s->wall_clock_ns,
	};
}

static void open_blktrace_report(struct source *source, const struct event *ev,
				 struct source_report *ret)
{
	if (ev->schema != blktrace_of(source)->schemas[SCHEMA_LOST])
		return;
	*ret = (struct source_report){
		.kind = REPORT_LOST,
		.lost = load_u64(ev->pub.bytes + offsetof(struct blktrace_lost, lost)),
	};
}

static void open_blktrace_traits(struct source *source __attribute__((unused)),
				 struct source_traits *ret)
{
	*ret = (struct source_traits){ .has_fixed_types = true, .has_time_zero = true };
}

enum fact { KIND, FORMAT, FORMAT_VERSION, FORMAT_TEXT, ENDIANNESS };

static const struct source_fact facts[] = {
	[KIND] = { .key = "kind" },
	[FORMAT] = { .key = "format" },
	[FORMAT_VERSION] = { .key = "format_version", .form = FACT_NUMBER },
	[FORMAT_TEXT] = { .key = "format_text", .label = "format", .about = FACT_TEXT_ONLY },
	[ENDIANNESS] = { .key = "byte_order", .about = FACT_HOST },
};

/* NULL if the recording does not say. */
static const char *open_fact_value(struct blktrace_source *s, enum fact fact)
{
	const bool is_big = s->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	switch (fact) {
	case KIND:
		return s->opts.stream ? "stream" : s->is_folder ? "directory" : "file";
	case FORMAT:
		return "blktrace";
	case FORMAT_VERSION:
	case FORMAT_TEXT:
		snprintf(s->fact, sizeof(s->fact), "%s%u",
			 fact == FORMAT_TEXT ? "blktrace, version " : "", s->version);
		return s->version ? s->fact : NULL;
	case ENDIANNESS:
		return !s->version ? NULL : is_big ? "big" : "little";
	}
	return NULL;
}

static bool open_blktrace_fact_at(struct source *source, size_t i, struct source_fact *ret)
{
	if (i >= sizeof(facts) / sizeof(*facts))
		return false;
	*ret = facts[i];
	ret->value = open_fact_value(blktrace_of(source), (enum fact)i);
	return true;
}

const struct source_ops blktrace_source_ops = {
	.name = "blktrace",
	.summary = "recordings of blktrace: a file for each cpu, or one stream",
	.probe = blktrace_probe,
	.head_file = blktrace_head_file,
	.open = blktrace_open,
	.streams = open_blktrace_streams,
	.file = open_blktrace_file,
	.cut = blktrace_cut,
	.decode = blktrace_decode,
	.clock = open_blktrace_clock,
	.traits = open_blktrace_traits,
	.report = open_blktrace_report,
	.fact_at = open_blktrace_fact_at,
	.close = open_blktrace_close,
};
