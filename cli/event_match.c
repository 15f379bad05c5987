/* SPDX-License-Identifier: MIT */
#include "event_match.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

size_t event_name_length(const char *list)
{
	bool in_slashes = false;
	size_t n = 0;

	/* The commas of a pair(START,STOP,KEY) are its own. */
	if (!strncmp(list, "pair(", strlen("pair("))) {
		n = strcspn(list, ")");
		if (list[n] && (!list[n + 1] || list[n + 1] == ','))
			return n + 1;
		n = 0;
	}
	for (; list[n] && (in_slashes || list[n] != ','); n++)
		in_slashes ^= list[n] == '/';
	return list[n] || !in_slashes ? n : strcspn(list, ",");
}

bool event_match(const char *name, size_t len, const struct sonde_schema *sc)
{
	const char *event = sonde_schema_name(sc), *colon = strrchr(event, ':');
	char pattern[512];

	if (len >= sizeof(pattern))
		return false;
	snprintf(pattern, sizeof(pattern), "%.*s", (int)len, name);
	if (!strcmp(pattern, event) || !fnmatch(pattern, event, 0))
		return true;
	if (sonde_schema_kind(sc) == SONDE_TRACEPOINT)
		return !fnmatch(pattern, sonde_schema_event(sc), 0);
	return colon && (size_t)(colon - event) == len && !strncmp(pattern, event, len);
}

bool event_match_any(const char *list, const struct sonde_schema *sc)
{
	size_t len;

	for (const char *name = list; name; name = name[len] ? name + len + 1 : NULL) {
		len = event_name_length(name);
		if (event_match(name, len, sc))
			return true;
	}
	return !list;
}

static bool event_match_is_there(const struct sonde_session *s, const char *name, size_t len)
{
	for (uint32_t id = 0; id < sonde_session_schemas(s); id++) {
		const struct sonde_schema *sc = sonde_session_schema(s, id);

		if (sonde_schema_kind(sc) <= SONDE_SAMPLE && event_match(name, len, sc))
			return true;
	}
	return false;
}

const char *event_match_none(const struct sonde_session *s, const char *list, size_t *ret_len)
{
	for (const char *name = list; name; name = name[*ret_len] ? name + *ret_len + 1 : NULL) {
		*ret_len = event_name_length(name);
		if (!event_match_is_there(s, name, *ret_len))
			return name;
	}
	return NULL;
}
