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

/* How long a recorder has to end that was told to, or that has closed its output. */
#define PATIENCE_MS 3000

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define NR_SIGNALS (sizeof(signals) / sizeof(signals[0]))

/* The last signal, and whether the others were sent it as well: what a terminal sends, it sends to all. */
static volatile sig_atomic_t came, came_to_all;

static void note_signal(int signo, siginfo_t *info, void *context)
{
	came = signo;
	came_to_all = info->si_code > 0;
}

static void catch_signals(struct sigaction *ret_before)
{
	struct sigaction sa = { .sa_sigaction = note_signal, .sa_flags = SA_SIGINFO };

	for (size_t i = 0; i < NR_SIGNALS; i++) {
		sigaction(signals[i], NULL, &ret_before[i]);
		/* Ignored by who started us (nohup, a shell's &): so it stays, for all of us. */
		if (ret_before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
	}
}

static int status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* In the child: as we were started, and not longer there than we. */
static void become_child(const struct sigaction *before, pid_t parent)
{
	for (size_t i = 0; i < NR_SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
}

static pid_t start_recorder(const struct script_live *l, const int *fds,
			    const struct sigaction *before)
{
	const pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	become_child(before, parent);
	close(fds[0]);
	dup2(fds[1], STDOUT_FILENO);
	close(fds[1]);
	execv(l->record[0], l->record);
	cli_say("cannot run %s: %m", l->record[0]);
	_exit(126);
}

static pid_t start_report(const struct script_live *l, const int *fds,
			  const struct sigaction *before)
{
	const pid_t parent = getpid(), pid = fork();
	char input[32] = "-";

	if (pid)
		return pid;
	become_child(before, parent);
	close(fds[1]);
	if (l->by_stdin) {
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
	} else {
		snprintf(input, sizeof(input), "/dev/fd/%d", fds[0]);
	}
	exit(l->report(l->ctx, input));
}

static void signal_below(pid_t pid, int signo)
{
	struct processes p;

	processes_below(pid, &p);
	processes_signal(&p, signo);
	processes_done(&p);
}

/* Nobody reads what is still recorded. */
static void end_recorder(pid_t pid)
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

/* Whether nobody can write to the pipe any more: the report has ended because it has read all. */
static bool is_written(int pipe)
{
	struct pollfd p = { .fd = pipe };

	return poll(&p, 1, 0) > 0 && p.revents & POLLHUP;
}

/* A recorder closes its output before it is gone: the report can end first. */
static bool ends_by_itself(pid_t recorder, int *ret_status)
{
	enum { LOOK_MS = 5 };
	const struct timespec nap = { .tv_nsec = LOOK_MS * 1000000 };
	int status;

	for (int ms = 0; ms < PATIENCE_MS; ms += LOOK_MS) {
		if (waitpid(recorder, &status, WNOHANG) == recorder) {
			*ret_status = status_of(status);
			return true;
		}
		nanosleep(&nap, NULL);
	}
	return false;
}

/*
 * What was sent to us alone is for the recorder: when it ends, so does the report. Who sends signals to a whole group looks the
 * same, and the recorder takes a second one for impatience: so it is only sent to one that goes on.
 */
static void pass_on(pid_t recorder)
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
	signal_below(recorder, signo);
}

/* Until both have ended. Closes `pipe`, from which the report reads. *ret_signal: the last one that came. */
static int watch(const struct cli *cli, const struct script_live *l, pid_t recorder, pid_t report,
		 int pipe, int *ret_signal)
{
	int record_status = 0, report_status = 0, status;

	while (report) {
		pid_t pid = waitpid(-1, &status, 0);

		if (pid < 0 && errno != EINTR)
			break;
		if (came)
			*ret_signal = came;
		if (came)
			pass_on(recorder);
		if (pid > 0 && pid == recorder) {
			recorder = 0;
			record_status = status_of(status);
		} else if (pid > 0 && pid == report) {
			report = 0;
			report_status = status_of(status);
		}
	}
	if (recorder && is_written(pipe) && ends_by_itself(recorder, &record_status))
		recorder = 0;
	close(pipe);
	if (recorder)
		end_recorder(recorder);
	else if (record_status && report_status && !*ret_signal)
		cli_say("script: what records for '%s' has failed, with status %d", l->name,
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
	/* A wrapper's recorder becomes our child when the wrapper is gone: we can wait for it. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	catch_signals(before);
	recorder = start_recorder(l, fds, before);
	if (recorder > 0)
		report = start_report(l, fds, before);
	close(fds[1]);
	if (report < 0) {
		cli_say("cannot start a process: %m");
		close(fds[0]);
		if (recorder > 0)
			end_recorder(recorder);
		return cli_status(cli, CLI_FAILED);
	}
	status = watch(cli, l, recorder, report, fds[0], &signo);
	return signo && signo != SIGINT ? 128 + signo : status;
}
