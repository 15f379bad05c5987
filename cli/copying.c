/* SPDX-License-Identifier: MIT */
#include "copying.h"

#include "stopping.h"

#include <sonde/sonde.h>

#include <unistd.h>

static int copying_copy(struct sonde_session *s, void *ctx)
{
	int r;

	stopping_watch(s);
	r = sonde_session_write(s, STDOUT_FILENO);
	stopping_watch(NULL);
	if (r >= 0 && !stopping_came())
		recording_print_notes(s);
	return r;
}

int copying_run(const struct cli *cli, struct reading_options *rec)
{
	struct cli own = *cli;

	/* Records are copied as they are: compat affects only printing. */
	own.compat = NULL;
	stopping_catch();
	return stopping_end(recording_run(&own, rec, "format=perfdata\n", copying_copy, NULL));
}
