/* SPDX-License-Identifier: MIT */
#include "flame_fill.h"

#include "say.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- frames ---------------------------------------------------------------------------------- */

/* "[JIT] tid 123" is perf's short name for the map of a JIT. */
static bool flame_fill_is_jit(const char *name)
{
	const size_t len = strlen(name);

	if (!strncmp(name, "[JIT] ", 6))
		return true;
	return !strncmp(name, "perf-", 5) && len > 9 && !strcmp(name + len - 4, ".map");
}

int flame_fill_frame(struct flame *f, const char *sym, const char *file, uint32_t unknown,
		     bool is_kernel, bool is_inlined, uint32_t *ret)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	enum flame_kind kind = FLAME_USER;
	char text[512];

	file = slash ? slash + 1 : file;
	if (!sym) { /* one frame for all unknown addresses of a file */
		snprintf(text, sizeof(text), "[%s: %s]", file ? file : "unknown",
			 sonde_unknown_text(unknown));
		return flame_frame(f, text, file, FLAME_UNKNOWN, ret);
	}
	if (is_inlined)
		kind = FLAME_INLINED;
	else if (is_kernel)
		kind = FLAME_KERNEL;
	else if (file && flame_fill_is_jit(file))
		kind = FLAME_JIT;
	return flame_frame(f, sym, file, kind, ret);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

int flames_find(struct flames *fs, const char *event, const char *unit, struct flame **ret)
{
	struct flame **more;

	for (size_t i = 0; i < fs->nr; i++) {
		*ret = fs->graphs[i];
		if (!strcmp((*ret)->event, event))
			return 0;
	}
	more = reallocarray(fs->graphs, fs->nr + 1, sizeof(struct flame *));
	if (!more)
		return -ENOMEM;
	fs->graphs = more;
	*ret = flame_new(event, unit);
	if (!*ret)
		return -ENOMEM;
	fs->graphs[fs->nr++] = *ret;
	return 0;
}

void flames_done(struct flames *fs)
{
	for (size_t i = 0; i < fs->nr; i++)
		flame_free(fs->graphs[i]);
	free(fs->graphs);
}

/* ---- a profile ------------------------------------------------------------------------------- */

/* The unit of an event's periods. */
static const char *flame_fill_unit(const struct sonde_profile_table *t)
{
	static const char *const clocks[] = { "cpu-clock", "task-clock" };

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		const size_t len = strlen(clocks[i]);

		if (!strncmp(t->name, clocks[i], len) && (!t->name[len] || t->name[len] == ':'))
			return "ns";
	}
	return t->flags & 1 ? "samples" : "events";
}

int flame_fill_place(struct flame_fill *fill, uint32_t place, uint32_t *ret)
{
	struct sonde_profile_place at = { .size = sizeof(at) };
	uint32_t *more;

	if (flame_fill_knows(fill, place)) {
		*ret = fill->frames[place] - 1;
		return 0;
	}
	sonde_profile_place(fill->p, place, &at);
	if (flame_fill_frame(fill->f, at.sym, at.dso, at.unknown,
			     at.level == 'k' || at.level == 'g', at.is_inlined, ret) < 0)
		return -ENOMEM;
	if (place >= fill->room) {
		const uint32_t room = place + place / 2 + 256;

		more = reallocarray(fill->frames, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + fill->room, 0, (room - fill->room) * sizeof(*more));
		fill->frames = more;
		fill->room = room;
	}
	fill->frames[place] = *ret + 1;
	return 0;
}

static int flame_fill_callee(struct flame_fill *fill, uint32_t place, uint32_t *node)
{
	uint32_t frame;

	if (flame_fill_place(fill, place, &frame) < 0)
		return -ENOMEM;
	return flame_callee(fill->f, *node, frame, node);
}

/*
 * Adds a call tree, given by its nodes in preorder, below a node. `sums` gets the sum of what was
 * added.
 */
static int flame_fill_tree(struct flame_fill *fill, uint32_t node, uint32_t top,
			   struct flame_sums *sums)
{
	struct sonde_profile_node n = { .size = sizeof(n) };

