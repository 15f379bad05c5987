/* SPDX-License-Identifier: MIT */
#include "filters/time_window.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/saturate.h"
#include "base/vec.h"

#define NS_PER_S    1000000000u
#define MAX_SECONDS (UINT64_MAX / NS_PER_S) /* 18446744073 s: 584 years after boot */
#define MAX_WINDOWS 65536

/* The state of parsing. On success the caller takes over the windows. */
struct parse {
	const char *text;
	const struct time_span *span; /* for percents */
	const struct rules *rules;
	VEC(struct time_window) windows;
};

static bool time_window_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static const char *time_window_skip_blanks(const char *p, const char *end)
{
	while (p < end && time_window_is_blank(*p))
		p++;
	return p;
}

static int time_window_fail(const struct parse *p, const char *why)
{
	return err_set(-EINVAL, "Invalid time string '%s': %s", p->text, why);
}

/* ---- seconds --------------------------------------------------------------------------------- */

/* "12", "12.5", ".5", "12.", blanks and a plus before the digits; all of p[0..len) must be used. */
static bool window_parse_seconds(const char *p, size_t len, uint64_t *ret_ns)
{
	const char *end = p + len, *digits;
	uint64_t s = 0, ns = 0, unit = NS_PER_S;

	if (*p != '.') {
		p = time_window_skip_blanks(p, end);
		p += p < end && *p == '+';
		for (digits = p; p < end && *p >= '0' && *p <= '9'; p++) {
			s = s * 10 + (unsigned)(*p - '0');
			if (s > MAX_SECONDS)
				return false;
		}
		if (p == digits)
			return false;
	} else if (len == 1) {
		return false;
	}
	if (p < end && *p == '.') {
		for (p++; p < end && *p >= '0' && *p <= '9'; p++) {
			if (unit == 1)
				return false;
			unit /= 10;
			ns += (unsigned)(*p - '0') * unit;
		}
	}
	return p == end && !__builtin_add_overflow(s * NS_PER_S, ns, ret_ns);
}

/* ---- times of day ---------------------------------------------------------------------------- */

/* The written parts of a time of day. */
struct moment {
	bool has_date, has_zone;
	int year, month, day, hour, minute;
	uint64_t ns;    /* ns within the minute */
	int zone_min;   /* minutes east of UTC */
	const char *at; /* the unread text */
	const char *end;
};

static bool window_take_char(struct moment *m, char c)
{
	if (m->at == m->end || *m->at != c)
		return false;
	m->at++;
	return true;
}

/* Takes exactly this many digits, which must give a number from min to max. */
static bool time_window_take_number(struct moment *m, int digits, int min, int max, int *ret)
{
	int n = 0;

	if (m->end - m->at < digits)
		return false;
	for (int i = 0; i < digits; i++) {
		if (m->at[i] < '0' || m->at[i] > '9')
			return false;
		n = n * 10 + (m->at[i] - '0');
	}
	m->at += digits;
	*ret = n;
	return n >= min && n <= max;
}

/* "58", "58.123" */
static bool window_take_seconds(struct moment *m)
{
	uint64_t unit = NS_PER_S;
	int s;

	if (!time_window_take_number(m, 2, 0, 60, &s))
		return false;
	m->ns = (uint64_t)s * NS_PER_S;
	if (!window_take_char(m, '.'))
		return true;
	for (; m->at < m->end && *m->at >= '0' && *m->at <= '9' && unit > 1; m->at++)
		m->ns += (unsigned)(*m->at - '0') * (unit /= 10);
	return unit < NS_PER_S;
}

/* "Z", "+01", "+01:00", "-0530" */
static bool window_take_zone(struct moment *m)
{
	bool west = m->at < m->end && *m->at == '-';
	int hours, minutes = 0;

	m->has_zone = m->at < m->end;
	if (!m->has_zone || window_take_char(m, 'Z'))
		return true;
	if (!window_take_char(m, west ? '-' : '+') || !time_window_take_number(m, 2, 0, 14, &hours))
		return false;
	if ((window_take_char(m, ':') || m->at < m->end) &&
	    !time_window_take_number(m, 2, 0, 59, &minutes))
		return false;
	m->zone_min = (hours * 60 + minutes) * (west ? -1 : 1);
	return true;
}

