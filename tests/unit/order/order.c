/* SPDX-License-Identifier: MIT */
/*
 * Compares order/ with a simple model, which has all records in memory and delivers them by the
 * rules of order.h. A source of this test makes the recordings: a record has a time, a kind, and
 * bytes that no other record has.
 */
#include "unittest.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"
#include "order/order.h"

/* ---- a recording ----------------------------------------------------------------------------- */

/* The head of a record in the file. Bytes made from the serial number follow. */
struct head {
	uint32_t len, order;
	uint64_t time_ns;
	uint32_t serial, behind; /* behind: bytes after it that belong to no record */
};

enum { SHORTEST = sizeof(struct head), LONGEST = 65535, MAX_FILES = 3 };

struct recording {
	struct source source; /* first */
	int fd[MAX_FILES];
	uint64_t size[MAX_FILES];
	unsigned nr_files;
	VEC(struct cut) records; /* in the order of the files; .flags serve the model */
	uint8_t *pending;
	size_t nr_pending;
	struct defects defects;
	bool is_monotonic;        /* its files say so */
	bool stateless;           /* no ordered record changes state */
	struct time_windows time; /* then only those inside are delivered */
	unsigned unwanted_16ths;  /* share of records that nobody wants */
	bool marks;               /* cut() marks them */
};

static uint8_t filler(uint32_t serial, uint32_t i)
{
	return (uint8_t)(serial * 7 + i);
}

static void flush_pending(struct recording *r)
{
	unsigned f = r->nr_files - 1;

	assert_int_equal(
		pwrite(r->fd[f], r->pending, r->nr_pending, (off_t)(r->size[f] - r->nr_pending)),
		(ssize_t)r->nr_pending);
	r->nr_pending = 0;
}

enum { PENDING_BYTES = 1 << 20 };

static void add_file(struct recording *r)
{
	if (r->nr_files)
		flush_pending(r);
	r->fd[r->nr_files] = memfd_create("order", MFD_CLOEXEC);
	assert_true(r->fd[r->nr_files] >= 0);
	r->nr_files++;
}

static void add_sized(struct recording *r, enum cut_order order, uint64_t time_ns, uint32_t len,
		      uint32_t behind)
{
	unsigned f = r->nr_files - 1;
	struct head h = { len, order, time_ns, (uint32_t)r->records.n, behind };
	uint8_t *p;

	if (r->nr_pending + len + behind > PENDING_BYTES)
		flush_pending(r);
	p = r->pending + r->nr_pending;
	memcpy(p, &h, sizeof(h));
	for (uint32_t i = sizeof(h); i < len; i++)
		p[i] = filler(h.serial, i);
	memset(p + len, 0xff, behind);
	assert_int_equal(vec_push(&r->records,
				  (struct cut){
					  .time_ns = time_ns,
					  .file_off = r->size[f],
					  .len = len,
					  .file = (uint16_t)f,
					  .order = (uint8_t)order,
				  }),
			 0);
	r->nr_pending += len + behind;
	r->size[f] += len + behind;
}

static void add(struct recording *r, uint64_t time_ns)
{
	add_sized(r, CUT_ORDERED, time_ns, SHORTEST, 0);
}

static void add_round(struct recording *r)
{
	add_sized(r, CUT_ROUND, 0, SHORTEST, 0);
}

/* ---- its source ------------------------------------------------------------------------------ */

static bool fake_file(struct source *s, unsigned i, struct source_file *ret)
{
	struct recording *r = (struct recording *)s;

	if (i >= r->nr_files)
		return false;
	*ret = (struct source_file){
		.fd = r->fd[i],
		.path = "fake",
		.begin = 0,
		.end = r->size[i],
		.is_monotonic = r->is_monotonic,
	};
	return true;
}

static bool is_unwanted(const struct recording *r, uint32_t serial)
{
	return serial * 2654435761u >> 28 < r->unwanted_16ths;
}

static int fake_mark_unwanted(struct source *s)
{
	struct recording *r = (struct recording *)s;

	r->marks = r->unwanted_16ths > 0;
	return r->marks;
}

