/* SPDX-License-Identifier: MIT */
#include "output_format.h"

#include <string.h>

int output_format_check(const struct cli *cli, const char *command, const struct output_format *f,
			bool *ret_json)
{
	*ret_json = f->json || (f->format && !strcmp(f->format, "json"));
	if (!f->format || *ret_json || !strcmp(f->format, "text"))
		return CLI_OK;
	return cli_usage(cli, "%s: --format takes text or json, not '%s'", command, f->format);
}
