/* SPDX-License-Identifier: MIT */
/*
 * Finds the ends and times of records. Notes act when they are read, other records at their time.
 */

#include "sources/blktrace/blktrace.h"

/* No record begins here, so the rest of the file cannot be cut. */
static int cut_damaged(const struct blktrace_source *s, unsigned file, const uint8_t *rec,
		       uint64_t file_off)
{
	defects_add(s->opts.read_defects, DEFECT_BAD_SIZE, 1,
		    "at 0x%llx of %.120s: %02x %02x %02x %02x begin no record",
		    (unsigned long long)file_off, s->files.v[file].path, rec[0], rec[1], rec[2],
		    rec[3]);
	return -EBADMSG;
}

int blktrace_cut(const struct source *source, unsigned file,
		 struct unit *unit __attribute__((unused)), const uint8_t *p, size_t len,
		 uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used, size_t *ret_need)
{
	const struct blktrace_source *s = blktrace_const_of(source);
	size_t at = 0;
	int n = 0;

	*ret_need = 0;
	*ret_used = 0;
	for (; n < max; n++) {
		struct blktrace_head head;

		if (len - at < sizeof(uint32_t)) {
			*ret_need = sizeof(struct blktrace_header_7);
			break;
		}
		if (!blktrace_head_find(p + at, len - at, &head)) {
			if (!n)
				return cut_damaged(s, file, p + at, file_off + at);
			break; /* reported when it is the first one */
		}
		if (!head.bytes || len - at < head.bytes) {
			*ret_need = head.bytes ? head.bytes : head.header_bytes;
			break;
		}
		ret[n] = (struct cut){
			.time_ns = head.time_ns,
			.file_off = file_off + at,
			.bytes = p + at,
			.len = head.bytes,
			.file = (uint16_t)file,
			.order = CUT_ORDERED,
			.flags = CUT_SAMPLE,
		};
		if (head.is_note && head.act != BLKTRACE_NOTE_MESSAGE) {
			ret[n].time_ns = 0;
			ret[n].order = CUT_AT_ONCE;
			ret[n].flags = 0;
		}
		if (s->opts.unordered)
			ret[n].order = CUT_AT_ONCE;
		at += head.bytes;
	}
	*ret_used = at;
	return n;
}
