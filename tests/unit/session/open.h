/* SPDX-License-Identifier: MIT */
/* Opens a recording as a test does: with some keys of a session, and without kernel symbols. */
#ifndef TEST_OPEN_H
#define TEST_OPEN_H

#include "unittest.h"

#include <stdio.h>
#include <stdlib.h>

#include "sonde/sonde.h"

static inline const char *demo(void)
{
	const char *path = getenv("SONDE_DEMO_DATA");

	return path ? path : "tests/data/demo.data";
}

/* more: lines of key=value. Fails the test if the recording cannot be opened. */
static inline struct sonde_session *open_session(const char *path, const char *more)
{
	struct sonde_session *s;
	char text[512];

	snprintf(text, sizeof(text), "input=%s\nkallsyms=/dev/null\n%s", path, more);
	if (sonde_session_open(&s, text, NULL) < 0)
		fail_msg("%s", sonde_error_text());
	return s;
}

#endif
