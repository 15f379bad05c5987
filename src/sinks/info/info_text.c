/* SPDX-License-Identifier: MIT */
/* Prints sonde info for people: lines of a word and its facts, then tables. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "recording/locate.h"
#include "sinks/info/info.h"
#include "sinks/text/terminal.h"

static const char *info_said(struct info_sink *s, const char *key)
{
	return source_fact(s->rec->source, key);
}

/* True if the source lists the key, even without a value. */
static bool info_is_listed(struct info_sink *s, const char *key)
{
	struct source_fact fact;

	for (size_t i = 0; source_fact_at(s->rec->source, i, &fact); i++) {
		if (!strcmp(fact.key, key))
			return true;
	}
	return false;
}

/* Prints the first word of a line; an empty word continues the previous line. */
static void info_put_word(struct outbuf *out, const char *word)
{
	outbuf_fmt(out, "%-12s ", word);
}

/* fraction: "" or ".123456789" */
static void info_put_date(struct outbuf *out, int64_t seconds, const char *fraction)
{
	time_t t = (time_t)seconds;
	char date[64] = "?", zone[16] = "";
	struct tm tm;

	if (localtime_r(&t, &tm)) {
		strftime(date, sizeof(date), "%F %T", &tm);
		strftime(zone, sizeof(zone), " %z", &tm);
	}
	outbuf_fmt(out, "%s%s%s", date, fraction, zone);
}

