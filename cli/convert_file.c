/* SPDX-License-Identifier: MIT */
#include "convert_file.h"

#include "new_path.h"
#include "stopping.h"
#include "trace_folder.h"

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
	bool is_folder, replace;
	int status; /* a failure that has been reported */
};

const char *convert_file_format(const char *name)
{
	return !strcmp(name, "trace.dat") || !strcmp(name, "perf") || !strcmp(name, "ctf") ? name
											   : NULL;
}

static int file_fail(struct file_conversion *v, int error)
{
	cli_say("cannot write %s: %s", v->output, strerror(error));
	v->status = CLI_FAILED;
	return 0;
}

/* Only a folder whose files a conversion writes is replaced. */
static int file_check_folder(const struct cli *cli, const char *output, bool replace)
{
	struct stat st;

	if (!strcmp(output, "-"))
		return cli_usage(cli, "convert: -o - : a trace is a folder of files: name a folder "
				      "with -o FOLDER");
	if (lstat(output, &st) < 0)
		return 0;
	if (!replace)
		cli_say("%s exists: --force replaces a trace that sonde wrote", output);
	else if (!S_ISDIR(st.st_mode))
		cli_say("%s is not a folder: name another one with -o", output);
	else if (!trace_folder_is_ours(output))
		cli_say("%s has files that are not of a trace that sonde wrote, so it is not "
			"replaced: name another folder with -o",
			output);
	else
		return 0;
	return cli_status(cli, CLI_FAILED);
}

/* Looks at what has the output's name, if anything does. */
static int file_check(const struct cli *cli, const char *output, bool replace)
{
	struct stat st;

	if (!strcmp(output, "-"))
		return cli_usage(cli, "convert: a recording needs a file, because its beginning is "
				      "written last: use -o FILE, not -o -");
	if (lstat(output, &st) < 0)
		return 0;
	if (stat(output, &st) == 0 && !S_ISREG(st.st_mode)) {
		cli_say("%s is not a regular file: a recording needs one, because its beginning "
			"is written last; name a file with -o",
			output);
		return cli_status(cli, CLI_FAILED);
	}
	if (replace)
		return 0;
	cli_say("%s exists: --force replaces it", output);
	return cli_status(cli, CLI_FAILED);
}

/* Writes the file or the folder of this path. Returns what the session returned. */
static int file_write(struct file_conversion *v, struct sonde_session *s, const char *path)
{
	const int fd = open(path, (v->is_folder ? O_RDONLY | O_DIRECTORY : O_RDWR) | O_CLOEXEC);
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
	int r = new_path_make(&path, v->output, v->is_folder);

	if (r)
		return file_fail(v, -r);
	r = file_write(v, s, path);
	if (r >= 0 && !v->status && !stopping_came()) {
		const int e = v->is_folder ? trace_folder_rename(path, v->output, v->replace)
					   : new_path_rename(path, v->output, v->replace);

		is_named = !e;
		if (e)
			file_fail(v, -e);
		else
			recording_print_notes(s);
	}
	if (!is_named && v->is_folder)
		trace_folder_remove(path);
	else if (!is_named)
		unlink(path);
	free(path);
	return r;
}

int convert_file_run(const struct cli *cli, struct reading_options *rec, const char *format,
		     const char *events, const char *output, bool replace)
{
	const bool is_folder = !strcmp(format, "ctf");
	struct file_conversion v = { .output = output, .is_folder = is_folder, .replace = replace };
	int status = is_folder ? file_check_folder(cli, output, replace)
			       : file_check(cli, output, replace);
	char *more;

	if (status)
		return status;
	if (events && strchr(events, '\n'))
		return cli_usage(cli, "convert: the value of --event contains a line feed");
	if (asprintf(&more, "format=%s\ncallchain=%d\n%s%s%s", format, is_folder,
		     events ? "event=" : "", events ? events : "", events ? "\n" : "") < 0) {
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
