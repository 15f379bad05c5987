/* SPDX-License-Identifier: MIT */
/* Addresses of processes: their mappings as of an event, and the files behind those (symbols/dso.h). */

#include <stdio.h>

#include "base/err.h"
#include "formats/elf/notes.h"
#include "locate.h"
#include "model/callchain.h"

/* What the recording says of the file elsewhere than in the mapping's record: looked for once per file. */
const char *locate_build_id(struct sonde_session *s, const char *path)
{
	const struct source_ops *ops = s->source->ops;
	struct source_build_id id;
	struct build_id_memo *memo = &s->build_ids[((uintptr_t)path >> 2) % 64];

	if (memo->path != path) {
		memo->path = path;
		memo->hex = ops->build_id && ops->build_id(s->source, path, &id) ? id.hex : NULL;
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

const char *session_map_name(const struct mapping *m, const char *name,
			     char room[SESSION_MAP_NAME_BYTES])
{
	if (!m->executable || !dso_name_is_anonymous(name))
		return name;
	snprintf(room, SESSION_MAP_NAME_BYTES, "/tmp/perf-%d.map", m->pid);
	return room;
}

static struct dso *find_dso(struct sonde_session *s, const struct mapping *m)
{
	struct dso_key key = { .name = strpool_text(s->strings, m->name),
			       .build_id = m->build_id_len ? m->build_id : NULL,
			       .build_id_len = m->build_id_len,
			       .inode = m->build_id_len ? 0 : m->inode,
			       .pgoff = m->pgoff };
	uint8_t id[ELF_BUILD_ID_MAX_BYTES];
	char map[SESSION_MAP_NAME_BYTES];

	if (!s->dsos) {
		struct dso_table_options opts = { .symfs = session_symfs(s),
						  .buildid_dir = s->opts.buildid_dir,
						  .demangle = s->opts.demangle,
						  .no_follow = s->opts.no_follow,
						  .force = s->opts.force,
						  .compat = s->opts.compat };

		if (dso_table_new(&s->dsos, &opts) < 0)
			return NULL;
	}
	if (!key.build_id) {
		key.build_id_len = parse_hex(locate_build_id(s, key.name), id);
		key.build_id = key.build_id_len ? id : NULL;
	}
	/* perf knows no such names */
	if (s->source->ops->named_file && !s->opts.compat)
		key.named = s->source->ops->named_file(s->source, key.name);
	if (!key.named)
		key.name = session_map_name(m, key.name, map);
	return dso_get(s->dsos, &key);
}

static struct dso *dso_of(struct sonde_session *s, const struct mapping *m)
{
	/* The memo is the one thing that may change in a mapping that is shared. */
	if (!m->dso)
		((struct mapping *)m)->dso = find_dso(s, m);
	return m->dso;
}

static uint64_t offset_in(const struct mapping *m, const struct dso *d, uint64_t addr)
{
	return dso_is_file(d) ? addr - m->start + m->pgoff : addr;
}

struct dso *session_dso_at(const struct event *ev, uint64_t addr, uint64_t *ret_offset)
{
	const struct address_space *space = session_space(ev, CPUMODE_USER);
	const struct mapping *m = space ? address_space_find(space, addr) : NULL;
	struct dso *d = m ? dso_of(ev->session, m) : NULL;

	if (d)
		*ret_offset = offset_in(m, d, addr);
	return d;
}

bool session_has_file_here(struct sonde_session *s, const struct address_space *space)
{
	const struct mapping *m = space ? address_space_behind(space, 0) : NULL;

	for (; m; m = address_space_behind(space, m->end)) {
		struct dso *d = dso_of(s, m);

		if (d && dso_is_here(d))
			return true;
	}
	return false;
}

/* perf keeps quiet about it. Memory without a file holds data, or code that nobody can name. */
static void report_unknown(struct sonde_session *s, struct dso *d, struct sonde_location *ret)
{
	ret->unknown = dso_unknown(d);
	if (s->opts.compat || ret->unknown == SONDE_UNKNOWN_NO_FILE || !dso_tell_unknown(d))
		return;
	if (ret->unknown == SONDE_UNKNOWN_OTHER_BUILD)
		defects_add(&s->defects, DEFECT_OTHER_BUILD, 1, "%s", dso_name(d));
	else
		defects_add(&s->defects, DEFECT_UNKNOWN_SYMBOLS, 1, "%s: %s", dso_name(d),
			    sonde_unknown_text(ret->unknown));
}

enum sonde_unknown locate_unknown_file(struct sonde_session *s, const struct mapping *m)
{
	struct dso *d = dso_of(s, m);

	return d ? dso_unknown_file(d) : SONDE_KNOWN;
}

const struct mapping *locate_user(struct sonde_session *s, const struct address_space *space,
				  uint64_t addr, struct sonde_location *ret)
{
	const struct mapping *m = space ? address_space_find(space, addr) : NULL;
	struct dso *d = m ? dso_of(s, m) : NULL;
	const struct dso_symbol *sym;
	uint64_t offset;

	if (!m) {
		ret->unknown = SONDE_UNKNOWN_NO_MAPPING;
		if (addr && !s->opts.compat && !s->told_unmapped)
			defects_add(&s->defects, DEFECT_UNKNOWN_SYMBOLS, 1, "0x%llx: %s",
				    (unsigned long long)addr, sonde_unknown_text(ret->unknown));
		s->told_unmapped |= addr != 0;
		return NULL;
	}
	ret->dso = d ? dso_name(d) : strpool_text(s->strings, m->name);
	if (!d)
		return m;
	ret->dso_build_id = dso_build_id(d);
	offset = offset_in(m, d, addr);
	ret->dso_id = (uintptr_t)d;
	ret->dso_off = offset;
	sym = dso_symbol_at(d, offset);
	if (s->opts.compat) /* perf takes what the file has that it found for recorded */
		ret->dso_build_id = dso_build_id_found(d);
	if (!sym && dso_tell_no_descriptor(d))
		defects_add(&s->defects, DEFECT_NO_DESCRIPTOR, 1, "%s", dso_name(d));
	if (!sym)
		report_unknown(s, d, ret);
	if (sym) {
		ret->sym = sym->name;
		ret->sym_start = sym->offset;
		ret->sym_end = sym->offset + (sym->end - sym->start);
		ret->sym_binding = sym->binding;
		ret->sym_off = offset - sym->offset;
		/* perf's way with symbols that have no size */
		if (s->opts.compat && ret->sym_off >= sym->end - sym->start)
			ret->sym_off -= m->start;
	}
	return m;
}
