/* SPDX-License-Identifier: MIT */
#include "sinks/tracecmd/symbols.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int symbols_compare(const void *pa, const void *pb)
{
	const struct tracecmd_symbol *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (a->line < b->line) - (a->line > b->line);
}

/* "ADDRESS T NAME\t[MODULE]". False if it is none, or a symbol that is not taken. */
static bool symbols_parse(const char *line, const char *end, struct tracecmd_symbol *ret)
{
	const char *at = line;
	uint64_t addr = 0;
	char kind;

	for (; at < end && *at != ' '; at++) {
		const unsigned c = (unsigned char)*at, digit = c >= '0' && c <= '9' ? c - '0'
							       : (c | 32) >= 'a' && (c | 32) <= 'f'
								       ? (c | 32) - 'a' + 10
								       : 16;

		if (digit > 15)
			return false;
		addr = addr << 4 | digit;
	}
	if (at == line || end - at < 4 || at[2] != ' ')
		return false;
	kind = at[1];
	at += 3;
	/* Offsets of variables of cpus are absolute symbols; '$' begins marks of ARM's assembler.
	 */
	if (*at == '$' || kind == 'A' || kind == 'a')
		return false;
	*ret = (struct tracecmd_symbol){ .addr = addr, .name = at };
	while (at < end && *at != ' ' && *at != '\t' && *at)
		at++;
	ret->len = (uint32_t)(at - ret->name);
	return ret->len > 0;
}

int tracecmd_symbols_read(struct tracecmd_symbols *ret, const char *text, size_t len)
{
	const char *const end = text + len;
	uint32_t n = 0;

	for (const char *at = text; at < end; n++) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		struct tracecmd_symbol symbol;

		nl = nl ? nl : end;
		if (symbols_parse(at, nl, &symbol)) {
			symbol.line = n;
			TRY(vec_push(&ret->v, symbol));
		}
		at = nl + 1;
	}
	if (ret->v.n)
		qsort(ret->v.v, ret->v.n, sizeof(*ret->v.v), symbols_compare);
	return 0;
}

struct tracecmd_symbol *tracecmd_symbols_find(const struct tracecmd_symbols *s, uint64_t addr)
{
	size_t lo = 0, hi = s->v.n;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;
		struct tracecmd_symbol *at = &s->v.v[mid];
		const uint64_t next = mid + 1 < s->v.n ? at[1].addr : 0;

		if (addr == at->addr || (addr > at->addr && addr < next))
			return at;
		if (addr < at->addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

void tracecmd_symbols_done(struct tracecmd_symbols *s)
{
	vec_done(&s->v);
}
