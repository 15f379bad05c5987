/* SPDX-License-Identifier: MIT */
/*
 * Damages recordings: cuts them off at every record and at random places, and flips random bits.
 * Each damaged recording is read to its end, and every function about each event is called.
 *
 *	sweep [--share N] [--seed N] [--only WORD] [--scratch DIR] RECORDING...
 *
 * --share 10 takes one in ten of the random cuts, of the flips, and of the cuts at records. If
 * ":all" follows a recording's name, its other forms are swept, too: pipe mode in a file and
 * through a pipe, a directory, compressed.
 *
 * An event is identified by its file, the place of its record, and its number among the events of
 * that record. The damage begins at
 *	- the cut; in compressed data at the first compressed record that is not complete;
 *	- the beginning of the record (in compressed data: compressed record) with the flipped bit.
 * An event is before the damage if its record ends there or earlier.
 *
 * Rules:
 *	1. A cut recording gives exactly the events before the cut, in the order of the complete
 *one.
 *	2. A recording with a flipped bit in its data gives all events before the damage in that
 *order, and perhaps others.
 *	3. The records of these events have the same bytes. The answers about an event (names,
 *fields, sample, chain, addresses, text) are the same, unless one of the readings gave an event
 *from after the damage before it: that may have described the event's task.
 *	4. If a cut leaves a part of a record, or less data than the header says, there is a defect.
 *	5. After a cut before the data, or a flip outside of the data, the reader returns.
 * A file in file mode has names and formats after its data. Its cut forms are compared with the
 * file cut at the end of its data. That one must give the records of the complete file (rules 1 and
 * 3, without the answers).
 *
 * In ftrace's text, damage may make a line a part of the record in front of it: that one counts as
 * damaged, too, and a part of a line may be an event. After damage to the metadata of a CTF trace,
 * the reader returns.
 *
 * No case may take longer than CASE_SECONDS.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "asking.h"
#include "base/vec.h"
#include "model/event.h"
#include "recording.h"
#include "sonde/sonde.h"

enum { CUTS = 1000, FLIPS = 10000, CASE_SECONDS = 30, MOST_REPORTED = 20, PIPE_BYTES = 65536 };

/* ---- the case at hand ------------------------------------------------------------------------ */

static char at_hand[256];

static void say_case(void)
{
	(void)!write(STDOUT_FILENO, "# died at: ", 11);
	(void)!write(STDOUT_FILENO, at_hand, strlen(at_hand));
	(void)!write(STDOUT_FILENO, "\n", 1);
}

static void die(int sig)
{
	say_case();
	if (sig == SIGALRM)
		(void)!write(STDOUT_FILENO, "# it hangs\n", 11);
	_exit(1);
}

/* A function of the sanitizers' runtime; NULL without sanitizers. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void watch(void)
{
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(say_case);
	else
		for (int i = 0; i < 4; i++)
			signal((int[]){ SIGSEGV, SIGBUS, SIGFPE, SIGABRT }[i], die);
	signal(SIGALRM, die);
}

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return n ? (random_state >> 16) % n : 0;
}

/* ---- one reading ----------------------------------------------------------------------------- */

struct seen {
	uint64_t begin, end; /* of its record, as the reader sees the file */
	uint64_t record;     /* hash of its bytes */
	uint64_t answers;    /* fuzz_ask() */
	uint32_t derived;
	uint16_t file;
};

struct reading {
	VEC(struct seen) events;
	bool opened;
	uint64_t defects; /* kinds; without those that the complete recording may have */
};

static uint64_t sum_of(const uint8_t *p, size_t len)
{
	uint64_t sum = len;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ p[i]) * 0x100000001b3u;
	return sum;
}

static const char *const paths_of_none =
	"kallsyms=/dev/null\nbuildid-dir=/nonexistent\nsymfs=/nonexistent\n";

/*
 * A name that a line of text gives to a task is a record of its first line: damage may make another
 * line the first one.
 */
static bool is_by_the_way(const struct recording *whole, const struct sonde_schema *sc)
{
	return sonde_schema_kind(sc) == SONDE_DEFECT ||
	       (whole->is_text && !strcmp(sonde_schema_name(sc), "comm"));
}