static void info_put_seconds(struct outbuf *out, uint64_t ns)
{
	outbuf_fmt(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

/* Prints words of any number, in lines of at most LINE_WIDTH columns where words allow it. */
static void info_put_words(struct outbuf *out, const char *label, const char *words)
{
	enum { LABEL_WIDTH = 13, LINE_WIDTH = 100 };
	size_t column = 0;

	for (const char *word = words + strspn(words, " "); *word;) {
		const size_t len = strcspn(word, " ");

		if (column && column + 1 + len <= LINE_WIDTH) {
			outbuf_char(out, ' ');
			column += 1 + len;
		} else {
			if (column)
				outbuf_char(out, '\n');
			info_put_word(out, column ? "" : label);
			column = LABEL_WIDTH + len;
		}
		outbuf_put(out, word, len);
		word += len;
		word += strspn(word, " ");
	}
	if (column)
		outbuf_char(out, '\n');
}

static void info_put_recording(struct info_sink *s, struct outbuf *out)
{
	const char *kind, *compressed, *changed;
	struct source_fact fact;
	uint64_t bytes = 0;
	unsigned files = 0;
	bool has_size = info_data(s, &files, &bytes);

	info_put_word(out, "recording");
	outbuf_str(out, s->input);
	kind = info_kind(s, files);
	outbuf_str(out, !strcmp(kind, "pipe")        ? ", pipe mode"
			: !strcmp(kind, "stream")    ? ", a stream"
			: !strcmp(kind, "directory") ? ", a directory"
			: info_said(s, "kind")       ? ""
						     : ", file mode");
	if (has_size)
		outbuf_fmt(out, ", %" PRIu64 " bytes of records", bytes);
	if (files > 1)
		outbuf_fmt(out, " in %u files", files);
	compressed = info_said(s, "compressed");
	if (compressed && !strcmp(compressed, "true"))
		outbuf_str(out, ", compressed");
	outbuf_char(out, '\n');
	changed = info_said(s, "changed");
	if (changed && strcmp(changed, "0") != 0) {
		info_put_word(out, "");
		outbuf_str(out, "last changed ");
		info_put_date(out, strtoll(changed, NULL, 10), "");
		outbuf_char(out, '\n');
	}
	for (size_t i = 0; source_fact_at(s->rec->source, i, &fact); i++) {
		if (!fact.label || !fact.value)
			continue;
		if (fact.form == FACT_WORDS) {
			info_put_words(out, fact.label, fact.value);
			continue;
		}
		info_put_word(out, fact.label);
		outbuf_fmt(out, "%s\n", fact.value);
	}
}

static void info_put_recorder(struct info_sink *s, struct outbuf *out)
{
	const char *version = info_said(s, "recorder"), *cmdline = info_said(s, "cmdline");

	if (info_is_listed(s, "recorder")) {
		info_put_word(out, "recorder");
		outbuf_fmt(out, "version %s\n", version ? version : "not recorded");
	}
	if (cmdline) {
		info_put_word(out, "");
		outbuf_fmt(out, "%s\n", cmdline);
	}
}

static void info_put_cpu_and_memory(struct info_sink *s, struct outbuf *out)
{
	const char *online = info_said(s, "nrcpus_online"),
		   *available = info_said(s, "nrcpus_available"), *cpu = info_said(s, "cpudesc"),
		   *memory = info_said(s, "memory_kb");
	uint64_t memory_kb = memory ? strtoull(memory, NULL, 10) : 0;

	if (!online && !available && !memory_kb && !cpu)
		return;
	info_put_word(out, "");
	if (available)
		outbuf_fmt(out, "%s of %s cpus", online ? online : "?", available);
	if (memory_kb)
		outbuf_fmt(out, "%s%" PRIu64 " MiB of memory", available ? ", " : "",
			   memory_kb / 1024);
	if (cpu)
		outbuf_fmt(out, "%s%s", available || memory_kb ? ", " : "", cpu);
	outbuf_char(out, '\n');
}

static void info_put_host(struct info_sink *s, struct outbuf *out)
{
	const char *host = info_said(s, "hostname"), *release = info_said(s, "osrelease"),
		   *arch = info_said(s, "arch"), *order = info_said(s, "byte_order"),
		   *long_bytes = info_said(s, "long_bytes");
	bool is_named = info_is_listed(s, "hostname");

	if (!is_named && !order)
		return;
	info_put_word(out, "host");
	if (is_named)
		outbuf_fmt(out, "%s, kernel %s, %s", host ? host : "name not recorded",
			   release ? release : "not recorded",
			   arch ? arch : "machine not recorded");
	if (order)
		outbuf_fmt(out, "%s%s-endian", is_named ? ", " : "", order);
	if (long_bytes)
		outbuf_fmt(out, ", %s bits", strcmp(long_bytes, "4") ? "64" : "32");
	outbuf_char(out, '\n');
	info_put_cpu_and_memory(s, out);
}

static void info_put_moment(struct outbuf *out, uint64_t wall_ns)
{
	char fraction[16];

	snprintf(fraction, sizeof(fraction), ".%09u", (unsigned)(wall_ns % 1000000000));
	info_put_date(out, (int64_t)(wall_ns / 1000000000), fraction);
}

static void info_put_clock(struct info_sink *s, struct outbuf *out)
{
	const struct recording_clock *on_wall = &s->rec->clock;
	struct source_clock c = source_read_clock(s->rec->source);
	uint64_t first, last;

	info_put_word(out, "clock");
	if (!c.is_known)
		outbuf_str(out, c.name ? c.name : "not recorded");
	else if (c.id < 0)
		outbuf_str(out, "the kernel's own for events");
	else if (info_clock_name(c.id))
		outbuf_str(out, info_clock_name(c.id));
	else
		outbuf_fmt(out, "number %d", c.id);
	if (c.has_resolution)
		outbuf_fmt(out, ", resolution %" PRIu64 " ns", c.resolution_ns);
	if (c.has_reference) {
		outbuf_str(out, ", ");
		info_put_seconds(out, c.clock_ns);
		outbuf_str(out, " was ");
		info_put_moment(out, c.wall_ns);
		outbuf_char(out, '\n');
	} else if (!c.is_known && !c.name) {
		outbuf_char(out, '\n');
	} else {
		outbuf_str(out, c.id == CLOCK_REALTIME ? ", the time of day\n"
						       : "; the time of day is not recorded\n");
	}
	info_put_word(out, "time");
	if (!info_span(s, &first, &last)) {
		outbuf_str(out, s->samples ? "samples have no times\n" : "not known\n");
		return;
	}
	info_put_seconds(out, first);
	outbuf_str(out, " to ");
	info_put_seconds(out, last);
	outbuf_str(out, ", ");
	info_put_seconds(out, last - first);
	outbuf_fmt(out, " s%s\n", s->samples ? "" : " (as the header says)");
	if (!on_wall->has_wall)
		return;
	info_put_word(out, "");
	info_put_moment(out, first + (uint64_t)on_wall->wall_ns);
	outbuf_str(out, " to ");
	info_put_moment(out, last + (uint64_t)on_wall->wall_ns);
	outbuf_char(out, '\n');
}

static uint64_t info_lost_of(struct info_sink *s, int32_t schema)
{
	uint64_t lost = 0;

	vec_foreach(l, &s->losses) {
		if (l->schema == schema && info_loss_counts(s, l))
			lost += l->lost;
	}
	return lost;
}

static void info_put_events(struct info_sink *s, struct outbuf *out)
{
	const struct sonde_schema *sc;
	bool counted = !s->no_events, by_type = s->traits.reports_types;

	if (!counted && s->traits.has_fixed_types)
		return;
	outbuf_str(out, !counted  ? "\nevents\n"
			: by_type ? "\n     samples         lost    throttled  event\n"
				  : "\n     samples  event\n");
	for (uint32_t id = 0; (sc = schema_at(&s->rec->all->schemas, id)) != NULL; id++) {
		struct info_event e = info_counts_of(s, sc);
		uint64_t lost = 0;

		if (!info_shows_event(s, sc))
			continue;
		for (const struct sonde_schema *each = sc; each; each = each->newer)
			lost += info_lost_of(s, (int32_t)each->id);
		if (counted)
			outbuf_fmt(out, "%12" PRIu64, e.samples);
		if (counted && by_type)
			outbuf_fmt(out, " %12" PRIu64 " %12" PRIu64, lost, e.throttled);
		outbuf_fmt(out, "  %s\n", schema_newest(sc)->name);
	}
}

static void info_put_cpus(struct info_sink *s, struct outbuf *out)
{
	bool has_printed = false;

	for (size_t cpu = 0; cpu < s->cpus.n; cpu++) {
		uint64_t lost = 0;

		vec_foreach(l, &s->losses)
			lost += l->cpu == (int32_t)cpu && info_loss_counts(s, l) ? l->lost : 0;
		if (!s->cpus.v[cpu] && !lost)
			continue;
		if (!has_printed)
			outbuf_str(out, "\n     samples         lost  cpu\n");
		has_printed = true;
		outbuf_fmt(out, "%12" PRIu64 " %12" PRIu64 "  %zu\n", s->cpus.v[cpu], lost, cpu);
	}
}

static void info_put_losses(struct info_sink *s, struct outbuf *out)
{
	bool has_printed = false;

	if (!s->traits.reports_types)
		return; /* info_put_cpus() prints the losses */
	vec_foreach(l, &s->losses) {
		const struct sonde_schema *sc =
			schema_at(&s->rec->all->schemas, (uint32_t)l->schema);

		if (!info_loss_counts(s, l))
			continue;
		if (!has_printed)
			outbuf_str(out, "\n        lost  cpu  event\n");
		has_printed = true;
		outbuf_fmt(out, "%12" PRIu64, l->lost);
		if (l->cpu < 0)
			outbuf_str(out, "    -");
		else
			outbuf_fmt(out, " %4d", l->cpu);
		outbuf_fmt(out, "  %s\n", sc ? sc->name : "-");
	}
}

static void info_put_records(struct info_sink *s, struct outbuf *out)
{
	if (s->kinds.n)
		outbuf_str(out, "\n     records  kind\n");
	vec_foreach(kind, &s->kinds)
		outbuf_fmt(out, "%12" PRIu64 "  %s\n", kind->records, kind->schema->event);
}

static void info_put_traces(struct info_sink *s, struct outbuf *out)
{
	uint64_t records, bytes;

	source_count_traces(s->rec->source, &records, &bytes);
	if (!records)
		return;
	outbuf_char(out, '\n');
	info_put_word(out, "trace");
	outbuf_fmt(out, "%" PRIu64 " bytes of a processor's in %" PRIu64 " records, not decoded",
		   bytes, records);
}

static void info_put_build_ids(struct info_sink *s, struct outbuf *out)
{
	size_t known = 0, missing = 0;

	outbuf_char(out, '\n');
	if (!source_has_build_ids(s->rec->source))
		return;
	vec_foreach(dso, &s->dsos.list) {
		known += build_id_is_known(&dso->build_id);
		missing += info_lacks_build_id(dso);
	}
	info_put_word(out, "build ids");
	outbuf_fmt(out, "of %zu files", known);
	if (s->no_events)
		outbuf_char(out, '\n');
	else
		outbuf_fmt(out, "; missing of %zu that have samples%s\n", missing,
			   missing ? ":" : "");
	vec_foreach(dso, &s->dsos.list) {
		if (info_lacks_build_id(dso))
			outbuf_fmt(out, "%13s%s\n", "", dso->name);
	}
}

/*
 * Prints the files that samples hit and whose functions are, all or mostly, printed as [unknown].
 */
static void info_put_unknown(struct info_sink *s, struct outbuf *out)
{
	size_t hit = 0, missing = 0;

	if (s->no_events)
		return;
	vec_foreach(dso, &s->dsos.list) {
		hit += dso->is_hit;
		missing += dso->unknown != SONDE_KNOWN;
	}
	if (!hit && !s->dsos.unmapped)
		return;
	info_put_word(out, "symbols");
	outbuf_fmt(out, "missing of %zu of %zu files that have samples%s\n", missing, hit,
		   missing ? ":" : "");
	vec_foreach(dso, &s->dsos.list) {
		if (dso->unknown)
			outbuf_fmt(out, "%13s%s: %s\n", "", dso->name,
				   locate_unknown_text(dso->unknown));
	}
	if (s->dsos.unmapped)
		outbuf_fmt(out, "%13s%" PRIu64 " samples: %s\n", "", s->dsos.unmapped,
			   locate_unknown_text(SONDE_UNKNOWN_NO_MAPPING));
}

static void info_put_defects(struct info_sink *s, struct outbuf *out)
{
	const struct sonde_defect *d;
	size_t i;

	info_put_word(out, "defects");
	for (i = 0; (d = recordings_defect(s->rec->all, i)) != NULL; i++) {
		if (i)
			info_put_word(out, "");
		outbuf_fmt(out, "%s: %" PRIu64 "%s%s%s; %s\n", d->name, d->count,
			   *d->first ? " (first " : "", d->first, *d->first ? ")" : "", d->advice);
	}
	if (!i)
		outbuf_str(out,
			   s->no_events ? "none so far: the events were not read\n" : "none\n");
}

static int text_open(struct sink **ret, const struct sink_options *opts)
{
	return info_open(ret, opts, &info_sink_ops);
}

static int text_finish(struct sink *sink, bool complete)
{
	struct info_sink *s = (struct info_sink *)sink;
	struct outbuf *out = &s->writer.out;

	TRY(info_sort_kinds(s));
	info_put_recording(s, out);
	info_put_recorder(s, out);
	info_put_host(s, out);
	info_put_clock(s, out);
	info_put_events(s, out);
	info_put_cpus(s, out);
	info_put_losses(s, out);
	info_put_records(s, out);
	info_put_traces(s, out);
	info_put_build_ids(s, out);
	info_put_unknown(s, out);
	info_put_defects(s, out);
	if (s->on_terminal)
		text_terminal_quiet(out, 0, true);
	return fd_writer_flush(&s->writer);
}

const struct sink_ops info_sink_ops = {
	.name = "info",
	.summary = "what the recording is, and what is counted of its events",
	.keys = info_keys,
	.nr_keys = NR_INFO_KEYS,
	.options_bytes = sizeof(struct info_options),
	.wants = info_wants,
	.open = text_open,
	.events = info_events,
	.finish = text_finish,
	.flush = info_flush,
	.close = info_close,
};
