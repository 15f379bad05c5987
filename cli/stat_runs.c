/* SPDX-License-Identifier: MIT */
#include "stat_runs.h"

#include "json.h"
#include "json_read.h"
#include "stat_options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXT_BYTES = 512, FILE_MAX_BYTES = 64 << 20, SERIES_MAX = 1 << 16 };

static int runs_push_value(struct stat_series *s, double value)
{
	double *more = reallocarray(s->values, s->n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->values = more;
	more[s->n++] = value;
	return 0;
}

static void runs_free_series(struct stat_series *s)
{
	free(s->event);
	free(s->cgroup);
	free(s->place);
	free(s->unit);
	free(s->values);
}

/* Takes the texts and values of s, also on failure. */
static int runs_push(struct stat_runs *r, struct stat_series *s)
{
	struct stat_series *more = reallocarray(r->list, r->n + 1, sizeof(*more));

	if (!more || !s->event || !s->cgroup || !s->place || !s->unit) {
		r->list = more ? more : r->list;
		runs_free_series(s);
		return -ENOMEM;
	}
	r->list = more;
	more[r->n++] = *s;
	return 0;
}

static int runs_push_time(struct stat_runs *r, double ns)
{
	double *more = reallocarray(r->elapsed_ns, r->nr_runs + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	r->elapsed_ns = more;
	more[r->nr_runs++] = ns;
	return 0;
}

static bool runs_same(const struct stat_series *a, const struct stat_series *b)
{
	return !strcmp(a->event, b->event) && !strcmp(a->cgroup, b->cgroup) &&
	       !strcmp(a->place, b->place);
}

const struct stat_series *stat_runs_find(const struct stat_runs *of, const struct stat_runs *r,
					 size_t i)
{
	size_t before = 0;

	for (size_t k = 0; k < i; k++)
		before += runs_same(&r->list[k], &r->list[i]);
	for (size_t k = 0; k < of->n; k++)
		if (runs_same(&of->list[k], &r->list[i]) && before-- == 0)
			return &of->list[k];
	return NULL;
}

/* A series that has no value of this run yet. */
static struct stat_series *runs_find_open(struct stat_runs *r, const struct stat_series *like)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->list[i].n <= r->nr_runs && runs_same(&r->list[i], like))
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
			runs_free_series(&s);
			return -ENOMEM;
		}
		known = runs_find_open(r, &s);
		if (known) {
			runs_free_series(&s);
		} else if (runs_push(r, &s) < 0) {
			return -ENOMEM;
		} else {
			known = &r->list[r->n - 1];
		}
		if (runs_push_value(known, value) < 0)
			return -ENOMEM;
	}
	return runs_push_time(r, (double)round->run_ns);
}

void stat_runs_done(struct stat_runs *r)
{
	for (size_t i = 0; i < r->n; i++)
		runs_free_series(&r->list[i]);
	free(r->list);
	free(r->elapsed_ns);
	*r = (struct stat_runs){ 0 };
}

/* ---- writing --------------------------------------------------------------------------------- */

static void runs_put_values(FILE *out, const double *values, size_t n)
{
	fputc('[', out);
	for (size_t i = 0; i < n; i++) {
		if (isnan(values[i]))
			fprintf(out, "%snull", i ? "," : "");
		else
			fprintf(out, "%s%.15g", i ? "," : "", values[i]);
	}
	fputc(']', out);
}

static void runs_put_text(FILE *out, const char *name, const char *text)
{
	if (!*text)
		return;
	fprintf(out, ",\"%s\":", name);
	json_write_string(out, text);
}

