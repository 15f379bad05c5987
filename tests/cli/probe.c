/* SPDX-License-Identifier: MIT */
/*
 * Enters the sandbox of cli/sandbox.c, tries what it should deny, and prints how each try ended.
 *
 *	probe try INPUT OUTSIDE OUTPUT     if OUTPUT is "", the sandbox is for reading only
 *	probe reach INPUT OUTSIDE OUTPUT PID     each system call that the filter allows, with
 *	                                         arguments
 *	                                         that name a file or a process outside
 *	probe without landlock|seccomp|both COMMAND...     runs COMMAND as on a kernel without these
 */
#include "cli.h"
#include "lines.h"
#include "sandbox.c" /* for its lists of system calls */

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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void report(const char *what, long r)
{
	printf("%s: %s\n", what, r < 0 ? strerror(errno) : "done");
}

static char *in_folder_of(const char *path, const char *name)
{
	char *all;
	int len = (int)(strrchr(path, '/') + 1 - path);

	return asprintf(&all, "%.*s%s", len, path, name) < 0 ? NULL : all;
}

static int enter(struct lines *lines, const char *input, const char *output)
{
	const struct cli cli = { 0 };
	struct opt_parser p = { 0 };

	return lines_set(lines, &p, "input", "input", input) < 0 ||
	       sandbox_enter(&cli, lines, *output ? output : NULL);
}