static int fake_cut(const struct source *s, unsigned file, struct unit *unit, const uint8_t *p,
		    size_t len, uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		    size_t *ret_need)
{
	struct recording *r = (struct recording *)s;
	uint64_t used = 0;
	int n = 0;

	*ret_need = 0;
	while (n < max) {
		struct head h;

		if (used >= len || len - used < sizeof(h)) {
			*ret_need = used > len ? 0 : sizeof(h);
			break;
		}
		memcpy(&h, p + used, sizeof(h));
		if (h.len < SHORTEST) {
			if (n)
				break;
			defects_add(&r->defects, DEFECT_TRUNCATED, 1, NULL);
			return -EBADMSG;
		}
		if (len - used < h.len) {
			*ret_need = h.len;
			break;
		}
		ret[n++] = (struct cut){
			.time_ns = h.time_ns,
			.file_off = file_off + used,
			.bytes = p + used,
			.len = h.len,
			.file = (uint16_t)file,
			.order = (uint8_t)h.order,
			.flags = (r->stateless ? CUT_STATELESS : 0) |
				 (r->marks && is_unwanted(r, h.serial) ? CUT_UNWANTED : 0),
		};
		used += h.len + h.behind;
		if (h.behind)
			break;
	}
	*ret_used = used;
	return n;
}

static const struct source_ops fake_ops = {
	.name = "fake",
	.file = fake_file,
	.cut = fake_cut,
	.mark_unwanted = fake_mark_unwanted,
};

static struct recording *new_recording(void)
{
	struct recording *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->pending = malloc(PENDING_BYTES + 2 * LONGEST);
	assert_non_null(r->pending);
	r->source.ops = &fake_ops;
	r->time = TIME_WINDOWS_ALL;
	add_file(r);
	return r;
}

static void free_recording(struct recording *r)
{
	for (unsigned i = 0; i < r->nr_files; i++)
		close(r->fd[i]);
	vec_done(&r->records);
	free(r->pending);
	free(r);
}

/* ---- the model ------------------------------------------------------------------------------- */

/* Serial numbers in the order of delivery, with LATE_BIT if the record is late. */
#define LATE_BIT 0x80000000u
struct serials {
	uint32_t *v;
	size_t n, capacity;
};

static const struct recording *sorting;

static int by_time(const void *pa, const void *pb)
{
	const struct cut *a = &sorting->records.v[*(const uint32_t *)pa],
			 *b = &sorting->records.v[*(const uint32_t *)pb];

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (*(const uint32_t *)pa > *(const uint32_t *)pb) -
	       (*(const uint32_t *)pa < *(const uint32_t *)pb);
}

/*
 * Sorts the pending records and delivers them up to the limit. Returns the time of the last one
 * delivered.
 */
static uint64_t deliver(const struct recording *r, struct serials *queue, uint64_t limit,
			uint64_t delivered, struct serials *out)
{
	size_t n = 0;

	sorting = r;
	if (queue->n)
		qsort(queue->v, queue->n, sizeof(*queue->v), by_time);
	while (n < queue->n && r->records.v[queue->v[n]].time_ns <= limit) {
		delivered = r->records.v[queue->v[n]].time_ns;
		assert_int_equal(vec_push(out, queue->v[n++]), 0);
	}
	if (n)
		memmove(queue->v, queue->v + n, (queue->n - n) * sizeof(*queue->v));
	queue->n -= n;
	return delivered;
}

static void model(const struct recording *r, struct serials *out)
{
	struct serials queue = { 0 };
	uint64_t limit = 0, newest = 0, delivered = 0;

	for (uint32_t i = 0; i < r->records.n; i++) {
		const struct cut *c = &r->records.v[i];

		if (c->order == CUT_ORDERED && r->stateless &&
		    !time_windows_hold(&r->time, c->time_ns)) {
			if (c->time_ns > newest)
				newest = c->time_ns;
			continue;
		}
		if (c->order == CUT_ORDERED && c->time_ns >= delivered) {
			assert_int_equal(vec_push(&queue, i), 0);
			if (c->time_ns > newest)
				newest = c->time_ns;
			continue;
		}
		assert_int_equal(vec_push(out, c->order == CUT_ORDERED ? i | LATE_BIT : i), 0);
		if (c->order == CUT_ROUND && r->nr_files == 1) {
			if (limit)
				delivered = deliver(r, &queue, limit, delivered, out);
			limit = newest;
		}
	}
	deliver(r, &queue, UINT64_MAX, delivered, out);
	vec_done(&queue);
}

/*
 * Monotonic files: delivers the oldest of their next records. A record without a time, or older
 * than those delivered, is delivered as soon as all records before it in its file are.
 */
