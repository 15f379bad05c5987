/* SPDX-License-Identifier: MIT */
/* The parts of the running kernel that have a file and a build id. */
#include "capture/running/kernel_parts.h"

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
#include "capture/running/build_ids.h"
#include "capture/running/kernel_map.h"
#include "formats/perfdata/layout.h"
#include "sonde/sonde.h"

_Static_assert(SONDE_BUILD_ID_CHARS == 2 * PERFDATA_BUILD_ID_BYTES + 1, "digits and a NUL");

struct kernel_part {
	uint64_t start, end;
	char *name; /* owned */
	struct build_id build_id;
};

struct kernel_part_list {
	VEC(struct kernel_part) list;
};

static int kernel_parts_add(struct kernel_part_list *p, uint64_t start, uint64_t end,
			    const char *name, const struct build_id *id)
{
	struct kernel_part part = {
		.start = start,
		.end = end,
		.name = strdup(name),
		.build_id = *id,
	};

	if (!part.name)
		return err_nomem();
	if (vec_push(&p->list, part) == 0)
		return 0;
	free(part.name);
	return -ENOMEM;
}

static int kernel_add(struct kernel_part_list *p)
{
	const struct build_id id = build_id_of_kernel();
	struct kernel_map map = { 0 };
	int r;

	if (!id.len)
		return err_set(
			-ENOENT,
			"the running kernel does not report its build id (/sys/kernel/notes)");
	if (kernel_map_read(&map, false) < 0)
		err_clear(); /* its address is unknown */
	r = kernel_parts_add(p, map.start, map.end, "[kernel.kallsyms]", &id);
	kernel_map_done(&map);
	return r;
}

/*
 * True if a line "kernel/fs/xfs/xfs.ko.xz: ..." of modules.dep is about the file of a module, given
 * by its name without brackets.
 */
static bool kernel_is_file_of(const char *line, const char *module)
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

static void kernel_parts_find_file(FILE *dep, const char *folder, const char *module,
				   char ret[PATH_MAX])
{
	char *line = NULL;
	size_t room = 0;

	snprintf(ret, PATH_MAX, "[%s]", module);
	if (!dep)
		return;
	rewind(dep);
	while (getline(&line, &room, dep) > 0) {
		if (!kernel_is_file_of(line, module))
			continue;
		line[strcspn(line, ":")] = '\0';
		if (snprintf(ret, PATH_MAX, "%s/%s", folder, line) >= PATH_MAX)
			*ret = '\0';
		break;
	}
	free(line);
}

/* NAME SIZE REFCOUNT USERS STATE ADDRESS */
static int kernel_add_modules(struct kernel_part_list *p)
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
		kernel_parts_find_file(dep, folder, name, file);
		r = kernel_parts_add(p, addr, addr ? addr + size : 0, file, &id);
	}
	if (dep)
		fclose(dep);
	fclose(f);
	return r;
}

static int kernel_by_address(const void *a, const void *b)
{
	const struct kernel_part *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

int kernel_parts(void (*part)(void *ctx, const struct sonde_kernel_part *part), void *ctx)
{
	char hex[BUILD_ID_HEX_CHARS];
	struct kernel_part_list p = { 0 };
	int r;

	r = kernel_add(&p);
	if (r >= 0)
		r = kernel_add_modules(&p);
	if (r >= 0)
		qsort(p.list.v, p.list.n, sizeof(*p.list.v), kernel_by_address);
	vec_foreach(each, &p.list) {
		if (r >= 0)
			part(ctx, &(struct sonde_kernel_part){
					  .size = sizeof(struct sonde_kernel_part),
					  .start = each->start,
					  .end = each->end,
					  .name = each->name,
					  .build_id = build_id_hex(&each->build_id, hex),
				  });
		free(each->name);
	}
	vec_done(&p.list);
	return r;
}
