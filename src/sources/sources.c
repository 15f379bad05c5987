/* SPDX-License-Identifier: MIT */
/* The table of all sources; opening an input with the one that knows it. */

#include <fcntl.h>
#include <unistd.h>

#include "base/err.h"
#include "sources/source.h"

static const struct source_ops *const sources[] = { &perfdata_source_ops };

int source_open(struct source **ret, const struct source_options *opts)
{
	const struct source_ops *best = NULL;
	int fd = open(opts->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), best_score = 0;
	uint8_t head[64];
	ssize_t n;

	if (fd < 0)
		return err_errno(errno, "cannot open %s", opts->path);
	n = pread(fd, head, sizeof(head), 0);
	close(fd);
	if (n < 0 && errno == ESPIPE)
		return err_set(-ENOTSUP, "%s is a pipe: this version reads recordings in files",
			       opts->path);
	if (n < 0)
		return err_errno(errno, "cannot read %s", opts->path);
	if (!n)
		return err_set(-EBADMSG, "%s is empty: nothing was recorded", opts->path);
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		int score = sources[i]->probe(head, (size_t)n);

		if (score > best_score) {
			best_score = score;
			best = sources[i];
		}
	}
	if (!best)
		return err_set(-EBADMSG, "%s is not a recording that sonde knows (perf.data)",
			       opts->path);
	return best->open(ret, opts);
}