static void model_monotonic(const struct recording *r, struct serials *out)
{
	size_t next[MAX_FILES], end[MAX_FILES];
	uint64_t delivered = 0;

	for (unsigned f = 0; f < r->nr_files; f++) {
		next[f] = f ? end[f - 1] : 0;
		end[f] = next[f];
		while (end[f] < r->records.n && r->records.v[end[f]].file == f)
			end[f]++;
	}
	for (;;) {
		const struct cut *least = NULL;

		for (unsigned f = 0; f < r->nr_files; f++) {
			for (; next[f] < end[f]; next[f]++) {
				const struct cut *c = &r->records.v[next[f]];
				bool ordered = c->order == CUT_ORDERED;

				if (ordered && r->stateless &&
				    !time_windows_hold(&r->time, c->time_ns))
					continue;
				if (ordered && c->time_ns >= delivered)
					break;
				assert_int_equal(
					vec_push(out, (uint32_t)next[f] | (ordered ? LATE_BIT : 0)),
					0);
			}
			if (next[f] < end[f] &&
			    (!least || r->records.v[next[f]].time_ns < least->time_ns))
				least = &r->records.v[next[f]];
		}
		if (!least)
			return;
		delivered = least->time_ns;
		assert_int_equal(vec_push(out, (uint32_t)next[least->file]++), 0);
	}
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void check_bytes(const struct cut *c)
{
	struct head h;

	memcpy(&h, c->bytes, sizeof(h));
	if (h.len != c->len || h.time_ns != c->time_ns)
		fail_msg("record %u at 0x%llx: other bytes", h.serial,
			 (unsigned long long)c->file_off);
	for (uint32_t i = sizeof(h); i < c->len; i += i + 64 < c->len ? 61 : 1)
		if (c->bytes[i] != filler(h.serial, i))
			fail_msg("record %u at 0x%llx: byte %u", h.serial,
				 (unsigned long long)c->file_off, i);
}

static uint32_t serial_of(const struct cut *c)
{
	struct head h;

	memcpy(&h, c->bytes, sizeof(h));
	return c->flags & CUT_LATE ? h.serial | LATE_BIT : h.serial;
}

static void read_all(struct recording *r, const struct order_options *options, struct serials *out,
		     struct order_stats *ret_stats)
{
	struct order_options opts = *options;
	const struct cut *cuts;
	struct order *o;
	int n;

	flush_pending(r);
	opts.defects = &r->defects;
	opts.time = r->stateless ? &r->time : NULL;
	assert_int_equal(order_open(&o, &r->source, &opts), 0);
	if (r->unwanted_16ths)
		assert_int_equal(order_pass_over(o), 1);
	while ((n = order_next(o, &cuts)) > 0) {
		for (int i = 0; i < n; i++) {
			check_bytes(&cuts[i]);
			assert_int_equal(vec_push(out, serial_of(&cuts[i])), 0);
		}
	}
	assert_int_equal(n, 0);
	order_stats(o, ret_stats);
	order_close(o);
}

enum { HELD = 3 }; /* batches that are not given back yet */

static void note_ahead(void *ctx)
{
	(void)ctx;
}

/*
 * As read_all(), with order_read_ahead(). The last check of a batch's bytes is just before it is
 * given back.
 */
static void read_ahead(struct recording *r, const struct order_options *options,
		       struct serials *out)
{
	static struct cut batches[HELD][ORDER_CUTS];
	struct order_options opts = *options;
	_Atomic uint64_t given_back = 0;
	atomic_bool quit = false;
	const struct order_ahead ahead = {
		.given_back = &given_back,
		.quit = &quit,
		.progress = note_ahead,
	};
	int nr[HELD] = { 0 };
	struct order *o;

	opts.defects = &r->defects;
	opts.time = r->stateless ? &r->time : NULL;
	assert_int_equal(order_open(&o, &r->source, &opts), 0);
	if (r->unwanted_16ths)
		assert_int_equal(order_pass_over(o), 1);
	order_read_ahead(o, &ahead);
	for (uint64_t number = 1, end = 0; !end || number < end + HELD; number++) {
		struct cut *cuts = batches[number % HELD];
		int *n = &nr[number % HELD];

		for (int i = 0; i < *n; i++) {
			check_bytes(&cuts[i]);
			assert_int_equal(vec_push(out, serial_of(&cuts[i])), 0);
		}
		*n = 0;
		if (number > HELD)
			given_back = number - HELD;
		if (end)
			continue;
		*n = order_fill(o, cuts, number);
		assert_true(*n >= 0);
		end = *n ? 0 : number;
	}
	order_read_ahead(o, NULL);
	order_close(o);
}

static void compare(const struct serials *want, const struct serials *got,
		    const struct order_options *options)
{
	for (size_t i = 0; i < want->n && i < got->n; i++) {
		if (want->v[i] != got->v[i])
			fail_msg(
				"window %zu, runs %zu: place %zu: record %u%s expected, %u%s found",
				options->window_bytes, options->max_runs, i, want->v[i] & ~LATE_BIT,
				want->v[i] & LATE_BIT ? " late" : "", got->v[i] & ~LATE_BIT,
				got->v[i] & LATE_BIT ? " late" : "");
	}
	assert_int_equal(got->n, want->n);
}

/* Reads the same records with order_read_ahead(). */
static void check_ahead(struct recording *r, const struct order_options *options)
{
	const struct defects before = r->defects;
	struct serials want = { 0 }, got = { 0 };
	struct order_stats stats;

	read_all(r, options, &want, &stats);
	read_ahead(r, options, &got);
	compare(&want, &got, options);
	r->defects = before;
	vec_done(&want);
	vec_done(&got);
}

/* Removes what is passed over. Late records and those without a time are not. */
static struct order_stats leave_out_unwanted(const struct recording *r, struct serials *v)
{
	struct order_stats stats = { .passed_first_ns = UINT64_MAX };
	size_t kept = 0;

	for (size_t i = 0; i < v->n; i++) {
		const struct cut *c = &r->records.v[v->v[i] & ~LATE_BIT];

		if (v->v[i] & LATE_BIT || c->order != CUT_ORDERED || !is_unwanted(r, v->v[i])) {
			v->v[kept++] = v->v[i];
			continue;
		}
		stats.passed++;
		if (c->time_ns < stats.passed_first_ns)
			stats.passed_first_ns = c->time_ns;
	}
	v->n = kept;
	return stats;
}

static struct order_stats check(struct recording *r, const struct order_options *options)
{
	struct serials want = { 0 }, got = { 0 };
	struct order_stats stats, model_stats;

	if (r->is_monotonic)
		model_monotonic(r, &want);
	else
		model(r, &want);
	model_stats = leave_out_unwanted(r, &want);
	read_all(r, options, &got, &stats);
	compare(&want, &got, options);
	assert_int_equal(stats.passed, model_stats.passed);
	if (stats.passed)
		assert_int_equal(stats.passed_first_ns, model_stats.passed_first_ns);
	vec_done(&want);
	vec_done(&got);
	return stats;
}

/* Reads the recording with windows and limits of runs of many sizes. */
static void check_all_ways(struct recording *r)
{
	static const struct order_options ways[] = {
		{ .window_bytes = 1 << 20 },
		{ .window_bytes = 4096 },
		{ .window_bytes = 4096, .max_runs = 2, .piece_entries = 8 },
		{ .window_bytes = 65536, .max_runs = 3, .piece_entries = 100 },
		{ .window_bytes = 4096, .max_runs = 1 },
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		check(r, &ways[i]);
	check_ahead(r, &(struct order_options){ .window_bytes = 16384 });
	if (r->records.n < 2000)
		check_ahead(r, &ways[2]);
	/* Nobody wants a quarter, most, all of the records. */
	for (int i = 0; i < 3 && !r->is_monotonic && !r->stateless; i++) {
		r->unwanted_16ths = (unsigned[]){ 4, 14, 16 }[i];
		check(r, &ways[2 * i]);
		check(r, &ways[2]);
		check_ahead(r, &ways[1]);
	}
	free_recording(r);
}

/* ---- cases ----------------------------------------------------------------------------------- */

TEST(nothing_at_all)
{
	check_all_ways(new_recording());
}

TEST(one_run)
{
	struct recording *r = new_recording();

	for (uint64_t t = 1; t < 3000; t++)
		add(r, t);
	check_all_ways(r);
}

TEST(rounds_that_do_not_overlap)
{
	struct recording *r = new_recording();

	for (uint64_t round = 0; round < 20; round++) {
		for (uint64_t cpu = 0; cpu < 4; cpu++)
			for (uint64_t t = 0; t < 50; t++)
				add(r, 1 + round * 1000 + t * 10 + cpu);
		add_round(r);
	}
	check_all_ways(r);
}

/*
 * Round k has records from before the end of round k - 1: to sort each round alone would be wrong.
 */
TEST(rounds_that_overlap)
{
	struct recording *r = new_recording();

	for (uint64_t round = 0; round < 20; round++) {
		for (uint64_t cpu = 0; cpu < 4; cpu++)
			for (uint64_t t = 0; t < 50; t++)
				add(r, 1 + round * 1000 + cpu * 300 + t * 20);
		add_round(r);
	}
	check_all_ways(r);
}

TEST(no_rounds)
{
	struct recording *r = new_recording();

	for (uint64_t cpu = 0; cpu < 16; cpu++)
		for (uint64_t t = 0; t < 300; t++)
			add(r, 1 + t * 16 + 15 - cpu);
	check_all_ways(r);
}

TEST(one_run_for_each_event)
{
	struct recording *r = new_recording();

	for (uint64_t t = 3000; t; t--)
		add(r, t);
	check_all_ways(r);
}

TEST(one_run_for_each_event_in_rounds)
{
	struct recording *r = new_recording();

	for (uint64_t round = 0; round < 30; round++) {
		for (uint64_t t = 100; t; t--)
			add(r, round * 70 + t);
		add_round(r);
	}
	check_all_ways(r);
}

TEST(equal_times_keep_the_order_of_the_file)
{
	struct recording *r = new_recording();

	for (int i = 0; i < 2000; i++)
		add(r, 1 + (uint64_t)(i % 7 == 3) + (uint64_t)(i / 500));
	check_all_ways(r);
}

/*
 * A run that waits for its round begins before one that does not wait. Its records of the same time
 * are delivered first.
 */
TEST(equal_times_of_a_run_that_waited)
{
	struct recording *r = new_recording();

	add(r, 60);
	add_round(r);
	add(r, 100); /* waits */
	add(r, 50);
	add(r, 100); /* the same time, later in the file */
	add_round(r);
	add_round(r);
	add(r, 200);
	add_round(r);
	check_all_ways(r);
}

TEST(late_events_are_delivered_at_once)
{
	struct recording *r = new_recording();

	for (uint64_t round = 0; round < 10; round++) {
		for (uint64_t t = 0; t < 30; t++)
			add(r, 1000 + round * 1000 + t);
		if (round > 3) {
			add(r, 5);
			add(r, 1000 + (round - 3) * 1000);
			add(r, 1000 + (round - 1) * 1000 + 500);
		}
		add_round(r);
	}
	check_all_ways(r);
}

TEST(records_without_time_act_when_read)
{
	struct recording *r = new_recording();

	for (uint64_t round = 0; round < 12; round++) {
		for (uint64_t t = 0; t < 40; t++) {
			add(r, 1 + round * 100 + (t * 37 % 97));
			if (t % 5 == 0)
				add_sized(r, CUT_AT_ONCE, t % 2 ? 0 : UINT64_MAX,
					  SHORTEST + 8 * (uint32_t)t, 0);
		}
		add_round(r);
	}
	check_all_ways(r);
}

TEST(only_rounds_and_records_without_time)
{
	struct recording *r = new_recording();

	for (int i = 0; i < 2000; i++)
		add_sized(r, i % 3 ? CUT_AT_ONCE : CUT_ROUND, 0, SHORTEST, 0);
	check_all_ways(r);
}

TEST(the_largest_records)
{
	struct recording *r = new_recording();

	for (uint64_t i = 0; i < 60; i++) {
		add_sized(r, CUT_ORDERED, 1 + (i * 31 % 59), LONGEST - (uint32_t)(i % 3), 0);
		add(r, 1 + (i * 17 % 61));
		if (i % 20 == 19)
			add_round(r);
	}
	check_all_ways(r);
}

TEST(bytes_between_records)
{
	struct recording *r = new_recording();

	for (uint64_t i = 0; i < 300; i++) {
		add_sized(r, i % 4 ? CUT_ORDERED : CUT_AT_ONCE, i % 4 ? 1 + (i * 31 % 97) : 0,
			  SHORTEST, i % 4 ? 0 : (uint32_t)(i * 53 % 9000));
		if (i % 50 == 49)
			add_round(r);
	}
	check_all_ways(r);
}

TEST(times_up_to_the_largest)
{
	struct recording *r = new_recording();

	for (uint64_t i = 0; i < 100; i++) {
		add(r, UINT64_MAX - 1 - i * 7 % 13);
		add(r, 1 + i);
		if (i % 30 == 29)
			add_round(r);
	}
	check_all_ways(r);
}

TEST(several_files)
{
	struct recording *r = new_recording();

	for (uint64_t f = 0; f < MAX_FILES; f++) {
		if (f)
			add_file(r);
		for (uint64_t t = 0; t < 500; t++) {
			add(r, 1 + t * 3 % 1009);
			if (t % 100 == 99)
				add_round(r);
		}
	}
	check_all_ways(r);
}

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % n;
}

/*
 * Buffers with separate clocks, drained one after another in rounds of random length. Sometimes
 * there are other records between them.
 */
TEST(random_recordings)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct recording *r = new_recording();
		uint64_t clock[8] = { 0 }, base = 1;
		unsigned cpus;

		random_state = seed;
		cpus = 1 + (unsigned)random_below(8);
		r->stateless = seed % 2;
		if (seed % 4 == 1)
			r->time.bounds =
				(struct time_window){ 50 * (seed % 5), 200 * (seed % 3 + 1) };
		for (int i = 0; i < 30; i++) {
			for (unsigned cpu = 0; cpu < cpus; cpu++) {
				clock[cpu] = clock[cpu] > base ? clock[cpu] : base;
				for (uint64_t n = random_below(30); n; n--) {
					uint32_t len =
						SHORTEST + (uint32_t)random_below(
								   random_below(40)
									   ? seed % 3 * 1000 + 100
									   : 40000);

					clock[cpu] += random_below(5);
					add_sized(r, CUT_ORDERED, clock[cpu], len, 0);
				}
				if (!random_below(10))
					add_sized(r, CUT_AT_ONCE, 0, SHORTEST, 0);
				if (!random_below(40))
					add(r, 1 + random_below(base));
			}
			if (random_below(seed % 5 ? 8 : 1) || seed % 7 < 2)
				add_round(r);
			base += random_below(60);
		}
		check_all_ways(r);
	}
}

