/* SPDX-License-Identifier: MIT */
#include "formats/perfdata/sample.h"

enum { BRANCH_BYTES = 24 };

void sample_scratch_done(struct sample_scratch *s)
{
	vec_done(&s->reads);
	vec_done(&s->branches);
	vec_done(&s->user_regs);
	vec_done(&s->intr_regs);
}

/* One member of READ values: value, [id], [lost]. */
static int sample_read_member(uint64_t read_format, struct bytes *b, struct sonde_read_value *ret)
{
	*ret = (struct sonde_read_value){ 0 };
	TRY(bytes_u64(b, "read value", &ret->value));
	if (!(read_format & PERF_FORMAT_GROUP))
		return 0;
	if (read_format & PERF_FORMAT_ID)
		TRY(bytes_u64(b, "read id", &ret->id));
	if (read_format & PERF_FORMAT_LOST)
		TRY(bytes_u64(b, "read lost", &ret->lost));
	return 0;
}

int sample_reads_read(uint64_t format, struct bytes *b, struct sample_scratch *scratch,
		      struct sonde_sample *ret)
{
	struct sonde_read_value v = { 0 };
	uint64_t nr = 1;

	vec_clear(&scratch->reads);
	if (format & PERF_FORMAT_GROUP)
		TRY(bytes_u64(b, "number of read values", &nr));
	else
		TRY(sample_read_member(format, b, &v));
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		TRY(bytes_u64(b, "time enabled", &ret->time_enabled_ns));
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		TRY(bytes_u64(b, "time running", &ret->time_running_ns));
	if (format & PERF_FORMAT_GROUP) {
		if (nr > bytes_left(b) / 8)
			return bytes_fail(b, -EBADMSG, "%llu read values do not fit",
					  (unsigned long long)nr);
		TRY(vec_reserve(&scratch->reads, nr));
		while (nr--) {
			TRY(sample_read_member(format, b, &v));
			TRY(vec_push(&scratch->reads, v));
		}
	} else {
		if (format & PERF_FORMAT_ID)
			TRY(bytes_u64(b, "read id", &v.id));
		if (format & PERF_FORMAT_LOST)
			TRY(bytes_u64(b, "read lost", &v.lost));
		TRY(vec_push(&scratch->reads, v));
	}
	ret->reads = scratch->reads.v;
	ret->nr_reads = (uint32_t)scratch->reads.n;
	return 0;
}

/*
 * Branch flags are bit fields, which big-endian machines allocate from the highest bit. Renumbers
 * them field by field as little-endian machines do.
 */
static uint64_t sample_flags_of_big_endian(uint64_t flags)
{
	/* mispred predicted in_tx abort cycles type spec new_type priv reserved */
	static const uint8_t widths[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3, 31 };
	unsigned from = 64, to = 0;
	uint64_t r = 0;

	for (size_t i = 0; i < sizeof(widths); i++) {
		from -= widths[i];
		r |= (flags >> from & ((UINT64_C(1) << widths[i]) - 1)) << to;
		to += widths[i];
	}
	return r;
}

static int sample_read_branches(const struct perf_event_attr *attr, struct bytes *b,
				struct sample_scratch *scratch, struct sonde_sample *ret)
{
	uint64_t nr = 0;

