/* SPDX-License-Identifier: MIT */
/* The values of perf_sample_dict: numbers, names, and the texts in it. */
#include "sample.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

/* perf resolves the data addresses of page faults, and of branches if every branch is an event. */
static bool sample_addr_has_names(const struct perf_event_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_ADDR))
		return false;
	if (attr->type == PERF_TYPE_HARDWARE) /* perf tests only this bit of config */
		return attr->config & PERF_COUNT_HW_BRANCH_INSTRUCTIONS && attr->sample_period == 1;
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
						    attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
						    attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

void prelude_sampled_init(struct prelude_sampled *ret, const struct sonde_schema *sc,
			  const struct sonde_rules *rules)
{
	struct perf_event_attr attr = { 0 };
	size_t len = 0;
	const void *bytes = sonde_schema_attr(sc, &len);

	if (bytes)
		memcpy(&attr, bytes, len < sizeof(attr) ? len : sizeof(attr));
	*ret = (struct prelude_sampled){
		.rules = rules,
		.sample_type = sonde_schema_sampled(sc),
		.read_format = attr.read_format,
		.intr_regs_mask = attr.sample_regs_intr,
		.addr_names = sample_addr_has_names(&attr),
	};
}

struct sonde_location prelude_locate(const struct sonde_event *ev, uint64_t addr, uint32_t cpumode)
{
	struct sonde_location loc = { .size = sizeof(loc) };

	if (sonde_event_locate(ev, addr, cpumode, &loc) < 0)
		loc = (struct sonde_location){ .size = sizeof(loc) };
	return loc;
}

int prelude_sample_read(struct prelude_sample *ret, const struct prelude_sampled *sampled,
			const struct sonde_event *ev)
{
	ret->sampled = sampled;
	ret->ev = ev;
	ret->has = 0;
	ret->s = (struct sonde_sample){ .size = sizeof(ret->s) };
	return sonde_event_sample(ev, &ret->s);
}

void prelude_sample_locate(struct prelude_sample *p)
{
	if (p->s.present & PERF_SAMPLE_IP) {
		p->at_ip = prelude_locate(p->ev, p->s.ip, p->ev->cpumode);
		p->has |= (p->at_ip.dso ? HAS_DSO : 0) | (p->at_ip.sym ? HAS_SYMBOL : 0);
	}
	if (p->sampled->addr_names) {
		p->at_addr = prelude_locate(p->ev, p->s.addr, SONDE_CPUMODE_OF_ADDRESS);
		p->has |= HAS_ADDR_NAMES | (p->at_addr.dso ? HAS_ADDR_DSO : 0) |
			  (p->at_addr.sym ? HAS_ADDR_SYMBOL : 0);
	}
}

bool prelude_sampled_reads(const struct prelude_sampled *sampled)
{
	const uint64_t checked = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER |
				 PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;

	return sampled->sample_type && !(sampled->sample_type & ~checked);
}

size_t prelude_attr_size(const struct sonde_rules *rules, size_t recorded)
{
	enum { LEAST = 128 };

	if (rules->attr_bytes)
		return rules->attr_bytes;
	return recorded < LEAST ? LEAST : recorded;
}

/* Returns -1 if not recorded, which perf passes on as unsigned 32 bits. */
static uint64_t sample_task(const struct prelude_sample *p, int32_t value)
{
	return p->sampled->rules->unsigned_ids ? (uint32_t)value : (uint64_t)(int64_t)value;
}

static uint64_t sample_data_src(const struct prelude_sample *p)
{
	if (p->s.present & PERF_SAMPLE_DATA_SRC)
		return p->s.data_src;
	return prelude_no_data_src(p->sampled->rules);
}

uint64_t prelude_number(const struct prelude_sample *p, enum prelude_item item)
{
	const struct sonde_sample *s = &p->s;
	/* three numbers of 32, 16 and 16 bits */
	bool weights = s->present & PERF_SAMPLE_WEIGHT_STRUCT;

	switch (item) {
	case ITEM_DSO_MAP_START:
		return p->at_ip.map_start;
	case ITEM_DSO_MAP_END:
		return p->at_ip.map_end;
	case ITEM_SYMOFF:
		return p->at_ip.sym_off;
	case ITEM_ID:
		return s->present & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? s->id : UINT64_MAX;
	case ITEM_STREAM_ID:
		return s->present & PERF_SAMPLE_STREAM_ID ? s->stream_id : UINT64_MAX;
	case ITEM_PID:
		return sample_task(p, p->ev->pid);
	case ITEM_TID:
		return sample_task(p, p->ev->tid);
	case ITEM_CPU:
		return sample_task(p, p->ev->cpu);
	case ITEM_IP:
		return s->ip;
	case ITEM_TIME:
		return p->ev->time_ns;
	case ITEM_PERIOD:
		return s->period;
	case ITEM_PHYS_ADDR:
		return s->phys_addr;
	case ITEM_ADDR:
		return s->addr;
	case ITEM_TIME_ENABLED:
		return s->time_enabled_ns;
	case ITEM_TIME_RUNNING:
		return s->time_running_ns;
	case ITEM_WEIGHT:
		return weights ? (uint32_t)s->weight : s->weight;
	case ITEM_INS_LAT:
		return weights ? s->weight >> 32 & 0xffff : 0;
	case ITEM_RETIRE_LAT:
		return s->weight >> 48;
	case ITEM_TRANSACTION:
		return s->transaction;
	case ITEM_DATASRC:
		return sample_data_src(p);
	case ITEM_CPUMODE:
		return p->ev->cpumode;
	case ITEM_ADDR_DSO_MAP_START:
		return p->at_addr.map_start;
	case ITEM_ADDR_DSO_MAP_END:
		return p->at_addr.map_end;
	case ITEM_ADDR_SYMOFF:
		return p->at_addr.sym_off;
	case ITEM_CGROUP:
		return s->cgroup;
	case ITEM_DATA_PAGE_SIZE:
		return s->data_page_size;
	case ITEM_CODE_PAGE_SIZE:
		return s->code_page_size;
	default:
		return 0;
	}
}

