/* SPDX-License-Identifier: MIT */
#include "filters/event_names.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"

void event_names_done(struct event_names *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->names[i]);
	free(l->names);
	*l = (struct event_names){ 0 };
}

size_t event_names_length(const char *text)
{
	bool in_slashes = false;
	size_t n = 0;

	if (!strncmp(text, "pair(", strlen("pair("))) {
		n = strcspn(text, ")");
		if (text[n] && (!text[n + 1] || text[n + 1] == ','))
			return n + 1;
		n = 0;
	}
	for (; text[n] && (in_slashes || text[n] != ','); n++)
		in_slashes ^= text[n] == '/';
	return text[n] || !in_slashes ? n : strcspn(text, ",");
}

int event_names_parse(const char *text, struct event_names *ret)
{
	struct event_names l = { 0 };
	size_t room = 1, len;

	for (const char *p = text; *p; p++)
		room += *p == ',';
	l.names = calloc(room, sizeof(*l.names));
	if (!l.names)
		return err_nomem();
	for (const char *p = text;; p += len + 1) {
		len = event_names_length(p);
		if (!len) {
			event_names_done(&l);
			return err_set(-EINVAL,
				       "'%s' is not a list of events: names separated by commas "
				       "are expected",
				       text);
		}
		l.names[l.nr] = strndup(p, len);
		if (!l.names[l.nr++]) {
			l.nr--;
			event_names_done(&l);
			return err_nomem();
		}
		if (!p[len])
			break;
	}
	*ret = l;
	return 0;
}

bool event_names_match(const char *listed, const char *name, bool is_tracepoint)
{
	const char *colon = strrchr(name, ':');
	size_t len = strlen(listed);

	if (!strcmp(listed, name) || !fnmatch(listed, name, 0))
		return true;
	if (!colon || strchr(name, '('))
		return false;
	if (is_tracepoint)
		return !fnmatch(listed, strchr(name, ':') + 1, 0);
	return (size_t)(colon - name) == len && !strncmp(listed, name, len);
}

bool event_names_hold(const struct event_names *l, const char *name, bool is_tracepoint)
{
	for (size_t i = 0; i < l->nr; i++) {
		if (event_names_match(l->names[i], name, is_tracepoint))
			return true;
	}
	return !l->names;
}
