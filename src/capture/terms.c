/* SPDX-License-Identifier: MIT */
#include "capture/terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "capture/events.h"
#include "capture/hybrid.h"
#include "capture/names.h"
#include "capture/pmu.h"

enum { TERM_MAX_BYTES = 256, EVENT_MAX_BYTES = 1024 };

enum value_kind { VALUE_NUMBER, VALUE_SWITCH, VALUE_TEXT };
enum term {
	TERM_CONFIG,
	TERM_CONFIG1,
	TERM_CONFIG2,
	TERM_NAME,
	TERM_PERIOD,
	TERM_FREQ,
	TERM_BRANCH_TYPE,
	TERM_TIME,
	TERM_CALL_GRAPH,
	TERM_STACK_SIZE,
	TERM_INHERIT,
	TERM_NO_INHERIT,
	TERM_MAX_STACK,
	TERM_OVERWRITE,
	TERM_NO_OVERWRITE,
	TERM_REFUSED,
};

static const struct term_word {
	const char *name;
	enum term term;
	enum value_kind kind;
	bool of_tracepoints;
	const char *why_not; /* for TERM_REFUSED */
} words[] = {
	{ "config", TERM_CONFIG, VALUE_NUMBER, false, NULL },
	{ "config1", TERM_CONFIG1, VALUE_NUMBER, false, NULL },
	{ "config2", TERM_CONFIG2, VALUE_NUMBER, false, NULL },
	{ "name", TERM_NAME, VALUE_TEXT, false, NULL },
	{ "period", TERM_PERIOD, VALUE_NUMBER, false, NULL },
	{ "freq", TERM_FREQ, VALUE_NUMBER, false, NULL },
	{ "branch_type", TERM_BRANCH_TYPE, VALUE_TEXT, false, NULL },
	{ "time", TERM_TIME, VALUE_SWITCH, false, NULL },
	{ "call-graph", TERM_CALL_GRAPH, VALUE_TEXT, true, NULL },
	{ "stack-size", TERM_STACK_SIZE, VALUE_NUMBER, true, NULL },
	{ "inherit", TERM_INHERIT, VALUE_SWITCH, true, NULL },
	{ "no-inherit", TERM_NO_INHERIT, VALUE_SWITCH, true, NULL },
	{ "max-stack", TERM_MAX_STACK, VALUE_NUMBER, true, NULL },
	{ "overwrite", TERM_OVERWRITE, VALUE_SWITCH, true, NULL },
	{ "no-overwrite", TERM_NO_OVERWRITE, VALUE_SWITCH, true, NULL },
	{ "nr", TERM_REFUSED, VALUE_TEXT, true,
	  "it ends perf trace after that many events and has no effect on a recording" },
	{ "percore", TERM_REFUSED, VALUE_TEXT, false,
	  "it aggregates counts of perf stat and has no effect on a recording" },
	{ "metric-id", TERM_REFUSED, VALUE_TEXT, false,
	  "it is for perf stat and has no effect on a recording" },
	{ "driver-config", TERM_REFUSED, VALUE_TEXT, false,
	  "it is for traces that the processor writes (CoreSight), which are not recorded" },
	{ "aux-output", TERM_REFUSED, VALUE_TEXT, true,
	  "it is for traces that the processor writes (Intel PT), which are not recorded" },
	{ "aux-sample-size", TERM_REFUSED, VALUE_TEXT, true,
	  "it is for traces that the processor writes (Intel PT), which are not recorded" },
};

struct term_parser {
	struct capture_events *list;
	struct capture_event *event;
	const struct pmu *pmu;
	const char *text;
	bool in_alias; /* inside an event of events/, which may not name further ones */
};

/* ---- one term -------------------------------------------------------------------------------- */

