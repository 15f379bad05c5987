/* SPDX-License-Identifier: MIT */
/*
 * All use of libpfm. It is loaded when a name of a vendor is first used: its tables have 41,000
 * addresses to relocate, which would lengthen every start of sonde by 4 ms.
 *
 * The library has global state: pfm_initialize() looks at the processor once and marks the tables
 * that apply, in variables of its own. That is right here, because a process has one machine. So
 * the functions that were found and the lock are global, too. Each call is made under the lock,
 * because the library does not say that threads may call it at once. It is never terminated or
 * unloaded: another user of it in this process may still need it.
 */
#include "capture/pfm.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"

#ifndef HAVE_LIBPFM

static const char pfm_missing[] =
	"names of a processor's vendor need libpfm, and this sonde was built without it: install "
	"libpfm4-dev (Debian's name) and build again";

int capture_pfm_encode(const char *text, const char *name, struct perf_event_attr *ret)
{
	return err_set(-EBADR, "event '%s': %s", text, pfm_missing);
}

int capture_pfm_each(const char *processor, int (*visit)(void *ctx, const struct pfm_event *event),
		     void *ctx)
{
	return err_set(-ENOTSUP, "%s", pfm_missing);
}

#else

#include <dlfcn.h>
#include <fnmatch.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "base/sysfile.h"

#define PFM_FUNCTIONS(F)           \
	F(pfm_initialize)          \
	F(pfm_strerror)            \
	F(pfm_get_pmu_info)        \
	F(pfm_find_event)          \
	F(pfm_get_event_next)      \
	F(pfm_get_event_info)      \
	F(pfm_get_event_attr_info) \
	F(pfm_get_os_event_encoding)

static struct {
	pthread_mutex_t lock;
	bool is_loaded;
#define MEMBER(function) __typeof__(function) *function;
	PFM_FUNCTIONS(MEMBER)
#undef MEMBER
} lib = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int pfm_load(void)
{
	void *handle;

	if (lib.is_loaded)
		return 0;
	handle = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return err_set(-ENOTSUP,
			       "names of a processor's vendor need libpfm: install libpfm4 "
			       "(Debian's name); %s",
			       dlerror());
#define FIND(function)                                                          \
	*(void **)&lib.function = dlsym(handle, #function);                     \
	if (!lib.function) {                                                    \
		dlclose(handle);                                                \
		return err_set(-ENOTSUP, "libpfm.so.4 has no " #function "()"); \
	}
	PFM_FUNCTIONS(FIND)
#undef FIND
	lib.is_loaded = true;
	return 0;
}

static int pfm_begin_locked(void)
{
	int r;

	TRY(pfm_load());
	r = lib.pfm_initialize(); /* later calls return the first result */
	return r == PFM_SUCCESS
		       ? 0
		       : err_set(-ENODEV, "libpfm cannot be used: %s", lib.pfm_strerror(r));
}

/* Locks the library; pfm_end() follows if this succeeds. */
static int pfm_begin(void)
{
	int r;

	pthread_mutex_lock(&lib.lock);
	r = pfm_begin_locked();
	if (r < 0)
		pthread_mutex_unlock(&lib.lock);
	return r;
}

static void pfm_end(void)
{
	pthread_mutex_unlock(&lib.lock);
}

/* ---- processors ------------------------------------------------------------------------------ */

static bool pfm_table(int i, pfm_pmu_info_t *ret)
{
	*ret = (pfm_pmu_info_t){ .size = sizeof(*ret) };
	return lib.pfm_get_pmu_info((pfm_pmu_t)i, ret) == PFM_SUCCESS;
}

/* perf and perf_raw: the kernel's own names, which need no table of a processor. */
static bool pfm_is_processor(const pfm_pmu_info_t *p)
{
	return p->type != PFM_PMU_TYPE_OS_GENERIC;
}

/* The processor as the kernel describes it: "AuthenticAMD, family 26, model 2". */
static void pfm_machine(char *buf, size_t size)
{
	static const struct {
		const char *key, *before;
	} facts[] = {
		{ "vendor_id", "" },     { "cpu family", "family " },
		{ "model", "model " },   { "CPU implementer", "implementer " },
		{ "CPU part", "part " }, { "cpu", "" },
	};
	size_t len = 0;

	*buf = '\0';
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts) && len < size; i++) {
		char value[64];

		if (sysfile_value(value, sizeof(value), "/proc/cpuinfo", facts[i].key))
			len += (size_t)snprintf(buf + len, size - len, "%s%s%s", len ? ", " : "",
						facts[i].before, value);
	}
	if (!*buf)
		snprintf(buf, size, "unknown");
}

