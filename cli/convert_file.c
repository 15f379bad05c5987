/* SPDX-License-Identifier: MIT */
#include "convert_file.h"

#include "new_path.h"
#include "stopping.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file_conversion {
	const char *output;
	bool replace;
	int status; /* a failure that has been reported */
};

const char *convert_file_format(const char *name)
{
	return !strcmp(name, "trace.dat") || !strcmp(name, "perf") ? name : NULL;
}

static int file_fail(struct file_conversion *v, int error)
{
	cli_say("cannot write %s: %s", v->output, strerror(error));
	v->status = CLI_FAILED;
	return 0;
}

/* Looks at what has the output's name, if anything does. */
static int file_check(const struct cli *cli, const char *output, bool replace)
{
	struct stat st;

	if (!strcmp(output, "-"))
		return cli_usage(cli, "convert: -o - : the beginning of a recording is written "
				      "last, and a pipe cannot go back to it: name a file with -o "
				      "FILE");
	if (lstat(output, &st) < 0)
		return 0;
	if (stat(output, &st) == 0 && !S_ISREG(st.st_mode)) {
		cli_say("%s is not a regular file, and the beginning of a recording is written "
			"last: name a file with -o",
			output);
		return cli_status(cli, CLI_FAILED);
	}
	if (replace)
		return 0;
	cli_say("%s exists: --force replaces it", output);
	return cli_status(cli, CLI_FAILED);
}

/* Writes the file of this path. Returns what the session returned. */
static int file_write(struct file_conversion *v, struct sonde_session *s, const char *path)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	int r;

	if (fd < 0)
		return file_fail(v, errno);
	stopping_watch(s);
	r = sonde_session_write(s, fd);
	stopping_watch(NULL);
	if (close(fd) < 0 && r >= 0)
		return file_fail(v, errno);
	return r;
}

static int file_work(struct sonde_session *s, void *ctx)
{
	struct file_conversion *v = ctx;
	bool is_named = false;
	char *path;
	int r = new_path_make(&path, v->output, false);

	if (r)
		return file_fail(v, -r);
	r = file_write(v, s, path);
	if (r >= 0 && !v->status && !stopping_came()) {
		const int e = new_path_rename(path, v->output, v->replace);

		is_named = !e;
		if (e)
			file_fail(v, -e);
		else
			recording_print_notes(s);
	}
	if (!is_named)
		unlink(path);
	free(path);
	return r;
}

int convert_file_run(const struct cli *cli, struct reading_options *rec, const char *format,
		     const char *events, const char *output, bool replace)
{
	struct file_conversion v = { .output = output, .replace = replace };
	int status = file_check(cli, output, replace);
	char *more;

	if (status)
		return status;
	if (events && strchr(events, '\n'))
		return cli_usage(cli, "convert: the value of --event contains a line feed");
	if (asprintf(&more, "format=%s\ncallchain=0\n%s%s%s", format, events ? "event=" : "",
		     events ? events : "", events ? "\n" : "") < 0) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	rec->output = output;
	stopping_catch();
	status = recording_run(cli, rec, more, file_work, &v);
	free(more);
	if (v.status && status != CLI_LOSS)
		status = cli_status(cli, (enum cli_exit)v.status);
	return stopping_end(status);
}
