/* SPDX-License-Identifier: MIT */
#include "record/transfer.h"

#include <unistd.h>

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "formats/perfdata/writer.h"
#include "record/output/output.h"
#include "capture/setup/values.h"

enum {
	LEVEL_GIVEN_MAX = 99, /* up to here a level is lowered to zstd's highest, like perf does */
	AIO_BLOCKS_MAX = 4,
	LEAST_SHARE = 4, /* a ring's share: waiting for more would leave no room for new events */
	COMPRESSED_VERSION = 0
};

static int transfer_parse_level(struct transfer *f, const char *text, const struct say *to)
{
	uint64_t level = ZIP_LEVEL_MIN;

	if (*text)
		TRY(capture_value_number("-z", text, 0, LEVEL_GIVEN_MAX, &level));
	if (level > ZIP_LEVEL_MAX) {
		say(to, SAY_NORMAL, "-z%s: taking %d, the highest level", text, ZIP_LEVEL_MAX);
		level = ZIP_LEVEL_MAX;
	}
	f->level = (int)level;
	return 0;
}

static int transfer_parse_aio(struct transfer *f, const char *text, const struct say *to)
{
	f->aio_blocks = 1;
	if (!*text)
		return 0;
	TRY(capture_value_number("--aio", text, 0, UINT32_MAX, &f->aio_blocks));
	if (f->aio_blocks > AIO_BLOCKS_MAX) {
		say(to, SAY_NORMAL, "--aio=%s: taking %d, the most there can be", text,
		    AIO_BLOCKS_MAX);
		f->aio_blocks = AIO_BLOCKS_MAX;
	}
	return 0;
}

/* Parses a size or a number of bytes. */
static int transfer_parse_least(struct transfer *f, const char *text)
{
	const bool is_number = *text && !text[strspn(text, "0123456789")];

	return is_number
		       ? capture_value_number("--mmap-flush", text, 0, UINT64_MAX, &f->least_bytes)
		       : capture_value_size("--mmap-flush", text, &f->least_bytes);
}

static int transfer_parse_affinity(struct transfer *f, const char *text)
{
	if (!strcmp(text, "node"))
		f->affinity = AFFINITY_NODE;
	else if (!strcmp(text, "cpu"))
		f->affinity = AFFINITY_CPU;
	else
		return err_set(-EBADR, "--affinity is node or cpu, not '%s'", text);
	return 0;
}

static void transfer_leave_out(char **option, const char *name, const struct say *to)
{
	if (!*option)
		return;
	say(to, SAY_WARNING, "%s is left out: with --threads the recording is one directory", name);
	free(*option);
	*option = NULL;
}

void transfer_exclude(struct record_options *opts, const struct say *to)
{
	if (!opts->threads)
		return;
	transfer_leave_out(&opts->switch_output, "--switch-output", to);
	transfer_leave_out(&opts->switch_output_event, "--switch-output-event", to);
}

/*
 * Parses --threads before the recorded cpus are known: they decide the meaning of the words, but
 * not which settings exclude each other.
 */
static int transfer_parse_threads(struct transfer *f, const struct record_options *opts)
{
	const struct {
		const char *option;
		bool is_given;
	} others[] = { { "--aio", f->aio_blocks },
		       { "--affinity", opts->affinity },
		       { "--per-thread", opts->capture.per_thread } };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (others[i].is_given)
			return err_set(-EBADR, "--threads and %s exclude each other",
				       others[i].option);
	if (opts->output_fd || output_is_pipe(opts->output))
		return err_set(-EBADR,
			       "--threads makes a directory: name it with -o, a pipe is none");
	f->has_threads = true;
	return 0;
}

int transfer_parse(struct transfer *ret, const struct record_options *opts, const struct say *say)
{
	struct transfer f = { .padded = opts->compressed_records == RECORD_COMPRESSED_NEW };

	if (opts->compression_level)
		TRY(transfer_parse_level(&f, opts->compression_level, say));
	if (opts->aio)
		TRY(transfer_parse_aio(&f, opts->aio, say));
	if (opts->mmap_flush)
		TRY(transfer_parse_least(&f, opts->mmap_flush));
	if (opts->affinity)
		TRY(transfer_parse_affinity(&f, opts->affinity));
	if (opts->threads)
		TRY(transfer_parse_threads(&f, opts));
	*ret = f;
	return 0;
}

int transfer_settle(struct transfer *f, const struct record_options *opts, const struct counters *c,
		    const struct target *target, const struct say *say_to)
{
	if (f->has_threads)
		TRY(thread_plan_make(&f->threads, opts->threads, &target->cpus, say_to));
	/* a per-thread buffer belongs to no cpu */
	if (f->affinity != AFFINITY_NONE && !target->per_thread)
		TRY(affinity_init(&f->places, &target->cpus, f->affinity == AFFINITY_NODE));
	if (c->rings.list.n && f->least_bytes > (c->rings.list.v[0].mask + 1) / LEAST_SHARE) {
		f->least_bytes = (c->rings.list.v[0].mask + 1) / LEAST_SHARE;
		say(say_to, SAY_NORMAL, "--mmap-flush %s: taking %llu KiB, a quarter of a buffer",
		    opts->mmap_flush, (unsigned long long)f->least_bytes / 1024);
	}
	return 0;
}

void transfer_done(struct transfer *f)
{
	thread_plan_done(&f->threads);
	affinity_done(&f->places);
}

/*
 * A pipe's reader may be slow for a while. Bytes that it has not yet read are kept in memory, which
 * is allocated as needed, up to this share of all memory. A live session is one process with its
 * reader, which may be a slow script for hours: its limit is twice the size of the rings. Beyond
 * that they stay in the rings, where they leave no room for new events: the kernel counts what it
 * drops.
 */
static uint64_t transfer_spool_bytes(uint64_t ring_bytes, bool is_live)
{
	enum { SHARE = 64, LEAST_BYTES = 32 << 20, MOST_BYTES = 256 << 20, TIMES_RINGS = 2 };
	const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t bytes = is_live ? ring_bytes * TIMES_RINGS : MOST_BYTES;

	if (bytes < LEAST_BYTES)
		bytes = LEAST_BYTES;
	if (bytes > MOST_BYTES)
		bytes = MOST_BYTES;
	return bytes < memory / SHARE ? bytes : memory / SHARE;
}

struct outlet_options transfer_outlet(const struct transfer *f, const struct counters *c,
				      bool is_pipe, bool is_live)
{
	uint64_t ahead, rings = 0;

	for (size_t i = 0; i < c->rings.list.n; i++)
		rings += c->rings.list.v[i].mask + 1;
	ahead = f->aio_blocks * rings;
	if (is_pipe && ahead < transfer_spool_bytes(rings, is_live))
		ahead = transfer_spool_bytes(rings, is_live);
	return (struct outlet_options){
		.level = f->level,
		.padded = f->padded,
		.ahead_bytes = (size_t)ahead,
	};
}

void transfer_put_compressed(const struct transfer *f, uint32_t ratio, struct outbuf *to)
{
	if (!f->level)
		return;
	perfdata_put_u32(to, COMPRESSED_VERSION);
	perfdata_put_u32(to, ZIP_TYPE_ZSTD);
	perfdata_put_u32(to, (uint32_t)f->level);
	perfdata_put_u32(to, ratio);
	/* the largest decompressed size of one record */
	perfdata_put_u32(to, ZIP_CHUNK_BYTES);
}
