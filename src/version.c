/* SPDX-License-Identifier: MIT */
#include <zstd.h>

#include "base/err.h"
#include "sonde/sonde.h"

const char *sonde_version(void)
{
	return SONDE_VERSION;
}

const char *sonde_features(void)
{
	return "zstd=" ZSTD_VERSION_STRING;
}

const char *sonde_error_text(void)
{
	return err_text();
}
