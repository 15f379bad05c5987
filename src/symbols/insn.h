/* SPDX-License-Identifier: MIT */
/*
 * Lengths of machine instructions. Bytes come from the caller: recording_insn() in code.h has those at an address of a
 * process. A build without capstone knows no lengths of x86.
 */
#ifndef SONDE_SYMBOLS_INSN_H
#define SONDE_SYMBOLS_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INSN_MAX_BYTES = 16 };

/* What code is made for. */
enum insn_arch { INSN_UNKNOWN, INSN_X86_64, INSN_I386, INSN_ARM64 };

struct insn_decoder;

int insn_decoder_new(struct insn_decoder **ret);
void insn_decoder_free(struct insn_decoder *d); /* NULL is fine */
enum insn_arch insn_arch_of(uint16_t elf_machine);
/* Bytes of the instruction that code begins with; 0 when it is none, is cut off, or cannot be told. */
unsigned insn_length(struct insn_decoder *d, enum insn_arch arch, const uint8_t *code, size_t len);
/* Whether execution may go on elsewhere than behind it: jumps, calls, returns, system calls. */
bool insn_branches(struct insn_decoder *d, enum insn_arch arch, const uint8_t *code, size_t len);

#endif
