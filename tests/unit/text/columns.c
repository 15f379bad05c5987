/* SPDX-License-Identifier: MIT */
/*
 * The text sink with handmade events: a session of two or three event types, without a recording.
 */
#include "unittest.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "formats/perfdata/attr.h"
#include "recording/locate.h"
#include "recording/text.h"
#include "sinks/perf/text_provider.h"
#include "sinks/sink.h"
#include "sinks/text/fields.h"
#include "sinks/text/options.h"
#include "sources/source.h"

#define EVENTS(ev) ((const struct event *const[]){ &(ev) })

/* ---- the session of the sink ----------------------------------------------------------------- */

static struct recordings recordings;
static struct recording recording;
static const struct filters no_filters;
static struct sonde_schema schemas[4];
static struct sonde_schema *schema_ids[4];
static struct perf_event_attr attrs[4];
static size_t nr_schemas;
static const char *const comms[] = { "", "bash", "a-very-long-name-that-fills-no-column",
				     "swapper" };
static struct sonde_sample sample;
static uint64_t chain[8];
static int nr_chain;

/* A table of sinks, without sinks that need a recording. */
static const struct sink_ops with_parts = { .text_provider = &perf_text_provider };
const struct sink_ops *const sinks[NR_SINKS] = { &with_parts };

const char *recording_cgroup(const struct recording *rec, uint64_t id)
{
	return id == 7 ? "/user.slice" : NULL;
}

const char *recording_info(const struct recording *rec, const char *key)
{
	return !strcmp(key, "arch") ? "x86_64" : NULL;
}

void recording_event_text(const struct event *ev, struct outbuf *out)
{
	outbuf_str(out, "a=1 b=two");
}

const struct sonde_location *recording_located(const struct event *ev, uint64_t addr,
					       uint32_t cpumode)
{
	static struct sonde_location loc, *ret = &loc;

	*ret = (struct sonde_location){ .size = sizeof(*ret), .addr = addr };
	if (cpumode == 1 && addr >= 0xffffffff81000000) {
		ret->dso = "[kernel.kallsyms]";
		if (addr < 0xffffffff82000000) {
			ret->sym = "start_kernel";
			ret->sym_off = addr - 0xffffffff81000000;
		}
	} else if (cpumode == 2 && addr >= 0x400000 && addr < 0x500000) {
		ret->dso = "/bin/x";
		ret->map_start = 0x400000;
		ret->map_end = 0x500000;
		ret->map_pgoff = 0x1000;
	}
	return ret;
}

/* Mappings never change, so that texts are cached. */
const struct address_space *recording_space(const struct event *ev, uint32_t cpumode)
{
	static const struct address_space kernel = { .stamp = 1 }, user = { .stamp = 2 };

	return cpumode == 1 ? &kernel : cpumode == 2 ? &user : NULL;
}

uint32_t recording_address_mode(const struct event *ev, uint64_t addr)
{
	return addr >> 63 ? 1 : 2;
}

struct dso *recording_dso_at(const struct event *ev, uint64_t addr, uint64_t *ret_offset)
{
	return NULL;
}

bool recording_has_file_here(struct recording *rec, const struct address_space *space)
{
	return true;
}

static int fake_sample(struct source *s, const struct event *ev, struct sonde_sample *ret)
{
	*ret = sample;
	return 0;
}

static int fake_callchain(struct source *s, const struct event *ev, const uint8_t **ret)
{
	*ret = (const uint8_t *)chain;
	return nr_chain;
}

static const struct source_ops fake_ops = {
	.name = "fake",
	.sample = fake_sample,
	.callchain = fake_callchain,
};
static struct source fake = { .ops = &fake_ops };

static void add(uint32_t type, const char *name, uint64_t sample_type)
{
	attrs[nr_schemas] = (struct perf_event_attr){ .type = type, .sample_type = sample_type };
	schemas[nr_schemas] = (struct sonde_schema){
		.id = (uint32_t)nr_schemas,
		.kind = type == PERF_TYPE_TRACEPOINT ? SONDE_TRACEPOINT : SONDE_SAMPLE,
		.name = name,
		.attr = &attrs[nr_schemas],
		.attr_len = sizeof(attrs[0]),
	};
	nr_schemas++;
}

