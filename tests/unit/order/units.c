/* SPDX-License-Identifier: MIT */
/*
 * Records that are understood only within their packet. The source of this test has records with a
 * time of 27 bits, counted from the record before, as in the kernel's ring buffers. The records
 * that order/ delivers are compared with a sort of all records.
 */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"
#include "order/order.h"

/*
 * packet: u32 length with this header | i32 cpu | u64 time that the first difference is added to
 * record: u32 kind << 27 | difference of time | u32 length with this header | u32 serial | filler
 */
enum { PACKET_HEADER = 16, RECORD_HEADER = 12, NR_FILES = 3, DELTA_BITS = 27 };
enum kind {
	EVENT,
	ROUND,
	TIME /* the next difference is added to the u64 that follows instead */
};

struct wanted {
	uint64_t time_ns, packet_off, file_off;
	uint32_t serial, packet_bytes;
	int32_t cpu;
	uint16_t file;
};

static struct made {
	struct source source; /* first */
	int fd[NR_FILES];
	uint64_t size[NR_FILES];
	unsigned nr_files;
	bool is_monotonic;
	uint8_t packet[1 << 16];
	uint32_t packet_bytes;
	uint64_t time_ns;
	int32_t cpu;
	VEC(struct wanted) wanted;
	size_t unsettled; /* wanted[unsettled..] are in the packet that is being written */
	struct defects defects;
} made;

/* ---- the recording --------------------------------------------------------------------------- */

static void put(const void *p, size_t len)
{
	assert_true(made.packet_bytes + len <= sizeof(made.packet));
	if (len)
		memcpy(made.packet + made.packet_bytes, p, len);
	made.packet_bytes += (uint32_t)len;
}

static void begin_packet(int32_t cpu, uint64_t time_ns)
{
	uint32_t len = 0;

	made.packet_bytes = 0;
	made.cpu = cpu;
	made.time_ns = time_ns;
	put(&len, 4);
	put(&cpu, 4);
	put(&time_ns, 8);
}

static void end_packet(void)
{
	unsigned f = made.nr_files - 1;

	memcpy(made.packet, &made.packet_bytes, 4);
	assert_int_equal(pwrite(made.fd[f], made.packet, made.packet_bytes, (off_t)made.size[f]),
			 made.packet_bytes);
	made.size[f] += made.packet_bytes;
	for (; made.unsettled < made.wanted.n; made.unsettled++)
		made.wanted.v[made.unsettled].packet_bytes = made.packet_bytes;
}

static void add_record(enum kind kind, uint32_t delta, const void *payload, uint32_t bytes)
{
	uint32_t head[3] = { (uint32_t)kind << DELTA_BITS | delta, RECORD_HEADER + bytes,
			     (uint32_t)made.wanted.n };

	put(head, sizeof(head));
	put(payload, bytes);
}

static void add_event(uint32_t delta, uint32_t bytes)
{
	static const uint8_t zeros[4096];
	const uint64_t packet_off = made.size[made.nr_files - 1];
	struct wanted w = {
		.packet_off = packet_off,
		.file_off = packet_off + made.packet_bytes,
		.serial = (uint32_t)made.wanted.n,
		.cpu = made.cpu,
		.file = (uint16_t)(made.nr_files - 1),
	};

	made.time_ns += delta;
	w.time_ns = made.time_ns;
	add_record(EVENT, delta, zeros, bytes);
	assert_int_equal(vec_push(&made.wanted, w), 0);
}

static void add_time(uint64_t time_ns)
{
	made.time_ns = time_ns;
	add_record(TIME, 0, &time_ns, 8);
}

static void add_file(void)
{
	made.fd[made.nr_files] = memfd_create("units", MFD_CLOEXEC);
	assert_true(made.fd[made.nr_files] >= 0);
	made.nr_files++;
}

static void begin(void)
{
	extern const struct source_ops made_ops;

	made = (struct made){ .source = { &made_ops } };
	add_file();
}

static void end(void)
{
	for (unsigned i = 0; i < made.nr_files; i++)
		close(made.fd[i]);
	vec_done(&made.wanted);
}

/* ---- its source ------------------------------------------------------------------------------ */

static bool made_file(struct source *s, unsigned i, struct source_file *ret)
{
	if (i >= made.nr_files)
		return false;
	*ret = (struct source_file){
		.fd = made.fd[i],
		.path = "made",
		.end = made.size[i],
		.is_monotonic = made.is_monotonic,
	};
	return true;
}

static int made_cut(const struct source *s, unsigned file, struct unit *unit, const uint8_t *p,
		    size_t len, uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		    size_t *ret_need)
{
	size_t at = 0;
	int n = 0;

	*ret_used = 0;
	*ret_need = 0;
	while (n < max) {
		uint32_t head[2], kind;

		if (!unit->len || file_off + at == unit->off + unit->len) {
			if (n)
				break;
			if (len - at < PACKET_HEADER) {
				*ret_need = PACKET_HEADER;
				break;
			}
			unit->off = file_off + at;
			memcpy(&unit->len, p + at, 4);
			memcpy(&unit->cpu, p + at + 4, 4);
			memcpy(&unit->time_base, p + at + 8, 8);
			at += PACKET_HEADER;
			continue;
		}
		if (len - at < sizeof(head)) {
			*ret_need = sizeof(head);
			break;
		}
		memcpy(head, p + at, sizeof(head));
		if (len - at < head[1]) {
			*ret_need = head[1];
			break;
		}
		kind = head[0] >> DELTA_BITS;
		unit->time_base += head[0] & ((1u << DELTA_BITS) - 1);
		if (kind == TIME)
			memcpy(&unit->time_base, p + at + RECORD_HEADER, 8);
		else
			ret[n++] = (struct cut){
				.time_ns = unit->time_base,
				.file_off = file_off + at,
				.bytes = p + at,
				.len = head[1],
				.file = (uint16_t)file,
				.order = kind == ROUND ? CUT_ROUND : CUT_ORDERED,
			};
		at += head[1];
	}
	*ret_used = at;
	return n;
}

