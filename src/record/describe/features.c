/* SPDX-License-Identifier: MIT */
#include "record/describe/features.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sysfile.h"
#include "base/hash.h"
#include "capture/cpus.h"
#include "sonde/sonde.h"

#define EVENT_SOURCES "%s/sys/bus/event_source/devices"
#define CPUS          "%s/sys/devices/system/cpu"

int features_add(struct features *f, uint64_t feature, struct outbuf *take_body)
{
	struct perfdata_writer_feature entry = { feature, take_body->data, take_body->len };

	if (take_body->failed) {
		outbuf_done(take_body);
		return err_nomem();
	}
	if (!take_body->len) {
		outbuf_done(take_body);
		return 0;
	}
	if (vec_push(&f->list, entry) < 0) {
		outbuf_done(take_body);
		return err_nomem();
	}
	*take_body = (struct outbuf){ 0 };
	return 0;
}

int features_add_mark(struct features *f, uint64_t feature)
{
	return vec_push(&f->list, ((struct perfdata_writer_feature){ .feature = feature })) < 0
		       ? err_nomem()
		       : 0;
}

static int features_compare(const void *a, const void *b)
{
	const struct perfdata_writer_feature *x = a, *y = b;

	return (x->feature > y->feature) - (x->feature < y->feature);
}

void features_sort(struct features *f)
{
	if (f->list.n)
		qsort(f->list.v, f->list.n, sizeof(*f->list.v), features_compare);
}

void features_done(struct features *f)
{
	vec_foreach(entry, &f->list)
		free((void *)entry->body);
	vec_done(&f->list);
}

static int features_add_string(struct features *f, uint64_t feature, const char *text)
{
	struct outbuf o = { 0 };

	perfdata_put_string(&o, text);
	return features_add(f, feature, &o);
}

/* number of possible cpus (one more than the highest number present), number of cpus online */
static int features_add_nrcpus(struct features *f)
{
	struct capture_cpus present = { 0 }, online = { 0 };
	uint32_t available = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	uint32_t nr_online = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	struct outbuf o = { 0 };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), CPUS "/present", features_root(f));
	if (capture_cpus_read(path, &present) == 0 && present.list.n)
		available = (uint32_t)present.list.v[present.list.n - 1] + 1;
	snprintf(path, sizeof(path), CPUS "/online", features_root(f));
	if (capture_cpus_read(path, &online) == 0 && online.list.n)
		nr_online = (uint32_t)online.list.n;
	vec_done(&present.list);
	vec_done(&online.list);
	perfdata_put_u32(&o, available);
	perfdata_put_u32(&o, nr_online);
	return features_add(f, FEAT_NRCPUS, &o);
}

/* A value of /proc/cpuinfo or /proc/meminfo. */
static bool features_proc_value(const struct features *f, char *buf, size_t size, const char *file,
				const char *key)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/%s", features_root(f), file);
	return sysfile_value(buf, size, path, key);
}

/* The processor's name; which line of cpuinfo holds it depends on the architecture. */
static int features_add_cpudesc(struct features *f)
{
	static const char *const keys[] = { "model name", "Model Name", "Processor", "cpu model",
					    "vendor_id",  "cpu",        "uarch" };
	char text[512], *to = text;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!features_proc_value(f, text, sizeof(text), "cpuinfo", keys[i]))
			continue;
		/* runs of blanks become one */
		for (const char *p = text; *p; p++)
			if (*p != ' ' || p[1] != ' ')
				*to++ = *p;
		*to = '\0';
		return features_add_string(f, FEAT_CPUDESC, text);
	}
	return 0;
}

static int features_add_cpuid(struct features *f)
{
	char text[512];
#if defined(__x86_64__) || defined(__i386__)
	char vendor[64], family[32], model[32], stepping[32];

	if (!features_proc_value(f, vendor, sizeof(vendor), "cpuinfo", "vendor_id") ||
	    !features_proc_value(f, family, sizeof(family), "cpuinfo", "cpu family") ||
	    !features_proc_value(f, model, sizeof(model), "cpuinfo", "model") ||
	    !features_proc_value(f, stepping, sizeof(stepping), "cpuinfo", "stepping"))
		return 0;
	snprintf(text, sizeof(text), "%s,%s,%s,%s", vendor, family, model, stepping);
#else
	if (!sysfile_line(text, sizeof(text), CPUS "/cpu0/regs/identification/midr_el1",
			  features_root(f)))
		return 0;
#endif
	return features_add_string(f, FEAT_CPUID, text);
}