#define ALL \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

static struct event event(uint32_t schema)
{
	return (struct event){ .pub = { .size = sizeof(struct sonde_event),
					.schema = schema,
					.time_ns = 4344041956433,
					.cpu = 1,
					.pid = 10,
					.tid = 11,
					.comm = 1,
					.cpumode = 1 },
			       .recording = &recording,
			       .schema = &schemas[schema],
			       .source = &fake };
}

/* ---- output of the sink ---------------------------------------------------------------------- */

static char written[8192];
static int opened;

/* The sink's own options, and options of the session that it is given. */
struct options {
	char *fields;
	bool ns, deltatime, latency, color;
	bool callchain, reltime;
	enum sonde_compat compat;
};

/* The recording of the sink, with the event types made so far. */
static void make_recording(const struct options *o)
{
	uint32_t id;

	if (!recordings.strings.entries.n)
		assert_int_equal(strpool_init(&recordings.strings), 0);
	for (uint32_t i = 0; i < sizeof(comms) / sizeof(*comms); i++) {
		assert_int_equal(
			strpool_intern(&recordings.strings, comms[i], strlen(comms[i]), &id), 0);
		assert_int_equal(id, i);
	}
	for (size_t i = 0; i < nr_schemas; i++)
		schema_ids[i] = &schemas[i];
	recordings.v = &recording;
	recordings.nr = 1;
	recordings.schemas.schemas.v = schema_ids;
	recordings.schemas.schemas.n = nr_schemas;
	recordings.opts =
		(struct recording_options){ .rules = rules_of(o->compat), .max_frames = UINT_MAX };
	recording.all = &recordings;
	recording.opts = &recordings.opts;
	recording.strings = &recordings.strings;
}

static int open_text(struct sink **ret, const struct options *o, int fd)
{
	static struct text_options own;

	for (size_t i = 0; i < nr_schemas; i++)
		perfdata_attr_describe(&attrs[i], &schemas[i]);
	own = (struct text_options){
		.max_blocks = KEY_NO_NUMBER,
		.fields = o->fields,
		.ns = o->ns,
		.deltatime = o->deltatime,
		.latency = o->latency,
		.color = o->color,
	};
	make_recording(o);
	return text_sink_ops.open(ret, &(struct sink_options){
					       .own = &own,
					       .rules = rules_of(o->compat),
					       .callchain = o->callchain,
					       .reltime = o->reltime,
					       .fd = fd,
					       .recordings = &recordings,
					       .filters = &no_filters,
				       });
}

static struct sink *start(struct options opts)
{
	struct sink *s = NULL;
	char path[] = "/tmp/sonde-text-XXXXXX";

	opened = mkstemp(path);
	assert_true(opened >= 0);
	unlink(path);
	assert_int_equal(open_text(&s, &opts, opened), 0);
	return s;
}

static const char *finish(struct sink *s)
{
	ssize_t n;

	assert_int_equal(s->ops->finish(s, true), 0);
	s->ops->close(s);
	n = pread(opened, written, sizeof(written) - 1, 0);
	assert_true(n >= 0);
	written[n] = '\0';
	close(opened);
	return written;
}

static const char *line(struct options opts, uint32_t schema)
{
	struct event ev = event(schema);
	struct sink *s = start(opts);

	assert_int_equal(s->ops->events(s, EVENTS(ev), 1), 0);
	return finish(s);
}

static void two_types(void)
{
	nr_schemas = 0;
	add(PERF_TYPE_TRACEPOINT, "sched:sched_switch", ALL | PERF_SAMPLE_RAW);
	add(PERF_TYPE_SOFTWARE, "cpu-clock", ALL);
	sample = (struct sonde_sample){ .ip = 0xffffffff81000010, .period = 250000 };
	nr_chain = 0;
}

