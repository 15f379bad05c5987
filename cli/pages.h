/* SPDX-License-Identifier: MIT */
/*
 * Pictures as files, made from the pages of viewer/, which tools/embed turns into arrays of text.
 * Names from recordings are escaped. A mark "@MARK@" in a page is replaced by text from the
 * program.
 */
#ifndef SONDE_CLI_PAGES_H
#define SONDE_CLI_PAGES_H

#include <stdbool.h>
#include <stdio.h>

extern const char *const page_flamegraph[], *const page_flamegraph_svg[];
extern const char *const page_heatmap[], *const page_heatmap_svg[];

struct page_mark {
	const char *mark; /* "@TITLE@" */
	/* Writes the text that replaces the mark. Returns 0 or a negative errno. */
	int (*put)(FILE *out, const void *ctx);
	const void *ctx;
};

/* Writes a page; marks ends with an empty element. Returns 0 or a negative errno. */
int page_put(FILE *out, const char *const *page, const struct page_mark *marks);
/* True if the name of a file asks for SVG: it ends in ".svg" and has more than that. */
bool page_is_svg(const char *path);
/*
 * Writes the file `path` ("-" for standard output) by calling put. Reports a failure. Returns 0 or
 * a negative errno.
 */
int page_write(const char *path, int (*put)(FILE *out, const void *ctx), const void *ctx);

/*
 * Writes any bytes as text of HTML or XML. Control characters become pictures of them, marks that
 * change the direction of text become "<U+202E>", bytes that are not UTF-8 become "\x80", as in
 * page.js.
 */
void page_put_text(FILE *out, const char *text);
/* A put() for struct page_mark; ctx is the text. */
int page_put_title(FILE *out, const void *ctx);
/* Writes any bytes as a JSON string inside an element <script>. Returns 0 or -ENOMEM. */
int page_put_json(FILE *out, const char *text);

#endif
