/* SPDX-License-Identifier: MIT */
#include "formats/perfdata/attr.h"

#include <string.h>

#include "base/bytes.h"
#include "model/sampled.h"
#include "model/schema.h"

/*
 * The widths in bytes of the members in file order, for byte swapping. Offset 40 is the flag word.
 */
static const uint8_t widths[] = {
	4, 4, 8, 8, 8,
	8, /* type size config period sample_type read_format */
	0, /* 40: flags, see below */
	4, 4, 8, 8, 8,
	8, /* wakeup bp_type config1 config2 branch_sample_type sample_regs_user */
	4, 4, 8, 4, 2,
	2, /* sample_stack_user clockid sample_regs_intr aux_watermark sample_max_stack reserved */
	4, 4, 8, 8, 8 /* aux_sample_size aux_action sig_data config3 config4 */
};

static uint8_t attr_reverse_bits(uint8_t v)
{
	v = (uint8_t)((v & 0xf0) >> 4 | (v & 0x0f) << 4);
	v = (uint8_t)((v & 0xcc) >> 2 | (v & 0x33) << 2);
	return (uint8_t)((v & 0xaa) >> 1 | (v & 0x55) << 1);
}

static void attr_swap(uint8_t *p, size_t len)
{
	size_t off = 0;

	for (size_t i = 0; i < sizeof(widths); i++) {
		size_t width = widths[i] ? widths[i] : 8;

		if (off + width > len)
			return;
		if (!widths[i]) {
			/*
			 * Big-endian machines allocate bit fields from the other end: the bits of
			 * each byte are reversed, the bytes stay in place.
			 */
			for (size_t b = 0; b < 8; b++)
				p[off + b] = attr_reverse_bits(p[off + b]);
			/*
			 * precise_ip (bits 15 and 16) is the only field of two bits; its high bit
			 * is first.
			 */
			if (p[off + 1] >> 7 != (p[off + 2] & 1)) {
				p[off + 1] ^= 0x80;
				p[off + 2] ^= 1;
			}
		} else {
			for (size_t b = 0; b < width / 2; b++) {
				uint8_t t = p[off + b];

				p[off + b] = p[off + width - 1 - b];
				p[off + width - 1 - b] = t;
			}
		}
		off += width;
	}
}

void perfdata_attr_read(const uint8_t *p, size_t len, bool swap, struct perf_event_attr *ret,
			uint32_t *ret_size)
{
	uint8_t copy[sizeof(struct perf_event_attr)] = { 0 };
	uint32_t size = PERFDATA_ATTR_MIN_BYTES;

	if (len >= 8 && get_u32(p + 4, swap))
		size = get_u32(p + 4, swap);
	/* The entry may be padded. */
	if (len > size && len > PERFDATA_ATTR_MIN_BYTES)
		len = size < PERFDATA_ATTR_MIN_BYTES ? PERFDATA_ATTR_MIN_BYTES : size;
	if (len > sizeof(copy))
		len = sizeof(copy);
	memcpy(copy, p, len);
	if (swap)
		attr_swap(copy, sizeof(copy));
	memcpy(ret, copy, sizeof(*ret));
	*ret_size = size;
}

/* Places the fields after the fixed ones. */
static void attr_place_variable(const struct perf_event_attr *attr, struct perfdata_layout *l)
{
	const uint64_t type = attr->sample_type, format = attr->read_format;
	const bool is_group = format & PERF_FORMAT_GROUP;
	const uint32_t member = 1u + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);

	l->has_read = type & PERF_SAMPLE_READ;
	l->has_chain = type & PERF_SAMPLE_CALLCHAIN;
	l->has_raw = type & PERF_SAMPLE_RAW;
	if (l->has_read) {
		l->member_words = is_group ? member : 0;
		l->read_words = (is_group ? 1 : member) +
				!!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
				!!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	}
	if (l->has_raw && !l->has_chain && !l->member_words)
		l->raw = l->first_variable + l->read_words * 8;
	l->least = l->raw ? l->raw + 4 : l->first_variable;
}

void perfdata_layout_of(const struct perf_event_attr *attr, struct perfdata_layout *ret)
{
	struct perfdata_layout l = { 0 };
	uint64_t type = attr->sample_type;
	uint32_t off = 8, end = 0;

#define PLACE(bit, member)              \
	do {                            \
		if (type & (bit)) {     \
			l.member = off; \
			off += 8;       \
		}                       \
	} while (0)
	PLACE(PERF_SAMPLE_IDENTIFIER, id);
	PLACE(PERF_SAMPLE_IP, ip);
	PLACE(PERF_SAMPLE_TID, tid);
	PLACE(PERF_SAMPLE_TIME, time);
	PLACE(PERF_SAMPLE_ADDR, addr);
	if (type & PERF_SAMPLE_ID) {
		if (!l.id)
			l.id = off;
		off += 8;
	}
	PLACE(PERF_SAMPLE_STREAM_ID, stream_id);
	PLACE(PERF_SAMPLE_CPU, cpu);
	PLACE(PERF_SAMPLE_PERIOD, period);
#undef PLACE
	l.first_variable = off;
	attr_place_variable(attr, &l);

#define FROM_END(bit, member)           \
	do {                            \
		if (type & (bit)) {     \
			end += 8;       \
			l.member = end; \
		}                       \
	} while (0)
	if (attr->sample_id_all) {
		FROM_END(PERF_SAMPLE_IDENTIFIER, end_id);
		FROM_END(PERF_SAMPLE_CPU, end_cpu);
		if (type & PERF_SAMPLE_STREAM_ID)
			end += 8;
		if (type & PERF_SAMPLE_ID) {
			end += 8;
			if (!l.end_id)
				l.end_id = end;
		}
		FROM_END(PERF_SAMPLE_TIME, end_time);
		FROM_END(PERF_SAMPLE_TID, end_tid);
	}
#undef FROM_END
	l.trailer_bytes = end;
	*ret = l;
}

