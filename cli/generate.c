/* SPDX-License-Identifier: MIT */
/*
 * sonde script -g LANG: collects the recording's events and writes the language's text to a new
 * file.
 */
#include "generate.h"

#include "languages.h"
#include "skeleton.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what a skeleton is made of -------------------------------------------------------------- */

static int generate_by_name(const void *a, const void *b)
{
	const struct sonde_schema *const *x = a, *const *y = b;

	return strcmp(sonde_schema_name(*x), sonde_schema_name(*y));
}

/* Sorts and removes equal names: event types of one name have one handler. */
static size_t generate_settle(const struct sonde_schema **list, size_t nr)
{
	size_t kept = 0;

	qsort(list, nr, sizeof(*list), generate_by_name);
	for (size_t i = 0; i < nr; i++)
		if (!kept || generate_by_name(&list[kept - 1], &list[i]))
			list[kept++] = list[i];
	return kept;
}

/* True for the recorder's own event for records of state: it has no samples. */
static bool generate_is_dummy(const struct sonde_schema *sc)
{
	size_t len;
	const struct perf_event_attr *attr = sonde_schema_attr(sc, &len);

	return attr && len >= PERF_ATTR_SIZE_VER0 && attr->type == PERF_TYPE_SOFTWARE &&
	       attr->config == PERF_COUNT_SW_DUMMY;
}

int generate_gather(struct sonde_session *s, struct skeleton *ret)
{
	size_t nr = sonde_session_schemas(s);
	struct skeleton sk = {
		.tracepoints = calloc(nr + 1, sizeof(*sk.tracepoints)),
		.samples = calloc(nr + 1, sizeof(*sk.samples)),
	};

	*ret = sk;
	if (!sk.tracepoints || !sk.samples)
		return -1;
	for (uint32_t id = 0; id < nr; id++) {
		const struct sonde_schema *sc = sonde_session_schema(s, id);
		enum sonde_schema_kind kind = sonde_schema_kind(sc);

		size_t nr_fields;

		sonde_schema_fields(sc, &nr_fields);
		/* A tracepoint without a format has no known fields, and not even a name. */
		if (kind == SONDE_TRACEPOINT && nr_fields)
			sk.tracepoints[sk.nr_tracepoints++] = sc;
		else if (kind == SONDE_SAMPLE && !generate_is_dummy(sc))
			sk.samples[sk.nr_samples++] = sc;
	}
	sk.nr_tracepoints = generate_settle(sk.tracepoints, sk.nr_tracepoints);
	sk.nr_samples = generate_settle(sk.samples, sk.nr_samples);
	*ret = sk;
	return 0;
}

/* The complete text, released with free(); NULL after reporting why. */
static char *generate_make_text(const struct cli *cli, const struct language *l,
				struct sonde_session *s, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);
	struct skeleton sk = { 0 };
	bool failed =
		!out || generate_gather(s, &sk) < 0 || l->generate(out, &sk) < 0 || ferror(out);

	failed |= out && fclose(out);
	free(sk.tracepoints);
	free(sk.samples);
	if (!failed)
		return text;
	cli_say("out of memory");
	free(text);
	return NULL;
}

/* ---- the file -------------------------------------------------------------------------------- */

static int generate_write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

bool generate_create(const char *path, const char *text, size_t len, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_EXCL, mode), why;
	bool failed;

	if (fd < 0)
		return false;
	failed = generate_write_all(fd, text, len) < 0;
	why = errno;
	if (close(fd) < 0 && !failed) {
		failed = true;
		why = errno;
	}
	if (failed)
		unlink(path);
	errno = why;
	return !failed;
}

/* Writes into a device or any other file that is not a regular one. */
static bool generate_write_into(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	bool done = fd >= 0 && generate_write_all(fd, text, len) == 0;

	return fd >= 0 && close(fd) == 0 && done;
}

