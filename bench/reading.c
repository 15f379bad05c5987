/* SPDX-License-Identifier: MIT */
/*
 * Measures the cost of reading, step by step.
 *
 *	bench-reading walk FILE     pread into one window, step from record header to record header:
 *	                            the floor
 *	bench-reading order FILE    sonde's source and order only: records cut and merged by time,
 *	                            nothing decoded
 *	bench-reading count FILE    a session: how many events of which name, how many were lost
 *	bench-reading repeat FILE N    the data section N times to stdout, each time later than the
 *	                               one before
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "order/order.h"
#include "model/schema_table.h"
#include "sonde/sonde.h"
#include "sources/source.h"

enum {
	WINDOW_BYTES = 1 << 20,
	MAX_BATCH = 256,
	HEADER_BYTES = 8,    /* u32 type | u16 misc | u16 size */
	DATA_SECTION_AT = 40 /* in the file header: u64 offset, u64 size */
};

/* Reads only the file header, in this machine's byte order, and the sizes of records. */
static int walk(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *window = malloc(WINDOW_BYTES);
	uint64_t section[2], at, end, records = 0;

	if (fd < 0 || !window ||
	    pread(fd, section, sizeof(section), DATA_SECTION_AT) != sizeof(section)) {
		perror(path);
		return 1;
	}
	for (at = section[0], end = at + section[1]; at < end;) {
		ssize_t n = pread(fd, window, end - at < WINDOW_BYTES ? end - at : WINDOW_BYTES,
				  (off_t)at);
		const uint8_t *p = window, *stop = window + (n > 0 ? n : 0);

		while (stop - p >= HEADER_BYTES) {
			uint16_t size;

			memcpy(&size, p + 6, sizeof(size));
			if (size < HEADER_BYTES || size > stop - p)
				break;
			p += size;
			records++;
		}
		if (p == window)
			break;
		at += (uint64_t)(p - window);
	}
	printf("records %" PRIu64 "\n", records);
	free(window);
	close(fd);
	return 0;
}

static int report_failure(void)
{
	fprintf(stderr, "%s\n", sonde_error_text());
	return 1;
}

static int order_only(const char *path)
{
	struct schema_table schemas = { 0 };
	struct defects defects = { 0 };
	struct source *source;
	struct order *order;
	struct order_stats stats;
	const struct cut *cuts;
	uint64_t records = 0;
	int n;

	if (source_open(&source, &(struct source_options){
					 .rules = &default_rules,
					 .path = path,
					 .window_bytes = WINDOW_BYTES,
					 .force = true,
					 .schemas = &schemas,
					 .defects = &defects,
				 }) < 0)
		return report_failure();
	if (order_open(&order, source,
		       &(struct order_options){
			       .window_bytes = WINDOW_BYTES,
			       .defects = &defects,
		       }) < 0)
		return report_failure();
	while ((n = order_next(order, &cuts)) > 0)
		records += (uint64_t)n;
	if (n < 0)
		return report_failure();
	order_stats(order, &stats);
	printf("records %" PRIu64 ", runs %zu, at once %zu\n", records, stats.runs,
	       stats.most_runs_at_once);
	order_close(order);
	source->ops->close(source);
	schema_table_done(&schemas);
	return 0;
}

/* The offset of a record's time; cutting the record gave its value. */
static uint8_t *find_time(uint8_t *rec, uint32_t len, uint64_t time_ns)
{
	for (uint32_t at = HEADER_BYTES; at + 8 <= len; at += 8)
		if (!memcmp(rec + at, &time_ns, 8))
			return rec + at;
	return NULL;
}

static int repeat_once(struct source *source, const struct source_file *f, uint8_t *window,
		       uint64_t later_ns, uint64_t *newest_ns)
{
	struct cut cuts[256];

	for (uint64_t at = f->begin; at < f->end;) {
		ssize_t n =
			pread(f->fd, window,
			      f->end - at < WINDOW_BYTES ? f->end - at : WINDOW_BYTES, (off_t)at);
		size_t used_here = 0, need;

		while (n > 0) {
			struct unit unit = { 0 };
			uint64_t used;
			int nr = source->ops->cut(source, 0, &unit, window + used_here,
						  (size_t)n - used_here, at + used_here, cuts, 256,
						  &used, &need);

			if (nr <= 0)
				break;
			for (int i = 0; i < nr; i++) {
				uint8_t *rec = window + (cuts[i].file_off - at), *time;
				uint64_t shifted = cuts[i].time_ns + later_ns;

				if (cuts[i].order != CUT_ORDERED)
					continue;
				time = find_time(rec, cuts[i].len, cuts[i].time_ns);
				if (time)
					memcpy(time, &shifted, 8);
				if (cuts[i].time_ns > *newest_ns)
					*newest_ns = cuts[i].time_ns;
			}
			used_here += used;
		}
		if (!used_here || fwrite(window, 1, used_here, stdout) != used_here)
			return 1;
		at += used_here;
	}
	return 0;
}

static int repeat(const char *path, int times)
{
	struct schema_table schemas = { 0 };
	struct defects defects = { 0 };
	struct source *source;
	struct source_file file;
	uint8_t *window = malloc(WINDOW_BYTES);
	uint64_t newest_ns = 0;

	if (!window || source_open(&source, &(struct source_options){
						    .rules = &default_rules,
						    .path = path,
						    .window_bytes = WINDOW_BYTES,
						    .force = true,
						    .schemas = &schemas,
						    .defects = &defects,
					    }) < 0)
		return report_failure();
	source->ops->file(source, 0, &file);
	for (int i = 0; i < times; i++) {
		/* Times count from the boot: twice the newest one is later than all. */
		if (repeat_once(source, &file, window, newest_ns * (uint64_t)i, &newest_ns)) {
			fprintf(stderr, "%s: cannot be repeated\n", path);
			return 1;
		}
	}
	source->ops->close(source);
	schema_table_done(&schemas);
	free(window);
	return fflush(stdout) ? 1 : 0;
}

static int count(const char *path)
{
	const struct sonde_event *const *events;
	const struct sonde_defect *d;
	struct sonde_session *s;
	size_t nr;
	uint64_t counts[1024] = { 0 }, lost = 0;
	char text[4096];
	int r;

	snprintf(text, sizeof(text), "input=%s\nforce=1\n", path);
	if (sonde_session_open(&s, text, NULL) < 0)
		return report_failure();
	while (nr = MAX_BATCH, (r = sonde_session_next_batch(s, &events, &nr)) > 0) {
		for (size_t i = 0; i < nr; i++)
			counts[events[i]->schema < 1023 ? events[i]->schema : 1023]++;
	}
	if (r < 0)
		return report_failure();
	for (uint32_t i = 0; i < 1023 && i < sonde_session_schemas(s); i++)
		if (counts[i])
			printf("%s %" PRIu64 "\n", sonde_schema_name(sonde_session_schema(s, i)),
			       counts[i]);
	for (size_t i = 0; (d = sonde_session_defect(s, i)); i++)
		if (d->severity >= SONDE_DATA_LOSS)
			lost += d->count;
	printf("lost %" PRIu64 "\n", lost);
	sonde_session_close(s);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "walk"))
		return walk(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "order"))
		return order_only(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "count"))
		return count(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "repeat"))
		return repeat(argv[2], atoi(argv[3]));
	fprintf(stderr,
		"usage: bench-reading walk|order|count FILE\n       bench-reading repeat FILE N\n");
	return 2;
}
