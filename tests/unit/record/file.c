/* SPDX-License-Identifier: MIT */
/*
 * The bytes of the file: its beginning, its end, the bytes on a full disk; how rings are written to
 * it.
 */

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "formats/perfdata/writer.h"
#include "record/drain/drain.h"
#include "unittest.h"

enum { ATTR_BYTES = PERFDATA_WRITER_ATTR_SIZE };

struct file {
	struct perfdata_writer *w;
	int fd; /* a second descriptor of the same file */
	uint8_t bytes[1 << 16];
	size_t len;
};

static void file_new(struct file *f)
{
	char path[] = "/tmp/sonde-unit-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	f->fd = dup(fd);
	unlink(path);
	assert_int_equal(perfdata_writer_open(&f->w, fd, "x.data", false), 0);
}

static void file_read(struct file *f)
{
	ssize_t n = pread(f->fd, f->bytes, sizeof(f->bytes), 0);

	assert_true(n >= 0);
	f->len = (size_t)n;
}

static void file_done(struct file *f)
{
	perfdata_writer_close(f->w);
	close(f->fd);
}

static const uint8_t attr0[ATTR_BYTES] = { 2, 0, 0, 0, 128 },
		     attr1[ATTR_BYTES] = { 1, 0, 0, 0, 128 };
static const uint64_t ids[] = { 11, 12, 21 };
static const struct perfdata_writer_event events[] = {
	{ attr0, "sched:sched_switch", ids, 2 },
	{ attr1, "cs", ids + 2, 1 },
};

static void file_begin(struct file *f)
{
	const struct perfdata_writer_feature features[] = {
		{ FEAT_ARCH, "archarch", 8 },
		{ FEAT_HOSTNAME, "host", 4 },
		{ PERFDATA_PRIVATE_KALLSYMS, "sym", 3 },
	};

	file_new(f);
	assert_int_equal(perfdata_writer_begin(f->w, events, 2, features, 3), 0);
}

static struct perfdata_section section_at(const struct file *f, size_t at)
{
	struct perfdata_section s;

	assert_true(at + sizeof(s) <= f->len);
	memcpy(&s, f->bytes + at, sizeof(s));
	return s;
}

TEST(beginning_of_a_file)
{
	struct perfdata_header h;
	struct perfdata_section s;
	struct file f;
	const size_t index = sizeof(h);

	file_begin(&f);
	file_read(&f);
	memcpy(&h, f.bytes, sizeof(h));
	assert_memory_equal(f.bytes, "PERFILE2", 8);
	assert_int_equal(h.size, 104);
	assert_int_equal(h.attr_size, ATTR_BYTES + 16);
	assert_int_equal(h.data.size, 0);
	assert_int_equal(h.features[0], 0);
	assert_int_equal(h.data.offset, f.len);
	assert_memory_equal(f.bytes + index, "SNDE-IDX", 8);
	assert_int_equal(load_u32(f.bytes + index + 8), 3);
	/* third entry of the index: number, offset, size */
	assert_true(load_u64(f.bytes + index + 16 + 48) == PERFDATA_PRIVATE_KALLSYMS);
	assert_memory_equal(f.bytes + load_u64(f.bytes + index + 16 + 56), "sym", 3);
	assert_int_equal(load_u64(f.bytes + index + 16 + 64), 3);
	/* attrs with their ids */
	assert_int_equal(h.attrs.size, 2 * h.attr_size);
	assert_memory_equal(f.bytes + h.attrs.offset, attr0, ATTR_BYTES);
	s = section_at(&f, h.attrs.offset + ATTR_BYTES);
	assert_int_equal(s.size, 16);
	assert_int_equal(load_u64(f.bytes + s.offset + 8), 12);
	s = section_at(&f, h.attrs.offset + h.attr_size + ATTR_BYTES);
	assert_int_equal(s.size, 8);
	assert_int_equal(load_u64(f.bytes + s.offset), 21);
	file_done(&f);
}

/* A record of `size` bytes, with `fill` after the header. */
static void make_record(uint8_t *to, uint32_t type, uint16_t size, uint8_t fill)
{
	struct perfdata_record_header h = { .type = type, .size = size };

	memset(to, fill, size);
	memcpy(to, &h, sizeof(h));
}

