/* SPDX-License-Identifier: MIT */
/* Reads and runs the commands of --control (control.h). */
#ifndef SONDE_RECORD_COMMANDS_H
#define SONDE_RECORD_COMMANDS_H

struct control;
struct sonde_recorder;

/* Called after poll() reported input or a hang-up on the channel. */
int commands_serve(struct control *c, struct sonde_recorder *r);

#endif
