/* SPDX-License-Identifier: MIT */
/* Compares the counts of two series of runs: the difference of their means, with its interval. */
#include "stat_series.h"

#include "json.h"

#include <math.h>
#include <string.h>

/* A row in both series. Percentages are of the mean of the baseline. */
struct difference {
	double base, now;          /* means */
	double percent, low, high; /* the difference, and its 95 % confidence interval */
	bool is_known;             /* both were counted in two runs or more */
	bool is_absent;            /* neither was counted in any run */
	bool is_beyond;            /* the increase is beyond the threshold, and not by chance */
};

/* Two-sided 95 % quantiles of Student's t distribution. */
static double baseline_quantile(double freedom)
{
	static const double table[] = {
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
		2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
	};
	enum { ROWS = sizeof(table) / sizeof(*table) };
	const double normal = 1.959964;

	if (freedom < 1)
		return table[0];
	if (freedom <= ROWS)
		return table[(int)freedom - 1];
	/* the first term of the expansion around the normal distribution */
	return normal + (normal * normal * normal + normal) / (4 * freedom);
}

struct moments {
	double n, mean, square; /* square: of the standard deviation of the mean */
};

/* s: NULL if it is not in the series. */
static struct moments baseline_moments(const struct stat_series *s)
{
	struct moments m = { 0 };
	double squares = 0;

	for (size_t i = 0; s && i < s->n; i++) {
		const double difference = s->values[i] - m.mean;

		if (isnan(s->values[i]))
			continue;
		m.n++;
		m.mean += difference / m.n;
		squares += difference * (s->values[i] - m.mean);
	}
	if (m.n > 1)
		m.square = squares / (m.n - 1) / m.n;
	return m;
}

/* Welch's interval: the series may have different deviations and numbers of runs. */
static double baseline_half_interval(const struct moments *a, const struct moments *b)
{
	const double sum = a->square + b->square;
	const double parts =
		a->square * a->square / (a->n - 1) + b->square * b->square / (b->n - 1);

	return sum > 0 ? sqrt(sum) * baseline_quantile(sum * sum / parts) : 0;
}

static struct difference baseline_compare(const struct stat_series *base,
					  const struct stat_series *now, double threshold)
{
	const struct moments a = baseline_moments(base), b = baseline_moments(now);
	struct difference d = {
		.base = a.n ? a.mean : NAN,
		.now = b.n ? b.mean : NAN,
		.is_absent = !a.n && !b.n,
	};
	double half, scale;

	if (a.n < 2 || b.n < 2)
		return d;
	d.is_known = true;
	half = baseline_half_interval(&a, &b);
	/* an increase from nothing is beyond any threshold */
	scale = a.mean > 0 ? 100 / a.mean : b.mean > 0 ? INFINITY : 0;
	d.percent = scale ? (b.mean - a.mean) * scale : 0;
	d.low = isinf(scale) ? d.percent : d.percent - half * scale;
	d.high = isinf(scale) ? d.percent : d.percent + half * scale;
	d.is_beyond = d.percent > threshold && d.low > 0;
	return d;
}

/* The rows of now, then those that only the baseline has. Returns NULL behind the last one. */
static const struct stat_series *baseline_row(const struct stat_runs *base,
					      const struct stat_runs *now, size_t i,
					      double threshold, struct difference *ret)
{
	const struct stat_series *row;

	if (i < now->n) {
		row = &now->list[i];
		*ret = baseline_compare(stat_runs_find(base, now, i), row, threshold);
		return row;
	}
	for (size_t k = 0, left = i - now->n; k < base->n; k++) {
		row = &base->list[k];
		if (stat_runs_find(now, base, k) || left--)
			continue;
		*ret = baseline_compare(row, NULL, threshold);
		return row;
	}
	return NULL;
}

size_t stat_baseline_count(const struct stat_runs *base, const struct stat_runs *now,
			   double threshold)
{
	struct difference d;
	size_t nr = 0;

	for (size_t i = 0; baseline_row(base, now, i, threshold, &d); i++)
		nr += d.is_beyond || (!d.is_known && !d.is_absent);
	return nr;
}