/* The names of the tables that apply to this machine. Returns how many are of processors. */
static size_t pfm_detected(char *buf, size_t size)
{
	size_t len = 0, nr = 0;
	pfm_pmu_info_t p;
	int i;

	*buf = '\0';
	pfm_for_all_pmus(i) {
		if (!pfm_table(i, &p) || !p.is_present)
			continue;
		nr += pfm_is_processor(&p);
		if (len < size)
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
						p.name);
	}
	return nr;
}

static int pfm_unknown_processor(const char *before)
{
	char machine[256], tables[512];

	pfm_machine(machine, sizeof(machine));
	pfm_detected(tables, sizeof(tables));
	return err_set(-ENODEV,
		       "%slibpfm has no table of events for this processor (%s): a newer package "
		       "libpfm4 (Debian's name) may have one, and 'sonde list pfm --cpu MODEL' "
		       "lists another's; the tables that it detected are: %s",
		       before, machine, *tables ? tables : "none");
}

static int pfm_no_such_processor(const char *processor)
{
	char near_names[512];
	struct near near;
	pfm_pmu_info_t p;
	int i;

	near_init(&near, processor);
	pfm_for_all_pmus(i)
		if (pfm_table(i, &p) && pfm_is_processor(&p))
			near_offer(&near, p.name);
	near_text(&near, near_names, sizeof(near_names));
	return err_set(-ENODEV,
		       "libpfm has no table of events with the name '%s'%s; 'sonde list pfm --cpu "
		       "\"*\"' lists all tables",
		       processor, near_names);
}

/* ---- the events of a processor --------------------------------------------------------------- */

enum { PFM_NAME_MAX = 256, PFM_TEXT_MAX = 2048 };

static bool pfm_attribute(int event, int i, pfm_event_attr_info_t *ret)
{
	*ret = (pfm_event_attr_info_t){ .size = sizeof(*ret) };
	return lib.pfm_get_event_attr_info(event, i, PFM_OS_PERF_EVENT_EXT, ret) == PFM_SUCCESS;
}

static bool pfm_event(int event, pfm_event_info_t *ret)
{
	*ret = (pfm_event_info_t){ .size = sizeof(*ret) };
	return lib.pfm_get_event_info(event, PFM_OS_PERF_EVENT_EXT, ret) == PFM_SUCCESS;
}

/* "u k e i c= t" */
static void pfm_modifiers(const pfm_event_info_t *e, char *buf, size_t size)
{
	pfm_event_attr_info_t a;
	size_t len = 0;
	int i;

	*buf = '\0';
	pfm_for_each_event_attr(i, e)
		if (pfm_attribute(e->idx, i, &a) && a.type != PFM_ATTR_UMASK && len < size)
			len += (size_t)snprintf(buf + len, size - len, "%s%s%s", len ? " " : "",
						a.name, a.type == PFM_ATTR_MOD_INTEGER ? "=" : "");
}

static int pfm_visit_event(const pfm_pmu_info_t *p, const pfm_event_info_t *e,
			   int (*visit)(void *ctx, const struct pfm_event *event), void *ctx)
{
	char name[PFM_NAME_MAX], text[PFM_TEXT_MAX], modifiers[PFM_NAME_MAX];
	const struct pfm_event event = { name, text, modifiers };
	pfm_event_attr_info_t a;
	bool has_masks = false;
	int i;

	pfm_modifiers(e, modifiers, sizeof(modifiers));
	pfm_for_each_event_attr(i, e) {
		if (!pfm_attribute(e->idx, i, &a) || a.type != PFM_ATTR_UMASK)
			continue;
		has_masks = true;
		snprintf(name, sizeof(name), "pfm:%s::%s:%s", p->name, e->name, a.name);
		snprintf(text, sizeof(text), "%s: %s", e->desc ? e->desc : e->name,
			 a.desc ? a.desc : a.name);
		TRY(visit(ctx, &event));
	}
	if (has_masks)
		return 0;
	snprintf(name, sizeof(name), "pfm:%s::%s", p->name, e->name);
	snprintf(text, sizeof(text), "%s", e->desc ? e->desc : e->name);
	return visit(ctx, &event);
}

static int pfm_visit_table(const pfm_pmu_info_t *p,
			   int (*visit)(void *ctx, const struct pfm_event *event), void *ctx)
{
	for (int i = p->first_event; i != -1; i = lib.pfm_get_event_next(i)) {
		pfm_event_info_t e;

		if (pfm_event(i, &e))
			TRY(pfm_visit_event(p, &e, visit, ctx));
	}
	return 0;
}

static int pfm_visit_tables(const char *processor,
			    int (*visit)(void *ctx, const struct pfm_event *event), void *ctx)
{
	pfm_pmu_info_t p;
	size_t found = 0;
	int i;

	pfm_for_all_pmus(i) {
		if (!pfm_table(i, &p) || !pfm_is_processor(&p) ||
		    (processor ? fnmatch(processor, p.name, FNM_CASEFOLD) : !p.is_present))
			continue;
		found++;
		TRY(pfm_visit_table(&p, visit, ctx));
	}
	if (found)
		return 0;
	return processor ? pfm_no_such_processor(processor) : pfm_unknown_processor("");
}

