/* SPDX-License-Identifier: MIT */
/*
 * Signals that end a command which writes files: it stops reading, removes what it has not
 *finished, and then takes the signal's default action.
 *
 *	stopping_catch();
 *	stopping_watch(session);
 *	... read the session; if stopping_came(), remove the files
 *	stopping_watch(NULL);
 *	return stopping_end(status);
 */
#ifndef SONDE_CLI_STOPPING_H
#define SONDE_CLI_STOPPING_H

#include <sonde/sonde.h>

#include <stdbool.h>

/*
 * Catches SIGINT, SIGTERM and SIGHUP unless they are ignored (nohup). Exceeding a file size limit
 * becomes an error of the write.
 */
void stopping_catch(void);
/* The session that a signal stops. NULL: none; a signal then ends the process at once. */
void stopping_watch(struct sonde_session *s);
bool stopping_came(void);
/* Returns status, or reports that nothing is written and ends the process as the signal does. */
int stopping_end(int status);

#endif
