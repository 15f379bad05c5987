/* SPDX-License-Identifier: MIT */
#include "report_threads.h"

#include <inttypes.h>
#include <string.h>

static bool report_threads_read(const struct sonde_profile *p, uint32_t thread, uint32_t counter,
				struct sonde_profile_read *ret)
{
	ret->size = sizeof(*ret);
	return sonde_profile_read_value(p, thread, counter, ret) == 1;
}

static void report_threads_widen(int *width, int needed)
{
	if (*width < needed)
		*width = needed;
}

/* The widths of the columns with the numbers of processes and threads. */
static void report_threads_measure(const struct sonde_profile *p, int *pid, int *tid)
{
	struct sonde_profile_read read;

	for (uint32_t t = 0; report_threads_read(p, t, 0, &read); t++) {
		report_threads_widen(pid, snprintf(NULL, 0, "%d", read.pid));
		report_threads_widen(tid, snprintf(NULL, 0, "%d", read.tid));
	}
}

static int report_threads_counter_width(const struct sonde_profile *p, uint32_t counter)
{
	struct sonde_profile_read read;
	int width = 0;

	for (uint32_t t = 0; report_threads_read(p, t, counter, &read); t++) {
		report_threads_widen(&width, (int)strlen(read.name));
		report_threads_widen(&width, snprintf(NULL, 0, "%" PRIu64, read.value));
	}
	return width;
}

enum { REPORT_THREADS_COUNTERS = 64 }; /* further columns are as wide as needed in their line */

void report_threads_print(FILE *out, const struct sonde_profile *p)
{
	int pid = 3, tid = 3, widths[REPORT_THREADS_COUNTERS];
	struct sonde_profile_read read;

	report_threads_measure(p, &pid, &tid);
	fprintf(out, "# %*s  %*s", pid, "PID", tid, "TID");
	for (uint32_t c = 0; report_threads_read(p, 0, c, &read); c++) {
		if (c < REPORT_THREADS_COUNTERS)
			widths[c] = report_threads_counter_width(p, c);
		fprintf(out, "  %*s", c < REPORT_THREADS_COUNTERS ? widths[c] : 0, read.name);
	}
	fputc('\n', out);
	for (uint32_t t = 0; report_threads_read(p, t, 0, &read); t++) {
		fprintf(out, "  %*d  %*d", pid, read.pid, tid, read.tid);
		for (uint32_t c = 0; report_threads_read(p, t, c, &read); c++)
			fprintf(out, "  %*" PRIu64, c < REPORT_THREADS_COUNTERS ? widths[c] : 0,
				read.value);
		fputc('\n', out);
	}
}

/* The number of an event type among those of the recording. */
static unsigned int report_threads_event(struct sonde_session *s, uint32_t schema)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < schema; i++)
		n += sonde_schema_kind(sonde_session_schema(s, i)) <= SONDE_SAMPLE;
	return n;
}

void report_threads_print_raw(FILE *out, const struct sonde_profile *p, struct sonde_session *s,
			      bool in_one_line)
{
	int pid = 3, tid = 3, name = 4, raw = 3, count = 5;
	struct sonde_profile_read read;

	report_threads_measure(p, &pid, &tid);
	for (uint32_t c = 0; report_threads_read(p, 0, c, &read); c++) {
		report_threads_widen(&name, (int)strlen(read.name));
		report_threads_widen(&raw,
				     snprintf(NULL, 0, "%x", report_threads_event(s, read.schema)));
		for (uint32_t t = 0; report_threads_read(p, t, c, &read); t++)
			report_threads_widen(&count, snprintf(NULL, 0, "%" PRIu64, read.value));
	}
	fprintf(out, "# %*s  %*s  %*s  %*s  %*s\n", pid, "PID", tid, "TID", name, "Name", raw,
		"Raw", count, "Count");
	for (uint32_t t = 0; report_threads_read(p, t, 0, &read); t++)
		for (uint32_t c = 0; report_threads_read(p, t, c, &read); c++)
			fprintf(out, "  %*d  %*d  %*s  %*x  %*" PRIu64 "%s", pid, read.pid, tid,
				read.tid, name, read.name, raw,
				report_threads_event(s, read.schema), count, read.value,
				in_one_line ? "" : "\n");
}
