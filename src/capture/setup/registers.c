/* SPDX-License-Identifier: MIT */
#include "capture/setup/registers.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "capture/probe.h"
#include "model/registers.h"

enum { MASK_BITS = 64 };

/* A register may have two bits (128-bit registers on x86); both are requested together. */
static uint64_t registers_bits(unsigned nr, char name[16], const char **ret_name)
{
	char next[16];
	const char *own = register_name(&default_rules, NULL, nr, name);
	const char *second;

	*ret_name = own;
	if (nr + 1 == MASK_BITS)
		return (uint64_t)1 << nr;
	second = register_name(&default_rules, NULL, nr + 1, next);
	return (strcmp(own, second) ? (uint64_t)1 : (uint64_t)3) << nr;
}

static bool registers_kernel_takes(uint64_t bits, bool at_interrupt)
{
	struct perf_event_attr user = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_REGS_USER,
		.sample_regs_user = bits,
	};
	struct perf_event_attr counter = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_type = PERF_SAMPLE_REGS_INTR,
		.sample_regs_intr = bits,
		.sample_period = 1,
		.precise_ip = 1,
	};

	const int error = capture_probe(&user);

	/* a user who may record nothing at all gets that error later */
	return (error != EINVAL && error != EOPNOTSUPP) ||
	       (at_interrupt && capture_probe(&counter) == 0);
}

struct visit {
	bool at_interrupt;
	const char *wanted; /* NULL means all */
	uint64_t found;
	char list[512];
	size_t len;
};

/*
 * Collects the registers that the kernel can sample and that have names: bits in v->found, names in
 * v->list.
 */
static void registers_each(struct visit *v)
{
	char room[16];
	const char *name;

	for (unsigned nr = 0; nr < MASK_BITS; nr++) {
		const uint64_t bits = registers_bits(nr, room, &name);

		if (!strcmp(name, "unknown") || (v->wanted && strcasecmp(v->wanted, name)))
			continue;
		if (!(v->found & bits) && registers_kernel_takes(bits, v->at_interrupt)) {
			v->found |= bits;
			v->len += (size_t)snprintf(v->list + v->len, sizeof(v->list) - v->len,
						   " %s", name);
			if (v->len >= sizeof(v->list))
				v->len = sizeof(v->list) - 1;
		}
	}
}

static uint64_t registers_named(const char *name, bool at_interrupt)
{
	struct visit v = { .at_interrupt = at_interrupt, .wanted = name };

	registers_each(&v);
	return v.found;
}

int capture_registers_parse(const char *option, const char *text, bool at_interrupt, uint64_t *ret)
{
	struct visit all = { .at_interrupt = at_interrupt };
	uint64_t mask = 0;

	registers_each(&all);
	if (!all.found)
		return err_set(-ENOTSUP, "%s: this kernel records no registers", option);
	if (!*text) {
		*ret = all.found;
		return 0;
	}
	for (const char *at = text;; at++) {
		const size_t len = strcspn(at, ",");
		char name[16] = "";
		uint64_t bits = 0;

		if (len == 1 && *at == '?')
			return err_set(-EBADR, "available registers:%s", all.list);
		if (len && len < sizeof(name)) {
			memcpy(name, at, len);
			bits = registers_named(name, at_interrupt);
		}
		if (!bits)
			return err_set(-EBADR,
				       "%s: there is no register '%.*s' to record here; the "
				       "registers are:%s",
				       option, (int)(len < 64 ? len : 64), at, all.list);
		mask |= bits;
		at += len;
		if (!*at)
			break;
	}
	*ret = mask;
	return 0;
}

uint64_t capture_registers_all(void)
{
	struct visit all = { 0 };

	registers_each(&all);
	return all.found;
}

uint64_t capture_registers_least(void)
{
	/* "pc" is tried first: the r12 of arm is called ip */
	static const char *const instruction[] = { "pc", "ip", "nip" };
	const uint64_t stack = registers_named("sp", false);

	for (size_t i = 0; stack && i < sizeof(instruction) / sizeof(*instruction); i++) {
		const uint64_t bits = registers_named(instruction[i], false);

		if (bits)
			return stack | bits;
	}
	return capture_registers_all();
}
