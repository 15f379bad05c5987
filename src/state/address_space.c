/* SPDX-License-Identifier: MIT */
#include "state/address_space.h"

#include <stdlib.h>
#include <string.h>

int address_space_new(struct address_space **ret, uint64_t stamp)
{
	struct address_space *a = calloc(1, sizeof(*a));

	if (!a)
		return err_nomem();
	a->refs = 1;
	a->stamp = stamp;
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
	free(a->room);
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

/* Copies the mappings of `from` into room for more at both ends; `to` may be `from`. */
static int copy_with_room(struct address_space *to, const struct address_space *from)
{
	size_t n = from->maps.n, capacity = 2 * n + 8;
	struct mapping *room = reallocarray(NULL, capacity, sizeof(*room));

	if (!room)
		return err_nomem();
	if (n)
		memcpy(room + (capacity - n) / 2, from->maps.v, n * sizeof(*room));
	free(to->room);
	to->room = room;
	to->capacity = capacity;
	to->maps.v = room + (capacity - n) / 2;
	to->maps.n = n;
	return 0;
}

static int make_own(struct address_space **a)
{
	struct address_space *copy = NULL;
	int r;

	if ((*a)->refs == 1)
		return 0;
	r = address_space_new(&copy, (*a)->stamp);
	if (r < 0)
		return r;
	r = copy_with_room(copy, *a);
	if (r < 0) {
		address_space_unref(copy);
		return r;
	}
	address_space_unref(*a);
	*a = copy;
	return 0;
}

enum { MOST_PIECES = 3 }; /* that one mapping is replaced by */

static int make_room(struct address_space *a)
{
	size_t before = (size_t)(a->maps.v - a->room), behind = a->capacity - before - a->maps.n;

	return a->room && before >= MOST_PIECES && behind >= MOST_PIECES ? 0 : copy_with_room(a, a);
}

/* Puts n pieces in the place of maps [first, last), moving the side that is shorter. */
static void replace(struct address_space *a, size_t first, size_t last,
		    const struct mapping *pieces, size_t n)
{
	ptrdiff_t grown = (ptrdiff_t)n - (ptrdiff_t)(last - first);
	size_t behind = a->maps.n - last;

	if (first < behind) {
		memmove(a->maps.v - grown, a->maps.v, first * sizeof(*pieces));
		a->maps.v -= grown;
	} else {
		memmove(a->maps.v + first + n, a->maps.v + last, behind * sizeof(*pieces));
	}
	memcpy(a->maps.v + first, pieces, n * sizeof(*pieces));
	a->maps.n += (size_t)grown;
}

/*
 *	before   |---a---|  |--b--|   |---c---|
 *	new            |==============|
 *	after    |--a-||==============||--c---|      a is cut at its end, b goes, c is cut at its start
 */
int address_space_add(struct address_space **ret, const struct mapping *m, uint64_t stamp)
{
	struct mapping pieces[MOST_PIECES];
	size_t first, last, n = 0;
	struct address_space *a;

	TRY(make_own(ret));
	a = *ret;
	TRY(make_room(a));
	a->stamp = stamp;
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
	replace(a, first, last, pieces, n);
	return 0;
}
