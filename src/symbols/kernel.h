/* SPDX-License-Identifier: MIT */
/*
 * Where kernel symbols for a recording come from, tried in this order: the file the user named; the recording's own
 * kallsyms; the build-id cache; the running kernel's, if it is the recorded one by build id; a
 * vmlinux of that build; the functions that the recording itself names, which are only some. Under
 * --compat as perf does: a vmlinux first, the running kernel's also where the recording names no
 * build id. Never wrong names.
 */
#ifndef SONDE_SYMBOLS_KERNEL_H
#define SONDE_SYMBOLS_KERNEL_H

#include <stdbool.h>

#include "sonde/sonde.h"
#include "model/named_file.h"
#include "symbols/kallsyms.h"

struct kernel_symbols_options {
	const char *kallsyms_path; /* the user's, NULL none */
	const char *vmlinux_path;  /* the user's, NULL none */
	const char *release;       /* of the recorded kernel, "6.1.0-9-amd64"; NULL unknown */
	const char *symfs;         /* NULL: / */
	bool demangle_kernel;
	bool no_follow; /* no file that the release names */
	const char *buildid_dir; /* NULL: ~/.debug */
	const uint8_t *build_id; /* of the recorded kernel, NULL unknown */
	size_t build_id_len;
	const char *recorded; /* kallsyms text held by the recording, NULL none */
	size_t recorded_len;
	const struct named_file *named; /* what the recording names itself; NULL none */
	enum sonde_compat compat;
	const char *
		ref_symbol; /* a symbol named by the recording ("_text"), NULL none, and its address then: */
	uint64_t ref_addr; /* symbols of another boot are moved to where the recorded kernel lay */
};

/*
 * *ret may be NULL with result 0: no symbols are to be had; err_text() then says why. ret_path, of PATH_MAX bytes: the
 * kernel's file that they are out of, "" when they are of a kallsyms text.
 */
int kernel_symbols_open(struct kallsyms **ret, const struct kernel_symbols_options *opts,
			char *ret_path);

#endif
