/* SPDX-License-Identifier: MIT */
/* The event sources of sysfs, with the terms that an event of theirs takes. */
#include "list.h"

#include "say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "cpu/TERM=VALUE,.../" */
static bool list_sources_asked_for(struct event_listing *l, const struct sonde_event_source *s)
{
	char name[128];

	snprintf(name, sizeof(name), "%s/", s->name);
	return list_is_asked_for(l, name, NULL);
}

static void list_sources_put(void *ctx, const struct sonde_event_source *s)
{
	struct event_listing *l = ctx;
	char name[128];

	if (!list_sources_asked_for(l, s))
		return;
	snprintf(name, sizeof(name), "%s/TERM=VALUE,.../", s->name);
	printf("%-50s source\n", name);
	if (!l->args->desc)
		return;
	if (s->cpus)
		printf(LIST_INDENT "counts on the cpus %s for all\n", s->cpus);
	for (size_t i = 0; i < s->nr_terms; i++) {
		const struct sonde_source_term *t = &s->terms[i];

		if (t->max)
			printf(LIST_INDENT "%-20s 0 to %#-18" PRIx64 " %s\n", t->name, t->max,
			       t->text);
		else
			printf(LIST_INDENT "%-20s cannot be set: %s\n", t->name, t->text);
	}
}

static void list_sources_put_json(void *ctx, const struct sonde_event_source *s)
{
	struct event_listing *l = ctx;

	if (!list_sources_asked_for(l, s))
		return;
	fputs(l->nr_put++ ? ",\n{\"name\":" : "\n{\"name\":", stdout);
	json_put_string(s->name);
	printf(",\"type\":%u", s->type);
	json_put_member("cpus", s->cpus);
	fputs(",\"terms\":[", stdout);
	for (size_t i = 0; i < s->nr_terms; i++) {
		fputs(i ? ",{\"name\":" : "{\"name\":", stdout);
		json_put_string(s->terms[i].name);
		json_put_member("bits", s->terms[i].text);
		if (s->terms[i].max)
			printf(",\"max\":%" PRIu64, s->terms[i].max);
		putchar('}');
	}
	fputs("]}", stdout);
}

int list_put_sources(struct event_listing *l)
{
	return sonde_list_sources(l->is_json ? list_sources_put_json : list_sources_put, l);
}
