/* SPDX-License-Identifier: MIT */
#include "report_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER(name, column, title, number)                                      \
	{                                                                        \
		name, column, title, REPORT_KEY_NUMBER, number, .is_right = true \
	}
#define KEY(name, ...)                                       \
	{                                                    \
		name, name, NULL, REPORT_KEY, 0, __VA_ARGS__ \
	}
/* A number of each sample; the row shows its sum. */
#define SUM(name)                                                                  \
	{                                                                          \
		name, name, NULL, REPORT_KEY, 0, .pads_last = true, .is_sum = true \
	}
#define BRANCH(name, ...)                                           \
	{                                                           \
		name, name, NULL, REPORT_KEY_BRANCH, 0, __VA_ARGS__ \
	}
#define MEMORY(name, ...)                                           \
	{                                                           \
		name, name, NULL, REPORT_KEY_MEMORY, 0, __VA_ARGS__ \
	}

/* In the order in which a shortened word is looked up. */
static const struct report_key report_keys[] = {
	KEY("pid", .pads_last = true),
	KEY("comm", .pads_last = true),
	KEY("dso", .pads_last = true),
	{ "symbol", "sym", NULL, REPORT_KEY, 0, .has_level = true },
	KEY("parent", .pads_last = true),
	KEY("cpu", .pads_last = true, .is_fixed = true),
	KEY("socket", .is_right = true),
	KEY("srcline"),
	KEY("srcfile"),
	KEY("local_weight", .pads_last = true),
	SUM("weight"),
	KEY("transaction", .pads_last = true),
	KEY("trace"),
	KEY("symbol_size", .is_right = true, .is_uncut = true),
	KEY("dso_size", .is_right = true, .is_uncut = true),
	KEY("cgroup"),
	KEY("cgroup_id"),
	KEY("ipc_null", .pads_last = true),
	KEY("time"),
	KEY("code_page_size", .pads_last = true),
	KEY("local_ins_lat", .pads_last = true),
	SUM("ins_lat"),
	KEY("local_p_stage_cyc", .pads_last = true),
	SUM("p_stage_cyc"),
	KEY("addr", .pads_last = true),
	NUMBER("overhead", "period", "Overhead", REPORT_OVERHEAD),
	NUMBER("overhead_sys", "period_sys", "sys", REPORT_SYS),
	NUMBER("overhead_us", "period_us", "usr", REPORT_USER),
	NUMBER("overhead_guest_sys", "period_guest_sys", "guest sys", REPORT_GUEST_SYS),
	NUMBER("overhead_guest_us", "period_guest_us", "guest usr", REPORT_GUEST_USER),
	NUMBER("overhead_children", "children", "Children", REPORT_CHILDREN),
	NUMBER("sample", "samples", "Samples", REPORT_SAMPLES),
	NUMBER("period", "period", "Period", REPORT_PERIOD_SUM),
	BRANCH("dso_from", .pads_last = true),
	BRANCH("dso_to", .pads_last = true),
	BRANCH("symbol_from", .has_level = true),
	BRANCH("symbol_to", .has_level = true),
	BRANCH("mispredict", .pads_last = true),
	BRANCH("abort", .pads_last = true),
	BRANCH("in_tx", .pads_last = true),
	BRANCH("cycles", .pads_last = true),
	BRANCH("srcline_from", .pads_last = true),
	BRANCH("srcline_to", .pads_last = true),
	BRANCH("ipc_lbr", .pads_last = true),
	BRANCH("addr_from", .has_level = true),
	BRANCH("addr_to", .has_level = true),
	MEMORY("symbol_daddr", .has_level = true),
	MEMORY("dso_daddr", .pads_last = true),
	MEMORY("locked", .is_fixed = true),
	MEMORY("tlb", .pads_last = true, .is_fixed = true, .is_uncut = true),
	MEMORY("mem", .pads_last = true, .is_fixed = true, .is_uncut = true),
	MEMORY("snoop", .pads_last = true, .is_fixed = true, .is_uncut = true),
	MEMORY("dcacheline", .has_level = true),
	MEMORY("symbol_iaddr", .has_level = true),
	MEMORY("phys_daddr", .pads_last = true, .has_level = true),
	MEMORY("data_page_size", .pads_last = true),
	MEMORY("blocked", .is_fixed = true),
};

#define NR_KEYS (sizeof(report_keys) / sizeof(*report_keys))

