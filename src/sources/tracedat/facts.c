/* SPDX-License-Identifier: MIT */
/* What the file says about itself and the recorded machine. */

#include <stdio.h>
#include <time.h>

#include "formats/tracedat/layout.h"
#include "model/event.h"
#include "sources/tracedat/tracedat.h"
#include "sources/tracedat/view.h"

/* ---- clocks ---------------------------------------------------------------------------------- */

static const struct tracedat_clock_kind clocks[] = {
	{ "local", -1, false, false },
	{ "global", -1, false, false },
	{ "perf", -1, false, false },
	{ "mono", CLOCK_MONOTONIC, false, false },
	{ "mono_raw", CLOCK_MONOTONIC_RAW, false, false },
	{ "boot", CLOCK_BOOTTIME, false, true },
	{ "tai", CLOCK_TAI, false, false },
	{ "tsc2nsec", -1, false, false },
	{ "uptime", -1, true, false },
	{ "counter", -1, true, true },
	{ "x86-tsc", -1, true, true },
	{ "ppc-tb", -1, true, true },
};

static const struct tracedat_clock_kind *facts_find_clock(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (strlen(clocks[i].name) == len && !memcmp(clocks[i].name, name, len))
			return &clocks[i];
	return NULL;
}

/* The text of trace_clock has all clocks; the selected one is in brackets. */
static const struct tracedat_clock_kind *facts_find_selected(const struct bytes *text)
{
	const size_t len = bytes_left(text);
	const uint8_t *open = len ? memchr(text->pos, '[', len) : NULL, *close;

	if (!open)
		return NULL;
	open++;
	close = memchr(open, ']', (size_t)(text->end - open));
	return close ? facts_find_clock((const char *)open, (size_t)(close - open)) : NULL;
}

/* The name in the option of a buffer may be wrong, so the text of trace_clock is asked first. */
const struct tracedat_clock_kind *tracedat_clock_of(const struct tracedat_source *s,
						    const struct tracedat_buffer *buffer)
{
	const struct tracedat_clock_kind *clock = facts_find_selected(&s->texts.clock);

	return clock || !buffer->clock ? clock
				       : facts_find_clock(buffer->clock, strlen(buffer->clock));
}

/* ---- facts ----------------------------------------------------------------------------------- */

enum fact {
	KIND,
	FORMAT,
	FORMAT_VERSION,
	FORMAT_TEXT,
	COMPRESSION,
	BUFFERS,
	CLOCK,
	HOSTNAME,
	RELEASE,
	RECORDER,
	MACHINE,
	CPUS,
	ENDIANNESS,
	LONG_BYTES
};

static const struct source_fact facts[] = {
	[KIND] = { .key = "kind" },
	[FORMAT] = { .key = "format" },
	[FORMAT_VERSION] = { .key = "format_version", .form = FACT_NUMBER },
	[FORMAT_TEXT] = { .key = "format_text", .label = "format", .about = FACT_TEXT_ONLY },
	[COMPRESSION] = { .key = "compression", .label = "compression" },
	[BUFFERS] = { .key = "buffers", .label = "buffers", .form = FACT_NUMBER },
	[CLOCK] = { .key = "trace_clock", .label = "trace clock" },
	[HOSTNAME] = { .key = "hostname", .about = FACT_HOST },
	[RELEASE] = { .key = "osrelease", .about = FACT_HOST },
	[RECORDER] = { .key = "recorder", .about = FACT_HOST },
	[MACHINE] = { .key = "arch", .about = FACT_HOST },
	[CPUS] = { .key = "nrcpus_available", .form = FACT_NUMBER, .about = FACT_HOST },
	[ENDIANNESS] = { .key = "byte_order", .about = FACT_HOST },
	[LONG_BYTES] = { .key = "long_bytes", .form = FACT_NUMBER, .about = FACT_HOST },
};

/* The i-th word of a text. Empty if there is none. */
static void facts_take_word(const struct bytes *text, unsigned i, char *to, size_t size)
{
	const char *at = (const char *)text->pos, *const end = (const char *)text->end;
	size_t n = 0;

	for (;; i--) {
		while (at < end && *at == ' ')
			at++;
		if (!i)
			break;
		while (at < end && *at != ' ' && *at)
			at++;
	}
	while (at<end && * at> ' ' && *at <= '~' && n < size - 1)
		to[n++] = *at++;
	to[n] = '\0';
}

