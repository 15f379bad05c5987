/* SPDX-License-Identifier: MIT */
#include "report_frame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void report_frame_begin(FILE *out, const struct report_args *a)
{
	if (!a->quiet && !a->header)
		fputs("# To display the perf.data header info, please use "
		      "--header/--header-only options.\n#\n",
		      out);
}

void report_frame_elided(FILE *out, const struct report_view *v)
{
	const struct report_items *output = &v->layout->output;

	for (size_t i = 0; i < output->n; i++) {
		const struct report_item *it = &output->v[i];
		struct report_name name;

		if (!v->args->quiet && report_view_elided(v->args, it->key, &name))
			fprintf(out, "# %s: %s\n", it->key->name, name.text);
	}
}

void report_frame_facts(FILE *out, const struct report_view *v, uint64_t lost_samples)
{
	if (!v->args->quiet)
		fprintf(out, "#\n# Total Lost Samples: %" PRIu64 "\n#\n", lost_samples);
}

/* Prints a number of samples in perf's short form: with a blank or K, M, G after it. */
static void report_frame_put_count(FILE *out, uint64_t n)
{
	const char *unit = " KMGTPE";

	while (n > 1000 && unit[1]) {
		n /= 1000;
		unit++;
	}
	fprintf(out, "# Samples: %" PRIu64 "%c of event", n, *unit);
}

static void report_frame_put_name(FILE *out, const struct report_view *v, uint32_t index,
				  const struct sonde_profile_table *table)
{
	struct sonde_profile_table member = { .size = sizeof(member) };
	const bool is_group = table->nr_members > 1;
	const bool is_recorded = is_group && table->group;

	/* perf makes one group of all events when --no-group is given, and does not show it. */
	fprintf(out, "%s '",
		is_group || (v->args->no_group && v->nr_events > 1 &&
			     table->schema == v->first_event)
			? "s"
			: "");
	if (is_recorded)
		fprintf(out, "%s { ", *table->group ? table->group : "anon group");
	for (uint32_t m = 0; m < table->nr_members; m++)
		if (sonde_profile_member(v->profile, index, m, &member) == 1)
			fprintf(out, "%s%s", m ? ", " : "", member.name);
	fputs(is_recorded ? " }'" : "'", out);
}

/* perf leaves out a group whose leader has no samples. */
static uint64_t report_frame_samples(const struct report_view *v, uint32_t index,
				     const struct sonde_profile_table *table)
{
	struct sonde_profile_table leader = { .size = sizeof(leader) };

	if (v->as_perf && sonde_profile_member(v->profile, index, 0, &leader) == 1)
		return leader.samples;
	return table->samples;
}

bool report_frame_event(FILE *out, const struct report_view *v, uint32_t index)
{
	const struct report_args *a = v->args;
	struct sonde_profile_table table = { .size = sizeof(table) };
	char *span;

	if (sonde_profile_table(v->profile, index, &table) != 1)
		return false;
	if (!a->no_skip_empty && !report_frame_samples(v, index, &table))
		return false;
	if (a->quiet)
		return true;
	report_frame_put_count(out, a->is_relative ? table.shown_samples : table.samples);
	report_frame_put_name(out, v, index, &table);
	span = lines_given(&a->rec.lines, "time");
	if (span)
		fprintf(out, " (time slices: %s)", span);
	free(span);
	if (a->show_ref_graph && strstr(table.name, "call-graph=no"))
		fputs(", show reference callgraph", out);
	if (a->mem_mode)
		fprintf(out, "\n# Total weight : %" PRIu64 "\n# Sort order   : %s\n#\n",
			a->is_relative ? table.shown_period : table.period, v->layout->shown_keys);
	else
		fprintf(out, "\n# Event count (approx.): %" PRIu64 "\n",
			a->is_relative ? table.shown_period : table.period);
	if (!a->mem_mode && a->socket)
		fprintf(out, "# Processor Socket: %s\n", a->socket);
	if (!a->mem_mode)
		fputs("#\n", out);
	return true;
}

/* ---- tips ------------------------------------------------------------------------------------ */

static int report_frame_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Reads the tips of an installed perf: lines that are not comments, ascending, each once. */
static size_t report_frame_read_tips(char **ret, size_t room)
{
	static const char *const paths[] = { "/usr/share/doc/linux-perf/tips.txt",
					     "/usr/share/doc/perf-tip/tips.txt",
					     "/usr/share/perf-tips/tips.txt" };
	FILE *f = NULL;
	char *line = NULL;
	size_t n = 0, kept = 0, size = 0;
	ssize_t len;

	for (size_t i = 0; !f && i < sizeof(paths) / sizeof(*paths); i++)
		f = fopen(paths[i], "re");
	if (!f)
		return 0;
	while (n < room && (len = getline(&line, &size, f)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = 0;
		if (*line != '#' && (ret[n] = strdup(line)))
			n++;
	}
	free(line);
	fclose(f);
	qsort(ret, n, sizeof(*ret), report_frame_compare);
	for (size_t i = 0; i < n; i++) {
		if (kept && !strcmp(ret[kept - 1], ret[i]))
			free(ret[i]);
		else
			ret[kept++] = ret[i];
	}
	return kept;
}

void report_frame_tip(FILE *out)
{
	char *tips[256];
	const size_t n = report_frame_read_tips(tips, sizeof(tips) / sizeof(*tips));

	srandom((unsigned int)time(NULL));
	fprintf(out, "#\n# (%s%s)\n#\n", n ? "Tip: " : "",
		n ? tips[(size_t)random() % n] : "Cannot load tips.txt file, please install perf!");
	for (size_t i = 0; i < n; i++)
		free(tips[i]);
}
