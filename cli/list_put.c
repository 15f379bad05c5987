/* SPDX-License-Identifier: MIT */
/* Prints an event of a list: a line and what is known of the event, or a JSON object. */
#include "list.h"

#include "say.h"

#include <string.h>

void list_put_wrapped(const char *indent, const char *text)
{
	enum { COLUMNS = 80 };
	const char *blank = indent;
	size_t column = 0;

	for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
		const size_t len = strcspn(text, " \t\n");

		if (column && column + 1 + len > COLUMNS) {
			putchar('\n');
			column = 0;
			blank = indent;
		}
		fputs(blank, stdout);
		cli_put_quiet(stdout, text, len);
		column += strlen(blank) + len;
		blank = " ";
		text += len;
	}
	putchar('\n');
}

/* "        head: text" */
static void list_put_fact(const char *head, const char *text)
{
	if (!text)
		return;
	printf("%s%s: ", LIST_INDENT, head);
	cli_put_quiet(stdout, text, strlen(text));
	putchar('\n');
}

static void list_put_about(const struct event_listing *l, const struct sonde_listed_event *e)
{
	if (l->args->desc && e->description)
		list_put_wrapped(LIST_INDENT, e->description);
	if (!l->is_long)
		return;
	list_put_fact("number", e->number);
	list_put_fact(e->kind == SONDE_EVENT_PFM ? "modifiers" : "terms", e->terms);
	list_put_fact("unit", e->unit);
	list_put_fact("scale", e->scale);
	list_put_fact("defined by", e->probe);
	list_put_fact("build id", e->build_id);
}

static void list_put_json(struct event_listing *l, const struct sonde_listed_event *e)
{
	fputs(l->nr_put ? ",\n{\"name\":" : "\n{\"name\":", stdout);
	json_put_string(e->name);
	json_put_member("kind", l->class->title);
	json_put_member("alias", e->alias);
	json_put_member("description", e->description);
	json_put_member("number", e->number);
	json_put_member(e->kind == SONDE_EVENT_PFM ? "modifiers" : "terms", e->terms);
	json_put_member("unit", e->unit);
	json_put_member("scale", e->scale);
	json_put_member("probe", e->probe);
	json_put_member("file", e->file);
	json_put_member("build_id", e->build_id);
	if (e->kind == SONDE_EVENT_TRACEPOINT &&
	    (l->is_long || list_tracepoint_is_named(l, e->name)))
		list_put_tracepoint_json(l, e->name);
	putchar('}');
}

static void list_put_text(struct event_listing *l, const struct sonde_listed_event *e,
			  const char *shown)
{
	const char *title = e->probe ? "probe" : l->class->title;

	if (e->alias)
		printf("%-50s %-10s also %s\n", shown, title, e->alias);
	else
		printf("%-50s %s\n", shown, title);
	list_put_about(l, e);
	if (e->kind == SONDE_EVENT_TRACEPOINT && list_tracepoint_is_named(l, e->name))
		list_put_tracepoint(l, e->name);
}

/* The short name of an event of the processor's own source is first. */
static void list_put_as_perf(const struct event_listing *l, const struct sonde_listed_event *e,
			     const char *shown)
{
	const bool is_pmu = l->class->kind == SONDE_EVENT_PMU;
	char both[512];

	snprintf(both, sizeof(both), "%s OR %s", is_pmu ? e->alias : shown,
		 is_pmu ? shown : e->alias);
	printf("  %-50s [%s]\n", e->alias ? both : shown, l->class->perf_title);
}

void list_put_as(struct event_listing *l, const struct sonde_listed_event *e, const char *shown)
{
	if (l->is_json)
		list_put_json(l, e);
	else if (l->args->raw_dump)
		printf("%s ", l->class->kind == SONDE_EVENT_PMU && e->alias ? e->alias : e->name);
	else if (l->rules->list_in_perfs_form)
		list_put_as_perf(l, e, shown);
	else
		list_put_text(l, e, shown);
	l->nr_put++;
}

void list_put(struct event_listing *l, const struct sonde_listed_event *e)
{
	if (list_is_asked_for(l, e->name, e->alias))
		list_put_as(l, e, e->name);
}