/* uname: "Linux HOST RELEASE MACHINE". */
void tracedat_facts_read(struct tracedat_source *s)
{
	facts_take_word(&s->texts.uname, 1, s->hostname, sizeof(s->hostname));
	facts_take_word(&s->texts.uname, 2, s->release, sizeof(s->release));
	facts_take_word(&s->texts.uname, 3, s->machine, sizeof(s->machine));
	if (tracedat_count_cpus(s))
		snprintf(s->cpus, sizeof(s->cpus), "%u", tracedat_count_cpus(s));
	facts_take_word(&s->texts.recorder, 0, s->recorder, sizeof(s->recorder));
}

static const char *facts_text(const char *text)
{
	return *text ? text : NULL;
}

static const char *facts_number(struct tracedat_source *s, uint64_t v)
{
	snprintf(s->fact, sizeof(s->fact), "%llu", (unsigned long long)v);
	return s->fact;
}

/* NULL if the file does not say. */
static const char *facts_value(struct tracedat_source *s, enum fact fact)
{
	switch (fact) {
	case KIND:
		return "file";
	case FORMAT:
		return "trace.dat";
	case FORMAT_VERSION:
		return facts_number(s, s->start.version);
	case FORMAT_TEXT:
		snprintf(s->fact, sizeof(s->fact), "trace.dat, version %u", s->start.version);
		return s->fact;
	case COMPRESSION:
		return s->start.compression ? s->start.compression : "none";
	case BUFFERS:
		return facts_number(s, s->buffers.n);
	case CLOCK:
		return s->instances.n && s->instances.v[0].clock ? s->instances.v[0].clock->name
								 : NULL;
	case HOSTNAME:
		return facts_text(s->hostname);
	case RELEASE:
		return facts_text(s->release);
	case RECORDER:
		return facts_text(s->recorder);
	case MACHINE:
		return facts_text(s->machine);
	case CPUS:
		return *s->cpus ? s->cpus : NULL;
	case ENDIANNESS:
		return s->start.is_big ? "big" : "little";
	case LONG_BYTES:
		return s->abi.long_bytes == 4 ? "4" : "8";
	}
	return NULL;
}

bool tracedat_fact_at(struct source *source, size_t i, struct source_fact *ret)
{
	if (i >= sizeof(facts) / sizeof(*facts))
		return false;
	*ret = facts[i];
	ret->value = facts_value(tracedat_of(source), (enum fact)i);
	return true;
}

const char *tracedat_info(struct source *source, const char *key)
{
	static const struct {
		const char *key;
		enum fact fact;
	} keys[] = {
		{ "hostname", HOSTNAME },     { "osrelease", RELEASE },
		{ "version", RECORDER },      { "arch", MACHINE },
		{ "nrcpus-available", CPUS }, { "byte-order", ENDIANNESS },
		{ "long-bytes", LONG_BYTES },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!strcmp(keys[i].key, key))
			return facts_value(tracedat_of(source), keys[i].fact);
	return NULL;
}

/* ---- the view -------------------------------------------------------------------------------- */

/* The option's number, or the highest number of a cpu of the first buffer, as trace-cmd counts. */
uint32_t tracedat_count_cpus(const struct tracedat_source *s)
{
	const uint32_t listed = s->buffers.n ? s->buffers.v[0].nr_cpus : 0;

	return s->nr_cpus > listed ? s->nr_cpus : listed;
}

const char *tracedat_buffer_name(const struct tracedat_source *s, unsigned i)
{
	return i < s->instances.n ? s->instances.v[i].name : NULL;
}

const char *tracedat_buffer_of(const struct tracedat_source *s, const struct event *ev)
{
	const struct tracedat_instance *instance =
		ev->cut ? s->ranges.v[ev->cut->file].instance : NULL;

	return instance ? instance->name : "";
}

bool tracedat_has_plain_times(const struct tracedat_source *s)
{
	const struct tracedat_clock_kind *clock = facts_find_selected(&s->texts.clock);

	if (!bytes_left(&s->texts.clock) || s->tsc.mult)
		return false;
	return !clock || clock->is_plain;
}