void stat_runs_begin_json(const struct stat_runs *r, FILE *out)
{
	fprintf(out, "{\"schema\":\"sonde-stat\",\"version\":1,\"sonde\":\"%s\",\n\"elapsed_ns\":",
		sonde_version());
	runs_put_values(out, r->elapsed_ns, r->nr_runs);
	fputs(",\n\"counts\":[", out);
	for (size_t i = 0; i < r->n; i++) {
		const struct stat_series *s = &r->list[i];

		fputs(i ? ",\n{\"event\":" : "\n{\"event\":", out);
		json_write_string(out, s->event);
		runs_put_text(out, "cgroup", s->cgroup);
		runs_put_text(out, "place", s->place);
		runs_put_text(out, "unit", s->unit);
		fputs(",\"runs\":", out);
		runs_put_values(out, s->values, s->n);
		fputc('}', out);
	}
	fputs("\n]", out);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int runs_read_values(struct json_reader *j, struct stat_series *s)
{
	double value;

	if (json_enter(j, '['))
		while (json_next_element(j))
			if (json_read_number(j, &value) && runs_push_value(s, value) < 0)
				return -ENOMEM;
	for (size_t i = 0; i < s->n && !j->mistake; i++)
		if (isinf(s->values[i]) || s->values[i] < 0)
			j->mistake = "counts of 0 or more before it";
	return 0;
}

static int runs_read_series(struct json_reader *j, struct stat_runs *r)
{
	char key[32], text[4][TEXT_BYTES] = { "", "", "", "" };
	static const char *const keys[] = { "event", "cgroup", "place", "unit" };
	struct stat_series s = { 0 };

	if (!json_enter(j, '{'))
		return 0;
	while (json_next_member(j, key, sizeof(key))) {
		bool known = false;

		for (size_t i = 0; i < 4 && !known; i++) {
			known = !strcmp(key, keys[i]);
			if (known)
				json_read_string(j, text[i], sizeof(text[i]));
		}
		if (!known && !strcmp(key, "runs")) {
			if (runs_read_values(j, &s) < 0) {
				runs_free_series(&s);
				return -ENOMEM;
			}
		} else if (!known) {
			json_skip(j);
		}
	}
	s.event = strdup(text[0]);
	s.cgroup = strdup(text[1]);
	s.place = strdup(text[2]);
	s.unit = strdup(text[3]);
	return runs_push(r, &s);
}

static int runs_read_all_series(struct json_reader *j, struct stat_runs *r)
{
	int e = 0;

	if (json_enter(j, '['))
		while (e == 0 && json_next_element(j)) {
			e = runs_read_series(j, r);
			if (e == 0 && !j->mistake &&
			    (r->n > SERIES_MAX || !*r->list[r->n - 1].event))
				j->mistake = "an event's name before it, of 65,536 events at most";
		}
	return e;
}

static int runs_read_times(struct json_reader *j, struct stat_runs *r)
{
	double value;

	if (json_enter(j, '['))
		while (json_next_element(j))
			if (json_read_number(j, &value) && runs_push_time(r, value) < 0)
				return -ENOMEM;
	return 0;
}

static int runs_parse(struct json_reader *j, struct stat_runs *r)
{
	char key[32], schema[32] = "";
	double version = 0;
	int e = 0;

	if (!json_enter(j, '{'))
		return 0;
	while (e == 0 && json_next_member(j, key, sizeof(key)))
		if (!strcmp(key, "schema"))
			json_read_string(j, schema, sizeof(schema));
		else if (!strcmp(key, "version"))
			json_read_number(j, &version);
		else if (!strcmp(key, "elapsed_ns"))
			e = runs_read_times(j, r);
		else if (!strcmp(key, "counts"))
			e = runs_read_all_series(j, r);
		else
			json_skip(j);
	json_end(j);
	if (e == 0 && !j->mistake && (strcmp(schema, "sonde-stat") != 0 || version != 1))
		j->mistake = "the schema sonde-stat, version 1";
	return e;
}

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
	struct sonde_stat *s;
	char settings[32];
	int e;

	snprintf(settings, sizeof(settings), "by=%s", by);
	e = sonde_stat_read(&s, path, settings);
	if (e < 0) {
		cli_fail(cli);
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
	if (runs_parse(&j, ret) < 0)
		cli_say("stat: out of memory");
	else if (j.mistake)
		cli_say("stat: --baseline: %s, byte %zu: expected %s; sonde stat -r N --format "
			"json "
			"-o FILE writes a baseline",
			path, (size_t)(j.at - text), j.mistake);
	else
		e = 0;
	free(text);
	if (e < 0)
		stat_runs_done(ret);
	return e;
}
