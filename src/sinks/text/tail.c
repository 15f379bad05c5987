/* SPDX-License-Identifier: MIT */
/* Writes the columns after the payload, in their order. */
#include "model/registers.h"
#include "recording/locate.h"
#include "sinks/text/bpf_output.h"
#include "model/data_src.h"
#include "sinks/text/line.h"

#define BRANCHES     (TEXT_BRSTACK | TEXT_BRSTACKSYM | TEXT_BRSTACKOFF)
#define MEMORY       (TEXT_ADDR | TEXT_DATA_SRC | TEXT_WEIGHT | TEXT_INS_LAT | TEXT_RETIRE_LAT)
#define PAGES        (TEXT_PHYS_ADDR | TEXT_DATA_PAGE_SIZE | TEXT_CODE_PAGE_SIZE)
#define BRANCH_CODE  (TEXT_BRSTACKINSN | TEXT_BRSTACKINSNLEN | TEXT_BRSTACKDISASM)
#define CODE         (TEXT_INSN | TEXT_INSNLEN | BRANCH_CODE)
#define NAME_COLUMNS ((uint32_t)TEXT_NAMES)

/*
 * Prints like perf: in the largest unit, up to G, that gives more than one, and without the
 * remainder.
 */
static void tail_put_page_size_in_units(uint64_t bytes, struct outbuf *out)
{
	int unit = 0;

	for (; bytes / 1024 > 1 && unit < 3; unit++)
		bytes /= 1024;
	outbuf_fmt(out, " %llu%c", (unsigned long long)bytes, "BKMG"[unit]);
}

static void tail_put_page_size(const struct rules *rules, uint64_t bytes, struct outbuf *out)
{
	int unit = 0;

	if (!bytes) {
		outbuf_put(out, " N/A", 4);
	} else if (rules->page_sizes_in_units) {
		tail_put_page_size_in_units(bytes, out);
	} else {
		for (; bytes >= 1024 && !(bytes % 1024); unit++)
			bytes /= 1024;
		outbuf_fmt(out, " %llu%c", (unsigned long long)bytes, "BKMGTPE"[unit]);
	}
}

/* Prints the registers' abi, then "   AX:0x0 " for each register. */
static void tail_put_registers(const struct recording *rec, uint64_t abi, uint64_t mask,
			       const uint64_t *values, struct outbuf *out)
{
	const char *arch;
	char room[16];

	if (!abi)
		return;
	arch = recording_info(rec, "arch");
	outbuf_fmt(out, " ABI:%llu ", (unsigned long long)abi);
	for (; mask; mask &= mask - 1) {
		const char *name = register_name(rec->opts->rules, arch,
						 (unsigned)__builtin_ctzll(mask), room);

		outbuf_fmt(out, "%5s:0x%llx ", name, (unsigned long long)*values++);
	}
}

static void tail_put_addr(struct text_sink *s, const struct event *ev, const struct line *line)
{
	uint32_t names = line->addr_has_names ? (uint32_t)line->fields & NAME_COLUMNS : 0;

	text_address_put(&s->frames, ev, s->sample.addr, recording_address_mode(ev, s->sample.addr),
			 names & ~(uint32_t)TEXT_SRCLINE, &s->writer.out);
}

/* Prints the memory access: its address, the source of its data, its duration. */
static void tail_put_memory(struct text_sink *s, const struct event *ev, const struct line *line)
{
	struct outbuf *out = &s->writer.out;
	uint64_t fields = line->fields, weight = s->sample.weight;

	if (fields & TEXT_ADDR)
		tail_put_addr(s, ev, line);
	if (fields & TEXT_DATA_SRC)
		data_src_put(s->rules, s->sample.data_src, &s->data_src_width, out);
	if (fields & TEXT_WEIGHT)
		outbuf_u64_width(out, line->weight_struct ? (uint32_t)weight : weight, 16, ' ');
	if (!line->weight_struct)
		weight = 0;
	if (fields & TEXT_INS_LAT)
		outbuf_u64_width(out, weight >> 32 & 0xffff, 16, ' ');
	if (fields & TEXT_RETIRE_LAT)
		outbuf_u64_width(out, weight >> 48, 16, ' ');
}

