/* SPDX-License-Identifier: MIT */
#include "filters/comm_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strpool.h"

#define MAX_FILE_BYTES (1u << 20)

static int add_names(struct comm_list *l, const char *text, size_t len, char separator,
		     struct strpool *strings)
{
	VEC(uint32_t) ids = { 0 };
	const char *end = text + len;
	int r = vec_reserve(&ids, 1); /* an empty list is a list: it holds nothing */

	for (const char *p = text; r >= 0 && p < end;) {
		const char *stop = memchr(p, separator, (size_t)(end - p));
		uint32_t id;

		if (!stop)
			stop = end;
		if (stop > p)
			r = strpool_intern(strings, p, (size_t)(stop - p), &id);
		if (stop > p && r >= 0)
			r = vec_push(&ids, id);
		p = stop + 1;
	}
	if (r < 0) {
		vec_done(&ids);
		return r;
	}
	*l = (struct comm_list){ .comms = ids.v, .nr = ids.n };
	return 0;
}

static int read_names(struct comm_list *l, const char *path, struct strpool *strings)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(MAX_FILE_BYTES) : NULL;
	size_t len;
	int r;

	if (!f)
		return err_errno(errno, "cannot read the names of comms in %s", path);
	if (!text) {
		fclose(f);
		return err_nomem();
	}
	len = fread(text, 1, MAX_FILE_BYTES, f);
	if (ferror(f))
		r = err_errno(errno, "cannot read the names of comms in %s", path);
	else if (len == MAX_FILE_BYTES)
		r = err_set(-EFBIG, "%s: a list of comms has at most 1 MiB", path);
	else
		r = add_names(l, text, len, '\n', strings);
	free(text);
	fclose(f);
	return r;
}

int comm_list_parse(const char *text, struct strpool *strings, struct comm_list *ret)
{
	static const char scheme[] = "file://";

	if (!strncmp(text, scheme, strlen(scheme)))
		return read_names(ret, text + strlen(scheme), strings);
	return add_names(ret, text, strlen(text), ',', strings);
}

void comm_list_done(struct comm_list *l)
{
	free(l->comms);
	*l = (struct comm_list){ 0 };
}
