/* SPDX-License-Identifier: MIT */
/*
 * Expressions of where=: any text, any payload. The input is
 *
 *	u8 bit 0 other byte order, bit 1 longs of 4 bytes, bit 2 not a tracepoint | expression | NUL
 *| payload
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "filters/where/where.h"
#include "formats/tracefs/eventformat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIELD(decl, offset, size, signed) \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #signed ";\n"

static const char format[] =
	"name: e\nID: 1\nformat:\n" FIELD("int common_pid", 0, 4, 1) "\n" FIELD("int a", 4, 4, 1)
		FIELD("u64 b", 8, 8, 0) FIELD("s8 c", 16, 1, 1) FIELD("u16 d", 17, 2, 0)
			FIELD("char s[8]", 20, 8, 0) FIELD("__data_loc char[] t", 28, 4, 0)
				FIELD("__rel_loc char[] r", 32, 4, 0) FIELD("char * p", 36, 8, 0)
					FIELD("__data_loc cpumask_t m", 44, 4, 0)
						FIELD("u32 v[4]", 48, 16, 0) "\nprint fmt: \"\"\n";

/* What no format file describes. */
static void describe_more(struct sonde_schema *sc, uint8_t how)
{
	static const struct sonde_label labels[] = { { 0, 9, "LOW" }, { 10, 99, "HIGH" } };

	if (how & 8) {
		sc->fields[1].kind = SONDE_FIELD_ENUM;
		sc->fields[1].labels = labels;
		sc->fields[1].nr_labels = 2;
		sc->fields[2].kind = SONDE_FIELD_FLOAT;
		sc->fields[4].kind = SONDE_FIELD_BITS;
		sc->fields[4].bit_offset = how >> 4;
		sc->fields[4].bit_width = 5;
		sc->fields[4].byte_order = SONDE_ORDER_BIG;
	}
	sc->sampled = UINT64_MAX;
	sc->kind = how & 4 ? SONDE_SAMPLE : SONDE_TRACEPOINT;
}

static const char *comm(void *ctx)
{
	(void)ctx;
	return "bash";
}

static const char *string_at(void *ctx, uint64_t addr)
{
	(void)ctx;
	return addr & 1 ? "text" : NULL;
}

static int sample(void *ctx, struct sonde_sample *ret)
{
	(void)ctx;
	*ret = (struct sonde_sample){ .ip = 1, .addr = 2, .period = 3, .weight = 4 };
	return 0;
}

static void judge(const struct where *w, const struct sonde_schema *sc, bool swap,
		  const uint8_t *payload, uint32_t len)
{
	const struct sonde_schema *const all[2] = { sc, sc };
	struct where_program *p;
	uint8_t *exact;

	if (where_bind(w, sc, &p) < 0)
		return;
	for (size_t i = 0; i < w->tests.n; i++) {
		const struct where_test *t = &w->tests.v[i];

		/* Later tests only, or else a program might not end. */
		if ((t->on_true <= i || t->on_false <= i) ||
		    (t->on_true >= w->tests.n && t->on_true < WHERE_REFUSE) ||
		    (t->on_false >= w->tests.n && t->on_false < WHERE_REFUSE))
			abort();
		if (where_gap_of(p, i))
			where_explain(w, i, where_gap_of(p, i), all, 1 + i % 2);
	}
	/* A copy of exactly this length, so that a sanitizer sees a read after its end. */
	exact = malloc(len ? len : 1);
	if (exact) {
		const struct sonde_event ev = { .bytes = exact,
						.bytes_len = len,
						.cpu = len % 5,
						.flags = swap ? SONDE_EVENT_SWAPPED : 0 };

		if (len)
			memcpy(exact, payload, len);
		where_pass(p, &(struct where_input){ &ev, comm, string_at, sample, NULL });
		free(exact);
	}
	where_program_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct where w = { 0 };
	struct arena a = { 0 };
	struct sonde_schema *sc;
	struct abi abi = { 0 };
	char *text;
	size_t len;

	if (size < 1)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	if (!text)
		return 0;
	len = strlen(text) + 1 < size ? strlen(text) + 2 : size;
	abi.swap = data[0] & 1;
	abi.big_endian = abi.swap != host_is_big;
	abi.long_bytes = data[0] & 2 ? 4 : 8;
	if (where_parse(text, &w) >= 0) {
		if (eventformat_parse(&a, bytes_init(format, sizeof(format) - 1, 0, "fuzz", false),
				      "fuzz", abi, &sc) >= 0) {
			describe_more(sc, data[0]);
			judge(&w, sc, abi.swap, data + len, (uint32_t)(size - len));
		}
		arena_done(&a);
	}
	where_done(&w);
	err_clear();
	free(text);
	return 0;
}
