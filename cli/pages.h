/* SPDX-License-Identifier: MIT */
/*
 * Pictures as files: the pages of viewer/, which tools/embed turns into arrays of text, and names
 * from recordings as text in them. A piece "@MARK@" of a page stands for what a program fills in.
 */
#ifndef SONDE_CLI_PAGES_H
#define SONDE_CLI_PAGES_H

#include <stdio.h>

extern const char *const page_flamegraph[], *const page_flamegraph_svg[];
extern const char *const page_heatmap[], *const page_heatmap_svg[];

struct page_mark {
	const char *mark; /* "@TITLE@" */
	/* Writes the text in its place; returns 0 or a negative errno. */
	int (*put)(FILE *out, const void *ctx);
	const void *ctx;
};

/* Writes a page; marks ends with an empty element. Returns 0 or a negative errno. */
int page_put(FILE *out, const char *const *page, const struct page_mark *marks);
/*
 * Writes the file `path` ("-": standard output) by calling put. A failure is reported. Returns 0 or
 * a negative errno.
 */
int page_write(const char *path, int (*put)(FILE *out, const void *ctx), const void *ctx);

/*
 * Any bytes as text of HTML or XML. Control characters become pictures of them, marks that change
 * the direction of text "<U+202E>", bytes that are not UTF-8 "\x80", as in page.js.
 */
void page_put_text(FILE *out, const char *text);
/* For struct page_mark: ctx is the text. */
int page_put_title(FILE *out, const void *ctx);
/* Any bytes as a string of JSON inside an element <script>. Returns 0 or -ENOMEM. */
int page_put_json(FILE *out, const char *text);

#endif
