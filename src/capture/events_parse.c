/* SPDX-License-Identifier: MIT */
/* The grammar of -e: parses texts into events. */

#include <ctype.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "capture/events.h"
#include "capture/modifiers.h"
#include "capture/names.h"
#include "capture/pfm.h"
#include "capture/pmu.h"
#include "capture/rights.h"
#include "capture/terms.h"

enum { EVENT_MAX_BYTES = 512, RAW_NAME_MAX = 4 };

/* The pieces of one EVENT; each is NULL if absent. */
struct event_text {
	const char *whole; /* as the user wrote it; borrowed from the list */
	char *head;        /* the text before the first slash, or all of it */
	char *terms;       /* the text between the slashes */
	char *modifiers;
};

static enum capture_tool parse_tool(const char *name)
{
	static const char *const names[] = {
		[TOOL_DURATION_TIME] = "duration_time",
		[TOOL_USER_TIME] = "user_time",
		[TOOL_SYSTEM_TIME] = "system_time",
	};

	for (size_t i = 1; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return (enum capture_tool)i;
	return TOOL_NONE;
}

/* ---- messages -------------------------------------------------------------------------------- */

/*
 * Returns why a name cannot be recorded, or NULL if it can. BPF programs, markers in a program
 * (SDT) and events that only sonde stat counts cannot.
 */
static const char *parse_why_never(const char *name)
{
	const size_t len = strlen(name);

	if (parse_tool(name) != TOOL_NONE)
		return "only sonde stat counts it; it cannot be recorded";
	if (len > 2 && (!strcmp(name + len - 2, ".c") || !strcmp(name + len - 2, ".o")))
		return "BPF programs are not loaded; load it with another tool and record its "
		       "events";
	if (*name == '%')
		return "a marker in a program (SDT) is not an event yet: turn it into one with "
		       "perf probe, and name it without the %";
	return NULL;
}

static int event_unknown(struct capture_events *l, const char *text, const char *name)
{
	char near_events[512];
	const char *why = parse_why_never(name);
	struct near near;
	struct tracefs t;

	if (why)
		return err_set(-EBADR, "event '%s' is not taken: %s", text, why);
	near_init(&near, name);
	capture_names_near(&near);
	near_text(&near, near_events, sizeof(near_events));
	if (!*near_events && (l->has_tracefs || tracefs_open(&t) == 0))
		tracefs_events_near(l->has_tracefs ? &l->tracefs : &t, name, near_events,
				    sizeof(near_events));
	if (*near_events)
		return err_set(-EBADR, "event '%s' is not known%s", text, near_events);
	if (*name == 'r' && strlen(name) <= RAW_NAME_MAX)
		return err_set(-EBADR,
			       "event '%s' is not known; a raw event of the processor is r and its "
			       "number in hex, as r1a8",
			       text);
	return err_set(-EBADR,
		       "event '%s' is not known; 'sonde list' lists those of this machine, 'sonde "
		       "list WORD' those whose names contain a word",
		       text);
}

static int parse_unknown_source(struct capture_events *l, const char *text, const char *name)
{
	char near_names[512], all[512];
	struct near near;

	near_init(&near, name);
	capture_names_near(&near);
	pmu_near(l->sources, &near);
	near_text(&near, near_names, sizeof(near_names));
	pmu_list(l->sources, all, sizeof(all));
	if (!strcmp(name, "cpu") && !*near_names)
		snprintf(near_names, sizeof(near_names),
			 ": the counters of its processor are not available (often in a virtual "
			 "machine)");
	return err_set(-EBADR, "event '%s': this machine has no event source '%s'%s; it has %s",
		       text, name, near_names, *all ? all : "none");
}

/* ---- one event ------------------------------------------------------------------------------- */

static int events_set_terms(struct capture_events *l, struct capture_event *e,
			    const struct event_text *t, const struct pmu *pmu)
{
	if (!e->name)
		e->name = t->whole;
	if (t->terms)
		TRY(event_terms_parse(l, e, pmu, t->whole, t->terms));
	return t->modifiers ? event_modifiers_apply(e, t->whole, t->modifiers) : 0;
}

/* Applies terms and modifiers, then adds the event to the list. */
static int events_add(struct capture_events *l, struct capture_event *e, const struct event_text *t,
		      const struct pmu *pmu)
{
	TRY(events_set_terms(l, e, t, pmu));
	return capture_events_push(l, e);
}

static int events_add_numbered(struct capture_events *l, const struct event_text *t, uint32_t type,
			       uint64_t config)
{
	struct capture_event e = capture_event_new(type, config);

	return events_add(l, &e, t, NULL);
}

/* Hardware, cache and raw events: one of each type of cores on a hybrid processor. */
static int events_add_named(struct capture_events *l, const struct event_text *t, uint32_t type,
			    uint64_t config)
{
	struct capture_event e = capture_event_new(type, config);
	const size_t before = l->list.n;
	char terms[2 * EVENT_MAX_BYTES];

	TRY(events_set_terms(l, &e, t, NULL));
	snprintf(terms, sizeof(terms), "%s%s%s/%s", t->head, t->terms ? "," : "",
		 t->terms ? t->terms : "", t->modifiers ? t->modifiers : "");
	TRY(capture_events_add_hybrid(l, &e, terms));
	return l->list.n > before ? 0 : capture_events_push(l, &e);
}

struct tracepoint_visit {
	struct capture_events *list;
	const struct event_text *text;
	bool is_glob;
	size_t found;
};

static int events_add_tracepoint(void *ctx, const char *system, const char *event)
{
	struct tracepoint_visit *v = ctx;
	struct capture_events *l = v->list;
	struct capture_event e;
	uint64_t id;
	int r = tracefs_event_id(&l->tracefs, system, event, &id);

	/* ftrace:* describe records of the ring buffer; their directories have no id */
	if (r == -ENOENT)
		return 0;
	TRY(r);
	e = capture_event_new(PERF_TYPE_TRACEPOINT, id);
	e.from_glob = v->is_glob;
	e.system = arena_strdup(&l->arena, system);
	e.event = arena_strdup(&l->arena, event);
	e.name = capture_events_join(l, system, ":", event);
	if (!e.system || !e.event || !e.name)
		return err_nomem();
	v->found++;
	return events_add(l, &e, v->text, NULL);
}

static int events_add_tracepoints(struct capture_events *l, const struct event_text *t,
				  const char *system, const char *event)
{
	struct tracepoint_visit v = { .list = l, .text = t };
	char name[EVENT_MAX_BYTES];

	if (!l->has_tracefs) {
		int e = tracefs_open(&l->tracefs);

		if (e < 0)
			return rights_explain_tracefs(system, e);
		l->has_tracefs = true;
	}
	v.is_glob = strpbrk(system, "*?[") || strpbrk(event, "*?[");
	if (v.is_glob) {
		TRY(tracefs_events_match(&l->tracefs, system, event, events_add_tracepoint, &v));
		if (!v.found)
			return err_set(-EBADR,
				       "event '%s': no tracepoint matches; all are listed in "
				       "%s/available_events",
				       t->whole, l->tracefs.root);
		return 0;
	}
	TRY(events_add_tracepoint(&v, system, event));
	snprintf(name, sizeof(name), "%s:%s", system, event);
	return v.found ? 0 : event_unknown(l, t->whole, name);
}

struct source_visit {
	struct capture_events *list;
	const struct event_text *text;
	const char *alias; /* only the name is given: an event of the source */
	size_t found;
};

/* Unit and scale of an event that the source names; terms that are no such name have none. */
static int parse_unit(struct capture_events *l, struct capture_event *e, const struct pmu *pmu,
		      const char *name)
{
	char unit[64], scale[64];

	if (!name)
		return 0;
	if (pmu_event_about(pmu, name, "scale", scale, sizeof(scale)))
		e->scale = strtod(scale, NULL);
	if (!pmu_event_about(pmu, name, "unit", unit, sizeof(unit)))
		return 0;
	e->unit = arena_strdup(&l->arena, unit);
	return e->unit ? 0 : err_nomem();
}

static int parse_add_from_source(void *ctx, const struct pmu *pmu)
{
	struct source_visit *v = ctx;
	struct capture_events *l = v->list;
	struct capture_event e = capture_event_new(pmu->type, 0);
	struct event_text t = *v->text;

	/* their attrs contain addresses in this program, which no text can give */
	if (!strcmp(pmu->name, "uprobe") || !strcmp(pmu->name, "kprobe"))
		return err_set(-EBADR,
			       "event '%s': probes cannot be created here; create one in tracefs "
			       "(%s_events) and record it as SYSTEM:NAME",
			       t.whole, pmu->name);
	TRY(capture_event_set_source(l, &e, pmu));
	if (v->alias)
		t.terms = (char *)v->alias;
	TRY(parse_unit(l, &e, pmu, t.terms));
	v->found++;
	return events_add(l, &e, &t, pmu);
}

struct type_visit {
	struct capture_events *list;
	struct capture_event *event;
};

/* An event of the processor's own source is named by its number, so it needs no source. */
static int parse_match_type(void *ctx, const struct pmu *pmu)
{
	struct type_visit *v = ctx;

	if (pmu->type != v->event->attr.type || pmu->type < PERF_TYPE_MAX)
		return 0;
	return capture_event_set_source(v->list, v->event, pmu);
}

/* pfm:NAME, a name of the processor's vendor; name is the text after "pfm:". */
static int parse_add_pfm(struct capture_events *l, const struct event_text *t, const char *name)
{
	struct capture_event e = capture_event_new(PERF_TYPE_RAW, 0);
	struct type_visit v = { l, &e };

	TRY(capture_pfm_encode(t->whole, name, &e.attr));
	if (e.attr.sample_period) {
		e.terms.rate = e.attr.freq ? RATE_FREQ : RATE_PERIOD;
		e.terms.rate_value = e.attr.sample_period;
	}
	e.attr.freq = 0;
	e.attr.sample_period = 0;
	e.chose_levels = e.attr.exclude_user || e.attr.exclude_kernel;
	e.chose_guest = e.attr.exclude_host || !e.attr.exclude_guest;
	TRY(pmu_each(l->sources, NULL, NULL, parse_match_type, &v));
	e.name = arena_strdup(&l->arena, name);
	if (!e.name)
		return err_nomem();
	return events_add(l, &e, t, NULL);
}

/* mem:ADDRESS[/LENGTH][:rwx][:MODIFIERS]; `at` is the text after "mem:". */
static int parse_add_breakpoint(struct capture_events *l, const struct event_text *t,
				const char *at)
{
	struct capture_event e = capture_event_new(PERF_TYPE_BREAKPOINT, 0);
	struct perf_event_attr *a = &e.attr;
	struct event_text whole = *t;
	uint32_t type = 0;
	char *end;

	errno = 0;
	a->bp_addr = strtoull(at, &end, 0);
	if (!isdigit((unsigned char)*at) || errno)
		return err_set(-EBADR,
			       "event '%s': mem: needs an address, as mem:0x601040[/LENGTH][:rwx]",
			       t->whole);
	at = end;
	if (*at == '/') {
		a->bp_len = strtoull(at + 1, &end, 0);
		if (!isdigit((unsigned char)at[1]) ||
		    (a->bp_len != 1 && a->bp_len != 2 && a->bp_len != 4 && a->bp_len != 8))
			return err_set(-EBADR, "event '%s': the length must be 1, 2, 4 or 8 bytes",
				       t->whole);
		at = end;
	}
	if (*at == ':' && at[1] && strspn(at + 1, "rwx") == strcspn(at + 1, ":")) {
		for (at++; *at && *at != ':'; at++) {
			uint32_t bit = *at == 'r'   ? HW_BREAKPOINT_R
				       : *at == 'w' ? HW_BREAKPOINT_W
						    : HW_BREAKPOINT_X;

			if (type & bit)
				return err_set(-EBADR, "event '%s': '%c' is given twice", t->whole,
					       *at);
			type |= bit;
		}
	}
	a->bp_type = type ? type : HW_BREAKPOINT_RW;
	if (!a->bp_len)
		a->bp_len = a->bp_type & HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
	a->sample_period = 1;
	if (*at && (*at != ':' || !at[1]))
		return err_set(-EBADR,
			       "event '%s': '%s' is not understood; breakpoints are "
			       "mem:ADDRESS[/LENGTH][:rwx][:MODIFIERS]",
			       t->whole, at);
	whole.modifiers = *at ? (char *)at + 1 : NULL;
	return events_add(l, &e, &whole, NULL);
}

/* True if the text is only a number, like "1" or "0x3". */
static bool events_is_number(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
	return isdigit((unsigned char)*text) && !*end && !errno;
}

/* Splits "NAME:REST" at the colon and returns REST; NULL if there is no colon. */
static char *events_split_at_colon(char *text)
{
	char *colon = text ? strchr(text, ':') : NULL;

	if (colon)
		*colon++ = '\0';
	return colon;
}

/* Modifiers of an event with terms follow its second slash; otherwise they follow a colon. */
static int parse_set_modifiers(struct event_text *t, char *behind_colon)
{
	if (!behind_colon)
		return 0;
	if (t->terms)
		return err_set(-EBADR,
			       "event '%s': write modifiers after the last slash: NAME/TERMS/%s",
			       t->whole, behind_colon);
	if (!*behind_colon)
		return err_set(-EBADR, "event '%s': there is no modifier after the last colon",
			       t->whole);
	t->modifiers = behind_colon;
	return 0;
}

static int parse_add_one(struct capture_events *l, struct event_text *t)
{
	struct source_visit v = { .list = l, .text = t };
	char *second = events_split_at_colon(t->head), *third;
	uint64_t number, config;
	uint32_t type;

	if (!*t->head)
		return err_set(-EBADR, "an event without a name in the list of events");
	if (l->takes_tools && parse_tool(t->head) != TOOL_NONE && !second && !t->terms) {
		struct capture_event e = capture_event_new(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

		e.tool = parse_tool(t->head);
		return events_add(l, &e, t, NULL);
	}
	if (capture_name_lookup(t->head, &type, &config) == 0) {
		TRY(parse_set_modifiers(t, second));
		return events_add_named(l, t, type, config);
	}
	if (second && events_is_number(t->head, &number)) {
		third = events_split_at_colon(second);
		if (!events_is_number(second, &config) || number > UINT32_MAX)
			return err_set(-EBADR,
				       "event '%s': TYPE:CONFIG takes two numbers, decimal or hex",
				       t->whole);
		TRY(parse_set_modifiers(t, third));
		return events_add_numbered(l, t, (uint32_t)number, config);
	}
	if (t->terms && !second) {
		TRY(pmu_each(l->sources, t->head, NULL, parse_add_from_source, &v));
		return v.found ? 0 : parse_unknown_source(l, t->whole, t->head);
	}
	if (!t->terms) {
		struct event_text named = *t;

		/* the name of an event of some source: tsc is msr/tsc/ */
		named.modifiers = second;
		v = (struct source_visit){ .list = l, .text = &named, .alias = t->head };
		TRY(pmu_each(l->sources, NULL, t->head, parse_add_from_source, &v));
		if (v.found)
			return 0;
	}
	if (!second)
		return event_unknown(l, t->whole, t->head);
	third = events_split_at_colon(second);
	TRY(parse_set_modifiers(t, third));
	return events_add_tracepoints(l, t, t->head, second);
}

/* ---- lists and groups ------------------------------------------------------------------------ */

struct events_parser {
	struct capture_events *list;
	const char *pos;
};

static void events_skip_blanks(struct events_parser *p)
{
	p->pos += strspn(p->pos, " \t\n");
}

/*
 * The length up to the comma or brace that ends an event. Commas between slashes belong to the
 * terms.
 */
static size_t event_length(const char *s)
{
	const bool has_terms = strncmp(s, "mem:", 4) != 0;
	bool in_terms = false;
	size_t i;

	for (i = 0; s[i]; i++) {
		if (s[i] == '/' && has_terms)
			in_terms = !in_terms;
		else if (!in_terms && strchr(",{}", s[i]))
			break;
	}
	return i;
}

static int parse_event(struct events_parser *p)
{
	struct event_text t = { 0 };
	size_t len;
	char *copy, *slash;

	events_skip_blanks(p);
	len = event_length(p->pos);
	if (len >= EVENT_MAX_BYTES)
		return err_set(-EBADR, "event '%.32s...' is too long", p->pos);
	t.whole = p->pos;
	p->pos += len;
	while (len && strchr(" \t\n", t.whole[len - 1]))
		len--;
	if (!len)
		return err_set(-EBADR, "an event without a name in the list of events");
	copy = arena_strndup(&p->list->arena, t.whole, len);
	t.whole = arena_strndup(&p->list->arena, t.whole, len);
	if (!copy || !t.whole)
		return err_nomem();
	if (!strncmp(copy, "mem:", 4))
		return parse_add_breakpoint(p->list, &t, copy + 4);
	t.head = copy;
	slash = strchr(copy, '/');
	if (slash) {
		*slash = '\0';
		t.terms = slash + 1;
		slash = strchr(t.terms, '/');
		if (!slash)
			return err_set(-EBADR, "event '%s': the slash before '%s' is not closed",
				       t.whole, t.terms);
		*slash = '\0';
		t.modifiers = slash[1] ? slash + 1 : NULL;
		if (t.modifiers && *t.modifiers == ':')
			return err_set(-EBADR,
				       "event '%s': write modifiers after the last slash, without "
				       "a colon",
				       t.whole);
	}
	if (!strncmp(copy, "pfm:", 4))
		return parse_add_pfm(p->list, &t, copy + 4);
	return parse_add_one(p->list, &t);
}

/*
 * Only the leader may be pinned or exclusive, or have samples that contain the other members'
 * counts.
 */
static int parse_check_members(const struct capture_events *l, size_t first)
{
	for (size_t i = first; i < l->list.n; i++) {
		const struct capture_event *e = &l->list.v[i], *leader = &l->list.v[e->leader];

		if (e == leader)
			continue;
		if (e->attr.pinned || e->attr.exclusive)
			return err_set(-EBADR,
				       "event '%s': within a group only the first event can be "
				       "pinned (D) or exclusive (e)",
				       e->name);
		if (e->sample_read && !leader->sample_read)
			return err_set(-EBADR,
				       "event '%s': S applies to the complete group: {%s,...}:S",
				       e->name, leader->name);
	}
	return 0;
}

/* Called after the name; *pos is '{'. */
static int parse_group(struct events_parser *p, const char *name)
{
	struct capture_events *l = p->list;
	const size_t first = l->list.n;
	const char *modifiers = NULL;

	do {
		const char *item = ++p->pos;

		if (item[event_length(item)] == '{')
			return err_set(-EBADR, "a group within a group at '%.32s'", item);
		TRY(parse_event(p));
	} while (*p->pos == ',');
	if (*p->pos != '}')
		return err_set(-EBADR, "the '{' of the group of %s is not closed",
			       l->list.v[first].name);
	p->pos++;
	if (*p->pos == ':') {
		const size_t len = strcspn(++p->pos, " \t\n,}");

		modifiers = arena_strndup(&l->arena, p->pos, len);
		if (!modifiers)
			return err_nomem();
		if (!len)
			return err_set(-EBADR, "there is no modifier after the ':' of a group");
		p->pos += len;
	}
	events_skip_blanks(p);
	if (*p->pos && *p->pos != ',')
		return err_set(-EBADR,
			       "unexpected '%.32s' after a group: a ':' and modifiers, a ',' and "
			       "more events or nothing may follow",
			       p->pos);
	TRY(capture_events_group(l, first, name));
	for (size_t i = first; modifiers && i < l->list.n; i++) {
		struct capture_event *e = &l->list.v[i];

		TRY(event_modifiers_add(e, e->name, modifiers, i == e->leader));
	}
	return parse_check_members(l, first);
}

static int parse_item(struct events_parser *p)
{
	const char *name = NULL;
	size_t len;

	events_skip_blanks(p);
	len = event_length(p->pos);
	if (p->pos[len] != '{')
		return parse_event(p);
	if (len) {
		name = arena_strndup(&p->list->arena, p->pos, len);
		if (!name)
			return err_nomem();
	}
	p->pos += len;
	return parse_group(p, name);
}

int capture_events_add(struct capture_events *l, const char *text)
{
	struct events_parser p = { .list = l, .pos = text };
	const size_t before = l->list.n;

	if (!text[strspn(text, " \t\n")])
		return err_set(-EBADR, "no event is named in '%s'", text);
	for (;;) {
		TRY(parse_item(&p));
		if (!*p.pos)
			break;
		if (*p.pos != ',')
			return err_set(-EBADR, "the list of events has a '%c' too many at '%.32s'",
				       *p.pos, p.pos);
		p.pos++;
	}
	for (size_t i = before; i < l->list.n; i++)
		if (l->list.v[i].precise_max)
			l->list.v[i].attr.precise_ip = 3;
	l->last_add = before;
	return 0;
}