int capture_pfm_each(const char *processor, int (*visit)(void *ctx, const struct pfm_event *event),
		     void *ctx)
{
	int r;

	TRY(pfm_begin());
	r = pfm_visit_tables(processor, visit, ctx);
	pfm_end();
	return r;
}

/* ---- one event ------------------------------------------------------------------------------- */

/* Lists the unit masks and modifiers of an event, for messages. */
static void pfm_attributes(int event, char *buf, size_t size)
{
	pfm_event_attr_info_t a;
	pfm_event_info_t e;
	size_t len = 0;
	int i;

	*buf = '\0';
	if (!pfm_event(event, &e))
		return;
	pfm_for_each_event_attr(i, &e)
		if (pfm_attribute(event, i, &a) && len < size)
			len += (size_t)snprintf(buf + len, size - len, "%s%s%s", len ? ", " : "",
						a.name, a.type == PFM_ATTR_MOD_INTEGER ? "=N" : "");
}

/* The text up to the unit masks: "skl::INST_RETIRED". */
static void pfm_event_part(const char *name, char *buf, size_t size)
{
	const char *table = strstr(name, "::");
	const char *event = table ? table + 2 : name;

	snprintf(buf, size, "%.*s", (int)((size_t)(event - name) + strcspn(event, ":.")), name);
}

static int pfm_explain_event(const char *text, const char *name)
{
	char near_names[512], tables[512], part[PFM_NAME_MAX];
	const char *wanted;
	struct near near;
	pfm_pmu_info_t p;
	int i;

	pfm_event_part(name, part, sizeof(part));
	wanted = strstr(part, "::") ? strstr(part, "::") + 2 : part;
	near_init(&near, wanted);
	pfm_for_all_pmus(i) {
		if (!pfm_table(i, &p) || !p.is_present || !pfm_is_processor(&p))
			continue;
		for (int k = p.first_event; k != -1; k = lib.pfm_get_event_next(k)) {
			pfm_event_info_t e;

			if (pfm_event(k, &e))
				near_offer(&near, e.name);
		}
	}
	near_text(&near, near_names, sizeof(near_names));
	if (!pfm_detected(tables, sizeof(tables))) {
		pfm_unknown_processor("");
		return err_add(-EBADR, "event '%s'", text);
	}
	return err_set(-EBADR,
		       "event '%s': libpfm knows no event '%s' of this processor (%s)%s; 'sonde "
		       "list pfm' lists them",
		       text, part, tables, near_names);
}

static int pfm_explain(const char *text, const char *name, int error)
{
	char part[PFM_NAME_MAX], attributes[1024] = "";
	int event;

	if (error == PFM_ERR_NOTFOUND || error == PFM_ERR_NOTSUPP)
		return pfm_explain_event(text, name);
	pfm_event_part(name, part, sizeof(part));
	event = lib.pfm_find_event(part);
	if (event >= 0)
		pfm_attributes(event, attributes, sizeof(attributes));
	return err_set(-EBADR, "event '%s': libpfm reports: %s; %s takes %s", text,
		       lib.pfm_strerror(error), part, *attributes ? attributes : "nothing");
}

static int pfm_encode_locked(const char *text, const char *name, struct perf_event_attr *ret)
{
	struct perf_event_attr a = { .size = sizeof(a) };
	pfm_perf_encode_arg_t arg = { .attr = &a, .size = sizeof(arg) };
	const int r = lib.pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3,
						    PFM_OS_PERF_EVENT_EXT, &arg);

	if (r != PFM_SUCCESS)
		return pfm_explain(text, name, r);
	if (arg.cpu >= 0)
		return err_set(-EBADR, "event '%s': cpu= is not taken: -C chooses the cpus", text);
	ret->type = a.type;
	ret->config = a.config;
	ret->config1 = a.config1;
	ret->config2 = a.config2;
	ret->precise_ip = a.precise_ip;
	ret->exclude_user = a.exclude_user;
	ret->exclude_kernel = a.exclude_kernel;
	ret->exclude_hv = a.exclude_hv;
	ret->exclude_host = a.exclude_host;
	ret->exclude_guest = a.exclude_guest;
	ret->pinned = a.pinned;
	ret->exclusive = a.exclusive;
	ret->freq = a.freq;
	ret->sample_period = a.sample_period;
	return 0;
}

int capture_pfm_encode(const char *text, const char *name, struct perf_event_attr *ret)
{
	int r = pfm_begin();

	if (r < 0)
		return err_add(-EBADR, "event '%s'", text);
	r = pfm_encode_locked(text, name, ret);
	pfm_end();
	return r;
}

#endif