static int try_all(const char *input, const char *outside, const char *output)
{
	struct lines lines = { 0 };
	char *const no_words[] = { "true", NULL };
	char path[4096];
	long pid;
	int fd;

	if (enter(&lines, input, output))
		return 1;
	report("read the recording", open(input, O_RDONLY));
	report("read a file outside", open(outside, O_RDONLY));
	report("write the recording", open(input, O_WRONLY));
	report("write a file outside", open(outside, O_WRONLY | O_APPEND));
	report("make a file beside the recording",
	       open(in_folder_of(input, "made"), O_WRONLY | O_CREAT, 0600));
	report("remove the recording", unlink(input));
	snprintf(path, sizeof(path), "%s", getenv("TMPDIR"));
	report("a temporary file", fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
	report("write it", write(fd, "x", 1));
	report("memory", (long)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0) == -1
				 ? -1
				 : 0);
	report("executable memory", (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC,
					       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -1
					    ? -1
					    : 0);
	report("run a program", execv("/bin/true", no_words));
	pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		_exit(0);
	report("a process", pid);
	report("a socket", socket(AF_INET, SOCK_STREAM, 0));
	report("a local socket", socket(AF_UNIX, SOCK_STREAM, 0));
	report("trace a process", ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
	report("a signal to the parent", kill(getppid(), 0));
	report("open a perf event", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
	report("mount", syscall(SYS_mount, "a", "b", "c", 0, NULL));
	if (*output) {
		report("make the output",
		       fd = open(output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
		report("write the output", write(fd, "x", 1));
		report("rename it", rename(output, in_folder_of(output, "renamed")));
		report("remove it", unlink(in_folder_of(output, "renamed")));
	}
	lines_done(&lines);
	return 0;
}

/* A system call. own: no argument of it can name anything outside of this process. */
struct reach {
	const char *name;
	long nr;
	bool own;
	long args[6];
};

#define OWN(call)                              \
	{                                      \
#call, SYS_##call, .own = true \
	}
#define TO(call, ...)                                      \
	{                                                  \
#call, SYS_##call, .args = { __VA_ARGS__ } \
	}
#define WITH(call, what, ...)                                       \
	{                                                           \
#call " " what, SYS_##call, .args = { __VA_ARGS__ } \
	}
#define AT(pointer) ((long)(uintptr_t)(pointer))

static void say_untried(const struct reach *tries, size_t nr_tries, const int *nrs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t at = 0;

		while (at < nr_tries && tries[at].nr != nrs[i])
			at++;
		if (at == nr_tries)
			printf("untried: %d\n", nrs[i]);
	}
}

static int reach_all(const char *input, const char *outside, const char *output, pid_t pid)
{
	struct lines lines = { 0 };
	static char buf[4096] __attribute__((aligned(4096)));
	const struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	const struct rlimit limit = { 3, 3 };
	const struct iovec iov = { buf, 1 };
	const int owner[2] = { 1 /* F_OWNER_PID */, pid };
	const char *const made = *output ? output : input;
	const int folder = open(in_folder_of(outside, "."), O_PATH);
	const long now = (long)CLOCK_REALTIME, cpu_of = (long)(~(unsigned)pid << 3 | 2);

	if (enter(&lines, input, output))
		return 1;
	/* in may be read; path only names a file. */
	const int in = open(input, O_RDONLY), path = open(outside, O_PATH);
	const struct reach tries[] = {
		TO(read, path, AT(buf), 1),
		TO(pread64, path, AT(buf), 1),
		TO(readv, path, AT(&iov), 1),
		TO(preadv, path, AT(&iov), 1),
		TO(write, in, AT(buf), 1),
		TO(pwrite64, in, AT(buf), 1),
		TO(writev, in, AT(&iov), 1),
		TO(pwritev, in, AT(&iov), 1),
		TO(lseek, path, 0, SEEK_END),
		OWN(close),
		TO(fstat, path, AT(buf)),
		TO(statx, AT_FDCWD, AT(outside), 0, STATX_ALL, AT(buf)),
		TO(getdents64, folder, AT(buf), sizeof(buf)),
		TO(readlinkat, AT_FDCWD, AT(outside), AT(buf), sizeof(buf)),
		TO(faccessat, AT_FDCWD, AT(outside), R_OK),
		OWN(getcwd),
		TO(ftruncate, in, 0),
		TO(fallocate, in, 0, 0, 1),
		TO(fsync, path),
		TO(fdatasync, path),
		WITH(fcntl, "F_SETOWN", in, F_SETOWN, pid),
		WITH(fcntl, "F_SETOWN_EX", in, F_SETOWN_EX, AT(owner)),
		WITH(fcntl, "F_SETSIG", in, F_SETSIG, SIGKILL),
		WITH(fcntl, "O_ASYNC", STDOUT_FILENO, F_SETFL, O_ASYNC),
		WITH(fcntl, "F_SETLEASE", in, F_SETLEASE, F_RDLCK),
		WITH(fcntl, "F_NOTIFY", folder, F_NOTIFY, 2),
		OWN(dup),
		OWN(dup3),
		WITH(utimensat, "path", AT_FDCWD, AT(outside), AT(times), 0),
		WITH(utimensat, "recording", AT_FDCWD, AT(input), AT(times), 0),
		WITH(utimensat, "empty path", path, AT(""), AT(times), AT_EMPTY_PATH),
		WITH(utimensat, "descriptor", path, 0, AT(times), 0),
		TO(copy_file_range, in, 0, path, 0, 1, 0),
		TO(sendfile, path, in, 0, 1),
		TO(splice, in, 0, path, 0, 1, 0),
		TO(vmsplice, path, AT(&iov), 1, 0),
		OWN(munmap),
		OWN(mremap),
		/* A length of 0, because the kernel would do it. */
		WITH(madvise, "MADV_HWPOISON", AT(buf), 0, 100),
		WITH(madvise, "MADV_SOFT_OFFLINE", AT(buf), 0, 101),
		OWN(brk),
		TO(futex, 8, 1 /* FUTEX_WAKE */, 1),
		OWN(sched_yield),
		TO(sched_getaffinity, pid, sizeof(buf), AT(buf)),
		OWN(getpid),
		OWN(gettid),
		OWN(getuid),
		OWN(geteuid),
		OWN(getgid),
		OWN(getegid),
		OWN(getrandom),
		OWN(uname),
		OWN(sysinfo),
		TO(prlimit64, pid, RLIMIT_NOFILE, AT(&limit), 0),
		WITH(prlimit64, "asked", pid, RLIMIT_NOFILE, 0, AT(buf)),
		TO(getrusage, pid, AT(buf)),
		TO(clock_gettime, cpu_of, AT(buf)),
		TO(clock_getres, cpu_of, AT(buf)),
		TO(clock_nanosleep, cpu_of, 0, AT(&(struct timespec){ 0 }), 0),
		OWN(nanosleep),
		OWN(rt_sigaction),
		OWN(rt_sigprocmask),
		OWN(rt_sigreturn),
		OWN(sigaltstack),
		OWN(restart_syscall),
		OWN(ppoll),
		OWN(pselect6),
		TO(wait4, pid, 0, 0, 0),
		TO(waitid, P_PID, pid, AT(buf), WEXITED, 0),
		OWN(set_robust_list),
		OWN(exit),
		OWN(exit_group),
#ifdef SYS_fadvise64
		TO(fadvise64, path, 0, 0, POSIX_FADV_DONTNEED),
#endif
#ifdef SYS_faccessat2
		TO(faccessat2, AT_FDCWD, AT(outside), R_OK, 0),
#endif
#ifdef SYS_rseq
		OWN(rseq),
#endif
#ifdef SYS_newfstatat
		TO(newfstatat, AT_FDCWD, AT(outside), AT(buf), 0),
#endif
#ifdef SYS_fstatat64
		TO(fstatat64, AT_FDCWD, AT(outside), AT(buf), 0),
		TO(fstat64, path, AT(buf)),
		TO(_llseek, path, 0, 0, AT(buf), SEEK_END),
		WITH(fcntl64, "F_SETOWN", in, F_SETOWN, pid),
		TO(ftruncate64, in, 0, 0),
#endif
#ifdef SYS_stat
		TO(stat, AT(outside), AT(buf)),
		TO(lstat, AT(outside), AT(buf)),
		TO(access, AT(outside), R_OK),
		TO(readlink, AT(outside), AT(buf), sizeof(buf)),
		OWN(poll),
		OWN(select),
		OWN(dup2),
		OWN(time),
		OWN(gettimeofday),
#endif
		/* Calls that make files. They are tried without an output, too. */
		WITH(openat, "write", AT_FDCWD, AT(outside), O_WRONLY),
		WITH(openat, "read", AT_FDCWD, AT(outside), O_RDONLY),
		WITH(openat, "descriptor", folder, AT("secret"), O_RDONLY),
		TO(linkat, AT_FDCWD, AT(outside), AT_FDCWD, AT(in_folder_of(made, "linked")), 0),
		WITH(linkat, "descriptor", path, AT(""), AT_FDCWD, AT(in_folder_of(made, "linked")),
		     AT_EMPTY_PATH),
		TO(unlinkat, AT_FDCWD, AT(outside), 0),
		TO(renameat2, AT_FDCWD, AT(outside), AT_FDCWD, AT(in_folder_of(made, "renamed")),
		   0),
		TO(mkdirat, AT_FDCWD, AT(in_folder_of(outside, "made")), 0700),
		WITH(fchmod, "recording", in, 0),
		WITH(fchown, "recording", in, getuid(), getgid()),
#ifdef SYS_renameat
		TO(renameat, AT_FDCWD, AT(outside), AT_FDCWD, AT(in_folder_of(made, "renamed"))),
#endif
#ifdef SYS_open
		WITH(open, "write", AT(outside), O_WRONLY),
		WITH(open, "read", AT(outside), O_RDONLY),
		TO(unlink, AT(outside)),
		TO(rename, AT(outside), AT(in_folder_of(made, "renamed"))),
		TO(mkdir, AT(in_folder_of(outside, "made")), 0700),
		TO(rmdir, AT(in_folder_of(outside, "empty"))),
#endif
		/* Calls whose arguments the filter checks. */
		TO(mprotect, AT(buf), sizeof(buf), PROT_READ | PROT_EXEC),
#ifdef SYS_mmap2
		TO(mmap2, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
#else
		TO(mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
#endif
		WITH(ioctl, "TIOCSTI", STDOUT_FILENO, TIOCSTI, AT(buf)),
		WITH(ioctl, "FIOSETOWN", STDOUT_FILENO, FIOSETOWN, AT(&owner[1])),
		TO(tgkill, pid, pid, 0),
	};
	const size_t nr = sizeof(tries) / sizeof(*tries);

	for (size_t i = 0; i < nr; i++) {
		const struct reach *t = tries + i;

		if (!t->own)
			report(t->name, syscall(t->nr, t->args[0], t->args[1], t->args[2],
						t->args[3], t->args[4], t->args[5]));
	}
	say_untried(tries, nr, calls, sizeof(calls) / sizeof(*calls));
	say_untried(tries, nr, making, sizeof(making) / sizeof(*making));
	report("own: prlimit64", syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, buf));
	report("own: clock_gettime", syscall(SYS_clock_gettime, now, buf));
	report("own: fcntl", syscall(SYS_fcntl, in, F_DUPFD_CLOEXEC, 3));
	lines_done(&lines);
	return 0;
}

/* Makes these calls fail with ENOSYS, also in programs that are started from here. */
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
	if (argc == 6 && !strcmp(argv[1], "reach"))
		return reach_all(argv[2], argv[3], argv[4], atoi(argv[5]));
	if (argc < 4 || strcmp(argv[1], "without") ||
	    hide(strcmp(argv[2], "seccomp"), strcmp(argv[2], "landlock")))
		return 2;
	execv(argv[3], argv + 3);
	return 1;
}