/*
 * Records that an early filter refuses are between the records of a run. They may not be delivered
 * when the run is read again.
 */
TEST(refused_records_inside_a_run)
{
	struct recording *r = new_recording();

	r->stateless = true;
	r->time.bounds = (struct time_window){ 1000, 9000 };
	random_state = 1;
	for (uint64_t t = 1000; t < 9000; t++) {
		add_sized(r, CUT_ORDERED, t, 300, 0);
		if (t % 3 == 0)
			add_sized(r, CUT_ORDERED, 1 + random_below(20000), 300, 0);
	}
	for (uint64_t t = 1000; t < 9000; t += 5)
		add_sized(r, CUT_ORDERED, t, 300, 0);
	check_all_ways(r);
}

/*
 * ---- monotonic files ----------------------------------------------------------------------------
 */

/* One file for each cpu. With every other seed some records are late or have no time. */
TEST(monotonic_files)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct recording *r = new_recording();

		random_state = seed;
		r->is_monotonic = true;
		r->stateless = seed % 3 == 0;
		r->time.bounds = (struct time_window){ 500 * (seed % 5), 4000 };
		for (unsigned f = 0; f < MAX_FILES; f++) {
			uint64_t clock = 1 + random_below(1000), n = random_below(1500);

			if (f)
				add_file(r);
			while (n--) {
				uint64_t what = seed % 2 ? random_below(60) : 60;

				clock += random_below(7);
				if (!what)
					add_sized(r, CUT_AT_ONCE, n % 2 ? 0 : UINT64_MAX,
						  SHORTEST + (uint32_t)random_below(300), 0);
				else if (what == 1)
					add_round(r);
				else if (what == 2)
					add(r, 1 + random_below(clock));
				else
					add_sized(r, CUT_ORDERED, clock,
						  SHORTEST + (uint32_t)random_below(3000), 0);
			}
		}
		check_all_ways(r);
	}
}

