/* SPDX-License-Identifier: MIT */
#include "capture/events.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "capture/names.h"

/* Bounds what a user may name: `*:*` names some 2,300 tracepoints. */
enum { EVENTS_MAX = 16384, NAME_MAX_BYTES = 256 };

static int push(struct capture_events *l, const struct capture_event *e)
{
	if (l->list.n >= EVENTS_MAX)
		return err_set(-E2BIG, "more than %d events are named", EVENTS_MAX);
	return vec_push(&l->list, *e);
}

static const char *dup_fmt(struct capture_events *l, const char *a, const char *sep, const char *b)
{
	size_t la = strlen(a), ls = strlen(sep), lb = strlen(b);
	char *s = arena_alloc(&l->arena, la + ls + lb + 1);

	if (s) {
		memcpy(s, a, la);
		memcpy(s + la, sep, ls);
		memcpy(s + la + ls, b, lb + 1);
	}
	return s;
}

/*
 * Modifiers one after the other, with perf's meaning: the first of u k h excludes the other two, the first of G H the
 * other one; guests are left out by u, p and H, but not by P.
 */
static int apply_modifiers(struct capture_event *e, const char *text, const char *modifiers)
{
	struct perf_event_attr *a = &e->attr;
	bool chose_guest = false;
	unsigned precise = 0;

	a->exclude_guest = 0;
	for (const char *m = modifiers; *m; m++) {
		if (strchr("ukh", *m) && !e->chose_levels) {
			e->chose_levels = true;
			a->exclude_user = a->exclude_kernel = a->exclude_hv = 1;
		}
		if (strchr("GH", *m) && !chose_guest) {
			chose_guest = true;
			a->exclude_guest = a->exclude_host = 1;
		}
		switch (*m) {
		case 'u':
			a->exclude_user = 0;
			a->exclude_guest |= !chose_guest;
			break;
		case 'k':
			a->exclude_kernel = 0;
			break;
		case 'h':
			a->exclude_hv = 0;
			break;
		case 'G':
			a->exclude_guest = 0;
			break;
		case 'H':
			a->exclude_host = 0;
			break;
		case 'I':
			a->exclude_idle = 1;
			break;
		case 'p':
			precise++;
			a->exclude_guest |= !chose_guest;
			break;
		case 'P':
			precise = 3;
			break;
		case 'D':
			a->pinned = 1;
			break;
		case 'e':
			a->exclusive = 1;
			break;
		default:
			return err_set(-EBADR,
				       "event '%s': '%c' is no modifier; known are u k h (user, "
				       "kernel, hypervisor only), G H (guest, "
				       "host only), I (not idle), p (precise), P (most precise), D "
				       "(pinned), e (exclusive)",
				       text, *m);
		}
	}
	if (precise > 3)
		return err_set(-EBADR, "event '%s': at most ppp", text);
	a->precise_ip = precise;
	return 0;
}

static struct capture_event event_new(uint32_t type, uint64_t config)
{
	struct capture_event e = { 0 };

	e.attr.type = type;
	e.attr.config = config;
	e.attr.size = PERF_ATTR_SIZE_VER7;
	e.attr.exclude_guest = 1;
	return e;
}

static int unknown_event(struct capture_events *l, const char *text, const char *name)
{
	char near_events[512];
	struct near near;
	struct tracefs t;

	near_init(&near, name);
	capture_names_near(&near);
	near_text(&near, near_events, sizeof(near_events));
	if (!*near_events && (l->has_tracefs || tracefs_open(&t) == 0))
		tracefs_events_near(l->has_tracefs ? &l->tracefs : &t, name, near_events,
				    sizeof(near_events));
	return err_set(-EBADR, "event '%s' is not known%s", text, near_events);
}

struct tracepoint_visit {
	struct capture_events *list;
	const char *text, *modifiers;
	bool is_glob;
	size_t found;
};

static int add_tracepoint(void *ctx, const char *system, const char *event)
{
	struct tracepoint_visit *v = ctx;
	struct capture_events *l = v->list;
	struct capture_event e;
	uint64_t id;
	int r = tracefs_event_id(&l->tracefs, system, event, &id);

	/* ftrace:* describe records of the ring buffer: directories without an id */
	if (r == -ENOENT)
		return 0;
	TRY(r);
	e = event_new(PERF_TYPE_TRACEPOINT, id);
	e.from_glob = v->is_glob;
	e.system = arena_strdup(&l->arena, system);
	e.event = arena_strdup(&l->arena, event);
	e.name = dup_fmt(l, system, ":", event);
	if (!e.system || !e.event || !e.name)
		return err_nomem();
	if (v->modifiers)
		TRY(apply_modifiers(&e, v->text, v->modifiers));
	v->found++;
	return push(l, &e);
}

