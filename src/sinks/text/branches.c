/* SPDX-License-Identifier: MIT */
#include "sinks/text/branches.h"

#include <string.h>

#include "base/err.h"
#include "recording/locate.h"
#include "model/callchain.h"
#include "sinks/text/fields.h"
#include "sinks/text/frames.h"
#include "sinks/text/machine_words.h"

/* sonde_branch.flags */
#define MISPREDICTED       1u
#define PREDICTED          2u
#define IN_TRANSACTION     4u
#define ABORTED            8u
#define CYCLES(flags)      ((unsigned)((flags) >> 4 & 0xffff))
#define SPECULATION(flags) ((unsigned)((flags) >> 24 & 3))

void text_branches_done(struct text_branches *b)
{
	vec_done(&b->loaded);
}

/* Prints "/P/X/A/12/CALL", with perf 6.12's rules also "/SPEC_WRONG_PATH". */
static void branches_put_flags(const struct rules *rules, uint64_t flags, struct outbuf *out)
{
	static const char *const speculation[] = { "-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH",
						   "SPEC_CORRECT_PATH" };
	char room[24], text[] = "/-/-/-/";

	if (flags & (MISPREDICTED | PREDICTED))
		text[1] = flags & PREDICTED ? 'P' : 'M';
	if (flags & IN_TRANSACTION)
		text[3] = 'X';
	if (flags & ABORTED)
		text[5] = 'A';
	outbuf_put(out, text, 7);
	outbuf_u64(out, CYCLES(flags));
	outbuf_char(out, '/');
	outbuf_str(out, branch_type_name(rules, flags, room));
	if (rules->shows_speculation) {
		outbuf_char(out, '/');
		outbuf_str(out, speculation[SPECULATION(flags)]);
	}
	outbuf_char(out, ' ');
}

/*
 * True if perf had loaded the file's symbols by now. It loads them for a sample's own address, and
 * from then on prints addresses instead of offsets.
 */
static bool branches_is_loaded(const struct text_branches *b, const char *dso)
{
	for (size_t i = 0; i < b->loaded.n; i++) {
		if (b->loaded.v[i] == dso)
			return true;
	}
	return false;
}

static void branches_note_loaded(struct text_branches *b, const struct event *ev, uint64_t ip)
{
	struct sonde_location loc;
	bool found; /* the file was found, with or without a symbol at ip */

	text_locate(ev, ip, ev->pub.cpumode, &loc);
	found = loc.sym || loc.unknown == SONDE_UNKNOWN_NO_SYMBOL ||
		loc.unknown == SONDE_UNKNOWN_STRIPPED;
	if (found && loc.dso && !branches_is_loaded(b, loc.dso) &&
	    vec_push(&b->loaded, loc.dso) < 0)
		err_clear();
}

/* The offset of an address in its mapped file; for the kernel, from the start of the mapping. */
static uint64_t branches_offset_of(const struct text_branches *b, const struct sonde_location *loc,
				   uint32_t mode, uint64_t addr)
{
	if (loc->map_end <= loc->map_start)
		return addr;
	if (mode == CPUMODE_KERNEL)
		return addr - loc->map_start;
	return branches_is_loaded(b, loc->dso) ? addr : addr - loc->map_start + loc->map_pgoff;
}

static void branches_put_place(struct text_branches *b, const struct event *ev, uint64_t addr,
			       uint64_t fields, struct outbuf *out)
{
	struct sonde_location loc = { 0 };
	uint32_t mode = 0;
	bool sym = fields & TEXT_BRSTACKSYM && !(fields & TEXT_BRSTACK);
	bool off = fields & TEXT_BRSTACKOFF && !(fields & (TEXT_BRSTACK | TEXT_BRSTACKSYM));

	if (sym || off || fields & TEXT_DSO) {
		mode = recording_address_mode(ev, addr);
		text_locate(ev, addr, mode, &loc);
	}
	if (sym) {
		text_symbol_put(&loc, TEXT_SYM | TEXT_SYMOFF, out);
	} else {
		if (off)
			addr = branches_offset_of(b, &loc, mode, addr);
		outbuf_put(out, "0x", 2);
		outbuf_hex(out, addr);
	}
	if (fields & TEXT_DSO) {
		if (b->rules->dso_behind_blank)
			outbuf_char(out, ' ');
		text_dso_put(&loc, fields & TEXT_NAMES, out);
	}
}

void text_branches_put(struct text_branches *b, const struct event *ev,
		       const struct sonde_sample *sample, uint64_t fields, struct outbuf *out)
{
	bool blank = fields & TEXT_BRSTACK || !(fields & TEXT_BRSTACKSYM);

	if (b->rules->branch_offsets_need_loaded && fields & TEXT_BRSTACKOFF)
		branches_note_loaded(b, ev, sample->ip);
	for (uint64_t i = 0; i < sample->nr_branches; i++) {
		const struct sonde_branch *branch = &sample->branches[i];

		if (blank)
			outbuf_char(out, ' ');
		branches_put_place(b, ev, branch->from, fields, out);
		outbuf_char(out, '/');
		branches_put_place(b, ev, branch->to, fields, out);
		branches_put_flags(b->rules, branch->flags, out);
	}
}