TEST(late_records_of_monotonic_files_are_counted)
{
	struct recording *r = new_recording();
	struct serials got = { 0 };
	struct order_stats stats;

	r->is_monotonic = true;
	for (uint64_t t = 1; t <= 1000; t++)
		add(r, t % 100 == 50 ? t - 10 : t);
	read_all(r, &(struct order_options){ .window_bytes = 4096 }, &got, &stats);
	assert_int_equal(got.n, 1000);
	assert_int_equal(r->defects.count[DEFECT_LATE], 10);
	assert_int_equal(stats.runs, 1);
	vec_done(&got);
	free_recording(r);
}

/*
 * Bytes that this process has read so far, without those of calls of this function; -1 if unknown.
 */
static int64_t bytes_read(void)
{
	static int64_t asking;
	int fd = open("/proc/self/io", O_RDONLY);
	char text[512];
	long long n = -1;
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	if (sscanf(text, "rchar: %lld", &n) != 1)
		return -1;
	n -= asking;
	asking += got;
	return n;
}

/* Bytes that are read to read a complete recording; -1 if unknown. */
static int64_t bytes_of_reading(struct recording *r, size_t window_bytes)
{
	struct serials got = { 0 };
	struct order_stats stats;
	int64_t before;

	flush_pending(r);
	before = bytes_read();
	read_all(r, &(struct order_options){ .window_bytes = window_bytes }, &got, &stats);
	assert_int_equal(got.n, r->records.n);
	vec_done(&got);
	return before < 0 ? -1 : bytes_read() - before;
}

