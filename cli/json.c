/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <sonde/sonde.h>

#include <stdlib.h>
#include <string.h>

int output_format_check(const struct cli *cli, const char *command, const struct output_format *f,
			bool *ret_json)
{
	*ret_json = f->json || (f->format && !strcmp(f->format, "json"));
	if (!f->format || *ret_json || !strcmp(f->format, "text"))
		return CLI_OK;
	return cli_usage(cli, "%s: --format takes text or json, not '%s'", command, f->format);
}

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
