/* SPDX-License-Identifier: MIT */
#include "sinks/recorded_dsos.h"

#include <string.h>

#include "recording/locate.h"
#include "model/callchain.h"

#define KERNEL \
	"[kernel.kallsyms]" /* a mapping's name has its reference symbol (like _text) after it */

/* A search key: a name, and the members of a new entry. */
struct wanted {
	uint32_t name; /* id in the string pool */
	struct recorded_dso dso;
};

static int dsos_intern(struct recorded_dsos *d, const char *text, uint32_t *ret_id)
{
	return strpool_intern(d->rec->strings, text, strlen(text), ret_id);
}

/* The file of this name and inode. HASH64_EMPTY if there is none; *ret_key is then free for it. */
static uint64_t dsos_find_inode(const struct recorded_dsos *d, const struct wanted *w,
				uint64_t *ret_key)
{
	uint64_t i;

	*ret_key = hash_u64(w->dso.inode) + w->name;
	while ((i = hash64_find(&d->by_inode, *ret_key)) != HASH64_EMPTY &&
	       (d->list.v[i].inode != w->dso.inode || d->list.v[i].known_as != w->name))
		++*ret_key;
	return i;
}

/*
 * Finds or adds a file. The first file of a name may have no known inode; it gets the first one
 * recorded.
 */
static int dsos_find_or_add(struct recorded_dsos *d, const struct wanted *w, uint32_t *ret)
{
	uint64_t i = hash64_find(&d->by_name, w->name), key = 0;
	struct recorded_dso *dso = i == HASH64_EMPTY ? NULL : &d->list.v[i];

	if (dso && dso->inode && w->dso.inode && dso->inode != w->dso.inode)
		i = dsos_find_inode(d, w, &key);
	if (i == HASH64_EMPTY) {
		i = d->list.n;
		TRY(vec_push(&d->list, w->dso));
		d->list.v[i].known_as = w->name;
		TRY(dso ? hash64_put(&d->by_inode, key, i) : hash64_put(&d->by_name, w->name, i));
	}
	dso = &d->list.v[i];
	if (!dso->inode)
		dso->inode = w->dso.inode;
	if (build_id_is_known(&w->dso.build_id))
		dso->build_id = w->dso.build_id;
	*ret = (uint32_t)i;
	return 0;
}

static struct wanted dsos_wanted_of(const char *name, const struct build_id *build_id)
{
	return (struct wanted){ .dso = { .name = name, .build_id = *build_id } };
}

/* The kernel may be named by its file; modules are identified by their names in brackets. */
static int dsos_find_kernel_part(struct recorded_dsos *d, struct wanted *w, uint32_t *ret)
{
	char module[256];

	w->dso.is_kernel = true;
	if (strncmp(w->dso.name, KERNEL, strlen(KERNEL)) != 0 &&
	    recording_module_name(w->dso.name, module, sizeof(module))) {
		TRY(dsos_intern(d, module, &w->name));
		return dsos_find_or_add(d, w, ret);
	}
	if (d->kernel == UINT32_MAX) {
		if (!strncmp(w->dso.name, KERNEL, strlen(KERNEL)))
			w->dso.name = KERNEL;
		TRY(dsos_intern(d, w->dso.name, &w->name));
		TRY(dsos_find_or_add(d, w, &d->kernel));
	}
	*ret = d->kernel;
	if (build_id_is_known(&w->dso.build_id) && !build_id_is_known(&d->list.v[*ret].build_id))
		d->list.v[*ret].build_id = w->dso.build_id;
	return 0;
}

int recorded_dsos_update(struct recorded_dsos *d)
{
	struct source_build_id id;
	uint32_t index;

	while (source_build_id_at(d->rec->source, d->nr_build_ids, &id)) {
		struct wanted w = dsos_wanted_of(id.path, &id.id);

		d->nr_build_ids++;
		if (id.is_kernel) {
			TRY(dsos_find_kernel_part(d, &w, &index));
			continue;
		}
		w.dso.is_memory = *id.path == '[';
		TRY(dsos_intern(d, id.path, &w.name));
		TRY(dsos_find_or_add(d, &w, &index));
	}
	return 0;
}

int recorded_dsos_init(struct recorded_dsos *ret, struct recording *rec)
{
	*ret = (struct recorded_dsos){ .rec = rec, .kernel = UINT32_MAX };
	return recorded_dsos_update(ret);
}

static int dsos_find_mapped(struct recorded_dsos *d, const struct mapping *m, bool is_kernel,
			    uint32_t *ret)
{
	struct strpool *strings = d->rec->strings;
	char room[RECORDING_MAP_NAME_BYTES];
	const char *name;
	struct wanted w;

	name = recording_map_name(m, strpool_text(strings, m->name), room);
	w = dsos_wanted_of(name, &m->build_id);
	if (is_kernel)
		return dsos_find_kernel_part(d, &w, ret);
	TRY(dsos_intern(d, name, &w.name));
	w.dso.name = strpool_text(strings, w.name);
	w.dso.inode = build_id_is_known(&m->build_id) ? 0 : m->inode;
	w.dso.is_memory = *w.dso.name != '/' || w.dso.name[1] == '/' || name == room;
	return dsos_find_or_add(d, &w, ret);
}

static int dsos_take_map(struct recorded_dsos *d, const struct change *c)
{
	struct mapping m;
	uint32_t index;

	TRY(state_mapping(d->rec->strings, c, &m));
	return dsos_find_mapped(d, &m, c->kernel, &index);
}

static int recorded_dsos_take_hit(struct recorded_dsos *d, const struct event *ev)
{
	uint32_t cpumode = ev->pub.cpumode;
	const struct address_space *space;
	struct sonde_sample sample;
	const struct mapping *m;

	if (cpumode != CPUMODE_KERNEL && cpumode != CPUMODE_USER)
		return 0;
	space = recording_space(ev, cpumode);
	if (!space || source_sample(ev->source, ev, &sample) < 0)
		return 0;
	if (space->stamp == d->last_stamp &&
	    sample.ip - d->last_start < d->last_end - d->last_start)
		return 0;
	m = address_space_find(space, sample.ip);
	d->unmapped += !m && !address_space_symbol(space, sample.ip);
	if (!m)
		return 0;
	TRY(dsos_find_mapped(d, m, cpumode == CPUMODE_KERNEL, &d->last));
	if (d->asks_why && !d->list.v[d->last].is_hit)
		d->list.v[d->last].unknown =
			(uint8_t)(cpumode == CPUMODE_KERNEL ? locate_unknown_kernel(d->rec)
							    : locate_unknown_file(d->rec, m));
	d->list.v[d->last].is_hit = true;
	d->last_stamp = space->stamp;
	d->last_start = m->start;
	d->last_end = m->end;
	return 0;
}

int recorded_dsos_event(struct recorded_dsos *d, const struct event *ev)
{
	TRY(recorded_dsos_update(d));
	if (ev->schema->kind <= SONDE_SAMPLE)
		return recorded_dsos_take_hit(d, ev);
	return ev->change && ev->change->kind == CHANGE_MMAP ? dsos_take_map(d, ev->change) : 0;
}

void recorded_dsos_done(struct recorded_dsos *d)
{
	hash64_done(&d->by_name);
	hash64_done(&d->by_inode);
	vec_done(&d->list);
}
