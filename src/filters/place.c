/* SPDX-License-Identifier: MIT */
#include "filters/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* A hexadecimal number, with or without 0x. Blanks may surround it. */
static bool place_parse_address(const char *text, uint64_t *ret)
{
	const char *p = text + strspn(text, " \t");
	char *end;

	if (*p == '-' || *p == '+')
		return false;
	errno = 0;
	*ret = strtoull(p, &end, 16);
	return !errno && end != p && !end[strspn(end, " \t\r")];
}

int place_filter_dsos(struct place_filter *f, const char *text, const struct rules *rules)
{
	f->rules = rules;
	return name_list_parse(text, "dso", &f->dsos);
}

int place_filter_symbols(struct place_filter *f, const char *text, uint64_t range,
			 const struct rules *rules)
{
	size_t kept = 0;

	TRY(name_list_parse(text, "symbol", &f->symbols));
	f->range = range;
	f->rules = rules;
	f->addrs = malloc((f->symbols.nr + 1) * sizeof(*f->addrs));
	if (!f->addrs)
		return err_nomem();
	for (size_t i = 0; i < f->symbols.nr; i++) {
		char *name = f->symbols.names[i];
		bool is_address = place_parse_address(name, &f->addrs[f->nr_addrs]);

		f->nr_addrs += is_address;
		if (is_address &&
		    (rules->hex_names_are_addresses || strpbrk(name, "0123456789") == name))
			free(name); /* no function has this name */
		else
			f->symbols.names[kept++] = name;
	}
	f->symbols.nr = kept;
	return 0;
}

void place_filter_done(struct place_filter *f)
{
	name_list_done(&f->dsos);
	name_list_done(&f->symbols);
	free(f->addrs);
	*f = (struct place_filter){ 0 };
}

static bool place_has_dso(const struct place_filter *f, const char *dso)
{
	static const char jit_prefix[] = "/tmp/perf-";
	const char *last = strrchr(dso, '/');
	char jit[32];
	int pid;

	if (name_list_has(&f->dsos, dso))
		return true;
	/* perf's short name for a JIT's map */
	if (!strncmp(dso, jit_prefix, sizeof(jit_prefix) - 1) &&
	    sscanf(dso + sizeof(jit_prefix) - 1, "%d.map", &pid) == 1) {
		snprintf(jit, sizeof(jit), "[JIT] tid %d", pid);
		if (name_list_has(&f->dsos, jit))
			return true;
		if (f->rules->jit_by_tid_only)
			return false;
	}
	return last && name_list_has(&f->dsos, last + 1);
}

static bool place_has_address(const struct place_filter *f, const struct sonde_location *where)
{
	for (size_t i = 0; i < f->nr_addrs; i++) {
		uint64_t addr = f->addrs[i];

		if (where->addr == addr || (where->addr > addr && where->addr - addr < f->range))
			return true;
		if (!f->rules->address_is_no_function && where->sym &&
		    where->addr - where->sym_off == addr)
			return true;
	}
	return false;
}

bool place_filter_pass_dso(const struct place_filter *f, const struct sonde_location *where)
{
	return !f->dsos.names || (where->dso && place_has_dso(f, where->dso));
}

bool place_filter_pass_symbol(const struct place_filter *f, const struct sonde_location *where)
{
	if (!f->symbols.names || (where->sym && name_list_has(&f->symbols, where->sym)))
		return true;
	return where->dso && place_has_address(f, where);
}
