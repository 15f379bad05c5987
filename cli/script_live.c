/* SPDX-License-Identifier: MIT */
#include "script_live.h"

#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Time for a recorder to end after it was stopped or has closed its output. */
#define PATIENCE_MS 3000

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define NR_SIGNALS (sizeof(signals) / sizeof(signals[0]))

/* The last signal, and whether all of our process group got it: a terminal sends to all. */
static volatile sig_atomic_t came, came_to_all;

static void live_note_signal(int signo, siginfo_t *info, void *context)
{
	came = signo;
	came_to_all = info->si_code > 0;
}

static void live_catch_signals(struct sigaction *ret_before)
{
	struct sigaction sa = { .sa_sigaction = live_note_signal, .sa_flags = SA_SIGINFO };

	for (size_t i = 0; i < NR_SIGNALS; i++) {
		sigaction(signals[i], NULL, &ret_before[i]);
		/*
		 * If it was ignored when we started (nohup, a shell's &), it stays ignored for all
		 * of us.
		 */
		if (ret_before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
	}
}

static int live_status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* In the child: restores signals, and has the child end with its parent. */
static void live_become_child(const struct sigaction *before, pid_t parent)
{
	for (size_t i = 0; i < NR_SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
}

static pid_t live_start_recorder(const struct script_live *l, const int *fds,
				 const struct sigaction *before)
{
	const pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	live_become_child(before, parent);
	close(fds[0]);
	dup2(fds[1], STDOUT_FILENO);
	close(fds[1]);
	execv(l->record[0], l->record);
	cli_say("cannot run %s: %m", l->record[0]);
	_exit(126);
}

static pid_t live_start_report(const struct script_live *l, const int *fds,
			       const struct sigaction *before)
{
	const pid_t parent = getpid(), pid = fork();
	char input[32] = "-";

	if (pid)
		return pid;
	live_become_child(before, parent);
	close(fds[1]);
	if (l->by_stdin) {
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
	} else {
		snprintf(input, sizeof(input), "/dev/fd/%d", fds[0]);
	}
	exit(l->report(l->ctx, input));
}

static void live_signal_below(pid_t pid, int signo)
{
	struct processes p;

	processes_below(pid, &p);
	processes_signal(&p, signo);
	processes_done(&p);
}

/* Ends a recorder whose output nobody reads any more. */
static void live_end_recorder(pid_t pid)
{
	struct processes p;

	processes_below(pid, &p);
	processes_signal(&p, SIGTERM);
	if (processes_wait(&p, PATIENCE_MS)) {
		processes_signal(&p, SIGKILL);
		processes_wait(&p, PATIENCE_MS);
	}
	processes_done(&p);
}

/*
 * True if nobody can write to the pipe any more. The report then ended because it has read
 * everything.
 */
static bool live_is_written(int pipe)
{
	struct pollfd p = { .fd = pipe };

	return poll(&p, 1, 0) > 0 && p.revents & POLLHUP;
}

/*
 * Waits for a recorder that may close its output some time before it exits. False if it does not
 * exit.
 */
static bool live_ends_by_itself(pid_t recorder, int *ret_status)
{
	enum { LOOK_MS = 5 };
	const struct timespec nap = { .tv_nsec = LOOK_MS * 1000000 };
	int status;

	for (int ms = 0; ms < PATIENCE_MS; ms += LOOK_MS) {
		if (waitpid(recorder, &status, WNOHANG) == recorder) {
			*ret_status = live_status_of(status);
			return true;
		}
		nanosleep(&nap, NULL);
	}
	return false;
}

/*
 * A signal sent only to us is meant for the recorder: when the recorder ends, the report ends too.
 * A signal to the process group looks the same, and the recorder would treat a second one as
 * impatience. So it is sent only to a recorder that continues.
 */
static void live_pass_on(pid_t recorder)
{
	const struct timespec time_to_end = { .tv_nsec = 250 * 1000000 };
	const int signo = came;
	siginfo_t ended = { .si_pid = 0 };

	came = 0;
	if (came_to_all || !recorder)
		return;
	if (signo == SIGINT)
		nanosleep(&time_to_end, NULL);
	if (waitid(P_PID, (id_t)recorder, &ended, WEXITED | WNOHANG | WNOWAIT) || ended.si_pid)
		return;
	live_signal_below(recorder, signo);
}

/*
 * Waits until both have ended. Closes `pipe`, which the report reads. *ret_signal: the last signal
 * received.
 */
static int live_watch(const struct cli *cli, const struct script_live *l, pid_t recorder,
		      pid_t report, int pipe, int *ret_signal)
{
	int record_status = 0, report_status = 0, status;

	while (report) {
		pid_t pid = waitpid(-1, &status, 0);

		if (pid < 0 && errno != EINTR)
			break;
		if (came)
			*ret_signal = came;
		if (came)
			live_pass_on(recorder);
		if (pid > 0 && pid == recorder) {
			recorder = 0;
			record_status = live_status_of(status);
		} else if (pid > 0 && pid == report) {
			report = 0;
			report_status = live_status_of(status);
		}
	}
	if (recorder && live_is_written(pipe) && live_ends_by_itself(recorder, &record_status))
		recorder = 0;
	close(pipe);
	if (recorder)
		live_end_recorder(recorder);
	else if (record_status && report_status && !*ret_signal)
		cli_say("script: the recorder for '%s' failed with status %d", l->name,
			record_status);
	return report_status || *ret_signal || cli_rules(cli)->live_status_of_report
		       ? report_status
		       : record_status;
}

int script_live_run(const struct cli *cli, const struct script_live *l)
{
	struct sigaction before[NR_SIGNALS];
	pid_t recorder, report = -1;
	int fds[2], status, signo = 0;

	if (pipe(fds)) {
		cli_say("cannot make a pipe: %m");
		return cli_status(cli, CLI_FAILED);
	}
	fflush(stdout);
	/*
	 * A wrapper's recorder becomes our child when the wrapper exits, so that we can wait for
	 * it.
	 */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	live_catch_signals(before);
	recorder = live_start_recorder(l, fds, before);
	if (recorder > 0)
		report = live_start_report(l, fds, before);
	close(fds[1]);
	if (report < 0) {
		cli_say("cannot start a process: %m");
		close(fds[0]);
		if (recorder > 0)
			live_end_recorder(recorder);
		return cli_status(cli, CLI_FAILED);
	}
	status = live_watch(cli, l, recorder, report, fds[0], &signo);
	return signo && signo != SIGINT ? 128 + signo : status;
}
