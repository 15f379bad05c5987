/* SPDX-License-Identifier: MIT */
/* Facts about the recorded kernel, and the user's choices about its symbols (kernel.h). */
#ifndef SONDE_SYMBOLS_KERNEL_OPTIONS_H
#define SONDE_SYMBOLS_KERNEL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/build_id.h"
#include "compat/rules.h"
#include "model/named_file.h"
#include "sonde/sonde.h"

struct kernel_symbols_options {
	const char *kallsyms_path; /* given by the user; NULL if not */
	const char *vmlinux_path;  /* given by the user; NULL if not */
	/* release of the recorded kernel, "6.1.0-9-amd64"; NULL if unknown */
	const char *release;
	const char *symfs; /* NULL means / */
	bool demangle_kernel;
	bool no_follow;           /* opens no file named after the release */
	const char *buildid_dir;  /* NULL means ~/.debug */
	struct build_id build_id; /* build id of the recorded kernel */
	const char *recorded;     /* kallsyms text stored in the recording; NULL if none */
	size_t recorded_len;
	/* functions that the recording itself names; NULL if none */
	const struct named_file *named;
	const struct rules *rules;
	/* a symbol whose address the recording stores ("_text"); NULL if none */
	const char *ref_symbol;
	uint64_t ref_addr; /* its recorded address; symbols of another boot are moved to match it */
};

#endif
