/* SPDX-License-Identifier: MIT */
/*
 * The text form of a session. A text is either refused with a message, or printed in a complete
 * form, which must parse to itself. No recording is opened.
 *
 * If bit 0 of the first byte is set, the text has the settings of sonde record instead.
 */
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "base/err.h"
#include "record/options.h"
#include "sonde/sonde.h"

static void read_back(const char *text)
{
	char *once, *twice;

	if (sonde_session_parse(text, &once) < 0) {
		if (!*sonde_error_text())
			abort();
		return;
	}
	if (sonde_session_parse(once, &twice) < 0 || strcmp(once, twice) != 0)
		abort();
	free(once);
	free(twice);
}

static void read_settings(const char *text)
{
	struct record_options o;

	if (record_options_parse(&o, text) >= 0)
		record_options_done(&o);
	else if (!*err_text())
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	text = fuzz_text(data + 1, size - 1);
	if (data[0] & 1)
		read_settings(text);
	else
		read_back(text);
	free(text);
	return 0;
}
