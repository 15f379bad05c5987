/* SPDX-License-Identifier: MIT */
/*
 * Symbol, file and mapping of an address, as of an event. Answers are kept by address and by the
 * stamp of the mappings that held. Borrowed results live as long as the session unless it says
 * less.
 *
 *	const struct sonde_location *where = recording_located(ev, sample.ip, ev->pub.cpumode);
 *
 * Behind it are two halves: of the kernel (locate_kernel.c) and of processes (locate_user.c).
 */
#ifndef SONDE_RECORDING_LOCATE_H
#define SONDE_RECORDING_LOCATE_H

#include <string.h>

#include "model/callchain.h"
#include "recording/recording.h"

/* ---- of an event ----------------------------------------------------------------------------- */

/* See sonde_event_located(); never NULL. Borrowed until the next question. */
const struct sonde_location *recording_located(const struct event *ev, uint64_t addr,
					       uint32_t cpumode);
/* See sonde_event_dso(): -ENOENT if no file is known at that address. */
int recording_dso(const struct event *ev, uint64_t addr, uint32_t cpumode, struct sonde_dso *ret);
/* A reason of sonde_location.unknown in words. */
const char *locate_unknown_text(uint32_t reason);
/*
 * The meaning of SONDE_CPUMODE_OF_ADDRESS: the upper half of 64 bits is the kernel's. The kernel's
 * part of 32 bits is not known: addresses without a mapping are the kernel's. perf asks the maps of
 * the sample's own mode first: an old recording's map of the kernel starts at 0, so a sample taken
 * in the kernel finds all addresses there.
 */
uint32_t recording_address_mode(const struct event *ev, uint64_t addr);
/*
 * The mappings for addresses of a cpumode as of the event; answers are the same as long as their
 * stamp is. NULL: none are known. Borrowed until the next event.
 */
const struct address_space *recording_space(const struct event *ev, uint32_t cpumode);
/*
 * The first frame of user space in the recorded chain: where it is, or called the kernel. False:
 * there is none.
 */
bool recording_user_ip(const struct event *ev, uint64_t *ret);
/*
 * The file behind an address of user space as of the event, and the place in it; NULL when nothing
 * is mapped there, or when out of memory.
 */
struct dso *recording_dso_at(const struct event *ev, uint64_t addr, uint64_t *ret_offset);
/*
 * The dso at an address of the kernel as a dump of perf shows it; NULL: none. A module has its
 * recorded path. The kernel's map is as recorded until the kernel's symbols are loaded.
 */
const char *locate_dumped_dso(const struct event *ev, uint64_t addr);
/*
 * Kernel symbol at addr as of the event being printed, NULL unknown; *ret_off = distance from its
 * start.
 */
const char *recording_kernel_symbol(struct recording *rec, uint64_t addr, uint64_t *ret_off);

/* ---- of mappings ----------------------------------------------------------------------------- */

/* True if the file of any mapping of the space is here; NULL: none is. */
bool recording_has_file_here(struct recording *rec, const struct address_space *space);
/*
 * A mapping's file by its recorded name; a JIT describes its code in a map named by the process,
 * made in room.
 */
enum { RECORDING_MAP_NAME_BYTES = 40 };
const char *recording_map_name(const struct mapping *m, const char *name,
			       char room[RECORDING_MAP_NAME_BYTES]);
/*
 * "/lib/modules/6.1/kernel/fs/xfs/nls-x.ko.xz" and "[nls_x]" -> "[nls_x]"; false for what is no
 * module's name.
 */
bool recording_module_name(const char *path, char *ret, size_t size);
/*
 * Why functions of a mapping's file have no names; SONDE_KNOWN if its symbol table is here. Nothing
 * is reported.
 */
enum sonde_unknown locate_unknown_file(struct recording *rec, const struct mapping *m);
/* The same of the kernel and its modules. */
enum sonde_unknown locate_unknown_kernel(struct recording *rec);

/* ---- the two halves, for locate.c ------------------------------------------------------------ */

/*
 * Both write what they know into *ret, which holds the address and nothing else, and return the
 * mapping, NULL unknown. space: the kernel's mappings as of the event that asks; of processes also
 * NULL: nothing is mapped.
 */
const struct mapping *locate_kernel(struct recording *rec, const struct address_space *space,
				    uint64_t addr, struct sonde_location *ret);
const struct mapping *locate_user(struct recording *rec, const struct address_space *space,
				  uint64_t addr, struct sonde_location *ret);
/* Names of a dso of the kernel: dso the name that locate_kernel() gave for addr. */
void locate_kernel_names(struct recording *rec, const struct address_space *space, uint64_t addr,
			 const char *dso, struct sonde_dso *ret);
/* NULL: the files of this machine. */
static inline const char *recording_symfs(const struct recording *rec)
{
	const char *symfs = rec->opts->symfs;

	return symfs && strcmp(symfs, "/") != 0 ? symfs : NULL;
}
/* The recording's dso of this key. NULL: no memory. */
struct dso *locate_dso(struct recording *rec, const struct dso_key *key);
/* The build id of a mapping's file: from the mapping's record, else from the recording's list. */
struct build_id locate_build_id(struct recording *rec, const struct mapping *m, const char *path);

#endif
