/* SPDX-License-Identifier: MIT */
#include "state/address_space.h"

#include <stdlib.h>
#include <string.h>

int address_space_new(struct address_space **ret)
{
	struct address_space *a = calloc(1, sizeof(*a));

	if (!a)
		return err_nomem();
	a->refs = 1;
	*ret = a;
	return 0;
}

struct address_space *address_space_ref(struct address_space *a)
{
	a->refs++;
	return a;
}

void address_space_unref(struct address_space *a)
{
	if (!a || --a->refs)
		return;
	vec_done(&a->maps);
	free(a);
}

/* Index of the first mapping that ends behind addr. */
static size_t first_behind(const struct address_space *a, uint64_t addr)
{
	size_t lo = 0, hi = a->maps.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (a->maps.v[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

const struct mapping *address_space_find(const struct address_space *a, uint64_t addr)
{
	size_t i = first_behind(a, addr);

	return i < a->maps.n && a->maps.v[i].start <= addr ? &a->maps.v[i] : NULL;
}

static int make_own(struct address_space **a)
{
	struct address_space *copy;
	int r;

	if ((*a)->refs == 1)
		return 0;
	TRY(address_space_new(&copy));
	r = vec_reserve(&copy->maps, (*a)->maps.n + 1);
	if (r < 0) {
		address_space_unref(copy);
		return r;
	}
	if ((*a)->maps.n)
		memcpy(copy->maps.v, (*a)->maps.v, (*a)->maps.n * sizeof(*copy->maps.v));
	copy->maps.n = (*a)->maps.n;
	address_space_unref(*a);
	*a = copy;
	return 0;
}

/*
 *	before   |---a---|  |--b--|   |---c---|
 *	new            |==============|
 *	after    |--a-||==============||--c---|      a is cut at its end, b goes, c is cut at its start
 */
int address_space_add(struct address_space **ret, const struct mapping *m)
{
	struct mapping pieces[3];
	size_t first, last, n = 0;
	struct address_space *a;

	TRY(make_own(ret));
	a = *ret;
	TRY(vec_reserve(&a->maps, 2));
	first = last = first_behind(a, m->start);
	while (last < a->maps.n && a->maps.v[last].start < m->end)
		last++;
	if (first < last && a->maps.v[first].start < m->start) {
		pieces[n] = a->maps.v[first];
		pieces[n++].end = m->start;
	}
	pieces[n++] = *m;
	if (first < last && a->maps.v[last - 1].end > m->end) {
		struct mapping rest = a->maps.v[last - 1];

		rest.pgoff += m->end - rest.start;
		rest.start = m->end;
		pieces[n++] = rest;
	}
	memmove(a->maps.v + first + n, a->maps.v + last, (a->maps.n - last) * sizeof(*m));
	memcpy(a->maps.v + first, pieces, n * sizeof(*m));
	a->maps.n += n - (last - first);
	return 0;
}
