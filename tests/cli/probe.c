/* SPDX-License-Identifier: MIT */
/*
 * What a process may still do that has entered cli/sandbox.c: tries it, and tells how each try ended.
 *
 *	probe try INPUT OUTSIDE OUTPUT     OUTPUT "": the sandbox is for reading only
 *	probe without landlock|seccomp|both COMMAND...     COMMAND as on a kernel that lacks these
 */
#include "cli.h"
#include "lines.h"
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void tell(const char *what, long r)
{
	printf("%s: %s\n", what, r < 0 ? strerror(errno) : "done");
}

static char *in_folder_of(const char *path, const char *name)
{
	char *all;
	int len = (int)(strrchr(path, '/') + 1 - path);

	return asprintf(&all, "%.*s%s", len, path, name) < 0 ? NULL : all;
}

static int try_all(const char *input, const char *outside, const char *output)
{
	const struct cli cli = { 0 };
	struct opt_parser p = { 0 };
	struct lines lines = { 0 };
	char *const no_words[] = { "true", NULL };
	char path[4096];
	long pid;
	int fd;

	if (lines_set(&lines, &p, "input", "input", input) < 0 ||
	    sandbox_enter(&cli, &lines, *output ? output : NULL))
		return 1;
	tell("read the recording", open(input, O_RDONLY));
	tell("read a file outside", open(outside, O_RDONLY));
	tell("write the recording", open(input, O_WRONLY));
	tell("write a file outside", open(outside, O_WRONLY | O_APPEND));
	tell("make a file beside the recording",
	     open(in_folder_of(input, "made"), O_WRONLY | O_CREAT, 0600));
	tell("remove the recording", unlink(input));
	snprintf(path, sizeof(path), "%s", getenv("TMPDIR"));
	tell("a temporary file", fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
	tell("write it", write(fd, "x", 1));
	tell("memory", (long)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0) == -1
			       ? -1
			       : 0);
	tell("executable memory",
	     (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -1
		     ? -1
		     : 0);
	tell("run a program", execv("/bin/true", no_words));
	pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		_exit(0);
	tell("a process", pid);
	tell("a socket", socket(AF_INET, SOCK_STREAM, 0));
	tell("a local socket", socket(AF_UNIX, SOCK_STREAM, 0));
	tell("trace a process", ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
	tell("a signal to the parent", kill(getppid(), 0));
	tell("open a perf event", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
	tell("mount", syscall(SYS_mount, "a", "b", "c", 0, NULL));
	if (*output) {
		tell("make the output",
		     fd = open(output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
		tell("write the output", write(fd, "x", 1));
		tell("name it anew", rename(output, in_folder_of(output, "renamed")));
		tell("remove it", unlink(in_folder_of(output, "renamed")));
	}
	lines_done(&lines);
	return 0;
}

/* ENOSYS from these calls, for all that is started from here. */
static int hide(bool landlock, bool seccomp)
{
	struct sock_filter code[] = {
		{ BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr) },
		{ BPF_JMP | BPF_JEQ | BPF_K, landlock ? 2 : 0, 0, 444 },
		{ BPF_JMP | BPF_JEQ | BPF_K, seccomp ? 1 : 0, 0, SYS_seccomp },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS },
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc == 5 && !strcmp(argv[1], "try"))
		return try_all(argv[2], argv[3], argv[4]);
	if (argc < 4 || strcmp(argv[1], "without") ||
	    hide(strcmp(argv[2], "seccomp"), strcmp(argv[2], "landlock")))
		return 2;
	execv(argv[3], argv + 3);
	return 1;
}
