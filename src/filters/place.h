/* SPDX-License-Identifier: MIT */
/*
 * Filters samples by the place of their code: functions, addresses and files (-S, --addr-range,
 * --dsos).
 *
 *	struct place_filter f = { 0 };
 *	TRY(place_filter_dsos(&f, "w,libc.so.6", rules));
 *	TRY(place_filter_symbols(&f, "leaf,0x1169", addr_range, rules));
 *	if (!place_filter_pass(&f, &location)) ...
 *	place_filter_done(&f);
 */
#ifndef SONDE_FILTERS_PLACE_H
#define SONDE_FILTERS_PLACE_H

#include "compat/rules.h"
#include "filters/name_list.h"
#include "sonde/sonde.h"

struct place_filter {
	struct name_list dsos; /* by path, or by the last component of the path */
	struct name_list symbols;
	uint64_t *addrs; /* owned */
	size_t nr_addrs;
	uint64_t range; /* bytes after each address; 0 means only the address */
	const struct rules *rules;
};

int place_filter_dsos(struct place_filter *f, const char *text, const struct rules *rules);
/*
 * Members that are hexadecimal numbers are addresses of code or of the start of a function. In perf
 * a name like "face" is only an address, and starts of functions do not match.
 */
int place_filter_symbols(struct place_filter *f, const char *text, uint64_t range,
			 const struct rules *rules);
bool place_filter_pass_dso(const struct place_filter *f, const struct sonde_location *where);
bool place_filter_pass_symbol(const struct place_filter *f, const struct sonde_location *where);
void place_filter_done(struct place_filter *f);

static inline bool place_filter_pass(const struct place_filter *f,
				     const struct sonde_location *where)
{
	return place_filter_pass_dso(f, where) && place_filter_pass_symbol(f, where);
}

static inline bool place_filter_is_set(const struct place_filter *f)
{
	return f->dsos.names || f->symbols.names;
}

#endif
