/* SPDX-License-Identifier: MIT */
#include "sinks/text_only.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

int text_only_refuse_option(const char *option, const char *instead)
{
	return err_set(-EINVAL, "%s works with text only: %s", option, instead);
}

int text_only_refuse(const struct text_only *o, const char *instead)
{
	const struct {
		const char *option;
		bool given;
	} wrong[] = {
		{ "fields (-F)", o->fields },
		{ "dump (-D)", o->dump },
		{ "per-event-dump", o->per_event_dump },
		{ "deltatime", o->deltatime },
		{ "latency (-L)", o->latency },
		{ "max-blocks", o->max_blocks != KEY_NO_NUMBER },
		{ "header-info (-I)", o->header_info },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (wrong[i].given)
			return text_only_refuse_option(wrong[i].option, instead);
	return 0;
}

int one_form_refuse(const struct one_form_options *o, const char *instead)
{
	TRY(text_only_refuse(&o->text, instead));
	if (o->lines.header != HEADER_NONE)
		return text_only_refuse_option("header", instead);
	return line_options_show_any(&o->lines)
		       ? text_only_refuse_option("showing records (--show-...-events)", instead)
		       : 0;
}
