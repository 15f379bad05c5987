/* SPDX-License-Identifier: MIT */
/* sonde list: the events that this machine can record. */
#include "cli.h"

#include "json.h"
#include "pager.h"
#include "settings.h"

#include <sonde/sonde.h>

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct args {
	bool raw_dump, passed_over;
	const char *cpu_type;
	struct output_format format;
};

/* The events under one heading, in the order of printing. */
struct class
{
	/* kind of sonde_list_events(); 0 if the words below describe the class */
	uint32_t kind;
	const char *words[3]; /* words that select it */
	const char *title, *perf_title;
	const char *fixed[4]; /* sonde's events; NULL-terminated */
	const char *perf_fixed[4];
	bool is_form; /* describes how to write an event; not listed for programs */
	bool ours;    /* perf does not have these words */
};

/* clang-format off */
static const struct class classes[] = {
	{ .kind = SONDE_EVENT_HARDWARE, .words = { "hw", "hardware" },
	  .title = "hardware", .perf_title = "Hardware event" },
	{ .kind = SONDE_EVENT_SOFTWARE, .words = { "sw", "software" },
	  .title = "software", .perf_title = "Software event" },
	/* events of perf stat, which sonde cannot record */
	{ .words = { "sw", "software" }, .perf_title = "Tool event",
	  .perf_fixed = { "duration_time", "user_time", "system_time" } },
	{ .kind = SONDE_EVENT_CACHE, .words = { "cache", "hwcache" },
	  .title = "cache", .perf_title = "Hardware cache event" },
	{ .kind = SONDE_EVENT_PMU, .words = { "pmu" },
	  .title = "pmu", .perf_title = "Kernel PMU event" },
	{ .words = { "raw" }, .title = "raw", .perf_title = "Raw hardware event descriptor",
	  .fixed = { "rHEX", "SOURCE/TERM=VALUE,.../" }, .is_form = true, .ours = true,
	  .perf_fixed = { "rNNN", "cpu/t1=v1[,t2=v2,t3 ...]/modifier" } },
	{ .words = { "breakpoint" }, .title = "breakpoint", .perf_title = "Hardware breakpoint",
	  .fixed = { "mem:ADDRESS[/BYTES][:rwx]" }, .is_form = true, .ours = true,
	  .perf_fixed = { "mem:<addr>[/len][:access]" } },
	{ .kind = SONDE_EVENT_TRACEPOINT, .words = { "tracepoint" },
	  .title = "tracepoint", .perf_title = "Tracepoint event" },
};
/* clang-format on */

struct event_listing {
	const struct args *args;
	const struct class *class;
	char **words; /* none if everything is wanted */
	int nr_words;
	bool *found; /* for each word */
	bool unread; /* some events could not be listed; this was reported */
	const struct sonde_rules *rules;
	bool is_json;
	size_t nr_put;
};

/* ---- what is asked for ----------------------------------------------------------------------- */

static bool list_is_asked_by_name(const struct event_listing *l, const struct class *c,
				  const char *word)
{
	if (l->rules->list_takes_word_by_word && c->ours)
		return false;
	for (size_t i = 0; i < 3 && c->words[i]; i++)
		if (!strcmp(c->words[i], word))
			return true;
	return false;
}

static bool list_is_class_word(const struct event_listing *l, const char *word)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (list_is_asked_by_name(l, &classes[i], word))
			return true;
	return false;
}

/* A word matches any part of a name, except in SYSTEM:EVENT. */
static bool list_matches(const struct event_listing *l, const char *word, const char *name)
{
	const bool is_tracepoint = l->class->kind == SONDE_EVENT_TRACEPOINT;
	const bool any_case =
		!l->rules->list_matches_events_only || l->class->kind == SONDE_EVENT_PMU;
	char glob[512];

	if (strchr(word, ':'))
		return is_tracepoint && fnmatch(word, name, any_case ? FNM_CASEFOLD : 0) == 0;
	if (l->rules->list_matches_events_only && is_tracepoint)
		name = strchr(name, ':') + 1; /* perf does not match systems */
	snprintf(glob, sizeof(glob), "*%s*", word);
	return fnmatch(glob, name, any_case ? FNM_CASEFOLD : 0) == 0;
}

