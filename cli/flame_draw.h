/* SPDX-License-Identifier: MIT */
/* Flame graphs as files: a page that draws itself (HTML), and a picture (SVG). */
#ifndef SONDE_CLI_FLAME_DRAW_H
#define SONDE_CLI_FLAME_DRAW_H

#include "flame.h"

#include <stdio.h>

struct flame_picture {
	const char *title;
	bool inverted; /* the root is at the top */
	struct flame *const *graphs;
	size_t nr; /* at least 1; SVG draws the first one only */
};

/* The put() functions for page_write(); ctx is a struct flame_picture. */
int flame_put_html(FILE *out, const void *ctx);
int flame_put_svg(FILE *out, const void *ctx);

#endif