/* ---- in terms of the model ------------------------------------------------------------------- */

#define SAME(name) \
	_Static_assert(SAMPLED_##name == (uint64_t)PERF_SAMPLE_##name, "the kernel's number")
SAME(IP);
SAME(TID);
SAME(TIME);
SAME(ADDR);
SAME(READ);
SAME(CALLCHAIN);
SAME(CPU);
SAME(PERIOD);
SAME(RAW);
SAME(BRANCH_STACK);
SAME(REGS_USER);
SAME(STACK_USER);
SAME(WEIGHT);
SAME(DATA_SRC);
SAME(IDENTIFIER);
SAME(TRANSACTION);
SAME(REGS_INTR);
SAME(PHYS_ADDR);
SAME(CGROUP);
SAME(DATA_PAGE_SIZE);
SAME(CODE_PAGE_SIZE);
SAME(WEIGHT_STRUCT);
#undef SAME
_Static_assert(READ_TIME_ENABLED == PERF_FORMAT_TOTAL_TIME_ENABLED &&
		       READ_TIME_RUNNING == PERF_FORMAT_TOTAL_TIME_RUNNING &&
		       READ_ID == PERF_FORMAT_ID && READ_LOST == PERF_FORMAT_LOST,
	       "the kernel's numbers");
_Static_assert((int)EVENT_HARDWARE == PERF_TYPE_HARDWARE &&
		       (int)EVENT_SOFTWARE == PERF_TYPE_SOFTWARE &&
		       (int)EVENT_TRACEPOINT == PERF_TYPE_TRACEPOINT &&
		       (int)EVENT_HW_CACHE == PERF_TYPE_HW_CACHE &&
		       (int)EVENT_RAW == PERF_TYPE_RAW &&
		       (int)EVENT_BREAKPOINT == PERF_TYPE_BREAKPOINT,
	       "the kernel's numbers");

/* Constants that the kernel headers of some build machines do not have. */
#define TYPE_SYNTH            (INT32_MAX + 1u)    /* perf's own */
#define SAMPLE_BRANCH_COUNTER (UINT64_C(1) << 19) /* PERF_SAMPLE_BRANCH_COUNTERS */

static unsigned attr_software_traits(uint64_t config)
{
	switch (config) {
	case PERF_COUNT_SW_DUMMY:
		return SCHEMA_DUMMY;
	case PERF_COUNT_SW_BPF_OUTPUT:
		return SCHEMA_BPF_OUTPUT;
	case PERF_COUNT_SW_PAGE_FAULTS:
	case PERF_COUNT_SW_PAGE_FAULTS_MIN:
	case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
		return SCHEMA_ADDR_IN_TASK;
	default:
		return 0;
	}
}

/* perf takes every hardware event with this bit for branches. */
static unsigned attr_hardware_traits(const struct perf_event_attr *attr)
{
	if (attr->sample_period != 1)
		return 0;
	return (attr->config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS ? SCHEMA_BRANCH : 0) |
	       (attr->config & PERF_COUNT_HW_BRANCH_INSTRUCTIONS ? SCHEMA_LIKE_BRANCH : 0);
}

void perfdata_attr_describe(const struct perf_event_attr *attr, struct sonde_schema *sc)
{
	uint64_t branches = attr->branch_sample_type;

	sc->event_class = attr->type == TYPE_SYNTH     ? EVENT_SYNTH
			  : attr->type < PERF_TYPE_MAX ? (enum event_class)attr->type
						       : EVENT_OTHER;
	sc->traits = (branches & PERF_SAMPLE_BRANCH_ANY ? SCHEMA_ALL_BRANCHES : 0) |
		     (branches & SAMPLE_BRANCH_COUNTER ? SCHEMA_BRANCH_COUNTERS : 0) |
		     (branches & PERF_SAMPLE_BRANCH_CALL_STACK ? SCHEMA_CALL_STACKS : 0) |
		     (attr->comm_exec ? SCHEMA_MARKS_EXEC : 0);
	if (attr->type == PERF_TYPE_SOFTWARE)
		sc->traits |= attr_software_traits(attr->config);
	if (attr->type == PERF_TYPE_HARDWARE)
		sc->traits |= attr_hardware_traits(attr);
	sc->sampled = attr->sample_type;
}