TEST(end_of_a_file)
{
	const struct perfdata_writer_feature late[] = {
		{ FEAT_SAMPLE_TIME, "0123456789abcdef", 16 }, { FEAT_ARCH, "new", 3 }, /* replaces
											  the one
											  written at
											  the start
											*/
	};
	uint8_t record[48];
	struct perfdata_header h;
	struct perfdata_section s;
	struct file f;

	file_begin(&f);
	make_record(record, PERF_RECORD_SAMPLE, sizeof(record), 7);
	assert_int_equal(perfdata_writer_append(f.w, &(struct iovec){ record, sizeof(record) }, 1),
			 0);
	assert_int_equal(perfdata_writer_data_size(f.w), sizeof(record));
	assert_int_equal(perfdata_writer_finish(f.w, late, 2, NULL), 0);
	file_read(&f);
	memcpy(&h, f.bytes, sizeof(h));
	assert_int_equal(h.data.size, sizeof(record));
	assert_memory_equal(f.bytes + h.data.offset, record, sizeof(record));
	assert_true(h.features[0] ==
		    (1u << FEAT_ARCH | 1u << FEAT_HOSTNAME | 1u << FEAT_SAMPLE_TIME));
	assert_true(!h.features[1] && !h.features[2] && !h.features[3]);
	/* the table is in the order of the bits */
	s = section_at(&f, h.data.offset + h.data.size);
	assert_memory_equal(f.bytes + s.offset, "host", s.size);
	s = section_at(&f, h.data.offset + h.data.size + 16);
	assert_int_equal(s.size, 3);
	assert_memory_equal(f.bytes + s.offset, "new", s.size);
	s = section_at(&f, h.data.offset + h.data.size + 32);
	assert_int_equal(s.size, 16);
	assert_memory_equal(f.bytes + s.offset, "0123456789abcdef", s.size);
	file_done(&f);
}

static void count_cut(void *ctx, const void *record, size_t len)
{
	assert_int_equal(load_u32(record), PERF_RECORD_SAMPLE);
	assert_int_equal(len, load_u32((const uint8_t *)record + 4) >> 16);
	++*(unsigned *)ctx;
}

