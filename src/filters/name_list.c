/* SPDX-License-Identifier: MIT */
#include "filters/name_list.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"

#define MAX_FILE_BYTES (1u << 20)

struct names {
	VEC(char *) names;
};

static int name_list_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int name_add(struct names *n, const char *name, size_t len)
{
	char *copy;

	if (!len)
		return 0;
	copy = strndup(name, len);
	if (!copy)
		return err_nomem();
	if (vec_push(&n->names, copy) < 0) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

/* The complete file, with a NUL after it. */
static int name_list_read_file(const char *path, const char *what, char **ret)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char *text = fd < 0 ? NULL : malloc(MAX_FILE_BYTES + 1);
	size_t len = 0;
	ssize_t got = 1;

	if (fd < 0)
		return err_errno(errno, "cannot read the %s list in %s", what, path);
	if (!text) {
		close(fd);
		return err_nomem();
	}
	while (got && len < MAX_FILE_BYTES) {
		got = read(fd, text + len, MAX_FILE_BYTES - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int r = err_errno(errno, "cannot read the %s list in %s", what, path);

			free(text);
			close(fd);
			return r;
		}
		len += (size_t)got;
	}
	close(fd);
	if (len == MAX_FILE_BYTES) {
		free(text);
		return err_set(-EFBIG, "%s: a %s list has less than 1 MiB", path, what);
	}
	text[len] = '\0';
	*ret = text;
	return 0;
}

static int name_list_add_lines(struct names *n, const char *path, const char *what)
{
	char *text = NULL;
	int r = 0;

	TRY(name_list_read_file(path, what, &text));
	for (const char *p = text; *p && r >= 0;) {
		size_t len = strcspn(p, "\n");

		r = name_add(n, p, len);
		p += len + (p[len] == '\n');
	}
	free(text);
	return r;
}

static int name_list_add_member(struct names *n, const char *name, size_t len, const char *what)
{
	static const char scheme[] = "file://";
	char *path;
	int r;

	if (len < strlen(scheme) || strncmp(name, scheme, strlen(scheme)) != 0)
		return name_add(n, name, len);
	path = strndup(name + strlen(scheme), len - strlen(scheme));
	if (!path)
		return err_nomem();
	r = name_list_add_lines(n, path, what);
	free(path);
	return r;
}

int name_list_parse(const char *text, const char *what, struct name_list *ret)
{
	struct name_list l = { 0 };
	struct names n = { 0 };
	int r = vec_reserve(&n.names, 1); /* an empty list is a list that contains nothing */
	size_t kept = 0;

	for (const char *p = text; *p && r >= 0;) {
		size_t len = strcspn(p, ",");

		r = name_list_add_member(&n, p, len, what);
		p += len + (p[len] == ',');
	}
	if (r < 0) {
		vec_foreach(name, &n.names)
			free(*name);
		vec_done(&n.names);
		return r;
	}
	qsort(n.names.v, n.names.n, sizeof(*n.names.v), name_list_compare);
	for (size_t i = 0; i < n.names.n; i++) {
		if (kept && !strcmp(n.names.v[kept - 1], n.names.v[i])) {
			free(n.names.v[i]);
			l.repeats = true;
		} else {
			n.names.v[kept++] = n.names.v[i];
		}
	}
	l.names = n.names.v;
	l.nr = kept;
	*ret = l;
	return 0;
}

void name_list_done(struct name_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->names[i]);
	free(l->names);
	*l = (struct name_list){ 0 };
}

bool name_list_has(const struct name_list *l, const char *name)
{
	return l->nr && bsearch(&name, l->names, l->nr, sizeof(*l->names), name_list_compare);
}
