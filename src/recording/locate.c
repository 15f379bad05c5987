/* SPDX-License-Identifier: MIT */
/*
 * Finds the symbol, file and mapping of an address. Answers are cached by address and by the stamp
 * of the mappings.
 */

#include "recording/locate.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "model/callchain.h"

/*
 * Few addresses are spread over all pages of a large cache, so the cache grows when it has replaced
 * as many answers as it has slots.
 */
enum { FIRST_SLOTS = 1 << 10, MOST_SLOTS = 1 << 14, GROWTH = 4 };

struct located {
	uint64_t stamp; /* 0: a free slot */
	struct sonde_location loc;
};

const char *recording_build_id(struct recording *rec, const struct build_id *id)
{
	struct build_id_text *known = &rec->build_ids[id->bytes[0] % RECORDING_BUILD_ID_TEXTS];
	char hex[BUILD_ID_HEX_CHARS];
	uint32_t text;

	if (!build_id_is_known(id))
		return "";
	if (build_id_equal(id, &known->id))
		return known->text;
	if (strpool_intern(rec->strings, build_id_hex(id, hex), 2 * (size_t)id->len, &text) < 0)
		return "";
	*known = (struct build_id_text){ *id, strpool_text(rec->strings, text) };
	return known->text;
}

static void locate(struct recording *rec, const struct address_space *space, uint64_t addr,
		   bool kernel, struct sonde_location *ret)
{
	const struct mapping *m;
	struct build_id id;

	*ret = (struct sonde_location){ .size = sizeof(*ret), .addr = addr, .dso_build_id = "" };
	m = kernel ? locate_kernel(rec, space, addr, ret) : locate_user(rec, space, addr, ret);
	if (!m)
		return;
	if (!ret->map_end) {
		ret->map_start = m->start;
		ret->map_end = m->end;
	}
	ret->map_pgoff = m->pgoff;
	if (!kernel)
		return;
	id = locate_build_id(rec, m, ret->dso);
	ret->dso_build_id = recording_build_id(rec, &id);
}

const char *locate_unknown_text(uint32_t reason)
{
	static const char *const texts[] = {
		[SONDE_KNOWN] = "",
		[SONDE_UNKNOWN_NO_MAPPING] = "nothing is mapped there",
		[SONDE_UNKNOWN_NO_FILE] = "memory without a file",
		[SONDE_UNKNOWN_ABSENT] = "not on this machine",
		[SONDE_UNKNOWN_NO_RIGHT] = "no right to read it",
		[SONDE_UNKNOWN_NOT_FOLLOWED] = "its path is not followed (--no-follow)",
		[SONDE_UNKNOWN_OTHER_BUILD] = "another build than the recorded one",
		[SONDE_UNKNOWN_STRIPPED] = "stripped",
		[SONDE_UNKNOWN_NO_SYMBOL] = "no symbol at these addresses",
		[SONDE_UNKNOWN_NO_KERNEL] = "the recorded kernel's symbols are not here",
		[SONDE_UNKNOWN_ELSEWHERE] = "of a guest or a hypervisor",
		[SONDE_UNKNOWN_TOO_LARGE] = "larger than what is read of such files",
	};

	return reason < sizeof(texts) / sizeof(*texts) ? texts[reason] : "";
}

/*
 * Between exec and the first instruction of the new program, the user space registers are still the
 * ones from the call of execve(). Their addresses belong to the mappings from before the exec.
 *
 *	COMM exec | MMAP program | MMAP ld.so | MMAP [vdso] | first instruction
 *	          |--------- frames of the old image -------|
 */
static const struct address_space *locate_space_around_exec(const struct event *ev,
							    struct address_space *space)
{
	uint64_t ip;

	if (ev->schema->kind > SONDE_SAMPLE)
		return space;
	if (ev->pub.cpumode != CPUMODE_USER) {
		if (!recording_user_ip(ev, &ip))
			return space;
		if (!address_space_find(space, ip))
			return address_space_find(space->before, ip) ? space->before : space;
	}
	address_space_settle(space);
	return space;
}

const struct address_space *recording_space(const struct event *ev, uint32_t cpumode)
{
	struct recording *rec = ev->recording;
	struct address_space *space;

	/* Nothing is known about hypervisors and guests; the host's names would be wrong. */
	if (cpumode >= CPUMODE_HYPERVISOR)
		return NULL;
	if (cpumode == CPUMODE_KERNEL)
		return ev->owned ? ev->kernel_space : rec->state.kernel;
	if (ev->owned)
		return ev->space;
	space = state_space_of(&rec->state, ev->pub.pid, ev->pub.tid);
	return space && space->before ? locate_space_around_exec(ev, space) : space;
}

static struct located *locate_slot(struct located *slots, uint32_t nr, uint64_t stamp,
				    uint64_t addr)
{
	return &slots[hash_u64(addr ^ stamp << 48) % nr];
}

