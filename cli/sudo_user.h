/* SPDX-License-Identifier: MIT */
/*
 * The user behind sudo(8) or pkexec(1), and how a process of root becomes that user for good:
 *
 *	groups, gid, uid (real, effective, saved)   of the user
 *	capabilities                                none, also in the bounding set
 *	no_new_privs                                set: no program gives rights back
 *	descriptors                                 0, 1, 2 and one that is named
 *	HOME USER LOGNAME SHELL PATH                of the user; SUDO_* are unset
 */
#ifndef SONDE_CLI_SUDO_USER_H
#define SONDE_CLI_SUDO_USER_H

#include <sys/types.h>

struct sudo_user {
	uid_t uid;
	gid_t gid;
	char *name, *home, *shell; /* owned */
};

/*
 * Returns 1 if this process is root because a user has called sudo or pkexec, 0 if not, and -1
 * after reporting that the user is not known.
 */
int sudo_user_find(struct sudo_user *ret);
/*
 * Becomes the user. keep_fd: a descriptor that stays open, or -1. Returns -1 after reporting a
 * failure: the process then has an unknown part of its rights and must end.
 */
int sudo_user_become(const struct sudo_user *u, int keep_fd);
void sudo_user_done(struct sudo_user *u);

#endif
