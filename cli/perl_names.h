/* SPDX-License-Identifier: MIT */
/* Names of a recording as names in a Perl script. */
#ifndef SONDE_CLI_PERL_NAMES_H
#define SONDE_CLI_PERL_NAMES_H

#include <stdbool.h>

/* True if a name can be that of a sub, a package or a variable. */
bool perl_names_valid(const char *name);

#endif
