/* SPDX-License-Identifier: MIT */
/*
 * Prints everything that the library says of a recording, one line an event: what fixtures are
 * compared with.
 *
 *	details FILE [--counts] [key=value ...]   keys of the session; events=all by default
 *
 * --counts: everything is asked as before, but only how many events there were of each kind is
 * printed.
 *
 * Values that a recording does not hold are left out, so that a fixture shows what it is about.
 * Defects and what the header says follow the events. Exit status 0 also on errors: they are part
 * of the text.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sonde/sonde.h"

static void put_bytes(const char *name, const uint8_t *p, uint64_t n)
{
	printf(" %s=", name);
	if (!n)
		printf("-");
	for (uint64_t i = 0; i < n; i++) {
		/* Prints the beginning and the end of a large payload. */
		if (n > 64 && i == 8) {
			printf("..%" PRIu64 "..", n);
			i = n - 8;
		}
		printf("%02x", p[i]);
	}
}

static void put_text(const char *p, size_t n)
{
	putchar('"');
	for (size_t i = 0; i < n; i++)
		printf(p[i] >= ' ' && p[i] < 127 && p[i] != '"' ? "%c" : "\\x%02x",
		       (unsigned char)p[i]);
	putchar('"');
}

static void put_regs(const char *name, uint64_t abi, uint64_t mask, const uint64_t *values)
{
	printf(" %s=abi%" PRIu64, name, abi);
	for (int bit = 0, n = 0; abi && bit < 64; bit++) {
		if (mask >> bit & 1)
			printf(",%d:0x%" PRIx64, bit, values[n++]);
	}
}