static int terms_parse_number(const struct term_parser *p, const char *term, const char *value,
			      uint64_t *ret)
{
	const bool is_hex = value && value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
	char *end;

	if (!value) {
		*ret = 1;
		return 0;
	}
	errno = 0;
	*ret = strtoull(value, &end, is_hex ? 16 : 10);
	if (*value < '0' || *value > '9' || *end || errno || (is_hex && !value[2]))
		return err_set(-EBADR,
			       "event '%s': %s needs a number, decimal or as 0x1f, not '%s'",
			       p->text, term, value);
	return 0;
}

static int term_set(struct term_parser *p, const struct term_word *w, const char *value)
{
	struct event_terms *t = &p->event->terms;
	const char *text = NULL;
	uint64_t nr = 0;

	if (p->list->takes_tools && !strcmp(w->name, "percore")) {
		p->event->terms.per_core = true;
		return 0;
	}
	if (w->term == TERM_REFUSED)
		return err_set(-EBADR, "event '%s': %s is not taken: %s", p->text, w->name,
			       w->why_not);
	if (w->kind == VALUE_TEXT) {
		if (!value)
			return err_set(-EBADR, "event '%s': %s needs a value: %s=...", p->text,
				       w->name, w->name);
		text = arena_strdup(&p->list->arena, value);
		if (!text)
			return err_nomem();
	} else {
		TRY(terms_parse_number(p, w->name, value, &nr));
	}
	if (w->kind == VALUE_SWITCH && nr > 1)
		return err_set(-EBADR, "event '%s': %s must be 0 or 1, not %s", p->text, w->name,
			       value);
	switch (w->term) {
	case TERM_CONFIG:
		p->event->attr.config = nr;
		break;
	case TERM_CONFIG1:
		p->event->attr.config1 = nr;
		break;
	case TERM_CONFIG2:
		p->event->attr.config2 = nr;
		break;
	case TERM_NAME:
		p->event->name = text;
		break;
	case TERM_PERIOD:
	case TERM_FREQ:
		/* an event of events/ may have a period of its own, which is only a default */
		if (p->in_alias && t->rate != RATE_UNSAID)
			break;
		t->rate = w->term == TERM_PERIOD ? RATE_PERIOD : RATE_FREQ;
		t->rate_value = nr;
		break;
	case TERM_BRANCH_TYPE:
		t->branch_type = text;
		break;
	case TERM_TIME:
		t->time = nr ? TERM_YES : TERM_NO;
		break;
	case TERM_CALL_GRAPH:
		t->call_graph = text;
		break;
	case TERM_STACK_SIZE:
		t->stack_bytes = nr;
		break;
	case TERM_INHERIT:
	case TERM_NO_INHERIT:
		t->inherit = (nr != 0) == (w->term == TERM_INHERIT) ? TERM_YES : TERM_NO;
		break;
	case TERM_MAX_STACK:
		t->max_frames = nr;
		break;
	case TERM_OVERWRITE:
	case TERM_NO_OVERWRITE:
		t->overwrite = (nr != 0) == (w->term == TERM_OVERWRITE) ? TERM_YES : TERM_NO;
		break;
	case TERM_REFUSED:
		break;
	}
	return 0;
}

static int terms_parse(struct term_parser *p, const char *terms);

static bool terms_is_of_processor(const struct pmu *pmu)
{
	return !strcmp(pmu->name, "cpu") || hybrid_is_source(pmu);
}

/*
 * cpu/cycles/, cpu_core/r1a8/: a counter of the processor, of the source's cores. -ENOENT (no
 * message) if the name is none.
 */
static int term_set_counter(struct term_parser *p, const char *name)
{
	const bool is_hybrid = hybrid_is_source(p->pmu);
	struct perf_event_attr *a = &p->event->attr;
	uint32_t type;
	uint64_t config;

	if (!terms_is_of_processor(p->pmu) || capture_name_lookup(name, &type, &config) < 0 ||
	    !hybrid_is_counter(type))
		return -ENOENT;
	a->type = type;
	a->config = config;
	if (is_hybrid)
		hybrid_set_source(a, p->pmu);
	return 0;
}

/*
 * Sets a term that is defined in the source's folders. -ENOENT (no message) if it has no such term.
 */
