/* SPDX-License-Identifier: MIT */
/* Lists of what can be recorded, out of folders of our own: sources, probes, markers, formats. */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../tree.h"
#include "base/build_id.h"
#include "base/err.h"
#include "capture/dynamic_events.h"
#include "capture/list.h"
#include "capture/names.h"
#include "capture/running/build_ids.h"
#include "capture/running/markers.h"
#include "capture/tracepoint.h"
#include "unittest.h"

static void put(const char *root, const char *path, const char *text)
{
	tree_put(root, path, text, strlen(text));
}

/* ---- event sources --------------------------------------------------------------------------- */

static void make_sources(char *root)
{
	static const char *const files[][2] = {
		{ "/cpu/type", "4\n" },
		{ "/cpu/format/event", "config:0-7\n" },
		{ "/cpu/format/wide", "config:0-3,32-35\n" },
		{ "/cpu/format/far", "config2:0-63\n" },
		{ "/cpu/format/odd", "config3:0-3\n" },
		{ "/cpu/events/mem-loads", "event=0xcd,umask=0x1\n" },
		{ "/power/type", "9\n" },
		{ "/power/cpumask", "0,18\n" },
		{ "/power/format/event", "config:0-7\n" },
		{ "/power/events/energy-pkg", "event=0x02\n" },
		{ "/power/events/energy-pkg.scale", "2.3e-10\n" },
		{ "/power/events/energy-pkg.unit", "Joules\n" },
		{ "/software/type", "1\n" },
		{ "/uprobe/type", "7\n" },
		{ "/uprobe/format/retprobe", "config:0\n" },
	};

	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		put(root, files[i][0], files[i][1]);
}

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

static void put_event(void *ctx, const struct sonde_listed_event *e)
{
	char *all = ctx;

	assert_int_equal(e->size, sizeof(*e));
	assert_int_equal(e->kind, SONDE_EVENT_PMU);
	sprintf(all + strlen(all), "%s|%s|%s|%s|%s\n", e->name, or_dash(e->alias),
		or_dash(e->terms), or_dash(e->unit), or_dash(e->scale));
}

TEST(events_of_sources)
{
	const struct sonde_list_options opts = { sizeof(opts), SONDE_EVENT_PMU };
	char root[] = "/tmp/sonde-list-XXXXXX", all[512] = "";

	make_sources(root);
	assert_int_equal(capture_list(root, &opts, put_event, all), 0);
	assert_string_equal(all, "cpu/mem-loads/|mem-loads|event=0xcd,umask=0x1|-|-\n"
				 "power/energy-pkg/|-|event=0x02|Joules|2.3e-10\n");
	tree_remove(root);
}

static void put_source(void *ctx, const struct sonde_event_source *s)
{
	char *all = ctx;

	assert_int_equal(s->size, sizeof(*s));
	sprintf(all + strlen(all), "%s type %u on %s:", s->name, s->type, or_dash(s->cpus));
	for (size_t i = 0; i < s->nr_terms; i++)
		sprintf(all + strlen(all), " %s(%s)<=%#llx", s->terms[i].name, s->terms[i].text,
			(unsigned long long)s->terms[i].max);
	strcat(all, "\n");
}

TEST(terms_of_sources)
{
	char root[] = "/tmp/sonde-list-XXXXXX", all[1024] = "";

	make_sources(root);
	assert_int_equal(capture_list_sources(root, put_source, all), 0);
	/* software has no terms; uprobe cannot be named by them */
	assert_string_equal(all, "cpu type 4 on -: event(config:0-7)<=0xff "
				 "far(config2:0-63)<=0xffffffffffffffff odd(config3:0-3)<=0 "
				 "wide(config:0-3,32-35)<=0xff\n"
				 "power type 9 on 0,18: event(config:0-7)<=0xff\n");
	tree_remove(root);
	assert_int_equal(capture_list_sources("/nonexistent", put_source, all), 0);
}

/* ---- names ----------------------------------------------------------------------------------- */

static int check_name(void *ctx, const struct capture_name *n)
{
	size_t *nr = ctx;
	uint64_t config;
	uint32_t type;

	assert_non_null(n->description);
	assert_true(n->description[strlen(n->description) - 1] == '.');
	assert_int_equal(capture_name_lookup(n->name, &type, &config), 0);
	assert_true(type == n->type && config == n->config);
	++*nr;
	return 0;
}

TEST(each_name_has_a_description)
{
	size_t nr = 0;

	assert_int_equal(capture_names_each(check_name, &nr), 0);
	assert_int_equal(nr, 10 + 12 + 2 * (3 + 2 + 3 + 3 + 1 + 1 + 3));
}

/* ---- tracefs --------------------------------------------------------------------------------- */

