/* SPDX-License-Identifier: MIT */
/* What was counted, as a recording describes it: events, cpus with their places, tasks. */

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/cpu_map.h"
#include "formats/perfdata/header.h"
#include "formats/perfdata/layout.h"
#include "stat/stat.h"

enum {
	CPUS_MAX = 1 << 16,
	/* A recording has 48 bytes for each cell, except for events that have no counter. */
	CELLS_OF_ANY_FILE = 1 << 16,
	CELLS_OF_STREAM = 1 << 20,
	CELLS_MAX = 1 << 24
};

/* ---- records before the first count ---------------------------------------------------------- */

struct from_set {
	struct sonde_stat *s;
	const struct bytes *b; /* for messages */
	VEC(int) cpus;
};

static int subject_add_task(void *ctx, int32_t tid, const uint8_t *comm)
{
	struct sonde_stat *s = ((struct from_set *)ctx)->s;
	struct stat_task t = { .pid = tid, .tid = tid };

	memcpy(t.comm, comm, PERFDATA_COMM_BYTES);
	return vec_push(&s->subject.tasks, t) < 0 ? err_nomem() : 0;
}
_Static_assert(sizeof(((struct stat_task *)0)->comm) > PERFDATA_COMM_BYTES, "names of tasks");

static int subject_add_cpu(void *ctx, int64_t cpu)
{
	struct from_set *set = ctx;

	if (cpu < -1 || cpu >= CPUS_MAX || set->cpus.n >= CPUS_MAX)
		return bytes_fail(set->b, -EBADMSG, "a set of more than %d cpus", CPUS_MAX);
	return vec_push(&set->cpus, (int)cpu) < 0 ? err_nomem() : 0;
}

/* A second set of cpus does not count. */
static int subject_take_cpus(struct sonde_stat *s, struct bytes *b)
{
	struct from_set set = { .s = s, .b = b };
	int r;

	if (s->subject.cpus.n)
		return 0;
	r = perfdata_cpus_read(b, subject_add_cpu, &set);
	for (size_t i = 0; i < set.cpus.n && r >= 0; i++) {
		r = hash64_put(&s->from.cpus_by_number, (uint32_t)set.cpus.v[i], i);
		if (r >= 0)
			r = vec_push(&s->subject.cpus, set.cpus.v[i]);
		if (r < 0)
			r = err_nomem();
	}
	vec_done(&set.cpus);
	return r;
}

static int subject_copy_cpus(struct sonde_stat *s, struct bytes *b, struct from_update *ret)
{
	struct from_set set = { .s = s, .b = b };
	int r = perfdata_cpus_read(b, subject_add_cpu, &set);

	if (r >= 0 && set.cpus.n) {
		ret->cpus = arena_array(&s->subject.arena, set.cpus.n, sizeof(*ret->cpus));
		r = ret->cpus ? 0 : err_nomem();
	}
	if (r >= 0 && set.cpus.n) {
		memcpy(ret->cpus, set.cpus.v, set.cpus.n * sizeof(*ret->cpus));
		ret->nr_cpus = set.cpus.n;
	}
	vec_done(&set.cpus);
	return r;
}

static int subject_take_update(struct sonde_stat *s, struct bytes *b)
{
	struct perfdata_update u = { 0 };
	struct from_update update = { 0 };

	TRY(perfdata_update_read(b, &u));
	update.id = u.id;
	if (u.kind == PERFDATA_UPDATE_UNIT) {
		update.unit = arena_strdup(&s->subject.arena, u.text);
		if (!update.unit)
			return err_nomem();
	} else if (u.kind == PERFDATA_UPDATE_SCALE) {
		update.scale = u.scale;
	} else if (u.kind == PERFDATA_UPDATE_CPUS) {
		TRY(subject_copy_cpus(s, &u.cpus, &update));
	} else {
		return 0; /* the source has taken a name */
	}
	return vec_push(&s->from.updates, update) < 0 ? err_nomem() : 0;
}

int stat_subject_take(struct sonde_stat *s, uint32_t type, struct bytes *b)
{
	struct from_set set = { .s = s, .b = b };

	switch (type) {
	case RECORD_THREAD_MAP:
		return perfdata_threads_read(b, subject_add_task, &set);
	case RECORD_CPU_MAP:
		return subject_take_cpus(s, b);
	case RECORD_STAT_CONFIG:
		return perfdata_stat_config_read(b, &s->from.config);
	case RECORD_EVENT_UPDATE:
		return subject_take_update(s, b);
	default:
		return 0;
	}
}

/* ---- lookups --------------------------------------------------------------------------------- */

