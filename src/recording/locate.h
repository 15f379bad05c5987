/* SPDX-License-Identifier: MIT */
/*
 * Finds the symbol, file and mapping of an address, as of an event. Answers are cached by address
 * and by the stamp of the mappings. Borrowed results live as long as the session, unless a function
 * states a shorter time.
 *
 *	const struct sonde_location *where = recording_located(ev, sample.ip, ev->pub.cpumode);
 *
 * locate_kernel.c answers for addresses of the kernel, locate_user.c for addresses of processes.
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
/* The text of a reason in sonde_location.unknown. */
const char *locate_unknown_text(uint32_t reason);
/*
 * The cpumode that SONDE_CPUMODE_OF_ADDRESS means. With 64 bits the upper half of the addresses is
 * the kernel's. With 32 bits the kernel's part is not known, so addresses without a mapping are the
 * kernel's. perf searches the maps of the sample's own mode first. The kernel's map in an old
 * recording starts at 0, so perf then finds all addresses of a kernel sample in it.
 */
uint32_t recording_address_mode(const struct event *ev, uint64_t addr);
/*
 * The mappings for addresses of a cpumode as of the event; NULL if none are known. Answers do not
 * change while the stamp stays the same. Borrowed until the next event.
 */
const struct address_space *recording_space(const struct event *ev, uint32_t cpumode);
/*
 * The first user space frame in the recorded chain: the sampled address, or the place that called
 * the kernel. False if there is none.
 */
bool recording_user_ip(const struct event *ev, uint64_t *ret);
/*
 * The file mapped at a user space address as of the event, and the offset in the file. NULL if
 * nothing is mapped there, or if memory ran out.
 */
struct dso *recording_dso_at(const struct event *ev, uint64_t addr, uint64_t *ret_offset);
/*
 * The dso at an address of the kernel, as printed by perf's dump; NULL if there is none. A module
 * has its recorded path. The recorded map of the kernel holds until the kernel's symbols are
 * loaded.
 */
const char *locate_dumped_dso(const struct event *ev, uint64_t addr);
/*
 * The kernel symbol at addr as of the event being printed; NULL if unknown. *ret_off is the
 * distance from its start.
 */
const char *recording_kernel_symbol(struct recording *rec, uint64_t addr, uint64_t *ret_off);

/* ---- of mappings ----------------------------------------------------------------------------- */

/* True if the file of any mapping of the space is here. space may be NULL. */
bool recording_has_file_here(struct recording *rec, const struct address_space *space);
/*
 * The name of a mapping's file. For anonymous executable memory it is the map in which a JIT
 * describes its code; that name contains the process id and is written to room.
 */
enum { RECORDING_MAP_NAME_BYTES = 40 };
const char *recording_map_name(const struct mapping *m, const char *name,
			       char room[RECORDING_MAP_NAME_BYTES]);
/*
 * "/lib/modules/6.1/kernel/fs/xfs/nls-x.ko.xz" and "[nls_x]" -> "[nls_x]". False if path is not a
 * module's name.
 */
bool recording_module_name(const char *path, char *ret, size_t size);
/*
 * The reason why functions in a mapping's file have no names; SONDE_KNOWN if its symbol table is
 * here. No defect is counted.
 */
enum sonde_unknown locate_unknown_file(struct recording *rec, const struct mapping *m);
/* The same for the kernel and its modules. */
enum sonde_unknown locate_unknown_kernel(struct recording *rec);

/* ---- the two halves, for locate.c ------------------------------------------------------------ */

/*
 * Both fill *ret, in which the caller has set only the address, as far as the place is known. They
 * return the mapping; NULL if unknown. space: the mappings of the kernel or of the process as of
 * the event. For a process it may be NULL if nothing is mapped.
 */
const struct mapping *locate_kernel(struct recording *rec, const struct address_space *space,
				    uint64_t addr, struct sonde_location *ret);
const struct mapping *locate_user(struct recording *rec, const struct address_space *space,
				  uint64_t addr, struct sonde_location *ret);
/* The names of a dso of the kernel. dso: the name from locate_kernel() for addr. */
void locate_kernel_names(struct recording *rec, const struct address_space *space, uint64_t addr,
			 const char *dso, struct sonde_dso *ret);
/* The folder that replaces "/" for the recorded files; NULL for the files of this machine. */
static inline const char *recording_symfs(const struct recording *rec)
{
	const char *symfs = rec->opts->symfs;

	return symfs && strcmp(symfs, "/") != 0 ? symfs : NULL;
}
/* The recording's dso with this key; NULL if memory ran out. */
struct dso *locate_dso(struct recording *rec, const struct dso_key *key);
/* The build id of a mapping's file: from the mapping's record, else from the recording's list. */
struct build_id locate_build_id(struct recording *rec, const struct mapping *m, const char *path);

#endif
