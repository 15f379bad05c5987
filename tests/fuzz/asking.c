/* SPDX-License-Identifier: MIT */
#include "asking.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sonde/sonde.h"

enum { KEPT_EVENTS = 8, MAX_EVENTS = 20000, MAX_ROUNDS = 100 };

/* A small quarantine of freed memory: memory that is soon used again is in the cache. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=16:allocator_may_return_null=1";
}

/* Hash of all answers (FNV-1a by words), so that the compiler keeps every call. */
static uint64_t sum;

static void touch_number(uint64_t v)
{
	sum = (sum ^ v) * 0x100000001b3u;
}

static void touch(const void *p, size_t len)
{
	const uint8_t *bytes = p;

	for (; len >= 8; bytes += 8, len -= 8) {
		uint64_t v;

		memcpy(&v, bytes, sizeof(v));
		touch_number(v);
	}
	for (size_t i = 0; i < len; i++)
		touch_number(bytes[i]);
}

static void touch_text(const char *s)
{
	if (s)
		touch(s, strlen(s));
}

int fuzz_file_put(struct fuzz_file *f, const void *data, size_t size)
{
	if (!*f->path) {
		f->fd = memfd_create("recording", MFD_CLOEXEC);
		if (f->fd < 0)
			return -1;
		snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
	}
	return pwrite(f->fd, data, size, 0) == (ssize_t)size ? ftruncate(f->fd, (off_t)size) : -1;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

uint32_t fuzz_choice(const uint8_t *data, size_t size)
{
	uint32_t h = 0;

	for (size_t i = 0; i < size; i++)
		h = h * 31 + data[i];
	return h * 2654435761u >> 8;
}

/* ---- an event -------------------------------------------------------------------------------- */

static void ask_place(const struct sonde_event *ev, uint64_t addr, uint32_t cpumode)
{
	struct sonde_location loc;
	struct sonde_code code;
	struct sonde_dso dso;

	if (sonde_event_locate(ev, addr, cpumode, &loc) >= 0) {
		touch_text(loc.dso);
		touch_text(loc.sym);
	}
	if (sonde_event_dso(ev, addr, cpumode, &dso) >= 0)
		touch_text(dso.long_name);
	touch_number((uint64_t)sonde_event_code(ev, addr, cpumode,
						SONDE_CODE_LINE | SONDE_CODE_INSN, &code));
}

static void ask_sample(struct sonde_session *s, const struct sonde_event *ev)
{
	const struct sonde_frame *frames = NULL;
	struct sonde_sample sample;
	char words[64];
	int n;

	if (sonde_event_sample(ev, &sample) >= 0) {
		touch(sample.reads, sample.nr_reads * sizeof(*sample.reads));
		touch(sample.branches, sample.nr_branches * sizeof(*sample.branches));
		touch(sample.user_stack, sample.user_stack_len);
		if (sample.user_regs_abi)
			touch(sample.user_regs,
			      8u * (unsigned)__builtin_popcountll(sample.user_regs_mask));
		if (sample.intr_regs_abi)
			touch(sample.intr_regs,
			      8u * (unsigned)__builtin_popcountll(sample.intr_regs_mask));
		touch_number(sample.present);
		touch_number(sample.period);
		touch_number(sample.id);
		touch_number(sample.addr);
		ask_place(ev, sample.ip, ev->cpumode);
		ask_place(ev, sample.addr, SONDE_CPUMODE_OF_ADDRESS);
		sonde_session_data_src_text(s, sample.data_src, words, sizeof(words));
	}
	n = sonde_event_callchain(ev, &frames);
	for (int i = 0; i < n; i++) {
		touch_number(frames[i].ip);
		ask_place(ev, frames[i].ip, frames[i].cpumode);
	}
}

uint64_t fuzz_ask(struct sonde_session *s, const struct sonde_event *ev)
{
	const struct sonde_schema *sc = sonde_event_schema(s, ev);
	const struct sonde_field *f;
	struct sonde_task task;
	const void *attr;
	size_t n, len;

	sum = 0xcbf29ce484222325u;
	touch_number(ev->time_ns);
	touch_number((uint32_t)ev->cpu | (uint64_t)ev->cpumode << 32);
	touch_number((uint32_t)ev->pid | (uint64_t)(uint32_t)ev->tid << 32);
	touch_text(sonde_schema_name(sc));
	touch_text(sonde_session_string(s, ev->comm));
	touch(ev->bytes, ev->bytes_len);
	touch(ev->record, ev->record_len);
	f = sonde_schema_fields(sc, &n);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = sonde_event_bytes(ev, &f[i], &len);

		touch(p, len);
		touch_number(sonde_event_u64(ev, &f[i]));
		touch_number((uint64_t)sonde_event_i64(ev, &f[i]));
	}
	attr = sonde_schema_attr(sc, &len);
	touch(attr, attr ? len : 0);
	ask_sample(s, ev);
	touch_text(sonde_event_text(ev, &len));
	sonde_schema_defines(sc, &n);
	if (sonde_event_task(ev, ev->pid, ev->tid, &task) >= 0)
		touch_text(sonde_session_string(s, task.program.comm));
	return sum;
}

