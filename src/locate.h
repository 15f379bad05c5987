/* SPDX-License-Identifier: MIT */
/*
 * What lies at an address, in two halves: of the kernel and of processes. Both write what they know into *ret, which holds
 * the address and nothing else, and return the mapping, NULL unknown.
 */
#ifndef SONDE_LOCATE_H
#define SONDE_LOCATE_H

#include <string.h>

#include "model/callchain.h"
#include "session.h"

/* space: the kernel's mappings as of the event that asks. */
const struct mapping *locate_kernel(struct sonde_session *s, const struct address_space *space,
				    uint64_t addr, struct sonde_location *ret);
/* Names of a dso of the kernel: dso the name that locate_kernel() gave for addr. */
void locate_kernel_names(struct sonde_session *s, const struct address_space *space, uint64_t addr,
			 const char *dso, struct sonde_dso *ret);
/*
 * The dso at an address of the kernel as a dump of perf shows it; NULL: none. A module has its
 * recorded path. The kernel's map is as recorded until the kernel's symbols are loaded.
 */
const char *locate_dumped_dso(const struct event *ev, uint64_t addr);
/* space: NULL: nothing is mapped */
const struct mapping *locate_user(struct sonde_session *s, const struct address_space *space,
				  uint64_t addr, struct sonde_location *ret);
/*
 * Why functions of a mapping's file have no names; SONDE_KNOWN if its symbol table is here. Nothing
 * is reported.
 */
enum sonde_unknown locate_unknown_file(struct sonde_session *s, const struct mapping *m);
/* The same of the kernel and its modules. */
enum sonde_unknown locate_unknown_kernel(struct sonde_session *s);
/*
 * The meaning of SONDE_CPUMODE_OF_ADDRESS: the upper half of 64 bits is the kernel's. The kernel's
 * part of 32 bits is not known: addresses without a mapping are the kernel's. perf asks the maps of
 * the sample's own mode first: an old recording's map of the kernel starts at 0, so a sample taken
 * in the kernel finds all addresses there.
 */
uint32_t session_address_mode(const struct event *ev, uint64_t addr);
/* NULL: the files of this machine. */
static inline const char *session_symfs(const struct sonde_session *s)
{
	return s->opts.symfs && strcmp(s->opts.symfs, "/") != 0 ? s->opts.symfs : NULL;
}
/* What the recording says of a file elsewhere than in the mapping's record: hex, "" unknown. path: of the string pool. */
const char *locate_build_id(struct sonde_session *s, const char *path);

#endif
