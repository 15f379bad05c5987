/* SPDX-License-Identifier: MIT */
/* BTF, the type information of BPF programs. It contains the names of their functions. */
#ifndef SONDE_FORMATS_BTF_BTF_H
#define SONDE_FORMATS_BTF_BTF_H

#include "base/bytes.h"

/*
 * The name of a type, borrowed from btf; "" if it has none. Types are numbered from 1. -EBADMSG if
 * the BTF is damaged or has no such type.
 */
int btf_type_name(struct bytes btf, uint32_t type, const char **ret);

#endif