static bool window_has_date(const char *p, size_t len)
{
	return len >= 10 && p[4] == '-' && p[7] == '-';
}

/* YYYY-MM-DD[THH:MM[:SS[.N]][ZONE]] or HH:MM[:SS[.N]][ZONE] */
static bool window_read_moment(const char *p, size_t len, struct moment *ret)
{
	struct moment m = { .at = p, .end = p + len };
	bool is_valid = true;

	m.has_date = window_has_date(p, len);
	if (m.has_date)
		is_valid = time_window_take_number(&m, 4, 1970, 2200, &m.year) &&
			   window_take_char(&m, '-') &&
			   time_window_take_number(&m, 2, 1, 12, &m.month) &&
			   window_take_char(&m, '-') &&
			   time_window_take_number(&m, 2, 1, 31, &m.day);
	if (is_valid && (!m.has_date || m.at < m.end))
		is_valid = (!m.has_date || window_take_char(&m, 'T')) &&
			   time_window_take_number(&m, 2, 0, 24, &m.hour) &&
			   window_take_char(&m, ':') &&
			   time_window_take_number(&m, 2, 0, 59, &m.minute) &&
			   (!window_take_char(&m, ':') || window_take_seconds(&m)) &&
			   window_take_zone(&m);
	*ret = m;
	return is_valid && m.at == m.end;
}

/* Nanoseconds since 1970 of its date plus some days. False if there is no such day. */
static bool window_moment_wall(const struct moment *m, int more_days, bool is_utc, int64_t *ret_ns)
{
	struct tm tm = {
		.tm_year = m->year - 1900,
		.tm_mon = m->month - 1,
		.tm_mday = m->day + more_days,
		.tm_hour = m->hour,
		.tm_min = m->minute,
		.tm_isdst = -1,
	};
	time_t s;

	if (m->has_zone || is_utc)
		s = timegm(&tm) - (time_t)m->zone_min * 60;
	else
		s = mktime(&tm);
	/* 31 February becomes a day of March. */
	if (s < 0 || s > INT64_MAX / NS_PER_S - 86400 ||
	    (!more_days && m->hour < 24 && tm.tm_mday != m->day))
		return false;
	*ret_ns = (int64_t)s * NS_PER_S + (int64_t)m->ns;
	return true;
}

/* Sets the date of a moment, in the zone in which times are printed. */
static bool window_set_date(struct moment *m, int64_t wall_ns, bool is_utc)
{
	time_t s = (time_t)(wall_ns / NS_PER_S);
	struct tm tm;

	if (m->has_zone)
		s += (time_t)m->zone_min * 60;
	if (!(m->has_zone || is_utc ? gmtime_r(&s, &tm) : localtime_r(&s, &tm)))
		return false;
	m->year = tm.tm_year + 1900;
	m->month = tm.tm_mon + 1;
	m->day = tm.tm_mday;
	return true;
}

/*
 * Without a date: the first such moment within the recording; if there is none, the moment on the
 * day on which the recording begins.
 */
static bool window_place_moment(struct moment *m, const struct time_span *span, int64_t *ret_ns)
{
	const int64_t first = saturate_add(saturate_signed(span->first_ns), span->wall_ns),
		      last = saturate_add(saturate_signed(span->last_ns), span->wall_ns);
	int64_t ns;

	if (m->has_date)
		return window_moment_wall(m, 0, span->is_utc, ret_ns);
	if (!window_set_date(m, first, span->is_utc) ||
	    !window_moment_wall(m, 0, span->is_utc, ret_ns))
		return false;
	if (*ret_ns < first && window_moment_wall(m, 1, span->is_utc, &ns) && ns <= last)
		*ret_ns = ns;
	return true;
}

static bool window_is_moment(const char *p, size_t len)
{
	return memchr(p, ':', len) || window_has_date(p, len);
}

/*
 * Parses one bound. begins_ns: the bound before it in the window, for times of day after midnight.
 */