const char *prelude_name(const struct prelude_sample *p, enum prelude_item item)
{
	switch (item) {
	case ITEM_DSO:
		return p->at_ip.dso;
	case ITEM_DSO_BID:
		return p->at_ip.dso_build_id;
	case ITEM_SYMBOL:
		return p->at_ip.sym;
	case ITEM_ADDR_DSO:
		return p->at_addr.dso;
	case ITEM_ADDR_DSO_BID:
		return p->at_addr.dso_build_id;
	case ITEM_ADDR_SYMBOL:
		return p->at_addr.sym;
	default:
		return NULL;
	}
}

/* If an event's counts are not read, perf has one entry of zeroes, or no entry for a group. */
size_t prelude_nr_values(const struct prelude_sample *p)
{
	return p->s.nr_reads || p->sampled->read_format & PERF_FORMAT_GROUP ? p->s.nr_reads : 1;
}

/*
 * If no lost count was read, perf leaves its place empty, and a script that reads it dies. Here the
 * count is then 0.
 */
struct sonde_read_value prelude_value(const struct prelude_sample *p, size_t i)
{
	struct sonde_read_value v = { 0 };

	if (i < p->s.nr_reads)
		v = p->s.reads[i];
	if (!(p->s.read_format & PERF_FORMAT_LOST))
		v.lost = 0;
	return v;
}

/* perf_branch_entry.flags: mispred:1 predicted:1 in_tx:1 abort:1 cycles:16 ... */
struct prelude_branch prelude_branch(const struct sonde_branch *b)
{
	return (struct prelude_branch){
		.from = b->from,
		.to = b->to,
		.mispred = b->flags & 1,
		.predicted = b->flags & 2,
		.in_tx = b->flags & 4,
		.abort = b->flags & 8,
		.cycles = b->flags >> 4 & 0xffff,
	};
}

const char *prelude_branch_dso(const struct sonde_event *ev, uint64_t addr)
{
	const char *dso = prelude_locate(ev, addr, SONDE_CPUMODE_OF_ADDRESS).dso;

	return dso ? dso : "[unknown]";
}

void prelude_branch_symbol(const struct sonde_event *ev, uint64_t addr, char *buf)
{
	struct sonde_location loc = prelude_locate(ev, addr, SONDE_CPUMODE_OF_ADDRESS);

	if (!loc.sym || !*loc.sym)
		strcpy(buf, "[unknown]");
	else
		snprintf(buf, PRELUDE_BRANCH_TEXT, "%s+0x%llx", loc.sym,
			 (unsigned long long)loc.sym_off);
}

size_t prelude_data_src_text(const struct prelude_sample *p, char *buf)
{
	const size_t most = p->sampled->rules->data_src_text_bytes,
		     room = most ? most + 1 : PRELUDE_DATA_SRC_TEXT;
	size_t len = sonde_session_data_src_text(sonde_event_session(p->ev), sample_data_src(p),
						 buf, room);

	return len < room ? len : room - 1;
}

/* perf limits the texts of both register sets by the number of kernel registers. */
static size_t sample_regs_room(const struct prelude_sampled *sampled)
{
	const size_t each = sampled->rules->register_text_bytes,
		     room = each * (size_t)__builtin_popcountll(sampled->intr_regs_mask);

	return each && room < PRELUDE_REGS_TEXT ? room : PRELUDE_REGS_TEXT;
}

size_t prelude_regs_text(const struct prelude_sample *p, bool user, char *buf)
{
	uint64_t abi = user ? p->s.user_regs_abi : p->s.intr_regs_abi;
	uint64_t mask = user ? p->s.user_regs_mask : p->s.intr_regs_mask;
	const uint64_t *regs = user ? p->s.user_regs : p->s.intr_regs;
	size_t len = 0, i = 0, room = sample_regs_room(p->sampled);

	if (!abi || !regs || !room)
		return 0;
	for (unsigned int bit = 0; bit < 64 && len < room; bit++) {
		char name[16];

		if (mask >> bit & 1)
			len += (size_t)snprintf(buf + len, room - len, "%5s:0x%llx ",
						sonde_event_register_name(p->ev, bit, name),
						(unsigned long long)regs[i++]);
	}
	return len < room ? len : room - 1;
}
