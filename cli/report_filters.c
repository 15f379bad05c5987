/* SPDX-License-Identifier: MIT */
#include "report_filters.h"

#include "say.h"

#include <sonde/sonde.h>

#include <stdio.h>
#include <stdlib.h>

/* "--time 1,2 and -c nobody"; truncated to size. */
struct filters_text {
	char text[512];
	size_t len;
};

static void filters_put(struct filters_text *t, const char *option, const char *value)
{
	if (t->len >= sizeof(t->text))
		return;
	t->len += (size_t)snprintf(t->text + t->len, sizeof(t->text) - t->len, "%s%s%s%s",
				   t->len ? " and " : "", option, value ? " " : "",
				   value ? value : "");
}

static void filters_put_all(struct filters_text *t, const struct report_args *a)
{
	/* lines of the session */
	static const struct {
		const char *option, *key;
	} lines[] = {
		{ "--time", "time" },
		{ "-C", "cpu" },
		{ "--where", "where" },
		{ "--switch-on", "switch-on" },
		{ "--switch-off", "switch-off" },
	};
	const struct {
		const char *option, *value;
	} rows[] = {
		{ "-c", a->comms },
		{ "-d", a->dsos },
		{ "-S", a->symbols },
		{ "--pid", a->pids },
		{ "--tid", a->tids },
		{ "--socket-filter", a->socket },
		{ "--symbol-filter", a->symbol_filter },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char *value = lines_given(&a->rec.lines, lines[i].key);

		if (value)
			filters_put(t, lines[i].option, value);
		free(value);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].value)
			filters_put(t, rows[i].option, rows[i].value);
	if (a->hide_unresolved)
		filters_put(t, "-U", NULL);
	if (a->exclude_other)
		filters_put(t, "-x", NULL);
}

/* True if a row of the table is shown. */
static bool filters_show_a_row(const struct report_view *v, uint32_t table)
{
	struct sonde_profile_row row = { .size = sizeof(row) };

	for (uint64_t i = 0; sonde_profile_row(v->profile, table, i, &row) == 1; i++)
		if (!(row.flags & SONDE_ROW_FILTERED) && report_view_has_word(v, table, i, &row))
			return true;
	return false;
}

void report_filters_say(const struct report_view *v, uint32_t nr_tables)
{
	struct sonde_profile_table t = { .size = sizeof(t) };
	struct filters_text given = { 0 };

	for (uint32_t i = 0; i < nr_tables; i++)
		if (sonde_profile_table(v->profile, i, &t) == 1 && t.shown_samples &&
		    (!v->args->symbol_filter || filters_show_a_row(v, i)))
			return;
	filters_put_all(&given, v->args);
	if (given.len)
		cli_say("report: no row is shown: no sample passes %s", given.text);
}

void report_filters_say_none(const struct report_args *a)
{
	struct filters_text given = { 0 };

	filters_put_all(&given, a);
	if (given.len)
		cli_say("report: there are no samples that pass %s", given.text);
	else
		cli_say("report: there are no samples");
}
