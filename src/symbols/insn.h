/* SPDX-License-Identifier: MIT */
/*
 * Lengths of machine instructions. Bytes come from the caller: see session_insn() in code.h for those at an address of a
 * process.
 */
#ifndef SONDE_SYMBOLS_INSN_H
#define SONDE_SYMBOLS_INSN_H

#include <stddef.h>
#include <stdint.h>

enum { INSN_MAX_BYTES = 16 };

/* What code is made for; read from ELF's e_machine and class. */
enum insn_arch { INSN_UNKNOWN, INSN_X86_64, INSN_I386, INSN_ARM64 };

enum insn_arch insn_arch_of(uint16_t elf_machine, uint8_t elf_class);
/* Bytes of the instruction that code begins with; 0 when it is none, is cut off, or this build cannot tell. */
unsigned insn_length(enum insn_arch arch, const uint8_t *code, size_t len);

#endif
