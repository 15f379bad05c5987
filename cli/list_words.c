/* SPDX-License-Identifier: MIT */
/* The classes of events, and the words that select events. */
#include "list.h"

#include <fnmatch.h>
#include <string.h>

static const char raw_form[] =
	"A number of the processor's own event, from its manual; or an event source with its "
	"terms, which 'sonde list pmu' lists.";
static const char breakpoint_form[] =
	"Accesses to an address: r reads, w writes, x executes; 1, 2, 4 or 8 bytes.";
/* Counted by sonde stat itself; there are no samples of them. */
static const char duration_time[] = "Nanoseconds that the run took. Only sonde stat counts them.";
static const char user_time[] = "Nanoseconds in user space. Only sonde stat counts them.";
static const char system_time[] = "Nanoseconds in the kernel. Only sonde stat counts them.";

/* clang-format off */
const struct list_class list_classes[] = {
	{ .kind = SONDE_EVENT_HARDWARE, .words = { "hw", "hardware" },
	  .title = "hardware", .perf_title = "Hardware event" },
	{ .kind = SONDE_EVENT_SOFTWARE, .words = { "sw", "software" },
	  .title = "software", .perf_title = "Software event" },
	{ .words = { "tool" }, .title = "tool", .ours = true,
	  .fixed = { "duration_time", "user_time", "system_time" },
	  .descriptions = { duration_time, user_time, system_time } },
	{ .words = { "sw", "software" }, .perf_title = "Tool event", /* as perf selects them */
	  .perf_fixed = { "duration_time", "user_time", "system_time" } },
	{ .kind = SONDE_EVENT_CACHE, .words = { "cache", "hwcache" },
	  .title = "cache", .perf_title = "Hardware cache event" },
	{ .kind = SONDE_EVENT_PMU, .words = { "pmu" }, .has_sources = true,
	  .title = "pmu", .perf_title = "Kernel PMU event" },
	{ .kind = SONDE_EVENT_PFM, .words = { "pfm" }, .title = "pfm", .ours = true },
	{ .words = { "raw" }, .title = "raw", .perf_title = "Raw hardware event descriptor",
	  .fixed = { "rHEX", "SOURCE/TERM=VALUE,.../" }, .is_form = true, .ours = true,
	  .descriptions = { NULL, raw_form },
	  .perf_fixed = { "rNNN", "cpu/t1=v1[,t2=v2,t3 ...]/modifier" } },
	{ .words = { "breakpoint" }, .title = "breakpoint", .perf_title = "Hardware breakpoint",
	  .fixed = { "mem:ADDRESS[/BYTES][:rwx]" }, .is_form = true, .ours = true,
	  .descriptions = { breakpoint_form },
	  .perf_fixed = { "mem:<addr>[/len][:access]" } },
	{ .kind = SONDE_EVENT_TRACEPOINT, .words = { "tracepoint" },
	  .title = "tracepoint", .perf_title = "Tracepoint event" },
	{ .kind = SONDE_EVENT_TRACEPOINT, .words = { "probe" }, .title = "tracepoint",
	  .probes_only = true, .ours = true },
	{ .kind = SONDE_EVENT_SDT, .words = { "sdt" },
	  .title = "sdt", .perf_title = "SDT event" },
};
/* clang-format on */
const size_t list_nr_classes = sizeof(list_classes) / sizeof(*list_classes);

bool list_is_asked_by_name(const struct event_listing *l, const struct list_class *c,
			   const char *word)
{
	if (l->rules->list_takes_word_by_word && c->ours)
		return false;
	for (size_t i = 0; i < 3 && c->words[i]; i++)
		if (!strcmp(c->words[i], word))
			return true;
	return false;
}

bool list_is_class_word(const struct event_listing *l, const char *word)
{
	for (size_t i = 0; i < list_nr_classes; i++)
		if (list_is_asked_by_name(l, &list_classes[i], word))
			return true;
	return false;
}

/* Events whose names are SYSTEM:EVENT. */
static bool list_words_has_systems(const struct list_class *c)
{
	return c->kind == SONDE_EVENT_TRACEPOINT || c->kind == SONDE_EVENT_SDT;
}

/* True if a word with a colon may match names of class c. */
static bool list_words_takes_colon(const struct list_class *c, const char *word)
{
	return list_words_has_systems(c) ||
	       (c->kind == SONDE_EVENT_PFM && !strncasecmp(word, "pfm:", 4));
}

/* A word matches any part of a name, except in SYSTEM:EVENT. */
static bool list_words_match(const struct event_listing *l, const char *word, const char *name)
{
	const bool any_case =
		!l->rules->list_matches_events_only || l->class->kind == SONDE_EVENT_PMU;
	char glob[512];

	if (strchr(word, ':'))
		return list_words_takes_colon(l->class, word) &&
		       fnmatch(word, name, any_case ? FNM_CASEFOLD : 0) == 0;
	if (l->rules->list_matches_events_only && list_words_has_systems(l->class))
		name = strchr(name, ':') + 1; /* perf does not match systems */
	snprintf(glob, sizeof(glob), "*%s*", word);
	return fnmatch(glob, name, any_case ? FNM_CASEFOLD : 0) == 0;
}

static bool list_words_select(const struct event_listing *l, const char *word, const char *name,
			      const char *alias)
{
	if (list_is_class_word(l, word))
		return list_is_asked_by_name(l, l->class, word);
	if (l->class->is_form || l->class->probes_only)
		return false;
	return list_words_match(l, word, name) || (alias && list_words_match(l, word, alias));
}

bool list_is_asked_for(const struct event_listing *l, const char *name, const char *alias)
{
	bool asked = !l->nr_words;

	for (int i = 0; i < l->nr_words; i++)
		if (list_words_select(l, l->words[i], name, alias))
			asked = l->found[i] = true;
	return asked;
}

bool list_is_left_out(const struct event_listing *l, const struct list_class *c)
{
	if (l->rules->list_in_perfs_form && !c->perf_title)
		return true;
	if (c->probes_only && !l->nr_words)
		return true; /* among the tracepoints */
	for (int i = 0; i < l->nr_words; i++)
		if (list_is_class_word(l, l->words[i]) || c->probes_only
			    ? list_is_asked_by_name(l, c, l->words[i])
			    : !strchr(l->words[i], ':') || list_words_takes_colon(c, l->words[i]))
			return false;
	return l->nr_words > 0;
}

bool list_is_wanted_alone(const struct event_listing *l, const struct list_class *c)
{
	for (int i = 0; i < l->nr_words; i++)
		if (list_is_asked_by_name(l, c, l->words[i]) ||
		    (strchr(l->words[i], ':') && list_words_takes_colon(c, l->words[i])))
			return true;
	return false;
}