/* Replaces a regular file; its other hard links keep their content. */
static bool generate_replace(const char *path, const char *text, size_t len, mode_t mode)
{
	char *temp;
	bool done;

	if (asprintf(&temp, "%s.%d.part", path, (int)getpid()) < 0) {
		errno = ENOMEM;
		return false;
	}
	done = generate_create(temp, text, len, mode);
	if (done && (chmod(temp, mode) < 0 || rename(temp, path) < 0)) {
		int why = errno;

		unlink(temp);
		errno = why;
		done = false;
	}
	free(temp);
	return done;
}

/*
 * An existing file may be someone's work: only --force overwrites it, and never through a symbolic
 * link.
 */
static int generate_save(const struct cli *cli, const char *path, bool force, const char *text,
			 size_t len)
{
	struct stat st;
	bool is_there = lstat(path, &st) == 0;

	if (is_there && !force) {
		cli_say("%s exists already: --force overwrites it, -o FILE writes another file",
			path);
		return cli_status(cli, CLI_FAILED);
	}
	if (is_there && S_ISLNK(st.st_mode)) {
		cli_say("%s is a link, which is not followed: remove it, or choose another file "
			"with -o FILE (-o - is standard output)",
			path);
		return cli_status(cli, CLI_FAILED);
	}
	if (!is_there             ? generate_create(path, text, len, 0666)
	    : S_ISREG(st.st_mode) ? generate_replace(path, text, len, st.st_mode & 0777)
				  : generate_write_into(path, text, len))
		return CLI_OK;
	cli_say("cannot write %s: %m", path);
	return cli_status(cli, CLI_FAILED);
}

static int generate_put_out(const struct cli *cli, const struct generate *g,
			    const struct language *l, const char *text, size_t len)
{
	char name[64];
	const char *path = g->output;
	int status;

	if (path && !strcmp(path, "-")) {
		if (!generate_write_all(STDOUT_FILENO, text, len) || errno == EPIPE)
			return CLI_OK;
		cli_say("cannot write to stdout: %m");
		return cli_status(cli, CLI_FAILED);
	}
	if (!path) {
		snprintf(name, sizeof(name), "perf-script.%s", l->suffixes[0]);
		path = name;
	}
	status = generate_save(cli, path, g->force, text, len);
	if (status == CLI_OK)
		cli_say("generated %s script: %s", l->name, path);
	return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct language *generate_find_language(const char *name)
{
	for (const struct language *l = script_languages; l->name; l++)
		for (const char *const *p = l->prefixes; *p; p++)
			if (!strcasecmp(*p, name))
				return l;
	return NULL;
}

static int generate_no_such_language(const struct cli *cli, const char *name,
				     const struct language *known)
{
	char list[128] = "";
	size_t at = 0;

	for (const struct language *l = script_languages; l->name; l++)
		for (const char *const *p = l->prefixes; l->generate && *p; p++)
			at += (size_t)snprintf(list + at, at < sizeof(list) ? sizeof(list) - at : 0,
					       "%s%s", at ? ", " : "", *p);
	if (known)
		cli_say("script: no skeletons of %s scripts can be made yet; there are: %s",
			known->name, list);
	else
		cli_say("script: no language '%s' to generate a script in; there are: %s", name,
			list);
	return cli_rules(cli)->statuses_are_errnos ? 256 - ENOENT : CLI_USAGE;
}

int generate_script(const struct cli *cli, const struct generate *g)
{
	const struct language *l = generate_find_language(g->language);
	struct sonde_session *s;
	char *text, *described = NULL;
	size_t len = 0;
	int r, status;

	if (!l || !l->generate)
		return generate_no_such_language(cli, g->language, l);
	/* With the real tables of the formats, not perf's version of them. */
	if (asprintf(&described, "%scompat=none\n", g->session) < 0) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	r = sonde_session_open(&s, described, "the command line");
	free(described);
	if (r < 0)
		return cli_fail(cli);
	text = generate_make_text(cli, l, s, &len);
	status = text ? generate_put_out(cli, g, l, text, len) : cli_status(cli, CLI_FAILED);
	free(text);
	sonde_session_close(s);
	return status;
}
