/* SPDX-License-Identifier: MIT */
/*
 * Locates addresses of processes: finds the mapping as of an event, and the mapped file
 * (symbols/dso.h).
 */

#include <stdio.h>

#include "base/err.h"
#include "recording/locate.h"
#include "model/callchain.h"

struct build_id locate_build_id(struct recording *rec, const struct mapping *m, const char *path)
{
	struct source_build_id listed = { 0 };

	if (build_id_is_known(&m->build_id))
		return m->build_id;
	source_find_build_id(rec->source, path, &listed);
	return listed.id;
}

const char *recording_map_name(const struct mapping *m, const char *name,
			       char room[RECORDING_MAP_NAME_BYTES])
{
	if (!m->executable || !dso_name_is_anonymous(name))
		return name;
	snprintf(room, RECORDING_MAP_NAME_BYTES, "/tmp/perf-%d.map", m->pid);
	return room;
}

static struct dso *locate_find_dso(struct recording *rec, const struct mapping *m)
{
	struct dso_key key = {
		.name = strpool_text(rec->strings, m->name),
		.inode = build_id_is_known(&m->build_id) ? 0 : m->inode,
		.pgoff = m->pgoff,
	};
	char map[RECORDING_MAP_NAME_BYTES];

	key.build_id = locate_build_id(rec, m, key.name);
	/* perf ignores functions that the recording itself names */
	if (!rec->opts->rules->ignores_named_files)
		key.named = source_named_file(rec->source, key.name);
	if (!key.named)
		key.name = recording_map_name(m, key.name, map);
	return locate_dso(rec, &key);
}

static struct dso *locate_dso_of(struct recording *rec, const struct mapping *m)
{
	/* The cached dso is the only member that may change in a shared mapping. */
	if (!m->dso) {
		const struct dso *d = locate_find_dso(rec, m);

		((struct mapping *)m)->dso = d ? dso_id(d) : 0;
	}
	return dso_of_id(&rec->all->dso_ids, m->dso);
}

static uint64_t locate_offset_in(const struct mapping *m, const struct dso *d, uint64_t addr)
{
	return dso_is_file(d) ? addr - m->start + m->pgoff : addr;
}

struct dso *recording_dso_at(const struct event *ev, uint64_t addr, uint64_t *ret_offset)
{
	const struct address_space *space = recording_space(ev, CPUMODE_USER);
	const struct mapping *m = space ? address_space_find(space, addr) : NULL;
	struct dso *d = m ? locate_dso_of(ev->recording, m) : NULL;

	if (d)
		*ret_offset = locate_offset_in(m, d, addr);
	return d;
}

bool recording_has_file_here(struct recording *rec, const struct address_space *space)
{
	const struct mapping *m = space ? address_space_behind(space, 0) : NULL;

	for (; m; m = address_space_behind(space, m->end)) {
		struct dso *d = locate_dso_of(rec, m);

		if (d && dso_is_here(d))
			return true;
	}
	return false;
}

/* perf does not report this. Memory without a file contains data, or code without known names. */
static void locate_report_unknown(struct recording *rec, struct dso *d, struct sonde_location *ret)
{
	ret->unknown = dso_unknown(d);
	if (rec->opts->rules->silent_about_symbols || ret->unknown == SONDE_UNKNOWN_NO_FILE ||
	    !dso_report_unknown(d))
		return;
	if (ret->unknown == SONDE_UNKNOWN_OTHER_BUILD)
		defects_add(&rec->defects, DEFECT_OTHER_BUILD, 1, "%s", dso_name(d));
	else
		defects_add(&rec->defects, DEFECT_UNKNOWN_SYMBOLS, 1, "%s: %s", dso_name(d),
			    locate_unknown_text(ret->unknown));
}

enum sonde_unknown locate_unknown_file(struct recording *rec, const struct mapping *m)
{
	struct dso *d = locate_dso_of(rec, m);

	return d ? dso_unknown_file(d) : SONDE_KNOWN;
}

const struct mapping *locate_user(struct recording *rec, const struct address_space *space,
				  uint64_t addr, struct sonde_location *ret)
{
	const struct mapping *m = space ? address_space_find(space, addr) : NULL;
	struct dso *d = m ? locate_dso_of(rec, m) : NULL;
	const struct dso_symbol *sym;
	uint64_t offset;

	if (!m) {
		ret->unknown = SONDE_UNKNOWN_NO_MAPPING;
		if (addr && !rec->opts->rules->silent_about_symbols && !rec->reported_unmapped)
			defects_add(&rec->defects, DEFECT_UNKNOWN_SYMBOLS, 1, "0x%llx: %s",
				    (unsigned long long)addr, locate_unknown_text(ret->unknown));
		rec->reported_unmapped |= addr != 0;
		return NULL;
	}
	ret->dso = d ? dso_name(d) : strpool_text(rec->strings, m->name);
	if (!d)
		return m;
	ret->dso_build_id = recording_build_id(rec, dso_build_id(d));
	offset = locate_offset_in(m, d, addr);
	ret->dso_id = dso_id(d);
	ret->dso_off = offset;
	sym = dso_symbol_at(d, offset);
	if (rec->opts->rules->build_ids_as_found)
		ret->dso_build_id = recording_build_id(rec, dso_build_id_found(d));
	if (!sym && dso_report_no_descriptor(d))
		defects_add(&rec->defects, DEFECT_NO_DESCRIPTOR, 1, "%s", dso_name(d));
	if (!sym)
		locate_report_unknown(rec, d, ret);
	if (sym) {
		ret->sym = sym->name;
		ret->sym_start = sym->offset;
		ret->sym_end = sym->offset + (sym->end - sym->start);
		ret->sym_binding = sym->binding;
		ret->sym_is_object = sym->is_object;
		ret->sym_off = offset - sym->offset;
		/* perf's rule for symbols without a size */
		if (rec->opts->rules->sizeless_from_map && ret->sym_off >= sym->end - sym->start)
			ret->sym_off -= m->start;
	}
	return m;
}
