/* SPDX-License-Identifier: MIT */
/*
 * BPF programs: what the kernel tells of each (bpf_prog_info with its arrays, its types as BTF), for the features
 * BPF_PROG_INFO and BPF_BTF, and the names and places of their functions, for records. A program is asked for while it is
 * loaded: at the beginning, or when its record is drained.
 *
 *	TRY(bpf_programs_new(&p, false));
 *	bpf_programs_find(p);                  // those that are loaded now
 *	bpf_programs_add(p, id);               // one that was loaded later
 *	bpf_programs_put_info(p, &body);       bpf_programs_put_types(p, &body);
 *	bpf_programs_each_function(p, visit, ctx);
 *
 * Any thread may call these. A kernel that tells nothing (no BPF, no rights) leaves the list empty and is_listed false.
 */
#ifndef SONDE_CAPTURE_RUNNING_BPF_H
#define SONDE_CAPTURE_RUNNING_BPF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"

enum { BPF_TAG_BYTES = 8, BPF_FUNCTION_NAME_BYTES = 512 };

struct bpf_programs;

/* A function of a program, or the last word on a program: name NULL. */
struct bpf_function {
	uint32_t program;
	const uint8_t *tag; /* of the program, BPF_TAG_BYTES */
	uint64_t addr;
	uint32_t len;
	const char *name; /* lent for the call */
};

/* names_only: their functions, as symbols; no program is described. */
int bpf_programs_new(struct bpf_programs **ret, bool names_only);
void bpf_programs_free(struct bpf_programs *p);
void bpf_programs_find(struct bpf_programs *p);
void bpf_programs_add(struct bpf_programs *p, uint32_t id);
/* Bodies of the features; nothing when the kernel tells nothing. */
void bpf_programs_put_info(struct bpf_programs *p, struct outbuf *o);
void bpf_programs_put_types(struct bpf_programs *p, struct outbuf *o);
/* Of the programs that the last find found: each function, then the program itself. */
void bpf_programs_each_function(struct bpf_programs *p,
				void (*visit)(void *ctx, const struct bpf_function *f), void *ctx);
/* Whether one of them is called through code that the kernel made for it: trampolines, dispatchers. */
bool bpf_programs_have_images(struct bpf_programs *p);

#endif
