/* SPDX-License-Identifier: MIT */
#include "formats/tracefs/printk.h"

#include <stdlib.h>
#include <string.h>

static int printk_compare(const void *pa, const void *pb)
{
	const struct printk_format *a = pa, *b = pb;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

/* Copies the text between the quotes and resolves `\n \t \" \\`. */
static char *printk_unescape(struct arena *a, const char *s, size_t len)
{
	char *text = arena_alloc(a, len + 1), *to = text;

	if (!text)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (s[i] != '\\' || i + 1 == len) {
			*to++ = s[i];
			continue;
		}
		i++;
		*to++ = s[i] == 'n' ? '\n' : s[i] == 't' ? '\t' : s[i];
	}
	*to = '\0';
	return text;
}

static int printk_read_line(struct printk_formats *p, const char *line, size_t len)
{
	const char *quote = memchr(line, '"', len), *end = line + len;
	char number[20] = "";
	char *stop;
	struct printk_format f = { 0 };

	if (!quote || len < 4)
		return 0;
	memcpy(number, line, len < sizeof(number) - 1 ? len : sizeof(number) - 1);
	f.addr = strtoull(number, &stop, 16);
	if (stop == number)
		return 0;
	while (end > quote + 1 && end[-1] != '"')
		end--;
	f.text = printk_unescape(&p->arena, quote + 1,
				 end > quote + 1 ? (size_t)(end - 1 - (quote + 1)) : 0);
	return f.text ? vec_push(&p->formats, f) : err_nomem();
}

int printk_formats_read(struct printk_formats *ret, const char *text, size_t len)
{
	struct printk_formats p = { 0 };

	while (len) {
		const char *nl = memchr(text, '\n', len);
		size_t n = nl ? (size_t)(nl - text) : len;

		if (printk_read_line(&p, text, n) < 0) {
			printk_formats_done(&p);
			return err_nomem();
		}
		n += nl != NULL;
		text += n;
		len -= n;
	}
	if (p.formats.n)
		qsort(p.formats.v, p.formats.n, sizeof(*p.formats.v), printk_compare);
	*ret = p;
	return 0;
}

const char *printk_formats_find(const struct printk_formats *p, uint64_t addr)
{
	struct printk_format key = { .addr = addr }, *f = NULL;

	if (p->formats.n)
		f = bsearch(&key, p->formats.v, p->formats.n, sizeof(key), printk_compare);
	return f ? f->text : NULL;
}

void printk_formats_done(struct printk_formats *p)
{
	vec_done(&p->formats);
	arena_done(&p->arena);
}