/* The files are larger than the windows that the walk keeps. */
TEST(monotonic_files_are_read_once)
{
	struct recording *r = new_recording();
	uint64_t size = 0;
	int64_t got;

	r->is_monotonic = true;
	for (unsigned f = 0; f < MAX_FILES; f++) {
		if (f)
			add_file(r);
		for (uint64_t t = 1; t < 3000; t++)
			add_sized(r, CUT_ORDERED, t * 3 + f, LONGEST - (uint32_t)(t % 100), 0);
	}
	for (unsigned f = 0; f < MAX_FILES; f++)
		size += r->size[f];
	for (size_t window = 4096; window <= 1 << 20; window *= 16) {
		got = bytes_of_reading(r, window);
		if (got < 0)
			print_message("# /proc/self/io does not say what was read\n");
		else
			assert_int_equal(got, size);
	}
	free_recording(r);
}

/* A file ends in the middle of a record, and one is damaged: the other files are read on. */
TEST(monotonic_files_that_end_early)
{
	struct recording *r = new_recording();
	struct serials got = { 0 };
	struct order_stats stats;
	static const uint8_t zeros[SHORTEST];

	r->is_monotonic = true;
	for (unsigned f = 0; f < 3; f++) {
		if (f)
			add_file(r);
		for (uint64_t t = 1; t <= 300; t++)
			add_sized(r, CUT_ORDERED, t * 3 + f, 100, 0);
	}
	flush_pending(r);
	r->size[1] -= 10;
	assert_int_equal(pwrite(r->fd[2], zeros, sizeof(zeros), 200 * 100), sizeof(zeros));
	read_all(r, &(struct order_options){ .window_bytes = 4096 }, &got, &stats);
	assert_int_equal(got.n, 300 + 299 + 200);
	assert_int_equal(r->defects.count[DEFECT_TRUNCATED], 2); /* one by the source */
	assert_int_equal(r->defects.count[DEFECT_LATE], 0);
	vec_done(&got);
	free_recording(r);
}

