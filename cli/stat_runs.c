/* SPDX-License-Identifier: MIT */
#include "stat_runs.h"

#include "json_read.h"
#include "stat_options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX_BYTES = 64 << 20 };

/* A series that has no value of this run yet. */
static struct stat_series *runs_find_open(struct stat_runs *r, const struct stat_series *like)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->list[i].n <= r->nr_runs && stat_series_same(&r->list[i], like))
			return &r->list[i];
	return NULL;
}

int stat_runs_add(struct stat_runs *r, const struct stat_printer *p,
		  const struct sonde_stat_round *round)
{
	char place[128];

	for (size_t i = 0; i < round->nr_rows; i++) {
		const struct sonde_stat_row *row = &round->rows[i];
		const struct sonde_stat_event *e = sonde_stat_event(p->stat, row->event);
		const double value =
			row->state == SONDE_STAT_COUNTED ? (double)row->count * e->scale : NAN;
		struct stat_series s = {
			.event = strdup(e->name),
			.cgroup = strdup(e->cgroup ? e->cgroup : ""),
			.place = strdup(stat_place_text(p, row, place, sizeof(place))),
			.unit = strdup(e->unit),
		};
		struct stat_series *known;

		if (!s.event || !s.cgroup || !s.place || !s.unit) {
			stat_series_done(&s);
			return -ENOMEM;
		}
		known = runs_find_open(r, &s);
		if (known) {
			stat_series_done(&s);
		} else if (stat_runs_push(r, &s) < 0) {
			return -ENOMEM;
		} else {
			known = &r->list[r->n - 1];
		}
		if (stat_series_push(known, value) < 0)
			return -ENOMEM;
	}
	return stat_runs_push_time(r, (double)round->run_ns);
}

/* ---- reading --------------------------------------------------------------------------------- */

static char *runs_load(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	char *text = NULL;

	if (!f) {
		cli_say("stat: --baseline: cannot read %s: %s", path, strerror(errno));
		return NULL;
	}
	if (fstat(fileno(f), &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX_BYTES) {
		cli_say("stat: --baseline: %s is not a file of counts", path);
	} else {
		text = malloc((size_t)st.st_size + 1);
		*ret_len = text ? fread(text, 1, (size_t)st.st_size, f) : 0;
		if (!text)
			cli_say("stat: out of memory");
	}
	fclose(f);
	return text;
}

/* A file of stat record: each of its runs is a round. */
static int runs_read_recording(const struct cli *cli, const char *path, const char *by,
			       struct stat_printer *p, struct stat_runs *ret)
{
	struct sonde_stat_round round = { .size = sizeof(round) };
	const char *recorded;
	struct sonde_stat *s;
	char settings[32];
	int e;

	snprintf(settings, sizeof(settings), "by=%s", by);
	e = sonde_stat_read(&s, path, settings);
	if (e < 0) {
		cli_fail(cli);
		return -1;
	}
	recorded = sonde_stat_info(s, "by");
	if (recorded && strcmp(recorded, by) != 0) {
		cli_say("stat: --baseline: %s has counts by %s, and this run has counts by %s",
			path, recorded, by);
		sonde_stat_close(s);
		return -1;
	}
	p->stat = s;
	while ((e = sonde_stat_next(s, &round)) > 0)
		if (round.kind == SONDE_STAT_RUN && stat_runs_add(ret, p, &round) < 0)
			e = -ENOMEM;
	if (e < 0)
		cli_fail(cli);
	sonde_stat_close(s);
	return e;
}

/* The objects of -j are each a row of one run, and begin with this member. */
static void runs_report_mistake(const char *path, const char *text, size_t len,
				const struct json_reader *j)
{
	static const char row[] = "\"counter-value\"";

	if (memmem(text, len, row, strlen(row)))
		cli_say("stat: --baseline: %s has the rows of -j, without the counts of each run: "
			"write it with -r N --format json -o FILE instead of -j",
			path);
	else
		cli_say("stat: --baseline: %s, byte %zu: expected %s; sonde stat -r N --format "
			"json -o FILE writes a baseline",
			path, (size_t)(j->at - text), j->mistake);
}

int stat_runs_read(const struct cli *cli, const char *path, enum sonde_stat_by by,
		   struct stat_runs *ret)
{
	struct stat_printer p = { .by = by };
	struct json_reader j = { 0 };
	size_t len = 0;
	char *text = runs_load(path, &len);
	int e = -1;

	if (!text)
		return -1;
	*ret = (struct stat_runs){ 0 };
	if (len >= 8 && !memcmp(text, "PERFILE2", 8)) {
		free(text);
		e = runs_read_recording(cli, path, stat_by_names[by], &p, ret);
		if (e < 0)
			stat_runs_done(ret);
		return e;
	}
	j.at = text;
	j.end = text + len;
	if (stat_runs_parse(&j, ret) < 0)
		cli_say("stat: out of memory");
	else if (j.mistake)
		runs_report_mistake(path, text, len, &j);
	else
		e = 0;
	free(text);
	if (e < 0)
		stat_runs_done(ret);
	return e;
}
