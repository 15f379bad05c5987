/* SPDX-License-Identifier: MIT */
/*
 * printfmt-text < CASES > TEXTS: formats and payloads in, their texts out; the comparing is done by
 * tests/gen/formats. All numbers are u32 in host order. A case is
 *
 *	dialect, big endian (0 1), bytes of a long, length of the format's text, text, samples, {
 *length, payload }...
 *
 * and its answer: length of the reason of a refusal (0 none), reason, { length, text }... for each
 * sample.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/err.h"
#include "formats/tracefs/eventformat.h"
#include "model/printfmt/printfmt.h"

static int read_u32(uint32_t *ret)
{
	return fread(ret, sizeof(*ret), 1, stdin) == 1;
}

static void write_text(const char *s, size_t len)
{
	uint32_t n = (uint32_t)len;

	fwrite(&n, sizeof(n), 1, stdout);
	fwrite(s, 1, len, stdout);
}

static uint8_t *read_bytes(uint32_t *ret_len)
{
	uint8_t *p;

	if (!read_u32(ret_len) || *ret_len > 1u << 24)
		return NULL;
	p = malloc(*ret_len + 1);
	if (p && fread(p, 1, *ret_len, stdin) != *ret_len) {
		free(p);
		return NULL;
	}
	return p;
}

static int run_case(uint32_t dialect)
{
	const uint16_t probe = 1;
	bool host_big = !*(const uint8_t *)&probe;
	uint32_t big, long_bytes, len, samples;
	struct arena a = { 0 };
	struct outbuf out = { 0 };
	struct sonde_schema *sc = NULL;
	struct printfmt *pf = NULL;
	uint8_t *text;
	struct abi abi;
	int err;

	if (!read_u32(&big) || !read_u32(&long_bytes))
		return 0;
	text = read_bytes(&len);
	if (!text || !read_u32(&samples))
		return 0;
	abi = (struct abi){
		.swap = host_big != (big != 0),
		.big_endian = big != 0,
		.long_bytes = (uint8_t)long_bytes,
	};
	err = eventformat_parse(&a, bytes_init(text, len, 0, "format", false), "sys", abi, &sc);
	if (err >= 0)
		err = printfmt_compile(&pf, sc, (enum printfmt_dialect)dialect);
	if (err < 0)
		write_text(err_text(), strlen(err_text()));
	else if (printfmt_refused(pf))
		write_text(printfmt_refused(pf), strlen(printfmt_refused(pf)));
	else
		write_text("", 0);
	while (samples--) {
		uint8_t *payload = read_bytes(&len);

		if (!payload)
			return 0;
		out.len = 0;
		if (pf)
			printfmt_run(pf, NULL, payload, len, &out);
		write_text(out.data ? out.data : "", out.len);
		free(payload);
	}
	printfmt_free(pf);
	outbuf_done(&out);
	arena_done(&a);
	free(text);
	return 1;
}

int main(void)
{
	uint32_t dialect;

	while (read_u32(&dialect))
		if (!run_case(dialect))
			return 1;
	return 0;
}
