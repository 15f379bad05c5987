/* SPDX-License-Identifier: MIT */
#include "profile/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/callchain.h"
#include "profile/texts.h"

static int values_intern(struct profile *p, const char *text, const char **ret)
{
	*ret = texts_intern(p, text);
	return *ret ? 0 : -ENOMEM;
}

char value_level(uint32_t cpumode)
{
	static const char letters[] = { [CPUMODE_UNKNOWN] = 'H',      [CPUMODE_KERNEL] = 'k',
					[CPUMODE_USER] = '.',         [CPUMODE_HYPERVISOR] = 'H',
					[CPUMODE_GUEST_KERNEL] = 'g', [CPUMODE_GUEST_USER] = 'u' };

	return cpumode < sizeof(letters) ? letters[cpumode] : 'H';
}

/* ---- values ---------------------------------------------------------------------------------- */

int value_comm(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	(void)is_frame;
	ret->text = strpool_text(&p->strings, (uint32_t)raw);
	return 0;
}

int value_pid(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_task *t = &p->tasks.v[raw];
	char text[64];

	(void)is_frame;
	ret->kind = SONDE_VALUE_NUMBER;
	ret->number = (uint64_t)(int64_t)t->tid;
	ret->long_text = strpool_text(&p->strings, t->comm);
	snprintf(text, sizeof(text), "%7d:%s", t->tid, ret->long_text);
	return values_intern(p, text, &ret->text);
}

int value_dso(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);

	(void)is_frame;
	ret->place = (uint32_t)raw + 1;
	ret->text = "[unknown]";
	if (!place->dso) {
		ret->kind = SONDE_VALUE_NONE;
		ret->unknown = place->unknown;
		return 0;
	}
	ret->text = p->dsos.v[place->dso - 1].short_name;
	ret->long_text = p->dsos.v[place->dso - 1].long_name;
	return 0;
}

int value_sym(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);
	char text[32];

	ret->place = (uint32_t)raw + 1;
	if (place->sym) {
		ret->text = ret->long_text = place->sym;
		ret->number = place->sym_start;
		return 0;
	}
	ret->kind = SONDE_VALUE_ADDRESS;
	ret->unknown = place->unknown;
	ret->number = is_frame ? place->ip : place->dso_addr;
	if (ret->number)
		snprintf(text, sizeof(text), "0x%016" PRIx64, ret->number);
	else
		snprintf(text, sizeof(text), "%016d", 0);
	return values_intern(p, text, &ret->text);
}

int value_cpu(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	char text[24];

	(void)is_frame;
	ret->kind = SONDE_VALUE_NUMBER;
	ret->number = raw;
	snprintf(text, sizeof(text), "%.3d", (int)(int64_t)raw);
	return values_intern(p, text, &ret->text);
}

int value_time(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	char text[40];

	(void)is_frame;
	ret->kind = SONDE_VALUE_NUMBER;
	ret->number = raw;
	snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, raw / 1000000000,
		 raw % 1000000000 / 1000);
	return values_intern(p, text, &ret->text);
}

int value_addr(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);
	char text[32];

	(void)is_frame;
	ret->place = (uint32_t)raw + 1;
	ret->kind = SONDE_VALUE_ADDRESS;
	ret->number = place->ip;
	snprintf(text, sizeof(text), "0x%" PRIx64, place->ip);
	return values_intern(p, text, &ret->text);
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* perf subtracts numbers and looks at the sign. */
static int values_by_number(const struct profile *p, const struct profile_value *a,
			    const struct profile_value *b)
{
	const int64_t x = (int64_t)a->number, y = (int64_t)b->number;

	(void)p;
	return (x > y) - (x < y);
}

static int values_by_text(const struct profile *p, const struct profile_value *a,
			  const struct profile_value *b)
{
	(void)p;
	return strcmp(a->text, b->text);
}

/* perf puts what has no dso first, ... */
static int values_by_dso(const struct profile *p, const struct profile_value *a,
			 const struct profile_value *b)
{
	const bool x = place_at(p, a->place - 1)->dso, y = place_at(p, b->place - 1)->dso;

	if (!x || !y)
		return (int)x - (int)y;
	return strcmp(a->text, b->text);
}

/* ... and what has no symbol last. */
static int values_by_symbol_place(const struct profile *p, const struct profile_value *a,
				  const struct profile_value *b)
{
	const struct profile_place *x = place_at(p, a->place - 1), *y = place_at(p, b->place - 1);
	int r;

	if (!x->sym && !y->sym)
		return values_by_number(p, a, b);
	if (x->dso != y->dso) {
		if (!x->dso || !y->dso)
			return (x->dso != 0) - (y->dso != 0);
		r = strcmp(p->dsos.v[x->dso - 1].short_name, p->dsos.v[y->dso - 1].short_name);
		if (r)
			return r;
	}
	if (!x->sym || !y->sym)
		return (x->sym == NULL) - (y->sym == NULL);
	if (x->is_inlined || y->is_inlined) {
		r = strcmp(x->sym, y->sym);
		if (r)
			return r;
	}
	if (x->sym_start != y->sym_start)
		return (int64_t)x->sym_start < (int64_t)y->sym_start ? -1 : 1;
	return ((int64_t)x->sym_end > (int64_t)y->sym_end) -
	       ((int64_t)x->sym_end < (int64_t)y->sym_end);
}

static int values_by_symbol(const struct profile *p, const struct profile_value *a,
			    const struct profile_value *b)
{
	const char *x = place_at(p, a->place - 1)->sym, *y = place_at(p, b->place - 1)->sym;

	if (!x || !y)
		return (x == NULL) - (y == NULL);
	return strcmp(x, y);
}

const struct value_order order_text = { values_by_text, values_by_text };
const struct value_order order_number = { values_by_number, values_by_number };
const struct value_order order_dso = { values_by_dso, values_by_dso };
const struct value_order order_sym = { values_by_symbol_place, values_by_symbol };
