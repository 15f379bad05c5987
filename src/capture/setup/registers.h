/* SPDX-License-Identifier: MIT */
/* -I and --user-regs: which registers of this machine a sample can hold, by their names. */
#ifndef SONDE_CAPTURE_SETUP_REGISTERS_H
#define SONDE_CAPTURE_SETUP_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * text: names separated by commas, "" all that there are; "?" lists them, which ends in -EBADR as a mistake does. option:
 * for messages. at_interrupt: -I, which some processors give more of.
 */
int capture_registers_parse(const char *option, const char *text, bool at_interrupt, uint64_t *ret);
/* Those of user space. */
uint64_t capture_registers_all(void);
/* What unwinding cannot do without: instruction and stack pointer; all where these are not known by name. */
uint64_t capture_registers_least(void);

#endif