static int window_parse_bound(struct parse *parse, const char *p, size_t len, uint64_t begins_ns,
			      const char *which, uint64_t *ret_ns)
{
	struct moment m;
	int64_t ns;

	if (!window_is_moment(p, len)) {
		if (!window_parse_seconds(p, len, ret_ns))
			return err_set(
				-EINVAL,
				"Invalid time string '%s': the %s is not a number of seconds "
				"with up to 9 decimals%s",
				parse->text, which,
				parse->rules->knows_no_times_of_day ? "" : ", nor a time of day");
		return 0;
	}
	if (parse->rules->knows_no_times_of_day)
		return time_window_fail(parse, "perf does not accept times of day");
	if (!window_read_moment(p, len, &m) ||
	    (m.has_date && !window_moment_wall(&m, 0, true, &ns)))
		return err_set(-EINVAL,
			       "Invalid time string '%s': the %s is not a time of day such as "
			       "2026-11-22T21:15:58.5Z or 21:15:58",
			       parse->text, which);
	if (!parse->span) {
		*ret_ns = 0;
		return 0;
	}
	if (!window_place_moment(&m, parse->span, &ns))
		return time_window_fail(parse, "there is no such day");
	ns = saturate_sub(ns, parse->span->wall_ns);
	/* "23:50,00:10" */
	if (!m.has_date && begins_ns && ns < (int64_t)begins_ns &&
	    window_moment_wall(&m, 1, parse->span->is_utc, &ns))
		ns = saturate_sub(ns, parse->span->wall_ns);
	*ret_ns = ns > 0 ? (uint64_t)ns : 1; /* 0 would mean no bound */
	return 0;
}

/* "FROM,TO" in p[0..len) */
static int window_parse(struct parse *parse, const char *p, size_t len)
{
	struct time_window w = { 0, UINT64_MAX };
	const char *comma = memchr(p, ',', len), *to = comma + 1;

	if (comma != p)
		TRY(window_parse_bound(parse, p, (size_t)(comma - p), 0, "start", &w.from_ns));
	if (to < p + len)
		TRY(window_parse_bound(parse, to, (size_t)(p + len - to), w.from_ns, "end",
				       &w.to_ns));
	if (!w.to_ns)
		w.to_ns = UINT64_MAX;
	if (w.to_ns < w.from_ns)
		return time_window_fail(parse, "it ends before it begins");
	return vec_push(&parse->windows, w);
}

/*
 * Splits the text as perf does: a blank after the second number ends a window, blanks after the
 * comma do not.
 */
static int window_parse_list(struct parse *parse)
{
	const char *p = parse->text, *end = p + strlen(p);

	if (!strchr(p, ','))
		return time_window_fail(parse,
					"a window is FROM,TO in seconds; either side may be empty");
	for (;;) {
		const char *comma = strchr(p, ','), *stop;

		if (!comma)
			return time_window_fail(
				parse,
				"a window is FROM,TO in seconds; nothing may follow the last one");
		if (!strchr(comma + 1, ','))
			return window_parse(parse, p, (size_t)(end - p));
		for (stop = time_window_skip_blanks(comma + 1, end);
		     stop < end && !time_window_is_blank(*stop); stop++) {
			if (*stop == ',')
				return time_window_fail(parse, "windows are separated by blanks");
		}
		TRY(window_parse(parse, p, (size_t)(stop - p)));
		p = stop + (stop < end);
	}
}

static int window_check_order(struct parse *parse)
{
	for (size_t i = 1; i < parse->windows.n; i++) {
		const struct time_window *w = &parse->windows.v[i];

		/* In perf an open end overlaps nothing, because it is stored as 0. */
		if (w[-1].to_ns == UINT64_MAX ? !parse->rules->open_window_overlaps_none
					      : w[-1].to_ns >= w->from_ns)
			return time_window_fail(
				parse, "the windows are not in ascending order, or overlap");
	}
	return 0;
}

/* Open ends stay open; under perf's rules they become the time of the first sample. */
static int window_make_absolute(struct parse *parse)
{
	uint64_t first = parse->span ? parse->span->first_ns : 0;

	vec_foreach(w, &parse->windows) {
		if (w->to_ns == UINT64_MAX && parse->rules->open_window_ends_at_first)
			w->to_ns = 0;
		if (__builtin_add_overflow(w->from_ns, first, &w->from_ns) ||
		    (w->to_ns != UINT64_MAX && __builtin_add_overflow(w->to_ns, first, &w->to_ns)))
			return time_window_fail(parse, "it is beyond the end of time");
	}
	return 0;
}

