/* SPDX-License-Identifier: MIT */
#include "symbols/kallsyms.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"
#include "symbols/symbol_set.h"

#define MAX_TEXT_BYTES (256u << 20) /* a kernel with every module loaded has some 20 MB */
#define PAGE_BYTES     4096u
#define PIECE_BYTES    (64u << 10) /* of a file, read at once */
#define CACHE_SLOTS    2048u

/* The table has a hundred thousand of them and more. kallsyms_find() expands them. */
struct kallsyms_symbol {
	uint64_t start;
	uint32_t name : 28; /* place in names */
	uint32_t binding : 4;
	uint32_t module : 28; /* place in names; 0, an empty text, for the kernel itself */
	uint32_t is_object : 1;
	uint32_t ends_alone : 1; /* its end is rounded up to a page, not the next symbol */
};

enum { MAX_NAMES_BYTES = 1 << 28, NAME_MASK = MAX_NAMES_BYTES - 1 };

struct cached {
	uint64_t addr;
	uint32_t sym; /* its index + 1; 0 if looked up and not found */
	bool used;
};

struct kallsyms {
	VEC(char) names; /* names and modules, each with a NUL; an empty one first */
	/* sorted by start address; symbols at one address are in the order of the file */
	VEC(struct kallsyms_symbol) syms;
	VEC(uint64_t) ends;   /* of each symbol; empty if they follow from the starts */
	uint32_t last_module; /* place in names */
	uint64_t slid;        /* was added to all addresses */
	/* range of the kernel itself; end is 0 if it is derived from the symbols */
	uint64_t first, end;
	struct kernel_symbol found; /* the last answer */
	struct cached cache[CACHE_SLOTS];
};

/* ---- reading the text ------------------------------------------------------------------------ */