static int features_add_total_mem(struct features *f)
{
	struct outbuf o = { 0 };
	char text[64];

	if (!features_proc_value(f, text, sizeof(text), "meminfo", "MemTotal"))
		return 0;
	perfdata_put_u64(&o, strtoull(text, NULL, 10));
	return features_add(f, FEAT_TOTAL_MEM, &o);
}

/* The resolved path of the program, then its arguments. */
static int features_add_cmdline(struct features *f, const char *const *argv)
{
	struct outbuf o = { 0 };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	uint32_t argc = 0;

	if (!argv || !argv[0])
		return 0;
	self[n > 0 ? n : 0] = '\0';
	while (argv[argc])
		argc++;
	perfdata_put_u32(&o, argc);
	perfdata_put_string(&o, n > 0 ? self : argv[0]);
	for (uint32_t i = 1; i < argc; i++)
		perfdata_put_string(&o, argv[i]);
	return features_add(f, FEAT_CMDLINE, &o);
}

struct sources {
	const char *root;
	struct outbuf body;
	uint32_t nr;
};

/* Calls visit for each event source, in the order of the directory, as perf lists them. */
static void features_each_source(struct sources *s,
				 void (*visit)(struct sources *s, const char *name))
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), EVENT_SOURCES, s->root);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			visit(s, e->d_name);
	if (d)
		closedir(d);
}

static void features_put_pmu_mapping(struct sources *s, const char *name)
{
	long type = sysfile_number(-1, EVENT_SOURCES "/%s/type", s->root, name);

	if (type < 0)
		return;
	s->nr++;
	perfdata_put_u32(&s->body, (uint32_t)type);
	perfdata_put_string(&s->body, name);
}

/* u32 nr, nr x { str name, str value }. Returns nr. */
static uint32_t features_put_caps(struct outbuf *o, const char *root, const char *pmu)
{
	struct outbuf pairs = { 0 };
	char path[PATH_MAX], value[256];
	struct dirent *e;
	uint32_t nr = 0;
	DIR *d;

	snprintf(path, sizeof(path), EVENT_SOURCES "/%s/caps", root, pmu);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' ||
		    !sysfile_line(value, sizeof(value), "%s/%s", path, e->d_name))
			continue;
		perfdata_put_string(&pairs, e->d_name);
		perfdata_put_string(&pairs, value);
		nr++;
	}
	if (d)
		closedir(d);
	perfdata_put_u32(o, nr);
	if (nr)
		outbuf_put(o, pairs.data, pairs.len);
	o->failed |= pairs.failed;
	outbuf_done(&pairs);
	return nr;
}

static void features_put_other_caps(struct sources *s, const char *name)
{
	const size_t before = s->body.len;

	/* the processor's own source has a separate feature */
	if (!strcmp(name, "cpu"))
		return;
	if (!features_put_caps(&s->body, s->root, name)) {
		s->body.len = before;
		return;
	}
	perfdata_put_string(&s->body, name);
	s->nr++;
}

/* Processors with cores of several kinds have an event source for each, cpu_core and the like. */
static void features_put_hybrid(struct sources *s, const char *name)
{
	char cpus[4096];

	if (strncmp(name, "cpu_", 4) ||
	    !sysfile_line(cpus, sizeof(cpus), EVENT_SOURCES "/%s/cpus", s->root, name))
		return;
	s->nr++;
	perfdata_put_string(&s->body, name);
	perfdata_put_string(&s->body, cpus);
}

static int features_add_counted(struct features *f, uint64_t feature, struct sources *s)
{
	struct outbuf o = { 0 };
	int r;

	perfdata_put_u32(&o, s->nr);
	if (s->nr)
		outbuf_put(&o, s->body.data, s->body.len);
	o.failed |= s->body.failed;
	r = features_add(f, feature, &o);
	outbuf_done(&s->body);
	return r;
}

static int features_add_sources(struct features *f)
{
	const char *root = features_root(f);
	struct sources mappings = { .root = root }, caps = { .root = root },
		       hybrid = { .root = root };
	struct outbuf cpu = { 0 };

	features_each_source(&mappings, features_put_pmu_mapping);
	TRY(features_add_counted(f, FEAT_PMU_MAPPINGS, &mappings));
	if (sysfile_number(-1, EVENT_SOURCES "/cpu/type", root) >= 0)
		features_put_caps(&cpu, root, "cpu");
	TRY(features_add(f, FEAT_CPU_PMU_CAPS, &cpu));
	features_each_source(&hybrid, features_put_hybrid);
	if (hybrid.nr)
		TRY(features_add_counted(f, FEAT_HYBRID_TOPOLOGY, &hybrid));
	features_each_source(&caps, features_put_other_caps);
	return features_add_counted(f, FEAT_PMU_CAPS, &caps);
}

