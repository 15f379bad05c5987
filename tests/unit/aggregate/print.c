/* SPDX-License-Identifier: MIT */
/*
 * Prints an aggregation of a recording, through the public header:
 *
 *	aggregate-print FILE [KEY=VALUE]...
 *
 * Keys: the members of sonde_aggregate_options, format, top, columns, and session= for a line of
 * the session's text. SONDE_BATCH limits the events of a batch.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/sonde.h"

static struct sonde_aggregate_options opts = { .size = sizeof(opts), .kind = "count" };
static struct sonde_aggregate_print_options print = { .size = sizeof(print) };
static char session_text[4096];
/* Static, so that what a failure leaves behind is no leak. */
static struct sonde_aggregate *a;
static struct sonde_session *s;

static int print_fail(void)
{
	fprintf(stderr, "%s\n", sonde_error_text());
	return 1;
}

static const char *print_value(const char *arg, const char *key)
{
	const size_t len = strlen(key);

	return !strncmp(arg, key, len) && arg[len] == '=' ? arg + len + 1 : NULL;
}

static int print_take(const char *arg)
{
	const struct {
		const char *key, **text;
	} texts[] = { { "kind", &opts.kind },   { "events", &opts.events },
		      { "field", &opts.field }, { "by", &opts.by },
		      { "where", &opts.where }, { "format", &print.format } };
	const struct {
		const char *key;
		uint32_t *number;
	} numbers[] = { { "limit", &opts.limit },
			{ "top", &print.top },
			{ "columns", &print.columns } };
	const struct {
		const char *key;
		int64_t *number;
	} steps[] = { { "low", &opts.low }, { "high", &opts.high }, { "step", &opts.step } };
	const char *v;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if ((v = print_value(arg, texts[i].key)))
			return *texts[i].text = v, 0;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if ((v = print_value(arg, numbers[i].key)))
			return *numbers[i].number = (uint32_t)strtoul(v, NULL, 10), 0;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if ((v = print_value(arg, steps[i].key)))
			return *steps[i].number = strtoll(v, NULL, 10), 0;
	v = print_value(arg, "session");
	if (!v)
		return fprintf(stderr, "what is %s?\n", arg), 1;
	strncat(session_text, v, sizeof(session_text) - strlen(session_text) - 2);
	strcat(session_text, "\n");
	return 0;
}

int main(int argc, char **argv)
{
	const size_t batch = getenv("SONDE_BATCH") ? strtoul(getenv("SONDE_BATCH"), NULL, 10) : 256;
	const struct sonde_event *const *events;
	size_t nr;
	int r;

	if (argc < 2)
		return 2;
	snprintf(session_text, sizeof(session_text), "input=%s\n", argv[1]);
	for (int i = 2; i < argc; i++)
		if (print_take(argv[i]))
			return 2;
	if (sonde_session_open(&s, session_text, NULL) < 0 || sonde_aggregate_new(&a, s, &opts) < 0)
		return print_fail();
	for (uint32_t i = 0; i < sonde_session_schemas(s); i++)
		sonde_session_want(s, i, sonde_aggregate_wants(a, i));
	while (nr = batch, (r = sonde_session_next_batch(s, &events, &nr)) > 0)
		if ((r = sonde_aggregate_add(a, events, nr)) < 0)
			return print_fail();
	if (r < 0)
		return print_fail();
	fputs(sonde_session_defects_line(s), stderr);
	sonde_session_close(s); /* the aggregation keeps it */
	if (sonde_aggregate_print(a, 1, &print) < 0)
		return print_fail();
	sonde_aggregate_free(a);
	return 0;
}
