/* SPDX-License-Identifier: MIT */
/*
 * sonde.h: what lies at an address. Addresses of the kernel are answered by the recorded mappings of the kernel and its
 * modules together with the table of symbols; a symbol counts only where the mapping, if one is known, agrees with it.
 */

#include <stdio.h>

#include "base/err.h"
#include "formats/elf/notes.h"
#include "model/callchain.h"
#include "session.h"

#define KERNEL_MAP "[kernel.kallsyms]" /* and behind it the symbol by which the map was measured */

/* ---- the table of symbols ---------------------------------------------------------------------------------------- */

static bool is_kernel_map(const struct sonde_session *s, const struct mapping *m)
{
	return !strncmp(strpool_text(&s->strings, m->name), KERNEL_MAP, strlen(KERNEL_MAP));
}

static const struct mapping *kernel_map(const struct sonde_session *s)
{
	vec_foreach(m, &s->state.kernel->maps) {
		if (is_kernel_map(s, m))
			return m;
	}
	return NULL;
}

static void open_kernel_symbols(struct sonde_session *s)
{
	const struct mapping *map = kernel_map(s);
	struct source_kernel k = { 0 };
	struct kernel_symbols_options opts = { .kallsyms_path = s->opts.kallsyms,
					       .buildid_dir = s->opts.buildid_dir,
					       .compat = s->opts.compat };

	s->kernel_symbols_tried = true;
	s->source->ops->kernel(s->source, &k);
	opts.build_id = k.build_id;
	opts.build_id_len = k.build_id_len;
	opts.recorded = k.kallsyms;
	opts.recorded_len = k.kallsyms_len;
	if (map) {
		opts.ref_symbol = strpool_text(&s->strings, map->name) + strlen(KERNEL_MAP);
		opts.ref_addr = map->pgoff;
		if (!opts.build_id && map->build_id_len) {
			opts.build_id = map->build_id;
			opts.build_id_len = map->build_id_len;
		}
	}
	if (kernel_symbols_open(&s->kernel_symbols, &opts) < 0)
		s->kernel_symbols = NULL;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/* "/lib/modules/6.1/kernel/fs/xfs/nls-x.ko.xz" and "[nls_x]" -> "[nls_x]"; false for what is no module's name. */
static bool module_name(const char *path, char *ret, size_t size)
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
	struct source_kernel k = { 0 };
	char name[256];
	uint32_t id;

	s->source->ops->kernel(s->source, &k);
	for (size_t i = 0; i < k.nr_modules; i++) {
		if (!strcmp(k.modules[i], path))
			return path;
	}
	if (!module_name(path, name, sizeof(name)) ||
	    strpool_intern(&s->strings, name, strlen(name), &id) < 0)
		return path;
	return strpool_text(&s->strings, id);
}

/* ---- addresses of the kernel ------------------------------------------------------------------------------------- */

struct kernel_place {
	const struct mapping *map;       /* NULL: none recorded there */
	const struct kernel_symbol *sym; /* NULL: unknown */
};

/*
 * perf's ways: once symbols are loaded, its map of the kernel reaches from the first to the last of them; without a
 * recorded map of the kernel nothing has a name; symbols of a module count only inside the module's map.
 */
static void limit_as_perf(struct sonde_session *s, uint64_t addr, struct kernel_place *p)
{
	uint64_t first, end;

	if (p->sym && !kernel_map(s))
		p->sym = NULL;
	if (p->sym && *p->sym->module && (!p->map || is_kernel_map(s, p->map)))
		p->sym = NULL;
	if (!s->kernel_symbols || !p->map || !is_kernel_map(s, p->map))
		return;
	kallsyms_range(s->kernel_symbols, &first, &end);
	if (addr < first || addr >= end)
		p->map = NULL;
}

/* space: the kernel's mappings as of the event that asks. */
static struct kernel_place find_kernel(struct sonde_session *s, const struct address_space *space,
				       uint64_t addr)
{
	struct kernel_place p = { .map = address_space_find(space, addr) };
	char module[256];

	if (!s->kernel_symbols_tried)
		open_kernel_symbols(s);
	if (s->kernel_symbols)
		p.sym = kallsyms_find(s->kernel_symbols, addr);
	/* Inside the map of a module only that module's symbols: the table may be of another moment. */
	if (p.sym && p.map && !is_kernel_map(s, p.map) &&
	    (!module_name(strpool_text(&s->strings, p.map->name), module, sizeof(module)) ||
	     strcmp(module, p.sym->module) != 0))
		p.sym = NULL;
	if (s->opts.compat)
		limit_as_perf(s, addr, &p);
	return p;
}

