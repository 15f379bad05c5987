/* SPDX-License-Identifier: MIT */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/*
 * ---- Landlock: see landlock(7). Spelled out here because the headers may be older than the
 * kernel.
 */

enum {
	NR_LANDLOCK_CREATE = 444, /* the same numbers on every machine */
	NR_LANDLOCK_ADD = 445,
	NR_LANDLOCK_RESTRICT = 446,
	LANDLOCK_ASK_VERSION = 1,
	LANDLOCK_PATH_BENEATH = 1
};
enum {
	FS_WRITE_FILE = 1 << 1,
	FS_READ_FILE = 1 << 2,
	FS_READ_DIR = 1 << 3,
	FS_REMOVE_DIR = 1 << 4,
	FS_REMOVE_FILE = 1 << 5,
	FS_MAKE_DIR = 1 << 7,
	FS_MAKE_REG = 1 << 8,
	FS_REFER = 1 << 13,   /* ABI 2; renaming between folders */
	FS_TRUNCATE = 1 << 14 /* ABI 3 */
};
#define FS_OF_A_FILE (FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE)

struct landlock_attr {
	uint64_t fs, net, scoped;
};
struct landlock_beneath {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

/* All rights that a version of Landlock handles: those that are not granted below are denied. */
static struct landlock_attr sandbox_landlock_all(int abi, size_t *ret_size)
{
	const unsigned fs_bits = abi >= 5 ? 16 : abi >= 3 ? 15 : abi >= 2 ? 14 : 13;

	*ret_size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
	return (struct landlock_attr){
		.fs = (UINT64_C(1) << fs_bits) - 1,
		.net = abi >= 4 ? 3 : 0,
		.scoped = abi >= 6 ? 3 : 0,
	};
}

struct fence {
	int abi;     /* 0 if the kernel has no Landlock */
	int rules;   /* descriptor of the rule set */
	uint64_t fs; /* rights that the rule set handles */
};

static bool sandbox_allow_fd(const struct fence *f, int fd, uint64_t rights)
{
	struct landlock_beneath rule = { .fd = fd };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	rule.allowed = (S_ISDIR(st.st_mode) ? rights : rights & FS_OF_A_FILE) & f->fs;
	return !rule.allowed ||
	       !syscall(NR_LANDLOCK_ADD, f->rules, LANDLOCK_PATH_BENEATH, &rule, 0);
}

/* A missing file needs no permission. */
static bool sandbox_allow(const struct fence *f, const char *path, uint64_t rights)
{
	int fd = path && *path ? open(path, O_PATH | O_CLOEXEC) : -1;
	bool done = fd < 0 || sandbox_allow_fd(f, fd, rights);

	if (fd >= 0)
		close(fd);
	return done;
}

#define TO_READ ((uint64_t)FS_READ_FILE | FS_READ_DIR)
#define TO_WRITE                                                                              \
	(TO_READ | FS_WRITE_FILE | FS_TRUNCATE | FS_MAKE_REG | FS_MAKE_DIR | FS_REMOVE_FILE | \
	 FS_REFER)

/* ---- what is read ---------------------------------------------------------------------------- */

/* Files of the running system that are needed for times, for its kernel and for its records. */
static const char *const always[] = { "/etc/localtime",
				      "/usr/share/zoneinfo",
				      "/usr/lib/locale",
				      "/dev/null",
				      "/proc/self",
				      "/proc/kallsyms",
				      "/proc/modules",
				      "/proc/sys/kernel",
				      "/sys/kernel/notes",
				      "/sys/kernel/tracing/events",
				      "/sys/kernel/debug/tracing/events",
				      "/sys/bus/event_source",
				      "/sys/devices" };
/*
 * Folders of installed programs and their symbols. Home folders and /tmp are not included; --symfs
 * opens another tree.
 */
static const char *const programs[] = { "/usr",   "/bin", "/sbin", "/lib",      "/lib32",
					"/lib64", "/opt", "/boot", "/nix/store" };

static bool sandbox_allow_table(const struct fence *f, const char *const *paths, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!sandbox_allow(f, paths[i], TO_READ))
			return false;
	}
	return true;
}

