/* SPDX-License-Identifier: MIT */
#include "order/window.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"

int64_t window_read(struct window *w, int fd, const char *path, uint64_t off, uint64_t end, size_t want)
{
	if (off >= end) {
		w->len = 0;
		w->file_off = off;
		return 0;
	}
	if (want > end - off)
		want = end - off;
	if (want > w->capacity) {
		uint8_t *data = malloc(want);

		if (!data)
			return err_nomem();
		free(w->data);
		w->data = data;
		w->capacity = want;
	}
	w->file_off = off;
	w->len = 0;
	while (w->len < want) {
		ssize_t got = pread(fd, w->data + w->len, want - w->len, (off_t)(off + w->len));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(errno, "%s: cannot read at 0x%llx", path, (unsigned long long)(off + w->len));
		if (!got)
			break; /* the file shrank since it was opened */
		w->len += (size_t)got;
	}
	return (int64_t)w->len;
}

void window_done(struct window *w)
{
	free(w->data);
	*w = (struct window){ 0 };
}
