/* SPDX-License-Identifier: MIT */
/* -I and --user-regs: the registers of this machine that a sample can contain, by name. */
#ifndef SONDE_CAPTURE_SETUP_REGISTERS_H
#define SONDE_CAPTURE_SETUP_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * text: names separated by commas; "" means all. "?" lists them and fails with -EBADR, as a mistake
 * does. option: for messages. at_interrupt: -I, for which some processors have more registers.
 */
int capture_registers_parse(const char *option, const char *text, bool at_interrupt, uint64_t *ret);
/* All registers of user space. */
uint64_t capture_registers_all(void);
/*
 * The registers that unwinding needs: instruction and stack pointer; all if these have no known
 * names.
 */
uint64_t capture_registers_least(void);

#endif
