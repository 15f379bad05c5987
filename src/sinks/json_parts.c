/* SPDX-License-Identifier: MIT */
#include "sinks/json_parts.h"

#include <string.h>

void sink_json_begin(struct json *j, const char *schema, unsigned version, const char *input,
		     bool complete)
{
	json_object(j);
	json_member_text(j, "schema", schema);
	json_member_u64(j, "version", version);
	json_member_text(j, "sonde", SONDE_VERSION);
	json_member_text(j, "input", input);
	json_member_bool(j, "complete", complete);
}

void sink_json_facts(struct json *j, struct source *source)
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
		const char *v = source_info(source, facts[i].key);

		if (!v || !*v)
			continue;
		json_name(j, facts[i].name, strlen(facts[i].name));
		if (facts[i].is_number && v[strspn(v, "0123456789")] == '\0' && *v != '0')
			json_digits(j, v);
		else
			json_text(j, v);
	}
}

const char *sink_json_severity(const struct sonde_defect *d)
{
	return d->severity == SONDE_ERROR       ? "error"
	       : d->severity == SONDE_DATA_LOSS ? "data-loss"
						: "info";
}

void sink_json_defect(struct json *j, const struct sonde_defect *d)
{
	json_member_text(j, "severity", sink_json_severity(d));
	json_member_u64(j, "count", d->count);
	json_member_text(j, "advice", d->advice);
	if (*d->first)
		json_member_text(j, "first", d->first);
}