static bool sandbox_allow_home_cache(const struct fence *f)
{
	const char *home = getenv("HOME"), *dir = getenv("PERF_BUILDID_DIR");
	char *path;
	bool done;

	if (dir)
		return sandbox_allow(f, dir, TO_READ);
	if (!home || asprintf(&path, "%s/.debug", home) < 0)
		return true;
	done = sandbox_allow(f, path, TO_READ);
	free(path);
	return done;
}

/* Files named by keys of the session, one per line. */
static bool sandbox_allow_lines(const struct fence *f, const struct lines *lines, bool *ret_input)
{
	static const char *const keys[] = { "input", "symfs", "kallsyms", "vmlinux" };

	for (const char *line = lines->text; line && *line; line = strchr(line, '\n') + 1) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
			size_t len = strlen(keys[i]);
			char *path;
			bool done;

			if (strncmp(line, keys[i], len) || line[len] != '=')
				continue;
			path = strndup(line + len + 1, strcspn(line + len + 1, "\n"));
			if (!path)
				return false;
			*ret_input |= !i;
			/* If standard input is a file, it is opened once more. */
			done = !i && !strcmp(path, "-")
				       ? sandbox_allow_fd(f, STDIN_FILENO, TO_READ) || true
				       : sandbox_allow(f, path, TO_READ);
			free(path);
			if (!done)
				return false;
		}
	}
	return true;
}

static bool sandbox_allow_output(const struct fence *f, const char *output)
{
	const char *slash = output ? strrchr(output, '/') : NULL;
	char *dir;
	bool done;

	if (!output || !strcmp(output, "-"))
		return true;
	dir = slash ? strndup(output, (size_t)(slash - output) + 1) : strdup(".");
	/* A folder that is made there is renamed, or removed after a failure. */
	done = dir && sandbox_allow(f, dir, TO_WRITE | FS_REMOVE_DIR);
	free(dir);
	return done;
}

/*
 * Makes a folder for data that does not fit into memory. The sandbox prevents this process from
 * removing it, so a process outside the sandbox waits for its end, however it ends, and removes the
 * folder.
 */
static bool sandbox_make_temp_dir(char *path, size_t size)
{
	const char *dir = getenv("TMPDIR");
	int fds[2];
	pid_t pid;
	char byte;

	if ((size_t)snprintf(path, size, "%s/sonde-XXXXXX", dir && *dir ? dir : "/tmp") >= size ||
	    !mkdtemp(path) || setenv("TMPDIR", path, 1)) {
		cli_say("--sandbox: cannot make a temporary folder in %s (set TMPDIR): %m",
			dir && *dir ? dir : "/tmp");
		return false;
	}
	if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		rmdir(path);
		return false;
	}
	if (pid) {
		close(fds[0]);
		waitpid(pid, NULL, 0);
		return true;
	}
	/*
	 * Continues in a grandchild: no process waits for it or for its open files, and signals
	 * from the terminal do not reach it.
	 */
	if (fork())
		_exit(0);
	setsid();
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	close(fds[1]);
	while (read(fds[0], &byte, 1) < 0 && errno == EINTR)
		;
	rmdir(path);
	_exit(0);
}

static bool sandbox_fence_in(struct fence *f, const struct cli *cli, const struct lines *lines,
			     const char *output)
{
	size_t size;
	const struct landlock_attr all = sandbox_landlock_all(f->abi, &size);
	char temp[4096], *symfs = lines_given(lines, "symfs"),
			 *closed = lines_given(lines, "no-follow");
	const bool elsewhere = symfs || (closed && !strcmp(closed, "1"));
	bool has_input = false, done;

	free(symfs);
	free(closed);
	f->fs = all.fs;
	f->rules = (int)syscall(NR_LANDLOCK_CREATE, &all, size, 0);
	done = f->rules >= 0 && sandbox_make_temp_dir(temp, sizeof(temp)) &&
	       sandbox_allow(f, temp, TO_WRITE) && sandbox_allow_lines(f, lines, &has_input) &&
	       (has_input || sandbox_allow(f, "perf.data", TO_READ)) &&
	       sandbox_allow_output(f, output) &&
	       sandbox_allow_table(f, always, sizeof(always) / sizeof(*always)) &&
	       (elsewhere ||
		sandbox_allow_table(f, programs, sizeof(programs) / sizeof(*programs))) &&
	       (cli->buildid_dir ? sandbox_allow(f, cli->buildid_dir, TO_READ)
				 : sandbox_allow_home_cache(f)) &&
	       !syscall(NR_LANDLOCK_RESTRICT, f->rules, 0);
	if (f->rules >= 0)
		close(f->rules);
	return done;
}

