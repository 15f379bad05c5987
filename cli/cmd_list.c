/* SPDX-License-Identifier: MIT */
/* sonde list: the events that this machine can record. */
#include "cli.h"

#include "list.h"
#include "nearest_event.h"
#include "pager.h"
#include "settings.h"

#include <sonde/sonde.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a class --------------------------------------------------------------------------------- */

/* An event of a source that is only for another type of a hybrid processor: cpu_atom. */
static bool list_is_of_other_cpus(const struct event_listing *l, const char *name)
{
	static const char prefix[] = "cpu_";
	const char *type = l->args->cpu_type;
	size_t len = type ? strlen(type) : 0;

	if (!type || strncmp(name, prefix, strlen(prefix)))
		return false;
	name += strlen(prefix);
	return strncmp(name, type, len) || name[len] != '/';
}

static void list_put_event(void *ctx, const struct sonde_listed_event *e)
{
	struct event_listing *l = ctx;

	if (e->kind == SONDE_EVENT_PMU && list_is_of_other_cpus(l, e->name))
		return;
	if (e->probe || !l->class->probes_only)
		list_put(l, e);
}

static void list_put_fixed(struct event_listing *l)
{
	const struct list_class *c = l->class;
	const char *const *fixed = l->rules->list_in_perfs_form ? c->perf_fixed : c->fixed;

	for (size_t i = 0; fixed[i]; i++) {
		const struct sonde_listed_event e = {
			.size = sizeof(e),
			.name = fixed[i],
			.description = c->descriptions[i],
		};

		if (!c->is_form || (!l->args->raw_dump && !l->is_json))
			list_put(l, &e);
		else
			list_is_asked_for(l, e.name, NULL); /* no event, but no mistake either */
	}
}

static int list_put_events(struct cli *cli, struct event_listing *l)
{
	const struct sonde_list_options opts = {
		.size = sizeof(opts),
		.kinds = l->class->kind,
		.processor = l->args->cpu,
		.buildid_dir = cli->buildid_dir,
	};
	struct list_markers markers = { .l = l };
	int r;

	if (l->class->kind != SONDE_EVENT_SDT)
		return sonde_list_events(&opts, list_put_event, l);
	r = sonde_list_events(&opts, list_markers_add, &markers);
	list_markers_end(&markers);
	return r;
}

/*
 * Prints a class. Tracepoints may be unreadable, and vendors' names unknown; that is reported, and
 * is a failure if only those are wanted.
 */
static int list_put_class(struct cli *cli, struct event_listing *l)
{
	const struct list_class *c = l->class;
	const bool wants_all = !l->nr_words;
	bool alone = !wants_all;

	list_put_fixed(l);
	if (!c->kind)
		return CLI_OK;
	if (list_put_events(cli, l) < 0) {
		for (int i = 0; i < l->nr_words; i++)
			alone = alone && (list_is_asked_by_name(l, c, l->words[i]) ||
					  strchr(l->words[i], ':'));
		/* names of vendors are an addition that many machines do not have */
		if (c->kind == SONDE_EVENT_PFM && !list_is_wanted_alone(l, c))
			return CLI_OK;
		cli_fail(cli);
		l->unread = true;
		return alone && !l->rules->list_passes_over_words ? CLI_FAILED : CLI_OK;
	}
	if (c->has_sources && !l->is_json && !l->args->raw_dump && !l->rules->list_in_perfs_form &&
	    list_put_sources(l) < 0)
		return cli_fail(cli);
	return CLI_OK;
}

static int list_put_classes(struct cli *cli, struct event_listing *l)
{
	int status = CLI_OK;

	for (size_t i = 0; i < list_nr_classes && status == CLI_OK; i++) {
		l->class = &list_classes[i];
		if (!list_is_left_out(l, l->class))
			status = list_put_class(cli, l);
	}
	return status;
}

/* ---- as perf --------------------------------------------------------------------------------- */

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
		if (!list_put_metrics(l, words[i]))
			list_put_classes(cli, l);
	}
	return CLI_OK;
}

/* ---- as sonde -------------------------------------------------------------------------------- */

/* The words hw and cache. */
static bool list_is_hardware_word(const struct event_listing *l, const char *word)
{
	for (size_t i = 0; i < list_nr_classes; i++)
		if ((list_classes[i].kind == SONDE_EVENT_HARDWARE ||
		     list_classes[i].kind == SONDE_EVENT_CACHE) &&
		    list_is_asked_by_name(l, &list_classes[i], word))
			return true;
	return false;
}

static void list_report_unknown(const struct event_listing *l, const char *word)
{
	struct nearest_event n = { .near = { .size = sizeof(n.near), .wanted = word } };

	for (size_t i = 0; i < list_nr_classes; i++)
		for (size_t k = 0; k < 3 && list_classes[i].words[k]; k++)
			sonde_nearest_offer(&n.near, list_classes[i].words[k]);
	sonde_list_events(NULL, nearest_event_offer, &n);
	if (list_is_hardware_word(l, word))
		cli_say("list: this machine has no events for '%s': its kernel offers no hardware "
			"counters, as in many virtual machines",
			word);
	else if (n.near.meant && !list_is_class_word(l, word))
		cli_say("list: this machine has no events for '%s' (nearest: %s)", word,
			n.near.meant);
	else
		cli_say("list: this machine has no events for '%s'", word);
}

/* The class whose events the sources of the JSON belong to. */
static const struct list_class *list_class_of_sources(void)
{
	size_t i = 0;

	while (!list_classes[i].has_sources)
		i++;
	return &list_classes[i];
}

