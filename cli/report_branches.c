/* SPDX-License-Identifier: MIT */
#include "report_branches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* By the numbers of sonde_profile_branches.types. */
static const char *const report_branch_types[] = {
	NULL,         "COND",    "UNCOND", "IND",       "CALL",       "IND_CALL",
	"RET",        "SYSCALL", "SYSRET", "COND_CALL", "COND_RET",   "ERET",
	"IRQ",        "SERROR",  "NO_TX",  NULL,        "FAULT_ALGN", "FAULT_DATA",
	"FAULT_INST", "ARCH_1",  "ARCH_2", "ARCH_3",    "ARCH_4",     "ARCH_5",
};

#define NR_TYPES (sizeof(report_branch_types) / sizeof(*report_branch_types))
enum { COND = 1 }; /* counted by direction at a frame */

/* A list in brackets that is being written: its first word opens it. */
struct branch_words {
	FILE *f;
	bool is_open;
};

static FILE *report_branches_begin(struct branch_words *w)
{
	fputs(w->is_open ? " " : " (", w->f);
	w->is_open = true;
	return w->f;
}

static void report_branches_put_word(struct branch_words *w, const char *word, uint64_t count)
{
	if (count)
		fputs(word, report_branches_begin(w));
}

static void report_branches_put_percent(struct branch_words *w, const char *word, uint64_t part,
					uint64_t all)
{
	/* perf has single precision here. */
	const float percent = (float)((double)part * 100.0 / (double)all);

	fprintf(report_branches_begin(w), "%s:%.1f%%", word, (double)percent);
}

static void report_branches_put_number(struct branch_words *w, const char *word, uint64_t n)
{
	fprintf(report_branches_begin(w), "%s:%" PRIu64, word, n);
}

static void report_branches_put_target(struct branch_words *w,
				       const struct sonde_profile_branches *b)
{
	report_branches_put_word(w, "COND_FWD", b->forward);
	report_branches_put_word(w, "COND_BWD", b->backward);
	for (size_t i = 0; i < NR_TYPES; i++) {
		if (report_branch_types[i] && i != COND)
			report_branches_put_word(w, report_branch_types[i], b->types[i]);
	}
	report_branches_put_word(w, "CROSS_4K", b->cross_4k);
	report_branches_put_word(w, "CROSS_2M", b->cross_2m);
	if (b->predicted < b->branches)
		report_branches_put_percent(w, "predicted", b->predicted, b->branches);
	if (b->aborted * 1000 >= b->branches && b->aborted)
		report_branches_put_percent(w, "abort", b->aborted, b->branches);
}

static void report_branches_put_source(struct branch_words *w,
				       const struct sonde_profile_branches *b, bool as_perf)
{
	const uint64_t sources = b->sources - (as_perf ? b->first_is_source : 0);

	if (b->cycles / b->branches)
		report_branches_put_number(w, "cycles", b->cycles / b->branches);
	if (!sources || !(b->iterations / sources))
		return;
	report_branches_put_number(w, "iter", b->iterations / sources);
	report_branches_put_number(w, "avg_cycles", b->loop_cycles / b->iterations);
}

char *report_branches_text(const struct sonde_profile_branches *b, bool as_perf)
{
	struct branch_words w = { 0 };
	char *text = NULL;
	size_t len;

	if (!b->branches)
		return strdup(" (calltrace)");
	w.f = open_memstream(&text, &len);
	if (!w.f)
		return NULL;
	if (b->is_target)
		report_branches_put_target(&w, b);
	else
		report_branches_put_source(&w, b, as_perf);
	if (w.is_open)
		fputc(')', w.f);
	if (fclose(w.f)) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- of all branches ------------------------------------------------------------------------- */

static void report_branches_put_share(FILE *out, const char *word, uint64_t count, uint64_t all)
{
	if (count)
		fprintf(out, "\n%8s: %5.1f%%", word, 100.0 * (double)count / (double)all);
}

bool report_branches_put_types(FILE *out, const struct sonde_profile_branches *b)
{
	uint64_t all = 0;

	for (size_t i = 0; i < NR_TYPES; i++)
		all += b->types[i];
	if (!all)
		return false;
	fputs("\n#\n# Branch Statistics:\n#", out);
	report_branches_put_share(out, "COND_FWD", b->forward, all);
	report_branches_put_share(out, "COND_BWD", b->backward, all);
	report_branches_put_share(out, "CROSS_4K", b->cross_4k, all);
	report_branches_put_share(out, "CROSS_2M", b->cross_2m, all);
	for (size_t i = 0; i < NR_TYPES; i++) {
		if (report_branch_types[i])
			report_branches_put_share(out, report_branch_types[i], b->types[i], all);
	}
	return true;
}
