/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include "say.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int page_put(FILE *out, const char *const *page, const struct page_mark *marks)
{
	for (; *page; page++) {
		const struct page_mark *m = marks;
		int r;

		while (m->mark && strcmp(m->mark, *page) != 0)
			m++;
		r = m->mark ? m->put(out, m->ctx) : fputs(*page, out) < 0 ? -errno : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

bool page_is_svg(const char *path)
{
	const size_t len = strlen(path);

	return len > 4 && !strcmp(path + len - 4, ".svg");
}

int page_write(const char *path, int (*put)(FILE *out, const void *ctx), const void *ctx)
{
	FILE *out = strcmp(path, "-") ? fopen(path, "we") : stdout;
	int r;

	if (!out) {
		r = -errno;
		cli_say("cannot write %s: %s", path, strerror(-r));
		return r;
	}
	errno = 0;
	r = put(out, ctx);
	if (r >= 0 && (ferror(out) || fflush(out)))
		r = errno ? -errno : -EIO;
	if (out != stdout && fclose(out) && r >= 0)
		r = -errno;
	/* The end of main() reports a failure of the standard output. */
	if (r < 0 && out != stdout)
		cli_say("cannot write %s: %s", path, strerror(-r));
	return r;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Decodes a character; returns its length, 0 if the bytes are not UTF-8. */
static int pages_character(const unsigned char *p, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const int len = *p < 0x80       ? 1
			: *p >> 5 == 6  ? 2
			: *p >> 4 == 14 ? 3
			: *p >> 3 == 30 ? 4
					: 0;

	*ret = len == 1 ? *p : *p & (0x7fu >> len);
	for (int i = 1; i < len; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		*ret = *ret << 6 | (p[i] & 0x3f);
	}
	if (!len || *ret < least[len] || *ret > 0x10ffff || *ret >> 11 == 0x1b)
		return 0;
	return len;
}

static bool pages_is_hidden(uint32_t c)
{
	return (c >= 0x80 && c < 0xa0) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c & 0xfffe) == 0xfffe;
}

void page_put_text(FILE *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p) {
		uint32_t c;
		const int len = pages_character(p, &c);

		if (!len)
			fprintf(out, "\\x%02x", *p);
		else if (strchr("&<>\"'", (int)c) && c < 0x80)
			fprintf(out, "&#%u;", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "&#x%x;", c == 0x7f ? 0x2421 : 0x2400 + c);
		else if (pages_is_hidden(c))
			fprintf(out, "&#60;U+%04X&#62;", c);
		else
			fwrite(p, 1, (size_t)len, out);
		p += len ? len : 1;
	}
}

int page_put_title(FILE *out, const void *ctx)
{
	page_put_text(out, ctx);
	return 0;
}

/* Neither "</script" nor "<!--" may appear in an element <script>. */
int page_put_json(FILE *out, const char *text)
{
	char *json = sonde_json_string(text, strlen(text));

	if (!json)
		return -ENOMEM;
	for (const char *p = json; *p; p++) {
		if (*p == '<')
			fputs("\\u003c", out);
		else
			putc(*p, out);
	}
	free(json);
	return 0;
}
