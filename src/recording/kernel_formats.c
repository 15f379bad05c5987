/* SPDX-License-Identifier: MIT */
#include "recording/kernel_formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/err.h"

/*
 * Splits "sched:sched_switch" into its two parts. Rejects parts that would lead outside the event's
 * own folder.
 */
static bool formats_split(const char *name, char system[256], char event[256])
{
	const char *colon = strchr(name, ':');

	if (!colon || strchr(name, '/') || *name == '.' || colon[1] == '.' ||
	    strchr(colon + 1, ':'))
		return false;
	return snprintf(system, 256, "%.*s", (int)(colon - name), name) < 256 && *system &&
	       snprintf(event, 256, "%s", colon + 1) < 256 && *event;
}

struct search {
	struct kernel_formats *formats;
	uint64_t id;
	char event[256];
};

enum { FOUND = -1 }; /* ends the walk */

static int formats_visit(void *ctx, const char *system, const char *event)
{
	struct search *s = ctx;
	uint64_t id;

	if (tracefs_event_id(&s->formats->tracefs, system, event, &id) < 0) {
		err_clear(); /* a folder that is no event, or an event that was removed */
		return 0;
	}
	if (id != s->id)
		return 0;
	snprintf(s->formats->system, sizeof(s->formats->system), "%s", system);
	snprintf(s->event, sizeof(s->event), "%s", event);
	return FOUND;
}

static int formats_find_number(struct kernel_formats *k, const struct source_tracepoint *wanted,
			       char event[256])
{
	struct search s = { .formats = k, .id = wanted->id };
	struct utsname u;
	int r;

	/*
	 * A recorder that was killed has recorded neither the name of the event nor the release of
	 * the kernel. So an unknown release is accepted; a different one is refused.
	 */
	if (!k->folder && wanted->release &&
	    (uname(&u) < 0 || strcmp(wanted->release, u.release) != 0))
		return err_set(-ENOENT,
			       "its name was not recorded, and the recorded kernel is %.40s",
			       wanted->release);
	r = tracefs_events_match(&k->tracefs, "*", "*", formats_visit, &s);
	if (r < 0 && !*s.event)
		return r;
	if (!*s.event)
		return err_set(-ENOENT, "the running kernel has no tracepoint %llu",
			       (unsigned long long)wanted->id);
	strcpy(event, s.event);
	return 0;
}

static int formats_find_name(struct kernel_formats *k, const struct source_tracepoint *wanted,
			     char event[256])
{
	uint64_t id = 0;

	TRY(tracefs_event_id(&k->tracefs, k->system, event, &id));
	if (id != wanted->id)
		return err_set(-ENOENT,
			       "%s has id %llu in the recording and id %llu in the running kernel",
			       wanted->name, (unsigned long long)wanted->id,
			       (unsigned long long)id);
	return 0;
}

static int formats_open(struct kernel_formats *k)
{
	if (!k->is_open && k->folder)
		TRY(tracefs_open_copy(k->folder, &k->tracefs));
	else if (!k->is_open)
		TRY(tracefs_open(&k->tracefs));
	k->is_open = true;
	return 0;
}

/* Reads the description of an event of k->system. */
static int formats_read(struct kernel_formats *k, const char *event, const char **ret_system,
			struct bytes *ret)
{
	char path[600];
	size_t len = 0;

	free(k->text);
	k->text = NULL;
	snprintf(path, sizeof(path), "events/%s/%s/format", k->system, event);
	TRY(tracefs_read(&k->tracefs, path, &k->text, &len));
	*ret_system = k->system;
	*ret = bytes_init(k->text, len, 0, k->tracefs.root, false);
	return 0;
}

int kernel_formats_find(void *ctx, const struct source_tracepoint *wanted, const char **ret_system,
			struct bytes *ret)
{
	struct kernel_formats *k = ctx;
	char event[256] = "";

	TRY(formats_open(k));
	if (wanted->name && formats_split(wanted->name, k->system, event))
		TRY(formats_find_name(k, wanted, event));
	else
		TRY(formats_find_number(k, wanted, event));
	return formats_read(k, event, ret_system, ret);
}

static int formats_visit_first(void *ctx, const char *system,
			       const char *event __attribute__((unused)))
{
	struct kernel_formats *k = ctx;

	snprintf(k->system, sizeof(k->system), "%s", system);
	return FOUND;
}

int kernel_formats_find_event(void *ctx, const char *event, const char **ret_system,
			      struct bytes *ret)
{
	struct kernel_formats *k = ctx;

	TRY(formats_open(k));
	*k->system = '\0';
	tracefs_events_match(&k->tracefs, "*", event, formats_visit_first, k);
	if (!*k->system)
		return err_set(-ENOENT, "%s has no event %s", k->tracefs.root, event);
	return formats_read(k, event, ret_system, ret);
}

void kernel_formats_done(struct kernel_formats *k)
{
	free(k->text);
	*k = (struct kernel_formats){ 0 };
}
