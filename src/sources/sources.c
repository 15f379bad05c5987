/* SPDX-License-Identifier: MIT */
/* The table of all sources; opening an input with the one that knows it. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "sources/source.h"
#include "sources/unknown.h"
#include "sources/unwrap.h"

#define SOURCE(name) &name##_source_ops,
static const struct source_ops *const sources[] = {
#include "sources/table.def"
};
#undef SOURCE

/* Finds the file in a directory that identifies the source; 0 if no source knows such a file. */
static int sources_find_head_file(int dir, char ret[NAME_MAX + 1])
{
	int r = 0;

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && !r; i++)
		if (sources[i]->head_file)
			r = sources[i]->head_file(dir, ret);
	return r;
}

static int sources_no_recording(int dir, const char *path)
{
	const char *looks = unknown_directory(dir);

	return err_set(-EISDIR, "%s is a directory with no recording (no file 'data') in it%s%s",
		       path, *looks ? ": " : "", looks);
}

/* Reads the first bytes of the file that identifies the source of a directory. */
static int sources_look_into(int dir, const char *path, uint8_t *head, size_t room, size_t *ret_len)
{
	char name[NAME_MAX + 1];
	const struct codec_ops *codec;
	struct stat st;
	ssize_t n = 0;
	int r = sources_find_head_file(dir, name), fd;

	if (r < 0)
		return r;
	if (!r)
		return sources_no_recording(dir, path);
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? sources_no_recording(dir, path)
				       : err_errno(errno, "cannot open %s/%s", path, name);
	r = 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, head, room, 0);
	else
		r = err_set(-EIO, "%s/%s is not a regular file", path, name);
	if (n < 0)
		r = err_errno(errno, "cannot read %s/%s", path, name);
	close(fd);
	*ret_len = n < 0 ? 0 : (size_t)n;
	codec = r < 0 ? NULL : codec_find(head, *ret_len);
	return codec ? err_set(-EBADMSG,
			       "%s/%s is packed with %s: unpack it, sonde reads only unpacked "
			       "files of a directory",
			       path, name, codec->name)
		     : r;
}

static int sources_read_head(struct stream *s, uint8_t *head, size_t room, size_t *ret_len)
{
	int64_t n;

	for (*ret_len = 0; *ret_len < room; *ret_len += (size_t)n) {
		n = stream_read(s, *ret_len, head + *ret_len, room - *ret_len);
		if (n < 0)
			return (int)n;
		if (!n)
			break;
	}
	return 0;
}

/*
 * Reads the first bytes of the input, at most room, or of_stream of a stream; "-" is the standard
 * input. *ret is a stream if the input can be read only once; otherwise *ret does not change.
 */
