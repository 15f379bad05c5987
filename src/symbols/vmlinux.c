/* SPDX-License-Identifier: MIT */
#include "symbols/vmlinux.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "symbols/elf_symbols.h"

static bool vmlinux_is_recorded_build(const struct elf_file *f,
				      const struct kernel_symbols_options *opts)
{
	struct build_id id;

	/* perf accepts any kernel if it knows no build id */
	if (!build_id_is_known(&opts->build_id))
		return opts->rules->prefers_vmlinux || opts->vmlinux_path;
	id = elf_file_build_id(f);
	return build_id_equal(&id, &opts->build_id);
}

/* Code outside .text is printed as belonging to a part of the kernel. */
static const char *vmlinux_section_name(struct symbol_set *set, const struct elf_file *f,
					uint64_t addr)
{
	for (size_t i = 1; i < f->nr_sections; i++) {
		const struct elf_section *s = &f->sections[i];
		char name[128];

		if (!(s->flags & SHF_ALLOC) || addr < s->addr || addr - s->addr >= s->size)
			continue;
		if (!strcmp(s->name, ".text"))
			return "";
		snprintf(name, sizeof(name), "[kernel.kallsyms]%s", s->name);
		return arena_strdup(&set->arena, name);
	}
	return "";
}

static int vmlinux_convert(struct kallsyms *k, struct symbol_set *set, const struct elf_file *f)
{
	const struct elf_section *text = elf_file_section(f, ".text");
	uint64_t first = text ? text->addr : 0, end = text ? text->addr + text->size : UINT64_MAX;
	uint64_t section_addr = 0;
	const char *section = "";

	vec_foreach(sym, &set->syms) {
		struct kernel_symbol ks = {
			.name = symbol_set_name(set, sym),
			.module = "",
			.start = sym->start + sym->to_address,
			.end = sym->end + sym->to_address,
			.binding = sym->binding,
			.is_object = sym->is_object,
		};

		if (ks.start < first || ks.start >= end) {
			/* Neighbours are mostly in the same section. */
			if (ks.start >> 12 != section_addr >> 12 || !section)
				section = vmlinux_section_name(set, f, ks.start);
			section_addr = ks.start;
			ks.module = section ? section : "";
		}
		TRY(kallsyms_add(k, &ks));
	}
	return kallsyms_finish(k, first, end);
}

/*
 * The address of the symbol that the recording used to measure its kernel, even if another symbol
 * at that address was preferred.
 */
static uint64_t vmlinux_address_of(struct symbol_set *set, const char *name)
{
	vec_foreach(sym, &set->syms) {
		if (!strcmp(sym->raw, name))
			return sym->start + sym->to_address;
	}
	vec_foreach(sym, &set->dropped) {
		if (!strcmp(sym->raw, name))
			return sym->start + sym->to_address;
	}
	return 0;
}

static int vmlinux_move(struct kallsyms *k, struct symbol_set *set, const char *path,
			const struct kernel_symbols_options *opts)
{
	uint64_t addr;

	if (!opts->ref_symbol || !*opts->ref_symbol || !opts->ref_addr)
		return 0;
	addr = vmlinux_address_of(set, opts->ref_symbol);
	if (!addr && !opts->rules->prefers_vmlinux)
		return err_set(-ENODATA,
			       "%s has no symbol %s, whose address the recording stores to locate "
			       "its kernel",
			       path, opts->ref_symbol);
	if (addr)
		kallsyms_slide(k, opts->ref_addr - addr);
	return 0;
}

int vmlinux_open(struct kallsyms **ret, const char *path, const struct kernel_symbols_options *opts)
{
	struct kallsyms *k = NULL;
	struct symbol_set set;
	struct elf_file *f;
	int r;

	TRY(elf_file_open(&f, path));
	if (!vmlinux_is_recorded_build(f, opts)) {
		elf_file_close(f);
		return err_set(-ESTALE, "%s is not the recorded kernel: its build id differs",
			       path);
	}
	symbol_set_init(&set,
			!opts->demangle_kernel        ? DEMANGLE_NONE
			: opts->rules->demangles_long ? DEMANGLE_LONG
						      : DEMANGLE_SHORT,
			opts->rules->overlaps_by_tree);
	r = kallsyms_new(&k);
	if (r >= 0)
		r = elf_symbols_has_table(f) ? elf_symbols_add(&set, f, f)
					     : err_set(-ENODATA, "%s has no symbols", path);
	if (r >= 0)
		r = vmlinux_convert(k, &set, f);
	if (r >= 0)
		r = vmlinux_move(k, &set, path, opts);
	symbol_set_done(&set);
	elf_file_close(f);
	if (r < 0) {
		kallsyms_close(k);
		return r;
	}
	*ret = k;
	return 0;
}

int vmlinux_find(struct kallsyms **ret, const struct kernel_symbols_options *opts, char *ret_path,
		 size_t path_size)
{
	/* perf's places; the first one is below the current folder. */
	static const char *const places[] = {
		"vmlinux",
		"/boot/vmlinux",
		"/boot/vmlinux-%s",
		"/usr/lib/debug/boot/vmlinux-%s",
		"/lib/modules/%s/build/vmlinux",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/usr/lib/debug/boot/vmlinux-%s.debug",
	};
	const char *release = opts->release ? opts->release : "", *symfs = opts->symfs;
	char place[PATH_MAX];

	/* the release must be a name, not a path to another place */
	if (opts->no_follow || strchr(release, '/'))
		release = "";
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const char *rest = strstr(places[i], "%s");

		if (rest && !*release)
			continue;
		snprintf(place, sizeof(place), "%.*s%s%s",
			 rest ? (int)(rest - places[i]) : (int)strlen(places[i]), places[i],
			 rest ? release : "", rest ? rest + 2 : "");
		if (snprintf(ret_path, path_size, "%s%s%s", symfs ? symfs : "",
			     symfs && *place != '/' ? "/" : "", place) >= (int)path_size)
			continue;
		if (vmlinux_open(ret, ret_path, opts) >= 0)
			return 0;
	}
	return err_set(-ENOENT, "no file of the recorded kernel was found");
}
