/* SPDX-License-Identifier: MIT */
/* Handmade fields and schemas, like those of an input without format files. */
#ifndef TEST_BY_HAND_H
#define TEST_BY_HAND_H

#include "model/schema.h"

#define FIELD(n, k, off, w, ...)                                                  \
	{                                                                         \
		.size = sizeof(struct sonde_field), .name = n, .type = "",        \
		.kind = SONDE_FIELD_##k, .offset = off, .width = w, ##__VA_ARGS__ \
	}

#define SCHEMA(n, f, ...)                                                                  \
	{                                                                                  \
		.kind = SONDE_TRACEPOINT, .system = "test", .event = n, .name = "test:" n, \
		.fields = f, .nr_fields = sizeof(f) / sizeof((f)[0]), ##__VA_ARGS__        \
	}

#endif
