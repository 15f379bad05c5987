/* SPDX-License-Identifier: MIT */
/*
 * An input that is not perf.data, with the required members of struct source_ops only. Each output
 * writes what it can; outputs of perf.data's contents say why they cannot.
 *
 * The input is a perf.data file. Its source loses its optional members after it was opened, so that
 * no code recognises it as perf.data.
 */
#include "unittest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "open.h"
#include "session/session.h"
#include "sonde/sonde.h"
#include "sources/perfdata/view.h"
#include "sources/source.h"

/* The sample type of the demo: IP TID TIME ID CPU PERIOD RAW. */
enum { ATTR_SAMPLE_TYPE = 0x5c7 };

static struct source_ops bare;

static struct sonde_session *open_bare(const char *keys, bool is_bare)
{
	struct sonde_session *s = open_session(demo(), keys);
	struct source *source;

	if (!is_bare)
		return s;
	source = s->recordings.v[0].source;
	bare = (struct source_ops){
		.name = "bare",
		.summary = "only what every input has",
		.probe = source->ops->probe,
		.open = source->ops->open,
		.file = source->ops->file,
		.cut = source->ops->cut,
		.take_header = source->ops->take_header,
		.decode = source->ops->decode,
		.close = source->ops->close,
	};
	source->ops = &bare;
	return s;
}

/* Returns the output, which the caller frees; *ret is the result. */
static char *write_session(const char *keys, bool is_bare, int *ret)
{
	struct sonde_session *s = open_bare(keys, is_bare);
	FILE *f = tmpfile();
	char *text;
	long len;

	assert_non_null(f);
	*ret = sonde_session_write(s, fileno(f));
	sonde_session_close(s);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	len = ftell(f);
	rewind(f);
	text = calloc(1, (size_t)len + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)len, f), len);
	fclose(f);
	return text;
}

static size_t lines_of(const char *text)
{
	size_t nr = 0;

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

static void check_writes(const char *keys, const char *first, const char *second)
{
	int r;
	char *text = write_session(keys, true, &r);

	if (r < 0)
		fail_msg("%s: %s", keys, sonde_error_text());
	if (!strstr(text, first) || !strstr(text, second))
		fail_msg("%s: neither %s nor %s in: %s", keys, first, second, text);
	free(text);
}

static void check_refuses(const char *keys, const char *what)
{
	char message[256];
	int r;

	free(write_session(keys, true, &r));
	assert_int_equal(r, -EINVAL);
	snprintf(message, sizeof(message),
		 "%s needs a recording in perf.data's format; %s is a bare recording", what,
		 getenv("SONDE_DEMO_DATA"));
	if (!strstr(sonde_error_text(), message))
		fail_msg("%s: %s", keys, sonde_error_text());
}

TEST(only_ctf_has_lines_of_babeltrace)
{
	int r;

	free(write_session("format=babeltrace\n", true, &r));
	assert_int_equal(r, -EINVAL);
	if (!strstr(sonde_error_text(), "is for CTF traces") ||
	    !strstr(sonde_error_text(), "is a bare recording"))
		fail_msg("%s", sonde_error_text());
}

TEST(text_is_the_same)
{
	int r, r_bare;
	char *whole = write_session("events=all\n", false, &r);
	char *text = write_session("events=all\n", true, &r_bare);

	assert_int_equal(r, 0);
	assert_int_equal(r_bare, 0);
	assert_true(lines_of(whole) > 100);
	assert_string_equal(text, whole);
	free(whole);
	free(text);
}

TEST(json_lines_are_as_many)
{
	int r, r_bare;
	char *whole = write_session("format=jsonl\nevents=all\n", false, &r);
	char *text = write_session("format=jsonl\nevents=all\n", true, &r_bare);

	assert_int_equal(r, 0);
	assert_int_equal(r_bare, 0);
	assert_int_equal(lines_of(text), lines_of(whole));
	free(whole);
	free(text);
}

TEST(info_says_what_it_counts)
{
	check_writes("format=info\n", "\n     samples  event\n", "  syscalls:sys_enter_read\n");
	check_writes("format=info-json\n",
		     "\"file\":{\"kind\":\"file\",\"files\":1,\"data_bytes\":", "\"host\":{}");
	check_writes("format=buildids\n", "", "");
	check_writes("format=buildids-json\n", "\"schema\":\"sonde-buildids\"", "");
}

TEST(tracepoints_have_lines_of_trace_cmd)
{
	check_writes("format=trace-cmd\n", ": sched_switch:         ", " ==> ");
	check_writes("format=trace-cmd\n", ": sys_enter_read:       fd: ", "count: ");
}

TEST(recordings_of_other_programs_begin)
{
	check_writes("format=trace.dat\n", "tracing7", "");
	check_writes("format=perf\n", "PERFILE2", "");
}

/* The text of a file of the folder, which is removed. */
static char *take_file(const char *dir, const char *name)
{
	char path[300], *text = calloc(1, 1 << 20);
	FILE *f;

	assert_non_null(text);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	unlink(path);
	return text;
}

TEST(a_ctf_trace_names_its_events)
{
	struct sonde_session *s = open_bare("format=ctf\n", true);
	char dir[] = "/tmp/sonde-bare-XXXXXX", *text;
	int fd;

	assert_non_null(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(sonde_session_write(s, fd), 0);
	sonde_session_close(s);
	close(fd);
	text = take_file(dir, "metadata");
	assert_non_null(strstr(text, "name = \"sched:sched_switch\""));
	assert_non_null(strstr(text, "source_format = \"bare\""));
	assert_non_null(strstr(text, "added_contexts = \"pid tid procname\""));
	free(text);
	for (int cpu = 0; cpu < 64; cpu++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/cpu_%d", dir, cpu);
		unlink(path);
	}
	assert_int_equal(rmdir(dir), 0);
}

TEST(only_perfdata_has_an_inside)
{
	check_refuses("format=evlist\n", "evlist");
	check_refuses("format=evlist-json\n", "evlist");
	check_refuses("format=perfdata\noutput=/nonexistent/x\n", "cutting or splitting");
	check_refuses("header=only\n", "the header (--header, -I)");
	check_refuses("header-info=1\n", "the header (--header, -I)");
	check_refuses("dump=1\n", "a dump of the records (-D)");
	check_refuses("show-task-events=1\n", "showing records (--show-...-events)");
}

TEST(questions_about_events)
{
	struct sonde_session *s = open_bare("", true);
	struct sonde_sample sample = { .size = sizeof(sample) };
	const struct sonde_event *ev;

	assert_null(perfdata_view_of(s->recordings.v[0].source));
	assert_null(perfdata_view_of(NULL));
	assert_true(sonde_session_next(s, &ev) > 0);
	assert_int_equal(sonde_event_sample(ev, &sample), 0);
	assert_int_equal(sample.present, 0);
	assert_int_equal(sonde_schema_sampled(sonde_event_schema(s, ev)), ATTR_SAMPLE_TYPE);
	assert_null(sonde_session_info(s, "hostname"));
	sonde_session_close(s);
}
