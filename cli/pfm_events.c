/* SPDX-License-Identifier: MIT */
#include "pfm_events.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *pfm_events_text(const char *list)
{
	bool begins = true; /* a name may begin here */
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (; *list; list++) {
		const bool is_blank = strchr(" \t\n", *list);

		if (begins && !is_blank && !strchr(",{}", *list)) {
			fputs("pfm:", out);
			begins = false;
		}
		fputc(*list, out);
		begins = (begins && is_blank) || strchr(",{", *list);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
