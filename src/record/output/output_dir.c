/* SPDX-License-Identifier: MIT */
#include "record/output/output_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

static int output_dir_make_file(const struct output *o, int dir, const char *name, int *ret_fd)
{
	const int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_errno(errno, "%s/%s: cannot create it", o->path, name);
	output_give_to_sudo_user(fd);
	*ret_fd = fd;
	return 0;
}

static int output_dir_make_files(const struct output *o, int dir, size_t nr_parts, int *ret_fd,
				 int *ret_part_fds)
{
	TRY(output_dir_make_file(o, dir, "data", ret_fd));
	for (size_t i = 0; i < nr_parts; i++) {
		char name[32];

		snprintf(name, sizeof(name), "data.%zu", i);
		TRY(output_dir_make_file(o, dir, name, &ret_part_fds[i]));
	}
	return 0;
}

int output_dir_open(struct output *o, const char *path, size_t nr_parts, int *ret_fd,
		    int *ret_part_fds)
{
	int dir, r;

	TRY(output_prepare(o, path));
	if (!o->is_regular)
		return err_set(-ENOTDIR, "%s: --threads needs the name of a directory to make",
			       path);
	if (mkdir(path, 0700) < 0 || (dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		r = err_errno(errno, "%s: cannot make it%s", path,
			      errno_no_descriptor(errno) ? "" : "; choose another place with -o");
		output_put_back(o);
		return r;
	}
	o->is_directory = true;
	output_give_to_sudo_user(dir);
	*ret_fd = -1;
	for (size_t i = 0; i < nr_parts; i++)
		ret_part_fds[i] = -1;
	r = output_dir_make_files(o, dir, nr_parts, ret_fd, ret_part_fds);
	close(dir);
	if (r == 0)
		return 0;
	if (*ret_fd >= 0)
		close(*ret_fd);
	for (size_t i = 0; i < nr_parts; i++)
		if (ret_part_fds[i] >= 0)
			close(ret_part_fds[i]);
	output_discard(o);
	return r;
}
