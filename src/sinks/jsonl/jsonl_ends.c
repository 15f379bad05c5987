/* SPDX-License-Identifier: MIT */
/*
 * Writes the first line (the header's facts), the last line (the summary), and the lines of
 * defects.
 */
#include "recording/recording.h"
#include "sinks/sink_json.h"
#include "sinks/jsonl/jsonl.h"
#include "sources/source.h"

void jsonl_header_put(const struct jsonl_sink *s, struct outbuf *out)
{
	static const char *const clock_words[] = { [CLOCK_SHOWN_RELATIVE] = "relative",
						   [CLOCK_SHOWN_UTC] = "utc",
						   [CLOCK_SHOWN_LOCAL] = "utc" };
	struct json j = json_to(out);

	json_object(&j);
	json_member_object(&j, "header");
	json_member_text(&j, "schema", "sonde-jsonl");
	json_member_u64(&j, "version", JSONL_VERSION);
	json_member_text(&j, "sonde", SONDE_VERSION);
	json_member_text(&j, "input", s->input);
	if (s->clock)
		json_member_text(&j, "clock", clock_words[s->clock]);
	sink_json_facts(&j, s->recordings->v->source);
	if (s->recordings->nr > 1)
		json_member_array(&j, "inputs");
	for (size_t i = 0; i < s->recordings->nr && s->recordings->nr > 1; i++) {
		const struct recording *rec = &s->recordings->v[i];

		json_object(&j);
		json_member_text(&j, "input", rec->input);
		sink_json_facts(&j, rec->source);
		json_end(&j);
	}
	json_end_line(&j);
}

void jsonl_defect_put(const struct recording *rec, struct outbuf *out)
{
	struct json j = json_to(out);

	json_object(&j);
	json_member_text(&j, "defect", rec->reported.name);
	sink_json_defect(&j, &rec->reported);
	if (rec->all->nr > 1)
		json_member_u64(&j, "input", rec->nr);
	json_end_line(&j);
}

void jsonl_summary_put(const struct jsonl_sink *s, bool complete, struct outbuf *out)
{
	const struct defects *defects;
	const struct sonde_defect *d;
	struct json j = json_to(out);
	uint64_t events = 0;

	for (uint32_t id = 0; id < s->types.n; id++) {
		const struct sonde_schema *sc = schema_at(&s->recordings->schemas, id);

		if (sc && sc->kind <= SONDE_SAMPLE)
			events += s->types.v[id].count;
	}
	defects = recordings_defects(s->recordings);
	complete &= !defects->count[DEFECT_ENDED_EARLY];
	json_object(&j);
	json_member_object(&j, "summary");
	json_member_bool(&j, "complete", complete);
	json_member_u64(&j, "events", events);
	json_member_u64(&j, "lost", defects->count[DEFECT_LOST_EVENTS]);
	json_member_array(&j, "defects");
	for (size_t i = 0; (d = recordings_defect(s->recordings, i)) != NULL; i++) {
		json_object(&j);
		json_member_text(&j, "name", d->name);
		json_member_text(&j, "severity", sink_json_severity(d));
		json_member_u64(&j, "count", d->count);
		json_end(&j);
	}
	json_end_line(&j);
}
