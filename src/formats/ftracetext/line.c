/* SPDX-License-Identifier: MIT */
#include "formats/ftracetext/line.h"

#include <string.h>

struct place {
	const char *at, *end;
};

static void line_skip_blanks(struct place *p)
{
	while (p->at < p->end && *p->at == ' ')
		p->at++;
}

static bool line_take(struct place *p, const char *text)
{
	const size_t n = strlen(text);

	if ((size_t)(p->end - p->at) < n || memcmp(p->at, text, n) != 0)
		return false;
	p->at += n;
	return true;
}

/* At most 20 digits. *ret_digits may be NULL. */
static bool line_number(struct place *p, uint64_t *ret, unsigned *ret_digits)
{
	unsigned n = 0;
	uint64_t v = 0;

	for (; p->at < p->end && *p->at >= '0' && *p->at <= '9' && n < 20; p->at++, n++)
		v = v * 10 + (uint64_t)(*p->at - '0');
	*ret = v;
	if (ret_digits)
		*ret_digits = n;
	return n > 0;
}

static bool line_small(struct place *p, int32_t *ret)
{
	uint64_t v;

	if (!line_number(p, &v, NULL) || v > INT32_MAX)
		return false;
	*ret = (int32_t)v;
	return true;
}

/* ---- columns --------------------------------------------------------------------------------- */

/*
 * "12.345678", nanoseconds with nine decimals, or a counter without a point. In the latency format
 * "12us+": microseconds since the trace began.
 */
static bool line_time(struct place *p, struct ftracetext_line *ret)
{
	uint64_t whole, part = 0;
	unsigned digits = 0;

	line_skip_blanks(p);
	if (!line_number(p, &whole, NULL))
		return false;
	if (p->at < p->end && *p->at == '.') {
		p->at++;
		if (!line_number(p, &part, &digits) || digits > 9 ||
		    whole > UINT64_MAX / 1000000000 - 1)
			return false;
		for (; digits < 9; digits++)
			part *= 10;
		whole = whole * 1000000000 + part;
	} else if (line_take(p, "us")) {
		if (whole > UINT64_MAX / 1000 || p->at == p->end || !strchr(" !+#*@$", *p->at))
			return false;
		whole *= 1000;
		p->at++;
	}
	ret->time_ns = whole;
	ret->has_time = true;
	return true;
}

static bool line_hex_digit(char c, uint8_t *ret)
{
	*ret = c == '.'               ? 0
	       : c >= '0' && c <= '9' ? (uint8_t)(c - '0')
	       : c >= 'a' && c <= 'f' ? (uint8_t)(c - 'a' + 10)
				      : 255;
	return *ret != 255;
}

/* The columns of irqs, rescheduling, interrupts, preemption: each has letters of its own. */
static bool line_flags(struct place *p, struct ftracetext_line *ret)
{
	enum {
		IRQS = 1,
		LAZY = 2,
		NEED = 4,
		HARD = 8,
		SOFT = 16,
		PREEMPT = 32,
		NMI = 64,
		BH = 128
	};
	static const struct {
		char letter;
		uint8_t bits;
	} columns[3][9] = {
		{ { '.', 0 }, { 'd', IRQS }, { 'D', IRQS | BH }, { 'b', BH }, { 'X', LAZY } },
		{ { '.', 0 },
		  { 'N', NEED | PREEMPT },
		  { 'n', NEED },
		  { 'p', PREEMPT },
		  { 'B', NEED | PREEMPT | LAZY },
		  { 'L', NEED | LAZY },
		  { 'b', PREEMPT | LAZY },
		  { 'l', LAZY } },
		{ { '.', 0 },
		  { 'H', HARD | SOFT },
		  { 'h', HARD },
		  { 's', SOFT },
		  { 'Z', NMI | HARD },
		  { 'z', NMI } },
	};
	const char *at = p->at;
	uint8_t flags = 0, low = 0, high = 0;

	if (p->end - at < 5)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		unsigned k = 0;

		while (k < 9 && columns[i][k].letter && columns[i][k].letter != at[i])
			k++;
		if (k == 9 || !columns[i][k].letter)
			return false;
		flags |= columns[i][k].bits;
	}
	if (!line_hex_digit(at[3], &low))
		return false;
	at += 4;
	if (*at != ' ' && !line_hex_digit(*at++, &high))
		return false;
	/* Some kernels have another column, the depth of the big lock. */
	if (at < p->end && *at != ' ')
		at++;
	if (at == p->end || *at != ' ')
		return false;
	p->at = at;
	ret->flags = flags;
	ret->preempt = (uint8_t)(high << 4 | low);
	ret->has_flags = true;
	return true;
}

