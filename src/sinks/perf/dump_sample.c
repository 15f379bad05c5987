/* SPDX-License-Identifier: MIT */
/* Prints the values of a sample in a dump, in perf's order. */
#include <linux/perf_event.h>

#include "base/bytes.h"
#include "formats/perfdata/sample.h"
#include "model/registers.h"
#include "recording/recording.h"
#include "sinks/perf/dump.h"
#include "sinks/text/machine_words.h"
#include "sources/perfdata/view.h"

/* A sample being dumped. */
struct dumped {
	const struct event *ev; /* the sample as an event of its type */
	const struct perf_event_attr *attr;
	const struct sonde_sample *sample;
	struct sample_extents extents;
	bool swap;
	struct outbuf *out;
};

static uint64_t dump_chain_entry(const struct dumped *d, unsigned i)
{
	return get_u64(d->extents.chain + 8 * (size_t)i, d->swap);
}

static bool dump_has_branch_callstack(const struct dumped *d)
{
	return d->attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

static void dump_put_entry(struct outbuf *out, unsigned i, uint64_t addr)
{
	outbuf_fmt(out, "..... %2u: %016llx\n", i, (unsigned long long)addr);
}

/* Prints a chain whose user-space callers are taken from the branch stack. */
static void dump_put_lbr_chain(const struct dumped *d)
{
	const struct sonde_sample *s = d->sample;
	unsigned kernel = 0, at;

	while (kernel < d->extents.nr_chain &&
	       dump_chain_entry(d, kernel) != (uint64_t)PERF_CONTEXT_USER)
		kernel++;
	if (kernel == d->extents.nr_chain || !s->nr_branches)
		return;
	outbuf_fmt(d->out, "... LBR call chain: nr:%llu\n",
		   (unsigned long long)(kernel + 1 + 1 + s->nr_branches));
	for (at = 0; at <= kernel; at++)
		dump_put_entry(d->out, at, dump_chain_entry(d, at));
	dump_put_entry(d->out, at++, s->branches[0].to);
	for (unsigned i = 0; i < s->nr_branches; i++)
		dump_put_entry(d->out, at++, s->branches[i].from);
}

static void dump_put_chain(const struct dumped *d)
{
	if (d->attr->sample_type & PERF_SAMPLE_BRANCH_STACK && dump_has_branch_callstack(d))
		dump_put_lbr_chain(d);
	outbuf_fmt(d->out, "... FP chain: nr:%u\n", d->extents.nr_chain);
	for (unsigned i = 0; i < d->extents.nr_chain; i++)
		dump_put_entry(d->out, i, dump_chain_entry(d, i));
}

static void dump_put_branches(const struct dumped *d)
{
	static const char *const speculation[] = { " ", " SPEC_WRONG_PATH",
						   " NON_SPEC_CORRECT_PATH", " SPEC_CORRECT_PATH" };
	const struct rules *rules = d->ev->recording->opts->rules;
	const struct sonde_sample *s = d->sample;
	struct outbuf *out = d->out;
	char type[24];

	if (dump_has_branch_callstack(d)) {
		outbuf_fmt(out, "... branch callstack: nr:%llu\n",
			   (unsigned long long)s->nr_branches + 1);
		if (s->nr_branches)
			dump_put_entry(out, 0, s->branches[0].to);
		for (unsigned i = 0; i < s->nr_branches; i++)
			dump_put_entry(out, i + 1, s->branches[i].from);
		return;
	}
	outbuf_fmt(out, "... branch stack: nr:%llu\n", (unsigned long long)s->nr_branches);
	for (unsigned i = 0; i < s->nr_branches; i++) {
		const struct sonde_branch *b = &s->branches[i];
		uint64_t f = b->flags;

		outbuf_fmt(out, "..... %2u: %016llx -> %016llx %u cycles %s%s%s%s %x %s%s\n", i,
			   (unsigned long long)b->from, (unsigned long long)b->to,
			   (unsigned)(f >> 4 & 0xffff), f & 1 ? "M" : " ", f & 2 ? "P" : " ",
			   f & 8 ? "A" : " ", f & 4 ? "T" : " ", (unsigned)(f >> 33),
			   branch_type_name(rules, f, type),
			   rules->shows_speculation ? speculation[f >> 24 & 3] : "");
	}
}

static void dump_put_regs(const struct dumped *d, const char *which, uint64_t abi, uint64_t mask,
			  const uint64_t *values)
{
	const char *arch = source_info(d->ev->source, "arch");
	struct outbuf *out = d->out;
	char name[16];
	unsigned n = 0;

	if (!abi)
		return;
	outbuf_fmt(out, "... %s regs: mask 0x%llx ABI %s\n", which, (unsigned long long)mask,
		   abi == 1   ? "32-bit"
		   : abi == 2 ? "64-bit"
			      : "unknown");
	for (unsigned i = 0; i < 64; i++) {
		if (mask >> i & 1)
			outbuf_fmt(out, ".... %-5s 0x%016llx\n",
				   register_name(d->ev->recording->opts->rules, arch, i, name),
				   (unsigned long long)values[n++]);
	}
}

/* Finds the word with the stack's size by stepping over everything in front of it. */
static int dump_stack_offset(const struct dumped *d, uint32_t *ret)
{
	const struct sonde_event *pub = &d->ev->pub;
	uint64_t type = d->attr->sample_type, format = d->attr->read_format, nr = 1;
	struct bytes b = bytes_init(pub->record, pub->record_len, 0, "", d->swap);
	struct perfdata_layout layout;
	uint32_t raw = 0;

	perfdata_layout_of(d->attr, &layout);
	TRY(bytes_skip(&b, "fixed fields", layout.first_variable));
	if (type & PERF_SAMPLE_READ) {
		if (format & PERF_FORMAT_GROUP)
			TRY(bytes_u64(&b, "number of values", &nr));
		nr *= 1u + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
		nr += !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		      !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
		TRY(bytes_skip(&b, "values", 8 * nr));
	}
	if (type & PERF_SAMPLE_CALLCHAIN) {
		TRY(bytes_u64(&b, "call chain length", &nr));
		TRY(bytes_skip(&b, "call chain", 8 * nr));
	}
	if (type & PERF_SAMPLE_RAW) {
		TRY(bytes_u32(&b, "raw size", &raw));
		TRY(bytes_skip(&b, "raw data", raw));
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		TRY(bytes_u64(&b, "number of branches", &nr));
		if (d->attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
			TRY(bytes_skip(&b, "hw_idx", 8));
		TRY(bytes_skip(&b, "branches", nr * sizeof(struct sonde_branch)));
	}
	if (type & PERF_SAMPLE_REGS_USER) {
		TRY(bytes_u64(&b, "abi", &nr));
		if (nr) {
			nr = (uint64_t)__builtin_popcountll(d->attr->sample_regs_user);
			TRY(bytes_skip(&b, "registers", 8 * nr));
		}
	}
	*ret = (uint32_t)(b.pos - b.start);
	return 0;
}

static void dump_put_stack(const struct dumped *d)
{
	uint32_t off = 0;

	if (dump_stack_offset(d, &off) < 0)
		err_clear();
	outbuf_fmt(d->out, "... ustack: size %llu, offset 0x%x\n",
		   (unsigned long long)d->sample->user_stack_len, off);
}

/* Uses the largest unit with a value of at least two: 1024K, 2M. */
static void dump_put_page_size(struct outbuf *out, const char *what, uint64_t bytes)
{
	static const char units[] = "BKMG";
	int unit = 0;

	if (!bytes) {
		outbuf_fmt(out, " .. %s page size: N/A\n", what);
		return;
	}
	for (; bytes / 1024 > 1 && unit < 3; unit++)
		bytes /= 1024;
	outbuf_fmt(out, " .. %s page size: %llu%c\n", what, (unsigned long long)bytes, units[unit]);
}

static void dump_put_weight(const struct dumped *d)
{
	uint64_t w = d->sample->weight;

	if (d->attr->sample_type & PERF_SAMPLE_WEIGHT) {
		outbuf_fmt(d->out, "... weight: %llu\n", (unsigned long long)w);
		return;
	}
	/* perf 6.1 on x86 never shows the third weight. */
	outbuf_fmt(d->out, "... weight: %u,0x%x,0x%x\n", (unsigned)(w & UINT32_MAX),
		   (unsigned)(w >> 32 & 0xffff),
		   d->ev->recording->opts->rules->lacks_third_weight ? 0 : (unsigned)(w >> 48));
}

static void dump_put_reads(const struct dumped *d)
{
	const struct sonde_sample *s = d->sample;
	uint64_t format = s->read_format;
	struct outbuf *out = d->out;

	outbuf_str(out, "... sample_read:\n");
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		outbuf_fmt(out, "...... time enabled %016llx\n",
			   (unsigned long long)s->time_enabled_ns);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		outbuf_fmt(out, "...... time running %016llx\n",
			   (unsigned long long)s->time_running_ns);
	if (format & PERF_FORMAT_GROUP)
		outbuf_fmt(out, ".... group nr %u\n", s->nr_reads);
	for (unsigned i = 0; i < s->nr_reads; i++) {
		outbuf_fmt(out, "..... id %016llx, value %016llx",
			   (unsigned long long)s->reads[i].id,
			   (unsigned long long)s->reads[i].value);
		if (format & PERF_FORMAT_LOST)
			outbuf_fmt(out, ", lost %llu", (unsigned long long)s->reads[i].lost);
		outbuf_char(out, '\n');
	}
}

static void dump_put_values(const struct dumped *d)
{
	const struct sonde_sample *s = d->sample;
	uint64_t type = d->attr->sample_type;
	struct outbuf *out = d->out;

	if (type & PERF_SAMPLE_CALLCHAIN)
		dump_put_chain(d);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		dump_put_branches(d);
	if (type & PERF_SAMPLE_REGS_USER)
		dump_put_regs(d, "user", s->user_regs_abi, s->user_regs_mask, s->user_regs);
	if (type & PERF_SAMPLE_REGS_INTR)
		dump_put_regs(d, "intr", s->intr_regs_abi, s->intr_regs_mask, s->intr_regs);
	if (type & PERF_SAMPLE_STACK_USER)
		dump_put_stack(d);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		dump_put_weight(d);
	if (type & PERF_SAMPLE_DATA_SRC)
		outbuf_fmt(out, " . data_src: 0x%llx\n", (unsigned long long)s->data_src);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		outbuf_fmt(out, " .. phys_addr: 0x%llx\n", (unsigned long long)s->phys_addr);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		dump_put_page_size(out, "data", s->data_page_size);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		dump_put_page_size(out, "code", s->code_page_size);
	if (type & PERF_SAMPLE_TRANSACTION)
		outbuf_fmt(out, "... transaction: %llx\n", (unsigned long long)s->transaction);
	if (type & PERF_SAMPLE_READ)
		dump_put_reads(d);
}

void perf_dump_sample_put(const struct event *ev, const struct perfdata_view_record *rec,
			  struct outbuf *out)
{
	struct sonde_sample sample = { .size = sizeof(sample) };
	struct event own = *ev;
	struct dumped d = { .ev = &own, .sample = &sample, .swap = rec->swap, .out = out };
	struct perfdata_layout layout;

	if (!rec->schema || !rec->schema->attr) {
		outbuf_char(out, '\n');
		return;
	}
	own.schema = rec->schema;
	d.attr = rec->schema->attr;
	if (source_sample(ev->source, &own, &sample) < 0) {
		err_clear();
		outbuf_str(out, " (damaged)\n");
		return;
	}
	if (!(d.attr->sample_type & PERF_SAMPLE_PERIOD))
		sample.period = d.attr->sample_period;
	perfdata_layout_of(d.attr, &layout);
	if (sample_extents_find(&layout, ev->pub.record, ev->pub.record_len, rec->swap,
				&d.extents) < 0)
		d.extents = (struct sample_extents){ 0 };
	outbuf_fmt(out, "(IP, 0x%x): %d/%d: %s%llx period: %llu addr: %s%llx\n", rec->misc,
		   rec->pid, rec->tid, sample.ip ? "0x" : "", (unsigned long long)sample.ip,
		   (unsigned long long)sample.period, sample.addr ? "0x" : "",
		   (unsigned long long)sample.addr);
	dump_put_values(&d);
}
