/* SPDX-License-Identifier: MIT */
/* How often events happen on this machine: what a recording of them would have to write. */
#include "list.h"

#include "say.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MIN 0.01
enum { SECONDS_MAX = 3600, TEXT_BYTES = 64 };

/* A signal handler can only reach globals. */
static struct sonde_stat *volatile rate_counting;

static void rate_on_signal(int signo)
{
	sonde_stat_stop(rate_counting);
}

/* The names of the events to count. */
struct rate_events {
	struct event_listing *listing;
	struct sonde_record_event *list; /* owned, as its texts */
	size_t n;
	bool failed; /* out of memory */
};

static void rate_push(struct rate_events *r, const char *event)
{
	struct sonde_record_event *more = reallocarray(r->list, r->n + 1, sizeof(*more));
	char *name = strdup(event);

	if (more)
		r->list = more;
	if (!more || !name) {
		free(name);
		r->failed = true;
		return;
	}
	more[r->n++] = (struct sonde_record_event){ .events = name };
}

static void rate_add(void *ctx, const struct sonde_listed_event *e)
{
	struct rate_events *r = ctx;

	if (strcmp(e->name, "dummy") != 0 && list_is_asked_for(r->listing, e->name, e->alias))
		rate_push(r, e->name);
}

/* Hardware events share counters, so their rates are no sums that a recording would write. */
static int rate_collect(struct cli *cli, struct rate_events *r)
{
	struct event_listing *l = r->listing;

	for (size_t i = 0; i < list_nr_classes; i++) {
		const struct list_class *c = &list_classes[i];
		const struct sonde_list_options opts = { .size = sizeof(opts), .kinds = c->kind };

		l->class = c;
		if ((c->kind != SONDE_EVENT_TRACEPOINT && c->kind != SONDE_EVENT_SOFTWARE) ||
		    c->probes_only || list_is_left_out(l, c))
			continue;
		if (sonde_list_events(&opts, rate_add, r) < 0)
			return cli_fail(cli);
	}
	if (r->failed) {
		cli_say("list: out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	if (r->n <= 1)
		return cli_usage(cli,
				 "list: --rate: no tracepoint and no software event matches; "
				 "hardware events and those of event sources share counters, and "
				 "have no rates here: sonde stat counts them");
	return CLI_OK;
}

static int rate_busiest_first(const void *a, const void *b)
{
	const struct sonde_stat_row *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

static void rate_print_json(const struct sonde_stat *s, const struct sonde_stat_row *rows, size_t n,
			    double seconds)
{
	json_begin("rates");
	printf(",\"seconds\":%.9f,\"events\":[", seconds);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", stdout);
		json_put_string(sonde_stat_event(s, rows[i].event)->name);
		printf(",\"count\":%llu,\"per_second\":%.3f}", (unsigned long long)rows[i].count,
		       (double)rows[i].count / seconds);
	}
	puts("\n]}");
}

static void rate_print_text(const struct sonde_stat *s, const struct sonde_stat_row *rows, size_t n,
			    double seconds)
{
	size_t shown = 0;

	printf("%14s %14s  event, in %.2f s on all cpus\n", "per second", "count", seconds);
	for (; shown < n && rows[shown].count; shown++)
		printf("%14.1f %14llu  %s\n", (double)rows[shown].count / seconds,
		       (unsigned long long)rows[shown].count,
		       sonde_stat_event(s, rows[shown].event)->name);
	if (shown < n)
		printf("%zu further events did not happen\n", n - shown);
}

/*
 * The clocks count nanoseconds, not events. So do the kernel's tracepoints sched_stat_*: a counter
 * grows by the time that they report.
 */
static bool rate_is_event(const struct sonde_stat *s, const struct sonde_stat_row *row)
{
	const struct sonde_stat_event *e = sonde_stat_event(s, row->event);

	return row->event > 0 && !*e->unit && strncmp(e->name, "sched:sched_stat_", 17) != 0 &&
	       row->state == SONDE_STAT_COUNTED;
}

static int rate_print(const struct event_listing *l, const struct sonde_stat *s,
		      const struct sonde_stat_round *round)
{
	struct sonde_stat_row *rows = calloc(round->nr_rows + 1, sizeof(*rows));
	const double seconds = (double)round->run_ns / 1e9;
	size_t n = 0;

	if (!rows) {
		cli_say("list: out of memory");
		return CLI_FAILED;
	}
	for (size_t i = 0; i < round->nr_rows; i++)
		if (rate_is_event(s, &round->rows[i]))
			rows[n++] = round->rows[i];
	qsort(rows, n, sizeof(*rows), rate_busiest_first);
	if (l->is_json)
		rate_print_json(s, rows, n, seconds);
	else
		rate_print_text(s, rows, n, seconds);
	free(rows);
	return CLI_OK;
}

static void rate_say(void *ctx, int level, const char *line)
{
	if (level == 0)
		cli_say("%s", line);
}

static int rate_count(struct cli *cli, const struct event_listing *l, const struct rate_events *r,
		      double seconds)
{
	char settings[TEXT_BYTES];
	const struct sonde_stat_options opts = {
		.size = sizeof(opts),
		.events = r->list,
		.nr_events = (uint32_t)r->n,
		.settings = settings,
		.say = rate_say,
	};
	struct sonde_stat_round round = { .size = sizeof(round) };
	struct sonde_stat *s;
	int status;

	snprintf(settings, sizeof(settings), "all-cpus=1\nleave-out=1\ntimeout=%.0f\n",
		 seconds * 1000);
	if (sonde_stat_open(&s, &opts) < 0)
		return cli_fail(cli);
	rate_counting = s;
	signal(SIGINT, rate_on_signal);
	signal(SIGTERM, rate_on_signal);
	if (sonde_stat_start(s, &status) < 0 || sonde_stat_next(s, &round) <= 0)
		status = cli_fail(cli);
	else
		status = cli_status(cli, (enum cli_exit)rate_print(l, s, &round));
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	rate_counting = NULL;
	sonde_stat_close(s);
	return status;
}

int list_rates(struct cli *cli, struct event_listing *l)
{
	struct rate_events r = { .listing = l };
	double seconds;
	char *end;
	int status;

	seconds = strtod(l->args->rate, &end);
	if (l->args->rate[strspn(l->args->rate, "0123456789.")] || end == l->args->rate || *end ||
	    seconds < SECONDS_MIN || seconds > SECONDS_MAX)
		return cli_usage(cli, "list: --rate needs seconds from %g to %d, not '%s'",
				 SECONDS_MIN, SECONDS_MAX, l->args->rate);
	/* first: it shows whether this user may count at all; single events may then be left out */
	rate_push(&r, "dummy");
	status = rate_collect(cli, &r);
	if (status == CLI_OK)
		status = rate_count(cli, l, &r, seconds);
	for (size_t i = 0; i < r.n; i++)
		free((char *)r.list[i].events);
	free(r.list);
	return status;
}
