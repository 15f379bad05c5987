/* SPDX-License-Identifier: MIT */
#include "profile/texts.h"

#include <string.h>

#include "base/err.h"
#include "recording/recording.h"

const char *texts_intern(struct profile *p, const char *text)
{
	uint32_t id;

	if (strpool_intern(&p->strings, text, strlen(text), &id) < 0)
		return NULL;
	return strpool_text(&p->strings, id);
}

int texts_of_session(struct profile *p, const struct event *ev, uint32_t id, uint32_t *ret)
{
	const char *text;
	uint32_t own;

	if (id < p->own_strings.n && p->own_strings.v[id]) {
		*ret = p->own_strings.v[id] - 1;
		return 0;
	}
	text = strpool_text(ev->recording->strings, id);
	TRY(strpool_intern(&p->strings, text, strlen(text), &own));
	while (p->own_strings.n <= id)
		TRY(vec_push(&p->own_strings, 0));
	p->own_strings.v[id] = own + 1;
	*ret = own;
	return 0;
}
