/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <sonde/sonde.h>

#include <stdlib.h>
#include <string.h>

void json_begin(const char *schema)
{
	printf("{\"schema\":\"sonde-%s\",\"version\":1", schema);
	json_put_member("sonde", sonde_version());
}

void json_write_string(FILE *out, const char *text)
{
	char *quoted = sonde_json_string(text, strlen(text));

	fputs(quoted ? quoted : "null", out);
	free(quoted);
}

void json_put_string(const char *text)
{
	json_write_string(stdout, text);
}

void json_put_member(const char *name, const char *text)
{
	if (!text)
		return;
	printf(",\"%s\":", name);
	json_put_string(text);
}
