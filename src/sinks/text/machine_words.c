/* SPDX-License-Identifier: MIT */
#include "sinks/text/machine_words.h"

#include <stdio.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *branch_type_name(const struct rules *rules, uint64_t flags, char room[24])
{
	static const char *const types[] = { "",         "COND", "UNCOND",  "IND",    "CALL",
					     "IND_CALL", "RET",  "SYSCALL", "SYSRET", "COND_CALL",
					     "COND_RET", "ERET", "IRQ",     "SERROR", "NO_TX" };
	static const char *const more[] = { "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
					    "ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5" };
	unsigned type = flags >> 20 & 15, new_type = flags >> 26 & 15;

	if (type < COUNT(types))
		return types[type];
	if (new_type < COUNT(more))
		return more[new_type];
	if (rules->new_branches_are_null)
		return "(null)";
	snprintf(room, 24, "NEW_%u", new_type);
	return room;
}