size_t stat_from_file_event(const struct stat_from_file *f, uint64_t id)
{
	const uint64_t event = hash64_find(&f->events_by_id, id);

	return event == HASH64_EMPTY ? SIZE_MAX : event;
}

size_t stat_from_file_cpu(const struct sonde_stat *s, uint32_t number)
{
	const uint64_t at = hash64_find(&s->from.cpus_by_number, number);

	if (at != HASH64_EMPTY)
		return at;
	/* an old recorder wrote indexes */
	return number < s->subject.cpus.n ? number : SIZE_MAX;
}

/* ---- events ---------------------------------------------------------------------------------- */

static int subject_add_event(struct sonde_stat *s, const struct perfdata_view_event *e, bool swap)
{
	struct perf_event_attr a = { 0 };
	struct stat_event event = { 0 };
	uint32_t size;

	perfdata_attr_read(e->attr, e->attr_bytes, swap, &a, &size);
	event.name = arena_strdup(&s->subject.arena, e->name);
	event.type = a.type;
	event.config = a.config;
	event.levels = stat_levels(&a);
	if (!event.name)
		return err_nomem();
	return vec_push(&s->subject.events, event) < 0 ? err_nomem() : 0;
}

/* Ours: u32 nr, nr x text, "" if none */
static int subject_read_cgroups(struct sonde_stat *s)
{
	const char *text = NULL;
	struct bytes b;
	uint32_t nr = 0;
	size_t len = 0;
	int r = perfdata_view_section(s->from.view, PERFDATA_PRIVATE_CGROUPS, &b);

	if (r <= 0)
		return r;
	TRY(bytes_u32(&b, "number of control groups", &nr));
	for (uint32_t i = 0; i < nr && i < s->subject.events.n; i++) {
		TRY(perfdata_string_read(&b, "control group", &text, &len));
		if (!len)
			continue;
		s->subject.events.v[i].cgroup = arena_strndup(&s->subject.arena, text, len);
		if (!s->subject.events.v[i].cgroup)
			return err_nomem();
	}
	return 0;
}

static int subject_make_events(struct sonde_stat *s)
{
	struct stat_from_file *f = &s->from;
	struct perfdata_view_header head;
	struct perfdata_view_event e;
	uint64_t id;
	size_t event;

	perfdata_view_header(f->view, &head);
	for (size_t i = 0; perfdata_view_event_at(f->view, i, &e); i++)
		TRY(subject_add_event(s, &e, head.swap));
	for (size_t i = 0; perfdata_view_id_at(f->view, i, &id, &event); i++) {
		if (event >= s->subject.events.n)
			continue;
		s->subject.events.v[event].is_supported = true;
		if (hash64_put(&f->events_by_id, id, event) < 0)
			return err_nomem();
	}
	vec_foreach(u, &f->updates) {
		event = stat_from_file_event(f, u->id);
		if (event >= s->subject.events.n)
			continue;
		if (u->unit)
			s->subject.events.v[event].unit = u->unit;
		if (u->scale != 0)
			s->subject.events.v[event].scale = u->scale;
		if (u->cpus) {
			s->subject.events.v[event].cpus = u->cpus;
			s->subject.events.v[event].nr_cpus = u->nr_cpus;
		}
	}
	if (!f->is_as_perf)
		TRY(subject_read_cgroups(s));
	vec_foreach(done, &s->subject.events)
		stat_event_describe(done);
	return 0;
}

/* ---- places of cpus -------------------------------------------------------------------------- */

static int subject_skip_texts(struct bytes *b)
{
	uint32_t nr = 0, len = 0;

	TRY(bytes_u32(b, "number of texts", &nr));
	for (uint32_t i = 0; i < nr; i++) {
		TRY(bytes_u32(b, "length", &len));
		TRY(bytes_skip(b, "text", len));
	}
	return 0;
}

/* core lists | thread lists | nr x { u32 core, socket } | [die lists | nr x u32 die] */
static int subject_read_topology(struct sonde_stat *s, struct bytes *b)
{
	const char *available = recording_info(s->from.rec, "nrcpus-available");
	const uint64_t nr = available ? strtoul(available, NULL, 10) : 0;
	uint32_t core = 0, socket = 0, die = 0;

	TRY(subject_skip_texts(b));
	TRY(subject_skip_texts(b));
	for (uint64_t cpu = 0; cpu < nr; cpu++) {
		const size_t at = hash64_find(&s->from.cpus_by_number, cpu);

		TRY(bytes_u32(b, "core", &core));
		TRY(bytes_u32(b, "socket", &socket));
		if (at < s->subject.places.n) {
			s->subject.places.v[at].core = (int)core;
			s->subject.places.v[at].socket = (int)socket;
			s->subject.places.v[at].die = 0;
		}
	}
	if (!bytes_left(b))
		return 0; /* an old recorder: a socket is one die */
	TRY(subject_skip_texts(b));
	for (uint64_t cpu = 0; cpu < nr; cpu++) {
		const size_t at = hash64_find(&s->from.cpus_by_number, cpu);

		TRY(bytes_u32(b, "die", &die));
		if (at < s->subject.places.n)
			s->subject.places.v[at].die = (int)die;
	}
	return 0;
}

