/* SPDX-License-Identifier: MIT */
/* Batches are written to a file: compressed, by a thread, on a full disk. */

#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

#include "base/bytes.h"
#include "formats/perfdata/layout.h"
#include "record/drain/outlet.h"
#include "unittest.h"

enum { PLAIN_BYTES = 6 << 20, RECORD_BYTES = 1024 };

/* Records whose bodies are random where `random` says so, else the same. */
static uint8_t *make_records(size_t len, bool (*is_random)(size_t at))
{
	uint8_t *bytes = malloc(len);
	uint64_t state = 88172645463325252;

	assert_non_null(bytes);
	for (size_t at = 0; at < len; at += RECORD_BYTES) {
		const struct perfdata_record_header h = {
			.type = PERF_RECORD_SAMPLE,
			.size = RECORD_BYTES,
		};

		for (size_t i = 0; i < RECORD_BYTES; i += 8) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			memcpy(bytes + at + i, is_random(at) ? &state : &(uint64_t){ i }, 8);
		}
		memcpy(bytes + at, &h, sizeof(h));
	}
	return bytes;
}

static bool never(size_t at)
{
	return false;
}

static bool always(size_t at)
{
	return true;
}

/* The bytes change in the middle of chunks, and sometimes only a part of a chunk is random. */
static bool now_and_then(size_t at)
{
	return at / (200 << 10) % 3 == 1 || at / (70 << 10) % 7 == 1;
}

/* Two pieces of a chunk share a record, also if one of them ends a frame. */
static bool each_third(size_t at)
{
	return at / RECORD_BYTES % 3 == 1;
}

struct sink {
	struct perfdata_writer *writer;
	struct outlet *outlet;
	int fd;
};

static void sink_open(struct sink *s, const struct outlet_options *opts)
{
	char path[] = "/tmp/sonde-unit-XXXXXX";
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	s->fd = dup(fd);
	unlink(path);
	assert_int_equal(perfdata_writer_open(&s->writer, fd, "x.data", false), 0);
	assert_int_equal(perfdata_writer_begin(s->writer, NULL, 0, NULL, 0), 0);
	assert_int_equal(outlet_new(&s->outlet, s->writer, opts), 0);
}

static void sink_close(struct sink *s)
{
	outlet_free(s->outlet);
	perfdata_writer_close(s->writer);
	close(s->fd);
}

/*
 * Puts batches as drain does, each fifth one smaller, and flushes after each `flush_bytes`. Returns
 * the number of samples.
 */
static uint64_t put_all(struct sink *s, const uint8_t *plain, size_t len, size_t flush_bytes,
			int *ret_error)
{
	size_t flushed = 0, batches = 0;
	uint64_t samples = 0;

	*ret_error = 0;
	for (size_t at = 0; at < len && *ret_error == 0;) {
		size_t n = outlet_wants(s->outlet), first;

		if (batches++ % 5 == 4)
			n /= 4;
		if (n > len - at)
			n = len - at;
		n -= n % RECORD_BYTES;
		first = n / 3; /* in two pieces; the second begins in the middle of a record */

		const struct iovec pieces[] = { { (void *)(plain + at), first },
						{ (void *)(plain + at + first), n - first } };
		const struct outlet_batch b = { pieces, 2, n };

		at += n;
		samples += n / RECORD_BYTES;
		if (at - flushed >= flush_bytes) {
			*ret_error = outlet_flush(s->outlet, &b, NULL, 0);
			flushed = at;
		} else {
			*ret_error = outlet_put(s->outlet, &b);
		}
	}
	return samples;
}

