/* SPDX-License-Identifier: MIT */
/*
 * Event formats and print formats: any text, any payload. The input is
 *
 *	u8 bit 0 big endian, bit 1 longs of 4 bytes | format text | NUL | payload
 *
 * Text that does not begin with "name:" is taken for a print format over a fixed set of fields,
 * which gets deeper.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "formats/tracefs/eventformat.h"
#include "model/printfmt/printfmt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIELD(decl, offset, size, signed) \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #signed ";\n"

static const char usual_fields[] = "name: e\nID: 1\nformat:\n" FIELD("unsigned short common_type",
								     0, 2, 0)
	FIELD("int common_pid", 4, 4, 1) "\n" FIELD("int a", 8, 4, 1) FIELD("u64 b", 12, 8, 0)
		FIELD("s8 c", 20, 1, 1) FIELD("u16 d", 21, 2, 0) FIELD("char s[8]", 24, 8, 0)
			FIELD("u32 v[4]", 32, 16, 0) FIELD("u8 m[6]", 48, 6,
							   0) FIELD("__data_loc char[] t", 56, 4, 0)
				FIELD("__rel_loc u32[] w", 60, 4, 0) FIELD("void * p", 64, 8, 0)
					FIELD("unsigned long args[]", 72, 0, 0) "\nprint fmt: ";

static const char *symbol(void *ctx, uint64_t addr, uint64_t *ret_off)
{
	(void)ctx;
	*ret_off = addr & 15;
	return addr & 1 ? "function" : NULL;
}

static const char *printk(void *ctx, uint64_t addr)
{
	(void)ctx;
	return addr & 2 ? "%d %s %lx %p %*d\n" : NULL;
}

static void run(const char *text, size_t len, struct abi abi, const uint8_t *payload,
		uint32_t payload_len)
{
	struct printfmt_env env = { .symbol = symbol, .printk = printk };
	struct arena a = { 0 };
	struct sonde_schema *sc;

	if (eventformat_parse(&a, bytes_init(text, len, 0, "fuzz", false), "ftrace", abi, &sc) <
	    0) {
		arena_done(&a);
		return;
	}
	for (int dialect = PRINTFMT_RIGHT; dialect <= PRINTFMT_PERF_6_12; dialect++) {
		const struct sonde_define *defines;
		struct outbuf out = { 0 };
		struct printfmt *pf;
		size_t n;

		if (printfmt_compile(&pf, sc, (enum printfmt_dialect)dialect) < 0)
			break;
		/* A copy of exactly this length, so that a sanitizer sees a read after its end. */
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t m = k ? payload_len / 2 : payload_len;
			uint8_t *exact = malloc(m ? m : 1);

			if (!exact)
				break;
			memcpy(exact, payload, m);
			printfmt_run(pf, k ? NULL : &env, exact, m, &out);
			free(exact);
		}
		printfmt_defines(pf, &a, &defines, &n);
		outbuf_done(&out);
		printfmt_free(pf);
	}
	arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint16_t probe = 1;
	const uint8_t *nul, *payload;
	struct abi abi = { .long_bytes = 8 };
	bool host_big = !*(const uint8_t *)&probe;
	size_t len;
	char *text;

	if (size < 1)
		return 0;
	abi.big_endian = data[0] & 1;
	abi.swap = abi.big_endian != host_big;
	abi.long_bytes = data[0] & 2 ? 4 : 8;
	data++;
	size--;
	nul = size ? memchr(data, 0, size) : NULL;
	len = nul ? (size_t)(nul - data) : size;
	payload = nul ? nul + 1 : data + size;
	text = malloc(sizeof(usual_fields) + len);
	if (!text)
		return 0;
	if (len >= 5 && !memcmp(data, "name:", 5)) {
		memcpy(text, data, len);
	} else {
		memcpy(text, usual_fields, sizeof(usual_fields) - 1);
		memcpy(text + sizeof(usual_fields) - 1, data, len);
		len += sizeof(usual_fields) - 1;
	}
	run(text, len, abi, payload, (uint32_t)(size - (size_t)(payload - data)));
	free(text);
	return 0;
}
