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
#define CACHE_SLOTS    2048u

struct cached {
	uint64_t addr;
	const struct kernel_symbol *sym; /* NULL if looked up and not found */
	bool used;
};

struct kallsyms {
	char *names; /* owned; names and modules, each with a NUL; NULL if `set` has them */
	size_t names_len;
	/* sorted by start address; symbols at one address are in the order of the file */
	VEC(struct kernel_symbol) syms;
	/* owned; the start of each symbol, in an array of its own for the search */
	uint64_t *starts;
	struct symbol_set *set; /* owned; names of a table that was not read from a text */
	/* range of the kernel itself; end is 0 if it is derived from the symbols */
	uint64_t first, end;
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

/* Appends a text to the names, which have room for the complete text of kallsyms. */
static const char *kallsyms_keep(struct kallsyms *k, const char *text, size_t len)
{
	char *to = k->names + k->names_len;

	memcpy(to, text, len);
	to[len] = '\0';
	k->names_len += len + 1;
	return to;
}

static int kallsyms_add_line(struct kallsyms *k, const struct kallsyms_line *line)
{
	const char *last = k->syms.n ? k->syms.v[k->syms.n - 1].module : "";
	struct kernel_symbol sym = {
		.name = kallsyms_keep(k, line->name, line->name_len),
		.module = "",
		.start = line->addr,
		.binding = kallsyms_binding_of(line->type),
		.is_object = !kallsyms_is_code(line->type),
	};

	if (line->module_len)
		sym.module =
			!strncmp(last, line->module, line->module_len) && !last[line->module_len]
				? last
				: kallsyms_keep(k, line->module, line->module_len);
	return vec_push(&k->syms, sym);
}

static int kallsyms_parse_text(struct kallsyms *k, const char *text, size_t len, const char *origin)
{
	const char *p = text, *text_end = text + len;
	bool hidden = true, understood = false;

	while (p < text_end) {
		const char *end = memchr(p, '\n', (size_t)(text_end - p));
		struct kallsyms_line line;

		if (!end)
			end = text_end;
		if (kallsyms_parse_line(p, end, &line)) {
			understood = true;
			if (line.addr)
				hidden = false;
			/* '$': marks of arm's linker, not symbols */
			if (kallsyms_is_kept(line.type) && *line.name != '$')
				TRY(kallsyms_add_line(k, &line));
		}
		p = end + 1;
	}
	if (!understood)
		return err_set(-EBADMSG, "%s contains no lines like 'ffffffff81000000 T _text'",
			       origin);
	if (hidden || !k->syms.n)
		return err_set(
			-ENODATA,
			"%s: all addresses are zero: hidden by the sysctl kernel.kptr_restrict",
			origin);
	return 0;
}

/* ---- sorting and ends ------------------------------------------------------------------------ */

static int kallsyms_compare(const void *pa, const void *pb)
{
	const struct kernel_symbol *a = pa, *b = pb;

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
static void kallsyms_set_ends(struct kallsyms *k)
{
	struct kernel_symbol *syms = k->syms.v;
	uint64_t next = 0;
	const char *next_module = "";

	for (size_t i = k->syms.n; i-- > 0;) {
		struct kernel_symbol *s = &syms[i];

		if (i + 1 < k->syms.n && syms[i + 1].start == s->start) {
			s->end = syms[i + 1].end;
			continue;
		}
		if (i + 1 < k->syms.n && !strcmp(next_module, s->module))
			s->end = next;
		else if (s->start > UINT64_MAX - 2 * PAGE_BYTES)
			s->end = UINT64_MAX;
		else
			s->end = kallsyms_round_up_to_page(s->start + PAGE_BYTES);
		next = s->start;
		next_module = s->module;
	}
}

static int kallsyms_prepare(struct kallsyms *k)
{
	size_t n = k->syms.n;
	bool sorted = true;

	if (!n)
		return err_set(-ENODATA, "no symbols");
	for (size_t i = 1; i < n && sorted; i++)
		sorted = k->syms.v[i - 1].start <= k->syms.v[i].start;
	if (!sorted)
		qsort(k->syms.v, n, sizeof(*k->syms.v), kallsyms_compare);
	if (!k->set)
		kallsyms_set_ends(k);
	k->starts = malloc(n * sizeof(*k->starts));
	if (!k->starts)
		return err_nomem();
	for (size_t i = 0; i < n; i++)
		k->starts[i] = k->syms.v[i].start;
	return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

int kallsyms_read(struct kallsyms **ret, const char *text, size_t len, const char *origin)
{
	struct kallsyms *k;
	int r;

	if (len > MAX_TEXT_BYTES)
		return err_set(-EFBIG, "%s: %zu bytes of kernel symbols are too many", origin, len);
	k = calloc(1, sizeof(*k));
	if (!k)
		return err_nomem();
	k->names = malloc(len + 1); /* what no name is written to takes no memory */
	r = k->names ? kallsyms_parse_text(k, text, len, origin) : err_nomem();
	if (r >= 0)
		r = kallsyms_prepare(k);
	if (r < 0) {
		kallsyms_close(k);
		return r;
	}
	*ret = k;
	return 0;
}

/* Files of /proc do not report their size. */
static int kallsyms_read_all(int fd, size_t size_hint, const char *path, char **ret,
			     size_t *ret_len)
{
	VEC(char) text = { 0 };
	int r = vec_reserve(&text, size_hint + 1);

	while (r >= 0) {
		ssize_t n = read(fd, text.v + text.n, text.capacity - text.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			r = err_errno(errno, "cannot read %s", path);
		if (n <= 0)
			break;
		text.n += (size_t)n;
		if (text.n > MAX_TEXT_BYTES)
			r = err_set(-EFBIG, "%s: more than %u MiB of kernel symbols", path,
				    MAX_TEXT_BYTES >> 20);
		else if (text.n == text.capacity)
			r = vec_reserve(&text, text.capacity);
	}
	if (r < 0) {
		vec_done(&text);
		return r;
	}
	*ret = text.v;
	*ret_len = text.n;
	return 0;
}

int kallsyms_open(struct kallsyms **ret, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *text = NULL;
	size_t len = 0;
	int r;

	if (fd < 0)
		return err_errno(errno, "cannot open %s", path);
	if (fstat(fd, &st) < 0) {
		r = err_errno(errno, "cannot read %s", path);
	} else if (!S_ISREG(st.st_mode)) {
		r = err_set(-EINVAL, "%s is not a regular file", path);
	} else if (st.st_size > MAX_TEXT_BYTES) {
		r = err_set(-EFBIG, "%s: more than %u MiB of kernel symbols", path,
			    MAX_TEXT_BYTES >> 20);
	} else {
		r = kallsyms_read_all(fd, st.st_size ? (size_t)st.st_size : 8u << 20, path, &text,
				      &len);
	}
	close(fd);
	TRY(r);
	r = kallsyms_read(ret, text, len, path);
	free(text);
	return r;
}

int kallsyms_new(struct kallsyms **ret, struct symbol_set **ret_set)
{
	struct kallsyms *k = calloc(1, sizeof(*k));

	if (!k || !(k->set = calloc(1, sizeof(*k->set)))) {
		free(k);
		return err_nomem();
	}
	*ret = k;
	*ret_set = k->set;
	return 0;
}

int kallsyms_add(struct kallsyms *k, const struct kernel_symbol *sym)
{
	return vec_push(&k->syms, *sym);
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
	free(k->names);
	free(k->starts);
	vec_done(&k->syms);
	if (k->set)
		symbol_set_done(k->set);
	free(k->set);
	free(k);
}

void kallsyms_slide(struct kallsyms *k, uint64_t by)
{
	memset(k->cache, 0, sizeof(k->cache));
	if (k->end) {
		k->first += by;
		k->end += by;
	}
	for (size_t i = 0; i < k->syms.n; i++) {
		k->syms.v[i].start += by;
		k->syms.v[i].end += by;
		k->starts[i] += by;
	}
}

/* ---- lookups --------------------------------------------------------------------------------- */

/* The last symbol that begins at or before addr. */
static const struct kernel_symbol *kallsyms_search(const struct kallsyms *k, uint64_t addr)
{
	const uint64_t *base = k->starts;
	size_t n = k->syms.n;

	if (!n || addr < base[0])
		return NULL;
	while (n > 1) {
		size_t half = n / 2;

		base = base[half] <= addr ? base + half : base;
		n -= half;
	}
	return &k->syms.v[base - k->starts];
}

const struct kernel_symbol *kallsyms_find(struct kallsyms *k, uint64_t addr)
{
	struct cached *c = &k->cache[(addr ^ addr >> 11) % CACHE_SLOTS];

	if (c->addr != addr || !c->used) {
		const struct kernel_symbol *sym = kallsyms_search(k, addr);

		*c = (struct cached){
			.addr = addr,
			.sym = sym && addr < sym->end ? sym : NULL,
			.used = true,
		};
	}
	return c->sym;
}

void kallsyms_range(const struct kallsyms *k, uint64_t *ret_first, uint64_t *ret_end)
{
	size_t last = k->syms.n - 1;

	if (k->end) {
		*ret_first = k->first;
		*ret_end = k->end;
		return;
	}
	while (last && *k->syms.v[last].module)
		last--;
	*ret_first = k->starts[0];
	*ret_end = k->syms.v[last].end;
}

uint64_t kallsyms_address(struct kallsyms *k, const char *name)
{
	vec_foreach(s, &k->syms) {
		if (*s->name == *name && !strcmp(s->name, name))
			return s->start;
	}
	return 0;
}
