/* SPDX-License-Identifier: MIT */
/*
 * Lengths of machine instructions. The caller passes the bytes: recording_insn() in code.h reads
 * them at an address of a process. A build without capstone does not know the lengths of x86.
 */
#ifndef SONDE_SYMBOLS_INSN_H
#define SONDE_SYMBOLS_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INSN_MAX_BYTES = 16 };

/* The architecture that code is for. */
enum insn_arch { INSN_UNKNOWN, INSN_X86_64, INSN_I386, INSN_ARM64 };

struct insn_decoder;

int insn_decoder_new(struct insn_decoder **ret);
void insn_decoder_free(struct insn_decoder *d); /* NULL is fine */
enum insn_arch insn_arch_of(uint16_t elf_machine);
/* The size of the first instruction in code; 0 if it is invalid, truncated, or unknown. */
unsigned insn_length(struct insn_decoder *d, enum insn_arch arch, const uint8_t *code, size_t len);
/* True if execution may continue elsewhere: jumps, calls, returns, system calls. */
bool insn_branches(struct insn_decoder *d, enum insn_arch arch, const uint8_t *code, size_t len);

#endif