static void read_events(const struct recording *whole, const char *path, bool small_windows,
			struct reading *ret)
{
	const struct sonde_defect *defect;
	const struct sonde_event *ev;
	struct sonde_session *s;
	char text[512];

	vec_clear(&ret->events);
	ret->defects = 0;
	snprintf(text, sizeof(text), "input=%s\nforce=1\nevents=all\nwindow=%d\n%s%s", path,
		 small_windows ? 4096 : 65536, paths_of_none,
		 whole->is_text ? "tracefs=" SWEEP_TRACEFS "\n" : "");
	ret->opened = sonde_session_open(&s, text, "sweep") >= 0;
	if (!ret->opened)
		return;
	while (sonde_session_next(s, &ev) > 0) {
		struct seen e = {
			.begin = ev->file_off,
			.end = ev->file_off + ev->record_len,
			.derived = event_of(ev)->derived,
		};

		if (is_by_the_way(whole, sonde_event_schema(s, ev)))
			continue;
		e.record = sum_of(ev->record, ev->record_len);
		e.file = recording_file_of(whole, ev);
		e.answers = fuzz_ask(s, ev);
		if (vec_push(&ret->events, e) < 0)
			abort();
	}
	for (size_t i = 0; (defect = sonde_session_defect(s, i)); i++)
		ret->defects += strcmp(defect->name, "lost-events") != 0 &&
				strcmp(defect->name, "hidden-fields") != 0;
	sonde_session_info(s, "cmdline");
	sonde_session_close(s);
}

/* ---- places of damaged recordings ------------------------------------------------------------ */

static char scratch[200] = "/dev/shm";

struct shelf {
	char dir[256]; /* for a directory */
	struct fuzz_file file;
	char path[300];
	int pipe;
};

/* The path of a file of a directory. */
static void shelf_name(const struct shelf *s, const struct recording *r, unsigned file, char *ret,
		       size_t size)
{
	if (r->is_folder)
		snprintf(ret, size, "%s/%s", s->dir, r->file_names[file]);
	else
		snprintf(ret, size, file ? "%s/data.%u" : "%s/data", s->dir, file - 1);
}

static void shelf_clear(struct shelf *s, const struct recording *r)
{
	char path[300];

	if (!*s->dir)
		return;
	for (unsigned i = 0; i < r->nr; i++) {
		shelf_name(s, r, i, path, sizeof(path));
		unlink(path);
	}
	rmdir(s->dir);
	*s->dir = '\0';
}

static void write_file(const char *path, const uint8_t *p, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, p, len) != (ssize_t)len) {
		perror(path);
		exit(1);
	}
	close(fd);
}

static void put_on_shelf(struct shelf *s, const struct recording *r)
{
	int fds[2];

	if (r->nr > 1) {
		if (!*s->dir) {
			snprintf(s->dir, sizeof(s->dir), "%s/sonde-sweep-XXXXXX", scratch);
			if (!mkdtemp(s->dir)) {
				perror(s->dir);
				exit(1);
			}
		}
		for (unsigned i = 0; i < r->nr; i++) {
			shelf_name(s, r, i, s->path, sizeof(s->path));
			write_file(s->path, r->files[i].bytes, r->files[i].len);
		}
		snprintf(s->path, sizeof(s->path), "%s", s->dir);
	} else if (r->as_stream) {
		if (pipe2(fds, O_CLOEXEC) < 0 ||
		    write(fds[1], r->files[0].bytes, r->files[0].len) != (ssize_t)r->files[0].len) {
			perror("pipe");
			exit(1);
		}
		close(fds[1]);
		s->pipe = fds[0];
		snprintf(s->path, sizeof(s->path), "/proc/self/fd/%d", s->pipe);
	} else {
		if (fuzz_file_put(&s->file, r->files[0].bytes, r->files[0].len) < 0)
			abort();
		snprintf(s->path, sizeof(s->path), "%s", s->file.path);
	}
}

