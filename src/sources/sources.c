/* SPDX-License-Identifier: MIT */
/* The table of all sources; opening an input with the one that knows it. */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "sources/source.h"

static const struct source_ops *const sources[] = { &perfdata_source_ops };

/* Of a directory: the first bytes of the file with the recording's header. */
static ssize_t look_into(int dir, uint8_t *head, size_t room)
{
	int fd = openat(dir, "data", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), error;
	ssize_t n;

	if (fd < 0) {
		errno = EISDIR;
		return -1;
	}
	n = pread(fd, head, room, 0);
	error = errno;
	close(fd);
	errno = error;
	return n;
}

/* The first bytes of the input, and a stream if it can be read only once; "-" is the standard input. */
static int look(const struct source_options *opts, uint8_t *head, size_t room, size_t *ret_len,
		struct stream **ret)
{
	bool is_stdin = !strcmp(opts->path, "-");
	int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
			  : open(opts->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n;

	if (fd < 0)
		return err_errno(errno, "cannot open %s", opts->path);
	n = pread(fd, head, room, 0);
	if (n < 0 && errno == EISDIR)
		n = look_into(fd, head, room);
	if (n >= 0 || errno != ESPIPE) {
		if (n < 0 && errno == EISDIR)
			err_set(-EISDIR,
				"%s is a directory with no recording (no file 'data') in it",
				opts->path);
		else if (n < 0)
			err_errno(errno, "cannot read %s", opts->path);
		close(fd);
		*ret_len = n < 0 ? 0 : (size_t)n;
		return n < 0 ? -EIO : 0;
	}
	if (stream_open(ret, fd, is_stdin ? "the standard input" : opts->path, opts->stopped) < 0) {
		close(fd);
		return err_nomem();
	}
	for (*ret_len = 0; *ret_len < room; *ret_len += (size_t)n) {
		n = (ssize_t)stream_read(*ret, *ret_len, head + *ret_len, room - *ret_len);
		if (n < 0)
			return (int)n;
		if (!n)
			break;
	}
	return 0;
}

int source_open(struct source **ret, const struct source_options *opts)
{
	enum { HEAD_BYTES = 16 }; /* of a stream no more may be waited for */
	const struct source_ops *best = NULL;
	static const uint8_t zeros[HEAD_BYTES];
	struct source_options mine = *opts;
	uint8_t head[HEAD_BYTES];
	int best_score = 0, r;
	size_t len = 0;

	if (!strcmp(opts->path, "-"))
		mine.path = "/dev/stdin"; /* should it be a file */
	r = look(opts, head, sizeof(head), &len, &mine.stream);
	if (r >= 0 && !len)
		r = err_set(-EBADMSG, "%s is empty: nothing was recorded", opts->path);
	for (size_t i = 0; r >= 0 && i < sizeof(sources) / sizeof(sources[0]); i++) {
		int score = sources[i]->probe(head, len);

		if (score > best_score) {
			best_score = score;
			best = sources[i];
		}
	}
	if (r >= 0 && !best && len == sizeof(head) && !memcmp(head, zeros, sizeof(head)))
		r = err_set(
			-EBADMSG,
			"%s begins with zeros: its recorder was killed before it had written the "
			"header, so there is nothing to read",
			opts->path);
	else if (r >= 0 && !best)
		r = err_set(-EBADMSG, "%s is not a recording that sonde knows (perf.data)",
			    opts->path);
	if (r >= 0)
		return best->open(ret, &mine);
	stream_free(mine.stream);
	return r;
}
