/* SPDX-License-Identifier: MIT */
#include "record_config.h"

#include <stdlib.h>
#include <string.h>

/* Searches sonde's files before perf's. */
static const struct config_entry *record_config_find(const struct cli *cli, const char *name)
{
	const struct config_entry *e = config_find(&cli->config, name, true);

	return e ? e : config_find(&cli->config, name, false);
}

static int record_config_wrong(const struct config_entry *e, const char *wanted)
{
	cli_say("%s:%d: %s is %s, not '%s'", e->file, e->line, e->name, wanted, e->value);
	return -1;
}

static int record_config_add(struct lines *l, const char *key, const char *value)
{
	struct opt_parser p = { .error = "" };

	if (!lines_set(l, &p, key, key, value))
		return 0;
	cli_say("%s", p.error);
	return -1;
}

static bool config_is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

static int config_add_number(struct lines *l, const struct cli *cli, const char *name,
			     const char *key)
{
	const struct config_entry *e = record_config_find(cli, name);

	if (!e)
		return 0;
	return config_is_number(e->value) ? record_config_add(l, key, e->value)
					  : record_config_wrong(e, "a number");
}

static int config_add_build_ids(struct lines *l, const struct cli *cli)
{
	const struct config_entry *e = record_config_find(cli, "record.build-id");

	if (!e)
		return 0;
	if (!strcmp(e->value, "cache"))
		return record_config_add(l, "no-buildid-cache", "0");
	if (!strcmp(e->value, "no-cache"))
		return record_config_add(l, "no-buildid-cache", "1");
	if (!strcmp(e->value, "skip"))
		return record_config_add(l, "no-buildid", "1");
	if (!strcmp(e->value, "mmap"))
		return record_config_add(l, "buildid-mmap", "1");
	return record_config_wrong(e, "cache, no-cache, skip or mmap");
}

/* The meaning of -g: fp, unless a file names another mode; dump-size is the size for dwarf. */
static int config_add_chains(struct lines *l, const struct cli *cli, bool wanted)
{
	const struct config_entry *mode = record_config_find(cli, "record.call-graph");
	const struct config_entry *size = record_config_find(cli, "call-graph.dump-size");
	const char *word = "fp";
	char value[64];
	size_t len;

	if (!mode)
		mode = record_config_find(cli, "call-graph.record-mode");
	if (mode)
		word = mode->value;
	len = strcspn(word, ",");
	if (mode && (len < 2 || (strncmp(word, "fp", len) && strncmp(word, "lbr", len) &&
				 strncmp(word, "dwarf", len))))
		return record_config_wrong(mode, "fp, dwarf[,BYTES] or lbr");
	if (size && !config_is_number(size->value))
		return record_config_wrong(size, "a number of bytes");
	if (!wanted)
		return 0;
	if (!size || strcmp(word, "dwarf"))
		return record_config_add(l, "call-graph", word);
	snprintf(value, sizeof(value), "%s,%s", word, size->value);
	return record_config_add(l, "call-graph", value);
}

static int config_add_all(struct lines *l, const struct cli *cli, const struct record_args *a)
{
	if (config_add_build_ids(l, cli) || config_add_chains(l, cli, a->chains) ||
	    config_add_number(l, cli, "record.aio", "aio") ||
	    config_add_number(l, cli, "core.proc-map-timeout", "proc-map-timeout"))
		return -1;
	return cli->buildid_dir ? record_config_add(l, "buildid-dir", cli->buildid_dir) : 0;
}

int record_config_lines(const struct cli *cli, const struct record_args *a, struct lines *ret)
{
	struct lines l = { 0 };
	char *all;

	if (config_add_all(&l, cli, a)) {
		lines_done(&l);
		return -1;
	}
	if (a->lines.text) {
		all = realloc(l.text, l.len + a->lines.len + 1);
		if (!all) {
			lines_done(&l);
			cli_say("out of memory");
			return -1;
		}
		memcpy(all + l.len, a->lines.text, a->lines.len + 1);
		l = (struct lines){ .text = all, .len = l.len + a->lines.len };
	}
	*ret = l;
	return 0;
}
