/* SPDX-License-Identifier: MIT */
#include "sinks/line_options.h"

#include <stddef.h>

const char *const line_header_words[] = { "none", "with", "only", "all", NULL };