static int sources_look(const struct source_options *opts, uint8_t *head, size_t room,
			size_t of_stream, size_t *ret_len, struct stream **ret)
{
	bool is_stdin = !strcmp(opts->path, "-");
	int fd;
	ssize_t n;

	if (opts->stream) {
		*ret = opts->stream;
		return sources_read_head(*ret, head, of_stream, ret_len);
	}
	fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
		      : open(opts->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err_errno(errno, "cannot open %s", opts->path);
	n = pread(fd, head, room, 0);
	if (n >= 0 || errno != ESPIPE) {
		int r = 0;

		if (n >= 0)
			*ret_len = (size_t)n;
		else if (errno == EISDIR)
			r = sources_look_into(fd, opts->path, head, room, ret_len);
		else
			r = err_errno(errno, "cannot read %s", opts->path);
		close(fd);
		return r < 0 ? -EIO : 0;
	}
	if (stream_open(ret, fd, is_stdin ? "the standard input" : opts->path, opts->stopped) < 0) {
		close(fd);
		return err_nomem();
	}
	(*ret)->wake_ns = opts->wake_ns;
	return sources_read_head(*ret, head, of_stream, ret_len);
}

/* A recording made under sudo belongs to the user who called it; sudo may read it again. */
static bool sources_is_sudoers(uid_t uid)
{
	const char *sudo = getenv("SUDO_UID");

	return !geteuid() && sudo && *sudo && strtoul(sudo, NULL, 10) == uid;
}

int source_check_file(int fd, const char *path, bool force, struct stat *ret)
{
	if (fstat(fd, ret) < 0)
		return err_errno(errno, "cannot look at %s", path);
	if (!S_ISREG(ret->st_mode))
		return err_set(-EIO, "%s is not a regular file", path);
	if (!force && ret->st_uid && ret->st_uid != geteuid() && !sources_is_sudoers(ret->st_uid))
		return err_set(-EACCES,
			       "%s belongs to another user (use -f to read it all the same)", path);
	return 0;
}

int source_open_file(const struct source_options *opts, int *ret_fd, uint64_t *ret_bytes)
{
	struct stat st;

	*ret_fd = opts->is_copied ? opts->fd
				  : open(opts->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (*ret_fd < 0)
		return err_errno(errno, "cannot open %s", opts->path);
	TRY(source_check_file(*ret_fd, opts->path, opts->force || opts->is_copied, &st));
	*ret_bytes = (uint64_t)st.st_size;
	return 0;
}

int source_refuse_without_memory(const struct source_options *opts)
{
	stream_free(opts->stream);
	if (opts->is_copied)
		close(opts->fd);
	return err_nomem();
}

static const struct source_ops *sources_choose(const uint8_t *head, size_t len)
{
	const struct source_ops *best = NULL;
	int best_score = 0;

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		int score = sources[i]->probe(head, len);

		if (score > best_score) {
			best_score = score;
			best = sources[i];
		}
	}
	return best;
}

/* ---- input that is no plain file ------------------------------------------------------------- */

static int sources_open_packed(const struct codec_ops *codec, struct source_options *opts,
			       struct timespec *ret_changed)
{
	struct unpacked limit = { .max_bytes = opts->max_unpacked };
	struct stream *from = opts->stream;
	struct stat st;
	int fd = -1, r;

	opts->stream = NULL;
	if (!from) {
		fd = open(opts->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (fd < 0)
			return err_errno(errno, "cannot open %s", opts->path);
		r = source_check_file(fd, opts->path, opts->force, &st);
		if (r < 0) {
			close(fd);
			return r;
		}
		*ret_changed = st.st_mtim;
		limit.packed_bytes = (uint64_t)st.st_size;
	}
	return unwrap_open(&opts->stream, codec, from, fd, &limit, opts);
}

/* Like sources_look(), for the unpacked bytes of a packed input. */
static int sources_unwrap(const struct codec_ops *codec, struct source_options *opts, uint8_t *head,
			  size_t room, size_t *ret_len, struct timespec *ret_changed)
{
	TRY(sources_open_packed(codec, opts, ret_changed));
	TRY(sources_read_head(opts->stream, head, room, ret_len));
	if (!*ret_len && opts->read_defects->count[DEFECT_BAD_WRAPPING])
		return err_set(-EBADMSG,
			       "%s is packed with %s, and damaged: nothing of it can be unpacked",
			       opts->path, codec->name);
	return 0;
}

/* Copies a recording that cannot be read as a stream to a file; keeps the time of change. */
static int sources_keep_in_file(struct source_options *opts, const struct timespec *changed)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_NOW }, *changed };

	opts->fd = stream_to_file(opts->stream);
	if (opts->fd < 0)
		return opts->fd;
	if (opts->stream->packed_bytes)
		opts->packed_bytes = *opts->stream->packed_bytes;
	stream_free(opts->stream);
	opts->stream = NULL;
	opts->is_copied = true;
	(void)futimens(opts->fd, times);
	return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

/*
 * The first bytes distinguish most inputs, and a stream may not provide more for some time. Text
 * needs more.
 */
enum { HEAD_BYTES = 16, TEXT_HEAD_BYTES = 256 };

struct input {
	const char *name;           /* as the user gave it, for messages */
	struct source_options opts; /* the caller's options, completed by facts about the input */
	const struct codec_ops *codec;
	struct timespec changed;
	uint8_t head[TEXT_HEAD_BYTES]; /* first bytes, unpacked if the input is packed */
	size_t len;
};

