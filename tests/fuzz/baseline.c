/* SPDX-License-Identifier: MIT */
/*
 * The JSON of `sonde stat --baseline`. Counts that are accepted are written and read again, and
 * compared with themselves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "stat_series.h"

/* True if the text holds counts. If it is refused, the mistake has a name and a place inside. */
static bool baseline_read(const char *text, size_t len, struct stat_runs *ret)
{
	struct json_reader j = { .at = text, .end = text + len };

	*ret = (struct stat_runs){ 0 };
	if (stat_runs_parse(&j, ret) < 0 || j.at < text || j.at > j.end)
		abort();
	if (!j.mistake)
		return true;
	if (!*j.mistake)
		abort();
	stat_runs_done(ret);
	return false;
}

static bool baseline_same(const struct stat_runs *a, const struct stat_runs *b)
{
	if (a->n != b->n || a->nr_runs != b->nr_runs)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->list[i].n != b->list[i].n)
			return false;
	return true;
}

static void baseline_write(const struct stat_runs *runs)
{
	struct stat_runs again;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		abort();
	stat_runs_begin_json(runs, out);
	fputc('}', out);
	fclose(out);
	if (!baseline_read(text, len, &again) || !baseline_same(runs, &again))
		abort();
	stat_runs_done(&again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct stat_runs runs;
	char *text = fuzz_text(data, size);

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	if (nowhere && baseline_read(text, size, &runs)) {
		baseline_write(&runs);
		stat_baseline_print(&runs, &runs, "base", 5, nowhere);
		stat_baseline_print_json(&runs, &runs, 5, nowhere);
		if (stat_baseline_count(&runs, &runs, 5) > runs.n)
			abort();
		stat_runs_done(&runs);
	}
	free(text);
	return 0;
}
