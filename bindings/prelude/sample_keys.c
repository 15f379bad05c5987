/* SPDX-License-Identifier: MIT */
/* The keys of perf_sample_dict in perf's order, and the conditions of their presence. */
#include "sample.h"

#include <linux/perf_event.h>

enum {
	FIRST = 1 << SONDE_SAMPLE_KEYS_FIRST,
	WITH_IDS = 1 << SONDE_SAMPLE_KEYS_WITH_IDS,
	OURS = 1 << SONDE_SAMPLE_KEYS_ALL,
	ALL = FIRST | WITH_IDS | OURS
};

#define IDS     (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)
#define WEIGHTS (PERF_SAMPLE_WEIGHT_TYPE)

/* name, item, form, lists, needs, read_format, varies_with, only_sampled */
/* clang-format off */
const struct prelude_key prelude_dict_keys[] = {
	{ "ev_name",       ITEM_EV_NAME,       FORM_SPECIAL, ALL, 0,          0, SAMPLED_CONSTANT },
	{ "attr",          ITEM_ATTR,          FORM_SPECIAL, ALL, 0,          0, SAMPLED_CONSTANT },
	{ "sample",        ITEM_SAMPLE,        FORM_SPECIAL, ALL, 0,          0, 0 },
	{ "raw_buf",       ITEM_RAW_BUF,       FORM_SPECIAL, ALL, 0,          0, PERF_SAMPLE_RAW },
	{ "comm",          ITEM_COMM,          FORM_SPECIAL, ALL, 0,          0, 0 },
	{ "dso",           ITEM_DSO,           FORM_NAME,    ALL, HAS_DSO,    0, 0 },
	{ "dso_bid",       ITEM_DSO_BID,       FORM_NAME,    ALL, HAS_DSO,    0, 0 },
	{ "dso_map_start", ITEM_DSO_MAP_START, FORM_NUMBER,  ALL, HAS_DSO,    0, 0 },
	{ "dso_map_end",   ITEM_DSO_MAP_END,   FORM_NUMBER,  ALL, HAS_DSO,    0, 0 },
	{ "symbol",        ITEM_SYMBOL,        FORM_NAME,    ALL, HAS_SYMBOL, 0, 0 },
	{ "symoff",        ITEM_SYMOFF,        FORM_NUMBER,  ALL, HAS_SYMBOL, 0, 0 },
	{ "callchain",     ITEM_CALLCHAIN,     FORM_SPECIAL, ALL, 0,          0, 0 },
	{ "brstack",       ITEM_BRSTACK,       FORM_SPECIAL, ALL, 0,          0, 0 },
	{ "brstacksym",    ITEM_BRSTACKSYM,    FORM_SPECIAL, ALL, 0,          0, 0 },
	{ "iregs",         ITEM_IREGS,         FORM_SPECIAL, ALL, 0,          0,
		PERF_SAMPLE_REGS_INTR },
	{ "uregs",         ITEM_UREGS,         FORM_SPECIAL, ALL, 0,          0,
		PERF_SAMPLE_REGS_USER },
	{ 0 },
};

