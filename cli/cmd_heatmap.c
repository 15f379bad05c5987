/* SPDX-License-Identifier: MIT */
/* sonde heatmap: when events happen, or how long pairs of them take, as a picture in one file. */
#include "cli.h"

#include "heat_pairs.h"
#include "pages.h"
#include "recording.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct args {
	struct reading_options rec; /* must be first: recording_set_key() */
	const char *output, *title, *latency, *key;
};

struct heatmap {
	const struct args *a;
	const char *event; /* from the command line: EVENT, or START,STOP */
	struct heat heat;
	struct heat_pairs pairs;
	char *start; /* owned; NULL without --latency */
	int status;
};

static void heatmap_say_pairs(const struct heat_pairs *p)
{
	const uint64_t unended = heat_pairs_unended(p);

	if (p->without_start || unended)
		cli_say("%" PRIu64 " STOP events have no START event, %" PRIu64
			" START events have no STOP event",
			p->without_start, unended);
	if (p->dropped)
		cli_say("%" PRIu64 " START events were dropped: too many had no STOP event yet",
			p->dropped);
}

static void heatmap_say_wrong_key(const struct heat_pairs *p)
{
	struct sonde_nearest near = { .size = sizeof(near), .wanted = p->wrong_key };
	size_t nr;
	const struct sonde_field *fields = sonde_schema_fields(p->wrong, &nr);

	for (size_t i = 0; i < nr; i++)
		sonde_nearest_offer(&near, fields[i].name);
	sonde_nearest_offer(&near, "tid");
	sonde_nearest_offer(&near, "cpu");
	cli_say("heatmap: --key: %s has no field %s%s%s%s", sonde_schema_name(p->wrong),
		p->wrong_key, near.meant ? "; did you mean " : "", near.meant ? near.meant : "",
		near.meant ? "?" : "");
}

static int heatmap_write(struct heatmap *m)
{
	const char *output = m->a->output;
	char *title = m->a->title ? strdup(m->a->title) : NULL;
	struct heat_picture picture = { .event = m->event, .heat = &m->heat };
	char *input = lines_given(&m->a->rec.lines, "input");
	int r = 0;

	if (!input && lines_count(&m->a->rec.lines, "input")) {
		free(title);
		return -ENOMEM;
	}
	if (!m->a->title && asprintf(&title, "%s: %s%s", input ? input : "perf.data",
				     m->start ? "latency of " : "", m->event) < 0)
		title = NULL;
	picture.title = title;
	if (!title)
		r = -ENOMEM;
	else if (page_write(output, page_is_svg(output) ? heat_put_svg : heat_put_html, &picture) <
		 0)
		m->status = CLI_FAILED;
	free(input);
	free(title);
	return r;
}

static int heatmap_draw(struct heatmap *m, struct sonde_session *s)
{
	const struct sonde_event *ev;
	int r = heat_init(&m->heat, m->start ? HEAT_LATENCY : HEAT_OFFSET);

	while (r >= 0 && (r = sonde_session_next(s, &ev)) > 0) {
		if (m->start)
			r = heat_pairs_add(&m->pairs, ev);
		if (m->pairs.wrong) {
			heatmap_say_wrong_key(&m->pairs);
			m->status = CLI_USAGE;
			return 0;
		}
		if (m->start)
			continue;
		if (ev->time_ns != SONDE_NO_TIME)
			heat_add(&m->heat, ev->time_ns, 0);
	}
	if (r < 0)
		return r;
	if (m->start)
		heatmap_say_pairs(&m->pairs);
	if (m->heat.count)
		return heatmap_write(m);
	cli_say("the recording has no %s: nothing is written",
		m->start ? "such pair of events" : "such event with a time");
	m->status = CLI_FAILED;
	return 0;
}

/* If memory is missing here, the library's chain of causes may be about another failure. */
static int heatmap_work(struct sonde_session *s, void *ctx)
{
	struct heatmap *m = ctx;
	const int r = heatmap_draw(m, s);

	if (r != -ENOMEM)
		return r;
	cli_say("out of memory");
	m->status = CLI_FAILED;
	return 0;
}

