/* SPDX-License-Identifier: MIT */
/* sonde.h: what lies at an address. Answers are kept by address and by the stamp of the mappings that held. */

#include "locate.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "model/callchain.h"

#define CACHE_SLOTS 16384u /* memory of those that are not used is never touched */

struct located {
	uint64_t stamp; /* 0: a free slot */
	struct sonde_location loc;
};

const char *session_hex(struct sonde_session *s, const uint8_t *bytes, size_t len)
{
	char hex[2 * sizeof(((struct mapping *)0)->build_id)];
	uint32_t id;

	if (2 * len > sizeof(hex))
		return "";
	for (size_t i = 0; i < len; i++) {
		hex[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	if (strpool_intern(s->strings, hex, 2 * len, &id) < 0)
		return "";
	return strpool_text(s->strings, id);
}

static const char *build_id_text(struct sonde_session *s, const struct mapping *m, const char *dso)
{
	return m->build_id_len ? session_hex(s, m->build_id, m->build_id_len)
			       : locate_build_id(s, dso);
}

static void locate(struct sonde_session *s, const struct address_space *space, uint64_t addr,
		   bool kernel, struct sonde_location *ret)
{
	const struct mapping *m;

	*ret = (struct sonde_location){ .size = sizeof(*ret), .addr = addr, .dso_build_id = "" };
	m = kernel ? locate_kernel(s, space, addr, ret) : locate_user(s, space, addr, ret);
	if (!m)
		return;
	if (!ret->map_end) {
		ret->map_start = m->start;
		ret->map_end = m->end;
	}
	ret->map_pgoff = m->pgoff;
	if (kernel)
		ret->dso_build_id = build_id_text(s, m, ret->dso);
}

const char *sonde_unknown_text(uint32_t reason)
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
 * Between exec and the first instruction of the new program the registers of user space are those
 * of the call of execve(), in what was mapped before.
 *
 *	COMM exec | MMAP program | MMAP ld.so | MMAP [vdso] | first instruction
 *	          |--------- frames of the old image -------|
 */
static const struct address_space *space_around_exec(const struct event *ev,
						     struct address_space *space)
{
	uint64_t ip;

	if (ev->schema->kind > SONDE_SAMPLE)
		return space;
	if (ev->pub.cpumode != CPUMODE_USER) {
		if (!session_user_ip(ev, &ip))
			return space;
		if (!address_space_find(space, ip))
			return address_space_find(space->before, ip) ? space->before : space;
	}
	address_space_settle(space);
	return space;
}

const struct address_space *session_space(const struct event *ev, uint32_t cpumode)
{
	struct sonde_session *s = ev->session;
	struct address_space *space;

	/* Nothing is known of hypervisors and guests: the host's names would be wrong ones. */
	if (cpumode >= CPUMODE_HYPERVISOR)
		return NULL;
	if (cpumode == CPUMODE_KERNEL)
		return ev->owned ? ev->kernel_space : s->state.kernel;
	if (ev->owned)
		return ev->space;
	space = state_space_of(&s->state, ev->pub.pid, ev->pub.tid);
	return space && space->before ? space_around_exec(ev, space) : space;
}

static const struct sonde_location nowhere = { .size = sizeof(nowhere),
					       .unknown = SONDE_UNKNOWN_NO_MAPPING,
					       .dso_build_id = "" };

const struct sonde_location *sonde_event_located(const struct sonde_event *pub, uint64_t addr,
						 uint32_t cpumode)
{
	const struct event *ev = event_of(pub);
	const struct address_space *space;
	struct sonde_session *s;
	struct located *slot;

	NOT_NULL_NAMED(pub, "ev", &nowhere);
	s = ev->session;
	if (cpumode == SONDE_CPUMODE_OF_ADDRESS)
		cpumode = session_address_mode(ev, addr);
	space = session_space(ev, cpumode);
	if (!space) {
		s->unkept = (struct sonde_location){ .size = sizeof(s->unkept),
						     .addr = addr,
						     .unknown = cpumode >= CPUMODE_HYPERVISOR
									? SONDE_UNKNOWN_ELSEWHERE
									: SONDE_UNKNOWN_NO_MAPPING,
						     .dso_build_id = "" };
		return &s->unkept;
	}
	if (!s->located)
		s->located = calloc(CACHE_SLOTS, sizeof(*s->located));
	if (!s->located) {
		locate(s, space, addr, cpumode == CPUMODE_KERNEL, &s->unkept);
		return &s->unkept;
	}
	slot = &s->located[hash_u64(addr ^ space->stamp << 48) % CACHE_SLOTS];
	if (slot->stamp != space->stamp || slot->loc.addr != addr) {
		locate(s, space, addr, cpumode == CPUMODE_KERNEL, &slot->loc);
		slot->loc.answer = ++s->last_answer;
		slot->stamp = space->stamp;
	}
	return &slot->loc;
}

uint32_t session_address_mode(const struct event *ev, uint64_t addr)
{
	uint32_t mode = ev->pub.cpumode;
	bool guest = mode == CPUMODE_GUEST_KERNEL || mode == CPUMODE_GUEST_USER;
	bool kernel = addr >> 63;
	const struct address_space *space;

	if (!guest && mode != CPUMODE_KERNEL && mode != CPUMODE_USER)
		return mode;
	if (ev->session->opts.compat && sonde_event_located(&ev->pub, addr, mode)->map_end)
		return mode;
	space = session_space(ev, CPUMODE_USER);
	if (ev->schema && ev->schema->abi.long_bytes == 4)
		kernel = !space || !address_space_find(space, addr);
	return guest ? (kernel ? CPUMODE_GUEST_KERNEL : CPUMODE_GUEST_USER)
		     : (kernel ? CPUMODE_KERNEL : CPUMODE_USER);
}

int sonde_event_locate(const struct sonde_event *ev, uint64_t addr, uint32_t cpumode,
		       struct sonde_location *ret)
{
	NOT_NULL(ev, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	*ret = *sonde_event_located(ev, addr, cpumode);
	return 0;
}

/* "x" of "/usr/bin/x"; perf calls the map of a JIT by its process. */
static const char *short_name(struct sonde_session *s, const char *name)
{
	size_t len = strlen(name), from;
	char jit[40];
	uint32_t id;
	int pid, r;

	if (sscanf(name, "/tmp/perf-%d.map", &pid) == 1) {
		r = snprintf(jit, sizeof(jit), "[JIT] tid %d", pid);
		return strpool_intern(s->strings, jit, (size_t)r, &id) < 0
			       ? name
			       : strpool_text(s->strings, id);
	}
	while (len > 1 && name[len - 1] == '/')
		len--;
	for (from = len; from && name[from - 1] != '/';)
		from--;
	if (from == len || strpool_intern(s->strings, name + from, len - from, &id) < 0)
		return name;
	return strpool_text(s->strings, id);
}

int sonde_event_dso(const struct sonde_event *pub, uint64_t addr, uint32_t cpumode,
		    struct sonde_dso *ret)
{
	const struct event *ev = event_of(pub);
	struct sonde_location loc;

	NOT_NULL_NAMED(pub, "ev", -EINVAL);
	NOT_NULL(ret, -EINVAL);
	if (cpumode == SONDE_CPUMODE_OF_ADDRESS)
		cpumode = session_address_mode(ev, addr);
	TRY(sonde_event_locate(pub, addr, cpumode, &loc));
	if (!loc.dso || !loc.dso_id)
		return err_set(-ENOENT, "nothing is known to lie at 0x%llx",
			       (unsigned long long)addr);
	*ret = (struct sonde_dso){ .size = sizeof(*ret),
				   .id = loc.dso_id,
				   .long_name = loc.dso,
				   .build_id = loc.dso_build_id };
	if (cpumode == CPUMODE_KERNEL) {
		const struct address_space *space = session_space(ev, cpumode);

		locate_kernel_names(ev->session, space, addr, loc.dso, ret);
	} else {
		ret->short_name = short_name(ev->session, loc.dso);
		ret->build_id = dso_build_id_found((struct dso *)(uintptr_t)loc.dso_id);
	}
	return 0;
}
