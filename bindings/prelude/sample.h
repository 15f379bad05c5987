/* SPDX-License-Identifier: MIT */
/*
 * perf_sample_dict, which is also the param_dict of process_event: its keys, their order, and their
 * values. There are two tables: the dict itself, and the dict under its key "sample".
 *
 *	struct prelude_sampled sampled;                 once per schema
 *	struct prelude_sample s;                        per event
 *
 *	prelude_sampled_init(&sampled, schema, rules);
 *	prelude_sample_read(&s, &sampled, ev);
 *	prelude_sample_locate(&s);
 *	for (k = prelude_sample_keys; k->name; k++)
 *		if (prelude_key_there(k, &sampled, s.has))
 *			put(k->name, by k->form: prelude_number(&s, k->item), ...);
 *
 * Keys that perf has only for decoded hardware traces and for guests (flags, insn_cnt, machine_pid)
 * are never present.
 */
#ifndef SONDE_PRELUDE_SAMPLE_H
#define SONDE_PRELUDE_SAMPLE_H

#include "prelude.h"

/*
 * Meaning of each key. The items of the dict itself are in the order of its table; `form` says
 * which accessor provides the value.
 */
enum prelude_item {
	/* Keys of the dict itself. */
	ITEM_EV_NAME,
	ITEM_ATTR,
	ITEM_SAMPLE,
	ITEM_RAW_BUF,
	ITEM_COMM,
	ITEM_DSO,
	ITEM_DSO_BID,
	ITEM_DSO_MAP_START,
	ITEM_DSO_MAP_END,
	ITEM_SYMBOL,
	ITEM_SYMOFF,
	ITEM_CALLCHAIN,
	ITEM_BRSTACK,
	ITEM_BRSTACKSYM,
	ITEM_IREGS,
	ITEM_UREGS,
	/* Keys of "sample". */
	ITEM_ID,
	ITEM_STREAM_ID,
	ITEM_PID,
	ITEM_TID,
	ITEM_CPU,
	ITEM_IP,
	ITEM_TIME,
	ITEM_PERIOD,
	ITEM_PHYS_ADDR,
	ITEM_ADDR,
	ITEM_TIME_ENABLED,
	ITEM_TIME_RUNNING,
	ITEM_VALUES,
	ITEM_WEIGHT,
	ITEM_INS_LAT,
	ITEM_RETIRE_LAT,
	ITEM_TRANSACTION,
	ITEM_DATASRC,
	ITEM_DATASRC_DECODE,
	ITEM_CPUMODE,
	ITEM_ADDR_CORRELATES_SYM,
	ITEM_ADDR_DSO,
	ITEM_ADDR_DSO_BID,
	ITEM_ADDR_DSO_MAP_START,
	ITEM_ADDR_DSO_MAP_END,
	ITEM_ADDR_SYMBOL,
	ITEM_ADDR_SYMOFF,
	ITEM_CGROUP,
	ITEM_DATA_PAGE_SIZE,
	ITEM_CODE_PAGE_SIZE,
	ITEM_USER_STACK
};

enum prelude_form {
	FORM_NUMBER, /* unsigned 64 bits: prelude_number() */
	FORM_TASK,   /* a task or a cpu, signed and often repeated: prelude_number() */
	FORM_NAME,   /* borrowed text: prelude_name() */
	FORM_TRUE,
	FORM_SPECIAL /* made by the language: bytes, lists, texts of registers and data sources */
};

/* Facts that only some samples have. */
enum prelude_has {
	HAS_DSO = 1, /* ip is in a mapping */
	HAS_SYMBOL = 2,
	HAS_ADDR_NAMES = 4, /* addr is in code or data of the process */
	HAS_ADDR_DSO = 8,
	HAS_ADDR_SYMBOL = 16
};

#define SAMPLED_CONSTANT (1ull << 63) /* the same for all samples of an event type */