int features_add_system(struct features *f, const char *const *argv)
{
	struct utsname u;

	if (uname(&u) == 0) {
		TRY(features_add_string(f, FEAT_HOSTNAME, u.nodename));
		TRY(features_add_string(f, FEAT_OSRELEASE, u.release));
		TRY(features_add_string(f, FEAT_ARCH, u.machine));
	}
	TRY(features_add_string(f, FEAT_VERSION, SONDE_VERSION));
	TRY(features_add_nrcpus(f));
	TRY(features_add_cpudesc(f));
	TRY(features_add_cpuid(f));
	TRY(features_add_total_mem(f));
	TRY(features_add_cmdline(f, argv));
	return features_add_sources(f);
}

/* ---- tracepoints ----------------------------------------------------------------------------- */

static int features_by_system(const void *a, const void *b)
{
	const struct perfdata_writer_format *x = a, *y = b;

	return strcmp(x->system, y->system);
}

/*
 * Reads the format of each event once, sorted by system. *ret_nr is the number of formats read,
 * also on failure.
 */
static int features_read_formats(const struct capture_events *events,
				 struct perfdata_writer_format *formats, size_t *ret_nr)
{
	struct hash64 seen = { 0 };
	char path[512], *text;
	int r = 0;

	for (size_t i = 0; i < events->list.n && r >= 0; i++) {
		const struct capture_event *e = &events->list.v[i];
		size_t len;

		if (!e->system || hash64_find(&seen, e->attr.config) != HASH64_EMPTY)
			continue;
		snprintf(path, sizeof(path), "events/%s/%s/format", e->system, e->event);
		r = tracefs_read(&events->tracefs, path, &text, &len);
		if (r < 0)
			break;
		formats[(*ret_nr)++] = (struct perfdata_writer_format){ e->system, text, len };
		r = hash64_put(&seen, e->attr.config, 1);
	}
	hash64_done(&seen);
	return r;
}

int features_add_tracing(struct features *f, const struct capture_events *events,
			 const struct outbuf *symbols)
{
	const bool has_tracefs = events->has_tracefs;
	struct perfdata_writer_tracing t = { .page_size = (uint32_t)sysconf(_SC_PAGESIZE) };
	struct perfdata_writer_format *formats;
	char *page = NULL, *event = NULL, *printk = NULL, *comms = NULL;
	struct outbuf o = { 0 };
	int r;

	if (!events->has_tracefs && !symbols)
		return 0;
	formats = calloc(events->list.n, sizeof(*formats));
	if (!formats)
		return err_nomem();
	t.formats = formats;
	if (symbols) {
		t.kallsyms = symbols->data;
		t.kallsyms_len = symbols->len;
	}
	r = features_read_formats(events, formats, &t.nr_formats);
	if (r >= 0 && has_tracefs)
		r = tracefs_read(&events->tracefs, "events/header_page", &page, &t.header_page_len);
	if (r >= 0 && has_tracefs)
		r = tracefs_read(&events->tracefs, "events/header_event", &event,
				 &t.header_event_len);
	/* texts that trace_printk calls point to: absent from some kernels */
	if (r >= 0 && has_tracefs &&
	    tracefs_read(&events->tracefs, "printk_formats", &printk, &t.printk_formats_len) < 0)
		t.printk_formats_len = 0;
	/*
	 * names of tasks that the tracer has seen, including tasks that ended before the recording
	 */
	if (r >= 0 && has_tracefs &&
	    tracefs_read(&events->tracefs, "saved_cmdlines", &comms, &t.saved_cmdlines_len) < 0)
		t.saved_cmdlines_len = 0;
	if (r >= 0) {
		qsort(formats, t.nr_formats, sizeof(*formats), features_by_system);
		t.header_page = page;
		t.header_event = event;
		t.printk_formats = printk;
		t.saved_cmdlines = comms;
		perfdata_put_tracing(&o, &t);
		r = features_add(f, FEAT_TRACING_DATA, &o);
	}
	for (size_t i = 0; i < t.nr_formats; i++)
		free((void *)formats[i].text);
	free(formats);
	free(page);
	free(event);
	free(printk);
	free(comms);
	return r;
}
