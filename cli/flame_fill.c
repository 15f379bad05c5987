/* SPDX-License-Identifier: MIT */
#include "flame_fill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What periods of an event count. */
static const char *flame_fill_unit(const struct sonde_schema *sc)
{
	static const char *const clocks[] = { "cpu-clock", "task-clock" };
	const char *name = sonde_schema_name(sc);

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		const size_t len = strlen(clocks[i]);

		if (!strncmp(name, clocks[i], len) && (!name[len] || name[len] == ':'))
			return "ns";
	}
	return sonde_schema_kind(sc) == SONDE_TRACEPOINT ? "samples" : "events";
}

/* The graph of an event type; event types of one name share it. */
static int flame_fill_graph(struct flames *fs, const struct sonde_schema *sc, size_t *ret)
{
	const char *name = sonde_schema_name(sc);
	struct flame **more;

	for (*ret = 0; *ret < fs->nr; ++*ret) {
		if (!strcmp(fs->graphs[*ret]->event, name))
			return 0;
	}
	more = reallocarray(fs->graphs, fs->nr + 1, sizeof(struct flame *));
	if (!more)
		return -ENOMEM;
	fs->graphs = more;
	fs->graphs[fs->nr] = flame_new(name, flame_fill_unit(sc));
	return fs->graphs[fs->nr++] ? 0 : -ENOMEM;
}

struct flame_fill {
	struct flames *fs;
	enum flame_side side;
	struct flame_path *paths; /* by schema id */
	uint32_t nr_paths;
};

static int flame_fill_path(struct flame_fill *fill, const struct sonde_event *ev,
			   struct flame_path **ret)
{
	struct flames *fs = fill->fs;
	const struct sonde_schema *sc = sonde_event_schema(sonde_event_session(ev), ev);
	size_t graph;

	if (ev->schema >= fill->nr_paths) {
		const uint32_t nr = ev->schema + 16;
		struct flame_path *more = reallocarray(fill->paths, nr, sizeof(*more));

		if (!more)
			return -ENOMEM;
		memset(more + fill->nr_paths, 0, (nr - fill->nr_paths) * sizeof(*more));
		fill->paths = more;
		fill->nr_paths = nr;
	}
	*ret = &fill->paths[ev->schema];
	if ((*ret)->f)
		return 0;
	if (flame_fill_graph(fs, sc, &graph) < 0)
		return -ENOMEM;
	(*ret)->f = fs->graphs[graph];
	(*ret)->nr_by = fs->nr_by;
	memcpy((*ret)->by, fs->by, sizeof(fs->by));
	return 0;
}

static int flame_fill_event(struct flame_fill *fill, const struct sonde_event *ev)
{
	struct sonde_sample sample = { .size = sizeof(sample) };
	struct flame_path *path;
	uint32_t node = 0;

	if (sonde_event_sample(ev, &sample) < 0)
		return 0;
	if (flame_fill_path(fill, ev, &path) < 0 || flame_path_groups(path, ev, &node) < 0 ||
	    flame_path_calls(path, ev, &node) < 0)
		return -ENOMEM;
	flame_add(path->f, node, fill->side, sample.period ? sample.period : 1, 1);
	return 0;
}

int flames_fill_samples(struct flames *fs, struct sonde_session *s, enum flame_side side)
{
	struct flame_fill fill = { .fs = fs, .side = side };
	const struct sonde_event *ev;
	int r;

	while ((r = sonde_session_next(s, &ev)) > 0) {
		r = flame_fill_event(&fill, ev);
		if (r < 0)
			break;
	}
	for (uint32_t i = 0; i < fill.nr_paths; i++)
		flame_path_done(&fill.paths[i]);
	free(fill.paths);
	return r;
}

void flames_done(struct flames *fs)
{
	for (size_t i = 0; i < fs->nr; i++)
		flame_free(fs->graphs[i]);
	free(fs->graphs);
}
