/* SPDX-License-Identifier: MIT */
#include "sinks/perf/inodes.h"

#include <stdbool.h>

#include "base/err.h"

static bool inodes_is_empty(const struct perf_file_id *id)
{
	return !id->major && !id->minor && !id->inode && !id->generation;
}

/* Generations that are not recorded are equal to all. */
static bool inodes_are_equal(const struct perf_file_id *a, const struct perf_file_id *b)
{
	return a->major == b->major && a->minor == b->minor && a->inode == b->inode &&
	       (a->generation == b->generation || !a->generation || !b->generation);
}

int perf_inodes_find_or_add(struct perf_inodes *p, uint32_t name, const struct perf_file_id *id,
			    uint64_t *ret_file)
{
	const uint64_t first = hash64_find(&p->by_name, name);
	size_t last = 0;

	for (size_t i = first == HASH64_EMPTY ? 0 : first + 1; i; i = p->files.v[i - 1].next) {
		struct perf_inode_file *file = &p->files.v[i - 1];

		last = *ret_file = i;
		if (inodes_is_empty(id) || inodes_are_equal(id, &file->id))
			return 0;
		if (inodes_is_empty(&file->id)) {
			file->id = *id;
			return 0;
		}
	}
	TRY(vec_push(&p->files, (struct perf_inode_file){ .id = *id }));
	*ret_file = p->files.n;
	if (!last)
		return hash64_put(&p->by_name, name, p->files.n - 1);
	p->files.v[last - 1].next = p->files.n;
	return 0;
}

uint64_t perf_inodes_get(const struct perf_inodes *p, uint64_t file)
{
	return file && file <= p->files.n ? p->files.v[file - 1].id.inode : 0;
}

void perf_inodes_done(struct perf_inodes *p)
{
	hash64_done(&p->by_name);
	vec_done(&p->files);
}
