/* SPDX-License-Identifier: MIT */
/* What is known of the recorded kernel, and what the user says of its symbols (kernel.h). */
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
	const char *kallsyms_path; /* the user's, NULL none */
	const char *vmlinux_path;  /* the user's, NULL none */
	const char *release;       /* of the recorded kernel, "6.1.0-9-amd64"; NULL unknown */
	const char *symfs;         /* NULL: / */
	bool demangle_kernel;
	bool no_follow;           /* no file that the release names */
	const char *buildid_dir;  /* NULL: ~/.debug */
	struct build_id build_id; /* of the recorded kernel */
	const char *recorded;     /* kallsyms text held by the recording, NULL none */
	size_t recorded_len;
	const struct named_file *named; /* what the recording names itself; NULL none */
	const struct rules *rules;
	const char *
		ref_symbol; /* a symbol named by the recording ("_text"), NULL none, and its address then: */
	uint64_t ref_addr; /* symbols of another boot are moved to where the recorded kernel lay */
};

#endif