static bool list_is_asked_by(const struct event_listing *l, const char *word, const char *name,
			     const char *alias)
{
	if (list_is_class_word(l, word))
		return list_is_asked_by_name(l, l->class, word);
	if (l->class->is_form)
		return false;
	return list_matches(l, word, name) || (alias && list_matches(l, word, alias));
}

static bool list_is_asked_for(const struct event_listing *l, const char *name, const char *alias)
{
	bool asked = !l->nr_words;

	for (int i = 0; i < l->nr_words; i++)
		if (list_is_asked_by(l, l->words[i], name, alias))
			asked = l->found[i] = true;
	return asked;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void list_put_json(const struct event_listing *l, const char *name, const char *alias)
{
	fputs(l->nr_put ? ",\n{\"name\":" : "\n{\"name\":", stdout);
	json_put_string(name);
	json_put_member("kind", l->class->title);
	json_put_member("alias", alias);
	putchar('}');
}

static void list_put(struct event_listing *l, const char *name, const char *alias)
{
	const bool is_pmu = l->class->kind == SONDE_EVENT_PMU;
	char both[512];

	if (!list_is_asked_for(l, name, alias))
		return;
	if (l->is_json) {
		list_put_json(l, name, alias);
	} else if (l->args->raw_dump) {
		printf("%s ", is_pmu && alias ? alias : name);
	} else if (l->rules->list_in_perfs_form) {
		/* the short name of an event of the processor's own source is first */
		snprintf(both, sizeof(both), "%s OR %s", is_pmu ? alias : name,
			 is_pmu ? name : alias);
		printf("  %-50s [%s]\n", alias ? both : name, l->class->perf_title);
	} else if (alias) {
		printf("%-50s %-10s also %s\n", name, l->class->title, alias);
	} else {
		printf("%-50s %s\n", name, l->class->title);
	}
	l->nr_put++;
}

static void list_put_event(void *ctx, const struct sonde_listed_event *e)
{
	list_put(ctx, e->name, e->alias);
}

/*
 * Prints a class. Only tracepoints may be unreadable; that is reported, and is a failure if only
 * tracepoints are wanted.
 */
static int list_put_class(struct cli *cli, struct event_listing *l)
{
	const struct class *c = l->class;
	const char *const *fixed = l->rules->list_in_perfs_form ? c->perf_fixed : c->fixed;
	const struct sonde_list_options opts = { sizeof(opts), c->kind };
	bool alone = l->nr_words > 0;

	if (c->is_form && (l->args->raw_dump || l->is_json))
		return CLI_OK;
	for (; *fixed; fixed++)
		list_put(l, *fixed, NULL);
	if (!c->kind || sonde_list_events(&opts, list_put_event, l) >= 0)
		return CLI_OK;
	for (int i = 0; i < l->nr_words; i++)
		alone = alone &&
			(list_is_asked_by_name(l, c, l->words[i]) || strchr(l->words[i], ':'));
	cli_fail(cli);
	l->unread = true;
	return alone && !l->rules->list_passes_over_words ? CLI_FAILED : CLI_OK;
}

/* True if class c cannot have a match. */
static bool list_is_left_out(const struct event_listing *l, const struct class *c)
{
	for (int i = 0; i < l->nr_words; i++)
		if (list_is_class_word(l, l->words[i])
			    ? list_is_asked_by_name(l, c, l->words[i])
			    : c->kind == SONDE_EVENT_TRACEPOINT || !strchr(l->words[i], ':'))
			return false;
	return l->nr_words > 0;
}

static int list_put_classes(struct cli *cli, struct event_listing *l)
{
	int status = CLI_OK;

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes) && status == CLI_OK; i++) {
		l->class = &classes[i];
		if (!list_is_left_out(l, l->class))
			status = list_put_class(cli, l);
	}
	return status;
}

/*
 * Prints the heading of metrics, as perf does even without metrics. word is NULL if everything is
 * wanted.
 */
static bool list_put_metrics(const struct event_listing *l, const char *word)
{
	const bool metrics = word && (!strcmp(word, "metric") || !strcmp(word, "metrics"));

	if (word && !metrics && strcmp(word, "metricgroup") && strcmp(word, "metricgroups"))
		return false;
	if (!l->args->raw_dump)
		printf("\n%s:\n\n", metrics ? "Metrics" : "Metric Groups");
	else if (metrics)
		putchar('\n');
	return true;
}