/* ---- seccomp --------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define MACHINE AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#elif defined(__arm__)
#define MACHINE AUDIT_ARCH_ARM
#elif defined(__riscv) && __riscv_xlen == 64
#define MACHINE AUDIT_ARCH_RISCV64
#elif defined(__s390x__)
#define MACHINE AUDIT_ARCH_S390X
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MACHINE AUDIT_ARCH_PPC64LE
#else
#define MACHINE 0 /* unknown machine: there is no filter */
#endif

/* clang-format off */
/* Allowed with any arguments. */
static const int calls[] = {
	SYS_read, SYS_pread64, SYS_readv, SYS_preadv, SYS_write, SYS_pwrite64, SYS_writev,
		SYS_pwritev, SYS_lseek,
	SYS_close, SYS_fstat, SYS_statx, SYS_getdents64, SYS_readlinkat, SYS_faccessat, SYS_getcwd,
		SYS_ftruncate,
	SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_dup, SYS_dup3, SYS_copy_file_range,
	SYS_sendfile, SYS_splice, SYS_vmsplice,
	SYS_munmap, SYS_mremap, SYS_brk, SYS_futex, SYS_sched_yield,
	SYS_getpid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getrandom,
		SYS_uname, SYS_sysinfo,
	SYS_getrusage, SYS_nanosleep,
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
		SYS_restart_syscall, SYS_ppoll,
	SYS_pselect6, SYS_wait4, SYS_waitid, SYS_set_robust_list, SYS_exit, SYS_exit_group,
/* The existence of these depends on the machine and on the age of the headers. */
#ifdef SYS_fadvise64
	SYS_fadvise64,
#endif
#ifdef SYS_faccessat2
	SYS_faccessat2,
#endif
#ifdef SYS_rseq
	SYS_rseq,
#endif
#ifdef SYS_newfstatat
	SYS_newfstatat,
#endif
#ifdef SYS_fstatat64
	SYS_fstatat64, SYS_fstat64, SYS__llseek, SYS_ftruncate64,
#endif
#ifdef SYS_stat
	SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_poll, SYS_select, SYS_dup2, SYS_time,
		SYS_gettimeofday,
#endif
};
/* Also allowed for a command that makes files. Landlock limits the place. */
static const int making[] = {
	SYS_openat, SYS_linkat, SYS_unlinkat, SYS_renameat2, SYS_mkdirat,
#ifdef SYS_renameat
	SYS_renameat,
#endif
#ifdef SYS_open
	SYS_open, SYS_unlink, SYS_rename, SYS_mkdir, SYS_rmdir,
#endif
};
/* clang-format on */

struct filter_program {
	struct sock_filter code[512];
	unsigned short nr;
};

static void sandbox_put(struct filter_program *p, uint16_t code, uint8_t yes, uint8_t no,
			uint32_t k)
{
	if (p->nr < sizeof(p->code) / sizeof(*p->code))
		p->code[p->nr++] = (struct sock_filter){ code, yes, no, k };
}

