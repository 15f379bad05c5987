/* SPDX-License-Identifier: MIT */
/*
 * Folded text: each distinct path of frames once, in the order of a walk through the tree of calls
 * whose siblings are sorted by name. No tree is made: frames are numbered in the order of their
 * names, and paths are sorted as lists of numbers.
 */
#include "report_folded.h"

#include "flame_fill.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* FOLDED_FIELD: the first weight= of the profile. */
enum folded_weight { FOLDED_SAMPLES, FOLDED_PERIOD, FOLDED_FIELD };

/* ---- paths as lists of numbers --------------------------------------------------------------- */

/* A path: the number of its comm at depth 0, then its frames. */
struct folded_path {
	const uint32_t *frames; /* places, borrowed from the profile */
	uint32_t nr;            /* of frames and the comm */
	uint32_t place;         /* the only frame, if frames is NULL */
	uint32_t comm;          /* frame of f, later its rank */
	uint64_t value;
};

struct folded_name {
	char *text; /* owned; ends with a semicolon instead of NUL */
	size_t len; /* without it */
};

/* The paths of one table. */
struct folded {
	struct flame_fill *fill;   /* its graph owns the frames; its tree is empty */
	struct folded_path *paths; /* owned */
	struct folded_name *names; /* owned; by rank */
	uint32_t *ranks;           /* owned; by place; valid for the places of paths */
	size_t nr_paths, room_paths;
};

static int folded_reserve(void *array, size_t *room, size_t wanted, size_t size)
{
	void **at = array, *more;
	const size_t n = wanted + wanted / 2 + 64;

	if (wanted <= *room)
		return 0;
	more = reallocarray(*at, n, size);
	if (!more)
		return -ENOMEM;
	*at = more;
	*room = n;
	return 0;
}

/* The numbers of a path are ranks after folded_rank(). */
static uint32_t folded_number(const struct folded *fd, const struct folded_path *path,
			      uint32_t depth)
{
	if (!depth)
		return path->comm;
	return fd->ranks[path->frames ? path->frames[depth - 1] : path->place];
}

/* A path without frames has the sampled function as its only one. */
static int folded_add_path(struct folded *fd, uint32_t table, uint64_t i,
			   const struct sonde_profile_path *path, enum folded_weight by)
{
	struct folded_path *to;
	uint32_t frame;

	if (folded_reserve(&fd->paths, &fd->room_paths, fd->nr_paths + 1, sizeof(*fd->paths)) < 0)
		return -ENOMEM;
	to = &fd->paths[fd->nr_paths++];
	*to = (struct folded_path){
		.frames = path->nr_frames ? path->frames : NULL,
		.nr = 1 + (path->nr_frames ? path->nr_frames : path->place != 0),
		.place = path->place,
		.value = by == FOLDED_SAMPLES  ? path->samples
			 : by == FOLDED_PERIOD ? path->period
					       : path->weights[0],
	};
	if (flame_fill_group_of_path(fd->fill, table, i, 0, &to->comm) <= 0)
		return -ENOMEM;
	for (uint32_t k = 0; k < path->nr_frames; k++) {
		if (!flame_fill_knows(fd->fill, path->frames[k]) &&
		    flame_fill_place(fd->fill, path->frames[k], &frame) < 0)
			return -ENOMEM;
	}
	return to->frames || !path->place ? 0 : flame_fill_place(fd->fill, path->place, &frame);
}

static int folded_add_table(struct folded *fd, uint32_t table, enum folded_weight by)
{
	struct sonde_profile_path path = { .size = sizeof(path) };
	int r = 0;

	for (uint64_t i = 0; r >= 0; i++) {
		r = sonde_profile_path(fd->fill->p, table, i, &path);
		if (r <= 0)
			break;
		if (!(path.flags & SONDE_ROW_FILTERED))
			r = folded_add_path(fd, table, i, &path, by);
	}
	return r;
}

/* ---- frames in the order of their names ------------------------------------------------------ */