/* A limit on the size of files simulates a full disk. */
TEST(full_disk_leaves_whole_records)
{
	enum { APPEND = 40 << 10, APPENDS = 5 };
	struct rlimit before, limit;
	uint8_t *first = malloc(APPEND), second[1024];
	/* the last record crosses the end of a piece */
	struct iovec pieces[] = { { second, 1000 }, { second + 1000, 24 } };
	struct perfdata_header h;
	struct file f;
	unsigned cut = 0;

	signal(SIGXFSZ, SIG_IGN);
	file_begin(&f);
	file_read(&f);
	for (size_t at = 0; at < APPEND; at += 1024)
		make_record(first + at, PERF_RECORD_SAMPLE, 1024, 1);
	for (size_t at = 0; at < sizeof(second); at += 64)
		make_record(second + at, PERF_RECORD_SAMPLE, 64, 2);
	for (int i = 0; i < APPENDS; i++)
		assert_int_equal(perfdata_writer_append(f.w, &(struct iovec){ first, APPEND }, 1),
				 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){ f.len + APPENDS * APPEND + 200, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(perfdata_writer_append(f.w, pieces, 2), -EFBIG);
	assert_int_equal(perfdata_writer_data_size(f.w), APPENDS * APPEND + 3 * 64);
	/*
	 * the table needs 32 bytes and 8 are left: the last 8 KiB and 32 bytes are dropped, in
	 * complete records
	 */
	perfdata_writer_on_drop(f.w, count_cut, &cut);
	assert_int_equal(perfdata_writer_finish(f.w, NULL, 0, NULL), 1);
	assert_int_equal(cut, 3 + 8);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	file_read(&f);
	memcpy(&h, f.bytes, sizeof(h));
	assert_int_equal(h.data.size, APPENDS * APPEND - (8 << 10));
	assert_true(h.features[0] == (1u << FEAT_ARCH | 1u << FEAT_HOSTNAME));
	file_done(&f);
	free(first);
}

/* The bytes that were written end with a record: that record is kept. */
TEST(full_disk_at_the_end_of_a_record)
{
	enum { RECORD = 64, FIT = 3 };
	struct rlimit before, limit;
	uint8_t records[8 * RECORD];
	struct iovec pieces[] = { { records, FIT * RECORD },
				  { records + FIT * RECORD, sizeof(records) - FIT * RECORD } };
	struct file f;

	signal(SIGXFSZ, SIG_IGN);
	file_begin(&f);
	file_read(&f);
	for (size_t at = 0; at < sizeof(records); at += RECORD)
		make_record(records + at, PERF_RECORD_SAMPLE, RECORD, 2);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	for (int nr_pieces = 1; nr_pieces <= 2; nr_pieces++) {
		/* the second time in the middle of a piece, after the records of the first time */
		const uint64_t fits = nr_pieces == 1 ? FIT : 2 * FIT + 1;

		pieces[0].iov_len = nr_pieces == 1 ? sizeof(records) : FIT * RECORD;
		limit = (struct rlimit){ f.len + fits * RECORD, before.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		assert_int_equal(perfdata_writer_append(f.w, pieces, nr_pieces), -EFBIG);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		assert_int_equal(perfdata_writer_data_size(f.w), fits * RECORD);
	}
	file_done(&f);
}

TEST(encodings)
{
	const struct perfdata_writer_build_id id = {
		.cpumode = 1,
		.id = build_id_of("\1\2\3", 3),
		.name = "n",
	};
	const struct perfdata_writer_format formats[] = { { "a", "fa1", 3 },
							  { "a", "fa22", 4 },
							  { "b", "fb", 2 } };
	const struct perfdata_writer_tracing tracing = { "page", "event", "printk", "1 a\n", 4,   5,
							 6,      4,       formats,  3,       4096 };
	static const char expect[] = "\x17\x08\x44tracing0.6\0"
				     "\0\x08"
				     "\0\x10\0\0"
				     "header_page\0"
				     "\4\0\0\0\0\0\0\0page"
				     "header_event\0"
				     "\5\0\0\0\0\0\0\0event"
				     "\0\0\0\0"
				     "\2\0\0\0"
				     "a\0"
				     "\2\0\0\0"
				     "\3\0\0\0\0\0\0\0fa1"
				     "\4\0\0\0\0\0\0\0fa22"
				     "b\0"
				     "\1\0\0\0"
				     "\2\0\0\0\0\0\0\0fb"
				     "\0\0\0\0"
				     "\6\0\0\0printk"
				     "\4\0\0\0\0\0\0\0001 a\n";
	struct outbuf o = { 0 };

	perfdata_put_string(&o, "abc");
	assert_int_equal(o.len, 68);
	assert_int_equal(load_u32(o.data), 64);
	outbuf_done(&o);
	char text[65];

	memset(text, 'x', 64);
	text[64] = '\0';
	perfdata_put_string(&o, text); /* 64 letters and a NUL need two blocks */
	assert_int_equal(load_u32(o.data), 128);
	outbuf_done(&o);
	perfdata_put_build_id(&o, &id);
	assert_int_equal(o.len, 36 + 64);
	assert_memory_equal(o.data, "\0\0\0\0\1\x80\x64\0\xff\xff\xff\xff\1\2\3\0", 16);
	assert_int_equal(o.data[32], 3);
	outbuf_done(&o);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && defined(__LP64__)
	perfdata_put_tracing(&o, &tracing);
	assert_int_equal(o.len, sizeof(expect) - 1);
	assert_memory_equal(o.data, expect, o.len);
	outbuf_done(&o);
#endif
	perfdata_put_event_desc(&o, events, 2);
	assert_int_equal(o.len, 8 + 2 * (ATTR_BYTES + 4 + 68) + 3 * 8);
	outbuf_done(&o);
}

/* ---- rings ----------------------------------------------------------------------------------- */

enum { RING_BYTES = 4096 };

struct fake_ring {
	struct perf_event_mmap_page control;
	uint8_t data[RING_BYTES];
};

static void put(struct fake_ring *r, uint64_t *head, const void *record, size_t size)
{
	for (size_t i = 0; i < size; i++)
		r->data[(*head + i) % RING_BYTES] = ((const uint8_t *)record)[i];
	*head += size;
	r->control.data_head = *head;
}

static void put_sample(struct fake_ring *r, uint64_t *head, uint64_t time_ns, uint16_t size)
{
	uint8_t record[512];

	make_record(record, PERF_RECORD_SAMPLE, size, (uint8_t)time_ns);
	memcpy(record + 32, &time_ns, sizeof(time_ns));
	put(r, head, record, size);
}

TEST(rings_run_over_their_ends)
{
	/* just before the end of the ring; not at 0, as heads and tails run free */
	uint64_t heads[2] = { 5 * RING_BYTES - 48, 0 }, at, lost[3] = { 0, 0, 9 };
	struct fake_ring *fake = calloc(2, sizeof(*fake));
	struct counters c = { 0 };
	struct capture_events none = { 0 };
	struct dso_files files = { 0 };
	struct drain d = { 0 };
	struct outlet *outlet;
	struct perfdata_record_header h = { .type = PERF_RECORD_LOST, .size = sizeof(lost) };
	uint8_t mmap2[96];
	struct file f;

	assert_int_equal(dsos_new(&d.dsos, &none, &c, true), 0);
	for (int i = 0; i < 2; i++) {
		struct ring r = {
			.control = &fake[i].control,
			.data = fake[i].data,
			.mask = RING_BYTES - 1,
			.tail = heads[i],
		};

		fake[i].control.data_head = heads[i];
		assert_int_equal(vec_push(&c.rings.list, r), 0);
	}
	file_begin(&f);
	assert_int_equal(outlet_new(&outlet, f.w, &(struct outlet_options){ 0 }), 0);
	d.rings = c.rings.list.v;
	d.nr_rings = c.rings.list.n;
	d.outlet = outlet;
	assert_int_equal(drain_pass(&d), 0); /* nothing there, nothing written */
	assert_int_equal(perfdata_writer_data_size(f.w), 0);

	put_sample(&fake[0], &heads[0], 500, 40);
	put_sample(&fake[0], &heads[0], 600, 256); /* across the end of the ring */
	memcpy(lost, &h, sizeof(h));
	put(&fake[0], &heads[0], lost, sizeof(lost));
	put_sample(&fake[1], &heads[1], 550, 40);
	make_record(mmap2, PERF_RECORD_MMAP2, sizeof(mmap2), 0);
	strcpy((char *)mmap2 + 72, "/usr/lib/x.so");
	put(&fake[1], &heads[1], mmap2, sizeof(mmap2));
	assert_int_equal(drain_pass(&d), 1);
	assert_int_equal(d.totals.samples, 3);
	assert_int_equal(d.totals.lost, 9);
	assert_int_equal(d.totals.first_time_ns, 500);
	assert_int_equal(d.totals.last_time_ns, 600);
	dsos_settle(d.dsos, &d.hits);
	assert_int_equal(dsos_take_hit(d.dsos, &files), 0);
	assert_int_equal(files.n, 1);
	assert_string_equal(files.v[0].name, "/usr/lib/x.so");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(c.rings.list.v[i].tail, heads[i]);
		assert_int_equal(fake[i].control.data_tail, heads[i]);
	}
	assert_int_equal(drain_pass(&d), 0);

	/* ring after ring, then FINISHED_ROUND, all complete */
	file_read(&f);
	at = load_u64(f.bytes + 40);
	static const uint16_t sizes[] = { 40, 256, 24, 40, 96, 8 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		memcpy(&h, f.bytes + at, sizeof(h));
		assert_int_equal(h.size, sizes[i]);
		at += h.size;
	}
	assert_int_equal(h.type, RECORD_FINISHED_ROUND);
	assert_int_equal(at, f.len);

	/* a size of 0 is no record */
	memset(&h, 0, sizeof(h));
	put(&fake[1], &heads[1], &h, sizeof(h));
	assert_int_equal(drain_pass(&d), -EIO);
	drain_done(&d);
	outlet_free(outlet);
	vec_done(&c.rings.list);
	dsos_free(d.dsos);
	vec_done(&files);
	file_done(&f);
	free(fake);
}

/* A round ends after every ring was read to its head, not while a ring is postponed. */
TEST(no_round_while_a_ring_is_left_for_later)
{
	enum { LEAST = 128, LARGE = 256, SMALL = 40 };
	uint64_t heads[2] = { 0 };
	struct fake_ring *fake = calloc(2, sizeof(*fake));
	struct ring rings[2];
	struct drain d = { .rings = rings, .nr_rings = 2, .least_bytes = LEAST };
	struct outlet *outlet;
	struct file f;

	for (int i = 0; i < 2; i++)
		rings[i] = (struct ring){
			.control = &fake[i].control,
			.data = fake[i].data,
			.mask = RING_BYTES - 1,
		};
	file_begin(&f);
	assert_int_equal(outlet_new(&outlet, f.w, &(struct outlet_options){ 0 }), 0);
	d.outlet = outlet;
	for (int i = 0; i < 2; i++) { /* the postponed ring is once the second, once the first */
		const uint64_t before = perfdata_writer_data_size(f.w);

		d.takes_all = false;
		put_sample(&fake[i], &heads[i], 500, LARGE);
		put_sample(&fake[!i], &heads[!i], 400, SMALL);
		assert_int_equal(drain_pass(&d), 1);
		assert_int_equal(perfdata_writer_data_size(f.w), before + LARGE);
		assert_int_equal(fake[!i].control.data_tail, heads[!i] - SMALL);
		d.takes_all = true;
		assert_int_equal(drain_pass(&d), 1);
		assert_int_equal(perfdata_writer_data_size(f.w), before + LARGE + SMALL + 8);
		assert_int_equal(fake[!i].control.data_tail, heads[!i]);
	}
	drain_done(&d);
	outlet_free(outlet);
	file_done(&f);
	free(fake);
}

TEST(totals_of_several_threads)
{
	struct drain to = { .totals = { 3, 9, 500, 600 } };
	struct drain from[] = {
		{ .totals = { 2, 4, 450, 550 } },
		{ .totals = { 1, 1, 520, 700 } },
		{ .totals = { 0, 5, 0, 0 } }, /* only losses: it has no times */
	};

	for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++)
		for (int again = 0; again < 2; again++) /* each counts once */
			drain_absorb(&to, &from[i]);
	assert_int_equal(to.totals.samples, 6);
	assert_int_equal(to.totals.lost, 19);
	assert_int_equal(to.totals.first_time_ns, 450);
	assert_int_equal(to.totals.last_time_ns, 700);
	drain_done(&to);
}
