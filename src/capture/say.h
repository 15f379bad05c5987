/* SPDX-License-Identifier: MIT */
/* Messages for the user, passed to the program that prints them: the library never prints. */
#ifndef SONDE_CAPTURE_SAY_H
#define SONDE_CAPTURE_SAY_H

#include <stdarg.h>
#include <stdio.h>

enum say_level { SAY_WARNING = 0, SAY_NORMAL = 1, SAY_VERBOSE = 2 };

struct say {
	void (*line)(void *ctx, int level, const char *line); /* NULL if messages are dropped */
	void *ctx;
};

static inline void say(const struct say *s, enum say_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static inline void say(const struct say *s, enum say_level level, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	if (!s->line)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	s->line(s->ctx, level, line);
}

#endif
