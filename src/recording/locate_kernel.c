/* SPDX-License-Identifier: MIT */
/*
 * Locates addresses of the kernel by the recorded mappings of the kernel and its modules, and by
 * the table of symbols. If a mapping is known, a symbol counts only if it belongs to that mapping.
 */

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/err.h"
#include "recording/locate.h"
#include "symbols/demangle.h"

enum { GLOBAL_BINDING = 1 };
/* This name is followed by the name of the symbol whose address was recorded with the map. */
#define KERNEL_MAP "[kernel.kallsyms]"

/* ---- the table of symbols -------------------------------------------------------------------- */

static bool kernel_is_map(const struct recording *rec, const struct mapping *m)
{
	return !strncmp(strpool_text(rec->strings, m->name), KERNEL_MAP, strlen(KERNEL_MAP));
}

static const struct mapping *kernel_map(const struct recording *rec)
{
	const struct mapping *m = address_space_behind(rec->state.kernel, 0);

	while (m && !kernel_is_map(rec, m))
		m = address_space_behind(rec->state.kernel, m->end);
	return m;
}

/*
 * The file of kernel symbols: given by option, or in the recording. A recording that is a directory
 * (perf record --kcore) may contain one, which is used like a given one, as in perf. NULL if there
 * is none.
 */
