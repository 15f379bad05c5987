/* SPDX-License-Identifier: MIT */
/* --strict and --fail-on-loss: how the defects of a recording affect the exit status. */
#ifndef SONDE_CLI_STRICT_H
#define SONDE_CLI_STRICT_H

#include <stdbool.h>

#include "opt.h"

struct strict {
	bool any;  /* --strict: every kind of src/model/defects.def counts */
	bool loss; /* --fail-on-loss: only defects that lost events or parts of events */
};

/* Options of a command whose values are a struct s with a struct strict named m. */
/* clang-format off */
#define STRICT_OPTIONS(s, m) \
	OPT_OUR_FLAG(0, "strict", s, m.any, \
		"exits with status 3 when anything at all is wrong with the recording"), \
	OPT_OUR_FLAG(0, "fail-on-loss", s, m.loss, \
		"exits with status 3 when events were lost or the recording is damaged")
/* clang-format on */

struct sonde_session;
/*
 * CLI_LOSS if status is CLI_OK and the session has a defect that an option of `strict` names;
 * otherwise status. The session must be read to its end.
 */
int strict_status(const struct strict *strict, struct sonde_session *s, int status);

#endif