/* "(1234) ", "(-----) ": the process. It may be left out. */
static bool line_tgid(struct place *p, struct ftracetext_line *ret)
{
	if (!line_take(p, "("))
		return true;
	line_skip_blanks(p);
	if (!line_small(p, &ret->tgid))
		while (p->at < p->end && *p->at == '-')
			p->at++;
	if (!line_take(p, ")"))
		return false;
	line_skip_blanks(p);
	return true;
}

/* "[001] d..2. 12.345678: TEXT", or "1d..2. 12us+: TEXT" of the latency format. */
static bool line_after_pid(struct place *p, struct ftracetext_line *ret)
{
	struct place again;

	line_skip_blanks(p);
	if (!line_tgid(p, ret))
		return false;
	if (line_take(p, "[")) {
		if (!line_small(p, &ret->cpu) || !line_take(p, "] "))
			return false;
		line_skip_blanks(p);
		again = *p;
		if (!line_flags(p, ret))
			*p = again;
	} else if (line_small(p, &ret->cpu) && line_flags(p, ret)) {
		ret->is_latency = true;
	} else {
		return false;
	}
	if (!line_time(p, ret))
		return false;
	line_skip_blanks(p);
	if (!line_take(p, ":"))
		return false;
	if (p->at < p->end && *p->at == ' ')
		p->at++;
	ret->text = p->at;
	ret->text_len = (size_t)(p->end - p->at);
	return true;
}

/* "COMM-PID ...". A name may have any character, so each '-' is tried. */
static bool line_event(const char *line, const char *end, struct ftracetext_line *ret)
{
	const struct ftracetext_line empty = *ret;
	const char *first = line;

	while (first < end && *first == ' ')
		first++;
	for (const char *dash = first; dash < end && dash - first < 64; dash++) {
		struct place p = { dash + 1, end };

		if (*dash != '-' || dash == first)
			continue;
		*ret = empty;
		if (!line_small(&p, &ret->pid) || p.at == end || *p.at != ' ' ||
		    !line_after_pid(&p, ret))
			continue;
		ret->kind = FTRACETEXT_EVENT;
		ret->comm = first;
		ret->comm_len = (size_t)(dash - first);
		return true;
	}
	*ret = empty;
	return false;
}

/* " 1)   0.382 us    |  f();", after "12.345678 | " if times are shown. */
static bool line_graph(const char *line, const char *end, struct ftracetext_line *ret)
{
	const struct ftracetext_line empty = *ret;
	struct place p = { line, end };

	if (line_time(&p, ret)) {
		line_skip_blanks(&p);
		if (!line_take(&p, "|")) {
			*ret = empty;
			p.at = line;
		}
	} else {
		p.at = line;
	}
	line_skip_blanks(&p);
	ret->text = p.at;
	if (!line_small(&p, &ret->cpu) || !line_take(&p, ")") || p.at == end ||
	    (*p.at != ' ' && *p.at != '=')) {
		*ret = empty;
		return false;
	}
	ret->kind = FTRACETEXT_GRAPH;
	ret->text_len = (size_t)(end - ret->text);
	return true;
}

/* "CPU:1 [LOST 123 EVENTS]" */
static bool line_lost(const char *line, const char *end, struct ftracetext_line *ret)
{
	struct place p = { line, end };
	int32_t cpu;
	uint64_t lost;

	if (!line_take(&p, "CPU:") || !line_small(&p, &cpu) || !line_take(&p, " [LOST "))
		return false;
	if (!line_number(&p, &lost, NULL))
		lost = 0;
	line_skip_blanks(&p);
	if (!line_take(&p, "EVENTS]"))
		return false;
	ret->kind = FTRACETEXT_LOST;
	ret->cpu = cpu;
	ret->lost = lost;
	return true;
}

void ftracetext_line_read(const char *line, size_t len, struct ftracetext_line *ret)
{
	const char *end = line + len;

	*ret = (struct ftracetext_line){
		.pid = -1,
		.tgid = -1,
		.cpu = -1,
		.text = line,
		.text_len = len,
	};
	if (!len || *line == '#')
		ret->kind = FTRACETEXT_HEAD;
	else if (!line_lost(line, end, ret) && !line_graph(line, end, ret))
		line_event(line, end, ret);
}

bool ftracetext_counts_read(const char *line, size_t len, uint64_t *ret_kept, uint64_t *ret_written)
{
	struct place p = { line, line + len };

	return line_take(&p, "# entries-in-buffer/entries-written: ") &&
	       line_number(&p, ret_kept, NULL) && line_take(&p, "/") &&
	       line_number(&p, ret_written, NULL);
}
