/* SPDX-License-Identifier: MIT */
#include "sinks/sink_json.h"

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

static void sink_json_put_words(struct json *j, const char *words)
{
	char word[64];

	while (*words) {
		size_t len = strcspn(words, " ");
		size_t n = len < sizeof(word) ? len : sizeof(word) - 1;

		memcpy(word, words, n);
		word[n] = '\0';
		if (n && strspn(word, "0123456789") == n)
			json_digits(j, word);
		else
			json_text(j, word);
		words += len + (words[len] == ' ');
	}
}

void sink_json_fact(struct json *j, const struct source_fact *fact)
{
	json_name(j, fact->key, strlen(fact->key));
	switch (fact->form) {
	case FACT_TEXT:
		json_text(j, fact->value);
		break;
	case FACT_NUMBER:
	case FACT_FLAG:
		json_digits(j, fact->value);
		break;
	case FACT_WORDS:
		json_array(j);
		sink_json_put_words(j, fact->value);
		json_end(j);
		break;
	}
}

void sink_json_facts(struct json *j, struct source *source)
{
	struct source_fact fact;

	for (size_t i = 0; source_fact_at(source, i, &fact); i++) {
		if (fact.about == FACT_HOST && fact.value)
			sink_json_fact(j, &fact);
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