/* ---- files that change, memory --------------------------------------------------------------- */

/* A file is cut short while it is read: the records before are delivered, the rest is reported. */
static void shrink(const struct order_options *options, uint64_t (*time_of)(uint64_t))
{
	struct recording *r = new_recording();
	struct order_options opts = *options;
	const struct cut *cuts;
	struct order *o;
	uint64_t seen = 0;
	int n;

	for (uint64_t i = 0; i < 20000; i++)
		add_sized(r, CUT_ORDERED, time_of(i), 512, 0);
	flush_pending(r);
	opts.defects = &r->defects;
	assert_int_equal(order_open(&o, &r->source, &opts), 0);
	while ((n = order_next(o, &cuts)) > 0) {
		for (int i = 0; i < n; i++)
			check_bytes(&cuts[i]);
		seen += (uint64_t)n;
		if (seen > 1000)
			assert_int_equal(ftruncate(r->fd[0], 100000), 0);
	}
	assert_int_equal(n, 0);
	assert_true(seen > 1000 && seen <= 20000);
	if (seen < 20000)
		assert_true(r->defects.count[DEFECT_TRUNCATED] > 0);
	order_close(o);
	free_recording(r);
}

static uint64_t rising(uint64_t i)
{
	return 1 + i;
}

static uint64_t falling(uint64_t i)
{
	return 30000 - i;
}

static uint64_t of_five(uint64_t i)
{
	return 1 + i % 4000;
}

TEST(a_file_that_shrinks)
{
	static const struct order_options ways[] = {
		{ .window_bytes = 4096 },
		{ .window_bytes = 1 << 20 },
		{ .window_bytes = 4096, .max_runs = 2 },
		{ .window_bytes = 4096, .max_runs = 2, .piece_entries = 50 },
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		shrink(&ways[i], rising);
		shrink(&ways[i], falling);
		shrink(&ways[i], of_five);
	}
}

TEST(a_file_that_grows_is_read_to_the_size_seen)
{
	struct recording *r = new_recording();
	struct order_options opts = { .window_bytes = 4096, .defects = &r->defects };
	const struct cut *cuts;
	struct order *o;
	uint64_t seen = 0;
	int n;

	for (uint64_t i = 0; i < 1000; i++)
		add(r, 1 + i);
	flush_pending(r);
	assert_int_equal(order_open(&o, &r->source, &opts), 0);
	for (uint64_t i = 0; i < 1000; i++)
		add(r, 5000 + i);
	flush_pending(r);
	while ((n = order_next(o, &cuts)) > 0)
		seen += (uint64_t)n;
	assert_int_equal(seen, 1000);
	assert_int_equal(r->defects.count[DEFECT_TRUNCATED], 0);
	order_close(o);
	free_recording(r);
}

/* Records whose bytes changed between the walk and the merge. */
TEST(a_file_that_is_written_over)
{
	struct recording *r = new_recording();
	struct order_options opts = { .window_bytes = 4096, .defects = &r->defects };
	static const uint8_t zeros[65536];
	const struct cut *cuts;
	struct order *o;
	int n;

	for (uint64_t i = 0; i < 20000; i++)
		add_sized(r, CUT_ORDERED, 1 + i % 5000, 512, 0);
	flush_pending(r);
	assert_int_equal(order_open(&o, &r->source, &opts), 0);
	assert_true(order_next(o, &cuts) > 0);
	for (uint64_t off = 0; off < r->size[0]; off += sizeof(zeros))
		assert_true(pwrite(r->fd[0], zeros, sizeof(zeros), (off_t)off) > 0);
	while ((n = order_next(o, &cuts)) > 0)
		;
	assert_int_equal(n, 0);
	assert_true(r->defects.count[DEFECT_TRUNCATED] > 0);
	order_close(o);
	free_recording(r);
}

