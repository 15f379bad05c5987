/* SPDX-License-Identifier: MIT */
#include "formats/blktrace/record.h"

#include "base/bytes.h"
#include "base/err.h"

enum { MAGIC_BYTES = 4, VERSION_MASK = 0xff, CGROUP_BYTES = 8 };

/* Payloads of a fixed layout are in network byte order on every recorded machine. */
static const bool big_is_swapped = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

bool blktrace_head_find(const uint8_t *p, size_t len, struct blktrace_head *ret)
{
	struct blktrace_head h = { 0 };
	uint32_t magic;
	size_t pdu_len_at, action_at;
	uint64_t action;

	if (len < MAGIC_BYTES)
		return false;
	magic = load_u32(p);
	if ((magic & ~(uint32_t)VERSION_MASK) != BLKTRACE_MAGIC) {
		magic = get_u32(p, true);
		h.swap = true;
		if ((magic & ~(uint32_t)VERSION_MASK) != BLKTRACE_MAGIC)
			return false;
	}
	h.version = magic & VERSION_MASK;
	switch (h.version) {
	case BLKTRACE_VERSION_7:
		h.header_bytes = sizeof(struct blktrace_header_7);
		pdu_len_at = offsetof(struct blktrace_header_7, pdu_len);
		action_at = offsetof(struct blktrace_header_7, action);
		break;
	case BLKTRACE_VERSION_8:
		h.header_bytes = sizeof(struct blktrace_header_8);
		pdu_len_at = offsetof(struct blktrace_header_8, pdu_len);
		action_at = offsetof(struct blktrace_header_8, action);
		break;
	default:
		return false;
	}
	if (len >= h.header_bytes) {
		h.bytes = h.header_bytes + get_u16(p + pdu_len_at, h.swap);
		h.time_ns = get_u64(p + offsetof(struct blktrace_header_7, time_ns), h.swap);
		action = h.version == BLKTRACE_VERSION_7 ? get_u32(p + action_at, h.swap)
							 : get_u64(p + action_at, h.swap);
		h.act = (uint16_t)action & (uint16_t)~BLKTRACE_ACT_CGROUP;
		h.is_note = action >> BLKTRACE_CATEGORY_SHIFT & BLKTRACE_NOTIFY;
	}
	*ret = h;
	return true;
}

/* The id of the control group is part of the payload, which pdu_len counts. */
static int record_take_cgroup(struct blktrace_record *rec)
{
	if (!(rec->act & BLKTRACE_ACT_CGROUP))
		return 0;
	rec->act &= (uint16_t)~BLKTRACE_ACT_CGROUP;
	if (rec->pdu_len < CGROUP_BYTES)
		return err_set(-EBADMSG,
			       "a payload of %u bytes, too short for the id of a control group",
			       rec->pdu_len);
	rec->cgroup = get_u64(rec->pdu, rec->swap);
	rec->pdu += CGROUP_BYTES;
	rec->pdu_len -= CGROUP_BYTES;
	return 0;
}

int blktrace_record_read(const struct blktrace_head *head, const uint8_t *p,
			 struct blktrace_record *ret)
{
	struct blktrace_record rec = {
		.swap = head->swap,
		.pdu = p + head->header_bytes,
		.pdu_len = head->bytes - head->header_bytes,
	};

#define FIELD(bits, layout, field) get_u##bits(p + offsetof(struct layout, field), head->swap)
	rec.sequence = FIELD(32, blktrace_header_7, sequence);
	rec.time_ns = FIELD(64, blktrace_header_7, time_ns);
	rec.sector = FIELD(64, blktrace_header_7, sector);
	rec.bytes = FIELD(32, blktrace_header_7, bytes);
	if (head->version == BLKTRACE_VERSION_7) {
		rec.action = FIELD(32, blktrace_header_7, action);
		rec.pid = FIELD(32, blktrace_header_7, pid);
		rec.device = FIELD(32, blktrace_header_7, device);
		rec.cpu = FIELD(32, blktrace_header_7, cpu);
		rec.error = FIELD(16, blktrace_header_7, error);
	} else {
		rec.action = FIELD(64, blktrace_header_8, action);
		rec.pid = FIELD(32, blktrace_header_8, pid);
		rec.device = FIELD(32, blktrace_header_8, device);
		rec.cpu = FIELD(32, blktrace_header_8, cpu);
		rec.error = FIELD(16, blktrace_header_8, error);
	}
#undef FIELD
	rec.act = (uint16_t)rec.action;
	rec.categories = (uint32_t)(rec.action >> BLKTRACE_CATEGORY_SHIFT);
	TRY(record_take_cgroup(&rec));
	*ret = rec;
	return 0;
}

/* ---- payloads -------------------------------------------------------------------------------- */

bool blktrace_remap_read(const struct blktrace_record *rec, struct blktrace_remap *ret)
{
	if (rec->pdu_len < 16)
		return false;
	ret->from_device = get_u32(rec->pdu, big_is_swapped);
	ret->to_device = get_u32(rec->pdu + 4, big_is_swapped);
	ret->from_sector = get_u64(rec->pdu + 8, big_is_swapped);
	return true;
}

bool blktrace_count_read(const struct blktrace_record *rec, uint64_t *ret)
{
	if (rec->pdu_len < 8)
		return false;
	*ret = get_u64(rec->pdu, big_is_swapped);
	return true;
}

bool blktrace_timestamp_read(const struct blktrace_record *rec, uint64_t *ret_wall_ns)
{
	if (rec->pdu_len < 8)
		return false;
	*ret_wall_ns = get_u32(rec->pdu, rec->swap) * (uint64_t)1000000000 +
		       get_u32(rec->pdu + 4, rec->swap);
	return true;
}

/* ---- letters --------------------------------------------------------------------------------- */

void blktrace_rwbs(const struct blktrace_record *rec, char ret[BLKTRACE_RWBS_BYTES])
{
	static const struct {
		uint32_t category;
		char letter;
	} flags[] = { { BLKTRACE_FUA, 'F' },
		      { BLKTRACE_AHEAD, 'A' },
		      { BLKTRACE_SYNC, 'S' },
		      { BLKTRACE_META, 'M' } };
	const uint32_t has = rec->categories;
	size_t n = 0;

	memset(ret, 0, BLKTRACE_RWBS_BYTES);
	if (has & BLKTRACE_NOTIFY) {
		ret[0] = 'N';
		return;
	}
	if (has & BLKTRACE_FLUSH)
		ret[n++] = 'F';
	/* A request without data is neither a read nor a write. */
	ret[n++] = has & BLKTRACE_DISCARD ? 'D'
		   : has & BLKTRACE_WRITE ? 'W'
		   : rec->bytes           ? 'R'
					  : 'N';
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (has & flags[i].category)
			ret[n++] = flags[i].letter;
}
