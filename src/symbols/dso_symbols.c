/* SPDX-License-Identifier: MIT */
/* The symbols of a dso: from its files, a JIT's map, or the recording itself. */
#include "symbols/dso_internal.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "symbols/elf_symbols.h"
#include "symbols/perf_map.h"

/* The first file with a table of all symbols, in perf's order; NULL if there is none. */
static struct elf_file *symbols_find(struct dso *d)
{
	char *debuglink = dso_wake(d) ? dso_file_debuglink(d->code) : NULL;
	struct elf_file *f = NULL;

	for (int which = 0; which < NR_DSO_FILES && !f; which++) {
		f = dso_try_file(d, which, debuglink);
		if (f && !elf_symbols_has_table(f)) {
			elf_file_close(f);
			f = NULL;
		}
	}
	free(debuglink);
	return f;
}

static int symbols_load_elf(struct dso *d)
{
	struct elf_file *file = NULL, *f, *code;
	enum plt_style plt =
		d->table->opts.rules->plt_by_relocations ? PLT_BY_RELOCATIONS : PLT_ALL;
	int r;

	if (d->kind == DSO_FILE || d->place.build_id.len)
		file = symbols_find(d);
	if (!file && dso_wake(d) && !d->table->opts.rules->ignores_debugdata &&
	    !elf_symbols_has_table(d->code) && elf_symbols_unpack(&file, d->code) < 0)
		file = NULL;
	f = file ? file : d->code;
	if (!f)
		return -ENOENT;
	d->stripped = !elf_symbols_has_table(f);
	code = dso_wake(d) ? d->code : f;
	r = elf_symbols_add(&d->symbols, f, code);
	/* A packed table (.gnu_debugdata) omits the symbols of .dynsym. */
	if (r >= 0 && f != code && !elf_symbols_has_dynamic(f))
		r = elf_symbols_add(&d->symbols, code, code);
	if (r >= 0 && d->symbols.syms.n)
		r = elf_symbols_add_plt(&d->symbols, code, plt);
	elf_file_close(file);
	return r;
}

static int symbols_load_jit_map(struct dso *d)
{
	if (d->table->opts.no_follow)
		return -EPERM;
	return perf_map_add(&d->symbols, d->place.name, d->table->opts.force,
			    &d->table->map_bytes_left);
}

/*
 * Functions that the recording names. The list has gaps, so symbols are not extended to the next
 * one.
 */
static int symbols_load_named(struct dso *d)
{
	const uint64_t to_address = d->named->first_addr - d->named_off;

	for (size_t i = 0; i < d->named->nr; i++) {
		const struct named_symbol *n = &d->named->symbols[i];
		struct set_symbol sym = {
			.raw = n->name,
			.binding = STB_GLOBAL,
			.to_address = to_address,
			.start = n->addr - to_address,
		};

		sym.end = sym.start + n->len;
		if (sym.end > sym.start) /* otherwise it contains no address */
			TRY(symbol_set_add(&d->symbols, &sym));
	}
	return symbol_set_settle(&d->symbols, true);
}

/*
 * Without a recorded build id the local file may be a different one, because path and inode prove
 * nothing on this machine.
 */
static int symbols_load_files_and_named(struct dso *d)
{
	int r = d->build_id.len ? symbols_load_elf(d) : -ENOENT;

	if (r >= 0 && d->symbols.syms.n && !d->stripped)
		return r;
	d->stripped = false;
	return symbols_load_named(d);
}

static int symbols_load(struct dso *d)
{
	if (d->named)
		return symbols_load_files_and_named(d);
	return d->kind == DSO_JIT ? symbols_load_jit_map(d) : symbols_load_elf(d);
}

static void dso_load_once(struct dso *d)
{
	int r;

	if (d->symbols_tried)
		return;
	dso_find_code(d);
	d->table->starved = false;
	r = dso_table_note_starved(d->table, symbols_load(d));
	d->too_large = r == -EFBIG;
	d->symbols_tried = !d->table->starved || d->symbols.syms.n;
	/* Symbols that were read before a failure are used. */
	if (d->symbols_tried)
		(void)symbol_set_finish(&d->symbols);
}

const struct dso_symbol *dso_symbol_at(struct dso *d, uint64_t offset)
{
	uint64_t known = hash64_find(&d->answers, offset);
	struct dso_symbol *answer = NULL;
	struct set_symbol *sym;

	if (known != HASH64_EMPTY)
		return (const struct dso_symbol *)(uintptr_t)known;
	dso_load_once(d);
	sym = symbol_set_find(&d->symbols, offset);
	if (sym)
		answer = arena_alloc(&d->table->arena, sizeof(*answer));
	if (answer)
		*answer = (struct dso_symbol){
			.name = symbol_set_name(&d->symbols, sym),
			.start = sym->start + sym->to_address,
			.end = sym->end + sym->to_address,
			.offset = sym->start,
			.binding = sym->binding,
			.is_object = sym->is_object,
		};
	/* If memory runs out, it is looked up again next time. */
	if (d->symbols_tried)
		(void)hash64_put(&d->answers, offset, (uintptr_t)answer);
	return answer;
}

enum sonde_unknown dso_unknown_file(struct dso *d)
{
	dso_load_once(d);
	if (d->symbols.syms.n)
		return d->stripped ? SONDE_UNKNOWN_STRIPPED : SONDE_KNOWN;
	if (d->kind == DSO_NONE)
		return SONDE_UNKNOWN_NO_FILE;
	if (d->other_build)
		return SONDE_UNKNOWN_OTHER_BUILD;
	if (d->too_large)
		return SONDE_UNKNOWN_TOO_LARGE;
	if (d->code)
		return SONDE_UNKNOWN_STRIPPED;
	if (d->table->opts.no_follow)
		return SONDE_UNKNOWN_NOT_FOLLOWED;
	return d->no_right ? SONDE_UNKNOWN_NO_RIGHT : SONDE_UNKNOWN_ABSENT;
}

enum sonde_unknown dso_unknown(struct dso *d)
{
	enum sonde_unknown why = dso_unknown_file(d);

	return why ? why : SONDE_UNKNOWN_NO_SYMBOL;
}

bool dso_report_unknown(struct dso *d)
{
	bool report = d->symbols_tried && !d->was_reported;

	d->was_reported |= report;
	return report;
}