static const char *locate_beside(const struct recording *rec, char room[PATH_MAX])
{
	struct stat st;

	if (rec->opts->kallsyms || (rec->opts->vmlinux && !rec->opts->rules->prefers_kcore))
		return rec->opts->kallsyms;
	if (snprintf(room, PATH_MAX, "%s/kcore_dir/kallsyms", rec->input) >= PATH_MAX ||
	    lstat(room, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	return room;
}

/* Returns false with a message. */
static bool kernel_open_symbols(struct recording *rec)
{
	const struct mapping *map = kernel_map(rec);
	struct source_kallsyms recorded = { 0 };
	struct source_kernel k = { 0 };
	char path[PATH_MAX], room[PATH_MAX];
	uint32_t id;
	struct kernel_symbols_options opts = {
		.kallsyms_path = locate_beside(rec, room),
		.vmlinux_path = rec->opts->vmlinux,
		.release = source_info(rec->source, "osrelease"),
		.symfs = recording_symfs(rec),
		.no_follow = rec->opts->no_follow,
		.demangle_kernel = rec->opts->demangle_kernel,
		.buildid_dir = rec->opts->buildid_dir,
		.rules = rec->opts->rules,
	};

	rec->kernel_symbols_tried = true;
	source_read_kernel(rec->source, &k);
	opts.build_id = k.build_id;
	if (!opts.rules->takes_running_kernel) /* perf does not use it */
		source_read_kallsyms(rec->source, &recorded);
	opts.recorded = recorded.text;
	opts.recorded_len = recorded.len;
	opts.named = source_named_file(rec->source, KERNEL_MAP);
	if (map) {
		opts.ref_symbol = strpool_text(rec->strings, map->name) + strlen(KERNEL_MAP);
		opts.ref_addr = map->pgoff;
		if (!build_id_is_known(&opts.build_id))
			opts.build_id = map->build_id;
	}
	if (kernel_symbols_open(&rec->kernel_symbols, &opts, path) < 0)
		rec->kernel_symbols = NULL;
	source_kallsyms_done(&recorded);
	if (*path && strpool_intern(rec->strings, path, strlen(path), &id) >= 0)
		rec->kernel_path = strpool_text(rec->strings, id);
	return rec->kernel_symbols != NULL;
}

/* ---- modules --------------------------------------------------------------------------------- */

bool recording_module_name(const char *path, char *ret, size_t size)
{
	const char *base = strrchr(path, '/'), *end;
	size_t len;

	base = base ? base + 1 : path;
	if (*base == '[')
		return (size_t)snprintf(ret, size, "%s", base) < size;
	end = strstr(base, ".ko");
	if (!end || (end[3] && end[3] != '.'))
		return false;
	len = (size_t)(end - base);
	if (len + 3 > size)
		return false;
	ret[0] = '[';
	for (size_t i = 0; i < len; i++)
		ret[1 + i] = base[i] == '-' ? '_' : base[i];
	memcpy(ret + 1 + len, "]", 2);
	return true;
}

/*
 * The name of a module's dso. perf uses the name in brackets; it uses the path only if the
 * recording has a build id for that path.
 */
static const char *locate_module_dso(struct recording *rec, const char *path)
{
	struct source_build_id known;
	char name[256];
	uint32_t id;

	if (source_find_build_id(rec->source, path, &known) && known.is_kernel)
		return path;
	if (!recording_module_name(path, name, sizeof(name)) ||
	    strpool_intern(rec->strings, name, strlen(name), &id) < 0)
		return path;
	return strpool_text(rec->strings, id);
}

/* ---- addresses of the kernel ----------------------------------------------------------------- */

struct kernel_place {
	/* A symbol registered at run time; NULL if none. If set, the other members do not count. */
	const struct mapping *registered;
	const struct mapping *map;       /* NULL if none is recorded there */
	const struct kernel_symbol *sym; /* NULL if unknown; then `named` may be set */
	/* The module's function that the recording itself names; NULL if it names none. */
	const struct named_symbol *named;
	uint64_t named_start;
};

/* "[kernel.kallsyms].init.text" */
static bool locate_is_in_kernel(const struct kernel_symbol *sym)
{
	return !strncmp(sym->module, KERNEL_MAP, strlen(KERNEL_MAP));
}

/*
 * Applies perf's limits. Once symbols are loaded, perf's map of the kernel reaches from the first
 * to the last of them. Without a recorded map of the kernel no address has a name. Symbols of a
 * module count only inside the module's map.
 */
static void locate_limit_as_perf(struct recording *rec, uint64_t addr, struct kernel_place *p)
{
	uint64_t first, end;

	if (p->sym && !kernel_map(rec))
		p->sym = NULL;
	if (p->sym && *p->sym->module && (!p->map || kernel_is_map(rec, p->map)) &&
	    !locate_is_in_kernel(p->sym))
		p->sym = NULL;
	if (!rec->kernel_symbols || !p->map || !kernel_is_map(rec, p->map))
		return;
	kallsyms_range(rec->kernel_symbols, &first, &end);
	if (addr < first || addr >= end)
		p->map = NULL;
}

/* Looks for a function that the recording itself names. perf ignores these names. */
static void locate_find_named(const struct recording *rec, uint64_t addr, struct kernel_place *p)
{
	const struct named_file *f;

	if (rec->opts->rules->ignores_named_files || kernel_is_map(rec, p->map))
		return;
	f = source_named_file(rec->source, strpool_text(rec->strings, p->map->name));
	if (!f || f->addresses == NAMED_BY_MEMORY)
		return;
	p->named = named_file_find(f, addr - p->map->start - f->first_off + f->first_addr);
	if (p->named)
		p->named_start = p->map->start + f->first_off + p->named->addr - f->first_addr;
}

/* space: the kernel's mappings as of the event. */
static struct kernel_place locate_kernel_find(struct recording *rec,
					      const struct address_space *space, uint64_t addr)
{
	struct kernel_place p = {
		.registered = address_space_symbol(space, addr),
		.map = address_space_find(space, addr),
	};
	char module[256];

	if (p.registered)
		return p;
	if (!rec->kernel_symbols_tried) {
		if (!kernel_open_symbols(rec) && !rec->opts->rules->silent_about_symbols)
			defects_add(&rec->defects, DEFECT_NO_KERNEL_SYMBOLS, 1, "%s", err_text());
		err_clear();
	}
	if (rec->kernel_symbols)
		p.sym = kallsyms_find(rec->kernel_symbols, addr);
	/*
	 * Inside the map of a module only that module's symbols count: the table may have been
	 * written at another time.
	 */
	if (p.sym && p.map && !kernel_is_map(rec, p.map) &&
	    (!recording_module_name(strpool_text(rec->strings, p.map->name), module,
				    sizeof(module)) ||
	     strcmp(module, p.sym->module) != 0))
		p.sym = NULL;
	if (rec->opts->rules->limits_kernel_symbols)
		locate_limit_as_perf(rec, addr, &p);
	if (!p.sym && p.map)
		locate_find_named(rec, addr, &p);
	return p;
}

const char *recording_kernel_symbol(struct recording *rec, uint64_t addr, uint64_t *ret_off)
{
	const struct address_space *space =
		rec->printing ? recording_space(rec->printing, CPUMODE_KERNEL) : rec->state.kernel;
	struct kernel_place p = locate_kernel_find(rec, space, addr);

	if (p.named) {
		*ret_off = addr - p.named_start;
		return p.named->name;
	}
	if (!p.registered && !p.sym)
		return NULL;
	*ret_off = addr - (p.registered ? p.registered->start : p.sym->start);
	return p.registered ? strpool_text(rec->strings, p.registered->name) : p.sym->name;
}

static const char *kernel_dso(struct recording *rec)
{
	struct source_kernel k = { 0 };

	if (rec->opts->show_kernel_path && rec->kernel_path)
		return rec->kernel_path;
	source_read_kernel(rec->source, &k);
	return k.name ? k.name : KERNEL_MAP;
}

/* perf demangles only the names of a vmlinux; they are already demangled here. */
static const char *kernel_name(struct recording *rec, const char *name)
{
	struct outbuf demangled = { 0 };
	uint32_t id;

	if (!rec->opts->demangle_kernel || rec->opts->rules->demangles_vmlinux_only)
		return name;
	if (demangle(name, DEMANGLE_SHORT, &demangled) && !demangled.failed &&
	    strpool_intern(rec->strings, demangled.data, demangled.len, &id) >= 0)
		name = strpool_text(rec->strings, id);
	outbuf_done(&demangled);
	return name;
}

/* Dsos of the kernel are identified by their names. 0 if memory ran out. */
static uint32_t kernel_dso_id(struct recording *rec, const char *name)
{
	const struct dso *d = locate_dso(rec, &(struct dso_key){ .name = name, .is_kernel = true });

	return d ? dso_id(d) : 0;
}

/* perf makes a dso for each registered symbol, with the same name. */
static const struct mapping *locate_registered(struct recording *rec, const struct mapping *m,
					       uint64_t addr, struct sonde_location *ret)
{
	ret->dso = ret->sym = strpool_text(rec->strings, m->name);
	ret->sym_off = ret->dso_off = addr - m->start;
	ret->sym_end = m->end - m->start;
	ret->dso_id = kernel_dso_id(rec, ret->dso);
	return m;
}

enum sonde_unknown locate_unknown_kernel(struct recording *rec)
{
	if (!rec->kernel_symbols_tried && !kernel_open_symbols(rec))
		err_clear();
	return rec->kernel_symbols ? SONDE_KNOWN : SONDE_UNKNOWN_NO_KERNEL;
}

const struct mapping *locate_kernel(struct recording *rec, const struct address_space *space,
				    uint64_t addr, struct sonde_location *ret)
{
	struct kernel_place p = locate_kernel_find(rec, space, addr);

	if (p.registered)
		return locate_registered(rec, p.registered, addr, ret);
	if (p.sym) {
		ret->sym = kernel_name(rec, p.sym->name);
		ret->sym_start = p.sym->start;
		ret->sym_end = p.sym->end;
		ret->sym_binding = p.sym->binding;
		ret->sym_is_object = p.sym->is_object;
		ret->sym_off = addr - p.sym->start;
	} else if (p.named) {
		ret->sym = kernel_name(rec, p.named->name);
		ret->sym_start = p.named_start;
		ret->sym_end = p.named_start + p.named->len;
		ret->sym_binding = GLOBAL_BINDING;
		ret->sym_off = addr - p.named_start;
	} else {
		ret->unknown = !rec->kernel_symbols ? SONDE_UNKNOWN_NO_KERNEL
			       : p.map              ? SONDE_UNKNOWN_NO_SYMBOL
						    : SONDE_UNKNOWN_NO_MAPPING;
	}
	if (p.sym && *p.sym->module && (!p.map || kernel_is_map(rec, p.map)))
		ret->dso = p.sym->module;
	else if (p.map && !kernel_is_map(rec, p.map))
		ret->dso = locate_module_dso(rec, strpool_text(rec->strings, p.map->name));
	else if (p.map || p.sym)
		ret->dso = kernel_dso(rec);
	if (rec->opts->rules->kernel_map_by_symbols && rec->kernel_symbols && p.map &&
	    kernel_is_map(rec, p.map))
		kallsyms_range(rec->kernel_symbols, &ret->map_start, &ret->map_end);
	if (ret->dso)
		ret->dso_id = kernel_dso_id(rec, ret->dso);
	if (!ret->dso_id)
		return p.map;
	ret->dso_off =
		p.map && !kernel_is_map(rec, p.map) ? addr - p.map->start + p.map->pgoff : addr;
	return p.map;
}

void locate_kernel_names(struct recording *rec, const struct address_space *space, uint64_t addr,
			 const char *dso, struct sonde_dso *ret)
{
	const struct mapping *m = address_space_find(space, addr);
	char module[256];
	uint32_t id;

	ret->short_name = ret->long_name = dso;
	if (address_space_symbol(space, addr))
		return;
	if (!m || kernel_is_map(rec, m)) {
		/* as perf calls a kernel whose build id is recorded for the file of its symbols */
		if (strstr(dso, "vmlinux"))
			ret->short_name = "[kernel.vmlinux]";
		if (rec->kernel_path && dso == kernel_dso(rec))
			ret->long_name = rec->kernel_path;
		return;
	}
	ret->long_name = strpool_text(rec->strings, m->name);
	if (recording_module_name(ret->long_name, module, sizeof(module)) &&
	    strpool_intern(rec->strings, module, strlen(module), &id) >= 0)
		ret->short_name = strpool_text(rec->strings, id);
}

const char *locate_dumped_dso(const struct event *ev, uint64_t addr)
{
	const struct address_space *space = recording_space(ev, CPUMODE_KERNEL);
	const struct mapping *m = address_space_find(space, addr);
	struct recording *rec = ev->recording;

	if (m && !kernel_is_map(rec, m) && !address_space_symbol(space, addr))
		return strpool_text(rec->strings, m->name);
	if (m && !rec->kernel_symbols_tried)
		return kernel_dso(rec);
	return recording_located(ev, addr, CPUMODE_KERNEL)->dso;
}