/* True if a row by cpu, core ... may have this place. */
static bool baseline_is_place_by(const char *place, enum sonde_stat_by by)
{
	static const char *const forms[] = {
		[SONDE_STAT_BY_CPU] = "CPU%*d%n",    [SONDE_STAT_BY_CORE] = "S%*d-D%*d-C%*d%n",
		[SONDE_STAT_BY_DIE] = "S%*d-D%*d%n", [SONDE_STAT_BY_SOCKET] = "S%*d%n",
		[SONDE_STAT_BY_NODE] = "N%*d%n",
	};
	const char *tid = strrchr(place, '-');
	int len = 0;

	if (by == SONDE_STAT_BY_ALL)
		return !*place;
	if (by == SONDE_STAT_BY_THREAD) /* COMM-TID */
		return tid && tid[1] && !tid[1 + strspn(tid + 1, "0123456789")];
	sscanf(place, forms[by], &len);
	if (len && !place[len])
		return true;
	/* an event with percore */
	return by == SONDE_STAT_BY_CPU && baseline_is_place_by(place, SONDE_STAT_BY_CORE);
}

const struct stat_series *stat_baseline_find_other_place(const struct stat_runs *base,
							 enum sonde_stat_by by)
{
	for (size_t i = 0; i < base->n; i++)
		if (!baseline_is_place_by(base->list[i].place, by))
			return &base->list[i];
	return NULL;
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool baseline_is_whole(double mean)
{
	return isnan(mean) || mean == floor(mean);
}

static void baseline_print_mean(FILE *out, double mean, bool is_whole)
{
	if (isnan(mean))
		fprintf(out, " %18s", "-");
	else
		fprintf(out, " %18.*f", is_whole ? 0 : 2, mean);
}

static void baseline_print_row(FILE *out, const struct stat_series *s, const struct difference *d)
{
	const bool is_whole = baseline_is_whole(d->base) && baseline_is_whole(d->now);
	char interval[64];

	baseline_print_mean(out, d->base, is_whole);
	baseline_print_mean(out, d->now, is_whole);
	fputc(' ', out);
	if (!d->is_known) {
		fprintf(out, "%10s  %-22s", "", d->is_absent ? "not counted" : "not counted twice");
	} else {
		snprintf(interval, sizeof(interval), "%+.2f%% to %+.2f%%", d->low, d->high);
		fprintf(out, "%+9.2f%%  %-22s", d->percent, interval);
	}
	fprintf(out, " %s%s%s%s%s%s\n", s->place, *s->place ? " " : "", s->event,
		*s->cgroup ? " " : "", s->cgroup, d->is_beyond ? "  beyond the threshold" : "");
}

void stat_baseline_print(const struct stat_runs *base, const struct stat_runs *now,
			 const char *path, double threshold, FILE *out)
{
	const struct stat_series *row;
	struct difference d;

	fprintf(out,
		" Compared with %s (%zu runs, now %zu), threshold %g%%:\n\n"
		" %18s %18s %10s  %-22s event\n",
		path, base->nr_runs, now->nr_runs, threshold, "baseline", "now", "difference",
		"95 % interval");
	for (size_t i = 0; (row = baseline_row(base, now, i, threshold, &d)); i++)
		baseline_print_row(out, row, &d);
	fputc('\n', out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void baseline_put_number(FILE *out, const char *name, double value)
{
	if (isfinite(value))
		fprintf(out, ",\"%s\":%.15g", name, value);
	else
		fprintf(out, ",\"%s\":null", name);
}

void stat_baseline_print_json(const struct stat_runs *base, const struct stat_runs *now,
			      double threshold, FILE *out)
{
	const struct stat_series *s;
	struct difference d;

	fprintf(out, ",\n\"threshold_percent\":%.15g,\"differences\":[", threshold);
	for (size_t i = 0; (s = baseline_row(base, now, i, threshold, &d)); i++) {
		fputs(i ? ",\n{\"event\":" : "\n{\"event\":", out);
		json_write_string(out, s->event);
		if (*s->cgroup) {
			fputs(",\"cgroup\":", out);
			json_write_string(out, s->cgroup);
		}
		if (*s->place) {
			fputs(",\"place\":", out);
			json_write_string(out, s->place);
		}
		baseline_put_number(out, "baseline", d.base);
		baseline_put_number(out, "now", d.now);
		if (d.is_known) {
			baseline_put_number(out, "percent", d.percent);
			baseline_put_number(out, "low_percent", d.low);
			baseline_put_number(out, "high_percent", d.high);
		}
		fprintf(out, ",\"is_beyond\":%s}", d.is_beyond ? "true" : "false");
	}
	fputs("\n]", out);
}