static uint8_t *read_data(const struct sink *s, size_t *ret_len)
{
	const size_t len = (size_t)perfdata_writer_data_size(s->writer);
	struct perfdata_header h;
	uint8_t *bytes = malloc(len);

	assert_int_equal(pread(s->fd, &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(pread(s->fd, bytes, len, (off_t)h.data.offset), len);
	*ret_len = len;
	return bytes;
}

/* The contents of compressed records. */
struct unpacked {
	size_t len;     /* bytes of `plain` */
	size_t frames;  /* begun */
	bool has_ended; /* no byte follows the last checksum */
};

static bool begins_checked_frame(const ZSTD_inBuffer *in)
{
	const uint8_t *at = (const uint8_t *)in->src + in->pos;

	return in->size - in->pos > 5 && load_u32(at) == ZSTD_MAGICNUMBER && at[4] & 1 << 2;
}

/*
 * Unpacks as perf 6.1 does: each record in one call, into a buffer of the size in FEAT_COMPRESSED.
 * A record that unpacks to no bytes is damage. A FINISHED_INIT may be the last record.
 */
static struct unpacked unpack(const uint8_t *bytes, size_t len, bool padded, const uint8_t *plain)
{
	uint8_t *room = malloc(ZIP_CHUNK_BYTES);
	ZSTD_DStream *stream = ZSTD_createDStream();
	const struct perfdata_record_header last = {
		.type = RECORD_FINISHED_INIT,
		.size = sizeof(last),
	};
	struct perfdata_record_header h;
	struct unpacked ret = { .has_ended = true };

	for (size_t at = 0; at < len; at += h.size) {
		ZSTD_outBuffer out = { room, ZIP_CHUNK_BYTES, 0 };
		ZSTD_inBuffer in = { 0 };

		memcpy(&h, bytes + at, sizeof(h));
		assert_int_equal(h.type, padded ? RECORD_COMPRESSED2 : RECORD_COMPRESSED);
		in = (ZSTD_inBuffer){ bytes + at + 8, h.size - 8, 0 };
		if (padded) {
			assert_int_equal(h.size % 8, 0);
			in.src = bytes + at + 16;
			in.size = load_u64(bytes + at + 8);
			assert_in_range(in.size, h.size - 16 - 7, h.size - 16);
		}
		while (in.pos < in.size) {
			size_t r;

			assert_int_equal(out.pos, 0);
			if (ret.has_ended) {
				assert_true(begins_checked_frame(&in));
				ret.frames++;
			}
			r = ZSTD_decompressStream(stream, &out, &in);
			assert_false(ZSTD_isError(r));
			ret.has_ended = !r;
		}
		assert_true(out.pos > 0);
		if (at + h.size == len && out.pos == sizeof(last) &&
		    !memcmp(room, &last, sizeof(last)))
			break;
		assert_memory_equal(room, plain + ret.len, out.pos);
		ret.len += out.pos;
	}
	ZSTD_freeDStream(stream);
	free(room);
	return ret;
}

TEST(compressed_records_of_all_kinds_of_bytes)
{
	static bool (*const kinds[])(size_t) = { never, always, now_and_then, each_third };

	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
		uint8_t *plain = make_records(PLAIN_BYTES, kinds[kind]);

		for (int form = 0; form < 8; form++) {
			const struct outlet_options opts = {
				.level = form & 1 ? 19 : 1,
				.padded = form & 2,
				.ahead_bytes = form & 4 ? 2 << 20 : 0,
			};
			const size_t len = opts.level > 1 ? PLAIN_BYTES / 4 : PLAIN_BYTES;
			struct unpacked u;
			struct sink s;
			uint8_t *data;
			size_t n;
			int e;

			sink_open(&s, &opts);
			put_all(&s, plain, len, 300 << 10, &e);
			assert_int_equal(e, 0);
			assert_int_equal(outlet_finish(s.outlet), 0);
			assert_int_equal(outlet_samples_given_up(s.outlet), 0);
			data = read_data(&s, &n);
			u = unpack(data, n, opts.padded, plain);
			assert_int_equal(u.len, len);
			assert_true(u.has_ended);
			assert_in_range(u.frames, 1, 1 + n / (256 << 10));
			if (kinds[kind] == never)
				assert_true(n < len / 5);
			if (kinds[kind] == always)
				assert_true(n > len / 10 * 9 && u.frames > 3);
			free(data);
			sink_close(&s);
		}
		free(plain);
	}
}

/* The records of the file and those reported as not written are together those that were put. */
TEST(a_full_disk_is_reported_exactly)
{
	uint8_t *plain = make_records(PLAIN_BYTES, now_and_then);
	struct rlimit before, limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	for (int form = 0; form < 4; form++) {
		const struct outlet_options opts = {
			.level = form & 1 ? 1 : 0,
			.ahead_bytes = form & 2 ? 2 << 20 : 0,
		};
		struct sink s;
		uint64_t samples, in_file;
		uint8_t *data;
		size_t n;
		int e, end;

		sink_open(&s, &opts);
		limit = before;
		limit.rlim_cur = 1 << 20;
		setrlimit(RLIMIT_FSIZE, &limit);
		samples = put_all(&s, plain, PLAIN_BYTES, 300 << 10, &e);
		end = outlet_finish(s.outlet);
		assert_true(e == -EFBIG || end == -EFBIG);
		perfdata_writer_finish(s.writer,
				       &(struct perfdata_writer_feature){ FEAT_ARCH, plain, 4096 },
				       1, NULL);
		setrlimit(RLIMIT_FSIZE, &before);
		data = read_data(&s, &n);
		in_file = (opts.level ? unpack(data, n, false, plain).len : n) / RECORD_BYTES;
		assert_true(in_file > 100);
		/*
		 * a part of an incompressible batch may be in the file: the batch counts as not
		 * written
		 */
		samples -= outlet_samples_given_up(s.outlet);
		assert_in_range(samples,
				in_file - (opts.level ? ZIP_CHUNK_BYTES / RECORD_BYTES : 0),
				in_file);
		free(data);
		sink_close(&s);
	}
	free(plain);
}

/* Descriptions of tasks, and records of a reopened file, are written after a checksum. */
TEST(goes_on_behind_an_end)
{
	uint8_t *plain = make_records(PLAIN_BYTES, now_and_then);

	for (int form = 0; form < 2; form++) {
		const struct outlet_options opts = {
			.level = 1,
			.ahead_bytes = form ? 2 << 20 : 0,
		};
		const size_t half = 300 << 10;
		struct unpacked u;
		struct sink s;
		uint8_t *data;
		size_t n, first;
		int e;

		sink_open(&s, &opts);
		put_all(&s, plain, half, 100 << 10, &e);
		assert_int_equal(outlet_finish(s.outlet), 0);
		first = (size_t)perfdata_writer_data_size(s.writer);
		assert_int_equal(outlet_finish(s.outlet), 0);
		assert_int_equal(perfdata_writer_data_size(s.writer), first);
		assert_int_equal(outlet_resume(s.outlet), 0);
		put_all(&s, plain + half, half, 100 << 10, &e);
		assert_int_equal(e, 0);
		assert_int_equal(outlet_finish(s.outlet), 0);
		data = read_data(&s, &n);
		u = unpack(data, first, false, plain);
		assert_int_equal(u.len, half);
		assert_true(u.has_ended);
		u = unpack(data + first, n - first, false, plain + half);
		assert_int_equal(u.len, half);
		assert_true(u.has_ended);
		free(data);
		sink_close(&s);
	}
	free(plain);
}