/* True if a list such as "0-3,8" has the cpu. len: of text, which may have no NUL. */
static bool subject_list_has(const char *text, size_t len, int cpu)
{
	long first = -1, number = -1;

	for (size_t i = 0; i <= len; i++) {
		const char c = i < len ? text[i] : '\0';

		if (c >= '0' && c <= '9' && number < CPUS_MAX) {
			number = (number < 0 ? 0 : number * 10) + (c - '0');
			continue;
		}
		if (c == '-') {
			first = number;
		} else {
			if (number >= 0 && cpu <= number && cpu >= (first < 0 ? number : first))
				return true;
			first = -1;
		}
		if (!c)
			return false;
		number = -1;
	}
	return false;
}

/* u32 nr, nr x { u32 node, u64 total, free, text cpus } */
static int subject_read_nodes(struct sonde_stat *s, struct bytes *b)
{
	uint32_t nr = 0, node = 0, len = 0;
	const uint8_t *text = NULL;

	TRY(bytes_u32(b, "number of nodes", &nr));
	for (uint32_t i = 0; i < nr; i++) {
		TRY(bytes_u32(b, "node", &node));
		TRY(bytes_skip(b, "memory", 16));
		TRY(bytes_u32(b, "length", &len));
		TRY(bytes_take(b, "cpus", len, &text));
		for (size_t at = 0; at < s->subject.cpus.n; at++)
			if (subject_list_has((const char *)text, len, s->subject.cpus.v[at]))
				s->subject.places.v[at].node = (int)node;
	}
	return 0;
}

int stat_subject_find_places(struct sonde_stat *s)
{
	const bool has_places =
		s->rows.by == SONDE_STAT_BY_CORE || s->rows.by == SONDE_STAT_BY_DIE ||
		s->rows.by == SONDE_STAT_BY_SOCKET || s->rows.by == SONDE_STAT_BY_NODE;

	const struct cpu_place nowhere = { -1, -1, -1, -1 };
	struct bytes b;
	int r;

	for (size_t i = 0; i < s->subject.cpus.n; i++)
		if (vec_push(&s->subject.places, nowhere) < 0)
			return err_nomem();
	if (!has_places)
		return 0;
	r = perfdata_view_section(s->from.view, FEAT_CPU_TOPOLOGY, &b);
	if (r > 0)
		r = subject_read_topology(s, &b);
	TRY(r);
	r = perfdata_view_section(s->from.view, FEAT_NUMA_TOPOLOGY, &b);
	return r > 0 ? subject_read_nodes(s, &b) : r;
}

/* ---- the tables ------------------------------------------------------------------------------ */

static uint64_t subject_cells_limit(const struct sonde_stat *s)
{
	struct source *source = s->from.rec->source;
	struct source_file file;
	uint64_t limit = CELLS_OF_ANY_FILE;

	if (s->from.rec->is_stream)
		return CELLS_OF_STREAM;
	for (unsigned i = 0; source->ops->file(source, i, &file); i++)
		limit += file.end - file.begin;
	return limit < CELLS_MAX ? limit : CELLS_MAX;
}

static int subject_check_size(const struct sonde_stat *s, const struct bytes *b)
{
	const struct stat_subject *t = &s->subject;
	const uint64_t limit = subject_cells_limit(s);

	if (!t->cpus.n || !t->tasks.n)
		return bytes_fail(b, -EBADMSG, "a count before the sets of cpus and tasks");
	if (t->events.n > limit || t->cpus.n > limit / (t->events.n + 1) ||
	    t->tasks.n > limit / (t->events.n + 1) / t->cpus.n)
		return bytes_fail(
			b, -EBADMSG,
			"counts of %zu events, %zu cpus and %zu tasks, which cannot be in "
			"this file",
			t->events.n, t->cpus.n, t->tasks.n);
	return 0;
}

int stat_subject_from_file(struct sonde_stat *s, const struct bytes *b)
{
	TRY(subject_make_events(s));
	TRY(subject_check_size(s, b));
	TRY(stat_show_events(s));
	return stat_make_readings(s);
}
