/* SPDX-License-Identifier: MIT */
#include "symbols/kernel.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "formats/elf/notes.h"
#include "symbols/dso_files.h"
#include "symbols/symbol_set.h"
#include "symbols/vmlinux.h"

static bool kernel_is_running(const struct build_id *id)
{
	uint8_t notes[4096];
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, notes, sizeof(notes));
	struct build_id running = { 0 };

	if (n > 0)
		running = elf_notes_build_id(notes, (size_t)n, false);
	if (fd >= 0)
		close(fd);
	return build_id_is_known(&running) && build_id_equal(&running, id);
}

/*
 * Moves symbols of another boot to the address of the recorded kernel. Without the reference symbol
 * they cannot be trusted.
 */
static int kernel_align(struct kallsyms *k, const struct kernel_symbols_options *opts,
			const char *origin)
{
	uint64_t addr;

	if (!opts->ref_symbol || !*opts->ref_symbol || !opts->ref_addr)
		return 0;
	addr = kallsyms_address(k, opts->ref_symbol);
	if (!addr)
		return err_set(-ENODATA,
			       "%s does not contain %s, whose address the recording stores to "
			       "locate its kernel",
			       origin, opts->ref_symbol);
	if (addr != opts->ref_addr)
		kallsyms_slide(k, opts->ref_addr - addr);
	return 0;
}

static int kernel_open_file(struct kallsyms **ret, const char *path,
			    const struct kernel_symbols_options *opts)
{
	struct kallsyms *k;
	int r;

	TRY(kallsyms_open(&k, path));
	r = kernel_align(k, opts, path);
	if (r < 0) {
		kallsyms_close(k);
		return r;
	}
	*ret = k;
	return 0;
}

/*
 * The build-id cache: $DIR/.build-id/XX/REST links to the directory $DIR/[kernel.kallsyms]/ID,
 * which contains `kallsyms`. Caches of old tools link to the file itself.
 */
static int kernel_open_cached(struct kallsyms **ret, const struct kernel_symbols_options *opts)
{
	char dir[PATH_MAX], path[PATH_MAX + 160], hex[BUILD_ID_HEX_CHARS], id[BUILD_ID_PATH_CHARS];

	build_id_hex(&opts->build_id, hex);
	build_id_path(&opts->build_id, id);
	symbols_cache_dir(opts->buildid_dir, opts->symfs, dir, sizeof(dir));
	for (int i = 0; i < 3; i++) {
		if (i == 0)
			snprintf(path, sizeof(path), "%s/%s/kallsyms", dir, id);
		else if (i == 1)
			snprintf(path, sizeof(path), "%s/[kernel.kallsyms]/%s/kallsyms", dir, hex);
		else
			snprintf(path, sizeof(path), "%s/%s", dir, id);
		if (!access(path, R_OK) && kernel_open_file(ret, path, opts) >= 0)
			return 0;
	}
	return err_set(-ENOENT, "no symbols of the kernel with build id %s in %s", hex, dir);
}

static int kernel_open_running(struct kallsyms **ret, const struct kernel_symbols_options *opts)
{
	TRY(kernel_open_file(ret, "/proc/kallsyms", opts));
	return 0;
}

static int kernel_open_vmlinux(struct kallsyms **ret, const struct kernel_symbols_options *opts,
			       char *ret_path)
{
	int r;

	if (opts->vmlinux_path) {
		snprintf(ret_path, PATH_MAX, "%s", opts->vmlinux_path);
		r = vmlinux_open(ret, ret_path, opts);
	} else {
		r = vmlinux_find(ret, opts, ret_path, PATH_MAX);
	}
	if (r < 0)
		*ret_path = '\0';
	return r;
}

/*
 * Without a build id (perf record -z, -B or to a pipe) the running kernel counts as the recorded
 * one if it has the same release and the same address. After another boot the address would differ.
 */
static int kernel_open_same_boot(struct kallsyms **ret, const struct kernel_symbols_options *opts)
{
	struct utsname here;
	struct kallsyms *k;

	if (!opts->release || !opts->ref_symbol || !*opts->ref_symbol || !opts->ref_addr ||
	    uname(&here) < 0 || strcmp(here.release, opts->release) != 0)
		return err_set(-ENODATA,
			       "the recording does not contain the build id of its kernel");
	TRY(kallsyms_open(&k, "/proc/kallsyms"));
	if (kallsyms_address(k, opts->ref_symbol) != opts->ref_addr) {
		kallsyms_close(k);
		return err_set(-ENODATA, "the recording is of another boot of this machine, and "
					 "does not contain the build id of its kernel");
	}
	*ret = k;
	return 0;
}