struct prelude_key {
	const char *name;
	enum prelude_item item;
	enum prelude_form form;
	unsigned int lists; /* one bit per enum sonde_sample_keys: the lists that have the key */
	unsigned int needs; /* enum prelude_has: the key is absent if one of these is missing */
	/* PERF_FORMAT_* bits: the key is absent unless the event's attr has one of them. */
	uint64_t read_format;
	/*
	 * PERF_SAMPLE_* bits: if none of them is recorded, all samples of the event type have the
	 * same value. 0 if the value changes from sample to sample.
	 */
	uint64_t varies_with;
	bool only_sampled; /* the key is absent unless one of varies_with is recorded */
};
extern const struct prelude_key prelude_dict_keys[], prelude_sample_keys[]; /* ended by name NULL */
#define PRELUDE_DICT_KEYS   16
#define PRELUDE_SAMPLE_KEYS 34

/* Facts about all samples of an event type. */
struct prelude_sampled {
	const struct sonde_rules *rules;
	uint64_t sample_type, read_format, intr_regs_mask;
	bool addr_names; /* HAS_ADDR_NAMES */
};
void prelude_sampled_init(struct prelude_sampled *ret, const struct sonde_schema *sc,
			  const struct sonde_rules *rules);

struct prelude_sample {
	const struct prelude_sampled *sampled;
	const struct sonde_event *ev;
	unsigned int has; /* enum prelude_has */
	struct sonde_sample s;
	struct sonde_location at_ip, at_addr;
};
/*
 * Returns 0, or the error of sonde_event_sample(). Borrowed pointers are valid as long as those of
 * a sonde_sample.
 */
int prelude_sample_read(struct prelude_sample *ret, const struct prelude_sampled *sampled,
			const struct sonde_event *ev);
/* Looks up the addresses. Before this call `has` is 0. */
void prelude_sample_locate(struct prelude_sample *p);
/*
 * True if every decoded sample of the event type can be read. Its values may then be read one by
 * one, because reading all of them cannot fail.
 */
bool prelude_sampled_reads(const struct prelude_sampled *sampled);

/*
 * The length of "attr". perf passes struct perf_event_attr in the size that perf knows, and pads a
 * shorter recorded one with zeroes.
 */
size_t prelude_attr_size(const struct sonde_rules *rules, size_t recorded);

static inline bool prelude_key_is_shown(const struct prelude_key *k,
					const struct prelude_sampled *sampled)
{
	return k->lists >> sampled->rules->sample_keys & 1;
}
/* present is sonde_sample.present. */
bool prelude_key_there(const struct prelude_key *k, const struct prelude_sampled *sampled,
		       uint64_t present, unsigned int has);
static inline bool prelude_key_varies(const struct prelude_key *k, uint64_t present)
{
	return !k->varies_with || present & k->varies_with;
}
uint64_t prelude_number(const struct prelude_sample *s, enum prelude_item item);
/* May return NULL, which means "". */
const char *prelude_name(const struct prelude_sample *s, enum prelude_item item);

/* The location of an address; unknown if the lookup fails. */
struct sonde_location prelude_locate(const struct sonde_event *ev, uint64_t addr, uint32_t cpumode);

/*
 * The list "values": prelude_nr_values() returns its number of entries (id, value, lost),
 * prelude_value() the i-th entry.
 */
size_t prelude_nr_values(const struct prelude_sample *s);
struct sonde_read_value prelude_value(const struct prelude_sample *s, size_t i);

/* Entries of the lists "brstack" and "brstacksym". */
struct prelude_branch {
	uint64_t from, to;
	bool mispred, predicted, in_tx, abort;
	uint32_t cycles;
};
struct prelude_branch prelude_branch(const struct sonde_branch *b);
const char *prelude_branch_dso(const struct sonde_event *ev, uint64_t addr);
/* Writes "main+0x10" or "[unknown]" into buf, in perf's size. */
#define PRELUDE_BRANCH_TEXT 512
void prelude_branch_symbol(const struct sonde_event *ev, uint64_t addr, char *buf);
static inline const char *prelude_branch_prediction(const struct prelude_branch *b)
{
	return b->mispred ? "M" : b->predicted ? "P" : "-";
}

/* Writes "|OP LOAD|LVL ..." into buf. Returns the length. */
#define PRELUDE_DATA_SRC_TEXT 256
size_t prelude_data_src_text(const struct prelude_sample *s, char *buf);
/*
 * Writes " AX:0x1 BX:0x2 " into buf: the sampled registers of the kernel, or with `user` those of
 * user space. Returns the length.
 */
#define PRELUDE_REGS_TEXT (64 * 40)
size_t prelude_regs_text(const struct prelude_sample *s, bool user, char *buf);

#endif
