/* SPDX-License-Identifier: MIT */
#include "script_list.h"

#include "json.h"
#include "script_about.h"
#include "script_find.h"

#include <sonde/sonde.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* ---- ours ------------------------------------------------------------------------------------ */

/*
 * Combines the descriptions in the files of an entry. The report's wrapper is read before the
 * script, because its arguments count.
 */
static int list_read_about(const struct script_entry *e, struct script_about *ret)
{
	const char *const files[] = { e->report, e->file, e->record };
	struct script_about all = { 0 };

	for (int i = 0; i < 3; i++) {
		struct script_about a;
		char **const to[] = { &all.description, &all.args, &all.record };
		char **const from[] = { &a.description, &a.args, &a.record };

		if (!files[i])
			continue;
		if (script_about_read(files[i], &a) < 0) {
			script_about_done(&all);
			return -1;
		}
		for (int k = 0; k < 3; k++) {
			if (!*to[k]) {
				*to[k] = *from[k];
				*from[k] = NULL;
			}
		}
		script_about_done(&a);
	}
	*ret = all;
	return 0;
}

static void list_print_place(const struct script_place *place)
{
	static const char *const whose[] = {
		[SCRIPT_OURS] = "sonde's", [SCRIPT_OF_USER] = "yours", [SCRIPT_OF_PERF] = "perf's"
	};

	printf("%s, in %s:\n", whose[place->origin], place->folder);
}

/* The entry that `sonde script NAME` runs instead, if any. */
static const struct script_entry *list_hides(const struct script_entries *all, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!strcmp(all->v[i].name, all->v[at].name))
			return &all->v[i];
	return NULL;
}

static int list_print_entry(const struct script_entries *all, size_t at)
{
	const struct script_entry *e = &all->v[at], *hider = list_hides(all, at);
	struct script_about a;

	if (list_read_about(e, &a) < 0)
		return -1;
	printf("  %s%s%s", e->name, a.args ? " " : "", a.args ? a.args : "");
	if (e->language)
		printf("  [%s]", e->language->name);
	putchar('\n');
	if (a.description)
		printf("      %s\n", a.description);
	/* If a wrapper computes its events, no line describes them. */
	if (e->record && a.record && strchr(a.record, '$'))
		printf("      records: see %s\n", e->record);
	else if (a.record)
		printf("      records: %s\n", a.record);
	else if (e->record)
		printf("      records: events that its user names\n");
	if (hider)
		printf("      hidden by %s; it runs by its path: %s\n",
		       hider->file ? hider->file : hider->report, e->file ? e->file : e->report);
	script_about_done(&a);
	return 0;
}

static int list_put_entry_json(const struct script_entries *all, size_t at)
{
	static const char *const origins[] = {
		[SCRIPT_OURS] = "sonde", [SCRIPT_OF_USER] = "user", [SCRIPT_OF_PERF] = "perf"
	};
	const struct script_entry *e = &all->v[at];
	struct script_about a;

	if (list_read_about(e, &a) < 0)
		return -1;
	fputs(at ? ",\n{\"name\":" : "\n{\"name\":", stdout);
	json_put_string(e->name);
	json_put_member("origin", origins[e->place->origin]);
	json_put_member("file", e->file);
	json_put_member("language", e->language ? e->language->name : NULL);
	json_put_member("description", a.description);
	json_put_member("args", a.args);
	json_put_member("record", a.record);
	json_put_member("record_wrapper", e->record);
	json_put_member("report_wrapper", e->report);
	printf(",\"hidden\":%s}", list_hides(all, at) ? "true" : "false");
	script_about_done(&a);
	return 0;
}

static int list_put_all_json(const struct script_places *p)
{
	struct script_entries all;
	int r = script_entries_list(p, &all);

	if (r < 0)
		return r;
	json_begin("scripts");
	fputs(",\"scripts\":[", stdout);
	for (size_t i = 0; i < all.nr && r >= 0; i++)
		r = list_put_entry_json(&all, i);
	puts("]}");
	script_entries_done(&all);
	return r;
}