static void tail_put_cgroup(const struct text_sink *s, const struct event *ev, struct outbuf *out)
{
	const char *path = recording_cgroup(ev->recording, s->sample.cgroup);

	outbuf_char(out, ' ');
	outbuf_str(out, path ? path : "unknown");
}

static void tail_put_ip(struct text_sink *s, const struct event *ev, const struct line *line,
			uint32_t names)
{
	struct outbuf *out = &s->writer.out;

	if (line->has_chain) {
		outbuf_char(out, '\n');
		text_callchain_put(&s->frames, ev, names, out);
	} else {
		outbuf_char(out, ' ');
		text_address_put(&s->frames, ev, s->sample.ip, ev->pub.cpumode, names, out);
	}
}

static void tail_put_pages(const struct text_sink *s, uint64_t fields, struct outbuf *out)
{
	if (fields & TEXT_PHYS_ADDR)
		outbuf_hex_width(out, s->sample.phys_addr, 16, ' ');
	if (fields & TEXT_DATA_PAGE_SIZE)
		tail_put_page_size(s->rules, s->sample.data_page_size, out);
	if (fields & TEXT_CODE_PAGE_SIZE)
		tail_put_page_size(s->rules, s->sample.code_page_size, out);
}

static void tail_put_code(struct text_sink *s, const struct event *ev, uint64_t fields,
			  struct outbuf *out)
{
	if (fields & (TEXT_INSN | TEXT_INSNLEN))
		text_insn_put(ev, s->sample.ip, ev->pub.cpumode, fields & TEXT_INSNLEN,
			      fields & TEXT_INSN, out);
	if (fields & BRANCH_CODE)
		text_brstackinsn_put(&s->code, ev, &s->sample, fields, out);
}

/* Prints a branch's source and target instead of the ordinary columns. */
static void tail_put_branch(struct text_sink *s, const struct event *ev, const struct line *line)
{
	struct outbuf *out = &s->writer.out;
	uint32_t names = (uint32_t)line->fields & NAME_COLUMNS;
	bool line_last = !line->has_chain && line->fields & TEXT_IP && names & TEXT_SRCLINE;
	struct sonde_location loc;

	if (line->fields & TEXT_CALLINDENT && line->fields & TEXT_DSO &&
	    !(line->fields & (TEXT_IP | TEXT_ADDR))) {
		text_locate(ev, s->sample.ip, ev->pub.cpumode, &loc);
		text_dso_put(&loc, TEXT_DSO, out);
		outbuf_char(out, '\t');
	}
	if (line->fields & TEXT_IP)
		tail_put_ip(s, ev, line, line_last ? names & ~(uint32_t)TEXT_SRCLINE : names);
	if (line->branch_addr) {
		outbuf_put(out, " => ", 4);
		tail_put_addr(s, ev, line);
	}
	if (line_last)
		text_srcline_put(&s->code, ev, s->sample.ip, ev->pub.cpumode, "\n  ", out);
	if (line->fields & CODE)
		tail_put_code(s, ev, line->fields, out);
}

void text_tail_put(struct text_sink *s, const struct event *ev, const struct line *line)
{
	const struct sonde_sample *sample = &s->sample;
	struct outbuf *out = &s->writer.out;
	uint64_t fields = line->fields;

	if (line->is_branch) {
		tail_put_branch(s, ev, line);
		return;
	}
	if (fields & MEMORY)
		tail_put_memory(s, ev, line);
	if (fields & TEXT_CGROUP)
		tail_put_cgroup(s, ev, out);
	if (fields & TEXT_IP)
		tail_put_ip(s, ev, line, (uint32_t)fields & NAME_COLUMNS);
	if (fields & TEXT_IREGS)
		tail_put_registers(ev->recording, sample->intr_regs_abi, sample->intr_regs_mask,
				   sample->intr_regs, out);
	if (fields & TEXT_UREGS)
		tail_put_registers(ev->recording, sample->user_regs_abi, sample->user_regs_mask,
				   sample->user_regs, out);
	if (fields & BRANCHES)
		text_branches_put(&s->branches, ev, sample, fields, out);
	if (fields & TEXT_BPF_OUTPUT && line->is_bpf_output)
		text_bpf_output_put(ev->pub.bytes, ev->pub.bytes_len, out);
	if (fields & CODE)
		tail_put_code(s, ev, fields, out);
	if (fields & PAGES)
		tail_put_pages(s, fields, out);
}
