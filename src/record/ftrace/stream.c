/* SPDX-License-Identifier: MIT */
#include "record/ftrace/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/outbuf.h"
#include "base/sysfile.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/layout.h"
#include "record/ftrace/buffers.h"

enum {
	/* common_type, common_flags, common_preempt_count, common_pid */
	COMMON_PID_AT = 4,
	COMMON_BYTES = 8,
	NR_TYPES = 1 << 16,
	/* A page that is not full is copied by the kernel: large ones need fewer calls. */
	PAGE_KB = 64,
	MORE_PAGES = 4,
	/* samples are given to the drain when there are this many bytes */
	SAMPLES_BYTES = 64 << 10,
	LOST_FIELDS_BYTES = 24,
	MOST_RECORD_BYTES = UINT16_MAX & ~7,
	MISC_COMM_EXEC = 1 << 13,
};

#define WAKE_PERCENT "25"

/* A value of ftrace_stream.tasks: the process, and this bit if the thread is not to be recorded. */
#define TASK_IS_FOREIGN (UINT64_C(1) << 32)

struct stream_cpu {
	int cpu;
	int fd;           /* trace_pipe_raw */
	uint64_t lost;    /* events, as far as they were reported */
	uint64_t unnamed; /* lost events that no page has reported, at the end */
	uint64_t time;    /* up to which the buffer was read */
	/* the task of the last event, and what `tasks` has of it; generation 0: not looked up */
	uint32_t task, generation;
	uint64_t known;
};

struct ftrace_stream {
	struct ftrace_buffers buffers;
	VEC(struct stream_cpu) cpus;
	uint64_t buffer_bytes;         /* of a cpu */
	struct perfdata_layout layout; /* of the samples, which have one form */
	uint64_t *ids;                 /* by common_type; 0: no event of this recording */
	uint64_t first_id;             /* of any event, for losses */
	uint8_t *page;
	struct outbuf samples;
	struct drain *drain;           /* borrowed; NULL before ftrace_stream_open() */
	const struct capture *capture; /* borrowed, as the drain */
	size_t nr_samples;             /* of this pass */
	struct hash64 tasks;           /* thread -> process */
	uint32_t generation;           /* changes with `tasks`; never 0 */
	bool is_selective;             /* some tasks are recorded, not all */
	bool follows_forks;
	bool lost_forks;     /* the rings had no room for some of their records */
	bool is_over;        /* nothing is added to the buffers any more */
	uint32_t workload;   /* 0 if there is none */
	uint64_t begun_ns;   /* when it was executed; UINT64_MAX before, 0 if there is none */
	uint64_t newest;     /* time of all events and records: a loss at the end is not older */
	uint32_t state_time; /* where the time is in records of state, from their end */
	bool is_wish;        /* not an order: events that cannot be streamed are perf's */
};

/* ---- what cannot be streamed ----------------------------------------------------------------- */

/*
 * perf gives these to the task that they are about, with its time as the period. ftrace knows
 * neither.
 */
static bool stream_is_of_another(const struct capture_event *e)
{
	return !strcmp(e->system, "sched") && !strncmp(e->event, "sched_stat_", 11);
}