static int list_print_all(const struct script_places *p)
{
	struct script_entries all;
	int r = script_entries_list(p, &all);

	if (r < 0)
		return r;
	for (size_t i = 0; i < all.nr && r >= 0; i++) {
		if (!i || all.v[i].place != all.v[i - 1].place) {
			if (i)
				putchar('\n');
			list_print_place(all.v[i].place);
		}
		r = list_print_entry(&all, i);
	}
	if (!all.nr)
		puts("There are no scripts; 'sonde help script' says where sonde looks for them.");
	script_entries_done(&all);
	return r;
}

/* ---- as perf does ---------------------------------------------------------------------------- */

static void list_print_as_perf(const char *folder, const char *name)
{
	struct script_about a;
	char *path, *head;

	if (asprintf(&path, "%s/bin/%s-report", folder, name) < 0)
		return;
	if (script_about_read(path, &a) == 0) {
		if (asprintf(&head, "%s%s%s", name, a.args ? " " : "", a.args ? a.args : "") >= 0) {
			printf("  %-36s %s\n", head, a.description ? a.description : "");
			free(head);
		}
		script_about_done(&a);
	}
	free(path);
}

/* The names of a folder in directory order, only those with a wrapper for reports. */
static void list_print_folder_as_perf(const char *folder)
{
	char *bin;
	DIR *dir;
	struct dirent *entry;

	if (asprintf(&bin, "%s/bin", folder) < 0)
		return;
	dir = opendir(bin);
	while (dir && (entry = readdir(dir))) {
		char *ending = strstr(entry->d_name, "-report");

		if (!ending || ending == entry->d_name || ending[strlen("-report")])
			continue;
		*ending = 0;
		list_print_as_perf(folder, entry->d_name);
	}
	if (dir)
		closedir(dir);
	free(bin);
}

/* The tree that perf would use, in the order of its folders. */
static int list_print_tree_as_perf(const struct cli *cli, const char *exec_path)
{
	struct dirent *entry;
	char *scripts;
	DIR *dir;

	if (asprintf(&scripts, "%s/scripts", exec_path) < 0)
		return -1;
	dir = opendir(scripts);
	if (!dir) {
		printf("open(%s) failed.\nCheck \"PERF_EXEC_PATH\" env to set scripts dir.\n",
		       scripts);
		free(scripts);
		return cli_status(cli, CLI_FAILED);
	}
	puts("List of available trace scripts:");
	while ((entry = readdir(dir))) {
		char *folder;

		if (*entry->d_name == '.' || asprintf(&folder, "%s/%s", scripts, entry->d_name) < 0)
			continue;
		list_print_folder_as_perf(folder);
		free(folder);
	}
	closedir(dir);
	free(scripts);
	return CLI_OK;
}

/* ---- both ------------------------------------------------------------------------------------ */

int script_list_print(const struct cli *cli, bool is_json)
{
	struct script_places p;
	const char *said = script_exec_path_said();
	int r = script_places_list(cli, &p);

	if (r < 0)
		return cli_status(cli, CLI_FAILED);
	if (is_json) {
		r = list_put_all_json(&p);
	} else if (cli_rules(cli)->lists_wrappers_only) {
		if (!said)
			said = p.nr && p.v[0].exec_path ? p.v[0].exec_path
							: "/usr/libexec/perf-core";
		r = list_print_tree_as_perf(cli, said);
	} else {
		r = list_print_all(&p);
	}
	script_places_done(&p);
	if (r < 0) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	return r;
}

void script_list_print_nearest(const struct cli *cli, const struct script_places *p,
			       const char *name)
{
	struct script_entries all;
	struct sonde_nearest near = { .size = sizeof(near), .wanted = name };

	if (script_entries_list(p, &all) < 0)
		all = (struct script_entries){ 0 };
	for (size_t i = 0; i < all.nr; i++)
		sonde_nearest_offer(&near, all.v[i].name);
	cli_say("%s: there is no script '%s'%s%s%s; 'sonde %s -l' lists them", cli->command, name,
		near.meant ? " (nearest: " : "", near.meant ? near.meant : "",
		near.meant ? ")" : "", cli->command);
	script_entries_done(&all);
}