const struct prelude_key prelude_sample_keys[] = {
	{ "id",             ITEM_ID,             FORM_NUMBER,  WITH_IDS, 0, 0, IDS },
	{ "stream_id",      ITEM_STREAM_ID,      FORM_NUMBER,  WITH_IDS, 0, 0,
		PERF_SAMPLE_STREAM_ID },
	{ "pid",            ITEM_PID,            FORM_TASK,    ALL, 0, 0, 0 },
	{ "tid",            ITEM_TID,            FORM_TASK,    ALL, 0, 0, 0 },
	{ "cpu",            ITEM_CPU,            FORM_TASK,    ALL, 0, 0, 0 },
	{ "ip",             ITEM_IP,             FORM_NUMBER,  ALL, 0, 0, PERF_SAMPLE_IP },
	{ "time",           ITEM_TIME,           FORM_NUMBER,  ALL, 0, 0, 0 },
	{ "period",         ITEM_PERIOD,         FORM_NUMBER,  ALL, 0, 0, 0 },
	{ "phys_addr",      ITEM_PHYS_ADDR,      FORM_NUMBER,  ALL, 0, 0, PERF_SAMPLE_PHYS_ADDR },
	{ "addr",           ITEM_ADDR,           FORM_NUMBER,  ALL, 0, 0, PERF_SAMPLE_ADDR },
	{ "time_enabled",   ITEM_TIME_ENABLED,   FORM_NUMBER,  ALL, 0,
		PERF_FORMAT_TOTAL_TIME_ENABLED, 0 },
	{ "time_running",   ITEM_TIME_RUNNING,   FORM_NUMBER,  ALL, 0,
		PERF_FORMAT_TOTAL_TIME_RUNNING, 0 },
	{ "values",         ITEM_VALUES,         FORM_SPECIAL, ALL, 0, 0, 0 },
	{ "weight",         ITEM_WEIGHT,         FORM_NUMBER,  ALL, 0, 0, WEIGHTS },
	{ "ins_lat",        ITEM_INS_LAT,        FORM_NUMBER,  WITH_IDS, 0, 0, WEIGHTS },
	{ "transaction",    ITEM_TRANSACTION,    FORM_NUMBER,  ALL, 0, 0, PERF_SAMPLE_TRANSACTION },
	{ "datasrc",        ITEM_DATASRC,        FORM_NUMBER,  ALL, 0, 0, PERF_SAMPLE_DATA_SRC },
	{ "datasrc_decode", ITEM_DATASRC_DECODE, FORM_SPECIAL, ALL, 0, 0, PERF_SAMPLE_DATA_SRC },
	{ "cpumode",        ITEM_CPUMODE,        FORM_TASK,    ALL, 0, 0, 0 },
	{ "addr_correlates_sym", ITEM_ADDR_CORRELATES_SYM, FORM_TRUE, ALL, HAS_ADDR_NAMES, 0, 0 },
	{ "addr_dso",           ITEM_ADDR_DSO,           FORM_NAME,   ALL, HAS_ADDR_DSO,    0, 0 },
	{ "addr_dso_bid",       ITEM_ADDR_DSO_BID,       FORM_NAME,   ALL, HAS_ADDR_DSO,    0, 0 },
	{ "addr_dso_map_start", ITEM_ADDR_DSO_MAP_START, FORM_NUMBER, ALL, HAS_ADDR_DSO,    0, 0 },
	{ "addr_dso_map_end",   ITEM_ADDR_DSO_MAP_END,   FORM_NUMBER, ALL, HAS_ADDR_DSO,    0, 0 },
	{ "addr_symbol",        ITEM_ADDR_SYMBOL,        FORM_NAME,   ALL, HAS_ADDR_SYMBOL, 0, 0 },
	{ "addr_symoff",        ITEM_ADDR_SYMOFF,        FORM_NUMBER, ALL, HAS_ADDR_SYMBOL, 0, 0 },
	/*
	 * By default the keys of both versions, perf 6.12's at the end, and recorded values that
	 * perf omits.
	 */
	{ "id",             ITEM_ID,             FORM_NUMBER,  OURS, 0, 0, IDS },
	{ "stream_id",      ITEM_STREAM_ID,      FORM_NUMBER,  OURS, 0, 0, PERF_SAMPLE_STREAM_ID },
	{ "ins_lat",        ITEM_INS_LAT,        FORM_NUMBER,  OURS, 0, 0, WEIGHTS },
	{ "retire_lat",     ITEM_RETIRE_LAT,     FORM_NUMBER,  OURS, 0, 0,
		PERF_SAMPLE_WEIGHT_STRUCT, true },
	{ "cgroup",         ITEM_CGROUP,         FORM_NUMBER,  OURS, 0, 0, PERF_SAMPLE_CGROUP,
		true },
	{ "data_page_size", ITEM_DATA_PAGE_SIZE, FORM_NUMBER,  OURS, 0, 0,
		PERF_SAMPLE_DATA_PAGE_SIZE, true },
	{ "code_page_size", ITEM_CODE_PAGE_SIZE, FORM_NUMBER,  OURS, 0, 0,
		PERF_SAMPLE_CODE_PAGE_SIZE, true },
	{ "user_stack",     ITEM_USER_STACK,     FORM_SPECIAL, OURS, 0, 0, PERF_SAMPLE_STACK_USER,
		true },
	{ 0 },
};
/* clang-format on */

_Static_assert(sizeof(prelude_dict_keys) / sizeof(*prelude_dict_keys) == PRELUDE_DICT_KEYS + 1, "");
_Static_assert(sizeof(prelude_sample_keys) / sizeof(*prelude_sample_keys) ==
		       PRELUDE_SAMPLE_KEYS + 1,
	       "");

bool prelude_key_there(const struct prelude_key *k, const struct prelude_sampled *sampled,
		       uint64_t present, unsigned int has)
{
	return prelude_key_is_shown(k, sampled) && (has & k->needs) == k->needs &&
	       (!k->read_format || sampled->read_format & k->read_format) &&
	       (!k->only_sampled || present & k->varies_with);
}
