/* SPDX-License-Identifier: MIT */
/* The lines of --control (control.h), read and obeyed. */
#ifndef SONDE_RECORD_COMMANDS_H
#define SONDE_RECORD_COMMANDS_H

struct control;
struct sonde_recorder;

/* After poll said that the channel has something, or has hung up. */
int control_serve(struct control *c, struct sonde_recorder *r);

#endif