TEST(default_columns)
{
	two_types();
	assert_string_equal(
		line((struct options){ .callchain = true }, 0),
		"            bash    11 [001]  4344.041956: sched:sched_switch: a=1 b=two\n");
	assert_string_equal(line((struct options){ .callchain = true }, 1),
			    "            bash    11 [001]  4344.041956:     250000          "
			    "cpu-clock:  ffffffff81000010 "
			    "start_kernel+0x10 ([kernel.kallsyms])\n");
	assert_string_equal(
		line((struct options){ .ns = true, .compat = SONDE_COMPAT_PERF_6_12 }, 0),
		"            bash      11 [001]  4344.041956433: sched:sched_switch: a=1 b=two\n");
}

TEST(chosen_columns)
{
	two_types();
	assert_string_equal(line((struct options){ .fields = "comm,pid,tid,cpu" }, 0),
			    "            bash    10/11    [001] \n");
	assert_string_equal(line((struct options){ .fields = "pid" }, 0), "   10 \n");
	assert_string_equal(line((struct options){ .fields = "trace" }, 0), "a=1 b=two\n");
	assert_string_equal(line((struct options){ .fields = "trace" }, 1), "");
	assert_string_equal(line((struct options){ .fields = "trace:event sw:comm,ip" }, 0),
			    "sched:sched_switch: \n");
	assert_string_equal(line((struct options){ .fields = "trace:event sw:comm,ip" }, 1),
			    "            bash  ffffffff81000010\n");
	assert_string_equal(
		line((struct options){ .fields = "-cpu,+pid" }, 0),
		"            bash    10/11     4344.041956: sched:sched_switch: a=1 b=two\n");
	assert_string_equal(line((struct options){ .fields = "trace:" }, 0), "");
	assert_string_equal(line((struct options){ .fields = "ip,sym" }, 1),
			    " ffffffff81000010 start_kernel\n");
}

TEST(values_at_the_edge)
{
	struct event ev;
	struct sink *s;

	two_types();
	s = start((struct options){ .fields = "comm,pid,tid,cpu,time" });
	ev = event(0);
	ev.pub.comm = 2;
	ev.pub.pid = ev.pub.tid = -1;
	ev.pub.cpu = -1;
	ev.pub.time_ns = SONDE_NO_TIME;
	assert_int_equal(s->ops->events(s, EVENTS(ev), 1), 0);
	ev = event(0);
	ev.pub.pid = ev.pub.tid = 4194304;
	ev.pub.cpu = 1234;
	ev.pub.time_ns = 1999999999;
	assert_int_equal(s->ops->events(s, EVENTS(ev), 1), 0);
	ev.pub.time_ns = 999;
	assert_int_equal(s->ops->events(s, EVENTS(ev), 1), 0);
	assert_string_equal(
		finish(s),
		"a-very-long-name-that-fills-no-column    -1/-1    [-01] 18446744073.709551: \n"
		"            bash 4194304/4194304 [1234]     1.999999: \n"
		"            bash 4194304/4194304 [1234]     0.000000: \n");
}

TEST(numbers_of_every_length)
{
	static const int32_t ids[] = { -2147483648, -10,   -1,    0,      9,
				       10,          99,    100,   999,    1000,
				       9999,        10000, 99999, 100000, 2147483647 };
	static const enum sonde_compat compats[] = { SONDE_COMPAT_PERF_6_1,
						     SONDE_COMPAT_PERF_6_12 };
	char want[2048];

	two_types();
	for (int c = 0; c < 2; c++) {
		struct sink *s = start((struct options){
			.fields = "pid,tid,time",
			.ns = true,
			.compat = compats[c],
		});
		size_t len = 0;
		int width = c ? 7 : 5;

		for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
			struct event ev = event(0);

			ev.pub.pid = ids[i];
			ev.pub.tid = ids[sizeof(ids) / sizeof(*ids) - 1 - i];
			ev.pub.time_ns = (uint64_t)(uint32_t)ids[i] * 1000001;
			assert_int_equal(s->ops->events(s, EVENTS(ev), 1), 0);
			len += (size_t)snprintf(want + len, sizeof(want) - len,
						"%*d/%-*d %5llu.%09llu: \n", width, ev.pub.pid,
						width, ev.pub.tid,
						(unsigned long long)ev.pub.time_ns / 1000000000,
						(unsigned long long)ev.pub.time_ns % 1000000000);
		}
		assert_string_equal(finish(s), want);
	}
}

