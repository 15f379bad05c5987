/* SPDX-License-Identifier: MIT */
/* Counts as JSON, and back. */
#include "json.h"
#include "json_read.h"
#include "stat_series.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 512, SERIES_MAX = 1 << 16 };

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
	if (r->is_interrupted)
		fputs(",\n\"interrupted_runs\":1", out);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int runs_read_values(struct json_reader *j, struct stat_series *s)
{
	double value;

	if (!json_enter(j, '['))
		return 0;
	while (json_next_element(j)) {
		if (!json_read_number(j, &value))
			break;
		if (isinf(value) || value < 0)
			j->mistake = "counts of 0 or more before it";
		if (stat_series_push(s, value) < 0)
			return -ENOMEM;
	}
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
				stat_series_done(&s);
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
	return stat_runs_push(r, &s);
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

	if (!json_enter(j, '['))
		return 0;
	while (json_next_element(j)) {
		if (!json_read_number(j, &value))
			break;
		if (isinf(value) || value < 0)
			j->mistake = "times of 0 or more before it";
		if (stat_runs_push_time(r, value) < 0)
			return -ENOMEM;
	}
	return 0;
}

int stat_runs_parse(struct json_reader *j, struct stat_runs *r)
{
	char key[32], schema[32] = "";
	double version = 0, interrupted = 0;
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
		else if (!strcmp(key, "interrupted_runs"))
			json_read_number(j, &interrupted);
		else
			json_skip(j);
	json_end(j);
	r->is_interrupted = interrupted > 0;
	if (e == 0 && !j->mistake && (strcmp(schema, "sonde-stat") != 0 || version != 1))
		j->mistake = "the schema sonde-stat, version 1";
	return e;
}