/* The message lists the sources that were tried, what the input looks like, and a remedy. */
static int sources_refuse_unknown(const struct input *in)
{
	static const uint8_t zeros[HEAD_BYTES];
	char looks[UNKNOWN_TEXT_BYTES], tried[64] = "";
	size_t n = 0;

	if (in->len >= sizeof(zeros) && !memcmp(in->head, zeros, sizeof(zeros)))
		return err_set(-EBADMSG,
			       "%s begins with zeros: its recorder was killed before it had "
			       "written the header, so there is nothing to read",
			       in->name);
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && n < sizeof(tried); i++)
		n += (size_t)snprintf(tried + n, sizeof(tried) - n, "%s%s", i ? ", " : "",
				      sources[i]->name);
	unknown_describe(in->head, in->len < HEAD_BYTES ? in->len : HEAD_BYTES, looks);
	return err_set(-EBADMSG, "%s is not a recording that sonde knows (tried: %s)%s%s: %s",
		       in->name, tried, in->codec ? ", unpacked with " : "",
		       in->codec ? in->codec->name : "", looks);
}

/* Finds the source for the input. Unpacks a packed input, or copies it to a file if needed. */
static int source_find(struct input *in, const struct source_options *opts,
		       const struct source_ops **ret)
{
	const struct source_ops *ops;

	TRY(sources_look(opts, in->head, sizeof(in->head), HEAD_BYTES, &in->len, &in->opts.stream));
	in->codec = codec_find(in->head, in->len);
	if (in->codec)
		TRY(sources_unwrap(in->codec, &in->opts, in->head, HEAD_BYTES, &in->len,
				   &in->changed));
	if (!in->len)
		return err_set(-EBADMSG, "%s is empty: nothing was recorded", in->name);
	ops = sources_choose(in->head, in->len);
	if (!ops && in->opts.stream) {
		TRY(sources_read_head(in->opts.stream, in->head, sizeof(in->head), &in->len));
		ops = sources_choose(in->head, in->len);
	}
	if (!ops)
		return sources_refuse_unknown(in);
	if (in->opts.stream && !(ops->streams && ops->streams(in->head, in->len)))
		TRY(sources_keep_in_file(&in->opts, &in->changed));
	*ret = ops;
	return 0;
}

/* Opens what the input stores in place of events. */
static int source_open_held(struct source **ret, struct input *in, const struct source_ops *holder)
{
	const ssize_t n = pread(in->opts.held->fd, in->head, sizeof(in->head), 0);
	const struct source_ops *ops = n > 0 ? sources_choose(in->head, (size_t)n) : NULL;

	if (!ops || ops == holder) {
		close(in->opts.held->fd);
		return err_set(-EBADMSG,
			       "%s has no events: it is a %s that stores text, and not that of "
			       "ftrace",
			       in->name, holder->name);
	}
	in->opts.inside = holder->name;
	in->opts.inside_cpus = in->opts.held->nr_cpus;
	in->opts.fd = in->opts.held->fd;
	in->opts.held = NULL;
	in->opts.stream = NULL;
	in->opts.is_copied = true;
	return ops->open(ret, &in->opts);
}

int source_open(struct source **ret, const struct source_options *opts)
{
	struct input in = {
		.name = opts->path,
		.opts = *opts,
		.changed = { .tv_nsec = UTIME_NOW },
	};
	const struct source_ops *ops = NULL;
	struct source_held held = { .fd = -1 };
	int r;

	in.opts.held = &held;
	if (!opts->read_defects)
		in.opts.read_defects = opts->defects;
	if (!strcmp(opts->path, "-"))
		in.opts.path = "/dev/stdin"; /* in case it is a file */
	r = source_find(&in, opts, &ops);
	if (r < 0) {
		stream_free(in.opts.stream);
		return r;
	}
	r = ops->open(ret, &in.opts);
	return r == SOURCE_HOLDS_OTHER ? source_open_held(ret, &in, ops) : r;
}

const char *source_fact(struct source *s, const char *key)
{
	struct source_fact fact;

	for (size_t i = 0; source_fact_at(s, i, &fact); i++) {
		if (!strcmp(fact.key, key))
			return fact.value;
	}
	return NULL;
}