const struct kernel_symbol *session_kernel_symbol_at(struct sonde_session *s, uint64_t addr)
{
	return find_kernel(s, s->state.kernel, addr).sym;
}

const char *session_kernel_symbol(struct sonde_session *s, uint64_t addr, uint64_t *ret_off)
{
	const struct kernel_symbol *sym = session_kernel_symbol_at(s, addr);

	if (!sym)
		return NULL;
	*ret_off = addr - sym->start;
	return sym->name;
}

static const char *kernel_dso(struct sonde_session *s)
{
	struct source_kernel k = { 0 };

	s->source->ops->kernel(s->source, &k);
	return k.name ? k.name : KERNEL_MAP;
}

static const struct mapping *locate_kernel(struct sonde_session *s,
					   const struct address_space *space, uint64_t addr,
					   struct sonde_location *ret)
{
	struct kernel_place p = find_kernel(s, space, addr);

	if (p.sym) {
		ret->sym = p.sym->name;
		ret->sym_start = p.sym->start;
		ret->sym_end = p.sym->end;
		ret->sym_binding = p.sym->binding;
		ret->sym_off = addr - p.sym->start;
	}
	if (p.sym && *p.sym->module && (!p.map || is_kernel_map(s, p.map)))
		ret->dso = p.sym->module;
	else if (p.map && !is_kernel_map(s, p.map))
		ret->dso = module_dso(s, strpool_text(&s->strings, p.map->name));
	else if (p.map || p.sym)
		ret->dso = kernel_dso(s);
	if (s->opts.compat && s->kernel_symbols && p.map && is_kernel_map(s, p.map))
		kallsyms_range(s->kernel_symbols, &ret->map_start, &ret->map_end);
	return p.map;
}

/* ---- addresses of user space ------------------------------------------------------------------------------------- */

/* What the recording says of the file elsewhere than in the mapping's record: looked for once per file. */
static const char *recorded_build_id(struct sonde_session *s, const char *path)
{
	struct build_id_memo *memo = &s->build_ids[((uintptr_t)path >> 2) % 64];

	if (memo->path != path) {
		memo->path = path;
		memo->hex =
			s->source->ops->build_id ? s->source->ops->build_id(s->source, path) : NULL;
	}
	return memo->hex ? memo->hex : "";
}

static uint32_t parse_hex(const char *hex, uint8_t ret[ELF_BUILD_ID_MAX_BYTES])
{
	uint32_t n = 0;
	unsigned byte;

	while (n < ELF_BUILD_ID_MAX_BYTES && hex[2 * n] && hex[2 * n + 1] &&
	       sscanf(hex + 2 * n, "%2x", &byte) == 1)
		ret[n++] = (uint8_t)byte;
	return n;
}

/* Memory of no file: perf names functions in it by the map that a JIT wrote. */
static bool is_anonymous(const char *name)
{
	return !strncmp(name, "//anon", 6) || !strncmp(name, "/dev/zero", 9) ||
	       !strncmp(name, "/anon_hugepage", 14) || !strncmp(name, "[stack", 6) ||
	       !strncmp(name, "/SYSV", 5) || !strcmp(name, "[heap]");
}

static const struct mapping *user_mapping(const struct event *ev, uint64_t addr)
{
	struct address_space *space =
		ev->owned ? ev->space : state_space(&ev->session->state, ev->pub.pid);

	return space ? address_space_find(space, addr) : NULL;
}

/* The name to show for a mapping. */
static const char *mapping_name(struct sonde_session *s, const struct mapping *m)
{
	const char *name = strpool_text(&s->strings, m->name);
	char map[40];
	uint32_t id;
	int len;

	if (!m->executable || !is_anonymous(name))
		return name;
	len = snprintf(map, sizeof(map), "/tmp/perf-%d.map", m->pid);
	return strpool_intern(&s->strings, map, (size_t)len, &id) < 0
		       ? name
		       : strpool_text(&s->strings, id);
}