static int add_tracepoints(struct capture_events *l, const char *text, const char *system,
			   const char *event, const char *modifiers)
{
	struct tracepoint_visit v = { .list = l, .text = text, .modifiers = modifiers };
	char name[NAME_MAX_BYTES];

	if (!l->has_tracefs) {
		TRY(tracefs_open(&l->tracefs));
		l->has_tracefs = true;
	}
	v.is_glob = strpbrk(system, "*?[") || strpbrk(event, "*?[");
	if (v.is_glob) {
		TRY(tracefs_events_match(&l->tracefs, system, event, add_tracepoint, &v));
		if (!v.found)
			return err_set(-EBADR,
				       "event '%s': no tracepoint matches; all are listed in "
				       "%s/available_events",
				       text, l->tracefs.root);
		return 0;
	}
	if (!strchr(system, '/') && !strchr(event, '/'))
		TRY(add_tracepoint(&v, system, event));
	snprintf(name, sizeof(name), "%s:%s", system, event);
	return v.found ? 0 : unknown_event(l, text, name);
}

static int add_one(struct capture_events *l, char *text)
{
	char copy[NAME_MAX_BYTES], *second, *third = NULL;
	struct capture_event e;
	uint32_t type;
	uint64_t config;

	if (strlen(text) >= sizeof(copy))
		return err_set(-EBADR, "event '%.32s...' is too long", text);
	if (strpbrk(text, "{}"))
		return err_set(-EBADR,
			       "event '%s': groups in braces cannot be recorded: name the events "
			       "one by one",
			       text);
	if (strchr(text, '/'))
		return err_set(-EBADR,
			       "event '%s': the form PMU/TERM=VALUE/ cannot be recorded: use a "
			       "name, or rHEX for a raw number",
			       text);
	strcpy(copy, text);
	second = strchr(copy, ':');
	if (second)
		*second++ = '\0';
	if (!*copy)
		return err_set(-EBADR, "an event without a name in the list of events");
	if (capture_name_lookup(copy, &type, &config) == 0) {
		e = event_new(type, config);
		if (second)
			TRY(apply_modifiers(&e, text, second));
		e.name = arena_strdup(&l->arena, text);
		return e.name ? push(l, &e) : err_nomem();
	}
	if (!second)
		return unknown_event(l, text, copy);
	third = strchr(second, ':');
	if (third)
		*third++ = '\0';
	return add_tracepoints(l, text, copy, second, third);
}

int capture_events_add(struct capture_events *l, const char *text)
{
	char *rest = arena_strdup(&l->arena, text), *one;
	const size_t before = l->list.n;

	if (!rest)
		return err_nomem();
	if (!text[strspn(text, " \t\n")])
		return err_set(-EBADR, "no event is named in '%s'", text);
	while ((one = strsep(&rest, ","))) {
		one += strspn(one, " \t\n");
		one[strcspn(one, " \t\n")] = '\0';
		TRY(add_one(l, one));
	}
	l->last_add = before;
	return 0;
}

int capture_events_add_default(struct capture_events *l)
{
	struct capture_event e = event_new(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	e.name = "cycles:P";
	e.is_default = true;
	e.attr.precise_ip = 3;
	l->last_add = l->list.n;
	return push(l, &e);
}

int capture_events_add_dummy(struct capture_events *l)
{
	struct capture_event e = event_new(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	e.name = "dummy:HG";
	e.attr.exclude_guest = 0;
	e.attr.sample_period = 1;
	return push(l, &e);
}

int capture_event_filter(struct capture_events *l, struct capture_event *e, const char *filter)
{
	if (e->filter) {
		const char *both = dup_fmt(l, e->filter, ") && (", filter);

		e->filter = both ? dup_fmt(l, "(", both, ")") : NULL;
	} else {
		e->filter = arena_strdup(&l->arena, filter);
	}
	return e->filter ? 0 : err_nomem();
}

int capture_events_filter(struct capture_events *l, const char *filter)
{
	if (!l->list.n)
		return err_set(
			-EBADR,
			"--filter '%s' comes before any event: it belongs to the -e before it",
			filter);
	for (size_t i = l->last_add; i < l->list.n; i++)
		if (!l->list.v[i].system)
			return err_set(-EBADR,
				       "--filter '%s': %s is no tracepoint; give the tracepoints "
				       "an -e of their own before the --filter",
				       filter, l->list.v[i].name);
	for (size_t i = l->last_add; i < l->list.n; i++)
		TRY(capture_event_filter(l, &l->list.v[i], filter));
	return 0;
}

void capture_events_done(struct capture_events *l)
{
	vec_done(&l->list);
	arena_done(&l->arena);
}