	for (; node; node = n.next) {
		uint32_t at = top;
		int r;

		r = sonde_profile_node(fill->p, node, &n);
		if (r <= 0)
			return r;
		for (uint32_t i = 0; i < n.nr_frames; i++) {
			if (flame_fill_callee(fill, n.frames[i], &at) < 0)
				return -ENOMEM;
		}
		if (n.hit_samples &&
		    flame_add(fill->f, at, fill->side, n.hit_period, n.hit_samples) < 0)
			return -ENOMEM;
		sums->weight += n.hit_period;
		sums->count += n.hit_samples;
		r = n.child ? flame_fill_tree(fill, n.child, at, sums) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

void flame_fill_done(struct flame_fill *fill)
{
	free(fill->frames);
	fill->frames = NULL;
	fill->room = 0;
	fill->has_last = false;
}

/* A group's name. "cpu 3" and "cpu unknown" for bare numbers, which perf pads. */
static const char *flame_fill_group(const char *key, const struct sonde_profile_value *v, char *buf,
				    size_t size)
{
	const char *text = v->text + strspn(v->text, " ");
	const char *digits = text + (*text == '-');

	if (v->kind != SONDE_VALUE_NUMBER || digits[strspn(digits, "0123456789")])
		return text;
	if (digits == text)
		snprintf(buf, size, "%s %" PRIu64, key, v->number);
	else
		snprintf(buf, size, "%s unknown", key);
	return buf;
}

/* Returns 1 and the frame of a value, 0 if the key is a field of another event. */
static int flame_fill_value(struct flame_fill *fill, uint32_t table, uint32_t key,
			    const struct sonde_profile_value *v, uint32_t *ret)
{
	uint32_t only = UINT32_MAX;
	const char *name = sonde_profile_column(fill->p, key, NULL, &only);
	char number[64];

	if (only != UINT32_MAX && only != table)
		return 0;
	return flame_frame(fill->f, flame_fill_group(name, v, number, sizeof(number)), NULL,
			   FLAME_GROUP, ret) < 0
		       ? -ENOMEM
		       : 1;
}

int flame_fill_group_of_path(struct flame_fill *fill, uint32_t table, uint64_t path, uint32_t key,
			     uint32_t *ret)
{
	struct sonde_profile_value v = { .size = sizeof(v) };

	if (sonde_profile_path_value(fill->p, table, path, key, &v) <= 0)
		return 0;
	if (!fill->has_last || fill->last_key != key || fill->last_id != v.id) {
		int r = flame_fill_value(fill, table, key, &v, &fill->last_frame);

		if (r <= 0)
			return r;
		fill->has_last = true;
		fill->last_key = key;
		fill->last_id = v.id;
	}
	*ret = fill->last_frame;
	return 1;
}

static int flame_fill_groups(struct flame_fill *fill, uint32_t table, uint64_t row, uint32_t *node)
{
	struct sonde_profile_value v = { .size = sizeof(v) };

	for (uint32_t key = 0; key < fill->nr_by; key++) {
		uint32_t frame;
		int r;

		if (sonde_profile_value(fill->p, table, row, key, &v) <= 0)
			continue;
		r = flame_fill_value(fill, table, key, &v, &frame);
		if (r > 0)
			r = flame_callee(fill->f, *node, frame, node);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Samples without a call path are only in their row. Their frame is the row's function. */
static int flame_fill_row(struct flame_fill *fill, uint32_t table, uint64_t row,
			  const struct sonde_profile_row *values)
{
	struct flame_sums sums = { 0 };
	uint32_t top = 0, root;
	int r = flame_fill_groups(fill, table, row, &top);

	if (r >= 0 && values->flags & SONDE_ROW_HAS_TREE) {
		r = sonde_profile_tree(fill->p, table, row, &root);
		if (r > 0)
			r = flame_fill_tree(fill, root, top, &sums);
	}
	if (r < 0 || values->samples <= sums.count)
		return r;
	r = values->place ? flame_fill_callee(fill, values->place, &top) : 0;
	if (r >= 0)
		r = flame_add(fill->f, top, fill->side,
			      values->period > sums.weight ? values->period - sums.weight : 0,
			      values->samples - sums.count);
	return r;
}

static int flame_fill_table(struct flames *fs, struct flame_fill *fill, uint32_t table,
			    const struct sonde_profile_table *t)
{
	struct sonde_profile_row row = { .size = sizeof(row) };
	int r = flames_find(fs, t->name, flame_fill_unit(t), &fill->f);

	for (uint64_t i = 0; r >= 0 && sonde_profile_row(fill->p, table, i, &row) > 0; i++) {
		if (!(row.flags & SONDE_ROW_FILTERED))
			r = flame_fill_row(fill, table, i, &row);
	}
	flame_fill_done(fill);
	return r;
}

static void flame_fill_say(const struct sonde_profile *p)
{
	struct sonde_profile_facts facts = { .size = sizeof(facts) };

	if (sonde_profile_facts(p, &facts) < 0)
		return;
	if (facts.dropped_samples)
		cli_say("%" PRIu64 " samples are missing: there are too many different call chains",
			facts.dropped_samples);
	if (facts.flags & SONDE_PROFILE_SATURATED)
		cli_say("a sum of periods is too large; it is shown as the largest number");
}

int flames_fill_profile(struct flames *fs, struct sonde_profile *p, enum flame_side side)
{
	struct sonde_profile_table t = { .size = sizeof(t) };
	struct sonde_profile_facts facts = { .size = sizeof(facts) };
	struct flame_fill fill = { .p = p, .side = side };
	int r = sonde_profile_facts(p, &facts);

	/* A word of --by may be several keys (EVENT.*); the last key is sym. */
	if (r >= 0 && facts.nr_keys)
		fill.nr_by = facts.nr_keys - 1;
	for (uint32_t i = 0; r >= 0 && sonde_profile_table(p, i, &t) > 0; i++) {
		if (t.nr_rows)
			r = flame_fill_table(fs, &fill, i, &t);
	}
	return r;
}

int flames_fill_samples(struct flames *fs, struct sonde_session *s, enum flame_side side)
{
	struct sonde_profile *p = NULL;
	char *text;
	int r;

	if (asprintf(&text, "keys=%s%ssym\ncallgraph=caller\ngroups=none\n", fs->by,
		     *fs->by ? "," : "") < 0)
		return -ENOMEM;
	r = sonde_profile_new(&p, text, "--by");
	free(text);
	if (r >= 0)
		r = sonde_profile_read(p, s);
	if (r >= 0)
		r = sonde_profile_finish(p);
	if (r >= 0)
		r = flames_fill_profile(fs, p, side);
	if (r >= 0)
		flame_fill_say(p);
	sonde_profile_free(p);
	return r;
}