TEST(missing_values)
{
	struct options opts = { .callchain = true };
	struct sink *s;

	nr_schemas = 0;
	add(PERF_TYPE_SOFTWARE, "cpu-clock", PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
	sample = (struct sonde_sample){ .ip = 0x400010, .period = 1 };
	assert_string_equal(line(opts, 0),
			    "            bash    11  4344.041956:          1 cpu-clock:  "
			    "          400010 [unknown] ([unknown])\n");
	opts.fields = "comm,cpu";
	assert_int_equal(open_text(&s, &opts, 1), -EINVAL);
	assert_non_null(strstr(err_text(), "cpu-clock"));
	assert_non_null(strstr(err_text(), "CPU"));
	opts.fields = "sw:comm,cpu";
	assert_string_equal(line(opts, 0), "            bash \n");
	opts.fields = "trace:comm,cpu";
	assert_int_equal(line(opts, 0)[0] == ' ', 1);
}

TEST(specifications_that_cannot_be)
{
	static const char *const bad[] = { "",        "foo",        "comm,-time", "+comm,time",
					   "xx:comm", "sw:trace",   "hw:",        "comm,symoff",
					   "symof",   "comm,ip,bar" };

	two_types();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct options opts = { .fields = (char *)bad[i] };
		struct sink *s;

		err_clear();
		assert_int_equal(open_text(&s, &opts, 1), -EINVAL);
		assert_true(*err_text());
	}
}

TEST(call_chains)
{
	struct options opts = { .callchain = true };

	nr_schemas = 0;
	add(PERF_TYPE_TRACEPOINT, "a:b", ALL | PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN);
	nr_chain = 0;
	assert_string_equal(line(opts, 0), "bash    11 [001]  4344.041956: a:b: a=1 b=two\n\n");
	chain[nr_chain++] = (uint64_t)PERF_CONTEXT_KERNEL;
	chain[nr_chain++] = 0xffffffff81000020;
	chain[nr_chain++] = 0xffffffff83000000;
	chain[nr_chain++] = (uint64_t)PERF_CONTEXT_USER;
	chain[nr_chain++] = 0x400010;
	chain[nr_chain++] = 0x7f0000000000;
	for (int i = 0; i < 2; i++)
		assert_string_equal(line(opts, 0),
				    "bash    11 [001]  4344.041956: a:b: a=1 b=two\n"
				    "\tffffffff81000020 start_kernel+0x20 ([kernel.kallsyms])\n"
				    "\tffffffff83000000 [unknown] ([kernel.kallsyms])\n"
				    "\t          400010 [unknown] (/bin/x)\n"
				    "\t    7f0000000000 [unknown] ([unknown])\n\n");
	opts.compat = SONDE_COMPAT_PERF_6_1;
	opts.fields = "comm,ip";
	assert_string_equal(line(opts, 0), "bash \n"
					   "\tffffffff81000020\n"
					   "\tffffffff83000000\n"
					   "\t            1010\n"
					   "\t    7f0000000000\n\n");
	opts.compat = SONDE_COMPAT_NONE;
	chain[3] = (uint64_t)-999; /* an unknown marker */
	assert_string_equal(line(opts, 0), "bash \n"
					   "\tffffffff81000020\n"
					   "\tffffffff83000000\n"
					   "\t          400010\n"
					   "\t    7f0000000000\n\n");
	opts.compat = SONDE_COMPAT_PERF_6_1;
	assert_string_equal(line(opts, 0), "bash \n\n");
	opts.callchain = false;
	opts.fields = NULL;
	assert_string_equal(line(opts, 0),
			    "            bash    11 [001]  4344.041956: a:b: a=1 b=two\n");
}

