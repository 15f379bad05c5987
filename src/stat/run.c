/* SPDX-License-Identifier: MIT */
/* A run: starts the command, waits, reads the counters at each interval and at the end. */

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/now.h"
#include "base/sysfile.h"
#include "stat/metrics.h"
#include "stat/stat.h"

enum { NS_PER_MS = 1000000, LOOK_MS = 100 };

static uint64_t run_now(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

/* ---- the start ------------------------------------------------------------------------------- */

/* Returns the status of a shell command, 0 if there is none. */
static int run_shell(const char *command)
{
	const int status = command ? system(command) : 0;

	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int run_shell_fail(const char *option, const char *command, int status)
{
	return err_set(-ECANCELED, "%s: '%s' failed with status %d", option, command, status);
}

/* Only cpus that are online have counters; the others get them when they come. */
static int run_open_counters(struct sonde_stat *s)
{
	struct capture_cpus online = { 0 };
	const bool all = s->subject.cpus.v[0] < 0 || s->target.chosen_cpus ||
			 capture_cpus_read("/sys/devices/system/cpu/online", &online) < 0;
	int e = 0;

	s->opened = (struct stat_opened){
		.say = s->say,
		.events = &s->events,
		.subject = &s->subject,
		.tasks_may_vanish = !s->target.workload,
		.leaves_out_refused = s->opts.leave_out,
	};
	for (size_t cpu = 0; cpu < s->subject.cpus.n && e == 0; cpu++)
		if (all || capture_cpus_has(&online, s->subject.cpus.v[cpu]))
			e = stat_open_cpu(&s->opened, cpu);
	vec_done(&online.list);
	return e;
}

/* The messages are those of perf stat, which scripts wait for. */
static int run_switch(struct sonde_stat *s, bool on)
{
	TRY(stat_opened_switch(&s->opened, on));
	say(&s->say, SAY_NORMAL, "Events %s", on ? "enabled" : "disabled");
	return 0;
}

/* A stop ends the delay. */
static int run_delay(struct sonde_stat *s)
{
	struct pollfd wake = { .fd = s->wake_fd, .events = POLLIN };

	if (s->delay_ms <= 0)
		return 0;
	poll(&wake, 1, (int)s->delay_ms);
	return run_switch(s, true);
}

static int run_begin(struct sonde_stat *s, int *ret_status)
{
	const int status = run_shell(s->opts.pre);

	if (status)
		return run_shell_fail("--pre", s->opts.pre, status);
	if (s->opts.sync)
		sync();
	if (s->command) {
		*ret_status = workload_check(s->command);
		if (*ret_status)
			return *ret_status == 127 ? -ENOENT : -EACCES;
		TRY(workload_fork(&s->workload, s->command, 0));
	}
	if (s->target.workload)
		s->subject.tasks.v[0].pid = s->subject.tasks.v[0].tid = s->workload.pid;
	TRY(run_open_counters(s));
	/* an event may be counted in user space only, which its name then says */
	for (size_t i = 0; i < s->events.list.n; i++)
		s->subject.events.v[i].name = s->events.list.v[i].name;
	TRY(stat_show_events(s));
	if (s->delay_ms != 0)
		say(&s->say, SAY_NORMAL, "Events disabled");
	else if (!s->target.workload)
		TRY(stat_opened_switch(&s->opened, true));
	TRY(stat_to_file_begin(s));
	/* taken before the command begins: this process may have to wait for a cpu afterwards */
	s->start_ns = run_now();
	if (s->command)
		TRY(workload_start(&s->workload, s->command[0], ret_status));
	TRY(run_delay(s));
	if (s->delay_ms > 0)
		s->start_ns = run_now();
	return 0;
}

int stat_start(struct sonde_stat *s, int *ret_status)
{
	const size_t bytes = stat_cells(&s->subject) * sizeof(*s->now.v);
	int e;

	*ret_status = 0;
	if (s->is_from_file)
		return err_set(-EINVAL, "the counts were read from a file: nothing can be counted");
	if (s->phase != STAT_IDLE)
		return err_set(-EINVAL, "a run has not ended yet");
	stat_opened_close(&s->opened);
	memset(s->now.v, 0, bytes);
	memset(s->before.v, 0, bytes);
	/* a fifo stays open for all runs */
	if (!s->control.fifo || s->control.fd < 0)
		TRY(control_open(&s->control));
	e = run_begin(s, ret_status);
	if (e < 0) {
		workload_close(&s->workload);
		if (!s->elapsed.n)
			stat_to_file_discard(s);
		return e;
	}
	s->looked_ns = s->start_ns;
	s->nr_intervals = s->nr_ticks = 0;
	s->status = 0;
	s->phase = STAT_COUNTING;
	return 0;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static const char *run_obey(void *ctx, const char *command, const char *argument)
{
	struct sonde_stat *s = ctx;
	const bool on = !strcmp(command, "enable");

	if (on || !strcmp(command, "disable")) {
		const int e = *argument ? stat_opened_switch_event(&s->opened, argument, on)
					: run_switch(s, on);

		return e < 0 ? err_text() : NULL;
	}
	if (!strcmp(command, "ping") && !*argument)
		return NULL;
	if (!strcmp(command, "stop") && !*argument) {
		stat_stop(s);
		return NULL;
	}
	return "commands are enable [EVENT], disable [EVENT], ping and stop";
}

/* A task has ended if it is gone, or a zombie that nobody has waited for yet. */
static bool run_has_ended(int32_t tid)
{
	char path[32], state[32];

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	return !sysfile_value(state, sizeof(state), path, "State") || *state == 'Z' ||
	       *state == 'X';
}

static bool run_targets_have_ended(const struct sonde_stat *s)
{
	if (!s->target.by_pid)
		return false;
	for (size_t i = 0; i < s->subject.tasks.n; i++)
		if (!run_has_ended(s->subject.tasks.v[i].tid))
			return false;
	return true;
}

static bool run_is_over(struct sonde_stat *s)
{
	if (atomic_load(&s->stops))
		return true;
	if (s->command)
		return workload_ended(&s->workload, &s->status);
	return run_targets_have_ended(s);
}

/* A cpu that is online again has lost its counters: new ones continue its counts. */
static int run_look_at_cpus(struct sonde_stat *s)
{
	const size_t before = s->target.came.list.n;

	if (!s->target.system_wide || s->subject.cpus.v[0] < 0 ||
	    run_now() - s->looked_ns < (uint64_t)LOOK_MS * NS_PER_MS)
		return 0;
	s->looked_ns = run_now();
	target_look(&s->target);
	for (size_t i = before; i < s->target.came.list.n; i++)
		for (size_t cpu = 0; cpu < s->subject.cpus.n; cpu++)
			if (s->subject.cpus.v[cpu] == s->target.came.list.v[i]) {
				TRY(stat_open_cpu(&s->opened, cpu));
				TRY(stat_opened_switch_cpu(&s->opened, cpu, true));
			}
	return 0;
}

/* Nanoseconds until a time, as milliseconds for poll(), rounded up. */
static int run_ms_until(uint64_t time_ns, uint64_t now)
{
	const uint64_t ms = time_ns <= now ? 0 : (time_ns - now + NS_PER_MS - 1) / NS_PER_MS;

	return ms > LOOK_MS ? LOOK_MS : (int)ms;
}

/* The end of the interval and of the counting; UINT64_MAX if there is none. */
static uint64_t run_tick_ns(const struct sonde_stat *s)
{
	return s->opts.interval_ms
		       ? s->start_ns + (s->nr_ticks + 1) * s->opts.interval_ms * NS_PER_MS
		       : UINT64_MAX;
}

static uint64_t run_timeout_ns(const struct sonde_stat *s)
{
	return s->opts.timeout_ms ? s->start_ns + s->opts.timeout_ms * NS_PER_MS : UINT64_MAX;
}

static int run_sleep(struct sonde_stat *s)
{
	const uint64_t tick = run_tick_ns(s), end = run_timeout_ns(s);
	struct pollfd fds[] = {
		{ .fd = s->wake_fd, .events = POLLIN },
		{ .fd = s->workload.pidfd, .events = POLLIN },
		{ .fd = s->control.fd, .events = POLLIN },
	};

	poll(fds, sizeof(fds) / sizeof(*fds), run_ms_until(tick < end ? tick : end, run_now()));
	if (fds[2].revents) {
		const struct control_obeys o = { &s->say, run_obey, s };

		TRY(control_serve(&s->control, &o));
	}
	return run_look_at_cpus(s);
}

/* ---- readings -------------------------------------------------------------------------------- */

static int run_read(struct sonde_stat *s)
{
	const uint64_t now = run_now();

	memset(s->now.v, 0, stat_cells(&s->subject) * sizeof(*s->now.v));
	TRY(stat_opened_read(&s->opened, s->now.v));
	s->now.time_ns = s->now.run_ns = now - s->start_ns;
	s->now.elapsed_ns = now - s->start_ns;
	return 0;
}

void stat_subtract(struct sonde_stat *s)
{
	const size_t cells = stat_cells(&s->subject);

	for (size_t i = 0; i < cells; i++) {
		const struct stat_count *a = &s->before.v[i], *b = &s->now.v[i];

		s->interval.v[i] = (struct stat_count){
			.value = b->value - a->value,
			.enabled_ns = b->enabled_ns - a->enabled_ns,
			.running_ns = b->running_ns - a->running_ns,
			.is_there = b->is_there,
		};
	}
	s->interval.time_ns = s->now.time_ns;
	s->interval.elapsed_ns = s->now.time_ns - s->before.time_ns;
	s->interval.run_ns = s->interval.elapsed_ns;
	s->interval.user_ns = s->interval.system_ns = 0;
	memcpy(s->before.v, s->now.v, cells * sizeof(*s->now.v));
	s->before.time_ns = s->now.time_ns;
}

int stat_make_round(struct sonde_stat *s, const struct stat_reading *reading, bool is_run,
		    struct sonde_stat_round *ret)
{
	double elapsed_ns = (double)reading->elapsed_ns;

	if (is_run) {
		spread_add(&s->elapsed, elapsed_ns);
		elapsed_ns = s->elapsed.mean;
	}
	TRY(stat_rows_fill(&s->rows, &s->subject, reading, is_run));
	TRY(stat_metrics_fill(&s->rows, &s->subject, elapsed_ns));
	*ret = (struct sonde_stat_round){
		.size = sizeof(*ret),
		.kind = is_run ? SONDE_STAT_RUN : SONDE_STAT_INTERVAL,
		.time_ns = reading->time_ns,
		.elapsed_ns = elapsed_ns,
		.deviation_ns = is_run ? spread_of_mean(&s->elapsed) : 0,
		.run_ns = reading->run_ns,
		.user_ns = reading->user_ns,
		.system_ns = reading->system_ns,
		.rows = s->rows.list.v,
		.nr_rows = s->rows.list.n,
		.nr_runs = (uint32_t)s->elapsed.n,
	};
	return 1;
}

static int run_interval(struct sonde_stat *s, struct sonde_stat_round *ret)
{
	TRY(run_read(s));
	TRY(stat_to_file_round(s, PERFDATA_ROUND_INTERVAL));
	stat_subtract(s);
	s->nr_intervals++;
	/* ticks missed while this process was paused get no interval */
	s->nr_ticks = s->now.time_ns / (s->opts.interval_ms * NS_PER_MS);
	return stat_make_round(s, &s->interval, false, ret);
}

/* ---- the end --------------------------------------------------------------------------------- */

static uint64_t run_timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

/* A second stop ends the waiting for a command that ignores SIGTERM. */
static void run_wait_for_command(struct sonde_stat *s, bool terminate)
{
	const unsigned stops = atomic_load(&s->stops);

	if (!s->command)
		return;
	if (terminate && !workload_ended(&s->workload, &s->status))
		workload_terminate(&s->workload);
	while (!workload_ended(&s->workload, &s->status)) {
		struct pollfd p = { .fd = s->workload.pidfd, .events = POLLIN };

		if (atomic_load(&s->stops) > stops) {
			s->status = 128 + SIGTERM;
			return;
		}
		poll(&p, 1, LOOK_MS);
	}
}

static int run_end(struct sonde_stat *s, bool terminate)
{
	int e;

	run_wait_for_command(s, terminate);
	e = run_read(s);
	stat_opened_switch(&s->opened, false);
	if (s->command) {
		s->now.user_ns = run_timeval_ns(&s->workload.usage.ru_utime);
		s->now.system_ns = run_timeval_ns(&s->workload.usage.ru_stime);
	}
	target_say_changes(&s->target, &s->say);
	workload_close(&s->workload);
	s->phase = STAT_ENDED;
	TRY(e);
	s->post_status = run_shell(s->opts.post);
	return 0;
}

/* perf writes no final round after intervals: it would be shown as one more of them. */
static int run_write_end(struct sonde_stat *s, bool has_rest)
{
	if (has_rest)
		TRY(stat_to_file_round(s, PERFDATA_ROUND_INTERVAL));
	if (!s->opts.interval_ms)
		TRY(stat_to_file_round(s, PERFDATA_ROUND_FINAL));
	return stat_to_file_end(s);
}

int stat_next(struct sonde_stat *s, struct sonde_stat_round *ret)
{
	if (s->is_from_file)
		return stat_from_file_next(s, ret);
	while (s->phase == STAT_COUNTING) {
		const uint64_t now = run_now();
		const bool is_late = now >= run_timeout_ns(s);
		const bool is_enough =
			s->opts.interval_count && s->nr_intervals == s->opts.interval_count;

		if (is_late || is_enough || run_is_over(s)) {
			const bool has_rest = s->opts.interval_ms && !is_enough;

			/* after the last interval the command continues to its end, as with perf */
			TRY(run_end(s, !is_enough));
			TRY(run_write_end(s, has_rest));
			if (!has_rest)
				break;
			stat_subtract(s);
			return stat_make_round(s, &s->interval, false, ret);
		}
		if (now >= run_tick_ns(s))
			return run_interval(s, ret);
		TRY(run_sleep(s));
	}
	if (s->phase == STAT_IDLE) {
		const int status = s->post_status;

		/* reported when the counts have been returned */
		s->post_status = 0;
		return status ? run_shell_fail("--post", s->opts.post, status) : 0;
	}
	s->phase = STAT_IDLE;
	return stat_make_round(s, &s->now, true, ret);
}

void stat_stop(struct sonde_stat *s)
{
	const uint64_t one = 1;
	const int saved = errno;

	atomic_fetch_add(&s->stops, 1);
	atomic_store(&s->from.stopped, 1);
	if (s->is_from_file)
		return;
	/* the next time-out also notices the flag */
	if (write(s->wake_fd, &one, sizeof(one)) < 0)
		errno = saved;
	errno = saved;
}
