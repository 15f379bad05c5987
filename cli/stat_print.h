/* SPDX-License-Identifier: MIT */
/*
 * Prints counts in perf's three layouts. A layout prints the parts of a row; stat_print.c puts them
 * in order:
 *
 *	     0.100410462 CPU0      4.65 msec task-clock      #    0.046 CPUs utilized   (66.67%)
 *	     time        place     value unit event cgroup     metric       deviation   share
 */
#ifndef SONDE_CLI_STAT_PRINT_H
#define SONDE_CLI_STAT_PRINT_H

#include <sonde/sonde.h>

#include <stdbool.h>
#include <stdio.h>

struct stat_printer {
	FILE *out;
	const struct stat_layout *layout;
	const struct sonde_stat *stat;
	const char *separator; /* of the layout with fields */
	enum sonde_stat_by by;
	bool is_interval;   /* rows begin with their time */
	bool has_deviation; /* there are several runs */
	bool metric_only;
	bool has_cgroups;
	bool names_summary; /* rows of a summary begin with that word */
	bool clears;        /* the terminal is cleared before each interval */
	bool big_num;       /* numbers have separators of thousands */
	bool prints_null;   /* a missing unit is "(null)", as perf prints it */
	int unit_width;
	unsigned nr_printed; /* intervals since the last heading */
};

struct stat_layout {
	/* before the rows of an interval; NULL if there is nothing */
	void (*heading)(const struct stat_printer *p);
	void (*time)(const struct stat_printer *p, uint64_t ns);
	void (*place)(const struct stat_printer *p, const struct sonde_stat_row *row);
	void (*value)(const struct stat_printer *p, const struct sonde_stat_row *row);
	/* metric is NULL if the row has none. is_more: a further metric of the same row */
	void (*metric)(const struct stat_printer *p, const struct sonde_stat_row *row,
		       const struct sonde_stat_metric *metric, uint64_t time_ns, bool is_more);
	void (*deviation)(const struct stat_printer *p, const struct sonde_stat_row *row);
	void (*share)(const struct stat_printer *p, const struct sonde_stat_row *row);
	void (*end)(const struct stat_printer *p);
	bool metric_is_last; /* after deviation and share */
};

extern const struct stat_layout stat_text_layout, stat_csv_layout, stat_json_layout;

/* True if the row's value has decimals. */
bool stat_has_decimals(const struct stat_printer *p, const struct sonde_stat_row *row);
double stat_scaled(const struct stat_printer *p, const struct sonde_stat_row *row);
/* The deviation in percent of the value. */
double stat_deviation_percent(const struct sonde_stat_row *row);
/* How much of the time the event was on a counter, in percent. */
double stat_share_percent(const struct sonde_stat_row *row);
/* The number of a metric as perf prints it, without blanks around it; returns buf. */
const char *stat_metric_text(const struct sonde_stat_metric *m, char *buf, size_t size);
/* True for kinds whose second figure is on the line of the first one. */
bool stat_metric_follows(const struct sonde_stat_metric *m);
/* The number with the blanks and signs of a table; returns buf. */
const char *stat_metric_column(const struct sonde_stat_metric *m, char *buf, size_t size);
/* The name of the row's place in the layouts with fields: "CPU0", "S0-D0-C1", "sh-4711". */
const char *stat_place_text(const struct stat_printer *p, const struct sonde_stat_row *row,
			    char *buf, size_t size);

void stat_printer_init(struct stat_printer *p);
void stat_print_round(struct stat_printer *p, const struct sonde_stat_round *r);

#endif