const char *report_key_name(size_t i)
{
	return i < NR_KEYS ? report_keys[i].name : NULL;
}

static const struct report_key *report_keys_find(const char *word)
{
	for (size_t i = 0; i < NR_KEYS; i++)
		if (!strncasecmp(report_keys[i].name, word, strlen(word)))
			return &report_keys[i];
	return NULL;
}

static bool report_keys_is_number(const char *word)
{
	const struct report_key *key = report_keys_find(word);

	return key && key->kind == REPORT_KEY_NUMBER;
}

static bool report_keys_serve(const struct report_key *k, enum report_mode mode)
{
	return (k->kind != REPORT_KEY_BRANCH || mode == REPORT_BRANCH) &&
	       (k->kind != REPORT_KEY_MEMORY || mode == REPORT_MEMORY);
}

static bool report_items_have(const struct report_items *items, const struct report_key *key,
			      const char *name)
{
	for (size_t i = 0; i < items->n; i++) {
		const struct report_item *it = &items->v[i];

		if (key ? it->key == key : !it->key && !strcmp(it->name, name))
			return true;
	}
	return false;
}

/* Adds an item that the list does not have. */
static int report_items_add(struct report_items *items, const struct report_key *key,
			    const char *name, unsigned int level)
{
	char *copy;

	if (report_items_have(items, key, name))
		return 0;
	copy = items->n < REPORT_ITEMS ? strdup(name) : NULL;
	if (!copy)
		return -ENOMEM;
	items->v[items->n++] = (struct report_item){ key, copy, level };
	return 0;
}

struct parse {
	const struct report_keys_want *want;
	struct report_items *items;
	unsigned int level;
	char *unknown;
	bool other_mode;
	bool takes_fields; /* fields of tracepoints are accepted: perf takes them in -s only */
};

/* perf compares the complete word. */
static bool report_keys_is_stage(const char *word)
{
	return !strcmp(word, "p_stage_cyc") || !strcmp(word, "local_p_stage_cyc");
}

static bool report_keys_is_all_fields(const char *word)
{
	return !strcmp(word, "trace_fields") || !strcmp(word, "trace_fields/raw");
}

static int report_keys_add_word(struct parse *p, const char *word)
{
	const struct report_key *key = report_keys_find(word);

	if (p->want->no_stages && report_keys_is_stage(word))
		return 0;
	if (p->want->ignores_all_fields && p->takes_fields && report_keys_is_all_fields(word))
		return 0;
	/* As for perf, -s shows no column of children in a report without them; -F does. */
	if (key && key->kind == REPORT_KEY_NUMBER && key->number == REPORT_CHILDREN &&
	    p->takes_fields && !p->want->children)
		return 0;
	if (!key && p->takes_fields && p->want->is_field && p->want->is_field(p->want->ctx, word))
		return report_items_add(p->items, NULL, word, p->level);
	if (key && report_keys_serve(key, p->want->mode))
		return report_items_add(p->items, key, key->name, p->level);
	p->other_mode = key != NULL;
	p->unknown = strdup(word);
	return -EINVAL;
}

/* Words are separated by commas or blanks; {} makes one level of a hierarchy. */
static int report_keys_add_list(struct parse *p, const char *list)
{
	bool in_braces = false;
	int r = 0;

	while (!r && *list) {
		const size_t n = strcspn(list, ", {}");
		bool is_number;
		char *word;

		if (n) {
			word = strndup(list, n);
			if (!word)
				return -ENOMEM;
			r = report_keys_add_word(p, word);
			is_number = report_keys_is_number(word);
			free(word);
			p->level += !in_braces && !is_number;
			list += n;
			continue;
		}
		if (*list == '{' || (*list == '}' && in_braces)) {
			in_braces = *list == '{';
			p->level += !in_braces;
		}
		list++;
	}
	return r;
}

#define MEMORY_KEYS \
	"local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat"
#define STAGE_KEY ",local_p_stage_cyc"

static const char *report_keys_default(const struct report_keys_want *want)
{
	if (want->mode == REPORT_BRANCH)
		return "comm,dso_from,symbol_from,symbol_to,cycles";
	if (want->only_tracepoints)
		return want->raw_trace ? "trace_fields" : "trace";
	if (want->mode == REPORT_MEMORY)
		return want->no_default_stages ? MEMORY_KEYS : MEMORY_KEYS STAGE_KEY;
	return want->default_sort ? want->default_sort : "comm,dso,symbol";
}