/* Splits "START,STOP" into two patterns. Returns 0, or a status after reporting the error. */
static int heatmap_set_latency(const struct cli *cli, struct heatmap *m)
{
	const char *comma = strchr(m->a->latency, ',');

	if (!comma || comma == m->a->latency || !comma[1] || strchr(comma + 1, ','))
		return cli_usage(cli, "heatmap: --latency takes two events, START,STOP, not '%s'",
				 m->a->latency);
	m->start = strndup(m->a->latency, (size_t)(comma - m->a->latency));
	if (!m->start) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	m->event = m->a->latency;
	m->pairs = (struct heat_pairs){
		.heat = &m->heat,
		.start = m->start,
		.stop = comma + 1,
		.key = m->a->key,
	};
	return CLI_OK;
}

static int heatmap_set_event(const struct cli *cli, struct heatmap *m, int argc, char **argv)
{
	if (m->a->latency && argc)
		return cli_usage(cli, "heatmap: --latency names the events; what is '%s'?",
				 argv[0]);
	if (m->a->latency)
		return heatmap_set_latency(cli, m);
	if (m->a->key)
		return cli_usage(cli, "heatmap: --key is for --latency START,STOP");
	if (argc != 1)
		return cli_usage(cli, "heatmap: name one event, or two with --latency START,STOP; "
				      "sonde info lists those of a recording");
	m->event = argv[0];
	return CLI_OK;
}

static int heatmap_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *a = values;
	struct heatmap m = { .a = a };
	struct opt_parser p = { 0 };
	int status = recording_check_one(cli, "heatmap", &a->rec);

	if (!status)
		status = heatmap_set_event(cli, &m, argc, argv);
	if (!status && lines_set(&a->rec.lines, &p, "event", "event", m.event))
		status = cli_usage(cli, "heatmap: %s", p.error);
	a->rec.output = strcmp(a->output, "-") ? a->output : NULL;
	if (!status)
		status = recording_run(cli, &a->rec, "callchain=0\n", heatmap_work, &m);
	if (!status && m.status)
		status = cli_status(cli, (enum cli_exit)m.status);
	heat_pairs_done(&m.pairs);
	heat_done(&m.heat);
	free(m.start);
	return status;
}

static const struct args defaults = { .output = "heatmap.html" };

/* clang-format off */
static const struct opt options[] = {
	INPUT_OPTION,
	OPT_TEXT('o', "output", "FILE", struct args, output,
		"writes FILE, a page that zooms, or a picture if FILE ends in .svg; default "
		"heatmap.html, '-': the standard "
		"output"),
	OPT_TEXT(0, "latency", "START,STOP", struct args, latency,
		"draws the time from each START to the next STOP with the same key, when STOP "
		"happens"),
	OPT_TEXT(0, "key", "FIELDS", struct args, key,
		"matches START and STOP by these fields: dev,sector, or pid=next_pid if they have "
		"different names; tid and "
		"cpu are those of the event. Default: as both events need if sonde knows them, "
		"else tid"),
	OPT_TEXT(0, "title", "TEXT", struct args, title,
		"names the picture; default: the recording and the events"),
	OPT_GROUP("Events"),
	CHOICE_OPTIONS("takes only events"),
	OPT_GROUP("The recording"),
	RECORDING_OPTIONS(struct args, rec),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "heatmap [OPTIONS] EVENT",
				     "heatmap [OPTIONS] --latency START,STOP", NULL };

const struct command cmd_heatmap = {
	.name = "heatmap",
	.summary = "draws when events happen, or how long pairs of them take, in one file",
	.usage = usage,
	.options = options,
	.defaults = &defaults,
	.examples = "  sonde heatmap sched:sched_switch\n"
		    "  sonde heatmap --latency block:block_rq_issue,block:block_rq_complete\n"
		    "  sonde heatmap --latency sched:sched_wakeup,sched:sched_switch -o "
		    "wakeups.svg\n",
	RECORDING_COMMAND(struct args),
	.run = heatmap_run,
};
