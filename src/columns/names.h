/* SPDX-License-Identifier: MIT */
/* Names of flags and symbols: the text of a number as the event's print format calls it. */
#ifndef SONDE_COLUMNS_NAMES_H
#define SONDE_COLUMNS_NAMES_H

#include "base/outbuf.h"
#include "model/schema.h"

/*
 * Replaces out's content by the names of v, the sign-extended number of field f. Flags are joined
 * by the delimiter of the format; bits without a name follow as 0x..., as the kernel prints them. A
 * symbol without a name is 0x..., an enum without a label decimal. Returns 0 on success, -ENOMEM.
 */
int names_put(const struct sonde_schema *sc, const struct sonde_field *f, uint64_t v,
	      struct outbuf *out);

#endif
