/* SPDX-License-Identifier: MIT */
#include "stat_output.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1e9

int stat_times_add(struct stat_times *t, uint64_t ns)
{
	double *more = reallocarray(t->seconds, t->n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	t->seconds = more;
	more[t->n++] = (double)ns / NS_PER_S;
	return 0;
}

void stat_printer_choose(struct stat_printer *p, const struct cli *cli, const struct stat_args *a)
{
	p->layout = a->json        ? &stat_json_layout
		    : a->separator ? &stat_csv_layout
				   : &stat_text_layout;
	p->separator = !a->separator ? "," : !strcmp(a->separator, "\\t") ? "\t" : a->separator;
	p->metric_only = a->metric_only;
	p->clears = a->interval_clear;
	p->prints_null = cli_rules(cli)->stat_prints_null;
	p->big_num = p->layout == &stat_text_layout && !a->no_big_num;
	if (p->big_num)
		setlocale(LC_NUMERIC, "");
}

FILE *stat_output_open(const struct cli *cli, const struct stat_args *a)
{
	char started[64];
	time_t now = time(NULL);
	FILE *out = stderr;
	char *end;
	long fd;

	if (a->output && strcmp(a->output, "-") != 0) {
		out = fopen(a->output, a->append ? "ae" : "we");
		if (!out)
			cli_say("stat: cannot write %s: %s", a->output, strerror(errno));
	} else if (a->log_fd) {
		fd = strtol(a->log_fd, &end, 10);
		out = *end || fd < 0 ? NULL : fdopen(dup((int)fd), a->append ? "a" : "w");
		if (!out)
			cli_say("stat: --log-fd needs the number of an open descriptor, not '%s'",
				a->log_fd);
	}
	if (out && out != stderr && !a->format && ctime_r(&now, started))
		fprintf(out, "# started on %s\n", started);
	return out;
}

bool stat_output_is_file(const struct stat_args *a, const char *path)
{
	char *recording = lines_given(&a->lines, "output");
	const char *output = a->output ? a->output : recording;
	struct stat out = { 0 }, file;
	const int e = output ? stat(output, &out) : a->log_fd ? fstat(atoi(a->log_fd), &out) : -1;

	free(recording);
	return e == 0 && stat(path, &file) == 0 && out.st_dev == file.st_dev &&
	       out.st_ino == file.st_ino;
}

/* A failed write to standard error cannot be reported there either. */
bool stat_output_is_lost(const struct cli *cli, const struct stat_args *a, FILE *out)
{
	const bool is_for_programs = a->json || a->separator || (a->format && *a->format == 'j');

	return out == stderr && ferror(out) && is_for_programs && !cli_compat(cli);
}

int stat_output_close(const struct cli *cli, const struct stat_args *a, FILE *out)
{
	const bool failed = ferror(out);

	if (out == stderr)
		return stat_output_is_lost(cli, a, out) ? -1 : 0;
	if (fclose(out) == 0 && !failed)
		return 0;
	cli_say("stat: cannot write %s: %s", a->output ? a->output : "to --log-fd",
		strerror(errno));
	return -1;
}

/* before, text, after */
static char *output_join(const char *before, const char *text, const char *after)
{
	char *ret;

	return asprintf(&ret, "%s%s%s", before, text, after) < 0 ? NULL : ret;
}

static char *output_command(int argc, char **argv)
{
	size_t len = 1;
	char *ret;

	for (int i = 0; i < argc; i++)
		len += strlen(argv[i]) + 1;
	ret = calloc(1, len);
	for (int i = 0; ret && i < argc; i++) {
		strcat(ret, argv[i]);
		if (i + 1 < argc)
			strcat(ret, " ");
	}
	return ret;
}

char *stat_subject(const struct stat_args *a, int argc, char **argv, bool *ret_is_command)
{
	char *all = lines_given(&a->lines, "all-cpus"), *cpus = lines_given(&a->lines, "cpu");
	char *pids = lines_given(&a->lines, "pid"), *tids = lines_given(&a->lines, "tid");
	char *command = output_command(argc, argv), *ret;
	const bool by_task = pids || tids;
	const bool system_wide = !by_task && (cpus || (all && !strcmp(all, "1")) || !argc);

	*ret_is_command = !by_task && !system_wide;
	if (by_task)
		ret = output_join(pids ? "process id '" : "thread id '", pids ? pids : tids, "'");
	else if (cpus)
		ret = output_join("'CPU(s) ", cpus, "'");
	else
		ret = output_join("'", system_wide ? "system wide" : command, "'");
	free(command);
	free(all);
	free(cpus);
	free(pids);
	free(tids);
	return ret;
}

void stat_print_title(FILE *out, const char *subject, unsigned runs)
{
	fprintf(out, "\n Performance counter stats for %s", subject);
	if (runs > 1)
		fprintf(out, " (%u runs)", runs);
	fputs(":\n\n", out);
}

/* As many decimals as show the deviation, and two more. */
static int output_decimals(double deviation)
{
	return (deviation > 1 || deviation <= 0 ? 0 : (int)lround(ceil(-log10(deviation)))) + 2;
}

/* A # for each run, and one more for each 5 % that it is away from the mean. */
static void output_table(FILE *out, const struct stat_times *times, int decimals, double mean)
{
	char text[64];
	int indent;

	snprintf(text, sizeof(text), " %17.*f", decimals, mean);
	indent = (int)strspn(text, " ");
	fprintf(out, "%*s# Table of individual measurements:\n", indent, "");
	for (size_t i = 0; i < times->n; i++) {
		const double run = times->seconds[i];
		const int marks = 1 + abs((int)(100 * (run - mean) / run) / 5);

		fprintf(out, " %17.*f (%+.*f) ", decimals, run, decimals, run - mean);
		for (int mark = 0; mark < marks; mark++)
			fputc('#', out);
		fputc('\n', out);
	}
	fprintf(out, "\n%*s# Final result:\n", indent, "");
}

void stat_print_times(FILE *out, const struct sonde_stat_round *r, const struct stat_times *times,
		      bool with_table, bool with_rusage)
{
	const double mean = r->elapsed_ns / NS_PER_S, deviation = r->deviation_ns / NS_PER_S;
	const int decimals = output_decimals(deviation);

	if (times->n < 2) {
		fprintf(out, " %17.9f seconds time elapsed", mean);
		if (with_rusage)
			fprintf(out, "\n\n %17.9f seconds user\n %17.9f seconds sys\n",
				(double)r->user_ns / NS_PER_S, (double)r->system_ns / NS_PER_S);
	} else {
		if (with_table)
			output_table(out, times, decimals, mean);
		fprintf(out, " %17.*f +- %.*f seconds time elapsed", decimals, mean, decimals,
			deviation);
		if (deviation > 0)
			fprintf(out, "  ( +-%6.2f%% )", 100 * deviation / mean);
	}
	fputs("\n\n", out);
}
