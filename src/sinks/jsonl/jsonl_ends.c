/* SPDX-License-Identifier: MIT */
/* The first line: what the recording says of itself. The last: what came of it. And the lines of defects. */
#include "session.h"
#include "sinks/jsonl/json.h"
#include "sinks/jsonl/jsonl.h"
#include "sources/source.h"

void jsonl_facts_put(struct source *source, const char *comma, struct outbuf *out)
{
	/* Numbers are numbers in JSON too, if they are written as such. */
	static const struct {
		const char *key, *name;
		bool is_number;
	} facts[] = {
		{ "hostname", "hostname", false },
		{ "osrelease", "osrelease", false },
		{ "version", "recorder", false },
		{ "arch", "arch", false },
		{ "cpudesc", "cpudesc", false },
		{ "cmdline", "cmdline", false },
		{ "nrcpus-online", "nrcpus_online", true },
		{ "nrcpus-available", "nrcpus_available", true },
		{ "byte-order", "byte_order", false },
		{ "long-bytes", "long_bytes", true },
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		const char *v = source->ops->info(source, facts[i].key);

		if (!v || !*v)
			continue;
		outbuf_fmt(out, "%s\"%s\":", comma, facts[i].name);
		comma = ",";
		if (facts[i].is_number && v[strspn(v, "0123456789")] == '\0' && *v != '0')
			outbuf_str(out, v);
		else
			json_text(out, v);
	}
}

void jsonl_header_put(const struct jsonl_sink *s, struct outbuf *out)
{
	static const char *const clock_words[] = { [CLOCK_SHOWN_RELATIVE] = "relative",
						   [CLOCK_SHOWN_UTC] = "utc",
						   [CLOCK_SHOWN_LOCAL] = "utc" };
	const struct session_options *o = &s->session->opts;
	const struct sonde_session *part;

	outbuf_fmt(out, "{\"header\":{\"schema\":\"sonde-jsonl\",\"version\":%d", JSONL_VERSION);
	json_member_text(out, "sonde", sonde_version());
	json_member_text(out, "input", s->session->opts.input);
	if (o->clock)
		json_member_text(out, "clock", clock_words[o->clock]);
	jsonl_facts_put(s->session->source, ",", out);
	for (unsigned i = 0; (part = several_part(s->session, i)); i++) {
		outbuf_str(out, i ? ",{\"input\":" : ",\"inputs\":[{\"input\":");
		json_text(out, part->opts.input);
		jsonl_facts_put(part->source, ",", out);
		outbuf_char(out, '}');
	}
	outbuf_str(out, s->session->parts ? "]}}\n" : "}}\n");
}

static const char *severity_word(uint32_t severity)
{
	return severity == SONDE_ERROR       ? "error"
	       : severity == SONDE_DATA_LOSS ? "data-loss"
					     : "info";
}

void jsonl_defect_object_put(const struct sonde_defect *d, const char *name, struct outbuf *out)
{
	outbuf_fmt(out, "{\"%s\":", name);
	json_text(out, d->name);
	json_member_text(out, "severity", severity_word(d->severity));
	json_member_u64(out, "count", d->count);
	json_member_text(out, "advice", d->advice);
	if (*d->first)
		json_member_text(out, "first", d->first);
	outbuf_char(out, '}');
}

void jsonl_defect_put(const struct sonde_session *s, struct outbuf *out)
{
	jsonl_defect_object_put(&s->defect, "defect", out);
	if (s->part_of && !out->failed) {
		out->len--; /* one member more */
		json_member_u64(out, "input", s->part);
		outbuf_char(out, '}');
	}
	outbuf_char(out, '\n');
}

void jsonl_summary_put(const struct jsonl_sink *s, bool complete, struct outbuf *out)
{
	const struct sonde_defect *d;
	uint64_t events = 0;
	const char *comma = "";

	for (uint32_t id = 0; id < s->types.n; id++) {
		const struct sonde_schema *sc = sonde_session_schema(s->session, id);

		if (sc && sc->kind <= SONDE_SAMPLE)
			events += s->types.v[id].count;
	}
	if (s->session->parts)
		several_sum_defects(s->session);
	complete &= !s->session->defects.count[DEFECT_ENDED_EARLY];
	outbuf_fmt(out, "{\"summary\":{\"complete\":%s", complete ? "true" : "false");
	json_member_u64(out, "events", events);
	json_member_u64(out, "lost", s->session->defects.count[DEFECT_LOST_EVENTS]);
	outbuf_str(out, ",\"defects\":[");
	for (size_t i = 0; (d = sonde_session_defect(s->session, i)) != NULL; i++) {
		outbuf_fmt(out, "%s{\"name\":\"%s\"", comma, d->name);
		json_member_text(out, "severity", severity_word(d->severity));
		json_member_u64(out, "count", d->count);
		outbuf_char(out, '}');
		comma = ",";
	}
	outbuf_str(out, "]}}\n");
}