static int stream_refuse(const struct capture_events *l, const struct capture_event *e)
{
	const uint64_t needed = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
	const uint64_t taken = needed | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	const struct perf_event_attr *a = &e->attr;
	const struct {
		bool is_so;
		const char *what;
	} refused[] = {
		{ a->sample_type & PERF_SAMPLE_CALLCHAIN, "call chains" },
		{ a->sample_type & ~taken, "more than its fields" },
		{ ~a->sample_type & needed, "samples without a time" },
		{ a->freq || a->sample_period != 1, "some of its occurrences" },
		{ stream_is_of_another(e), "the time of a task as its period" },
		{ a->write_backward, "buffers that overwrite" },
		{ e->cgroup != NULL, "a control group" },
		{ capture_events_members(l, e->leader) > 1, "a group" },
		{ e->triggers != NULL, "a trigger" },
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (refused[i].is_so)
			return err_set(-EBADR,
				       "--ftrace to a pipe: %s is to be recorded with %s, which "
				       "only perf's buffers have; leave out --ftrace",
				       e->name, refused[i].what);
	return 0;
}

static const char *stream_clock(const struct capture_clock *c)
{
	if (!c->is_chosen)
		return "perf";
	switch (c->id) {
	case CLOCK_MONOTONIC:
		return "mono";
	case CLOCK_MONOTONIC_RAW:
		return "mono_raw";
	case CLOCK_BOOTTIME:
		return "boot";
	case CLOCK_TAI:
		return "tai";
	default:
		return NULL;
	}
}

/* The threads of events are numbered as the machine does. In a container perf's numbers are others.
 */
static bool stream_has_same_numbers(void)
{
	char name[64];
	const ssize_t n = readlink("/proc/self/ns/pid", name, sizeof(name) - 1);

	if (n < 0)
		return true; /* a kernel without such containers */
	name[n] = '\0';
	return !strcmp(name, "pid:[4026531836]"); /* PROC_PID_INIT_INO */
}

/* Marks the tracepoints, each once. Returns their number. */
static size_t stream_mark(struct capture_events *events)
{
	struct hash64 marked = { 0 };
	size_t nr = 0;

	vec_foreach(e, &events->list) {
		if (!e->system || !strcmp(e->system, "ftrace") ||
		    hash64_find(&marked, e->attr.config) != HASH64_EMPTY ||
		    hash64_put(&marked, e->attr.config, 1) < 0)
			continue;
		e->in_ftrace = true;
		nr++;
	}
	hash64_done(&marked);
	return nr;
}

static int stream_check(struct capture_events *events, bool is_wish)
{
	vec_foreach(e, &events->list) {
		const int r = e->in_ftrace ? stream_refuse(events, e) : 0;

		if (r < 0 && !is_wish)
			return r;
		if (r < 0)
			e->in_ftrace = false;
	}
	return 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

static int stream_flush(struct ftrace_stream *s)
{
	const size_t len = s->samples.len;

	s->samples.len = 0;
	return len ? drain_block(s->drain, s->samples.data, len) : 0;
}

/* Room for a record, which is zeroed up to `zeros`; NULL after -ENOMEM. */
static uint8_t *stream_room(struct ftrace_stream *s, size_t len, size_t zeros)
{
	uint8_t *to = (uint8_t *)outbuf_room(&s->samples, len);

	if (to)
		memset(to, 0, zeros);
	return to;
}

static void stream_put_u64(uint8_t *record, uint32_t off, uint64_t v)
{
	if (off)
		memcpy(record + off, &v, sizeof(v));
}

static void stream_put_header(uint8_t *record, uint32_t type, size_t len)
{
	const struct perfdata_record_header h = {
		.type = type,
		.misc = PERF_RECORD_MISC_KERNEL,
		.size = (uint16_t)len,
	};

	memcpy(record, &h, sizeof(h));
}

static void stream_note_time(struct ftrace_stream *s, uint64_t time)
{
	if (time > s->newest)
		s->newest = time;
}

/* The kernel does not say which events it dropped: the first one stands for all. */
static int stream_put_lost(struct ftrace_stream *s, struct stream_cpu *c, uint64_t lost,
			   uint64_t time)
{
	const size_t len = LOST_FIELDS_BYTES + s->layout.trailer_bytes;
	uint8_t *to = stream_room(s, len, len);

	if (!to)
		return err_nomem();
	c->lost += lost;
	stream_put_header(to, PERF_RECORD_LOST, len);
	stream_put_u64(to, 8, s->first_id);
	stream_put_u64(to, 16, lost);
	if (s->layout.end_time)
		stream_put_u64(to, (uint32_t)len - s->layout.end_time, time);
	if (s->layout.end_cpu)
		stream_put_u64(to, (uint32_t)len - s->layout.end_cpu, (uint32_t)c->cpu);
	if (s->layout.end_id)
		stream_put_u64(to, (uint32_t)len - s->layout.end_id, s->first_id);
	outbuf_advance(&s->samples, len);
	return 0;
}

static int stream_put_sample(struct ftrace_stream *s, struct stream_cpu *c, uint64_t id,
			     const uint8_t *data, uint32_t len)
{
	/* the kernel rounds the size word with the data up to 8 bytes */
	const uint32_t raw = ((len + 4 + 7) & ~7u) - 4;
	const size_t size = s->layout.raw + 4 + raw;
	uint8_t *to;

	if (size > MOST_RECORD_BYTES)
		return stream_put_lost(s, c, 1, c->time);
	to = stream_room(s, size, s->layout.raw);
	if (!to)
		return err_nomem();
	stream_put_header(to, PERF_RECORD_SAMPLE, size);
	stream_put_u64(to, s->layout.id, id);
	stream_put_u64(to, s->layout.tid, (uint32_t)c->known | (uint64_t)c->task << 32);
	stream_put_u64(to, s->layout.time, c->time);
	stream_put_u64(to, s->layout.cpu, (uint32_t)c->cpu);
	stream_put_u64(to, s->layout.period, 1);
	memcpy(to + s->layout.raw, &raw, sizeof(raw));
	memcpy(to + s->layout.raw + 4, data, len);
	memset(to + s->layout.raw + 4 + len, 0, raw - len);
	outbuf_advance(&s->samples, size);
	s->nr_samples++;
	return s->samples.len >= SAMPLES_BYTES ? stream_flush(s) : 0;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static uint32_t stream_read_process(uint32_t task)
{
	char path[40], text[256];
	long process;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", task);
	if (!sysfile_value(text, sizeof(text), path, "Tgid"))
		return task; /* it has ended */
	process = strtol(text, NULL, 10);
	return process > 0 && process <= INT32_MAX ? (uint32_t)process : task;
}

static int stream_note_task(struct ftrace_stream *s, uint32_t task, uint64_t known)
{
	if (!++s->generation)
		s->generation = 1;
	return hash64_put(&s->tasks, task, known) < 0 ? err_nomem() : 0;
}

static bool stream_has_lost_forks(struct ftrace_stream *s)
{
	const struct capture *c = s->capture;
	uint64_t value, dropped;

	for (size_t i = 0; i < c->counters.list.n && !s->lost_forks; i++) {
		const struct counter *n = &c->counters.list.v[i];

		s->lost_forks = n->fd >= 0 && c->events.list.v[n->event].attr.task &&
				counter_read(n, &value, &dropped) && dropped;
	}
	return s->lost_forks;
}

/* The kernel also gives these of a task that switches to, or wakes, one that is to be recorded. */
static bool stream_is_of_two(const struct ftrace_stream *s, uint64_t id)
{
	static const char *const names[] = { "sched_switch", "sched_waking", "sched_wakeup",
					     "sched_wakeup_new" };
	const struct capture *c = s->capture;

	for (size_t i = 0; i < c->counters.list.n; i++) {
		const struct capture_event *e = &c->events.list.v[c->counters.list.v[i].event];

		if (c->counters.list.v[i].id != id)
			continue;
		for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
			if (!strcmp(e->event, names[n]))
				return true;
	}
	return false;
}

/*
 * Records of forks precede the events of the new task: after they were drained, a task without one
 * is older than the recording, or it is not to be recorded. If some of them were lost, the kernel's
 * own choice counts: it follows forks, too.
 */
static int stream_find_task(struct ftrace_stream *s, struct stream_cpu *c, uint32_t task,
			    uint64_t id)
{
	uint64_t known = hash64_find(&s->tasks, task);

	if (known == HASH64_EMPTY) {
		TRY(drain_catch_up(s->drain));
		known = hash64_find(&s->tasks, task);
	}
	c->task = task;
	if (known == HASH64_EMPTY && s->is_selective && s->follows_forks &&
	    stream_has_lost_forks(s) && stream_is_of_two(s, id)) {
		c->known = TASK_IS_FOREIGN;
		c->generation = 0; /* its next event may decide */
		return 0;
	}
	if (known == HASH64_EMPTY) {
		known = s->is_selective && !(s->follows_forks && s->lost_forks)
				? task | TASK_IS_FOREIGN
				: stream_read_process(task);
		TRY(stream_note_task(s, task, known));
	}
	c->known = known;
	c->generation = s->generation;
	return 0;
}

/* The words of a record are never split by the end of a ring. */
static uint64_t stream_word(const struct ring *r, uint64_t pos)
{
	return load_u64(r->data + (pos & r->mask));
}

static int stream_note_record(void *ctx, const struct ring *r, uint64_t pos,
			      const struct perfdata_record_header *h)
{
	struct ftrace_stream *s = ctx;
	const uint64_t first = stream_word(r, pos + 8);

	if (h->type != PERF_RECORD_LOST && s->state_time && h->size > s->state_time)
		stream_note_time(s, stream_word(r, pos + h->size - s->state_time));
	if (h->type == PERF_RECORD_FORK && h->size >= 24) { /* pid, ppid, tid, ptid */
		const bool is_foreign = s->is_selective && !s->follows_forks;

		return stream_note_task(s, (uint32_t)stream_word(r, pos + 16),
					(uint32_t)first | (is_foreign ? TASK_IS_FOREIGN : 0));
	}
	if (h->type == PERF_RECORD_COMM && h->misc & MISC_COMM_EXEC && h->size > s->state_time &&
	    s->begun_ns == UINT64_MAX && (uint32_t)first == s->workload)
		s->begun_ns = stream_word(r, pos + h->size - s->state_time);
	return 0;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static int stream_take_record(struct ftrace_stream *s, struct stream_cpu *c,
			      const struct ring_record *rec)
{
	const uint8_t *data = s->page + rec->at + rec->head;
	const uint32_t len = rec->len - rec->head;
	uint16_t type;
	uint32_t task;

	c->time = rec->time;
	stream_note_time(s, rec->time);
	if (len < COMMON_BYTES)
		return 0;
	memcpy(&type, data, sizeof(type));
	memcpy(&task, data + COMMON_PID_AT, sizeof(task));
	if (!s->ids[type])
		return 0;
	if (c->task != task || c->generation != s->generation)
		TRY(stream_find_task(s, c, task, s->ids[type]));
	if (c->known & TASK_IS_FOREIGN || rec->time < s->begun_ns)
		return 0;
	return stream_put_sample(s, c, s->ids[type], data, len);
}

/*
 * Returns 1, or 0 if the page is the one that is being written: what the buffer had is read then.
 */
static int stream_take_page(struct ftrace_stream *s, struct stream_cpu *c, uint32_t len)
{
	const struct ring_layout *l = &s->buffers.layout;
	struct ring_page page;
	struct ring_record rec;
	uint64_t time;
	uint32_t at = l->data_off;
	int r;

	if (len < l->data_off || !ring_page_read(l, s->page, len, &page))
		return err_set(-EIO, "ftrace's buffer of cpu %d has a page that is none", c->cpu);
	c->time = time = page.time;
	if (page.has_lost && page.lost)
		TRY(stream_put_lost(s, c, page.lost, page.time));
	if (s->begun_ns == UINT64_MAX)
		TRY(drain_catch_up(s->drain));
	while ((r = ring_next(l, s->page, page.end, &at, &time, &rec)) > 0)
		TRY(stream_take_record(s, c, &rec));
	if (r < 0)
		return err_set(-EIO, "ftrace's buffer of cpu %d has no record at byte %" PRIu32,
			       c->cpu, at);
	return page.end > l->page_bytes / 2;
}

/*
 * Reads at least what the buffer had when the pass began, which the order of events relies on
 * (live.h), and not much more: a task that never stops writing must not hold the pass. A cpu that
 * was never online has no buffer yet.
 */
static int stream_take_cpu(struct ftrace_stream *s, struct stream_cpu *c)
{
	const uint32_t page_bytes = s->buffers.layout.page_bytes;
	/* the kernel adds a page for the reader, and rounds small buffers up */
	const uint64_t most = s->buffer_bytes + (uint64_t)MORE_PAGES * page_bytes;
	uint64_t bytes = 0;
	int r;

	while (s->is_over || bytes <= most) {
		const ssize_t n = read(c->fd, s->page, page_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN && errno != ENODEV)
			return err_errno(errno, "cannot read ftrace's buffer of cpu %d", c->cpu);
		if (n <= 0)
			break;
		bytes += (uint64_t)n;
		r = stream_take_page(s, c, (uint32_t)n);
		TRY(r);
		if (!r && !s->is_over)
			break;
	}
	s->drain->is_pressed |= bytes > s->buffer_bytes / 4;
	return 0;
}

/* Returns 1 if there were events, as drain_pass() does. */
static int stream_pass(void *ctx)
{
	struct ftrace_stream *s = ctx;

	s->nr_samples = 0;
	vec_foreach(c, &s->cpus)
		TRY(stream_take_cpu(s, c));
	TRY(stream_flush(s));
	return s->nr_samples != 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static int stream_name_events(struct ftrace_stream *s, const struct capture *c)
{
	s->ids = calloc(NR_TYPES, sizeof(*s->ids));
	if (!s->ids)
		return err_nomem();
	for (size_t i = 0; i < c->counters.list.n; i++) {
		const struct counter *n = &c->counters.list.v[i];
		const struct perf_event_attr *a = &c->events.list.v[n->event].attr;
		struct perfdata_layout layout;

		perfdata_layout_of(a, &layout);
		if (!c->events.list.v[n->event].in_ftrace) {
			if (a->task)
				s->state_time = layout.end_time;
			continue;
		}
		if (a->config >= NR_TYPES)
			return err_set(-EBADR, "--ftrace: %s has the number %llu, which is too big",
				       c->events.list.v[n->event].name,
				       (unsigned long long)a->config);
		s->ids[a->config] = n->id;
		s->first_id = s->first_id ? s->first_id : n->id;
		s->layout = layout;
	}
	return 0;
}

static int stream_note_running(void *ctx, int32_t pid, int32_t tid)
{
	return stream_note_task(ctx, (uint32_t)tid, (uint32_t)pid);
}

/* A task that runs now may have ended when its events are read, so its process is noted here. */
static int stream_note_target(struct ftrace_stream *s, const struct capture *c, pid_t workload)
{
	const struct target *t = &c->target;

	s->is_selective = !t->system_wide;
	s->follows_forks = !t->no_inherit;
	s->workload = t->workload ? (uint32_t)workload : 0;
	s->begun_ns = s->workload ? UINT64_MAX : 0;
	if (!s->is_selective)
		return target_each_thread(stream_note_running, s);
	for (size_t i = 0; i < t->tids.n; i++) {
		const uint32_t task = (uint32_t)t->tids.v[i];

		TRY(stream_note_task(s, task, stream_read_process(task)));
	}
	return 0;
}

static int stream_open_buffers(struct ftrace_stream *s, const struct capture *c)
{
	const struct ftrace_wishes wishes = {
		.clock = stream_clock(&c->sampling.clock),
		.size = c->opts->buffer_size,
		.bytes = c->mmap_pages * (uint64_t)sysconf(_SC_PAGESIZE),
		.page_kb = PAGE_KB,
	};
	struct capture_cpus cpus = { 0 };
	int e;

	TRY(ftrace_buffers_set_up(&s->buffers, c, &wishes));
	s->buffer_bytes = s->buffers.bytes;
	/* a poll is woken by this share of a buffer; kernels before 6.1 wake it by any page */
	trace_instance_write(&s->buffers.instance, "buffer_percent", WAKE_PERCENT);
	s->page = malloc(s->buffers.layout.page_bytes);
	if (!s->page)
		return err_nomem();
	e = ftrace_buffers_cpus(&c->target, &cpus);
	for (size_t i = 0; i < cpus.list.n && e >= 0; i++) {
		struct stream_cpu cpu = { .cpu = cpus.list.v[i] };

		e = ftrace_buffers_open_cpu(&s->buffers, cpu.cpu, &cpu.fd);
		if (e >= 0 && vec_push(&s->cpus, cpu) < 0) {
			close(cpu.fd);
			e = err_nomem();
		}
	}
	vec_done(&cpus.list);
	return e;
}

int ftrace_stream_new(struct ftrace_stream **ret, struct capture *c, bool is_wish,
		      const struct say *to)
{
	struct ftrace_stream *s;
	int e = 0;

	*ret = NULL;
	if (!stream_clock(&c->sampling.clock))
		e = err_set(-EBADR, "--ftrace: ftrace has no clock that is -k %s",
			    c->opts->clockid);
	else if (!stream_has_same_numbers())
		e = err_set(-EBADR,
			    "--ftrace: ftrace numbers threads as the machine does, and this "
			    "container has numbers of its own; leave out --ftrace");
	if (e < 0)
		return is_wish ? 0 : e;
	if (!stream_mark(&c->events))
		return is_wish ? 0 : err_set(-EBADR, "--ftrace needs tracepoints: -e SYSTEM:NAME");
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem();
	s->is_wish = is_wish;
	e = ftrace_buffers_make(&s->buffers, &c->events.tracefs, to);
	if (e < 0) {
		free(s);
		vec_foreach(ev, &c->events.list)
			ev->in_ftrace = false;
		if (!is_wish)
			return e;
		say(to, SAY_VERBOSE, "perf's buffers are taken, not ftrace's: %s", err_text());
		err_clear();
		return 0;
	}
	*ret = s;
	return 0;
}

int ftrace_stream_check(struct ftrace_stream *s, struct capture_events *events)
{
	return stream_check(events, s->is_wish);
}

int ftrace_stream_open(struct ftrace_stream *s, const struct capture *c, pid_t workload,
		       struct drain *drain)
{
	s->capture = c;
	TRY(stream_name_events(s, c));
	TRY(stream_note_target(s, c, workload));
	TRY(stream_open_buffers(s, c));
	s->drain = drain;
	drain->feed = (struct drain_feed){ stream_pass, stream_note_record, s };
	return 0;
}

int ftrace_stream_switch(struct ftrace_stream *s, bool on)
{
	const int e = trace_instance_write(&s->buffers.instance, "tracing_on", on ? "1" : "0");

	s->is_over = !on && e >= 0;
	return e < 0 ? err_errno(-e, "cannot switch %s %s", s->buffers.instance.at.root,
				 on ? "on" : "off")
		     : 0;
}

size_t ftrace_stream_nr_fds(const struct ftrace_stream *s)
{
	return s->cpus.n;
}

int ftrace_stream_fd(const struct ftrace_stream *s, size_t i)
{
	return s->cpus.v[i].fd;
}

int ftrace_stream_count(struct ftrace_stream *s, struct ftrace_stream_counts *ret)
{
	*ret = (struct ftrace_stream_counts){ 0 };
	vec_foreach(c, &s->cpus) {
		char path[64], *stats;
		uint64_t lost;
		size_t len;

		snprintf(path, sizeof(path), "per_cpu/cpu%d/stats", c->cpu);
		TRY(tracefs_read(&s->buffers.instance.at, path, &stats, &len));
		lost = ftrace_buffers_lost(stats);
		ret->lost += lost > c->lost ? lost : c->lost;
		ret->left += ftrace_buffers_stat(stats, "entries: ");
		c->unnamed = lost > c->lost ? lost - c->lost : 0;
		free(stats);
	}
	return 0;
}

int ftrace_stream_end(struct ftrace_stream *s)
{
	vec_foreach(c, &s->cpus)
		if (c->unnamed)
			TRY(stream_put_lost(s, c, c->unnamed, s->newest));
	return stream_flush(s);
}

void ftrace_stream_free(struct ftrace_stream *s)
{
	if (!s)
		return;
	if (s->drain)
		s->drain->feed = (struct drain_feed){ 0 };
	vec_foreach(c, &s->cpus)
		close(c->fd);
	vec_done(&s->cpus);
	trace_instance_remove(&s->buffers.instance);
	outbuf_done(&s->samples);
	hash64_done(&s->tasks);
	free(s->page);
	free(s->ids);
	free(s);
}
