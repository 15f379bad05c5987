/* SPDX-License-Identifier: MIT */
/* sonde.h: build ids of what runs, and of files. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"
#include "record/describe/build_ids.h"
#include "record/describe/kernel_map.h"
#include "sonde/sonde.h"

_Static_assert(SONDE_BUILD_ID_CHARS == 2 * BUILD_ID_BYTES + 1, "room for the digits and a NUL");

struct part {
	uint64_t start, end;
	char *name; /* owned */
	char build_id[SONDE_BUILD_ID_CHARS];
};

struct parts {
	VEC(struct part) list;
};

static void put_hex(const struct build_id *id, char ret[SONDE_BUILD_ID_CHARS])
{
	for (size_t i = 0; i < id->len; i++)
		snprintf(ret + 2 * i, 3, "%02x", id->bytes[i]);
	ret[2 * id->len] = '\0';
}

static int add(struct parts *p, uint64_t start, uint64_t end, const char *name,
	       const struct build_id *id)
{
	struct part part = { .start = start, .end = end, .name = strdup(name) };

	if (!part.name)
		return err_nomem();
	put_hex(id, part.build_id);
	if (vec_push(&p->list, part) == 0)
		return 0;
	free(part.name);
	return -ENOMEM;
}

static int add_kernel(struct parts *p)
{
	const struct build_id id = build_id_of_kernel();
	struct kernel_map map = { 0 };
	int r;

	if (!id.len)
		return err_set(-ENOENT, "the running kernel does not tell its build id "
					"(/sys/kernel/notes)");
	if (kernel_map_read(&map, false) < 0)
		err_clear(); /* where it lies is not told */
	r = add(p, map.start, map.end, "[kernel.kallsyms]", &id);
	kernel_map_done(&map);
	return r;
}

/* The file of a module by its name without brackets, out of a line "kernel/fs/xfs/xfs.ko.xz: ..." of modules.dep. */
static bool is_file_of(const char *line, const char *module)
{
	size_t len = strcspn(line, ":");
	const char *base = memrchr(line, '/', len);

	base = base ? base + 1 : line;
	while (*module && (*base == *module || (*base == '-' && *module == '_'))) {
		base++;
		module++;
	}
	return !*module && !strncmp(base, ".ko", 3);
}

static void find_file(FILE *dep, const char *folder, const char *module, char ret[PATH_MAX])
{
	char *line = NULL;
	size_t room = 0;

	snprintf(ret, PATH_MAX, "[%s]", module);
	if (!dep)
		return;
	rewind(dep);
	while (getline(&line, &room, dep) > 0) {
		if (!is_file_of(line, module))
			continue;
		line[strcspn(line, ":")] = '\0';
		if (snprintf(ret, PATH_MAX, "%s/%s", folder, line) >= PATH_MAX)
			*ret = '\0';
		break;
	}
	free(line);
}

/* NAME SIZE REFCOUNT USERS STATE ADDRESS */
static int add_modules(struct parts *p)
{
	FILE *f = fopen("/proc/modules", "re"), *dep;
	char line[1024], name[128], folder[PATH_MAX], file[PATH_MAX];
	unsigned long long size, addr;
	struct build_id id;
	struct utsname u;
	int r = 0;

	if (!f)
		return 0; /* a kernel without modules */
	uname(&u);
	snprintf(folder, sizeof(folder), "/lib/modules/%s", u.release);
	snprintf(file, sizeof(file), "%.4000s/modules.dep", folder);
	dep = fopen(file, "re");
	while (r >= 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%127s %llu %*s %*s %*s %llx", name, &size, &addr) != 3)
			continue;
		id = build_id_of_module("", name);
		find_file(dep, folder, name, file);
		r = add(p, addr, addr ? addr + size : 0, file, &id);
	}
	if (dep)
		fclose(dep);
	fclose(f);
	return r;
}

static int by_address(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

int sonde_running_kernel(void (*part)(void *ctx, const struct sonde_kernel_part *part), void *ctx)
{
	struct parts p = { 0 };
	int r;

	NOT_NULL(part, -EINVAL);
	err_clear();
	r = add_kernel(&p);
	if (r >= 0)
		r = add_modules(&p);
	if (r >= 0)
		qsort(p.list.v, p.list.n, sizeof(*p.list.v), by_address);
	vec_foreach(each, &p.list) {
		if (r >= 0)
			part(ctx,
			     &(struct sonde_kernel_part){ .size = sizeof(struct sonde_kernel_part),
							  .start = each->start,
							  .end = each->end,
							  .name = each->name,
							  .build_id = each->build_id });
		free(each->name);
	}
	vec_done(&p.list);
	return r;
}

int sonde_file_build_id(const char *path, char ret[SONDE_BUILD_ID_CHARS])
{
	struct build_id id = { 0 };
	struct stat st;
	int fd;

	NOT_NULL(ret, -EINVAL);
	ret[0] = '\0';
	NOT_NULL(path, -EINVAL);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		id = build_id_of_file(fd);
	close(fd);
	put_hex(&id, ret);
	return id.len > 0;
}
