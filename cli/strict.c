/* SPDX-License-Identifier: MIT */
#include "strict.h"

#include "cli.h"

#include <sonde/sonde.h>

int strict_status(const struct strict *strict, struct sonde_session *s, int status)
{
	const struct sonde_defect *d;

	if (status == CLI_OK && strict->any && *sonde_session_filters_line(s))
		status = CLI_LOSS;
	for (size_t i = 0; status == CLI_OK && (d = sonde_session_defect(s, i)); i++) {
		if (strict->any || (strict->loss && d->severity != SONDE_INFO))
			status = CLI_LOSS;
	}
	return status;
}
