/* SPDX-License-Identifier: MIT */
#include "profile/options.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/keys.h"

static const char *const callgraph_words[] = { "none", "callee", "caller", NULL };
static const char *const callgraph_key_words[] = { "function", "address", "srcline", NULL };
static const char *const tree_order_words[] = { "size", "place", NULL };
static const char *const groups_words[] = { "recorded", "none", "all", NULL };

#define TEXT(name, m)             KEY_TEXT(name, struct profile_options, m)
#define WORD(name, m, words)      KEY_WORD(name, struct profile_options, m, words)
#define FLAG(name, m)             KEY_FLAG(name, struct profile_options, m)
#define NUMBER(name, m, min, max) KEY_NUMBER(name, struct profile_options, m, min, max)

static const struct key keys[] = {
	TEXT("keys", keys),
	WORD("callgraph", callgraph, callgraph_words),
	WORD("callgraph-key", callgraph_key, callgraph_key_words),
	FLAG("children", children),
	FLAG("borrow-chains", borrow_chains),
	WORD("groups", groups, groups_words),
	TEXT("parent", parent),
	TEXT("ignore-callees", ignore_callees),
	NUMBER("time-quantum", time_quantum, 1, KEY_NO_NUMBER - 1),
	FLAG("raw-fields", raw_fields),
	FLAG("hide-unresolved", hide_unresolved),
	FLAG("branches", branches),
	FLAG("weight-as-period", weight_as_period),
	FLAG("branch-history", branch_history),
	FLAG("blocks", blocks),
	FLAG("nanoseconds", nanoseconds),
	FLAG("full-source-path", full_source_path),
	FLAG("empty-tables", empty_tables),
	WORD("tree-order", tree_order, tree_order_words),
	FLAG("parents-only", parents_only),
	NUMBER("socket", socket, 0, INT32_MAX),
	TEXT("comms", comms),
	TEXT("dsos", dsos),
	TEXT("symbols", symbols),
	TEXT("pids", pids),
	TEXT("tids", tids),
	KEY_LINES("weight", struct profile_options, weights),
	NUMBER("max-keys", max_keys, 1, 1u << 29),
};

enum { NR_KEYS = sizeof(keys) / sizeof(*keys), DEFAULT_MAX_KEYS = 10000000 };

static const uint64_t default_time_quantum = 100000000;

static int profile_options_check(const struct profile_options *o)
{
	if (o->children && o->callgraph == CALLGRAPH_NONE)
		return err_set(-EINVAL, "children=1 needs callgraph=callee or callgraph=caller");
	if (o->branches && o->weight_as_period)
		return err_set(-EINVAL, "branches=1 and weight-as-period=1 exclude each other");
	if (o->blocks && !o->branches)
		return err_set(-EINVAL, "blocks=1 needs branches=1");
	if (o->branch_history && o->callgraph == CALLGRAPH_NONE)
		return err_set(-EINVAL,
			       "branch-history=1 needs callgraph=callee or callgraph=caller");
	if (o->branches && o->callgraph != CALLGRAPH_NONE)
		return err_set(-EINVAL, "branches=1 and callgraph= exclude each other");
	return 0;
}

int profile_options_parse(struct profile_options *o, const char *text, const char *origin)
{
	const struct key_set set = { keys, NR_KEYS, o };
	int r;

	keys_init(keys, NR_KEYS, o, sizeof(*o));
	r = key_sets_parse(&set, 1, text, origin ? origin : "profile");
	if (o->time_quantum == KEY_NO_NUMBER)
		o->time_quantum = default_time_quantum;
	if (o->max_keys == KEY_NO_NUMBER)
		o->max_keys = DEFAULT_MAX_KEYS;
	if (r >= 0)
		r = profile_options_check(o);
	if (r < 0)
		profile_options_done(o);
	return r;
}

void profile_options_done(struct profile_options *o)
{
	keys_done(keys, NR_KEYS, o);
}