/* ---- percents -------------------------------------------------------------------------------- */

/* "10.5%" in p[0..len); *ret is a fraction of 1. */
static bool window_parse_percent(const char *p, size_t len, locale_t c_locale, double *ret)
{
	const char *end = p + len;
	char number[64], *stop;
	size_t n;

	p = time_window_skip_blanks(p, end);
	if (p == end || end[-1] != '%')
		return false;
	p += *p == '+';
	n = (size_t)(end - 1 - p);
	if (!n || n >= sizeof(number))
		return false;
	for (size_t i = 0; i < n; i++) {
		if ((p[i] < '0' || p[i] > '9') && p[i] != '.')
			return false;
		number[i] = p[i];
	}
	number[n] = '\0';
	*ret = strtod_l(number, &stop, c_locale) / 100.0;
	return stop == number + n;
}

/* The time at a fraction of the span, rounded. perf also adds in double precision. */
static uint64_t window_place_in(const struct parse *parse, double share)
{
	const struct time_span *span = parse->span;
	uint64_t whole = span->last_ns - span->first_ns;
	double ns = round(share * (double)whole), sum = (double)span->first_ns + ns;

	/* Doubles of large numbers may be rounded up beyond the span, and to 2^64. */
	if (parse->rules->rounds_percents)
		return sum < 0x1p64 ? (uint64_t)sum : UINT64_MAX;
	return span->first_ns + (ns < (double)whole ? (uint64_t)ns : whole);
}

static int time_window_add_share(struct parse *parse, double from, double to)
{
	struct time_window w;

	if (from < 0 || from > 1 || to < 0 || to > 1)
		return time_window_fail(parse, "it is outside of the recording, which is 0%-100%");
	if (from > to && !parse->rules->takes_reversed_percents)
		return time_window_fail(parse, "it ends before it begins");
	if (!parse->span)
		return 0;
	w = (struct time_window){ window_place_in(parse, from), window_place_in(parse, to) };
	if (w.to_ns > w.from_ns && w.to_ns != parse->span->last_ns)
		w.to_ns--; /* the next slice begins there */
	return vec_push(&parse->windows, w);
}

/* "10%/2" and, without a slash, "10%-20%" in p[0..len) */
static int window_parse_share(struct parse *parse, const char *p, size_t len, char separator,
			      locale_t c_locale)
{
	const char *end = p + len, *second = memchr(p, separator, len);
	double from, to;

	if (!second || !window_parse_percent(p, (size_t)(second - p), c_locale, &from))
		return time_window_fail(parse, separator == '/' ? "a slice is PERCENT%/NUMBER"
								: "a part is PERCENT%-PERCENT%");
	second++;
	if (separator == '/') {
		uint32_t slice = 0;

		second = time_window_skip_blanks(second, end);
		if (second == end)
			return time_window_fail(parse, "a slice is PERCENT%/NUMBER");
		for (; second < end && *second >= '0' && *second <= '9' && slice < 1000000000;
		     second++)
			slice = slice * 10 + (unsigned)(*second - '0');
		if (second < end || !slice || from <= 0)
			return time_window_fail(parse, "a slice is PERCENT%/NUMBER, both above 0");
		to = from * slice;
		from *= slice - 1;
	} else if (!window_parse_percent(second, (size_t)(end - second), c_locale, &to)) {
		return time_window_fail(parse, "a part is PERCENT%-PERCENT%");
	}
	return time_window_add_share(parse, from, to);
}

/* The complete text decides on the kind of list: slices before ranges before a single percent. */
static int window_parse_percents(struct parse *parse, locale_t c_locale)
{
	const char *text = parse->text, *p = text;
	char separator = strchr(text, '/') ? '/' : strchr(text, '-') ? '-' : '\0';
	size_t nr = 0;

	if (!separator) {
		double share;

		if (!window_parse_percent(text, strlen(text), c_locale, &share) || share <= 0)
			return time_window_fail(parse,
						"a percentage is a number above 0 followed by %");
		return time_window_add_share(parse, 0, share);
	}
	do {
		size_t len = strcspn(p, ",");

		if (++nr > MAX_WINDOWS)
			return time_window_fail(parse, "too many of them");
		TRY(window_parse_share(parse, p, len, separator, c_locale));
		p += len + (p[len] == ',');
	} while (*p);
	return 0;
}