static long resident_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = 0;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmHWM:", 6))
			kb = atol(line + 6);
	if (f)
		fclose(f);
	return kb;
}

static void reset_high_water(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY);

	if (fd >= 0) {
		if (write(fd, "5", 1) < 0)
			print_message("# the high-water mark cannot be reset\n");
		close(fd);
	}
}

/*
 * Memory does not grow with the recording: only windows and runs need some. The files are memfds,
 * which do not count.
 */
static void check_memory(struct recording *r, const struct order_options *options, uint64_t count)
{
	struct order_options opts = *options;
	const struct cut *cuts;
	struct order *o;
	uint64_t seen = 0, last = 0;
	long before;
	int n;

	flush_pending(r);
	vec_done(&r->records);
	opts.defects = &r->defects;
	reset_high_water();
	before = resident_kb();
	assert_int_equal(order_open(&o, &r->source, &opts), 0);
	while ((n = order_next(o, &cuts)) > 0) {
		for (int i = 0; i < n; i++) {
			assert_true(cuts[i].time_ns >= last);
			last = cuts[i].time_ns;
		}
		seen += (uint64_t)n;
	}
	assert_int_equal(n, 0);
	assert_int_equal(seen, count);
	print_message("# %ld kB more than before\n", resident_kb() - before);
#ifndef __SANITIZE_ADDRESS__
	assert_true(resident_kb() - before < 64 * 1024);
#endif
	order_close(o);
	free_recording(r);
}

/* The first record is delivered at once. Its batch is held while all other records are walked. */
static void check_memory_while_held(struct recording *r, bool has_more)
{
	const struct order_options opts = {
		.window_bytes = 1 << 20,
		.time = r->stateless ? &r->time : NULL,
		.defects = &r->defects,
	};
	const _Atomic uint64_t given_back = 0;
	const atomic_bool quit = false;
	const struct order_ahead ahead = {
		.given_back = &given_back,
		.quit = &quit,
		.progress = note_ahead,
	};
	static struct cut held[ORDER_CUTS], more[ORDER_CUTS];
	struct order *o;
	long before;

	reset_high_water();
	before = resident_kb();
	assert_int_equal(order_open(&o, &r->source, &opts), 0);
	order_read_ahead(o, &ahead);
	assert_int_equal(order_fill(o, held, 1), 1);
	assert_int_equal(order_fill(o, more, 2) > 0, has_more);
	check_bytes(held);
	print_message("# %ld kB more than before\n", resident_kb() - before);
#ifndef __SANITIZE_ADDRESS__
	assert_true(resident_kb() - before < 64 * 1024);
#endif
	order_close(o);
}

static struct recording *one_to_hold(void)
{
	struct recording *r = new_recording();

	add_sized(r, CUT_AT_ONCE, 0, SHORTEST, 0);
	for (uint64_t i = 0; i < 50000; i++)
		add_sized(r, CUT_ORDERED, 1 + i, 4096, 0);
	flush_pending(r);
	return r;
}

TEST(memory_while_a_batch_is_held)
{
	struct recording *r = one_to_hold();

	check_memory_while_held(r, true);
	free_recording(r);
}

TEST(memory_while_a_batch_of_a_monotonic_file_is_held)
{
	struct recording *r = one_to_hold();

	r->is_monotonic = true;
	r->stateless = true; /* the time window refuses all of them */
	r->time.bounds = (struct time_window){ 1000000, 2000000 };
	check_memory_while_held(r, false);
	free_recording(r);
}

TEST(memory_of_a_million_shuffled_events)
{
	struct recording *r = new_recording();

	random_state = 1;
	for (int i = 0; i < 1000000; i++)
		add(r, 1 + random_below(1u << 30));
	check_memory(r, &(struct order_options){ .window_bytes = 1 << 20 }, 1000000);
}

/* As many runs as are merged at once, each far larger than its share of the windows. */
TEST(memory_of_a_thousand_long_runs)
{
	struct recording *r = new_recording();

	for (uint64_t run = 0; run < 1000; run++)
		for (uint64_t i = 0; i < 50; i++)
			add_sized(r, CUT_ORDERED, 1 + i * 1000 + run, 4096, 0);
	check_memory(r, &(struct order_options){ .window_bytes = 1 << 20 }, 50000);
}
