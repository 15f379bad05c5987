/* SPDX-License-Identifier: MIT */
#include "sinks/text/options.h"

#include "base/err.h"
#include "sinks/text/fields.h"

static const char *const color_words[] = { "never", "always", NULL };

const struct key text_keys[NR_TEXT_KEYS] = {
	KEY_TEXT("fields", struct text_options, fields),
	KEY_FLAG("ns", struct text_options, ns),
	KEY_FLAG("deltatime", struct text_options, deltatime),
	KEY_FLAG("latency", struct text_options, latency),
	KEY_NUMBER("max-blocks", struct text_options, max_blocks, 0, KEY_NO_NUMBER - 1),
	KEY_FLAG("full-source-path", struct text_options, full_source_path),
	KEY_FLAG("per-event-dump", struct text_options, per_event_dump),
	KEY_FLAG("dump", struct text_options, dump),
	KEY_FLAG("header-info", struct text_options, header_info),
	KEY_WORD("color", struct text_options, color, color_words),
	LINE_OPTIONS_KEYS(struct text_options, lines),
};

int text_options_check(const struct sink_options *opts)
{
	const struct text_options *o = opts->own;
	struct text_fields fields;

	if (opts->clock && o->dump)
		return err_set(-EINVAL, "a dump (-D) shows times as they were recorded: leave out "
					"clock");
	if (opts->nr_inputs > 1 && (o->dump || o->per_event_dump))
		return err_set(-EINVAL, "%s: one recording at a time, not %u",
			       o->dump ? "dump (-D)" : "per-event-dump", opts->nr_inputs);
	return o->fields ? text_fields_parse(&fields, o->fields, true, opts->rules, NULL) : 0;
}

struct sink_wants text_options_wants(const struct sink_options *opts)
{
	const struct text_options *o = opts->own;

	return (struct sink_wants){
		.samples = o->lines.header < HEADER_ONLY,
		.results = true,
		.raw_records = o->dump || o->lines.show_round,
		.record_lines = o->dump || line_options_show_any(&o->lines),
		.refused_samples = o->dump,
		/* perf does not sort if it prints the rounds. */
		.unordered = opts->rules->rounds_are_unsorted && o->lines.show_round,
	};
}

void text_options_notes(const struct sink_options *opts, struct outbuf *out)
{
	const struct text_options *o = opts->own;
	struct text_fields fields;

	if (o->fields &&
	    text_fields_parse(&fields, o->fields, opts->callchain, opts->rules, out) < 0)
		err_clear();
}
