/* SPDX-License-Identifier: MIT */
/* sonde.h: recording, and build ids. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/build_id.h"
#include "base/err.h"
#include "capture/running/build_ids.h"
#include "capture/running/kernel_parts.h"
#include "record/rotation.h"
#include "record/recorder.h"

int sonde_recorder_open(struct sonde_recorder **ret, const struct sonde_record_options *opts)
{
	struct sonde_record_options known = { 0 };

	NOT_NULL(ret, -EINVAL);
	NOT_NULL(opts, -EINVAL);
	if (!opts->size)
		return err_set(-EINVAL, "sonde_record_options.size is not set");
	/* a caller built with an older header knows fewer options, one with a newer header more */
	memcpy(&known, opts, opts->size < sizeof(known) ? opts->size : sizeof(known));
	return recorder_open(ret, &known);
}

int sonde_recorder_run(struct sonde_recorder *r, struct sonde_record_result *ret)
{
	struct sonde_record_result result;
	size_t ret_size;
	int e;

	NOT_NULL(r, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	/* a caller built with an older header knows fewer members */
	ret_size = ret->size && ret->size < sizeof(result) ? ret->size : sizeof(result);
	e = recorder_run(r, &result);
	memcpy(ret, &result, ret_size);
	return e;
}

void sonde_recorder_stop(struct sonde_recorder *r)
{
	if (r) /* without a cause: signal handlers call this */
		recorder_stop(r);
}

void sonde_recorder_switch(struct sonde_recorder *r)
{
	if (r)
		rotation_ask(r);
}

void sonde_recorder_close(struct sonde_recorder *r)
{
	if (r)
		recorder_close(r);
}

int sonde_running_kernel(void (*part)(void *ctx, const struct sonde_kernel_part *part), void *ctx)
{
	NOT_NULL(part, -EINVAL);
	err_clear();
	return kernel_parts(part, ctx);
}

int sonde_file_build_id(const char *path, char ret[SONDE_BUILD_ID_CHARS])
{
	char hex[BUILD_ID_HEX_CHARS];
	struct build_id id = { 0 };
	struct stat st;
	int fd;

	NOT_NULL(ret, -EINVAL);
	ret[0] = '\0';
	NOT_NULL(path, -EINVAL);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		id = build_id_of_file(fd);
	close(fd);
	memcpy(ret, build_id_hex(&id, hex), 2 * (size_t)id.len + 1);
	return id.len > 0;
}