static int folded_compare(const void *a, const void *b, void *ctx)
{
	const struct flame *f = ctx;

	return flame_compare_frames(f, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* A semicolon separates names and a number ends a line, so neither may be part of a name. */
static int folded_make_name(const char *name, struct folded_name *ret)
{
	const size_t len = strlen(name);

	ret->text = malloc(len + 1);
	if (!ret->text)
		return -ENOMEM;
	for (size_t i = 0; i < len; i++)
		ret->text[i] = name[i] == ';' ? ':' : name[i] == '\n' ? ' ' : name[i];
	ret->text[len] = ';';
	ret->len = len;
	return 0;
}

/* The rank of each place, and of each comm. */
static int folded_rank_paths(struct folded *fd, const uint32_t *rank)
{
	const struct flame_fill *fill = fd->fill;

	fd->ranks = calloc(fill->room + 1ul, sizeof(*fd->ranks));
	if (!fd->ranks)
		return -ENOMEM;
	for (uint32_t i = 0; i < fill->room; i++)
		fd->ranks[i] = fill->frames[i] ? rank[fill->frames[i] - 1] : 0;
	for (size_t i = 0; i < fd->nr_paths; i++)
		fd->paths[i].comm = rank[fd->paths[i].comm];
	return 0;
}

/* Makes the names and the ranks. */
static int folded_rank(struct folded *fd)
{
	const struct flame *f = fd->fill->f;
	const uint32_t nr = f->nr_frames;
	uint32_t *sorted = calloc(nr, sizeof(*sorted)), *rank = calloc(nr, sizeof(*rank));
	int r = 0;

	fd->names = calloc(nr, sizeof(*fd->names));
	if (!sorted || !rank || !fd->names) {
		free(sorted);
		free(rank);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nr; i++)
		sorted[i] = i;
	qsort_r(sorted, nr, sizeof(*sorted), folded_compare, (void *)f);
	for (uint32_t i = 0; i < nr && r >= 0; i++) {
		rank[sorted[i]] = i;
		r = folded_make_name(f->names.text[f->frames[sorted[i]].name], &fd->names[i]);
	}
	if (r >= 0)
		r = folded_rank_paths(fd, rank);
	free(sorted);
	free(rank);
	return r;
}

/* ---- order of paths -------------------------------------------------------------------------- */

/*
 * Paths are sorted by keys of as many numbers as fit into 64 bits. The paths with equal keys are
 * then sorted by the next numbers. A path that ended has the smallest key.
 */
struct folded_item {
	uint64_t key;
	uint32_t path;
};

/* Paths in the order of their names are far apart in memory. */
static inline void folded_fetch_path(const struct folded *fd, const struct folded_item *items,
				     size_t i)
{
	__builtin_prefetch(i < fd->nr_paths ? &fd->paths[items[i].path] : NULL);
}

static inline void folded_fetch_frames(const struct folded *fd, const struct folded_item *items,
				       size_t i)
{
	__builtin_prefetch(i < fd->nr_paths ? fd->paths[items[i].path].frames : NULL);
}

struct folded_order {
	const struct folded *fd;
	struct folded_item *items, *room; /* owned; nr_paths each */
	unsigned bits;                    /* of a number + 1 */
};

static int folded_compare_keys(const void *a, const void *b)
{
	const struct folded_item *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* Sorts by bytes, the lowest first. Bytes that are equal in all keys cost nothing. */
static void folded_sort_keys(struct folded_order *o, size_t begin, size_t nr)
{
	struct folded_item *from = o->items + begin, *to = o->room + begin;

	if (nr < 256) {
		qsort(from, nr, sizeof(*from), folded_compare_keys);
		return;
	}
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t at[256] = { 0 }, sum = 0;
		struct folded_item *swap = from;

		for (size_t i = 0; i < nr; i++)
			at[from[i].key >> shift & 255]++;
		if (at[from[0].key >> shift & 255] == nr)
			continue;
		for (unsigned b = 0; b < 256; b++) {
			const size_t n = at[b];

			at[b] = sum;
			sum += n;
		}
		for (size_t i = 0; i < nr; i++)
			to[at[from[i].key >> shift & 255]++] = from[i];
		from = to;
		to = swap;
	}
	if (from != o->items + begin)
		memcpy(o->items + begin, from, nr * sizeof(*from));
}

static void folded_make_key(struct folded_order *o, struct folded_item *item, uint32_t depth)
{
	const struct folded_path *path = &o->fd->paths[item->path];

	item->key = 0;
	for (unsigned bits = o->bits; bits <= 64; bits += o->bits) {
		const uint64_t number =
			depth < path->nr ? folded_number(o->fd, path, depth) + 1ull : 0;

		item->key = item->key << o->bits | number;
		depth++;
	}
}

static void folded_sort(struct folded_order *o, size_t begin, size_t nr, uint32_t depth)
{
	const uint32_t next = depth + 64 / o->bits;
	size_t end;

	for (size_t i = begin; i < begin + nr; i++) {
		folded_fetch_frames(o->fd, o->items, i + 4);
		folded_make_key(o, &o->items[i], depth);
	}
	folded_sort_keys(o, begin, nr);
	for (size_t i = begin; i < begin + nr; i = end) {
		const uint64_t key = o->items[i].key;

		for (end = i + 1; end < begin + nr && o->items[end].key == key;)
			end++;
		/* The lowest number is 0 if the paths have ended. */
		if (end > i + 1 && key & (((uint64_t)1 << o->bits) - 1))
			folded_sort(o, i, end - i, next);
	}
}

static int folded_order(struct folded_order *o, const struct folded *fd)
{
	o->fd = fd;
	o->items = calloc(fd->nr_paths + 1, sizeof(*o->items));
	o->room = calloc(fd->nr_paths + 1, sizeof(*o->room));
	if (!o->items || !o->room)
		return -ENOMEM;
	for (o->bits = 1; fd->fill->f->nr_frames >> o->bits;)
		o->bits++;
	for (size_t i = 0; i < fd->nr_paths; i++)
		o->items[i].path = (uint32_t)i;
	folded_sort(o, 0, fd->nr_paths, 0);
	return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/*
 * A path as text, "main;leaf;", and the offsets of its names. The next path keeps the part that it
 * has in common.
 */
struct folded_line {
	char *text;     /* owned */
	size_t *begins; /* owned, by depth */
	size_t room, room_begins;
};

static uint32_t folded_common(const struct folded *fd, const struct folded_path *a,
			      const struct folded_path *b)
{
	uint32_t n = 0;

	while (n < a->nr && n < b->nr && folded_number(fd, a, n) == folded_number(fd, b, n))
		n++;
	return n;
}

/* Returns the length of the text, or -ENOMEM. */
static ssize_t folded_make_line(struct folded_line *line, const struct folded *fd,
				const struct folded_path *path, uint32_t depth)
{
	if (folded_reserve(&line->begins, &line->room_begins, path->nr + 1ul,
			   sizeof(*line->begins)) < 0)
		return -ENOMEM;
	line->begins[0] = 0;
	for (; depth < path->nr; depth++) {
		const struct folded_name *name = &fd->names[folded_number(fd, path, depth)];
		const size_t begin = line->begins[depth];

		if (folded_reserve(&line->text, &line->room, begin + name->len + 32, 1) < 0)
			return -ENOMEM;
		memcpy(line->text + begin, name->text, name->len + 1);
		line->begins[depth + 1] = begin + name->len + 1;
	}
	return (ssize_t)line->begins[path->nr];
}

static void folded_put_line(FILE *out, const char *text, size_t len, uint64_t value)
{
	char number[24], *at = number + sizeof(number);

	*--at = '\n';
	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	*--at = ' ';
	fwrite_unlocked(text, 1, len ? len - 1 : 0, out);
	fwrite_unlocked(at, 1, (size_t)(number + sizeof(number) - at), out);
}

enum { FOLDED_AHEAD = 8 }; /* paths to fetch before they are needed */

static int folded_put_paths(FILE *out, const struct folded *fd, const struct folded_item *items)
{
	struct folded_line line = { 0 };
	uint32_t common = 0;
	ssize_t len = 0;

	for (size_t i = 0; i < fd->nr_paths && len >= 0;) {
		const struct folded_path *path = &fd->paths[items[i].path];
		const uint32_t kept = common;
		uint64_t value = path->value;

		folded_fetch_path(fd, items, i + 2 * FOLDED_AHEAD);
		folded_fetch_frames(fd, items, i + FOLDED_AHEAD);
		while (++i < fd->nr_paths) {
			const struct folded_path *next = &fd->paths[items[i].path];

			common = folded_common(fd, path, next);
			if (next->nr != path->nr || common != path->nr)
				break;
			if (__builtin_add_overflow(value, next->value, &value))
				value = UINT64_MAX;
		}
		len = folded_make_line(&line, fd, path, kept);
		if (len > 0 && value)
			folded_put_line(out, line.text, (size_t)len, value);
	}
	free(line.text);
	free(line.begins);
	return len < 0 ? -ENOMEM : 0;
}

static int folded_put(FILE *out, struct folded *fd)
{
	struct folded_order o = { 0 };
	int r = folded_rank(fd);

	if (r >= 0)
		r = folded_order(&o, fd);
	free(o.room);
	if (r >= 0)
		r = folded_put_paths(out, fd, o.items);
	free(o.items);
	return r;
}

/* ---- a profile ------------------------------------------------------------------------------- */

static void folded_done(struct folded *fd)
{
	for (uint32_t i = 0; fd->names && i < fd->fill->f->nr_frames; i++)
		free(fd->names[i].text);
	free(fd->names);
	free(fd->ranks);
	free(fd->paths);
}

/* Puts the paths of all tables of events with this name, from table `first` on. */
static int folded_put_event(FILE *out, struct sonde_profile *p, uint32_t first, const char *name,
			    enum folded_weight by)
{
	struct sonde_profile_table t = { .size = sizeof(t) };
	struct flame_fill fill = { .p = p, .f = flame_new(name, "") };
	struct folded fd = { .fill = &fill };
	int r = fill.f ? 0 : -ENOMEM;

	for (uint32_t i = first; r >= 0 && sonde_profile_table(p, i, &t) > 0; i++) {
		if (t.nr_rows && !strcmp(t.name, name))
			r = folded_add_table(&fd, i, by);
	}
	if (r >= 0)
		r = folded_put(out, &fd);
	folded_done(&fd);
	flame_fill_done(&fill);
	flame_free(fill.f);
	return r;
}

/* True if an earlier table has the name, whose paths were put with that table's. */
static bool folded_is_put(struct sonde_profile *p, uint32_t table, const char *name)
{
	struct sonde_profile_table t = { .size = sizeof(t) };

	for (uint32_t i = 0; i < table && sonde_profile_table(p, i, &t) > 0; i++) {
		if (t.nr_rows && !strcmp(t.name, name))
			return true;
	}
	return false;
}

int report_folded(FILE *out, struct sonde_profile *p, const char *weight)
{
	const enum folded_weight by = !weight || !strcmp(weight, "samples") ? FOLDED_SAMPLES
				      : !strcmp(weight, "period")           ? FOLDED_PERIOD
									    : FOLDED_FIELD;
	struct sonde_profile_table t = { .size = sizeof(t) };
	int r = 0;

	for (uint32_t i = 0; r >= 0 && sonde_profile_table(p, i, &t) > 0; i++) {
		if (t.nr_rows && !folded_is_put(p, i, t.name))
			r = folded_put_event(out, p, i, t.name, by);
	}
	return r < 0 ? r : 0;
}
