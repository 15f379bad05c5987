/* SPDX-License-Identifier: MIT */
/*
 * A recording written as a CTF trace. sonde must read that trace with as many events and losses,
 *and without damage.
 *
 *	u8 keys of the session | a file of any format, or a CTF trace as ctf_folder.h has it
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asking.h"
#include "ctf_folder.h"
#include "sonde/sonde.h"

enum { IS_TRACE = 1, UNSORTED = 2, UTC = 4, RELATIVE = 8, MOST_EVENTS = 20000 };

static char out[256];

static void empty_out(void)
{
	DIR *d = opendir(out);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

static void remove_out(void)
{
	empty_out();
	rmdir(out);
}

static int make_out(void)
{
	const char *parent = getenv("TMPDIR");

	snprintf(out, sizeof(out), "%.200s/sonde-fuzz-out-XXXXXX",
		 parent && *parent ? parent : "/tmp");
	if (!mkdtemp(out)) {
		*out = '\0';
		return -1;
	}
	atexit(remove_out);
	return 0;
}

static struct sonde_session *open_session(const char *input, const char *keys)
{
	struct sonde_session *s;
	char text[1024];

	snprintf(text, sizeof(text),
		 "kallsyms=/dev/null\nbuildid-dir=/nonexistent\nsymfs=/nonexistent\nforce=1\n"
		 "input=%s\n%s",
		 input, keys);
	return sonde_session_open(&s, text, "fuzz") < 0 ? NULL : s;
}

/* The samples that can be read; -1 if the input cannot be opened or read to its end. */
static int count_samples(const char *input, const char *keys)
{
	struct sonde_session *s = open_session(input, keys);
	const struct sonde_event *ev;
	int r = 0, n = 0;

	while (s && n < MOST_EVENTS && (r = sonde_session_next(s, &ev)) > 0)
		n += sonde_schema_kind(sonde_event_schema(s, ev)) <= SONDE_SAMPLE;
	sonde_session_close(s);
	return !s || r < 0 ? -1 : n;
}

static void fail(const char *what)
{
	fprintf(stderr, "the written trace %s: %s\n", what, sonde_error_text());
	abort();
}

static void check_defects(void)
{
	struct sonde_session *s = open_session(out, "");
	const struct sonde_event *ev;
	const struct sonde_defect *d;

	if (!s)
		fail("cannot be opened");
	while (sonde_session_next(s, &ev) > 0)
		fuzz_ask(s, ev);
	for (size_t i = 0; (d = sonde_session_defect(s, i)); i++)
		if (strcmp(d->name, "lost-events") != 0)
			fail(d->name);
	sonde_session_close(s);
}

static void check(const char *input, const char *keys, bool is_whole)
{
	const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct sonde_session *s = open_session(out, "format=babeltrace\n");
	int want, got;

	if (!s)
		fail("cannot be opened");
	if (sonde_session_write(s, nowhere) < 0)
		fail("cannot be printed");
	sonde_session_close(s);
	close(nowhere);
	check_defects();
	want = is_whole ? count_samples(input, keys) : -1;
	got = count_samples(out, "");
	if (want >= 0 && want != got) {
		fprintf(stderr, "%d events became %d\n", want, got);
		abort();
	}
}

/* Returns 1 if all events were written, 0 if some have no place in a trace, <0 without a trace. */
static int convert(const char *input, const char *keys)
{
	struct sonde_session *s = open_session(input, keys);
	const int dir = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *notes;
	int r;

	r = s && dir >= 0 ? sonde_session_write(s, dir) : -1;
	notes = s ? sonde_session_notes(s) : NULL;
	if (r >= 0)
		r = !notes || !strstr(notes, "events without a place");
	sonde_session_close(s);
	if (dir >= 0)
		close(dir);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	const char *input = NULL;
	char keys[128];
	int r;

	if (size < 2 || (!*out && make_out() < 0))
		return 0;
	if (data[0] & IS_TRACE)
		input = fuzz_ctf_folder(data + 1, size - 1);
	else if (fuzz_file_put(&file, data + 1, size - 1) >= 0)
		input = file.path;
	if (!input)
		return 0;
	snprintf(keys, sizeof(keys), "format=ctf\n%s%s", data[0] & UNSORTED ? "unsorted=1\n" : "",
		 data[0] & UTC        ? "clock=utc\n"
		 : data[0] & RELATIVE ? "clock=relative\n"
				      : "");
	empty_out();
	r = convert(input, keys);
	if (r >= 0)
		check(input, keys, r > 0);
	return 0;
}
