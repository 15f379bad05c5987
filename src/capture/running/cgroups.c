/* SPDX-License-Identifier: MIT */
#include "capture/running/cgroups.h"

#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/cgroups.h"

/* The kernel's id of a group is its file handle. On 64-bit machines that is also the inode. */
static uint64_t cgroups_id_of(const char *path)
{
	union {
		struct file_handle head;
		char room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} handle = { .head.handle_bytes = sizeof(uint64_t) };
	struct stat st;
	uint64_t id;
	int mount;

	if (name_to_handle_at(AT_FDCWD, path, &handle.head, &mount, 0) == 0 &&
	    handle.head.handle_bytes == sizeof(id)) {
		memcpy(&id, handle.room + sizeof(handle.head), sizeof(id));
		return id;
	}
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

void cgroups_each(void (*visit)(void *ctx, uint64_t id, const char *path), void *ctx)
{
	char root[PATH_MAX];
	char *paths[] = { root, NULL };
	FTSENT *e;
	FTS *tree;

	if (!capture_cgroup_tree(root))
		return;
	tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	while (tree && (e = fts_read(tree))) {
		const uint64_t id = e->fts_info == FTS_D ? cgroups_id_of(e->fts_path) : 0;
		const char *path = e->fts_path + strlen(root);

		if (id)
			visit(ctx, id, *path ? path : "/");
	}
	if (tree)
		fts_close(tree);
}
