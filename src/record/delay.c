/* SPDX-License-Identifier: MIT */
#include "record/delay.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/now.h"

/* Parses a number with blanks around it. Returns the text after it, or NULL on a mistake. */
static const char *delay_number(const char *text, uint64_t *ret)
{
	char *end;

	text += strspn(text, " ");
	if (!isdigit((unsigned char)*text))
		return NULL;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return errno || *ret > INT32_MAX ? NULL : end + strspn(end, " ");
}

static int delay_parse_ranges(struct delay *d, const char *text)
{
	const char *at = text;
	uint64_t from, to;

	do {
		at = delay_number(at, &from);
		at = at && *at == '-' ? delay_number(at + 1, &to) : NULL;
		if (!at || (*at && *at != ','))
			return err_set(-EBADR,
				       "-D needs milliseconds, ranges of them as 10-20,30-40, or "
				       "-1, not '%s'",
				       text);
		if (from >= to || (d->steps_ms.n && from <= d->steps_ms.v[d->steps_ms.n - 1]))
			return err_set(-EBADR,
				       "-D %s: each range must end after it begins, and begin "
				       "after the one before it ended",
				       text);
		TRY(vec_push(&d->steps_ms, from));
		TRY(vec_push(&d->steps_ms, to));
	} while (*at++);
	d->ends = true;
	return 0;
}

static int delay_parse_terms(struct delay *d, const char *text)
{
	const char *rest;
	uint64_t ms;

	d->is_given = d->begins_off = true;
	if (!strcmp(text, "-1")) {
		d->until_enabled = true;
		return 0;
	}
	rest = delay_number(text, &ms);
	if (rest && !*rest)
		TRY(vec_push(&d->steps_ms, ms));
	else
		TRY(delay_parse_ranges(d, text));
	/* a step at time 0 is done at the start */
	if (d->steps_ms.v[0] == 0) {
		d->is_given = d->ends;
		d->begins_off = false;
		d->next = 1;
	}
	return 0;
}

int delay_parse(struct delay *ret, const char *text)
{
	struct delay d = { 0 };
	int r = text ? delay_parse_terms(&d, text) : 0;

	if (r < 0) {
		delay_done(&d);
		return r;
	}
	*ret = d;
	return 0;
}

void delay_start(struct delay *d)
{
	d->start_ms = now_ms();
}

enum delay_step delay_due(struct delay *d)
{
	if (d->next >= d->steps_ms.n || now_ms() - d->start_ms < d->steps_ms.v[d->next])
		return DELAY_NOTHING;
	d->next++;
	if (d->next == d->steps_ms.n && d->ends)
		return DELAY_END;
	return d->next % 2 ? DELAY_ON : DELAY_OFF;
}

int delay_sleep_ms(const struct delay *d, int max_ms)
{
	uint64_t due, now;

	if (d->next >= d->steps_ms.n)
		return max_ms;
	due = d->start_ms + d->steps_ms.v[d->next];
	now = now_ms();
	return due <= now ? 0 : due - now < (uint64_t)max_ms ? (int)(due - now) : max_ms;
}

void delay_done(struct delay *d)
{
	vec_done(&d->steps_ms);
}