/* ---- a session ------------------------------------------------------------------------------- */

static const char *const machines_files =
	"kallsyms=/dev/null\nbuildid-dir=/nonexistent\nsymfs=/nonexistent\n"
	"force=1\n";

/* "tracefs=FOLDER\n" */
static char tracefs[256];

void fuzz_use_tracefs(const char *folder)
{
	*tracefs = '\0';
	if (folder)
		snprintf(tracefs, sizeof(tracefs), "tracefs=%s\n", folder);
}

static void keys_of(char *ret, size_t size, const char *path, uint32_t choice)
{
	static const char *const times[] = { "",
					     "",
					     "",
					     "",
					     "",
					     "time=10%-40%,50%-\n",
					     "time=,1000.5\n",
					     "reltime=1\ntime=0.000001,\n",
					     "cpu=0,2-3\n",
					     "comm=a,b\n",
					     "clock=relative\n",
					     "clock=utc\n",
					     "clock=local\ntime=0:15,\n",
					     "clock=relative\ntime=0,0.5\n",
					     "time=1970-01-01T00:00:01Z,\n",
					     "unsorted=1\n" };
	static const char *const compat[] = { "none", "none", "perf-6.1", "perf-6.12" };
	char again[64] = "";

	/* The same recording a second time, with an offset. */
	if (choice & FUZZ_TWICE)
		snprintf(again, sizeof(again), "input=%s\noffset=-0.000000001\n", path);
	snprintf(ret, size, "%s%sinput=%s\n%swindow=%s\nevents=%s\ncompat=%s\n%s", machines_files,
		 tracefs, path, again, choice & 1 ? "4096" : "65536",
		 choice & 2 ? "samples" : "all", compat[choice >> 2 & 3], times[choice >> 4 & 15]);
}

void fuzz_read(const char *path, uint32_t choice)
{
	struct sonde_event *kept[KEPT_EVENTS] = { NULL };
	const struct sonde_event *ev;
	const struct sonde_defect *d;
	struct sonde_session *s;
	char text[1024];

	keys_of(text, sizeof(text), path, choice);
	if (sonde_session_open(&s, text, "fuzz") < 0) {
		touch_text(sonde_error_text());
		return;
	}
	for (int i = 0; i < MAX_EVENTS && sonde_session_next(s, &ev) > 0; i++) {
		struct sonde_event **slot =
			&kept[(unsigned)i * 2654435761u >> 16 & (KEPT_EVENTS - 1)];

		fuzz_ask(s, ev);
		if (*slot)
			fuzz_ask(s, *slot);
		sonde_event_free(*slot);
		*slot = sonde_event_dup(ev);
	}
	for (size_t i = 0; (d = sonde_session_defect(s, i)); i++)
		touch_text(d->first);
	touch_text(sonde_session_defects_line(s));
	touch_text(sonde_session_print(s));
	touch_text(sonde_session_info(s, "cmdline"));
	sonde_session_close(s);
	for (int i = 0; i < KEPT_EVENTS; i++) {
		if (kept[i])
			fuzz_ask(sonde_event_session(kept[i]), kept[i]);
		sonde_event_free(kept[i]);
	}
}

void fuzz_write(const char *path, uint32_t choice)
{
	static const char *const outputs[] = {
		"format=text\n",
		"format=text\nheader=with\nheader-info=1\n",
		"format=text\ndump=1\n",
		("format=text\nshow-task-events=1\nshow-mmap-events=1\nshow-switch-events=1\n"
		 "show-namespace-events=1\nshow-cgroup-events=1\nshow-lost-events=1\nshow-bpf-"
		 "events=1\n"
		 "show-text-poke-events=1\n"),
		("format=text\nfields=comm,tid,pid,time,cpu,event,trace,ip,sym,dso,addr,symoff,"
		 "flags,period,phys_addr,"
		 "data_src,weight,iregs,uregs,brstack,brstackoff,tod\n"),
		"format=jsonl\nevents=all\n",
		"format=babeltrace\n",
		"format=info\n",
		"format=info-json\n",
		"format=buildids\nhits=1\n",
		"format=evlist\nevlist=attr,freq,groups,fields\n",
		"format=text\nfields=+brstackinsn,+srcline,+insn,+metric,+code_page_size,+ins_"
		"lat\n",
		"format=text\nlatency=1\ndeltatime=1\nns=1\nmax-stack=3\nterminal=1\nshow-round-"
		"events=1\n",
		"format=trace-cmd\nns=1\n",
		"format=trace-cmd\nlatency=1\nterminal=1\n",
	};
	static int nowhere = -1;
	struct sonde_session *s;
	char text[1024];
	size_t n;

	if (nowhere < 0)
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	keys_of(text, sizeof(text), path, choice >> 5 & 0xffff);
	n = strlen(text);
	snprintf(text + n, sizeof(text) - n, "%s",
		 outputs[(choice >> 3) % (sizeof(outputs) / sizeof(outputs[0]))]);
	if (sonde_session_open(&s, text, "fuzz") < 0)
		return;
	touch_text(sonde_session_notes(s));
	touch_number((uint64_t)sonde_session_write(s, nowhere));
	sonde_session_close(s);
}

