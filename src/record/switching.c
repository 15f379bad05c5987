/* SPDX-License-Identifier: MIT */
#include "record/switching.h"

#include <string.h>

#include "base/err.h"
#include "capture/setup/values.h"

static const uint64_t ns_per_s = 1000000000;

/*
 * Finds the unit of "30s", "5m", "1h" or "1d". False if the text does not end with a unit of time.
 */
static bool switching_is_time(const char *text, uint64_t *ret_unit_s)
{
	const size_t len = strlen(text);

	switch (len ? text[len - 1] : 0) {
	case 's':
		*ret_unit_s = 1;
		return true;
	case 'm':
		*ret_unit_s = 60;
		return true;
	case 'h':
		*ret_unit_s = 3600;
		return true;
	case 'd':
		*ret_unit_s = 24 * 3600;
		return true;
	}
	return false;
}

static int switching_parse_when(struct switching *s, const char *text)
{
	static const char option[] = "--switch-output";
	char number[24];
	uint64_t unit_s, nr;
	size_t len = strlen(text);

	if (!*text || !strcmp(text, "signal"))
		return 0;
	if (!switching_is_time(text, &unit_s)) {
		if (capture_value_size(option, text, &s->file_bytes) == 0 && s->file_bytes)
			return 0;
	} else if (len <= sizeof(number)) {
		memcpy(number, text, len - 1);
		number[len - 1] = '\0';
		if (capture_value_number(option, number, 1, UINT64_MAX / unit_s / ns_per_s, &nr) ==
		    0) {
			s->interval_ns = nr * unit_s * ns_per_s;
			return 0;
		}
	}
	return err_set(
		-EBADR,
		"--switch-output needs signal, a size as 100M or a time as 30s (s m h d), not "
		"'%s'",
		text);
}

int switching_parse(struct switching *ret, const struct record_options *o, bool is_pipe,
		    const struct say *to)
{
	struct switching s = { .is_on = o->switch_output || o->switch_output_event };

	if (o->switch_output)
		TRY(switching_parse_when(&s, o->switch_output));
	if (o->switch_max_files)
		TRY(capture_value_number("--switch-max-files", o->switch_max_files, 0, 1 << 20,
					 &s.max_files));
	if (o->max_size)
		TRY(capture_value_size("--max-size", o->max_size, &s.max_bytes));
	s.has_time_names = s.is_on || o->timestamp_filename;
	if (s.has_time_names && is_pipe)
		return err_set(-EBADR, "%s needs a file, and a pipe is none: name one with -o FILE",
			       o->switch_output         ? "--switch-output"
			       : o->switch_output_event ? "--switch-output-event"
							: "--timestamp-filename");
	if (o->switch_max_files && !s.is_on)
		say(to, SAY_NORMAL, "--switch-max-files has no effect without --switch-output");
	*ret = s;
	return 0;
}
