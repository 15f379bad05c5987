/* SPDX-License-Identifier: MIT */
/* Opens a trace, and answers what is known of it. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "sources/ctf/ctf.h"

static int open_ctf_probe(const uint8_t *head, size_t len)
{
	return ctf_is_metadata(head, len) ? 100 : 0;
}

static void open_ctf_close(struct source *source)
{
	struct ctf_source *s = ctf_source_of(source);

	vec_foreach(file, &s->files) {
		close(file->fd);
		free(file->header);
	}
	if (s->opts.is_copied)
		close(s->opts.fd);
	stream_free(s->opts.stream);
	vec_done(&s->files);
	vec_done(&s->streams);
	vec_done(&s->tasks);
	hash64_done(&s->task_of_tid);
	outbuf_done(&s->aliases);
	outbuf_done(&s->field_aliases);
	outbuf_done(&s->scratch);
	ctf_trace_done(&s->trace);
	arena_done(&s->arena);
	free(s);
}

static bool open_is_kernel(const struct ctf_trace *t)
{
	const char *domain = ctf_env_text(t, "domain"), *tracer = ctf_env_text(t, "tracer_name");

	/* perf data convert writes the domain as well, but the kernel's names. */
	return tracer ? !strcmp(tracer, "lttng-modules") : domain && !strcmp(domain, "kernel");
}

static int open_steps(struct ctf_source *s)
{
	const struct ctf_env *vpid;
	const char *recorder;

	if (s->opts.is_copied || s->opts.stream)
		return err_set(
			-EINVAL,
			"%s is the metadata of a CTF trace without its files of packets: name "
			"the folder that has both",
			s->opts.path);
	TRY(ctf_files_open(s));
	s->is_kernel = open_is_kernel(&s->trace);
	recorder = ctf_env_text(&s->trace, "tracer_name");
	s->is_own = recorder && !strcmp(recorder, "sonde");
	s->added_contexts = s->is_own ? ctf_env_text(&s->trace, "added_contexts") : NULL;
	vpid = ctf_env_find(&s->trace, "vpid");
	s->vpid = vpid && !vpid->text && vpid->number > 0 && vpid->number <= INT32_MAX
			  ? (int32_t)vpid->number
			  : -1;
	return ctf_schemas_make(s);
}

static int open_ctf(struct source **ret, const struct source_options *opts)
{
	struct ctf_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return source_refuse_without_memory(opts);
	s->source.ops = &ctf_source_ops;
	s->opts = *opts;
	r = open_steps(s);
	if (r < 0) {
		open_ctf_close(&s->source);
		return r;
	}
	*ret = &s->source;
	return 0;
}

static bool open_ctf_file(struct source *source, unsigned i, struct source_file *ret)
{
	struct ctf_source *s = ctf_source_of(source);

	if (i >= s->files.n)
		return false;
	*ret = (struct source_file){
		.fd = s->files.v[i].fd,
		.path = s->files.v[i].path,
		.end = s->files.v[i].bytes,
		.is_monotonic = true,
	};
	return true;
}

/* The clock that all streams with a clock have; NULL if there is none or there are several. */
static const struct ctf_clock *open_common_clock(const struct ctf_source *s)
{
	const struct ctf_clock *clock = NULL;

	for (size_t i = 0; i < s->trace.streams.n; i++) {
		const struct ctf_clock *own = s->trace.streams.v[i]->clock;

		if (own && clock && own != clock)
			return NULL;
		clock = own ? own : clock;
	}
	return clock;
}

/* Times count from 1970 if the clock has an offset to it. */
static void open_ctf_clock(struct source *source, struct source_clock *ret)
{
	const struct ctf_clock *clock = open_common_clock(ctf_source_of(source));

	if (!clock || (!clock->offset_s && !clock->offset_cycles && !clock->is_absolute))
		return;
	ret->is_known = true;
	ret->id = CLOCK_REALTIME;
}

static void open_ctf_traits(struct source *source __attribute__((unused)),
			    struct source_traits *ret)
{
	*ret = (struct source_traits){ .has_time_zero = true };
}

/* Each event counts once, as those of tracepoints without a period do in perf. */
static void open_ctf_weigh(struct source *source __attribute__((unused)),
			   const struct event *ev __attribute__((unused)), uint64_t *ret_ip,
			   uint64_t *ret_period)
{
	*ret_ip = 0;
	*ret_period = 1;
}

static void open_ctf_report(struct source *source, const struct event *ev,
			    struct source_report *ret)
{
	struct ctf_lost lost;

