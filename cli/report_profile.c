/* SPDX-License-Identifier: MIT */
#include "report_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool report_is_pipe(struct sonde_session *s)
{
	const char *form = sonde_session_info(s, "form");

	return form && !strcmp(form, "pipe");
}

bool report_has_no_callers(const struct report_run *run)
{
	return cli_compat(run->report->cli) && report_is_pipe(run->session);
}

static void report_profile_put_text(FILE *f, const char *key, const char *value)
{
	if (value)
		fprintf(f, "%s=%s\n", key, value);
}

bool report_weighs_field(const struct report_args *a)
{
	return a->weight && strcmp(a->weight, "samples") && strcmp(a->weight, "period");
}

/* Writes the keys of the profile in the order in which rows are compared. */
static void report_profile_put_keys(FILE *f, const struct report_items *items)
{
	bool is_first = true;

	for (size_t i = 0; i < items->n; i++) {
		const struct report_item *it = &items->v[i];

		if (it->key && (it->key->kind == REPORT_KEY_NUMBER || !it->key->profile_name))
			continue;
		fprintf(f, "%s%s", is_first ? "" : ",", it->key ? it->key->profile_name : it->name);
		is_first = false;
	}
}

/* Chains are in perf's order of nodes, not of their sizes. */
static bool report_profile_wants_chains(const struct report_args *a)
{
	return !a->format && (a->graph.kind == REPORT_FLAT || a->graph.kind == REPORT_FOLDED);
}

/* The text form of the profile; NULL if there is no memory. */
static char *report_profile_settings(const struct report_run *run)
{
	const struct report_args *a = run->report->args;
	const bool graphs = run->view.children || run->view.has_graphs;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fputs("keys=", f);
	report_profile_put_keys(f, &run->layout.sort);
	fputc('\n', f);
	if (graphs)
		fprintf(f, "callgraph=%s\ncallgraph-key=%s\nchildren=%d\nborrow-chains=%d\n",
			a->callers_first ? "caller" : "callee",
			a->graph_key == REPORT_BY_ADDRESS   ? "address"
			: a->graph_key == REPORT_BY_SRCLINE ? "srcline"
							    : "function",
			run->view.children, a->show_ref_graph);
	fprintf(f, "groups=%s\n",
		a->group && !report_has_no_callers(run) ? "all"
		: a->no_group                           ? "none"
							: "recorded");
	if (report_weighs_field(a))
		report_profile_put_text(f, "weight", a->weight);
	report_profile_put_text(f, "parent", a->parent);
	report_profile_put_text(f, "ignore-callees", a->ignore_callees);
	report_profile_put_text(f, "comms", a->comms);
	report_profile_put_text(f, "dsos", a->dsos);
	report_profile_put_text(f, "symbols", a->symbols);
	report_profile_put_text(f, "pids", a->pids);
	report_profile_put_text(f, "tids", a->tids);
	if (a->time_quantum_ns)
		fprintf(f, "time-quantum=%" PRIu64 "\n", a->time_quantum_ns);
	if (!run->view.filters_none)
		report_profile_put_text(f, "socket", a->socket);
	fprintf(f, "empty-tables=%d\ntree-order=%s\n", a->no_skip_empty,
		graphs && report_profile_wants_chains(a) ? "place" : "size");
	fprintf(f, "raw-fields=%d\nhide-unresolved=%d\n", a->raw_trace, a->hide_unresolved);
	fprintf(f, "full-source-path=%d\nweight-as-period=%d\nbranch-history=%d\nblocks=%d\n",
		a->full_source_path, a->mem_mode, graphs && run->view.by_history,
		run->view.by_block);
	fprintf(f, "nanoseconds=%d\nparents-only=%d\nbranches=%d\n", a->ns, a->exclude_other,
		run->view.by_branch);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

/* The text of keys for sonde_profile_sort(); NULL if there is no memory. */
static char *report_profile_order(const struct report_run *run)
{
	const struct report_items *items = &run->layout.sort;
	const bool elides = report_view_elides(&run->view);
	struct report_name name;
	bool is_first = true;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	for (size_t i = 0; i < items->n; i++) {
		const struct report_item *it = &items->v[i];
		const bool is_number = it->key && it->key->kind == REPORT_KEY_NUMBER;
		uint32_t first = 0, n = 1;

		if (elides && report_view_elided(run->report->args, it->key, &name))
			continue;
		/* Without --children perf has no such column, so it does not sort by it. */
		if (is_number && it->key->number == REPORT_CHILDREN && !run->view.children)
			continue;
		if (!is_number)
			n = report_view_find(&run->view, it, &first);
		for (uint32_t k = first; k < first + n; k++) {
			const char *column =
				is_number ? it->key->profile_name
					  : sonde_profile_column(run->view.profile, k, NULL, NULL);

			/* Without call graphs, equal rows are not sorted by their call chains. */
			if (is_number && it->key->number == REPORT_CHILDREN &&
			    !run->view.has_graphs)
				column = "children_only";
			if (column)
				fprintf(f, "%s%s", is_first ? "" : ",", column);
			is_first = false;
		}
	}
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

int report_make_profile(struct report_run *run)
{
	const struct report_args *a = run->report->args;
	char *text = report_profile_settings(run), *order = NULL;
	int r = text ? sonde_profile_new(&run->view.profile, text, "the command line") : -ENOMEM;

	if (!r)
		r = sonde_profile_read(run->view.profile, run->session);
	if (!r)
		r = sonde_profile_finish(run->view.profile);
	if (!r) {
		order = report_profile_order(run);
		r = order ? sonde_profile_sort(run->view.profile, order, (uint32_t)a->group_sort)
			  : -ENOMEM;
	}
	free(order);
	free(text);
	return r;
}
