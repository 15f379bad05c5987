/* SPDX-License-Identifier: MIT */
/*
 * printfmt-bench [FORMAT...]: nanoseconds per event of printfmt_run(), the best of several rounds.
 * Without arguments it measures frequent formats of kernels. No test runs it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/err.h"
#include "formats/tracefs/eventformat.h"
#include "model/printfmt/printfmt.h"

#define ROUNDS 15
#define EVENTS 200000

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static char *read_file(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "r");
	char *text = malloc(1 << 20);

	if (!f || !text) {
		free(text);
		return NULL;
	}
	*ret_len = fread(text, 1, 1 << 20, f);
	fclose(f);
	return text;
}

/* Eight payloads like real ones: small numbers, names, some pointers. */
static void fill(uint8_t *payload, const struct sonde_schema *sc, unsigned i)
{
	memset(payload, 0, 256);
	for (size_t k = 0; k < sc->nr_fields; k++) {
		const struct sonde_field *f = &sc->fields[k];
		uint64_t v = f->is_pointer || !strcmp(f->name, "call_site")
				     ? 0xffff888012340000 + 64 * i
				     : 7 + 321 * i * k;

		if (f->offset + f->width > 256)
			continue;
		if (f->kind == SONDE_FIELD_STRING)
			snprintf((char *)payload + f->offset, f->width, "worker/%u", i * 37);
		else if (!strcmp(f->name, "prev_state"))
			payload[f->offset] = i % 3;
		else if (!strcmp(f->name, "gfp_flags"))
			memcpy(payload + f->offset, &(uint32_t){ i % 2 ? 0xcc0 : 0xdc0 }, 4);
		else if (f->kind == SONDE_FIELD_ARRAY)
			for (uint32_t at = 0; at + 8 <= f->width; at += 8)
				memcpy(payload + f->offset + at,
				       &(uint64_t){ at % 16 ? 0x7f1234560000 + at : at + i }, 8);
		else
			memcpy(payload + f->offset, &v, f->width < 8 ? f->width : 8);
	}
}

static int bench(const char *path)
{
	struct abi abi = { .long_bytes = 8 };
	struct arena a = { 0 };
	struct sonde_schema *sc;
	struct printfmt *pf;
	struct outbuf out = { 0 };
	uint8_t payloads[8][256];
	double best = 1e18;
	size_t len, bytes = 0;
	char *text = read_file(path, &len);

	if (!text) {
		printf("%-60s no such file\n", path);
		return 0;
	}
	if (eventformat_parse(&a, bytes_init(text, len, 0, path, false), "", abi, &sc) < 0 ||
	    printfmt_compile(&pf, sc, PRINTFMT_PERF_6_1) < 0) {
		printf("%s: %s\n", path, err_text());
		return 1;
	}
	for (unsigned i = 0; i < 8; i++)
		fill(payloads[i], sc, i);
	for (int round = 0; round < ROUNDS; round++) {
		double start = now(), ns;

		bytes = 0;
		for (unsigned i = 0; i < EVENTS; i++) {
			out.len = 0;
			printfmt_run(pf, NULL, payloads[i % 8], 256, &out);
			bytes += out.len;
		}
		ns = (now() - start) / EVENTS;
		if (ns < best)
			best = ns;
	}
	printf("%-28s %7.1f ns  %4zu bytes  %.*s\n", sc->name, best, bytes / EVENTS, (int)out.len,
	       out.data);
	printfmt_free(pf);
	outbuf_done(&out);
	arena_done(&a);
	free(text);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const usual[] = { "sched/sched_switch",     "sched/sched_wakeup",
					     "raw_syscalls/sys_enter", "raw_syscalls/sys_exit",
					     "kmem/kmalloc",           "irq/softirq_entry" };
	char path[256];
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= bench(argv[i]);
	for (size_t i = 0; argc == 1 && i < sizeof(usual) / sizeof(*usual); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/format", usual[i]);
		failed |= bench(path);
	}
	return failed;
}