TEST(probes_that_exist)
{
	char root[] = "/tmp/sonde-list-XXXXXX";
	struct dynamic_events d;
	struct tracefs t;

	assert_non_null(mkdtemp(root));
	snprintf(t.root, sizeof(t.root), "%s", root);
	assert_int_equal(dynamic_events_read(&t, &d), 0);
	assert_int_equal(d.list.n, 0);
	dynamic_events_done(&d);
	put(root, "/kprobe_events", "p:probe/b do_sys_openat2 dfd=%di:s32\nr10:probe/c  x\n");
	put(root, "/uprobe_events", "p:probe/a /bin/sh:0x10\n\nnothing\np:onlyname x\n");
	assert_int_equal(dynamic_events_read(&t, &d), 0);
	assert_int_equal(d.list.n, 3);
	assert_string_equal(dynamic_events_find(&d, "probe:b"),
			    "p:probe/b do_sys_openat2 dfd=%di:s32");
	assert_string_equal(dynamic_events_find(&d, "probe:c"), "r10:probe/c  x");
	assert_null(dynamic_events_find(&d, "probe:d"));
	dynamic_events_done(&d);
	/* this file has all of them */
	put(root, "/dynamic_events", "e:eprobes/x syscalls.sys_enter_openat");
	assert_int_equal(dynamic_events_read(&t, &d), 0);
	assert_int_equal(d.list.n, 1);
	assert_non_null(dynamic_events_find(&d, "eprobes:x"));
	dynamic_events_done(&d);
	tree_remove(root);
}

TEST(schema_of_a_tracepoint)
{
	static const char format[] =
		"name: opened\nID: 7\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:int flags;\toffset:8;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%s\", __print_flags(REC->flags, \"|\", { 1, \"READ\" })\n";
	static const char *const bad[] = {
		"opened", ":opened", "files:", "a/b:c", "..:x", "a:b:c"
	};
	char root[] = "/tmp/sonde-list-XXXXXX";
	const struct sonde_define *d;
	struct sonde_tracepoint tp;
	struct tracefs t;
	size_t nr;

	assert_non_null(mkdtemp(root));
	snprintf(t.root, sizeof(t.root), "%s", root);
	put(root, "/events/files/opened/format", format);
	assert_int_equal(tracepoint_read(&t, "files:opened", &tp), 0);
	assert_string_equal(sonde_schema_name(tp.schema), "files:opened");
	assert_int_equal(sonde_schema_fields(tp.schema, &nr)[1].offset, 8);
	d = sonde_schema_defines(tp.schema, &nr);
	assert_int_equal(nr, 2);
	assert_string_equal(d[1].text, "READ");
	tracepoint_done(&tp);
	assert_int_equal(tracepoint_read(&t, "files:closed", &tp), -ENOENT);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(tracepoint_read(&t, bad[i], &tp), -EINVAL);
	put(root, "/events/files/empty/format", "");
	assert_int_equal(tracepoint_read(&t, "files:empty", &tp), -EBADMSG);
	tree_remove(root);
}

/* ---- markers --------------------------------------------------------------------------------- */

static void put_marker(void *ctx, const struct sonde_listed_event *e)
{
	char *all = ctx;

	assert_int_equal(e->kind, SONDE_EVENT_SDT);
	assert_non_null(e->description);
	sprintf(all + strlen(all), "%s|%.2s|%s\n", e->name, e->build_id, strrchr(e->file, '/') + 1);
}

/* Puts the file into the cache as perf does, under an id. */
static void cache_file(const char *root, const char *file, const char *id, const char *probes)
{
	char path[PATH_MAX], link[PATH_MAX], folder[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/probes", file, id);
	put(root, path, probes);
	snprintf(folder, sizeof(folder), "/.build-id/%.2s/x", id);
	put(root, folder, "");
	snprintf(link, sizeof(link), "../..%s/%s", file, id);
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s", root, id, id + 2);
	assert_int_equal(symlink(link, path), 0);
}

TEST(markers_of_the_cache)
{
	static const char probes[] = "%sdt_b:z=z\np:sdt_b/z /x:0x1\n%sdt_a:y=y\n#probe:mine=f\n"
				     "%broken\n%nocolon=1\n";
	char root[] = "/tmp/sonde-list-XXXXXX", self[PATH_MAX], all[512] = "", want[128];
	char hex[BUILD_ID_HEX_CHARS];
	struct build_id id;
	FILE *f = fopen("/proc/self/exe", "re");
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(f && n > 0);
	self[n] = '\0';
	id = build_id_of_file(fileno(f));
	fclose(f);
	if (!id.len)
		SKIP("this program has no build id");
	build_id_hex(&id, hex);
	assert_non_null(mkdtemp(root));
	assert_int_equal(markers_each(root, put_marker, all), 0);
	cache_file(root, self, hex, probes);
	/* files that were replaced or removed since then */
	cache_file(root, "/bin/sh", "0123456789012345678901234567890123456789", probes);
	cache_file(root, "/nonexistent", "1123456789012345678901234567890123456789", probes);
	assert_int_equal(markers_each(root, put_marker, all), 0);
	snprintf(want, sizeof(want), "sdt_a:y|%.2s|%s\nsdt_b:z|%.2s|%s\n", hex,
		 strrchr(self, '/') + 1, hex, strrchr(self, '/') + 1);
	assert_string_equal(all, want);
	tree_remove(root);
}
