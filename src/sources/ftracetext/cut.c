/* SPDX-License-Identifier: MIT */
/* Finds the records of text and their times. A record without a time acts when it is read. */

#include "sources/ftracetext/ftracetext.h"

/*
 * Finds the record that begins at p. *ret_len: its bytes, 0 if they are no record. False if its end
 * is not in the window.
 */
static bool cut_record(const uint8_t *p, size_t len, bool is_last, size_t *ret_used,
		       size_t *ret_len, struct ftracetext_line *ret)
{
	struct ftracetext_line line;
	size_t at = 0, bytes, main = 0;
	bool is_first = true;

	*ret_len = 0;
	for (; at < len; at += bytes) {
		if (!ftracetext_next_line(p + at, len - at, &line, &bytes) && !is_last &&
		    len - at <= FTRACETEXT_LONGEST_LINE && at < FTRACETEXT_LONGEST_RECORD)
			return false;
		if (main && (line.kind != FTRACETEXT_OTHER || ret->kind == FTRACETEXT_GRAPH ||
			     at + bytes > FTRACETEXT_LONGEST_RECORD))
			break;
		if (main) {
			*ret_len = at + bytes;
			continue;
		}
		if (is_first)
			*ret = line;
		if (line.kind == FTRACETEXT_LOST && at + bytes < FTRACETEXT_LONGEST_RECORD) {
			is_first = false;
			*ret_len = at + bytes;
			continue;
		}
		/* A comment, or a line that belongs to nothing, after lines of losses. */
		if (!is_first && line.kind != FTRACETEXT_EVENT)
			break;
		if (bytes > FTRACETEXT_LONGEST_LINE || line.kind == FTRACETEXT_HEAD) {
			*ret = line;
			*ret_used = at + bytes;
			*ret_len = 0;
			return true;
		}
		*ret = line;
		*ret_len = at + bytes;
		if (line.kind != FTRACETEXT_EVENT) {
			at += bytes;
			break;
		}
		main = at + 1;
	}
	if (at == len && !is_last && main)
		return false; /* the next line may belong to it */
	*ret_used = at;
	return true;
}

int ftracetext_cut(const struct source *source, unsigned file,
		   struct unit *unit __attribute__((unused)), const uint8_t *p, size_t len,
		   uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		   size_t *ret_need)
{
	const struct ftracetext_source *s = ftracetext_const_of(source);
	size_t at = 0;
	int n = 0;

	*ret_need = 0;
	if (len > s->file_bytes - file_off)
		len = (size_t)(s->file_bytes - file_off);
	while (n < max && at < len) {
		const bool is_last = file_off + len >= s->file_bytes;
		struct ftracetext_line line = { 0 };
		size_t used = 0, bytes = 0;

		if (!cut_record(p + at, len - at, is_last, &used, &bytes, &line)) {
			*ret_need = len - at + 1;
			break;
		}
		if (!bytes && line.kind != FTRACETEXT_HEAD)
			defects_add(s->opts.read_defects, DEFECT_BAD_RECORD, 1,
				    "a line of %zu bytes at 0x%llx of %.120s", used,
				    (unsigned long long)(file_off + at), s->opts.path);
		if (bytes)
			ret[n++] = (struct cut){
				.time_ns = line.time_ns,
				.file_off = file_off + at,
				.bytes = p + at,
				.len = (uint32_t)bytes,
				.file = (uint16_t)file,
				.order = line.has_time && !s->opts.unordered ? CUT_ORDERED
									     : CUT_AT_ONCE,
				.flags = CUT_SAMPLE,
			};
		at += used;
	}
	*ret_used = at;
	return n;
}