static int kernel_add_named(struct kallsyms *k, struct symbol_set *set,
			    const struct named_file *named)
{
	for (size_t i = 0; i < named->nr; i++) {
		const struct named_symbol *n = &named->symbols[i];
		struct set_symbol sym = {
			.raw = n->name,
			.binding = STB_GLOBAL,
			.start = n->addr,
			.end = n->addr + n->len,
		};

		if (sym.end > sym.start)
			TRY(symbol_set_add(set, &sym));
	}
	TRY(symbol_set_settle(set, true));
	vec_foreach(sym, &set->syms) {
		struct kernel_symbol ks = {
			.name = symbol_set_name(set, sym),
			.module = "",
			.start = sym->start,
			.end = sym->end,
			.binding = sym->binding,
		};

		TRY(kallsyms_add(k, &ks));
	}
	if (!set->syms.n)
		return err_set(-ENODATA, "the recording names no function of its kernel");
	return kallsyms_finish(k, set->syms.v[0].start, set->syms.v[set->syms.n - 1].end);
}

/* Functions that the recording itself names, at their addresses, with gaps between them. */
static int kernel_open_named(struct kallsyms **ret, const struct kernel_symbols_options *opts)
{
	struct symbol_set set;
	struct kallsyms *k;
	int r;

	TRY(kallsyms_new(&k));
	symbol_set_init(&set, opts->demangle_kernel ? DEMANGLE_SHORT : DEMANGLE_NONE, false);
	r = kernel_add_named(k, &set, opts->named);
	symbol_set_done(&set);
	if (r < 0) {
		kallsyms_close(k);
		return r;
	}
	*ret = k;
	return 0;
}

static int kernel_open_any(struct kallsyms **ret, const struct kernel_symbols_options *opts,
			   char *ret_path)
{
	char hex[BUILD_ID_HEX_CHARS];
	bool is_running;

	if (opts->kallsyms_path)
		return kernel_open_file(ret, opts->kallsyms_path, opts);
	if (opts->vmlinux_path)
		return kernel_open_vmlinux(ret, opts, ret_path);
	if (opts->rules->prefers_vmlinux && kernel_open_vmlinux(ret, opts, ret_path) >= 0)
		return 0;
	/* with --symfs perf uses no other kernel file of this machine */
	if (opts->rules->prefers_vmlinux && opts->symfs)
		return 0;
	/* perf does not use recorded kallsyms */
	if (opts->recorded_len && !opts->rules->takes_running_kernel &&
	    kallsyms_read(ret, opts->recorded, opts->recorded_len, "the recording's kallsyms") >= 0)
		return 0;
	if (!build_id_is_known(&opts->build_id)) {
		if (opts->rules->takes_running_kernel && kernel_open_running(ret, opts) >= 0)
			return 0;
		if (!opts->rules->takes_running_kernel)
			(void)kernel_open_same_boot(ret, opts); /* err_text() says why not */
		return 0;
	}
	is_running = kernel_is_running(&opts->build_id);
	if (is_running && opts->rules->takes_running_kernel && kernel_open_running(ret, opts) >= 0)
		return 0;
	if (kernel_open_cached(ret, opts) >= 0)
		return 0;
	if (is_running && kernel_open_running(ret, opts) >= 0)
		return 0;
	if (kernel_open_vmlinux(ret, opts, ret_path) >= 0)
		return 0;
	if (!is_running)
		err_set(-ENODATA,
			"the recorded kernel, build id %s, is not the running one, and neither its "
			"file nor the build-id cache has its symbols",
			build_id_hex(&opts->build_id, hex));
	return 0;
}

int kernel_symbols_open(struct kallsyms **ret, const struct kernel_symbols_options *opts,
			char *ret_path)
{
	*ret = NULL;
	*ret_path = '\0';
	TRY(kernel_open_any(ret, opts, ret_path));
	if (!*ret && opts->named && !opts->rules->ignores_named_files)
		(void)kernel_open_named(ret, opts);
	return 0;
}