static const int8_t hex_digit[256] = {
	['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* Code, and symbols that perf treats as data: their starts end the symbol before them. */
static bool kallsyms_is_kept(char type)
{
	char upper = (char)(type & ~0x20);

	return upper == 'T' || upper == 'W' || upper == 'D' || upper == 'B';
}

static bool kallsyms_is_code(char type)
{
	const char upper = (char)(type & ~0x20);

	return upper == 'T' || upper == 'W';
}

static uint8_t kallsyms_binding_of(char type)
{
	if (type == 'W' || type == 'w')
		return 2;
	return type >= 'A' && type <= 'Z';
}

/* A line of the text: ADDR ' ' TYPE ' ' NAME [ '\t' MODULE ]. */
struct kallsyms_line {
	uint64_t addr;
	char type;
	const char *name, *module;
	size_t name_len, module_len;
};

/* Reads the line [p, end). False for anything else. */
static bool kallsyms_parse_line(const char *p, const char *end, struct kallsyms_line *ret)
{
	const char *start = p, *tab;
	uint64_t addr = 0;

	while (p < end && hex_digit[(uint8_t)*p])
		addr = addr << 4 | (uint64_t)(hex_digit[(uint8_t)*p++] - 1);
	if (p == start || p - start > 16 || end - p < 4 || *p != ' ' || p[2] != ' ')
		return false;
	*ret = (struct kallsyms_line){ .addr = addr, .type = p[1], .name = p + 3 };
	tab = memchr(ret->name, '\t', (size_t)(end - ret->name));
	ret->name_len = (size_t)((tab ? tab : end) - ret->name);
	if (tab) {
		ret->module = tab + 1;
		ret->module_len = (size_t)(end - ret->module);
	}
	return true;
}

/* Appends a text to the names. */
static int kallsyms_keep(struct kallsyms *k, const char *text, size_t len, uint32_t *ret)
{
	const size_t at = k->names.n;

	if (len >= MAX_NAMES_BYTES - at)
		return err_set(-EFBIG, "the names of the kernel's symbols have more than %d MiB",
			       MAX_NAMES_BYTES >> 20);
	TRY(vec_reserve(&k->names, len + 1));
	memcpy(k->names.v + at, text, len);
	k->names.v[at + len] = '\0';
	k->names.n += len + 1;
	*ret = (uint32_t)at;
	return 0;
}

/* Neighbours are mostly of the same module. */
static int kallsyms_keep_module(struct kallsyms *k, const char *text, size_t len, uint32_t *ret)
{
	const char *last = k->names.v + k->last_module;

	*ret = 0;
	if (!len)
		return 0;
	if (strncmp(last, text, len) != 0 || last[len])
		TRY(kallsyms_keep(k, text, len, &k->last_module));
	*ret = k->last_module;
	return 0;
}

static int kallsyms_add_line(struct kallsyms *k, const struct kallsyms_line *line)
{
	struct kallsyms_symbol sym = {
		.start = line->addr,
		.binding = kallsyms_binding_of(line->type) & 15,
		.is_object = !kallsyms_is_code(line->type),
	};
	uint32_t name, module;

	TRY(kallsyms_keep(k, line->name, line->name_len, &name));
	TRY(kallsyms_keep_module(k, line->module, line->module_len, &module));
	sym.name = name & NAME_MASK;
	sym.module = module & NAME_MASK;
	return vec_push(&k->syms, sym);
}

/* What the lines so far say about the text. */
struct kallsyms_text {
	const char *origin;
	bool understood, has_addresses;
};

static int kallsyms_parse(struct kallsyms *k, const char *p, const char *end,
			  struct kallsyms_text *text)
{
	struct kallsyms_line line;

	if (!kallsyms_parse_line(p, end, &line))
		return 0;
	text->understood = true;
	if (line.addr)
		text->has_addresses = true;
	/* '$': marks of arm's linker, not symbols */
	return kallsyms_is_kept(line.type) && *line.name != '$' ? kallsyms_add_line(k, &line) : 0;
}

/* Takes the complete lines of a text, and with is_last its rest. Returns how many bytes it took. */
static int64_t kallsyms_parse_lines(struct kallsyms *k, const char *p, size_t len, bool is_last,
				    struct kallsyms_text *text)
{
	const char *at = p, *const text_end = p + len;

	while (at < text_end) {
		const char *end = memchr(at, '\n', (size_t)(text_end - at));

		if (!end && !is_last)
			break;
		TRY(kallsyms_parse(k, at, end ? end : text_end, text));
		at = end ? end + 1 : text_end;
	}
	return at - p;
}

static int kallsyms_check_text(const struct kallsyms *k, const struct kallsyms_text *text)
{
	if (!text->understood)
		return err_set(-EBADMSG, "%s contains no lines like 'ffffffff81000000 T _text'",
			       text->origin);
	if (!text->has_addresses || !k->syms.n)
		return err_set(
			-ENODATA,
			"%s: all addresses are zero: hidden by the sysctl kernel.kptr_restrict",
			text->origin);
	return 0;
}

/* ---- sorting and ends ------------------------------------------------------------------------ */

static int kallsyms_compare(const void *pa, const void *pb)
{
	const struct kallsyms_symbol *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name; /* the order of the file */
}

static uint64_t kallsyms_round_up_to_page(uint64_t addr)
{
	return (addr + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

/*
 * The text has no sizes. A symbol ends at the next one with another address. The last symbol of the
 * kernel or of a module gets one more page, rounded up, as in perf, so that it does not name code
 * far after it.
 */
static uint64_t kallsyms_end(const struct kallsyms *k, size_t i)
{
	const struct kallsyms_symbol *syms = k->syms.v;
	uint64_t start;

	if (k->ends.n)
		return k->ends.v[i];
	while (!syms[i].ends_alone && syms[i + 1].start == syms[i].start)
		i++;
	if (!syms[i].ends_alone)
		return syms[i + 1].start;
	start = syms[i].start - k->slid;
	return (start > UINT64_MAX - 2 * PAGE_BYTES
			? UINT64_MAX
			: kallsyms_round_up_to_page(start + PAGE_BYTES)) +
	       k->slid;
}

/* Marks the last symbol at each address if the next one is not of the same module. */
static void kallsyms_mark_ends(struct kallsyms *k)
{
	struct kallsyms_symbol *syms = k->syms.v;
	const char *next_module = "";

	for (size_t i = k->syms.n; i-- > 0;) {
		const char *module = k->names.v + syms[i].module;

		if (i + 1 < k->syms.n && syms[i + 1].start == syms[i].start)
			continue;
		syms[i].ends_alone = i + 1 == k->syms.n || strcmp(next_module, module) != 0;
		next_module = module;
	}
}

/* Sorts symbols that have ends of their own. */
static int kallsyms_sort_with_ends(struct kallsyms *k)
{
	struct with_end {
		struct kallsyms_symbol sym;
		uint64_t end;
	} *all = calloc(k->syms.n, sizeof(*all));

	if (!all)
		return err_nomem();
	for (size_t i = 0; i < k->syms.n; i++)
		all[i] = (struct with_end){ k->syms.v[i], k->ends.v[i] };
	qsort(all, k->syms.n, sizeof(*all), kallsyms_compare);
	for (size_t i = 0; i < k->syms.n; i++) {
		k->syms.v[i] = all[i].sym;
		k->ends.v[i] = all[i].end;
	}
	free(all);
	return 0;
}

static int kallsyms_prepare(struct kallsyms *k)
{
	const size_t n = k->syms.n;
	bool sorted = true;

	if (!n)
		return err_set(-ENODATA, "no symbols");
	for (size_t i = 1; i < n && sorted; i++)
		sorted = k->syms.v[i - 1].start <= k->syms.v[i].start;
	if (!sorted && k->ends.n)
		TRY(kallsyms_sort_with_ends(k));
	else if (!sorted)
		qsort(k->syms.v, n, sizeof(*k->syms.v), kallsyms_compare);
	if (!k->ends.n)
		kallsyms_mark_ends(k);
	return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

int kallsyms_new(struct kallsyms **ret)
{
	struct kallsyms *k = calloc(1, sizeof(*k));

	if (!k)
		return err_nomem();
	if (vec_push(&k->names, '\0') < 0) {
		free(k);
		return err_nomem();
	}
	*ret = k;
	return 0;
}

/* Ends the opening of a table from a text. Takes over the table, which *ret gets on success. */
static int kallsyms_end_text(struct kallsyms **ret, struct kallsyms *k, int r,
			     const struct kallsyms_text *text)
{
	if (r >= 0)
		r = kallsyms_check_text(k, text);
	if (r >= 0)
		r = kallsyms_prepare(k);
	if (r < 0) {
		kallsyms_close(k);
		return r;
	}
	*ret = k;
	return 0;
}

int kallsyms_read(struct kallsyms **ret, const char *text, size_t len, const char *origin)
{
	struct kallsyms_text about = { .origin = origin };
	struct kallsyms *k;
	int64_t taken;

	if (len > MAX_TEXT_BYTES)
		return err_set(-EFBIG, "%s: %zu bytes of kernel symbols are too many", origin, len);
	TRY(kallsyms_new(&k));
	taken = kallsyms_parse_lines(k, text, len, true, &about);
	return kallsyms_end_text(ret, k, taken < 0 ? (int)taken : 0, &about);
}

/* Reads the file in pieces: its text takes more memory than the table. */
static int kallsyms_read_pieces(struct kallsyms *k, int fd, struct kallsyms_text *text)
{
	VEC(char) piece = { 0 };
	size_t total = 0;
	int64_t r = 0;
	ssize_t n = 1;

	while (r >= 0 && n) {
		r = vec_reserve(&piece, PIECE_BYTES);
		if (r < 0)
			break;
		n = read(fd, piece.v + piece.n, piece.capacity - piece.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			r = err_errno(errno, "cannot read %s", text->origin);
			break;
		}
		piece.n += (size_t)n;
		total += (size_t)n;
		if (total > MAX_TEXT_BYTES) {
			r = err_set(-EFBIG, "%s: more than %u MiB of kernel symbols", text->origin,
				    MAX_TEXT_BYTES >> 20);
			break;
		}
		r = kallsyms_parse_lines(k, piece.v, piece.n, !n, text);
		if (r > 0) {
			piece.n -= (size_t)r;
			memmove(piece.v, piece.v + r, piece.n);
		}
	}
	vec_done(&piece);
	return r < 0 ? (int)r : 0;
}

int kallsyms_open(struct kallsyms **ret, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct kallsyms_text text = { .origin = path };
	struct kallsyms *k = NULL;
	struct stat st;
	int r;

	if (fd < 0)
		return err_errno(errno, "cannot open %s", path);
	if (fstat(fd, &st) < 0)
		r = err_errno(errno, "cannot read %s", path);
	else if (!S_ISREG(st.st_mode))
		r = err_set(-EINVAL, "%s is not a regular file", path);
	else if (st.st_size > MAX_TEXT_BYTES)
		r = err_set(-EFBIG, "%s: more than %u MiB of kernel symbols", path,
			    MAX_TEXT_BYTES >> 20);
	else
		r = kallsyms_new(&k);
	if (r >= 0)
		r = kallsyms_read_pieces(k, fd, &text);
	close(fd);
	return k ? kallsyms_end_text(ret, k, r, &text) : r;
}

int kallsyms_add(struct kallsyms *k, const struct kernel_symbol *sym)
{
	struct kallsyms_symbol own = {
		.start = sym->start,
		.binding = sym->binding & 15,
		.is_object = sym->is_object,
	};
	uint32_t name, module;

	TRY(kallsyms_keep(k, sym->name, strlen(sym->name), &name));
	TRY(kallsyms_keep_module(k, sym->module, strlen(sym->module), &module));
	own.name = name & NAME_MASK;
	own.module = module & NAME_MASK;
	TRY(vec_reserve(&k->syms, 1));
	TRY(vec_push(&k->ends, sym->end));
	return vec_push(&k->syms, own);
}

int kallsyms_finish(struct kallsyms *k, uint64_t first, uint64_t end)
{
	k->first = first;
	k->end = end;
	return kallsyms_prepare(k);
}

void kallsyms_close(struct kallsyms *k)
{
	if (!k)
		return;
	vec_done(&k->names);
	vec_done(&k->syms);
	vec_done(&k->ends);
	free(k);
}

void kallsyms_slide(struct kallsyms *k, uint64_t by)
{
	memset(k->cache, 0, sizeof(k->cache));
	k->slid += by;
	if (k->end) {
		k->first += by;
		k->end += by;
	}
	vec_foreach(sym, &k->syms)
		sym->start += by;
	vec_foreach(end, &k->ends)
		*end += by;
}

/* ---- lookups --------------------------------------------------------------------------------- */

/* The number of symbols that begin at or before addr; the last of them is the nearest. */
static size_t kallsyms_search(const struct kallsyms *k, uint64_t addr)
{
	const struct kallsyms_symbol *base = k->syms.v;
	size_t n = k->syms.n;

	if (!n || addr < base->start)
		return 0;
	while (n > 1) {
		size_t half = n / 2;

		base = base[half].start <= addr ? base + half : base;
		n -= half;
	}
	return (size_t)(base - k->syms.v) + 1;
}

static struct kernel_symbol kallsyms_expand(const struct kallsyms *k, size_t i)
{
	const struct kallsyms_symbol *sym = &k->syms.v[i];

	return (struct kernel_symbol){
		.name = k->names.v + sym->name,
		.module = k->names.v + sym->module,
		.start = sym->start,
		.end = kallsyms_end(k, i),
		.binding = sym->binding,
		.is_object = sym->is_object,
	};
}

const struct kernel_symbol *kallsyms_find(struct kallsyms *k, uint64_t addr)
{
	struct cached *c = &k->cache[(addr ^ addr >> 11) % CACHE_SLOTS];

	if (c->addr != addr || !c->used) {
		const size_t nr = kallsyms_search(k, addr);

		*c = (struct cached){
			.addr = addr,
			.sym = nr && addr < kallsyms_end(k, nr - 1) ? (uint32_t)nr : 0,
			.used = true,
		};
	}
	if (!c->sym)
		return NULL;
	k->found = kallsyms_expand(k, c->sym - 1);
	return &k->found;
}

void kallsyms_range(const struct kallsyms *k, uint64_t *ret_first, uint64_t *ret_end)
{
	size_t last = k->syms.n - 1;

	if (k->end) {
		*ret_first = k->first;
		*ret_end = k->end;
		return;
	}
	while (last && k->names.v[k->syms.v[last].module])
		last--;
	*ret_first = k->syms.v[0].start;
	*ret_end = kallsyms_end(k, last);
}

uint64_t kallsyms_address(struct kallsyms *k, const char *name)
{
	vec_foreach(s, &k->syms) {
		const char *own = k->names.v + s->name;

		if (*own == *name && !strcmp(own, name))
			return s->start;
	}
	return 0;
}