static bool report_keys_is_strict(const char *list)
{
	return list && list[0] != '+';
}

/* The complete value of -s: its keys or the default ones, and keys that perf adds. */
static char *report_keys_text(const struct report_keys_want *want)
{
	const char *given = want->sort, *keys = report_keys_default(want), *more = "", *ipc = "";
	char *text;

	if (report_keys_is_strict(given))
		keys = given;
	else if (given && given[1])
		more = given + 1;
	if (given && strstr(given, "symbol") && !want->no_ipc)
		ipc = want->mode == REPORT_BRANCH ? ",ipc_lbr" : ",ipc_null";
	return asprintf(&text, "%s%s%s%s", keys, *more ? "," : "", more, ipc) < 0 ? NULL : text;
}

/* All words by which rows are sorted: numeric columns before the keys. */
static char *report_keys_words(const struct report_keys_want *want, const char *keys)
{
	const bool has_columns = !report_keys_is_strict(want->fields);
	char *text;

	if (!want->sort && !has_columns)
		keys = "";
	if (asprintf(&text, "%s%s%s",
		     has_columns && want->children && !strstr(keys, "overhead_children")
			     ? "overhead_children,"
			     : "",
		     has_columns && !strstr(keys, "overhead") ? "overhead," : "", keys) < 0)
		return NULL;
	return text;
}

/* Adds the numeric columns that a report without -F has. */
static int report_keys_add_columns(struct report_items *output, const struct report_keys_want *want)
{
	const struct {
		const char *name;
		bool is_wanted;
	} columns[] = {
		{ "overhead_children", want->children },
		{ "overhead", true },
		{ "overhead_sys", want->show_cpu_utilization },
		{ "overhead_us", want->show_cpu_utilization },
		{ "overhead_guest_sys", want->show_cpu_utilization && want->has_guests },
		{ "overhead_guest_us", want->show_cpu_utilization && want->has_guests },
		{ "sample", want->show_samples },
		{ "period", want->show_period },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns) && !r; i++) {
		const struct report_key *key = report_keys_find(columns[i].name);

		if (columns[i].is_wanted)
			r = report_items_add(output, key, key->name, 0);
	}
	return r;
}

static int report_items_add_all(struct report_items *to, const struct report_items *from)
{
	int r = 0;

	for (size_t i = 0; i < from->n && !r; i++)
		r = report_items_add(to, from->v[i].key, from->v[i].name, from->v[i].level);
	return r;
}

int report_layout_make(struct report_layout *l, const struct report_keys_want *want,
		       char **ret_unknown, const char **ret_of, bool *ret_other_mode)
{
	struct parse p = { want, &l->sort, .takes_fields = true };
	char *words;
	int r = 0;

	*l = (struct report_layout){ .keys = report_keys_text(want) };
	words = l->keys ? report_keys_words(want, l->keys) : NULL;
	if (!words)
		return -ENOMEM;
	/* perf reports these keys even if the default ones are those of tracepoints. */
	l->shown_keys = !want->sort && want->mode == REPORT_MEMORY && want->only_tracepoints
				? MEMORY_KEYS STAGE_KEY
				: l->keys;
	if (!report_keys_is_strict(want->fields))
		r = report_keys_add_columns(&l->output, want);
	*ret_of = "sort";
	if (!r)
		r = report_keys_add_list(&p, words);
	free(words);
	if (!r && want->has_parent_regex)
		r = report_keys_add_word(&p, "parent");
	if (!r && want->fields) {
		*ret_of = "fields";
		p.items = &l->output;
		p.takes_fields = false;
		r = report_keys_add_list(&p, want->fields + (want->fields[0] == '+'));
	}
	if (!r)
		r = report_items_add_all(&l->output, &l->sort);
	if (!r)
		r = report_items_add_all(&l->sort, &l->output);
	*ret_unknown = p.unknown;
	*ret_other_mode = p.other_mode;
	return r;
}

bool report_layout_has(const struct report_layout *l, const char *name)
{
	return report_items_have(&l->sort, report_keys_find(name), name);
}

void report_layout_done(struct report_layout *l)
{
	for (size_t i = 0; i < l->sort.n; i++)
		free(l->sort.v[i].name);
	for (size_t i = 0; i < l->output.n; i++)
		free(l->output.v[i].name);
	free(l->keys);
}
