/* SPDX-License-Identifier: MIT */
/* Prints the entries that libkshark reads from a trace.dat: a count, then a line for each entry. */
#include <stdio.h>
#include <stdlib.h>

#include "libkshark.h"

int main(int argc, char **argv)
{
	struct kshark_context *ctx = NULL;
	struct kshark_entry **rows = NULL;
	ssize_t n;
	int stream;

	if (argc != 2 || !kshark_instance(&ctx))
		return 2;
	stream = kshark_open(ctx, argv[1]);
	if (stream < 0)
		return 1;
	n = kshark_load_entries(ctx, stream, &rows);
	printf("%zd\n", n);
	for (ssize_t i = 0; i < n; i++)
		printf("%lld %d %d %s %s\n", (long long)rows[i]->ts, rows[i]->cpu,
		       kshark_get_pid(rows[i]), kshark_get_event_name(rows[i]),
		       kshark_get_info(rows[i]));
	return 0;
}
