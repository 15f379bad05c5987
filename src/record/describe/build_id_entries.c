/* SPDX-License-Identifier: MIT */
#include "record/describe/build_id_entries.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/running/build_ids.h"
#include "formats/perfdata/writer.h"

static void entries_put(struct outbuf *o, uint16_t cpumode, const char *name,
			const struct build_id *id)
{
	if (id->len)
		perfdata_put_build_id(o, &(struct perfdata_writer_build_id){ cpumode, *id, name });
}

void build_ids_put_kernel(struct outbuf *o)
{
	const struct build_id id = build_id_of_kernel();

	entries_put(o, PERF_RECORD_MISC_KERNEL, BUILD_ID_CACHE_KERNEL, &id);
}

void build_ids_cache_kernel(struct build_id_cache *cache)
{
	const struct build_id id = build_id_of_kernel();

	if (id.len)
		build_id_cache_add_kallsyms(cache, &id);
}

static void entries_put_file(struct outbuf *o, const struct dso_file *f,
			     struct build_id_cache *cache)
{
	int fd = build_id_open_mapped(f->name, f->inode, f->pid);
	struct build_id id;

	if (fd < 0)
		return;
	id = build_id_of_file(fd);
	entries_put(o, PERF_RECORD_MISC_USER, f->name, &id);
	if (id.len)
		build_id_cache_add_file(cache, &id, f->name, fd);
	close(fd);
}

static void entries_put_vdso(struct outbuf *o, const struct dso_file *f,
			     struct build_id_cache *cache)
{
	const struct build_id id = build_id_of_vdso();
	const uint8_t *image;
	size_t len;

	entries_put(o, PERF_RECORD_MISC_USER, f->name, &id);
	image = build_id_vdso_image(&len);
	if (id.len && image)
		build_id_cache_add_vdso(cache, &id, image, len);
}

static void entries_put_module(struct outbuf *o, const struct dso_file *f)
{
	char name[256];
	struct build_id id;

	snprintf(name, sizeof(name), "%.*s", (int)strlen(f->name) - 2, f->name + 1);
	id = build_id_of_module("", name);
	entries_put(o, PERF_RECORD_MISC_KERNEL, f->name, &id);
}

void build_ids_put_files(struct outbuf *o, const struct dso_files *files,
			 struct build_id_cache *cache)
{
	for (size_t i = 0; i < files->n; i++) {
		const struct dso_file *f = &files->v[i];

		if (f->name[0] == '/')
			entries_put_file(o, f, cache);
		else if (!strcmp(f->name, "[vdso]"))
			entries_put_vdso(o, f, cache);
		else if (f->pid == DSOS_KERNEL_PID)
			entries_put_module(o, f);
	}
}
