/* SPDX-License-Identifier: MIT */
/*
 * The input as a recording whose samples a profile adds up: its rows, call trees and paths, and the
 * sum and the difference with the same profile. Sums of a row and of its tree must agree. The
 * inputs are those of the target perfdata.
 */
#include "asking.h"

#include <stdio.h>
#include <stdlib.h>

#include "sonde/sonde.h"

enum { SMALLEST_HEADER = 72, MOST_TREES = 64 };

static const char *const keys[] = {
	"comm,dso,sym",
	"sym,srcline",
	"pid,cpu,time,socket",
	"dso,trace,parent",
	"trace_fields",
	"cgroup,socket,comm",
	"addr_from,symbol_to,sym",
	"mispredict,cycles",
	"local_weight",
	"sym,symbol_size,dso_size",
	"dso_from,srcline_from,dso_to",
	"comm",
	"sym,code_page_size",
	"transaction,sym",
	"phys_daddr,sym",
	"",
};
static const char *const graphs[] = { "none", "callee", "caller", "callee\ncallgraph-key=address" };
static const char *const more[] = { "",
				    "branches=1\n",
				    "children=1\n",
				    "hide-unresolved=1\n",
				    "ignore-callees=a\n",
				    "groups=all\n",
				    "max-keys=3\n",
				    "weight=addr\nweight=pid\n" };

/* The sum of the periods of all nodes of a tree that are roots. */
static uint64_t walk_tree(struct sonde_profile *p, uint32_t node)
{
	struct sonde_profile_node n = { .size = sizeof(n) };
	uint64_t sum = 0;

	for (; node && sonde_profile_node(p, node, &n) > 0; node = n.next) {
		struct sonde_profile_place place = { .size = sizeof(place) };

		for (uint32_t i = 0; i < n.nr_frames; i++)
			sonde_profile_place(p, n.frames[i], &place);
		if (walk_tree(p, n.child) + n.hit_samples != n.samples)
			abort();
		sum += n.samples;
	}
	return sum;
}

static void walk_table(struct sonde_profile *p, uint32_t table)
{
	struct sonde_profile_path path = { .size = sizeof(path) };
	struct sonde_profile_row row = { .size = sizeof(row) };
	struct sonde_profile_value v = { .size = sizeof(v) };
	uint32_t root;

	for (uint64_t i = 0; sonde_profile_row(p, table, i, &row) > 0; i++) {
		for (uint32_t k = 0; sonde_profile_value(p, table, i, k, &v) > 0; k++)
			;
		if (i < MOST_TREES && sonde_profile_tree(p, table, i, &root) > 0)
			walk_tree(p, root);
	}
	for (uint64_t i = 0; sonde_profile_path(p, table, i, &path) > 0; i++)
		sonde_profile_path_value(p, table, i, 0, &v);
}

static void walk(struct sonde_profile *p)
{
	struct sonde_profile_table t = { .size = sizeof(t) };

	for (uint32_t i = 0; sonde_profile_table(p, i, &t) > 0; i++)
		walk_table(p, i);
}

static struct sonde_profile *profile_of(const char *path, uint32_t choice)
{
	struct sonde_profile *p = NULL;
	struct sonde_session *s;
	char text[512];
	int r;

	snprintf(text, sizeof(text), "keys=%s\ncallgraph=%s\n%s", keys[choice & 15],
		 graphs[choice >> 4 & 3], more[choice >> 6 & 7]);
	if (sonde_profile_new(&p, text, "fuzz") < 0)
		return NULL;
	snprintf(text, sizeof(text),
		 "kallsyms=/dev/null\nbuildid-dir=/nonexistent\nsymfs=/nonexistent\nforce=1\n"
		 "window=4096\ncompat=%s\ninput=%s\n",
		 choice >> 9 & 1 ? "perf-6.1" : "none", path);
	r = sonde_session_open(&s, text, "fuzz");
	if (r >= 0) {
		r = sonde_profile_read(p, s);
		sonde_session_close(s);
	}
	if (r >= 0)
		r = sonde_profile_finish(p);
	if (r >= 0)
		return p;
	sonde_profile_free(p);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint32_t choice =
		size ? fuzz_choice(data, size < SMALLEST_HEADER ? size : SMALLEST_HEADER) +
				data[size - 1]
		     : 0;
	static struct fuzz_file file;
	struct sonde_profile *p, *sum;

	if (!size || fuzz_file_put(&file, data, size) < 0)
		return 0;
	p = profile_of(file.path, choice);
	if (!p)
		return 0;
	walk(p);
	if (sonde_profile_new(&sum, "keys=comm,sym\ncallgraph=callee\n", "fuzz") >= 0) {
		if (sonde_profile_merge(sum, p) >= 0 && sonde_profile_subtract(sum, p) >= 0 &&
		    sonde_profile_finish(sum) >= 0)
			walk(sum);
		sonde_profile_free(sum);
	}
	sonde_profile_free(p);
	return 0;
}
