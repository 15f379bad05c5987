/* SPDX-License-Identifier: MIT */
/*
 * The process of `sonde run` under sudo that keeps the rights: it starts recorders for the script's
 * process, which has given its rights up, and nothing else. It ends with that process.
 *
 *	sonde run (root) --fork--> broker (root) --> sonde record -o - --serve (root)
 *	    | sudo_user_become()      ^
 *	    `--> python3 x.py (user) -' a socket, see sonde_live_options.broker_fd
 */
#ifndef SONDE_CLI_RECORD_BROKER_H
#define SONDE_CLI_RECORD_BROKER_H

/*
 * Starts the broker of this process. Returns the socket to it, which programs that this process
 * becomes inherit, or -1 after reporting a failure.
 */
int record_broker_start(void);

#endif