	if (ev->schema != ctf_source_of(source)->lost_schema)
		return;
	memcpy(&lost, ev->pub.bytes, sizeof(lost));
	*ret = (struct source_report){
		.kind = REPORT_LOST,
		.lost = lost.lost + lost.packets + lost.unknown,
	};
}

enum fact {
	KIND,
	FORMAT,
	FORMAT_VERSION,
	FORMAT_TEXT,
	HOSTNAME,
	RELEASE,
	RECORDER,
	ORDER,
	ALIASES
};

static const struct source_fact facts[] = {
	[KIND] = { .key = "kind" },
	[FORMAT] = { .key = "format" },
	[FORMAT_VERSION] = { .key = "format_version" },
	[FORMAT_TEXT] = { .key = "format_text", .label = "format", .about = FACT_TEXT_ONLY },
	[HOSTNAME] = { .key = "hostname", .about = FACT_HOST },
	[RELEASE] = { .key = "osrelease", .about = FACT_HOST },
	[RECORDER] = { .key = "recorder", .about = FACT_HOST },
	[ORDER] = { .key = "byte_order", .about = FACT_HOST },
	[ALIASES] = { .key = "aliases", .label = "aliases", .form = FACT_WORDS },
};

static const char *open_recorder(struct ctf_source *s)
{
	const char *name = ctf_env_text(&s->trace, "tracer_name");
	const struct ctf_env *major = ctf_env_find(&s->trace, "tracer_major"),
			     *minor = ctf_env_find(&s->trace, "tracer_minor");

	if (!name)
		return NULL;
	if (!major || major->text || !minor || minor->text)
		return name;
	snprintf(s->recorder, sizeof(s->recorder), "%.100s %lld.%lld", name,
		 (long long)major->number, (long long)minor->number);
	return s->recorder;
}

static void open_ctf_omit_values(struct source *source, bool omits)
{
	ctf_source_of(source)->omits_values = omits;
}

/* NULL if the trace does not say. */
static const char *open_fact_value(struct ctf_source *s, enum fact fact)
{
	switch (fact) {
	case KIND:
		return "directory";
	case FORMAT:
		return "ctf";
	case FORMAT_VERSION:
	case FORMAT_TEXT:
		snprintf(s->fact, sizeof(s->fact), "%s%u.%u", fact == FORMAT_TEXT ? "CTF " : "",
			 s->trace.major, s->trace.minor);
		return s->fact;
	case HOSTNAME:
		return ctf_env_text(&s->trace, "hostname");
	case RELEASE:
		return ctf_env_text(&s->trace, "kernel_release");
	case RECORDER:
		return open_recorder(s);
	case ORDER:
		return s->trace.order == SONDE_ORDER_BIG      ? "big"
		       : s->trace.order == SONDE_ORDER_LITTLE ? "little"
							      : NULL;
	case ALIASES:
		outbuf_put(&s->aliases, "", 1);
		if (s->aliases.failed)
			return NULL;
		s->aliases.len--;
		return s->aliases.data;
	}
	return NULL;
}

static bool open_ctf_fact_at(struct source *source, size_t i, struct source_fact *ret)
{
	struct ctf_source *s = ctf_source_of(source);
	const size_t nr = sizeof(facts) / sizeof(*facts) - !s->aliases.len;

	if (i >= nr)
		return false;
	*ret = facts[i];
	ret->value = open_fact_value(s, (enum fact)i);
	return true;
}

/* env knows some of the facts of a perf.data's header. */
static const char *open_ctf_info(struct source *source, const char *key)
{
	struct ctf_source *s = ctf_source_of(source);

	if (!strcmp(key, "hostname"))
		return ctf_env_text(&s->trace, "hostname");
	if (!strcmp(key, "osrelease"))
		return ctf_env_text(&s->trace, "kernel_release");
	return !strcmp(key, "version") ? open_recorder(s) : NULL;
}

const struct source_ops ctf_source_ops = {
	.name = "CTF",
	.summary = "traces in the Common Trace Format (LTTng, barectf): a folder with metadata",
	.probe = open_ctf_probe,
	.head_file = ctf_head_file,
	.open = open_ctf,
	.file = open_ctf_file,
	.cut = ctf_cut,
	.decode = ctf_decode,
	.omit_values = open_ctf_omit_values,
	.weigh = open_ctf_weigh,
	.clock = open_ctf_clock,
	.traits = open_ctf_traits,
	.report = open_ctf_report,
	.fact_at = open_ctf_fact_at,
	.info = open_ctf_info,
	.close = open_ctf_close,
};
