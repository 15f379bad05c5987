/* SPDX-License-Identifier: MIT */
#include "sudo_user.h"

#include "cli.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* sbin folders are for root, and sudo's own list of folders is root's. */
#define USERS_PATH "/usr/local/bin:/usr/bin:/bin"

/* ---- the user -------------------------------------------------------------------------------- */

/* A number of digits; false for any other text. */
static bool sudo_user_number(const char *text, uint32_t *ret)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	/* the largest number stands for "no user" */
	if (!isdigit((unsigned char)*text) || *end || errno || n >= UINT32_MAX)
		return false;
	*ret = (uint32_t)n;
	return true;
}

static int sudo_user_from_passwd(struct sudo_user *u, const struct passwd *pw)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", (unsigned)u->uid);
	u->name = strdup(pw ? pw->pw_name : number);
	u->home = strdup(pw && *pw->pw_dir ? pw->pw_dir : "/");
	u->shell = strdup(pw && *pw->pw_shell ? pw->pw_shell : "/bin/sh");
	if (u->name && u->home && u->shell)
		return 1;
	cli_say("out of memory");
	sudo_user_done(u);
	return -1;
}

int sudo_user_find(struct sudo_user *ret)
{
	const char *variable = getenv("SUDO_UID") ? "SUDO_UID" : "PKEXEC_UID";
	const char *uid = getenv(variable), *gid = getenv("SUDO_GID");
	struct sudo_user u = { 0 };
	const struct passwd *pw;

	if (geteuid() || !uid)
		return 0;
	if (!sudo_user_number(uid, &u.uid)) {
		cli_say("%s=%s is no user: without it a script would run as root; sudo sets it, "
			"and as root env -u %s leaves it out",
			variable, uid, variable);
		return -1;
	}
	if (!u.uid)
		return 0;
	pw = getpwuid(u.uid);
	u.gid = pw ? pw->pw_gid : u.uid;
	if (!strcmp(variable, "SUDO_UID") && gid && !sudo_user_number(gid, &u.gid)) {
		cli_say("SUDO_GID=%s is no group", gid);
		return -1;
	}
	if (sudo_user_from_passwd(&u, pw) < 0)
		return -1;
	*ret = u;
	return 1;
}

void sudo_user_done(struct sudo_user *u)
{
	free(u->name);
	free(u->home);
	free(u->shell);
	*u = (struct sudo_user){ 0 };
}

/* ---- becoming the user ----------------------------------------------------------------------- */

static int sudo_user_close_descriptors(int keep_fd)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	if (!d)
		return -1;
	while ((e = readdir(d))) {
		const int fd = atoi(e->d_name);

		if (fd > STDERR_FILENO && fd != keep_fd && fd != dirfd(d))
			close(fd);
	}
	return closedir(d);
}

/* Before the uid changes: it needs CAP_SETPCAP. */
static int sudo_user_empty_bounding_set(void)
{
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return -1;
	return 0;
}

static int sudo_user_empty_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	/* kernels before 4.3 have no ambient set */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
		return -1;
	return (int)syscall(SYS_capset, &head, none);
}

static int sudo_user_set_ids(const struct sudo_user *u, bool has_name)
{
	if ((has_name ? initgroups(u->name, u->gid) : setgroups(1, &u->gid)) < 0)
		return -1;
	if (setresgid(u->gid, u->gid, u->gid) < 0)
		return -1;
	return setresuid(u->uid, u->uid, u->uid);
}

/* Asks the kernel what is left. */
static bool sudo_user_is_complete(const struct sudo_user *u)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
	uid_t r, e, s;
	gid_t rg, eg, sg;

	if (getresuid(&r, &e, &s) < 0 || r != u->uid || e != u->uid || s != u->uid ||
	    getresgid(&rg, &eg, &sg) < 0 || rg != u->gid || eg != u->gid || sg != u->gid)
		return false;
	if (syscall(SYS_capget, &head, caps) < 0)
		return false;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		if (caps[i].permitted || caps[i].effective || caps[i].inheritable)
			return false;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && setuid(0) < 0;
}

static int sudo_user_set_environment(const struct sudo_user *u)
{
	static const char *const sudos[] = { "SUDO_UID",     "SUDO_GID",  "SUDO_USER",
					     "SUDO_COMMAND", "SUDO_HOME", "PKEXEC_UID" };

	for (size_t i = 0; i < sizeof(sudos) / sizeof(*sudos); i++)
		unsetenv(sudos[i]);
	unsetenv("MAIL");
	if (setenv("HOME", u->home, 1) || setenv("USER", u->name, 1) ||
	    setenv("LOGNAME", u->name, 1) || setenv("SHELL", u->shell, 1))
		return -1;
	return setenv("PATH", USERS_PATH, 1);
}

int sudo_user_become(const struct sudo_user *u, int keep_fd)
{
	const bool has_name = getpwnam(u->name) != NULL;
	const char *what = NULL;

	if (sudo_user_close_descriptors(keep_fd) < 0)
		what = "close descriptors";
	else if (sudo_user_empty_bounding_set() < 0)
		what = "empty the bounding set of capabilities";
	else if (sudo_user_set_ids(u, has_name) < 0)
		what = "take the user's ids";
	else if (sudo_user_empty_capabilities() < 0)
		what = "give up capabilities";
	else if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		what = "set no_new_privs";
	else if (sudo_user_set_environment(u) < 0)
		what = "set the environment";
	if (what) {
		cli_say("the script is not run: cannot %s to become %s: %m", what, u->name);
		return -1;
	}
	if (!sudo_user_is_complete(u)) {
		cli_say("the script is not run: the kernel has left rights of root");
		return -1;
	}
	return 0;
}
