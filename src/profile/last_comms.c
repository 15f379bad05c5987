/* SPDX-License-Identifier: MIT */
#include "profile/last_comms.h"

#include <string.h>

#include "base/err.h"
#include "profile/types.h"
#include "recording/recording.h"

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
	return 0;
}

uint32_t last_comms_width(const struct profile *p, uint32_t row)
{
	const uint64_t width = hash64_find(&p->last_comm_widths, p->rows.v[row].all.task);

	return width == HASH64_EMPTY ? 0 : (uint32_t)width;
}
