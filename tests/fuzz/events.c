/* SPDX-License-Identifier: MIT */
/*
 * The values of -e and --filter. The input is
 *
 *	u8 bits that choose changes of the list | events | NUL | filter
 *
 * Tracepoints and event sources are those of a small folder, and names of a vendor (pfm:) are those
 * of one processor, so that results do not depend on the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "asking.h"
#include "base/err.h"
#include "capture/events.h"

static char root[200];

static const struct {
	const char *path, *text; /* text NULL: a folder */
} files[] = {
	{ "tracing", NULL },
	{ "tracing/events", NULL },
	{ "tracing/events/header_page", "" },
	{ "tracing/events/sched", NULL },
	{ "tracing/events/sched/sched_switch", NULL },
	{ "tracing/events/sched/sched_switch/id", "314\n" },
	{ "tracing/events/sched/sched_waking", NULL },
	{ "tracing/events/sched/sched_waking/id", "315\n" },
	{ "sources", NULL },
	{ "sources/cpu", NULL },
	{ "sources/cpu/type", "4\n" },
	{ "sources/cpu/format", NULL },
	{ "sources/cpu/format/event", "config:0-7\n" },
	{ "sources/cpu/format/umask", "config:8-15,32-35\n" },
	{ "sources/cpu/format/ldlat", "config1:0-15\n" },
	{ "sources/cpu/events", NULL },
	{ "sources/cpu/events/slots", "event=0x00,umask=0x4\n" },
	{ "sources/uncore_box_0", NULL },
	{ "sources/uncore_box_0/type", "12\n" },
	{ "sources/uncore_box_0/cpumask", "0,2-3\n" },
	{ "sources/uncore_box_1", NULL },
	{ "sources/uncore_box_1/type", "13\n" },
};
enum { NR_FILES = sizeof(files) / sizeof(files[0]) };

static void path_of(int i, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%s", root, files[i].path);
}

static void remove_files(void)
{
	char path[400];

	for (int i = NR_FILES - 1; i >= 0; i--) {
		path_of(i, path, sizeof(path));
		if (files[i].text)
			unlink(path);
		else
			rmdir(path);
	}
	rmdir(root);
}

static int make_files(void)
{
	const char *parent = getenv("TMPDIR");
	char path[400];

	snprintf(root, sizeof(root), "%s/sonde-fuzz-XXXXXX", parent && *parent ? parent : "/tmp");
	if (!mkdtemp(root))
		return -1;
	atexit(remove_files);
	setenv("LIBPFM_FORCE_PMU", "skl", 1); /* a library without this table knows no processor */
	for (int i = 0; i < NR_FILES; i++) {
		FILE *f;

		path_of(i, path, sizeof(path));
		if (!files[i].text) {
			if (mkdir(path, 0700) < 0)
				return -1;
			continue;
		}
		f = fopen(path, "we");
		if (!f)
			return -1;
		fputs(files[i].text, f);
		fclose(f);
	}
	return 0;
}

/* A group is consecutive events that begin with the leader. */
static void check(const struct capture_events *l)
{
	for (size_t i = 0; i < l->list.n; i++) {
		const struct capture_event *e = &l->list.v[i];

		if (e->leader > i || l->list.v[e->leader].leader != e->leader || !e->name)
			abort();
	}
}

static void change(struct capture_events *l, uint8_t what)
{
	if (!l->list.n)
		return;
	if (what & 1)
		capture_events_group_all(l);
	if (what & 2)
		capture_events_ungroup(l, l->list.v[what % l->list.n].leader);
	check(l);
	if (what & 4)
		capture_events_remove(l, what % l->list.n);
	check(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct capture_events l = { .has_tracefs = true };
	char sources[300], *text, *filter;

	if (!size || (!*root && make_files() < 0))
		return 0;
	snprintf(l.tracefs.root, sizeof(l.tracefs.root), "%s/tracing", root);
	snprintf(sources, sizeof(sources), "%s/sources", root);
	l.sources = sources;
	text = fuzz_text(data + 1, size - 1);
	if (capture_events_add(&l, text) < 0 && !*err_text())
		abort();
	check(&l);
	filter = text + strlen(text);
	if (filter < text + size - 1 && l.list.n)
		capture_events_filter(&l, filter + 1);
	change(&l, data[0]);
	capture_events_done(&l);
	free(text);
	return 0;
}
