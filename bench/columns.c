/* SPDX-License-Identifier: MIT */
/*
 * Walks a recording through the public header.
 *
 *	bench-columns count FILE                   events of all types, in batches
 *	bench-columns columns FILE EVENT FIELDS [all]  integer columns of one event type, summed up;
 *	                                           all: also time, cpu, pid, tid and comm
 *
 *	bench-columns aggregate FILE KIND EVENTS FIELD BY  an aggregation; '-': not given
 *
 * count is what the others are compared with. All print the number of events or rows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sonde/sonde.h"

enum { MAX_BATCH = 256 };

static int columns_fail(void)
{
	fprintf(stderr, "%s\n", sonde_error_text());
	return 1;
}

static int columns_count(struct sonde_session *s)
{
	const struct sonde_event *const *events;
	uint64_t all = 0;
	size_t nr;
	int r;

	while (nr = MAX_BATCH, (r = sonde_session_next_batch(s, &events, &nr)) > 0)
		all += nr;
	printf("%" PRIu64 " events\n", all);
	return r < 0 ? columns_fail() : 0;
}

static uint64_t columns_sum(const char *format, const struct ArrowArray *a)
{
	const int32_t *narrow = a->buffers[1];
	const int64_t *wide = a->buffers[1];
	uint64_t sum = 0;

	if (strchr("lL", *format)) {
		for (int64_t i = 0; i < a->length; i++)
			sum += (uint64_t)wide[i];
	} else if (strchr("iI", *format)) {
		for (int64_t i = 0; i < a->length; i++)
			sum += (uint64_t)narrow[i];
	}
	return sum;
}

static int columns_read(struct sonde_session *s, const char *event, const char *fields,
			uint32_t flags)
{
	const struct sonde_columns_options o = { .size = sizeof(o), .flags = flags };
	struct ArrowSchema schema;
	struct ArrowArray a;
	struct sonde_columns *c;
	uint64_t rows = 0, sum = 0;
	uint32_t table;
	int r;

	if (sonde_columns_new(&c, s) < 0 || sonde_columns_add(c, event, fields, &o) < 0 ||
	    sonde_columns_schema(c, 0, &schema) < 0)
		return columns_fail();
	while ((r = sonde_columns_next(c, &table, &a)) > 0) {
		for (int64_t i = 0; i < a.n_children; i++)
			sum += columns_sum(schema.children[i]->format, a.children[i]);
		rows += (uint64_t)a.length;
		a.release(&a);
	}
	printf("%" PRIu64 " rows, sum %" PRIu64 "\n", rows, sum);
	schema.release(&schema);
	sonde_columns_free(c);
	return r < 0 ? columns_fail() : 0;
}

static const char *columns_given(const char *arg)
{
	return strcmp(arg, "-") != 0 ? arg : NULL;
}

static int columns_aggregate(struct sonde_session *s, char **args)
{
	const struct sonde_aggregate_options o = {
		.size = sizeof(o),
		.kind = args[0],
		.events = args[1],
		.field = columns_given(args[2]),
		.by = columns_given(args[3]),
	};
	const struct sonde_event *const *events;
	struct sonde_aggregate *a;
	size_t nr;
	int r;

	if (sonde_aggregate_new(&a, s, &o) < 0)
		return columns_fail();
	for (uint32_t i = 0; i < sonde_session_schemas(s); i++)
		sonde_session_want(s, i, sonde_aggregate_wants(a, i));
	while (nr = MAX_BATCH, (r = sonde_session_next_batch(s, &events, &nr)) > 0) {
		r = sonde_aggregate_add(a, events, nr);
		if (r < 0)
			break;
	}
	printf("%d rows\n", sonde_aggregate_rows(a));
	sonde_aggregate_free(a);
	return r < 0 ? columns_fail() : 0;
}

int main(int argc, char **argv)
{
	struct sonde_session *s;
	char text[4096];
	int r = 2;

	if (argc < 3)
		return 2;
	snprintf(text, sizeof(text), "input=%s\nforce=1\n", argv[2]);
	if (sonde_session_open(&s, text, NULL) < 0)
		return columns_fail();
	if (!strcmp(argv[1], "count"))
		r = columns_count(s);
	else if (!strcmp(argv[1], "aggregate") && argc == 7)
		r = columns_aggregate(s, argv + 3);
	else if (argc > 4)
		r = columns_read(s, argv[3], argv[4], argc > 5 ? 0 : SONDE_COLUMNS_FIELDS_ONLY);
	sonde_session_close(s);
	return r;
}