static int term_set_source(struct term_parser *p, const char *name, const char *value)
{
	struct pmu_format format;
	char terms[EVENT_MAX_BYTES];
	uint64_t nr;
	int r;

	r = pmu_format_read(p->pmu, name, &format);
	if (r == 0) {
		TRY(terms_parse_number(p, name, value, &nr));
		if (!pmu_format_apply(&format, nr, &p->event->attr))
			return err_set(-EBADR, "event '%s': %s of %s must be at most %llu, not %s",
				       p->text, name, p->pmu->name,
				       (unsigned long long)pmu_format_max(&format), value);
		return 0;
	}
	if (r != -ENOENT || value || p->in_alias)
		return r;
	r = pmu_event_read(p->pmu, name, terms, sizeof(terms));
	if (r == -ENOENT)
		return term_set_counter(p, name);
	TRY(r);
	p->in_alias = true;
	r = terms_parse(p, terms);
	p->in_alias = false;
	return r;
}

static int term_unknown(const struct term_parser *p, const char *name)
{
	char near_terms[512], of_source[512] = "", all[512] = "";
	const bool is_tracepoint = p->event->system != NULL;
	struct near near;
	size_t len = 0;

	near_init(&near, name);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (words[i].term == TERM_REFUSED || (is_tracepoint && !words[i].of_tracepoints))
			continue;
		near_offer(&near, words[i].name);
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", len ? ", " : "",
					words[i].name);
	}
	if (p->pmu) {
		if (terms_is_of_processor(p->pmu))
			capture_names_near(&near);
		pmu_terms_near(p->pmu, &near);
		pmu_terms_list(p->pmu, of_source, sizeof(of_source));
	}
	near_text(&near, near_terms, sizeof(near_terms));
	return err_set(-EBADR, "event '%s': %s has no term '%s'%s; there are %s%s%s", p->text,
		       p->pmu          ? p->pmu->name
		       : is_tracepoint ? "a tracepoint"
				       : "an event of this kind",
		       name, near_terms, of_source, *of_source ? ", " : "", all);
}

static int term_parse(struct term_parser *p, const char *name, const char *value)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i].name, name)) {
			if (p->event->system && !words[i].of_tracepoints)
				return term_unknown(p, name);
			return term_set(p, &words[i], value);
		}
	if (p->pmu) {
		int r = term_set_source(p, name, value);

		if (r != -ENOENT)
			return r == -EINVAL ? err_add(-EBADR, "event '%s'", p->text) : r;
	}
	return term_unknown(p, name);
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Removes blanks at both ends. */
static char *terms_trim(char *s)
{
	size_t len;

	s += strspn(s, " \t\n");
	len = strlen(s);
	while (len && strchr(" \t\n", s[len - 1]))
		s[--len] = '\0';
	return s;
}

static int terms_parse(struct term_parser *p, const char *terms)
{
	const char *rest = terms;

	for (;;) {
		const size_t len = strcspn(rest, ",");
		char copy[TERM_MAX_BYTES], *name, *value;

		if (len >= sizeof(copy))
			return err_set(-EBADR, "event '%.64s...': the term '%.32s...' is too long",
				       p->text, rest);
		memcpy(copy, rest, len);
		copy[len] = '\0';
		value = strchr(copy, '=');
		if (value) {
			*value++ = '\0';
			value = terms_trim(value);
		}
		name = terms_trim(copy);
		if (!*name)
			return err_set(-EBADR, "event '%s': a term is missing between commas",
				       p->text);
		if (value && !*value)
			return err_set(-EBADR, "event '%s': there is no value after %s=", p->text,
				       name);
		TRY(term_parse(p, name, value));
		if (!rest[len])
			return 0;
		rest += len + 1;
	}
}

int event_terms_parse(struct capture_events *l, struct capture_event *e, const struct pmu *pmu,
		      const char *text, const char *terms)
{
	struct term_parser p = { .list = l, .event = e, .pmu = pmu, .text = text };

	return terms[strspn(terms, " \t\n")] ? terms_parse(&p, terms) : 0;
}