/* Makes the cache, or a larger one of it. Without memory it stays as it is. */
static void locate_grow(struct recording *rec)
{
	const uint32_t nr = rec->nr_located ? rec->nr_located * GROWTH : FIRST_SLOTS;
	struct located *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return;
	for (uint32_t i = 0; i < rec->nr_located; i++) {
		const struct located *at = &rec->located[i];

		if (at->stamp)
			*locate_slot(slots, nr, at->stamp, at->loc.addr) = *at;
	}
	free(rec->located);
	rec->located = slots;
	rec->nr_located = nr;
	rec->nr_replaced = 0;
}

const struct sonde_location *recording_located(const struct event *ev, uint64_t addr,
					       uint32_t cpumode)
{
	struct recording *rec = ev->recording;
	const struct address_space *space;
	struct located *slot;

	if (cpumode == SONDE_CPUMODE_OF_ADDRESS)
		cpumode = recording_address_mode(ev, addr);
	space = recording_space(ev, cpumode);
	if (!space) {
		rec->unkept = (struct sonde_location){
			.size = sizeof(rec->unkept),
			.addr = addr,
			.unknown = cpumode >= CPUMODE_HYPERVISOR ? SONDE_UNKNOWN_ELSEWHERE
								 : SONDE_UNKNOWN_NO_MAPPING,
			.dso_build_id = "",
		};
		return &rec->unkept;
	}
	if (!rec->located || (rec->nr_replaced >= rec->nr_located && rec->nr_located < MOST_SLOTS))
		locate_grow(rec);
	if (!rec->located) {
		locate(rec, space, addr, cpumode == CPUMODE_KERNEL, &rec->unkept);
		return &rec->unkept;
	}
	slot = locate_slot(rec->located, rec->nr_located, space->stamp, addr);
	if (slot->stamp != space->stamp || slot->loc.addr != addr) {
		rec->nr_replaced += slot->stamp != 0;
		locate(rec, space, addr, cpumode == CPUMODE_KERNEL, &slot->loc);
		slot->loc.answer = ++rec->last_answer;
		slot->stamp = space->stamp;
	}
	return &slot->loc;
}

uint32_t recording_address_mode(const struct event *ev, uint64_t addr)
{
	uint32_t mode = ev->pub.cpumode;
	bool guest = mode == CPUMODE_GUEST_KERNEL || mode == CPUMODE_GUEST_USER;
	bool kernel = addr >> 63;
	const struct address_space *space;

	if (!guest && mode != CPUMODE_KERNEL && mode != CPUMODE_USER)
		return mode;
	if (ev->recording->opts->rules->locates_by_mode_first &&
	    recording_located(ev, addr, mode)->map_end)
		return mode;
	space = recording_space(ev, CPUMODE_USER);
	if (ev->schema && ev->schema->abi.long_bytes == 4)
		kernel = !space || !address_space_find(space, addr);
	return guest ? (kernel ? CPUMODE_GUEST_KERNEL : CPUMODE_GUEST_USER)
		     : (kernel ? CPUMODE_KERNEL : CPUMODE_USER);
}

/* "x" of "/usr/bin/x". perf names the map of a JIT after its process. */
static const char *locate_short_name(struct recording *rec, const char *name)
{
	size_t len = strlen(name), from;
	char jit[40];
	uint32_t id;
	int pid, r;

	if (sscanf(name, "/tmp/perf-%d.map", &pid) == 1) {
		r = snprintf(jit, sizeof(jit), "[JIT] tid %d", pid);
		return strpool_intern(rec->strings, jit, (size_t)r, &id) < 0
			       ? name
			       : strpool_text(rec->strings, id);
	}
	while (len > 1 && name[len - 1] == '/')
		len--;
	for (from = len; from && name[from - 1] != '/';)
		from--;
	if (from == len || strpool_intern(rec->strings, name + from, len - from, &id) < 0)
		return name;
	return strpool_text(rec->strings, id);
}

int recording_dso(const struct event *ev, uint64_t addr, uint32_t cpumode, struct sonde_dso *ret)
{
	struct sonde_location loc;

	if (cpumode == SONDE_CPUMODE_OF_ADDRESS)
		cpumode = recording_address_mode(ev, addr);
	loc = *recording_located(ev, addr, cpumode);
	if (!loc.dso || !loc.dso_id)
		return err_set(-ENOENT, "no file is known at 0x%llx", (unsigned long long)addr);
	*ret = (struct sonde_dso){
		.size = sizeof(*ret),
		.id = loc.dso_id,
		.long_name = loc.dso,
		.build_id = loc.dso_build_id,
	};
	if (cpumode == CPUMODE_KERNEL) {
		const struct address_space *space = recording_space(ev, cpumode);

		locate_kernel_names(ev->recording, space, addr, loc.dso, ret);
	} else {
		ret->short_name = locate_short_name(ev->recording, loc.dso);
		ret->build_id = recording_build_id(
			ev->recording,
			dso_build_id_found(dso_of_id(&ev->recording->all->dso_ids, loc.dso_id)));
	}
	return 0;
}
