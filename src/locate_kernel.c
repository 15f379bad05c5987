/* SPDX-License-Identifier: MIT */
/*
 * Addresses of the kernel are answered by the recorded mappings of the kernel and its modules together with the table of
 * symbols; a symbol counts only where the mapping, if one is known, agrees with it.
 */

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/err.h"
#include "locate.h"
#include "symbols/demangle.h"

enum { GLOBAL_BINDING = 1 };
#define KERNEL_MAP "[kernel.kallsyms]" /* and behind it the symbol by which the map was measured */

/* ---- the table of symbols ---------------------------------------------------------------------------------------- */

static bool is_kernel_map(const struct sonde_session *s, const struct mapping *m)
{
	return !strncmp(strpool_text(s->strings, m->name), KERNEL_MAP, strlen(KERNEL_MAP));
}

static const struct mapping *kernel_map(const struct sonde_session *s)
{
	const struct mapping *m = address_space_behind(s->state.kernel, 0);

	while (m && !is_kernel_map(s, m))
		m = address_space_behind(s->state.kernel, m->end);
	return m;
}

/* A recording that is a directory (perf record --kcore) may have them beside its events: they are as good as named, as in perf. */
static const char *beside(const struct sonde_session *s, char room[PATH_MAX])
{
	struct stat st;

	if (s->opts.kallsyms || (s->opts.vmlinux && !s->opts.compat))
		return s->opts.kallsyms;
	if (snprintf(room, PATH_MAX, "%s/kcore_dir/kallsyms", s->opts.input) >= PATH_MAX ||
	    lstat(room, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	return room;
}

/* Returns false after leaving a message. */
static bool open_kernel_symbols(struct sonde_session *s)
{
	const struct mapping *map = kernel_map(s);
	struct source_kernel k = { 0 };
	char path[PATH_MAX], room[PATH_MAX];
	uint32_t id;
	struct kernel_symbols_options opts = { .kallsyms_path = beside(s, room),
					       .vmlinux_path = s->opts.vmlinux,
					       .release =
						       s->source->ops->info(s->source, "osrelease"),
					       .symfs = session_symfs(s),
					       .no_follow = s->opts.no_follow,
					       .demangle_kernel = s->opts.demangle_kernel,
					       .buildid_dir = s->opts.buildid_dir,
					       .compat = s->opts.compat };

	s->kernel_symbols_tried = true;
	s->source->ops->kernel(s->source, &k);
	opts.build_id = k.build_id;
	opts.build_id_len = k.build_id_len;
	opts.recorded = k.kallsyms;
	opts.recorded_len = k.kallsyms_len;
	if (s->source->ops->named_file)
		opts.named = s->source->ops->named_file(s->source, KERNEL_MAP);
	if (map) {
		opts.ref_symbol = strpool_text(s->strings, map->name) + strlen(KERNEL_MAP);
		opts.ref_addr = map->pgoff;
		if (!opts.build_id && map->build_id_len) {
			opts.build_id = map->build_id;
			opts.build_id_len = map->build_id_len;
		}
	}
	if (kernel_symbols_open(&s->kernel_symbols, &opts, path) < 0)
		s->kernel_symbols = NULL;
	if (*path && strpool_intern(s->strings, path, strlen(path), &id) >= 0)
		s->kernel_path = strpool_text(s->strings, id);
	return s->kernel_symbols != NULL;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

bool session_module_name(const char *path, char *ret, size_t size)
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

/* perf calls a module by its name in brackets, by its path only if the recording has its build id under that. */
static const char *module_dso(struct sonde_session *s, const char *path)
{
	const struct source_ops *ops = s->source->ops;
	struct source_build_id known;
	char name[256];
	uint32_t id;

	if (ops->build_id && ops->build_id(s->source, path, &known) && known.is_kernel)
		return path;
	if (!session_module_name(path, name, sizeof(name)) ||
	    strpool_intern(s->strings, name, strlen(name), &id) < 0)
		return path;
	return strpool_text(s->strings, id);
}

/* ---- addresses of the kernel ------------------------------------------------------------------------------------- */

struct kernel_place {
	const struct mapping
		*registered; /* a symbol registered at run time; NULL: none. Else the others: */
	const struct mapping *map;       /* NULL: none recorded there */
	const struct kernel_symbol *sym; /* NULL: unknown, maybe named: */
	/* A function of the module mapped there, by the recording itself; NULL if it names none. */
	const struct named_symbol *named;
	uint64_t named_start;
};

/* "[kernel.kallsyms].init.text" */
static bool is_part_of_kernel(const struct kernel_symbol *sym)
{
	return !strncmp(sym->module, KERNEL_MAP, strlen(KERNEL_MAP));
}

/*
 * perf's ways: once symbols are loaded, its map of the kernel reaches from the first to the last of them; without a
 * recorded map of the kernel nothing has a name; symbols of a module count only inside the module's map.
 */
static void limit_as_perf(struct sonde_session *s, uint64_t addr, struct kernel_place *p)
{
	uint64_t first, end;

	if (p->sym && !kernel_map(s))
		p->sym = NULL;
	if (p->sym && *p->sym->module && (!p->map || is_kernel_map(s, p->map)) &&
	    !is_part_of_kernel(p->sym))
		p->sym = NULL;
	if (!s->kernel_symbols || !p->map || !is_kernel_map(s, p->map))
		return;
	kallsyms_range(s->kernel_symbols, &first, &end);
	if (addr < first || addr >= end)
		p->map = NULL;
}

/* Names in the recording itself; perf knows none. */
static void find_named(const struct sonde_session *s, uint64_t addr, struct kernel_place *p)
{
	const struct named_file *f;

	if (!s->source->ops->named_file || s->opts.compat || is_kernel_map(s, p->map))
		return;
	f = s->source->ops->named_file(s->source, strpool_text(s->strings, p->map->name));
	if (!f || f->addresses == NAMED_BY_MEMORY)
		return;
	p->named = named_file_find(f, addr - p->map->start - f->first_off + f->first_addr);
	if (p->named)
		p->named_start = p->map->start + f->first_off + p->named->addr - f->first_addr;
}

/* space: the kernel's mappings as of the event that asks. */
static struct kernel_place find_kernel(struct sonde_session *s, const struct address_space *space,
				       uint64_t addr)
{
	struct kernel_place p = { .registered = address_space_symbol(space, addr),
				  .map = address_space_find(space, addr) };
	char module[256];

	if (p.registered)
		return p;
	if (!s->kernel_symbols_tried) {
		if (!open_kernel_symbols(s) && !s->opts.compat)
			defects_add(&s->defects, DEFECT_NO_KERNEL_SYMBOLS, 1, "%s", err_text());
		err_clear();
	}
	if (s->kernel_symbols)
		p.sym = kallsyms_find(s->kernel_symbols, addr);
	/* Inside the map of a module only that module's symbols: the table may be of another moment. */
	if (p.sym && p.map && !is_kernel_map(s, p.map) &&
	    (!session_module_name(strpool_text(s->strings, p.map->name), module, sizeof(module)) ||
	     strcmp(module, p.sym->module) != 0))
		p.sym = NULL;
	if (s->opts.compat)
		limit_as_perf(s, addr, &p);
	if (!p.sym && p.map)
		find_named(s, addr, &p);
	return p;
}

const char *session_kernel_symbol(struct sonde_session *s, uint64_t addr, uint64_t *ret_off)
{
	const struct address_space *space =
		s->printing ? session_space(s->printing, CPUMODE_KERNEL) : s->state.kernel;
	struct kernel_place p = find_kernel(s, space, addr);

	if (p.named) {
		*ret_off = addr - p.named_start;
		return p.named->name;
	}
	if (!p.registered && !p.sym)
		return NULL;
	*ret_off = addr - (p.registered ? p.registered->start : p.sym->start);
	return p.registered ? strpool_text(s->strings, p.registered->name) : p.sym->name;
}

static const char *kernel_dso(struct sonde_session *s)
{
	struct source_kernel k = { 0 };

	if (s->opts.show_kernel_path && s->kernel_path)
		return s->kernel_path;
	s->source->ops->kernel(s->source, &k);
	return k.name ? k.name : KERNEL_MAP;
}

/* perf demangles names of a vmlinux only, which come demangled. */
static const char *kernel_name(struct sonde_session *s, const char *name)
{
	struct outbuf demangled = { 0 };
	uint32_t id;

	if (!s->opts.demangle_kernel || s->opts.compat)
		return name;
	if (demangle(name, DEMANGLE_SHORT, &demangled) && !demangled.failed &&
	    strpool_intern(s->strings, demangled.data, demangled.len, &id) >= 0)
		name = strpool_text(s->strings, id);
	outbuf_done(&demangled);
	return name;
}

/* What tells a file of the kernel from others: its name's text, and of several recordings which one has it. */
static int number_of_dso(struct sonde_session *s, const char *name, uint64_t *ret)
{
	char text[4096 + 16];
	uint32_t id;

	if (s->part) {
		snprintf(text, sizeof(text), "%.4096s\n%u", name, s->part);
		name = text;
	}
	TRY(strpool_intern(s->strings, name, strlen(name), &id));
	*ret = (uintptr_t)strpool_text(s->strings, id);
	return 0;
}

/* perf makes a dso of each symbol, of the same name. */
static const struct mapping *locate_registered(struct sonde_session *s, const struct mapping *m,
					       uint64_t addr, struct sonde_location *ret)
{
	ret->dso = ret->sym = strpool_text(s->strings, m->name);
	ret->sym_off = ret->dso_off = addr - m->start;
	ret->sym_end = m->end - m->start;
	if (number_of_dso(s, ret->dso, &ret->dso_id) < 0)
		ret->dso_id = 0;
	return m;
}

enum sonde_unknown locate_unknown_kernel(struct sonde_session *s)
{
	if (!s->kernel_symbols_tried && !open_kernel_symbols(s))
		err_clear();
	return s->kernel_symbols ? SONDE_KNOWN : SONDE_UNKNOWN_NO_KERNEL;
}

const struct mapping *locate_kernel(struct sonde_session *s, const struct address_space *space,
				    uint64_t addr, struct sonde_location *ret)
{
	struct kernel_place p = find_kernel(s, space, addr);

	if (p.registered)
		return locate_registered(s, p.registered, addr, ret);
	if (p.sym) {
		ret->sym = kernel_name(s, p.sym->name);
		ret->sym_start = p.sym->start;
		ret->sym_end = p.sym->end;
		ret->sym_binding = p.sym->binding;
		ret->sym_off = addr - p.sym->start;
	} else if (p.named) {
		ret->sym = kernel_name(s, p.named->name);
		ret->sym_start = p.named_start;
		ret->sym_end = p.named_start + p.named->len;
		ret->sym_binding = GLOBAL_BINDING;
		ret->sym_off = addr - p.named_start;
	} else {
		ret->unknown = !s->kernel_symbols ? SONDE_UNKNOWN_NO_KERNEL
			       : p.map            ? SONDE_UNKNOWN_NO_SYMBOL
						  : SONDE_UNKNOWN_NO_MAPPING;
	}
	if (p.sym && *p.sym->module && (!p.map || is_kernel_map(s, p.map)))
		ret->dso = p.sym->module;
	else if (p.map && !is_kernel_map(s, p.map))
		ret->dso = module_dso(s, strpool_text(s->strings, p.map->name));
	else if (p.map || p.sym)
		ret->dso = kernel_dso(s);
	if (s->opts.compat && s->kernel_symbols && p.map && is_kernel_map(s, p.map))
		kallsyms_range(s->kernel_symbols, &ret->map_start, &ret->map_end);
	if (!ret->dso || number_of_dso(s, ret->dso, &ret->dso_id) < 0)
		return p.map;
	ret->dso_off =
		p.map && !is_kernel_map(s, p.map) ? addr - p.map->start + p.map->pgoff : addr;
	return p.map;
}

void locate_kernel_names(struct sonde_session *s, const struct address_space *space, uint64_t addr,
			 const char *dso, struct sonde_dso *ret)
{
	const struct mapping *m = address_space_find(space, addr);
	char module[256];
	uint32_t id;

	ret->short_name = ret->long_name = dso;
	if (address_space_symbol(space, addr))
		return;
	if (!m || is_kernel_map(s, m)) {
		if (s->kernel_path && dso == kernel_dso(s))
			ret->long_name = s->kernel_path;
		return;
	}
	ret->long_name = strpool_text(s->strings, m->name);
	if (session_module_name(ret->long_name, module, sizeof(module)) &&
	    strpool_intern(s->strings, module, strlen(module), &id) >= 0)
		ret->short_name = strpool_text(s->strings, id);
}

const char *locate_dumped_dso(const struct event *ev, uint64_t addr)
{
	const struct address_space *space = session_space(ev, CPUMODE_KERNEL);
	const struct mapping *m = address_space_find(space, addr);
	struct sonde_session *s = ev->session;
	struct sonde_location loc;

	if (m && !is_kernel_map(s, m) && !address_space_symbol(space, addr))
		return strpool_text(s->strings, m->name);
	if (m && !s->kernel_symbols_tried)
		return kernel_dso(s);
	return sonde_event_locate(&ev->pub, addr, CPUMODE_KERNEL, &loc) < 0 ? NULL : loc.dso;
}