static void put_sample(const struct sonde_event *ev)
{
	struct sonde_sample s;
	struct sonde_code code;
	const struct sonde_frame *frames;
	int r = sonde_event_sample(ev, &s), n = sonde_event_callchain(ev, &frames);

	if (r < 0) {
		printf(" sample: error %d ", r);
		for (const char *p = sonde_error_text(); *p; p++)
			putchar(*p == '\n' ? ' ' : *p);
		return;
	}
	if (s.present & PERF_SAMPLE_IP) {
		struct sonde_location loc;

		printf(" ip=0x%" PRIx64, s.ip);
		if (sonde_event_locate(ev, s.ip, ev->cpumode, &loc) >= 0 && loc.dso)
			printf("@%s+0x%" PRIx64, loc.dso, s.ip - loc.map_start + loc.map_pgoff);
		/* In user space the symbol depends on the files of this machine. */
		if (ev->cpumode == 1 &&
		    sonde_event_code(ev, s.ip, ev->cpumode, SONDE_CODE_INSN, &code) >= 0 &&
		    code.insn_len)
			put_bytes("insn", code.insn, code.insn_len);
	}
	if (s.present & PERF_SAMPLE_ADDR)
		printf(" addr=0x%" PRIx64, s.addr);
	if (s.present & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		printf(" id=%" PRIu64, s.id);
	if (s.present & PERF_SAMPLE_STREAM_ID)
		printf(" stream=%" PRIu64, s.stream_id);
	if (s.period)
		printf(" period=%" PRIu64, s.period);
	if (s.present & PERF_SAMPLE_READ) {
		printf(" reads=");
		for (uint32_t i = 0; i < s.nr_reads; i++)
			printf("%s%" PRIu64 "/%" PRIu64 "/%" PRIu64, i ? "," : "", s.reads[i].id,
			       s.reads[i].value, s.reads[i].lost);
		printf(" enabled=%" PRIu64 " running=%" PRIu64, s.time_enabled_ns,
		       s.time_running_ns);
	}
	if (s.present & PERF_SAMPLE_CALLCHAIN) {
		printf(" chain=");
		for (int i = 0; i < n; i++)
			printf("%s%u:0x%" PRIx64, i ? "," : "", frames[i].cpumode, frames[i].ip);
	}
	if (s.present & PERF_SAMPLE_RAW)
		put_bytes("raw", ev->bytes, s.raw_len);
	if (s.present & PERF_SAMPLE_BRANCH_STACK) {
		printf(" branches=");
		for (uint64_t i = 0; i < s.nr_branches; i++)
			printf("%s0x%" PRIx64 ">0x%" PRIx64 "/0x%" PRIx64, i ? "," : "",
			       s.branches[i].from, s.branches[i].to, s.branches[i].flags);
		if (s.branch_hw_idx)
			printf(" hw_idx=%" PRIu64, s.branch_hw_idx);
	}
	if (s.present & PERF_SAMPLE_REGS_USER)
		put_regs("user_regs", s.user_regs_abi, s.user_regs_mask, s.user_regs);
	if (s.present & PERF_SAMPLE_STACK_USER)
		put_bytes("user_stack", s.user_stack, s.user_stack_len);
	if (s.present & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		printf(" weight=0x%" PRIx64, s.weight);
	if (s.present & PERF_SAMPLE_DATA_SRC)
		printf(" data_src=0x%" PRIx64, s.data_src);
	if (s.present & PERF_SAMPLE_TRANSACTION)
		printf(" transaction=0x%" PRIx64, s.transaction);
	if (s.present & PERF_SAMPLE_REGS_INTR)
		put_regs("intr_regs", s.intr_regs_abi, s.intr_regs_mask, s.intr_regs);
	if (s.present & PERF_SAMPLE_PHYS_ADDR)
		printf(" phys_addr=0x%" PRIx64, s.phys_addr);
	if (s.present & PERF_SAMPLE_CGROUP)
		printf(" cgroup=%" PRIu64, s.cgroup);
	if (s.present & PERF_SAMPLE_DATA_PAGE_SIZE)
		printf(" data_page=0x%" PRIx64, s.data_page_size);
	if (s.present & PERF_SAMPLE_CODE_PAGE_SIZE)
		printf(" code_page=0x%" PRIx64, s.code_page_size);
}

static void put_fields(const struct sonde_event *ev, const struct sonde_schema *sc)
{
	size_t n;
	const struct sonde_field *f = sonde_schema_fields(sc, &n);

	if (!n)
		return;
	printf(" {");
	for (size_t i = 0; i < n; i++, f++) {
		size_t len;
		const uint8_t *p = sonde_event_bytes(ev, f, &len);

		printf("%s%s=", i ? " " : "", f->name);
		if (f->kind == SONDE_FIELD_STRING)
			put_text((const char *)p, p ? strnlen((const char *)p, len) : 0);
		else if (f->kind != SONDE_FIELD_INT)
			printf("[%zu bytes]", len);
		else if (f->is_signed)
			printf("%" PRId64, sonde_event_i64(ev, f));
		else
			printf("0x%" PRIx64, sonde_event_u64(ev, f));
	}
	printf("}");
}

static void put_event(struct sonde_session *s, const struct sonde_event *ev)
{
	const struct sonde_schema *sc = sonde_event_schema(s, ev);
	enum sonde_schema_kind kind = sonde_schema_kind(sc);

	/*
	 * Defects are printed at the end, because the moment when one is found depends on the size
	 * of reads.
	 */
	if (kind == SONDE_DEFECT)
		return;
	printf("%s", sonde_schema_name(sc));
	if (ev->time_ns != SONDE_NO_TIME)
		printf(" time=%" PRIu64, ev->time_ns);
	if (ev->cpu != -1)
		printf(" cpu=%d", ev->cpu);
	if (ev->pid != -1 || ev->tid != -1)
		printf(" task=%d/%d", ev->pid, ev->tid);
	printf(" comm=");
	put_text(sonde_session_string(s, ev->comm), strlen(sonde_session_string(s, ev->comm)));
	if (ev->cpumode)
		printf(" cpumode=%u", ev->cpumode);
	printf("%s%s", ev->flags & SONDE_EVENT_LATE ? " late" : "",
	       ev->flags & SONDE_EVENT_DERIVED ? " derived" : "");
	if (kind <= SONDE_SAMPLE)
		put_sample(ev);
	put_fields(ev, sc);
	if (kind == SONDE_TRACEPOINT) {
		size_t len;
		const char *text = sonde_event_text(ev, &len);

		printf(" text=");
		put_text(text, len);
	}
	putchar('\n');
}

enum { MAX_KINDS = 256 };

/* Counts by schema; derived events are counted separately. */
static void put_counts(struct sonde_session *s, uint64_t counts[MAX_KINDS][2])
{
	for (uint32_t i = 0; i < MAX_KINDS; i++) {
		for (int derived = 0; derived < 2; derived++) {
			const struct sonde_schema *sc = sonde_session_schema(s, i);

			if (counts[i][derived])
				printf("count %u%s %s %s %" PRIu64 "\n", i,
				       derived ? " derived" : "",
				       sonde_schema_kind(sc) <= SONDE_SAMPLE ? "event" : "record",
				       sonde_schema_name(sc), counts[i][derived]);
		}
	}
}

static void put_tail(struct sonde_session *s)
{
	static const char *const keys[] = { "hostname",      "osrelease",       "version",
					    "arch",          "cmdline",         "cpudesc",
					    "nrcpus-online", "nrcpus-available" };
	const struct sonde_defect *d;

	for (size_t i = 0; (d = sonde_session_defect(s, i)); i++) {
		/* depends on the files of the machine */
		if (!strcmp(d->name, "unknown-symbols"))
			continue;
		printf("defect %s %" PRIu64 "%s%s\n", d->name, d->count, *d->first ? ": " : "",
		       d->first);
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = sonde_session_info(s, keys[i]);

		if (value)
			printf("info %s=%s\n", keys[i], value);
	}
	/* 8 is left out: nearly all have it. */
	if (strcmp(sonde_session_info(s, "long-bytes"), "8"))
		printf("info long-bytes=%s\n", sonde_session_info(s, "long-bytes"));
}

int main(int argc, char **argv)
{
	struct sonde_session *s;
	const struct sonde_event *ev;
	static uint64_t counts[MAX_KINDS][2];
	char text[4096];
	int r, n, first = 2, out = -1;

	if (argc < 2)
		return 2;
	if (argc > 2 && !strcmp(argv[2], "--counts")) {
		first++;
		out = dup(STDOUT_FILENO);
		if (!freopen("/dev/null", "w", stdout))
			return 2;
	}
	n = snprintf(text, sizeof(text), "input=%s\nevents=all\nkallsyms=/dev/null\n", argv[1]);
	for (int i = first; i < argc && n < (int)sizeof(text); i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s\n", argv[i]);
	if (n >= (int)sizeof(text))
		return 2;
	r = sonde_session_open(&s, text, NULL);
	if (r < 0) {
		if (out >= 0)
			dup2(out, STDOUT_FILENO);
		printf("error %d: %s\n", r, sonde_error_text());
		return 0;
	}
	while ((r = sonde_session_next(s, &ev)) > 0) {
		put_event(s, ev);
		counts[ev->schema < MAX_KINDS ? ev->schema : MAX_KINDS - 1]
		      [!!(ev->flags & SONDE_EVENT_DERIVED)]++;
	}
	if (out >= 0) {
		fflush(stdout);
		dup2(out, STDOUT_FILENO);
		put_counts(s, counts);
	}
	if (r < 0)
		printf("error %d: %s\n", r, sonde_error_text());
	put_tail(s);
	sonde_session_close(s);
	return 0;
}