static char cut_path[256];

/* The path of the output of a cut (n is 0), or of the n-th output file of a split. */
static const char *part_path(unsigned n)
{
	static char path[sizeof(cut_path) + 16];

	snprintf(path, sizeof(path), n ? "%s.%04u" : "%s", cut_path, n);
	return path;
}

static void remove_cuts(void)
{
	unlink(cut_path);
	for (unsigned n = 1; unlink(part_path(n)) == 0;)
		n++;
}

/*
 * Writes the chosen events as one recording or several, and reads the result, which must be valid.
 */
void fuzz_cut(const char *path, uint32_t choice)
{
	const char *dir = getenv("TMPDIR");
	struct sonde_session *s;
	char text[1024];
	size_t n;
	const bool is_split = choice >> 11 & 1;
	int r;

	if (!*cut_path) {
		snprintf(cut_path, sizeof(cut_path), "%.200s/sonde-fuzz-%d.data",
			 dir && *dir ? dir : "/tmp", (int)getpid());
		atexit(remove_cuts);
	}
	/* without compat=: there is no such output with it */
	keys_of(text, sizeof(text), path, choice & 0xf3);
	n = strlen(text);
	snprintf(text + n, sizeof(text) - n, "format=perfdata\noutput=%s\n%s", cut_path,
		 is_split ? "every=500B\n" : "");
	if (sonde_session_open(&s, text, "fuzz") < 0)
		return;
	r = sonde_session_write(s, -1);
	sonde_session_close(s);
	if (r < 0)
		return;
	snprintf(text, sizeof(text), "%sinput=%s\n", machines_files, part_path(is_split));
	if (sonde_session_open(&s, text, "fuzz") < 0) {
		fprintf(stderr, "what was cut cannot be read: %s\n", sonde_error_text());
		abort();
	}
	sonde_session_close(s);
	fuzz_read(part_path(is_split), choice);
	remove_cuts();
}

static void ask_round(struct sonde_stat *s, const struct sonde_stat_round *round)
{
	const struct sonde_stat_event *e;

	touch_number(round->time_ns);
	touch(&round->elapsed_ns, sizeof(round->elapsed_ns));
	touch_number(round->is_last);
	for (size_t i = 0; i < round->nr_rows; i++) {
		const struct sonde_stat_row *row = &round->rows[i];

		e = sonde_stat_event(s, row->event);
		touch_text(e->name);
		touch_text(e->cgroup);
		touch_text(row->comm);
		touch_number(row->count);
		for (uint32_t k = 0; k < row->nr_metrics; k++)
			touch_text(row->metrics[k].unit);
	}
}

void fuzz_counts(const char *path, uint32_t choice)
{
	static const char *const by[] = { "recorded", "recorded", "all",  "cpu",   "core",
					  "die",      "socket",   "node", "thread" };
	struct sonde_stat_round round = { .size = sizeof(round) };
	struct sonde_stat *s;
	char text[64];

	snprintf(text, sizeof(text), "by=%s\ncompat=%s\nforce=1\n",
		 by[choice % (sizeof(by) / sizeof(*by))], choice & 16 ? "perf-6.1" : "none");
	if (sonde_stat_read(&s, path, text) < 0) {
		touch_text(sonde_error_text());
		return;
	}
	for (int i = 0; i < MAX_ROUNDS && sonde_stat_next(s, &round) > 0; i++)
		ask_round(s, &round);
	touch_text(sonde_stat_info(s, "by"));
	touch_text(sonde_stat_info(s, "interval"));
	touch_text(sonde_stat_info(s, "cmdline"));
	sonde_stat_close(s);
}

void fuzz_recording(const char *path, uint32_t choice)
{
	const uint32_t twice = (choice >> 8 & 7) == 7 ? FUZZ_TWICE : 0;

	choice &= ~(uint32_t)FUZZ_TWICE;
	fuzz_read(path, choice | twice);
	fuzz_counts(path, choice);
	if ((choice >> 6 & 7) == 7)
		fuzz_cut(path, choice);
	else
		fuzz_write(path, choice);
}
