/* SPDX-License-Identifier: MIT */
/*
 * BPF programs: their bpf_prog_info with its arrays and their types as BTF, for the features
 * BPF_PROG_INFO and BPF_BTF; and the names and addresses of their functions, for records. A program
 * can be queried only while it is loaded: at the beginning, or when its record is drained.
 *
 *	TRY(bpf_programs_new(&p, false));
 *	bpf_programs_find(p);                  // those that are loaded now
 *	bpf_programs_add(p, id);               // one that was loaded later
 *	bpf_programs_put_info(p, &body);       bpf_programs_put_types(p, &body);
 *	bpf_programs_each_function(p, visit, ctx);
 *
 * Any thread may call these. If the kernel reports nothing (no BPF, no rights), the list is empty
 * and is_listed is false.
 */
#ifndef SONDE_CAPTURE_RUNNING_BPF_H
#define SONDE_CAPTURE_RUNNING_BPF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"

enum { BPF_TAG_BYTES = 8, BPF_FUNCTION_NAME_BYTES = 512 };

struct bpf_programs;

/*
 * A function of a program. The last call for a program has name NULL and describes the program
 * itself.
 */
struct bpf_function {
	uint32_t program;
	const uint8_t *tag; /* of the program, BPF_TAG_BYTES */
	uint64_t addr;
	uint32_t len;
	const char *name; /* borrowed for the call */
};

/* names_only: collects functions as symbols only, and describes no program. */
int bpf_programs_new(struct bpf_programs **ret, bool names_only);
void bpf_programs_free(struct bpf_programs *p);
void bpf_programs_find(struct bpf_programs *p);
void bpf_programs_add(struct bpf_programs *p, uint32_t id);
/* Append the bodies of the features; nothing if the kernel reports nothing. */
void bpf_programs_put_info(struct bpf_programs *p, struct outbuf *o);
void bpf_programs_put_types(struct bpf_programs *p, struct outbuf *o);
/* For each program of the last find: visits each function, then the program itself. */
void bpf_programs_each_function(struct bpf_programs *p,
				void (*visit)(void *ctx, const struct bpf_function *f), void *ctx);
/* True if the kernel made code to call one of them: trampolines, dispatchers. */
bool bpf_programs_have_images(struct bpf_programs *p);

#endif