static void read_recording(struct shelf *s, const struct recording *whole,
			   const struct recording *damaged, unsigned turn, struct reading *ret)
{
	s->pipe = -1;
	put_on_shelf(s, damaged);
	alarm(CASE_SECONDS);
	read_events(whole, s->path, turn & 1, ret);
	if (s->pipe >= 0)
		close(s->pipe);
	/* Every fourth time: writes it in one of the formats, in turn. */
	if (turn % 4 == 0 && !damaged->as_stream)
		fuzz_write(s->path, turn << 3);
	alarm(0);
}

/* ---- what must hold -------------------------------------------------------------------------- */

struct sweep {
	const struct recording *whole;
	struct shelf shelf;
	/* Damaged recordings are compared with these: the complete one, one cut after its data. */
	struct reading base, base_data_cut;
	struct reading now;
	unsigned cases, failed;
};

/* Limits of the bytes before the damage, by file. */
struct limits {
	uint64_t before[MOST_FILES];
};

static bool holds(const struct limits *l, const struct seen *e)
{
	return e->end <= l->before[e->file];
}

static bool is_same_event(const struct seen *a, const struct seen *b)
{
	return a->file == b->file && a->begin == b->begin && a->derived == b->derived &&
	       a->record == b->record;
}

static void __attribute__((format(printf, 2, 3))) fail(struct sweep *w, const char *fmt, ...)
{
	va_list ap;

	w->failed++;
	if (w->failed > MOST_REPORTED)
		return;
	printf("# %s: ", at_hand);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

/* exact: there may be no other events. */
static void compare(struct sweep *w, const struct reading *base, const struct limits *l, bool exact,
		    bool answers)
{
	const struct reading *now = &w->now;
	bool clean_base = true, clean_now = true; /* no event from after the damage so far */
	size_t at = 0;

	for (size_t i = 0; i < base->events.n; i++) {
		const struct seen *e = &base->events.v[i], *found = NULL;

		if (!holds(l, e)) {
			clean_base = false;
			continue;
		}
		while (at < now->events.n && !found) {
			const struct seen *n = &now->events.v[at++];

			if (is_same_event(n, e))
				found = n;
			else if (exact) {
				fail(w,
				     "an event at 0x%llx that should not be there, before that at "
				     "0x%llx",
				     (unsigned long long)n->begin, (unsigned long long)e->begin);
				return;
			} else {
				clean_now &= holds(l, n);
			}
		}
		if (!found) {
			fail(w,
			     "the event at 0x%llx of file %u (to 0x%llx; damage from 0x%llx) is "
			     "missing, or "
			     "not in its order",
			     (unsigned long long)e->begin, e->file, (unsigned long long)e->end,
			     (unsigned long long)l->before[e->file]);
			return;
		}
		if (answers && clean_base && clean_now && found->answers != e->answers) {
			fail(w, "the event at 0x%llx has other answers",
			     (unsigned long long)e->begin);
			return;
		}
	}
	if (exact && at < now->events.n)
		fail(w, "%zu events that should not be there, the first at 0x%llx",
		     now->events.n - at, (unsigned long long)now->events.v[at].begin);
}

static struct limits no_limits(void)
{
	return (struct limits){ { UINT64_MAX, UINT64_MAX, UINT64_MAX } };
}

static const struct reading *base_of(const struct sweep *w, unsigned file)
{
	return file || w->whole->is_pipe ? &w->base : &w->base_data_cut;
}

/*
 * The end of the records that damage cannot change. begin: of the damaged record. A damaged line of
 * text may belong to the record in front of it.
 */
static uint64_t unchanged_before(const struct recording *r, unsigned file, uint64_t begin)
{
	const struct sweep_file *f = &r->files[file];
	const struct place *p = r->is_text && begin ? recording_place_of(f, begin - 1) : NULL;

	return p ? p->seen_begin : begin;
}

/* A part of a line is a record, too. */
static void drop_parts(struct reading *now, uint64_t from)
{
	size_t n = 0;

	for (size_t i = 0; i < now->events.n; i++)
		if (now->events.v[i].begin < from)
			now->events.v[n++] = now->events.v[i];
	now->events.n = n;
}

/* True if a cut at `at` leaves no part of a record, as far as the reader can know. */
static bool is_whole(const struct recording *r, const struct sweep_file *f, uint64_t at)
{
	const struct place *p = f->places.n ? recording_place_of(f, at) : NULL;

	if (r->is_text)
		return at && f->bytes[at - 1] == '\n';
	return at == f->data_begin || (p && p->begin == at);
}

static void sweep_cut(struct sweep *w, unsigned file, uint64_t at)
{
	struct recording cut = *w->whole;
	const struct sweep_file *f = &w->whole->files[file];
	struct limits l = no_limits();

	snprintf(at_hand, sizeof(at_hand), "%s: file %u cut at %llu", w->whole->name, file,
		 (unsigned long long)at);
	cut.files[file].len = at;
	read_recording(&w->shelf, w->whole, &cut, w->cases++, &w->now);
	if (w->whole->is_folder && !file)
		return;
	if (at < f->data_begin) {
		/* A stream may have some of the records. */
		l.before[file] = recording_seen_before(f, at);
		if (w->whole->is_pipe && w->now.opened)
			compare(w, base_of(w, file), &l, true, false);
		return;
	}
	if (at > f->data_end) {
		/* A part of the header after the data is left. */
		compare(w, base_of(w, file), &l, true, false);
		return;
	}
	l.before[file] = recording_seen_before(f, at);
	if (w->whole->is_text && !is_whole(w->whole, f, at))
		l.before[file] = unchanged_before(w->whole, file, l.before[file]);
	if (w->whole->is_text)
		drop_parts(&w->now, l.before[file]);
	compare(w, base_of(w, file), &l, true, true);
	if (w->now.opened && !w->now.defects && at < f->data_end &&
	    (!is_whole(w->whole, f, at) || (!w->whole->is_pipe && !file)))
		fail(w, "no defect");
}

static void sweep_flip(struct sweep *w, unsigned file, uint64_t at, unsigned bit)
{
	const struct sweep_file *f = &w->whole->files[file];
	const struct place *p = recording_place_of(f, at);
	struct limits l = no_limits();

	snprintf(at_hand, sizeof(at_hand), "%s: file %u bit %u of byte %llu flipped",
		 w->whole->name, file, bit, (unsigned long long)at);
	f->bytes[at] ^= (uint8_t)(1u << bit);
	read_recording(&w->shelf, w->whole, w->whole, w->cases++, &w->now);
	f->bytes[at] ^= (uint8_t)(1u << bit);
	if (at < f->data_begin || at >= f->data_end || !p)
		return;
	l.before[file] = unchanged_before(w->whole, file, p->seen_begin);
	compare(w, &w->base, &l, false, true);
}

/* ---- sweeping -------------------------------------------------------------------------------- */

static void read_bases(struct sweep *w)
{
	struct recording cut = *w->whole;
	const struct limits l = no_limits();

	snprintf(at_hand, sizeof(at_hand), "%s: complete", w->whole->name);
	read_recording(&w->shelf, w->whole, w->whole, 1, &w->base);
	if (!w->base.opened || !w->base.events.n)
		fail(w, "cannot be read: %s", sonde_error_text());
	snprintf(at_hand, sizeof(at_hand), "%s: cut after its data", w->whole->name);
	cut.files[0].len = w->whole->files[0].data_end;
	read_recording(&w->shelf, w->whole, &cut, 1, &w->base_data_cut);
	w->now = w->base_data_cut;
	compare(w, &w->base, &l, true, false);
	w->now = (struct reading){ 0 };
}

/* A random file, by size, and a random byte of it. Half of the time a byte of its data. */
static uint64_t random_place(const struct recording *r, unsigned *ret_file)
{
	uint64_t total = 0, at;
	const struct sweep_file *f;

	for (unsigned i = 0; i < r->nr; i++)
		total += r->files[i].len;
	at = random_below(total);
	for (*ret_file = 0; at >= r->files[*ret_file].len; ++*ret_file)
		at -= r->files[*ret_file].len;
	f = &r->files[*ret_file];
	if (random_below(2) && f->data_end > f->data_begin)
		at = f->data_begin + random_below(f->data_end - f->data_begin);
	return at;
}

static unsigned sweep_recording(const struct recording *r, unsigned share)
{
	struct sweep w = { .whole = r };
	struct timespec begin, end;
	unsigned file, nth = 0;

	fuzz_use_tracefs(r->is_text ? SWEEP_TRACEFS : NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	read_bases(&w);
	for (file = 0; file < r->nr && !w.failed; file++) {
		for (size_t i = 0; i < r->files[file].places.n; i++) {
			if (nth++ % share == 0)
				sweep_cut(&w, file, r->files[file].places.v[i].end);
		}
	}
	for (unsigned i = 0; i < CUTS / share && w.failed < MOST_REPORTED; i++) {
		const uint64_t at = random_place(r, &file);

		sweep_cut(&w, file, at);
	}
	for (unsigned i = 0; i < FLIPS / share && w.failed < MOST_REPORTED; i++) {
		const uint64_t at = random_place(r, &file);

		sweep_flip(&w, file, at, (unsigned)random_below(8));
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	shelf_clear(&w.shelf, r);
	if (*w.shelf.file.path)
		close(w.shelf.file.fd);
	printf("# %u cases, %zu events, %.1f s of CPU\n", w.cases, w.base.events.n,
	       (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	vec_done(&w.base.events);
	vec_done(&w.base_data_cut.events);
	vec_done(&w.now.events);
	return w.failed;
}

static unsigned nr_tests, nr_failed;
static const char *only = "";

static void sweep_and_report(const struct recording *r, unsigned share)
{
	unsigned failed;

	if (!strstr(r->name, only))
		return;
	failed = sweep_recording(r, share);
	nr_tests++;
	nr_failed += !!failed;
	printf("%sok %u - %s\n", failed ? "not " : "", nr_tests, r->name);
	fflush(stdout);
}

static void must(int r, const char *what)
{
	if (r < 0) {
		printf("Bail out! %s\n", what);
		exit(1);
	}
}

static void sweep_path(char *path, unsigned share)
{
	struct recording file, pipe, other;
	char *all = strstr(path, ":all");

	if (all)
		*all = '\0';
	must(recording_read(&file, path), path);
	sweep_and_report(&file, share);
	if (all) {
		must(recording_make_pipe(&pipe, &file), "pipe mode");
		sweep_and_report(&pipe, share);
		must(recording_make_compressed(&other, &pipe, false), "compressed");
		sweep_and_report(&other, share);
		recording_done(&other);
		pipe.as_stream = pipe.files[0].len <= PIPE_BYTES;
		snprintf(pipe.name, sizeof(pipe.name), "%.40s, through a pipe", file.name);
		sweep_and_report(&pipe, share);
		recording_done(&pipe);
		must(recording_make_compressed(&other, &file, true), "COMPRESSED2");
		sweep_and_report(&other, share);
		recording_done(&other);
		must(recording_make_directory(&other, &file), "directory");
		sweep_and_report(&other, share);
		recording_done(&other);
	}
	recording_done(&file);
}

int main(int argc, char **argv)
{
	unsigned share = 1;
	uint64_t seed = 1;
	int first = 1;

	for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2) {
		const char *value = argv[first + 1];

		if (!strcmp(argv[first], "--share"))
			share = (unsigned)strtoul(value, NULL, 10);
		else if (!strcmp(argv[first], "--seed"))
			seed = strtoull(value, NULL, 10);
		else if (!strcmp(argv[first], "--only"))
			only = value;
		else if (!strcmp(argv[first], "--scratch"))
			snprintf(scratch, sizeof(scratch), "%s", value);
	}
	if (first >= argc || !share)
		return 2;
	if (access(scratch, W_OK) < 0)
		snprintf(scratch, sizeof(scratch), "%s",
			 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	watch();
	printf("# seed %llu, one in %u of %d cuts and %d flips of each, and of the cuts at each "
	       "record\n",
	       (unsigned long long)seed, share, CUTS, FLIPS);
	for (int i = first; i < argc; i++) {
		random_state = seed;
		sweep_path(argv[i], share);
	}
	printf("1..%u\n", nr_tests);
	return nr_failed != 0;
}
