/* SPDX-License-Identifier: MIT */
#include "report_keys.h"

#include "unittest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add(char *text, const struct report_items *items)
{
	for (size_t i = 0; i < items->n; i++)
		strcat(strcat(text, i ? "," : ""), items->v[i].name);
}

/* "order of rows|columns", or what is wrong: "-unknown", "!of another mode". */
static void check(const struct report_keys_want *want, const char *expected)
{
	struct report_layout l;
	char text[512] = "", *unknown;
	const char *of;
	bool other;

	if (report_layout_make(&l, want, &unknown, &of, &other) == 0) {
		add(text, &l.sort);
		strcat(text, "|");
		add(text, &l.output);
	} else {
		strcat(strcpy(text, other ? "!" : "-"), unknown);
	}
	free(unknown);
	report_layout_done(&l);
	assert_string_equal(text, expected);
}

TEST(columns_and_order)
{
	check(&(struct report_keys_want){ 0 }, "overhead,comm,dso,symbol|overhead,comm,dso,symbol");
	check(&(struct report_keys_want){ .children = true, .sort = "sym", .show_samples = true },
	      "overhead_children,overhead,symbol,sample|overhead_children,overhead,sample,symbol");
	check(&(struct report_keys_want){ .sort = "COMM,overhead" }, "comm,overhead|overhead,comm");
	check(&(struct report_keys_want){ .sort = "+cpu,cpu" },
	      "overhead,comm,dso,symbol,cpu|overhead,comm,dso,symbol,cpu");
	check(&(struct report_keys_want){ .fields = "comm,sample" }, "comm,sample|comm,sample");
	check(&(struct report_keys_want){ .fields = "comm", .sort = "dso" }, "dso,comm|comm,dso");
	check(&(struct report_keys_want){ .sort = "symbol" },
	      "overhead,symbol,ipc_null|overhead,symbol,ipc_null");
	check(&(struct report_keys_want){ .only_tracepoints = true },
	      "overhead,trace|overhead,trace");
}

TEST(wrong_keys)
{
	check(&(struct report_keys_want){ .sort = "comm,nosuch" }, "-nosuch");
	check(&(struct report_keys_want){ .fields = "+nosuch" }, "-nosuch");
	check(&(struct report_keys_want){ .sort = "mem" }, "!mem");
	check(&(struct report_keys_want){ .sort = "mem", .mode = REPORT_MEMORY },
	      "overhead,mem|overhead,mem");
}