/* Handles one word after the other; a word without a match is no failure. */
static int list_as_perf(struct cli *cli, struct event_listing *l, char **words, int n)
{
	if (!n) {
		list_put_classes(cli, l);
		list_put_metrics(l, NULL);
	}
	l->nr_words = 1;
	for (int i = 0; i < n; i++) {
		l->words = &words[i];
		if (strcmp(words[i], "sdt") && !list_put_metrics(l, words[i]))
			list_put_classes(cli, l);
	}
	return CLI_OK;
}

/*
 * The event whose name is most similar to a word without a match. Names of events are borrowed only
 * during the call.
 */
struct nearest_event {
	struct sonde_nearest near;
	char name[128];
};

static void list_offer_event(void *ctx, const struct sonde_listed_event *e)
{
	struct nearest_event *n = ctx;

	if (sonde_nearest_offer(&n->near, e->name) <= 0)
		return;
	snprintf(n->name, sizeof(n->name), "%s", e->name);
	n->near.closest = n->name;
	if (n->near.meant)
		n->near.meant = n->name;
}

static void list_report_unknown(const char *word)
{
	struct nearest_event n = { .near = { .size = sizeof(n.near), .wanted = word } };

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		for (size_t k = 0; k < 3 && classes[i].words[k]; k++)
			sonde_nearest_offer(&n.near, classes[i].words[k]);
	sonde_list_events(NULL, list_offer_event, &n);
	if (n.near.meant)
		cli_say("list: this machine has no events for '%s' (nearest: %s)", word,
			n.near.meant);
	else
		cli_say("list: this machine has no events for '%s'", word);
}

static int list_print(struct cli *cli, struct event_listing *l)
{
	int status;

	if (l->is_json) {
		json_begin("list");
		fputs(",\"events\":[", stdout);
	}
	status = list_put_classes(cli, l);
	if (l->is_json)
		puts("]}");
	for (int i = 0; i < l->nr_words && status == CLI_OK; i++)
		if (!l->found[i]) {
			if (!l->unread)
				list_report_unknown(l->words[i]);
			status = CLI_FAILED;
		}
	return status;
}

static int list_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct event_listing l = { .args = values, .words = argv, .rules = cli_rules(cli) };
	const char *pager = isatty(STDOUT_FILENO) ? settings_pager(cli) : NULL;
	int status = output_format_check(cli, "list", &l.args->format, &l.is_json);

	if (status)
		return status;
	l.found = calloc((size_t)argc + 1, sizeof(*l.found));
	if (!l.found) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	if (pager && !l.args->raw_dump && !l.is_json && pager_start(pager) < 0) {
		status = cli_status(cli, CLI_FAILED);
	} else if (l.rules->list_takes_word_by_word && !l.is_json) {
		status = list_as_perf(cli, &l, argv, argc);
	} else {
		l.nr_words = argc;
		status = list_print(cli, &l);
	}
	free(l.found);
	return status;
}

/* clang-format off */
static const struct opt options[] = {
	OPT_FLAG(0, "raw-dump", struct args, raw_dump,
		"prints only names, separated by blanks: for programs"),
	FORMAT_OPTIONS(struct args, format, "sonde-lists-json(5)"),
	OPT_GROUP("Options of perf that change nothing here"),
	OPT_FLAG('d', "desc", struct args, passed_over,
		"describes events of perf's tables, which sonde does not have"),
	OPT_FLAG(0, "long-desc", struct args, passed_over, "describes them in more detail"),
	OPT_FLAG(0, "details", struct args, passed_over, "prints what they consist of"),
	OPT_FLAG(0, "deprecated", struct args, passed_over,
		"also lists deprecated names of events"),
	OPT_TEXT(0, "cputype", "TYPE", struct args, cpu_type,
		"lists those of one kind of processor"),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = {
	"list [OPTIONS] [hw|sw|cache|pmu|raw|breakpoint|tracepoint|GLOB]...", NULL
};

const struct command cmd_list = {
	.name = "list",
	.summary = "lists the events that this machine can record",
	.usage = usage,
	.options = options,
	.examples = "  sonde list\n"
		    "  sonde list sw\n"
		    "  sonde list 'sched:*'\n"
		    "  sonde list page\n",
	.values_size = sizeof(struct args),
	.permute = true,
	.run = list_run,
};