#define LOAD  (BPF_LD | BPF_W | BPF_ABS)
#define EQUAL (BPF_JMP | BPF_JEQ | BPF_K)
#define ANY   (BPF_JMP | BPF_JSET | BPF_K)
#define LOW_HALF(arg)                                                \
	((uint32_t)offsetof(struct seccomp_data, args) + 8 * (arg) + \
	 4 * (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
#define HIGH_HALF(arg) (LOW_HALF(arg) ^ 4)

static void sandbox_put_return(struct filter_program *p, uint32_t what)
{
	sandbox_put(p, BPF_RET | BPF_K, 0, 0, what);
}

static void sandbox_put_calls(struct filter_program *p, const int *nrs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		sandbox_put(p, EQUAL, 0, 1, (uint32_t)nrs[i]);
		sandbox_put_return(p, SECCOMP_RET_ALLOW);
	}
}

/* Allows a call unless its argument has any of these bits. */
static void sandbox_put_unless(struct filter_program *p, int nr, unsigned arg, uint32_t bits)
{
	sandbox_put(p, EQUAL, 0, 4, (uint32_t)nr);
	sandbox_put(p, LOAD, 0, 0, LOW_HALF(arg));
	sandbox_put(p, ANY, 0, 1, bits);
	sandbox_put_return(p, SECCOMP_RET_ERRNO | EPERM);
	sandbox_put_return(p, SECCOMP_RET_ALLOW);
}

/*
 * Allows opening files for reading, and creating unnamed files (O_TMPFILE). Other ways of opening
 * get EACCES.
 */
static void sandbox_put_open(struct filter_program *p, int nr, unsigned arg)
{
	sandbox_put(p, EQUAL, 0, 7, (uint32_t)nr);
	sandbox_put(p, LOAD, 0, 0, LOW_HALF(arg));
	sandbox_put(p, ANY, 0, 4, O_ACCMODE | O_CREAT | O_TRUNC);
	sandbox_put(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, O_TMPFILE);
	sandbox_put(p, EQUAL, 0, 1, O_TMPFILE);
	sandbox_put_return(p, SECCOMP_RET_ALLOW);
	sandbox_put_return(p, SECCOMP_RET_ERRNO | EACCES);
	sandbox_put_return(p, SECCOMP_RET_ALLOW);
}

/* Allows a call if its argument is NULL: compares both halves. */
static void sandbox_put_null(struct filter_program *p, int nr, unsigned arg)
{
	sandbox_put(p, EQUAL, 0, 6, (uint32_t)nr);
	sandbox_put(p, LOAD, 0, 0, LOW_HALF(arg));
	sandbox_put(p, EQUAL, 0, 3, 0);
	sandbox_put(p, LOAD, 0, 0, HIGH_HALF(arg));
	sandbox_put(p, EQUAL, 0, 1, 0);
	sandbox_put_return(p, SECCOMP_RET_ALLOW);
	sandbox_put_return(p, SECCOMP_RET_ERRNO | EPERM);
}

/* Allows a call with one of these values. */
static void sandbox_put_values(struct filter_program *p, int nr, unsigned arg,
			       const uint32_t *values, uint8_t n)
{
	sandbox_put(p, EQUAL, 0, (uint8_t)(2 + 2 * n), (uint32_t)nr);
	sandbox_put(p, LOAD, 0, 0, LOW_HALF(arg));
	for (uint8_t i = 0; i < n; i++) {
		sandbox_put(p, EQUAL, 0, 1, values[i]);
		sandbox_put_return(p, SECCOMP_RET_ALLOW);
	}
	sandbox_put_return(p, SECCOMP_RET_ERRNO | EPERM);
}

static void sandbox_compile(struct filter_program *p, bool makes_files)
{
	const uint32_t asking[] = { TCGETS, TIOCGWINSZ, FIONREAD },
		       self[] = { (uint32_t)getpid(), 0 };
	/* Without commands that set a descriptor's owner or signal, or a file's leases or locks. */
	static const uint32_t of_descriptor[] = { F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD,
						  F_SETFD, F_GETFL,         F_GETPIPE_SZ };
	/* Without advice that takes memory from other processes. */
	static const uint32_t advice[] = { MADV_NORMAL,   MADV_RANDOM,     MADV_SEQUENTIAL,
					   MADV_WILLNEED, MADV_DONTNEED,   MADV_FREE,
					   MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTDUMP,
					   MADV_DODUMP };
	static const int clocks[] = { SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep };

	sandbox_put(p, LOAD, 0, 0, offsetof(struct seccomp_data, arch));
	sandbox_put(p, EQUAL, 1, 0, MACHINE);
	sandbox_put_return(p, SECCOMP_RET_KILL_PROCESS);
	sandbox_put(p, LOAD, 0, 0, offsetof(struct seccomp_data, nr));
	sandbox_put_calls(p, calls, sizeof(calls) / sizeof(*calls));
	if (makes_files)
		sandbox_put_calls(p, making, sizeof(making) / sizeof(*making));
	/* Every rule about an argument is final: the call number is not loaded again after it. */
	sandbox_put_unless(p, SYS_mprotect, 2, PROT_EXEC);
#ifdef SYS_mmap2
	sandbox_put_unless(p, SYS_mmap2, 2, PROT_EXEC);
#else
	sandbox_put_unless(p, SYS_mmap, 2, PROT_EXEC);
#endif
	sandbox_put_open(p, SYS_openat, 2);
#ifdef SYS_open
	sandbox_put_open(p, SYS_open, 1);
#endif
	sandbox_put_values(p, SYS_ioctl, 1, asking, sizeof(asking) / sizeof(*asking));
	sandbox_put_values(p, SYS_tgkill, 0, self, 1); /* abort(); 0 would not be this process */
	sandbox_put_values(p, SYS_prlimit64, 0, self, 2);
	sandbox_put_values(p, SYS_sched_getaffinity, 0, self, 2);
	sandbox_put_values(p, SYS_fcntl, 1, of_descriptor,
			   sizeof(of_descriptor) / sizeof(*of_descriptor));
#ifdef SYS_fcntl64
	sandbox_put_values(p, SYS_fcntl64, 1, of_descriptor,
			   sizeof(of_descriptor) / sizeof(*of_descriptor));
#endif
	sandbox_put_values(p, SYS_madvise, 2, advice, sizeof(advice) / sizeof(*advice));
	sandbox_put_null(p, SYS_utimensat, 1);
	/* Clocks of other processes have negative numbers. */
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		sandbox_put_unless(p, clocks[i], 0, 1u << 31);
	sandbox_put_return(p, SECCOMP_RET_ERRNO | EPERM);
}

static bool sandbox_has_seccomp(void)
{
	const uint32_t action = SECCOMP_RET_ERRNO;

	return MACHINE && !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
}

static bool sandbox_filter_calls(bool makes_files)
{
	struct filter_program p = { .nr = 0 };
	struct sock_fprog prog = { .filter = p.code };

	sandbox_compile(&p, makes_files);
	prog.len = p.nr;
	return !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

/* ---- both ------------------------------------------------------------------------------------ */

int sandbox_enter(const struct cli *cli, const struct lines *lines, const char *output)
{
	const long abi = syscall(NR_LANDLOCK_CREATE, NULL, 0, LANDLOCK_ASK_VERSION);
	struct fence fence = { .abi = abi > 0 ? (int)abi : 0 };
	const bool filters = sandbox_has_seccomp();

	if (!fence.abi && !filters) {
		cli_say("--sandbox: this kernel has neither Landlock nor seccomp, so there is no "
			"protection; without --sandbox the recording is read all the same");
		return cli_status(cli, CLI_FAILED);
	}
	sonde_load_libraries(); /* impossible inside */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    (fence.abi && !sandbox_fence_in(&fence, cli, lines, output)) ||
	    (filters && !sandbox_filter_calls(output))) {
		cli_say("--sandbox: cannot give up rights: %m");
		return cli_status(cli, CLI_FAILED);
	}
	if (!cli->verbose)
		return CLI_OK;
	if (fence.abi)
		cli_say("sandbox: Landlock, version %d of its ABI: files%s%s", fence.abi,
			fence.abi >= 4 ? ", TCP" : " (this kernel is too old to deny TCP by it)",
			fence.abi >= 6 ? ", signals" : "");
	else
		cli_say("sandbox: this kernel has no Landlock: every file that you may read can be "
			"read");
	if (filters)
		cli_say("sandbox: seccomp: %zu system calls, some more with harmless arguments, no "
			"others",
			sizeof(calls) / sizeof(*calls) +
				(output ? sizeof(making) / sizeof(*making) : 0));
	else
		cli_say("sandbox: this kernel or this machine has no seccomp: programs can be run");
	return CLI_OK;
}