static struct dso *dso_of(struct sonde_session *s, const struct mapping *m, const char *name)
{
	struct dso_key key = { .name = name, .pid = m->pid };
	uint8_t id[ELF_BUILD_ID_MAX_BYTES];

	if (!s->dsos) {
		struct dso_table_options opts = { .symfs = s->opts.symfs,
						  .buildid_dir = s->opts.buildid_dir,
						  .demangle = s->opts.demangle,
						  .force = s->opts.force,
						  .compat = s->opts.compat };

		if (dso_table_new(&s->dsos, &opts) < 0)
			return NULL;
	}
	key.build_id = m->build_id_len ? m->build_id : NULL;
	key.build_id_len = m->build_id_len;
	if (!key.build_id) {
		key.build_id_len = parse_hex(recorded_build_id(s, name), id);
		key.build_id = key.build_id_len ? id : NULL;
	}
	return dso_get(s->dsos, &key);
}

static uint64_t offset_in(const struct mapping *m, const char *name, uint64_t addr)
{
	return is_anonymous(name) || !strncmp(name, "/tmp/perf-", 10) ? addr
								      : addr - m->start + m->pgoff;
}

struct dso *session_dso_at(const struct event *ev, uint64_t addr, uint64_t *ret_offset)
{
	const struct mapping *m = user_mapping(ev, addr);
	const char *name;

	if (!m)
		return NULL;
	name = mapping_name(ev->session, m);
	*ret_offset = offset_in(m, name, addr);
	return dso_of(ev->session, m, name);
}

static const struct mapping *locate_user(struct sonde_session *s, const struct event *ev,
					 uint64_t addr, struct sonde_location *ret)
{
	const struct mapping *m = user_mapping(ev, addr);
	const struct dso_symbol *sym;
	struct dso *d;

	if (!m)
		return NULL;
	ret->dso = mapping_name(s, m);
	d = dso_of(s, m, ret->dso);
	sym = d ? dso_symbol_at(d, offset_in(m, ret->dso, addr)) : NULL;
	if (sym) {
		ret->sym = sym->name;
		ret->sym_start = sym->offset;
		ret->sym_end = sym->offset + (sym->end - sym->start);
		ret->sym_binding = sym->binding;
		ret->sym_off = offset_in(m, ret->dso, addr) - sym->offset;
	}
	return m;
}

/* ---- any address ------------------------------------------------------------------------------------------------- */

static const char *build_id_text(struct sonde_session *s, const struct mapping *m, const char *dso)
{
	char hex[2 * sizeof(m->build_id)];
	uint32_t id;

	if (!m->build_id_len)
		return recorded_build_id(s, dso);

	for (unsigned i = 0; i < m->build_id_len; i++) {
		hex[2 * i] = "0123456789abcdef"[m->build_id[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[m->build_id[i] & 15];
	}
	if (strpool_intern(&s->strings, hex, 2u * m->build_id_len, &id) < 0)
		return "";
	return strpool_text(&s->strings, id);
}

int sonde_event_locate(const struct sonde_event *pub, uint64_t addr, uint32_t cpumode,
		       struct sonde_location *ret)
{
	const struct event *ev = event_of(pub);
	struct sonde_session *s = ev->session;
	const struct mapping *m;

	*ret = (struct sonde_location){ .size = sizeof(*ret), .addr = addr, .dso_build_id = "" };
	/* Nothing is known of hypervisors and guests: the host's names would be wrong ones. */
	if (cpumode >= CPUMODE_HYPERVISOR)
		return 0;
	if (cpumode == CPUMODE_KERNEL) {
		m = locate_kernel(s, ev->owned ? ev->kernel_space : s->state.kernel, addr, ret);
	} else {
		m = locate_user(s, ev, addr, ret);
	}
	if (m) {
		if (!ret->map_end) {
			ret->map_start = m->start;
			ret->map_end = m->end;
		}
		ret->map_pgoff = m->pgoff;
		ret->dso_build_id = build_id_text(s, m, ret->dso);
	}
	return 0;
}