static int list_print_json(struct cli *cli, struct event_listing *l)
{
	int status, r = 0;

	json_begin("list");
	fputs(",\"events\":[", stdout);
	status = list_put_classes(cli, l);
	fputs("],\"sources\":[", stdout);
	l->class = list_class_of_sources();
	l->nr_put = 0;
	if (!list_is_left_out(l, l->class))
		r = list_put_sources(l);
	puts("]}");
	return r < 0 ? cli_fail(cli) : status;
}

/* Reports the first word that selected no event. */
static int list_report_words(struct event_listing *l)
{
	for (int i = 0; i < l->nr_words; i++)
		if (!l->found[i]) {
			if (!l->unread)
				list_report_unknown(l, l->words[i]);
			return CLI_FAILED;
		}
	return CLI_OK;
}

static int list_print(struct cli *cli, struct event_listing *l)
{
	const int status = l->is_json ? list_print_json(cli, l) : list_put_classes(cli, l);

	return status == CLI_OK ? list_report_words(l) : status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static void list_note_cpu_type(void *ctx, const struct sonde_event_source *source)
{
	struct event_listing *l = ctx;

	if (!strncmp(source->name, "cpu_", 4) && !strcmp(source->name + 4, l->args->cpu_type))
		l->nr_put++;
}

/* A type that the machine does not have is a mistake. perf continues with all events. */
static int list_check_cpu_type(const struct cli *cli, struct event_listing *l)
{
	const char *type = l->args->cpu_type;
	bool is_there;

	if (!type)
		return 0;
	is_there = sonde_list_sources(list_note_cpu_type, l) >= 0 && l->nr_put;
	l->nr_put = 0;
	if (is_there)
		return 0;
	if (!cli_compat(cli))
		return cli_usage(cli,
				 "list: --cputype %s: this machine has no event source cpu_%s; "
				 "leave the option out",
				 type, type);
	cli_say("list: --cputype %s: this machine has no event source cpu_%s, so all events are "
		"listed",
		type, type);
	return 0;
}

static int list_run(struct cli *cli, void *values, int argc, char **argv)
{
	static char pfm[] = "pfm";
	char *only_pfm[] = { pfm, NULL };
	struct event_listing l = { .args = values, .words = argv, .rules = cli_rules(cli) };
	const char *pager = isatty(STDOUT_FILENO) ? settings_pager(cli) : NULL;
	int status = output_format_check(cli, "list", &l.args->format, &l.is_json);

	if (status)
		return status;
	if (l.args->cpu && !argc) {
		l.words = only_pfm;
		argc = 1;
	}
	l.is_long = cli->verbose > 0 || l.args->long_desc || l.args->details;
	l.found = calloc((size_t)argc + 1, sizeof(*l.found));
	if (!l.found) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	l.nr_words = argc;
	status = list_check_cpu_type(cli, &l);
	if (status) {
		/* reported */
	} else if (l.args->rate) {
		status = list_rates(cli, &l);
		if (status == CLI_OK)
			status = list_report_words(&l);
	} else if (pager && !l.args->raw_dump && !l.is_json && pager_start(pager) < 0) {
		status = cli_status(cli, CLI_FAILED);
	} else if (l.rules->list_takes_word_by_word && !l.is_json) {
		status = list_as_perf(cli, &l, l.words, argc);
	} else {
		status = list_print(cli, &l);
	}
	free(l.found);
	return status;
}

/* clang-format off */
static const struct list_args defaults = { .desc = true };
static const struct opt options[] = {
	OPT_FLAG('d', "desc", struct list_args, desc,
		"describes the events, which is the default; --no-desc prints names only"),
	OPT_FLAG(0, "long-desc", struct list_args, long_desc,
		"prints all that is known of an event: the terms or the number that its name "
		"stands for, unit and scale, modifiers, how a probe is defined; -v is the same"),
	OPT_FLAG(0, "details", struct list_args, details, "the same"),
	OPT_FLAG(0, "raw-dump", struct list_args, raw_dump,
		"prints only names, separated by blanks: for programs"),
	FORMAT_OPTIONS(struct list_args, format, "sonde-lists-json(5)"),
	OPT_OUR_TEXT(0, "cpu", "MODEL", struct list_args, cpu,
		"lists the vendor's names (pfm) of another processor, by libpfm's name for it: "
		"skl, 'amd64_fam19h*'"),
	OPT_OUR_TEXT(0, "rate", "SECONDS", struct list_args, rate,
		"counts the tracepoints and software events that the words select, on all cpus for "
		"so long, and lists the busiest: what a recording of them would have to write"),
	OPT_TEXT(0, "cputype", "TYPE", struct list_args, cpu_type,
		"leaves out the events of a hybrid processor's other cpus: core, atom"),
	OPT_GROUP("Options of perf that change nothing here"),
	OPT_FLAG(0, "debug", struct list_args, passed_over,
		"prints how perf reads its tables, which sonde does not have"),
	OPT_FLAG(0, "deprecated", struct list_args, passed_over,
		"also lists deprecated names of events in those tables"),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = {
	"list [OPTIONS] [hw|sw|tool|cache|pmu|pfm|raw|breakpoint|tracepoint|probe|sdt|GLOB]...",
	NULL
};

const struct command cmd_list = {
	.name = "list",
	.summary = "lists the events that this machine can record",
	.usage = usage,
	.options = options,
	.examples = "  sonde list\n"
		    "  sonde list sw\n"
		    "  sonde list 'sched:*'\n"
		    "  sonde list page\n"
		    "  sonde list sched:sched_switch\n"
		    "  sonde list pfm --cpu skl\n"
		    "  sonde list --rate 2 'sched:*' 'irq:*'\n",
	.defaults = &defaults,
	.values_size = sizeof(struct list_args),
	.permute = true,
	.run = list_run,
};