	TRY(bytes_u64(b, "number of branches", &nr));
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		TRY(bytes_u64(b, "branch hw_idx", &ret->branch_hw_idx));
	if (nr > bytes_left(b) / BRANCH_BYTES)
		return bytes_fail(b, -EBADMSG, "%llu branches do not fit", (unsigned long long)nr);
	vec_clear(&scratch->branches);
	TRY(vec_reserve(&scratch->branches, nr));
	for (uint64_t i = 0; i < nr; i++) {
		struct sonde_branch *branch = &scratch->branches.v[scratch->branches.n++];

		TRY(bytes_u64(b, "branch from", &branch->from));
		TRY(bytes_u64(b, "branch to", &branch->to));
		TRY(bytes_u64(b, "branch flags", &branch->flags));
		if (b->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
			branch->flags = sample_flags_of_big_endian(branch->flags);
	}
	if (attr->branch_sample_type & (1u << 19)) /* PERF_SAMPLE_BRANCH_COUNTERS */
		TRY(bytes_skip(b, "branch counters", nr * 8));
	ret->branches = scratch->branches.v;
	ret->nr_branches = nr;
	return 0;
}

struct regs {
	uint64_t abi;
	const uint64_t *values;
};

static int sample_read_regs(struct bytes *b, uint64_t mask, struct u64_vec *values,
			    struct regs *ret)
{
	TRY(bytes_u64(b, "registers abi", &ret->abi));
	vec_clear(values);
	if (ret->abi) {
		TRY(vec_reserve(values, 64));
		for (int n = __builtin_popcountll(mask); n > 0; n--)
			TRY(bytes_u64(b, "register", &values->v[values->n++]));
	}
	ret->values = values->v;
	return 0;
}

static int sample_read_user_stack(struct bytes *b, struct sonde_sample *ret)
{
	uint64_t size = 0, dyn_size = 0;

	TRY(bytes_u64(b, "user stack size", &size));
	if (!size)
		return 0;
	TRY(bytes_take(b, "user stack", size, &ret->user_stack));
	TRY(bytes_u64(b, "user stack dyn_size", &dyn_size));
	ret->user_stack_len = dyn_size < size ? dyn_size : size;
	return 0;
}

int sample_extents_find(const struct perfdata_layout *l, const uint8_t *rec, uint32_t len,
			bool swap, struct sample_extents *ret)
{
	uint64_t pos = l->first_variable + l->read_words * 8, nr;

	*ret = (struct sample_extents){ 0 };
	if (l->member_words) {
		if (l->first_variable + 8 > len)
			return -EBADMSG;
		nr = get_u64(rec + l->first_variable, swap);
		if (nr > len / 8)
			return -EBADMSG;
		pos += nr * l->member_words * 8;
	}
	if (l->has_chain) {
		if (pos + 8 > len)
			return -EBADMSG;
		nr = get_u64(rec + pos, swap);
		pos += 8;
		if (nr > (len - pos) / 8)
			return -EBADMSG;
		ret->chain = rec + pos;
		ret->nr_chain = (uint32_t)nr;
		pos += nr * 8;
	}
	if (l->has_raw) {
		if (pos + 4 > len)
			return -EBADMSG;
		nr = get_u32(rec + pos, swap);
		pos += 4;
		if (nr > len - pos)
			return -EBADMSG;
		ret->raw = rec + pos;
		ret->raw_len = (uint32_t)nr;
	}
	return 0;
}

int sample_read(const struct perf_event_attr *attr, const struct perfdata_layout *l, struct bytes b,
		struct sample_scratch *scratch, struct sonde_sample *ret)
{
	uint64_t type = attr->sample_type, nr = 0;
	struct sonde_sample s = {
		.size = sizeof(s),
		.present = type,
		.read_format = attr->read_format,
	};
	struct regs regs = { 0 };
	uint32_t raw_len = 0;

	if (bytes_left(&b) < l->first_variable)
		return bytes_fail(&b, -EBADMSG,
				  "a sample of %zu bytes is shorter than its fixed fields (%u)",
				  bytes_left(&b), l->first_variable);
#define FIXED(member, at)                                           \
	do {                                                        \
		if (at)                                             \
			s.member = get_u64(b.start + (at), b.swap); \
	} while (0)
	FIXED(ip, l->ip);
	FIXED(addr, l->addr);
	FIXED(id, l->id);
	FIXED(stream_id, l->stream_id);
	FIXED(period, l->period);
#undef FIXED
	b.pos = b.start + l->first_variable;
	if (type & PERF_SAMPLE_READ)
		TRY(sample_reads_read(attr->read_format, &b, scratch, &s));
	if (type & PERF_SAMPLE_CALLCHAIN) {
		TRY(bytes_u64(&b, "call chain length", &nr));
		if (nr > bytes_left(&b) / 8)
			return bytes_fail(&b, -EBADMSG, "a call chain of %llu entries does not fit",
					  (unsigned long long)nr);
		TRY(bytes_skip(&b, "call chain", nr * 8));
	}
	if (type & PERF_SAMPLE_RAW) {
		TRY(bytes_u32(&b, "raw size", &raw_len));
		TRY(bytes_skip(&b, "raw data", raw_len));
		s.raw_len = raw_len;
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		TRY(sample_read_branches(attr, &b, scratch, &s));
	if (type & PERF_SAMPLE_REGS_USER) {
		TRY(sample_read_regs(&b, attr->sample_regs_user, &scratch->user_regs, &regs));
		s.user_regs_abi = regs.abi;
		s.user_regs = regs.values;
		s.user_regs_mask = attr->sample_regs_user;
	}
	if (type & PERF_SAMPLE_STACK_USER)
		TRY(sample_read_user_stack(&b, &s));
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		TRY(bytes_u64(&b, "weight", &s.weight));
	if (type & PERF_SAMPLE_DATA_SRC)
		TRY(bytes_u64(&b, "data_src", &s.data_src));
	if (type & PERF_SAMPLE_TRANSACTION)
		TRY(bytes_u64(&b, "transaction", &s.transaction));
	if (type & PERF_SAMPLE_REGS_INTR) {
		TRY(sample_read_regs(&b, attr->sample_regs_intr, &scratch->intr_regs, &regs));
		s.intr_regs_abi = regs.abi;
		s.intr_regs = regs.values;
		s.intr_regs_mask = attr->sample_regs_intr;
	}
	if (type & PERF_SAMPLE_PHYS_ADDR)
		TRY(bytes_u64(&b, "phys_addr", &s.phys_addr));
	if (type & PERF_SAMPLE_CGROUP)
		TRY(bytes_u64(&b, "cgroup", &s.cgroup));
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		TRY(bytes_u64(&b, "data_page_size", &s.data_page_size));
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		TRY(bytes_u64(&b, "code_page_size", &s.code_page_size));
	/* AUX follows; its bytes are for trace decoders. */
	*ret = s;
	return 0;
}