/* One event type that has everything. */
static void full_type(uint32_t type, uint64_t config, const char *name)
{
	nr_schemas = 0;
	add(type, name,
	    ALL | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT_STRUCT |
		    PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CGROUP |
		    PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER |
		    PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_RAW);
	attrs[0].config = config;
	sample = (struct sonde_sample){ .ip = 0x400010, .period = 5 };
	nr_chain = 0;
}

static const char *full_line(const char *fields, enum sonde_compat compat)
{
	return line((struct options){ .fields = (char *)fields, .compat = compat }, 0);
}

TEST(memory_accesses)
{
	full_type(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	sample.addr = 0x400020;
	sample.weight = 0x0003000200000001;
	sample.phys_addr = 0xabc;
	sample.data_page_size = 1 << 30;
	sample.cgroup = 7;
	assert_string_equal(full_line("addr,sym,symoff,dso", SONDE_COMPAT_PERF_6_1),
			    "          400020 [unknown] (/bin/x)\n");
	assert_string_equal(full_line("addr,dso,dsoff", SONDE_COMPAT_NONE),
			    "          400020 (/bin/x+0x1020)\n");
	assert_string_equal(full_line("weight,ins_lat,retire_lat", SONDE_COMPAT_NONE),
			    "               1               2               3\n");
	assert_string_equal(full_line("phys_addr,data_page_size,code_page_size", SONDE_COMPAT_NONE),
			    "             abc 1G N/A\n");
	assert_string_equal(full_line("data_page_size", SONDE_COMPAT_PERF_6_1), " 1024M\n");
	assert_string_equal(full_line("cgroup", SONDE_COMPAT_PERF_6_12), " /user.slice\n");
	sample.cgroup = 8;
	assert_string_equal(full_line("cgroup", SONDE_COMPAT_PERF_6_12), " unknown\n");
	attrs[0].sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
	attrs[0].sample_type |= PERF_SAMPLE_WEIGHT;
	assert_string_equal(full_line("weight", SONDE_COMPAT_NONE), " 844433520066561\n");
}

TEST(registers)
{
	static const uint64_t values[] = { 0x10, 0x20 };

	full_type(PERF_TYPE_HARDWARE, 0, "cycles");
	sample.intr_regs = sample.user_regs = values;
	sample.intr_regs_mask = sample.user_regs_mask = 0x101;
	sample.intr_regs_abi = 2;
	assert_string_equal(full_line("iregs,uregs", SONDE_COMPAT_NONE),
			    " ABI:2    AX:0x10    IP:0x20 \n");
}

TEST(branch_stacks)
{
	static const struct sonde_branch branches[] = { { 0x400010, 0x400020, 2 | 7 << 4 },
							{ 0xffffffff81000010, 0, 1 | 4 | 8 } };

	full_type(PERF_TYPE_HARDWARE, 0, "cycles");
	sample.branches = branches;
	sample.nr_branches = 2;
	assert_string_equal(full_line("brstack", SONDE_COMPAT_NONE),
			    " 0x400010/0x400020/P/-/-/7/  0xffffffff81000010/0x0/M/X/A/0/ \n");
	assert_string_equal(full_line("brstackoff", SONDE_COMPAT_NONE),
			    " 0x1010/0x1020/P/-/-/7/  0xffffffff81000010/0x0/M/X/A/0/ \n");
	assert_string_equal(
		full_line("brstacksym,dso", SONDE_COMPAT_NONE),
		"[unknown](/bin/x)/[unknown](/bin/x)/P/-/-/7/ "
		"start_kernel+0x10([kernel.kallsyms])/[unknown]([unknown])/M/X/A/0/ \n");
	assert_string_equal(full_line("brstack,dso", SONDE_COMPAT_PERF_6_12),
			    " 0x400010 (/bin/x)/0x400020 (/bin/x)/P/-/-/7//-  "
			    "0xffffffff81000010 ([kernel.kallsyms])/0x0 ([unknown])/M/X/A/0//- \n");
}

TEST(branches_of_a_hardware_trace)
{
	full_type(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches");
	attrs[0].sample_period = 1;
	sample.addr = 0x400020;
	assert_string_equal(full_line("ip,addr,dso", SONDE_COMPAT_NONE),
			    "           400010 ([unknown]) =>           400020 (/bin/x)\n");
	attrs[0].sample_period = 2;
	assert_string_equal(full_line("ip,addr", SONDE_COMPAT_NONE),
			    "          400020           400010\n");
}

TEST(letters_and_narrow_columns)
{
	struct options opts = { .fields = "comm,cpu,misc,flags", .latency = true };

	two_types();
	assert_string_equal(line(opts, 1), "    bash   1 K                             \n");
	opts = (struct options){ .fields = "misc,event", .color = true };
	assert_string_equal(line(opts, 0), "K     \x1b[1msched:sched_switch\x1b[0m: \n");
}

TEST(relative_times)
{
	struct options opts = { .fields = "time", .reltime = true };
	struct event ev;
	struct sink *s;

	two_types();
	for (int delta = 0; delta < 2; delta++) {
		s = start(opts);
		ev = event(1);
		for (int i = 0; i < 3; i++, ev.pub.time_ns += 1000000000)
			assert_int_equal(s->ops->events(s, EVENTS(ev), 1), 0);
		assert_string_equal(finish(s),
				    delta ? "    0.000000: \n    1.000000: \n    1.000000: \n"
					  : "    0.000000: \n    1.000000: \n    2.000000: \n");
		opts = (struct options){ .fields = "time", .deltatime = true };
	}
	opts.reltime = true;
	assert_int_equal(open_text(&s, &opts, 1), -EINVAL);
}

TEST(fields_of_classes)
{
	struct text_fields f;
	struct outbuf notes = { 0 };

	/* The '-' of bpf-output: perf reads the list as changes. */
	assert_int_equal(text_fields_parse(&f, "sw:comm,bpf-output", true,
					   rules_of(SONDE_COMPAT_PERF_6_1), NULL),
			 0);
	assert_true(f.classes[EVENT_SOFTWARE].fields & TEXT_IP);
	assert_int_equal(text_fields_parse(&f, "sw:comm,bpf-output", true, &default_rules, NULL),
			 0);
	assert_false(f.classes[EVENT_SOFTWARE].fields & TEXT_IP);
	assert_int_equal(
		text_fields_parse(&f, "cgroup", true, rules_of(SONDE_COMPAT_PERF_6_1), NULL),
		-EINVAL);
	assert_int_equal(
		text_fields_parse(&f, "cgroup", true, rules_of(SONDE_COMPAT_PERF_6_12), NULL), 0);
	assert_int_equal(text_fields_parse(&f, "comm sw:pid sw:+tid", true, &default_rules, &notes),
			 0);
	assert_int_equal(f.classes[EVENT_SOFTWARE].fields, TEXT_PID | TEXT_TID);
	assert_int_equal(f.classes[EVENT_HARDWARE].fields, TEXT_COMM);
	outbuf_char(&notes, '\0');
	assert_string_equal(notes.data, "Overriding previous field request for software events.\n");
	outbuf_done(&notes);
}

TEST(output_that_cannot_be_written)
{
	const struct options opts = { 0 };
	int fd = open("/dev/full", O_WRONLY);
	struct event ev;
	struct sink *s;
	int fds[2];

	two_types();
	ev = event(0);
	assert_int_equal(open_text(&s, &opts, fd), 0);
	assert_int_equal(s->ops->events(s, EVENTS(ev), 1), 0);
	assert_int_equal(s->ops->finish(s, true), -ENOSPC);
	assert_non_null(strstr(err_text(), "output"));
	s->ops->close(s);
	close(fd);

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	fd = fds[1];
	assert_int_equal(open_text(&s, &opts, fd), 0);
	close(fds[0]);
	for (int i = 0, r = 0; i < 100000 && r >= 0; i++) {
		r = s->ops->events(s, EVENTS(ev), 1);
		assert_true(r == 0 || r == -EPIPE);
	}
	s->ops->close(s);
	close(fds[1]);
}