extern const struct source_ops made_ops;
const struct source_ops made_ops = { .name = "made", .file = made_file, .cut = made_cut };

/* ---- comparing ------------------------------------------------------------------------------- */

static int by_time(const void *pa, const void *pb)
{
	const struct wanted *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->serial > b->serial) - (a->serial < b->serial);
}

static void check_cut(const struct cut *cut, const struct wanted *w)
{
	uint32_t serial;

	memcpy(&serial, cut->bytes + 8, 4);
	assert_int_equal(serial, w->serial);
	assert_int_equal(cut->time_ns, w->time_ns);
	assert_int_equal(cut->file, w->file);
	assert_int_equal(cut->file_off, w->file_off);
	assert_non_null(cut->unit);
	assert_int_equal(cut->unit->off, w->packet_off);
	assert_int_equal(cut->unit->len, w->packet_bytes);
	assert_int_equal(cut->unit->cpu, w->cpu);
}

static struct order_stats check(const struct order_options *options)
{
	struct order_options opts = *options;
	struct order_stats stats;
	const struct cut *cuts;
	struct order *o;
	size_t at = 0;
	int n;

	qsort(made.wanted.v, made.wanted.n, sizeof(*made.wanted.v), by_time);
	opts.defects = &made.defects;
	assert_int_equal(order_open(&o, &made.source, &opts), 0);
	while ((n = order_next(o, &cuts)) > 0) {
		for (int i = 0; i < n; i++) {
			if (cuts[i].order == CUT_ROUND)
				continue;
			assert_true(at < made.wanted.n);
			check_cut(&cuts[i], &made.wanted.v[at++]);
		}
	}
	assert_int_equal(n, 0);
	assert_int_equal(at, made.wanted.n);
	assert_int_equal(made.defects.count[DEFECT_LATE], 0);
	assert_int_equal(made.defects.count[DEFECT_TRUNCATED], 0);
	order_stats(o, &stats);
	order_close(o);
	return stats;
}

static void check_all_ways(void)
{
	check(&(struct order_options){ .window_bytes = 1 << 20 });
	check(&(struct order_options){ .window_bytes = 4096 });
	check(&(struct order_options){ .window_bytes = 700 });
	assert_true(made.is_monotonic || check(&(struct order_options){
						       .window_bytes = 4096,
						       .max_runs = 2,
						       .piece_entries = 8,
					       })
						 .spilled_records);
	check(&(struct order_options){ .window_bytes = 4096, .max_runs = 1, .piece_entries = 999 });
	end();
}

/* ---- cases ----------------------------------------------------------------------------------- */

/*
 * Each packet is from another cpu and begins at an earlier time: there are as many runs as packets.
 */
TEST(packets_of_cpus)
{
	begin();
	for (unsigned f = 0; f < NR_FILES; f++) {
		if (f)
			add_file();
		for (int p = 0; p < 200; p++) {
			begin_packet(p % 4, 1000 + (uint64_t)(p / 4) * 10000);
			for (uint32_t i = 0; i < 30; i++)
				add_event(i * 7 % 13, i % 5 * 40);
			end_packet();
		}
	}
	check_all_ways();
}

/* Times go back in the middle of packets. Runs begin there, and are reopened there. */
TEST(runs_that_begin_in_packets)
{
	begin();
	for (unsigned f = 0; f < NR_FILES; f++) {
		if (f)
			add_file();
		for (uint64_t p = 0; p < 20; p++) {
			begin_packet((int32_t)(p % 3), 1000000 + p * 1000);
			for (uint32_t i = 0; i < 400; i++) {
				if (i % 90 == 37)
					add_time(1000000 + p * 900 - i);
				add_event(i * 11 % 17, i % 3 * 60);
			}
			end_packet();
		}
	}
	check_all_ways();
}

/* A merge begins in the middle of a packet. The next run is opened in the next packet. */
TEST(rounds_that_end_in_packets)
{
	begin();
	for (uint64_t p = 0; p < 60; p++) {
		begin_packet((int32_t)(p % 3), 1000000 + p / 3 * 10000);
		for (uint32_t i = 0; i < 300; i++) {
			if (p % 3 == 2 && i == 150)
				add_record(ROUND, 0, NULL, 0);
			add_event(i * 11 % 17, 90);
		}
		end_packet();
	}
	check_all_ways();
}

/*
 * The largest differences of time, packets without records, and a packet larger than the windows.
 */
TEST(packets_of_all_sizes)
{
	begin();
	for (uint64_t p = 0; p < 100; p++) {
		uint32_t n = p % 10 == 3 ? 0 : p % 10 == 7 ? 900 : (uint32_t)p % 5;

		begin_packet((int32_t)(p % 2), (p % 2 ? p - 1 : p) << 36);
		for (uint32_t i = 0; i < n; i++)
			add_event(i % 7 ? 1 : (1u << DELTA_BITS) - 1, 50);
		end_packet();
	}
	check_all_ways();
}

TEST(packets_of_monotonic_files)
{
	begin();
	made.is_monotonic = true;
	for (unsigned f = 0; f < NR_FILES; f++) {
		if (f)
			add_file();
		for (uint64_t p = 0; p < 100; p++) {
			begin_packet((int32_t)f, 1000 + p * 100000);
			for (uint32_t i = 0; i < p % 50; i++)
				add_event(i * (f + 3) % 100, i % 5 * 40);
			end_packet();
		}
	}
	check_all_ways();
}
