/* SPDX-License-Identifier: MIT */
#include "profile/branch_types.h"

#include "sonde/sonde.h"

enum { TYPE_SHIFT = 20, NEW_TYPE_SHIFT = 26, TYPE_COND = 1, TYPE_EXTENDED = 15 };
enum { PAGE_4K_BITS = 12, PAGE_2M_BITS = 21 };

static void branch_types_raise(uint32_t *count, uint64_t n)
{
	*count = n < UINT32_MAX - *count ? *count + (uint32_t)n : UINT32_MAX;
}

void branch_types_count(struct branch_types *t, uint64_t from, uint64_t to, uint64_t flags,
			uint64_t n)
{
	const unsigned type = flags >> TYPE_SHIFT & 15;
	const unsigned more = BRANCH_NEW_TYPES + (flags >> NEW_TYPE_SHIFT & 15);

	if (!type || !from)
		return;
	if (type != TYPE_EXTENDED)
		branch_types_raise(&t->types[type], n);
	else if (more < BRANCH_TYPES)
		branch_types_raise(&t->types[more], n);
	if (type == TYPE_COND)
		branch_types_raise(to > from ? &t->forward : &t->backward, n);
	if ((from ^ to) >> PAGE_2M_BITS)
		branch_types_raise(&t->cross_2m, n);
	else if ((from ^ to) >> PAGE_4K_BITS)
		branch_types_raise(&t->cross_4k, n);
}

void branch_types_add(struct branch_types *t, const struct branch_types *more)
{
	branch_types_raise(&t->forward, more->forward);
	branch_types_raise(&t->backward, more->backward);
	branch_types_raise(&t->cross_4k, more->cross_4k);
	branch_types_raise(&t->cross_2m, more->cross_2m);
	for (int i = 0; i < BRANCH_TYPES; i++)
		branch_types_raise(&t->types[i], more->types[i]);
}

void branch_types_give(const struct branch_types *t, struct sonde_profile_branches *ret)
{
	ret->forward = t->forward;
	ret->backward = t->backward;
	ret->cross_4k = t->cross_4k;
	ret->cross_2m = t->cross_2m;
	for (int i = 0; i < BRANCH_TYPES; i++)
		ret->types[i] = t->types[i];
}
