/* SPDX-License-Identifier: MIT */
#include "profile/last_comms.h"

#include <string.h>

#include "base/err.h"
#include "profile/types.h"
#include "recording/recording.h"

/* Finds the first names of tasks for texts ":TID". Names are by task, like last_comm_widths. */
static int last_comms_name_cells(struct profile *p, const struct profile_column *c,
				 const struct hash64 *names)
{
	for (uint32_t i = 0; i < p->cells.n; i++) {
		const uint64_t raw =
			wordset_key(&p->combinations, cell_combination(p, i))[1 + c->raw_at];
		const uint64_t name = hash64_find(names, p->counts.v[i].task);

		if (*strpool_text(&p->strings, (uint32_t)raw) == ':' && name != HASH64_EMPTY)
			TRY(hash64_put(&p->first_names, raw, name));
	}
	return 0;
}

static int last_comms_put_first(struct profile *p, const struct recordings *all,
				const struct task *t, struct hash64 *names)
{
	const char *comm = strpool_text(&all->strings, t->first.comm);
	uint32_t id;

	TRY(strpool_intern(&p->strings, comm, strlen(comm), &id));
	return hash64_put(names, t->id ^ p->session_nr << 48, id);
}

/* perf changes the name ":TID" that it made up for a task in samples that have it already. */
static int last_comms_name_tasks(struct profile *p, const struct recordings *all)
{
	struct hash64 names = { 0 };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < all->nr; i++)
		for (size_t k = 0; r >= 0 && k < all->v[i].state.tasks.n; k++)
			r = last_comms_put_first(p, all, &all->v[i].state.tasks.v[k], &names);
	vec_foreach(c, &p->columns) {
		if (r >= 0 && c->def->raw == RAW_COMM)
			r = last_comms_name_cells(p, c, &names);
	}
	hash64_done(&names);
	return r;
}

static int last_comms_note_task(struct profile *p, const struct recordings *all,
				const struct task *t)
{
	const uint64_t key = t->id ^ p->session_nr << 48;
	const uint64_t at = hash64_find(&p->tasks_by_id, key);
	const char *comm = strpool_text(&all->strings, t->comm);

	if (at != HASH64_EMPTY)
		TRY(strpool_intern(&p->strings, comm, strlen(comm), &p->tasks.v[at].comm));
	return all->opts.rules->comm_as_wide_as_last
		       ? hash64_put(&p->last_comm_widths, key, strlen(comm))
		       : 0;
}

int last_comms_note(struct profile *p, const struct recordings *all)
{
	for (size_t i = 0; i < all->nr; i++)
		vec_foreach(t, &all->v[i].state.tasks)
			TRY(last_comms_note_task(p, all, t));
	return all->opts.rules->names_tasks_at_once ? last_comms_name_tasks(p, all) : 0;
}

uint32_t last_comms_width(const struct profile *p, uint32_t row)
{
	const uint64_t width = hash64_find(&p->last_comm_widths, p->rows.v[row].all.task);

	return width == HASH64_EMPTY ? 0 : (uint32_t)width;
}
