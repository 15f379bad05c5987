/* SPDX-License-Identifier: MIT */
/* A record with a wrong bit in its type or size does not have the shape of its type. */
#include "unittest.h"

#include <linux/perf_event.h>
#include <string.h>

#include "formats/perfdata/layout.h"
#include "formats/perfdata/shape.h"

enum { TRAILER_BYTES = 40, ROOM = 128 << 10, LAST_TYPE = RECORD_SCHEDSTAT_DOMAIN };

/* The record, followed by enough others for the largest size. */
static struct {
	_Alignas(8) uint8_t bytes[ROOM];
	uint32_t len;
} made;

static void begin(uint32_t type)
{
	const struct perfdata_record_header h = { .type = type };

	memset(made.bytes, 0xa5, sizeof(made.bytes));
	memcpy(made.bytes, &h, sizeof(h));
	made.len = sizeof(h);
}

static void put(const void *p, size_t len)
{
	memcpy(made.bytes + made.len, p, len);
	made.len += (uint32_t)len;
}

static void put_u32(uint32_t v)
{
	put(&v, sizeof(v));
}

static void put_u64(uint64_t v)
{
	put(&v, sizeof(v));
}

static void put_text(const char *text)
{
	put(text, strlen(text) + 1);
	while (made.len % 8)
		put("", 1);
}

static void end(bool has_trailer)
{
	if (has_trailer) {
		put_u32(1234);
		put_u32(1235);
		put_u64(88000001234567);
		put_u64(3);
		put_u64(1);
		put_u64(77);
	}
	((struct perfdata_record_header *)made.bytes)->size = (uint16_t)made.len;
}

static void make_comm(void)
{
	begin(PERF_RECORD_COMM);
	put_u32(1234);
	put_u32(1235);
	put_text("kworker/0:1");
	end(true);
}

static void make_mmap2(void)
{
	begin(PERF_RECORD_MMAP2);
	put_u32(1234);
	put_u32(1234);
	put_u64(0x7f1234567000);
	put_u64(0x21000);
	put_u64(0x3000);
	put_u64(0x100000008);
	put_u64(123456);
	put_u64(77);
	put_u64(0x200000005);
	put_text("/usr/lib/x86_64-linux-gnu/libc.so.6");
	end(true);
}

static void make_fork(void)
{
	begin(PERF_RECORD_FORK);
	put_u32(1234);
	put_u32(1);
	put_u32(1234);
	put_u32(1);
	put_u64(88000001234000);
	end(true);
}

static void make_ksymbol(void)
{
	begin(PERF_RECORD_KSYMBOL);
	put_u64(0xffffffffc0381a2c);
	put_u32(1234);
	put_u32(1);
	put_text("bpf_prog_6deef7357e7b4530_sd_fw_ingress");
	end(true);
}

static void make_round(void)
{
	begin(RECORD_FINISHED_ROUND);
	end(false);
}

static void make_thread_map(void)
{
	begin(RECORD_THREAD_MAP);
	put_u64(1);
	put_u64(1234);
	put("sleep\0\0\0\0\0\0\0\0\0\0", 16);
	end(false);
}

static void make_id_index(void)
{
	begin(RECORD_ID_INDEX);
	put_u64(3); /* two of the newer form have the size of two and a wrong bit */
	for (uint64_t i = 0; i < 12; i++)
		put_u64(i);
	end(false);
}

/* Bytes that zstd wrote. */
static void make_compressed(void)
{
	uint64_t state = 88172645463325252;

	begin(RECORD_COMPRESSED);
	put_u32(0xfd2fb528);
	for (int i = 0; i < 300; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		put_u64(state);
	}
	put_u32((uint32_t)state);
	end(false);
}

static void (*const kinds[])(void) = {
	make_comm,  make_mmap2,      make_fork,     make_ksymbol,
	make_round, make_thread_map, make_id_index, make_compressed
};

static bool has_shape(void)
{
	const struct perfdata_record_header *h = (void *)made.bytes;

	return perfdata_has_shape(made.bytes, h->size, TRAILER_BYTES, false);
}

TEST(records_have_the_shape_of_their_type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		kinds[i]();
		assert_true(has_shape());
	}
}

/*
 * THROTTLE and UNTHROTTLE have the size of FORK: their ids distinguish them. A zstd stream has no
 * shape.
 */
TEST(a_wrong_bit_in_the_type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		for (int bit = 0; bit < 32; bit++) {
			struct perfdata_record_header *h = (void *)made.bytes;
			uint32_t was;

			kinds[i]();
			was = h->type;
			h->type ^= UINT32_C(1) << bit;
			if (h->type > LAST_TYPE || h->type == PERF_RECORD_SAMPLE || !h->type ||
			    (h->type > PERF_RECORD_AUX_OUTPUT_HW_ID + 1 && h->type < 64))
				continue; /* none of these has the shape of another type */
			if (h->type == RECORD_COMPRESSED || h->type == RECORD_COMPRESSED2)
				continue;
			if (was == PERF_RECORD_FORK &&
			    (h->type == PERF_RECORD_THROTTLE || h->type == PERF_RECORD_UNTHROTTLE))
				continue;
			if (has_shape())
				fail_msg("type %u as %u", was, h->type);
		}
	}
}

TEST(a_wrong_bit_in_the_size)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		for (int bit = 0; bit < 16; bit++) {
			struct perfdata_record_header *h = (void *)made.bytes;

			kinds[i]();
			h->size ^= (uint16_t)(1 << bit);
			if (h->type == RECORD_COMPRESSED || h->size < sizeof(*h))
				continue;
			if (has_shape())
				fail_msg("type %u of %u bytes", h->type, h->size);
		}
	}
}
