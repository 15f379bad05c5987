/* SPDX-License-Identifier: MIT */
#include "profile/marks.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/keys.h"
#include "filters/id_list.h"
#include "filters/name_list.h"
#include "recording/recording.h"

struct profile_filters {
	struct name_list comms, dsos, symbols;
	struct id_list pids, tids;
	VEC(uint64_t) addresses; /* names in symbols= that consist of hexadecimal digits only */
	regex_t parent, ignored;
	bool has_parent, has_ignored;
};

static int marks_names(const char *text, const char *what, struct name_list *ret)
{
	return text ? name_list_parse(text, what, ret) : 0;
}

static int marks_ids(const char *text, const char *what, struct id_list *ret)
{
	return text ? id_list_parse(text, what, ret) : 0;
}

static int marks_regex(const char *text, const char *what, regex_t *ret, bool *ret_has)
{
	char why[256];
	int r;

	if (!text)
		return 0;
	r = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);
	if (r == REG_ESPACE)
		return err_nomem();
	if (r) {
		regerror(r, ret, why, sizeof(why));
		return err_set(-EINVAL, "%s=%s: %s", what, text, why);
	}
	*ret_has = true;
	return 0;
}

static int marks_addresses(struct profile_filters *f)
{
	for (size_t i = 0; i < f->symbols.nr; i++) {
		const char *name = f->symbols.names[i];
		char *end;
		uint64_t v = strtoull(name, &end, 16);

		if (*name && !*end)
			TRY(vec_push(&f->addresses, v));
	}
	return 0;
}

int marks_init(struct profile *p)
{
	struct profile_filters *f = calloc(1, sizeof(*f));
	const char *parent = p->opts.parent ? p->opts.parent : "^sys_|^do_page_fault";

	if (!f)
		return err_nomem();
	p->filters = f;
	TRY(marks_names(p->opts.comms, "comm", &f->comms));
	TRY(marks_names(p->opts.dsos, "dso", &f->dsos));
	TRY(marks_names(p->opts.symbols, "symbol", &f->symbols));
	TRY(marks_ids(p->opts.pids, "pid", &f->pids));
	TRY(marks_ids(p->opts.tids, "tid", &f->tids));
	TRY(marks_addresses(f));
	/*
	 * Compile this only if the key `parent` may be used (it may be bound later): regcomp() of
	 * glibc 2.36 frees memory twice when it runs out of memory.
	 */
	if (p->opts.parent || (p->opts.keys && strstr(p->opts.keys, "parent")))
		TRY(marks_regex(parent, "parent", &f->parent, &f->has_parent));
	return marks_regex(p->opts.ignore_callees, "ignore-callees", &f->ignored, &f->has_ignored);
}

void marks_done(struct profile *p)
{
	struct profile_filters *f = p->filters;

	if (!f)
		return;
	name_list_done(&f->comms);
	name_list_done(&f->dsos);
	name_list_done(&f->symbols);
	id_list_done(&f->pids);
	id_list_done(&f->tids);
	vec_done(&f->addresses);
	if (f->has_parent)
		regfree(&f->parent);
	if (f->has_ignored)
		regfree(&f->ignored);
	free(f);
	p->filters = NULL;
}

static bool marks_dso_holds(const struct profile *p, const struct profile_place *place)
{
	const struct profile_dso *d = place->dso ? &p->dsos.v[place->dso - 1] : NULL;

	return !p->filters->dsos.names || (d && (name_list_has(&p->filters->dsos, d->short_name) ||
						 name_list_has(&p->filters->dsos, d->long_name)));
}

/* perf treats a name of hexadecimal digits as an address, even if a function has that name. */
static bool marks_symbol_holds(const struct profile *p, const struct profile_place *place)
{
	const struct profile_filters *f = p->filters;
	char *end;

	if (!f->symbols.names)
		return true;
	for (size_t i = 0; i < f->addresses.n; i++) {
		if (f->addresses.v[i] == place->ip)
			return true;
	}
	if (!place->sym || !name_list_has(&f->symbols, place->sym))
		return false;
	strtoull(place->sym, &end, 16);
	return *end;
}

bool marks_need_place(const struct profile *p)
{
	return p->filters->dsos.names || p->filters->symbols.names;
}

bool marks_filtered(const struct profile *p, const struct event *ev, uint32_t place)
{
	const struct profile_filters *f = p->filters;
	const char *comm = strpool_text(ev->recording->strings, ev->pub.comm);

	if (p->opts.socket != KEY_NO_NUMBER &&
	    (uint64_t)(int64_t)recording_socket(ev->recording, ev->pub.cpu) != p->opts.socket)
		return true;
	/* The function is searched for only if it is a key. */
	if (p->opts.parents_only && !(p->has_parent && p->chain_parent))
		return true;
	if (!name_list_holds(&f->comms, comm) || !id_list_holds(&f->pids, ev->pub.pid) ||
	    !id_list_holds(&f->tids, ev->pub.tid))
		return true;
	return place != PROFILE_ROOT && (!marks_dso_holds(p, place_at(p, place)) ||
					 !marks_symbol_holds(p, place_at(p, place)));
}

static bool marks_match(const char *sym, bool has, const regex_t *regex)
{
	return has && sym && !regexec(regex, sym, 0, NULL, 0);
}

void marks_match_place(const struct profile *p, struct profile_place *place)
{
	const struct profile_filters *f = p->filters;

	place->is_parent = marks_match(place->sym, f->has_parent, &f->parent);
	place->is_ignored = marks_match(place->sym, f->has_ignored, &f->ignored);
}
