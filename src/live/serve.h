/* SPDX-License-Identifier: MIT */
/*
 * The recorder's side of child.h: `sonde record -o - --serve`. It may have more rights than the one
 * who asks: it takes no settings that name files, and it runs no command.
 */
#ifndef SONDE_LIVE_SERVE_H
#define SONDE_LIVE_SERVE_H

/* See sonde_live_serve() in sonde.h. */
int live_serve(int in_fd, int out_fd, int say_fd);

#endif