/* ---- the complete text ----------------------------------------------------------------------- */

bool time_windows_need_wall(const char *text)
{
	return !strchr(text, '%') && strpbrk(text, ":-");
}

/* True if it has times of day without a date, which are relative to the recording. */
static bool window_needs_date(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, ", \t");

		if (window_is_moment(text, len) && !window_has_date(text, len))
			return true;
		text += len + (text[len] != '\0');
	}
	return false;
}

bool time_windows_need_span(const char *text, bool relative)
{
	return relative || strchr(text, '%') || window_needs_date(text);
}

static int time_window_parse_text(struct parse *parse, bool relative)
{
	if (strchr(parse->text, '%')) {
		locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
		int r;

		if (!c_locale)
			return err_nomem();
		r = window_parse_percents(parse, c_locale);
		freelocale(c_locale);
		/* perf adds the first sample's time twice, and no event is left. */
		return r >= 0 && relative && parse->rules->open_window_ends_at_first
			       ? window_make_absolute(parse)
			       : r;
	}
	if (relative && time_windows_need_wall(parse->text))
		return time_window_fail(parse, "times of day do not count from the first event");
	TRY(window_parse_list(parse));
	if (!parse->span && time_windows_need_wall(parse->text))
		return 0; /* the order of the bounds is not known yet */
	TRY(window_check_order(parse));
	return relative ? window_make_absolute(parse) : 0;
}

int time_windows_parse(const char *text, const struct time_span *span, bool relative,
		       const struct rules *rules, struct time_windows *ret)
{
	struct parse parse = { .text = text, .span = span, .rules = rules };
	int r = time_window_parse_text(&parse, relative);

	if (r < 0 || !span) {
		vec_done(&parse.windows);
		return r < 0 ? r : 0;
	}
	*ret = (struct time_windows){ .bounds = parse.windows.v[0] };
	for (size_t i = 1; i < parse.windows.n; i++) {
		const struct time_window *w = &parse.windows.v[i];

		if (w->from_ns < ret->bounds.from_ns)
			ret->bounds.from_ns = w->from_ns;
		if (w->to_ns > ret->bounds.to_ns)
			ret->bounds.to_ns = w->to_ns;
	}
	if (parse.windows.n > 1) {
		ret->list = parse.windows.v;
		ret->nr = parse.windows.n;
	} else {
		vec_done(&parse.windows);
	}
	return 0;
}

static uint64_t window_shift_bound(uint64_t ns, int64_t by_ns)
{
	uint64_t sum;

	if (by_ns < 0)
		return ns < (uint64_t)-by_ns ? 0 : ns - (uint64_t)-by_ns;
	return __builtin_add_overflow(ns, (uint64_t)by_ns, &sum) ? UINT64_MAX : sum;
}

static void window_shift(struct time_window *w, int64_t by_ns)
{
	/* Times are positive, so a window that ends at 0 or before is empty. */
	if (w->from_ns)
		w->from_ns = window_shift_bound(w->from_ns, by_ns);
	if (w->to_ns != UINT64_MAX)
		w->to_ns = window_shift_bound(w->to_ns, by_ns);
}

void time_windows_shift(struct time_windows *w, int64_t by_ns)
{
	window_shift(&w->bounds, by_ns);
	for (size_t i = 0; i < w->nr; i++)
		window_shift(&w->list[i], by_ns);
}

int time_windows_copy(const struct time_windows *w, struct time_windows *ret)
{
	struct time_windows copy = *w;

	if (w->nr) {
		copy.list = malloc(w->nr * sizeof(*w->list));
		if (!copy.list)
			return err_nomem();
		memcpy(copy.list, w->list, w->nr * sizeof(*w->list));
	}
	*ret = copy;
	return 0;
}

void time_windows_done(struct time_windows *w)
{
	free(w->list);
	*w = TIME_WINDOWS_ALL;
}

bool time_windows_list_holds(const struct time_windows *w, uint64_t time_ns)
{
	for (size_t i = 0; i < w->nr; i++) {
		if (time_window_holds(&w->list[i], time_ns))
			return true;
	}
	return false;
}
