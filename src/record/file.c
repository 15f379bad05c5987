/* SPDX-License-Identifier: MIT */
#include "record/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "record/build_ids.h"
#include "record/features.h"
#include "record/kernel_map.h"
#include "record/synth.h"

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static int writer_events(const struct sonde_recorder *r, struct perfdata_writer_event **ret_events,
			 uint64_t **ret_ids)
{
	struct perfdata_writer_event *events = calloc(r->events.list.n, sizeof(*events));
	uint64_t *ids = calloc(r->counters.list.n + 1, sizeof(*ids));
	size_t n = 0;

	if (!events || !ids) {
		free(events);
		free(ids);
		return err_nomem();
	}
	for (size_t i = 0; i < r->events.list.n; i++) {
		events[i] = (struct perfdata_writer_event){ .attr = &r->events.list.v[i].attr,
							    .name = r->events.list.v[i].name,
							    .ids = ids + n };
		/* counters lie in the order of the events */
		while (n < r->counters.list.n && r->counters.list.v[n].event == i) {
			ids[n] = r->counters.list.v[n].id;
			n++;
			events[i].nr_ids++;
		}
	}
	*ret_events = events;
	*ret_ids = ids;
	return 0;
}

static int collect_features(const struct sonde_recorder *r,
			    const struct perfdata_writer_event *events, struct kernel_map *kernel,
			    struct features *f)
{
	struct outbuf desc = { 0 }, kernel_id = { 0 };

	perfdata_put_event_desc(&desc, events, r->events.list.n);
	TRY(features_add(f, FEAT_EVENT_DESC, &desc));
	TRY(features_add_tracing(f, &r->events));
	TRY(features_add_system(f, r->argv));
	TRY(features_add_topology(f));
	build_ids_put_kernel(&kernel_id);
	TRY(features_add(f, FEAT_BUILD_ID, &kernel_id));
	return features_add(f, PERFDATA_PRIVATE_KALLSYMS, &kernel->symbols_zstd);
}

static int write_beginning(struct sonde_recorder *r, struct kernel_map *kernel)
{
	struct perfdata_writer_event *events = NULL;
	struct features f = { 0 };
	uint64_t *ids = NULL;
	int e, fd;

	TRY(writer_events(r, &events, &ids));
	e = collect_features(r, events, kernel, &f);
	if (e == 0)
		e = r->output.is_pipe
			    ? output_pipe(&r->output, &fd)
			    : output_open(&r->output, r->opts.output ? r->opts.output : "perf.data",
					  &fd);
	if (e == 0)
		e = perfdata_writer_open(&r->writer, fd, r->output.path, r->output.is_pipe);
	if (e == 0)
		e = perfdata_writer_begin(r->writer, events, r->events.list.n, f.list.v, f.list.n);
	features_done(&f);
	free(events);
	free(ids);
	return e;
}

/* Records of what is there already. */
static int write_state(struct sonde_recorder *r, const struct kernel_map *kernel)
{
	struct synth s = { .trailer_bytes = sampling_trailer_bytes(&r->events.list.v[0].attr),
			   .dso_names = r->wants_dsos ? &r->dso_names : NULL };
	int e;

	synth_id_index(&s, &r->counters);
	synth_kernel_map(&s, kernel);
	synth_modules(&s);
	synth_thread_map(&s, r->target.tids.v, r->target.tids.n);
	synth_cpu_map(&s, r->target.cpus.list.v, r->target.cpus.list.n);
	if (r->target.tids.v[0] < 0)
		synth_all_tasks(&s);
	else if (r->target.by_pid)
		synth_threads(&s, r->target.tids.v, r->target.tids.n);
	if (r->command_name && r->target.tids.v[0] >= 0)
		synth_name(&s, r->workload.pid);
	synth_plain(&s, RECORD_FINISHED_INIT);
	e = s.out.failed ? err_nomem()
			 : perfdata_writer_append(r->writer,
						  &(struct iovec){ s.out.data, s.out.len }, 1);
	outbuf_done(&s.out);
	return e;
}

/* Whether samples hold addresses beside those of tracepoints: of user space, of the kernel. */
static void find_addresses(const struct sonde_recorder *r, bool callchain, bool *ret_user,
			   bool *ret_kernel)
{
	*ret_user = *ret_kernel = false;
	for (size_t i = 0; i < r->events.list.n; i++) {
		const struct perf_event_attr *a = &r->events.list.v[i].attr;
		const bool samples =
			a->type != PERF_TYPE_TRACEPOINT &&
			!(a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY);

		if (!samples && (!callchain || a->type != PERF_TYPE_TRACEPOINT))
			continue;
		*ret_user |= samples ? !a->exclude_user : !a->exclude_callchain_user;
		*ret_kernel |= !a->exclude_kernel && (samples || !a->exclude_callchain_kernel);
	}
}

/* With kptr_restrict 0 the kernel shows its addresses to those who may profile it. */
static void say_hidden(const struct say *to)
{
	const long restricted = kernel_setting("kptr_restrict", 0);

	if (restricted > 0)
		say(to, SAY_WARNING,
		    "the kernel hides its addresses (kernel.kptr_restrict is %ld): kernel "
		    "addresses will have no names",
		    restricted);
	else
		say(to, SAY_WARNING,
		    "the kernel shows its addresses only with CAP_SYSLOG or with "
		    "kernel.perf_event_paranoid below 2 (it is %ld): kernel addresses will have no "
		    "names",
		    kernel_setting("perf_event_paranoid", 2));
}

int recorder_file_begin(struct sonde_recorder *r)
{
	struct kernel_map kernel = { 0 };
	bool wants_symbols;
	int e;

	find_addresses(r, r->sampling.callchain, &r->wants_dsos, &wants_symbols);
	/* A recording without kernel symbols is still one: names are missing then, and the reader says so. */
	if (kernel_map_read(&kernel, wants_symbols) == 0 && !kernel.reference_addr && wants_symbols)
		say_hidden(&r->say);
	e = write_beginning(r, &kernel);
	if (e == 0)
		e = write_state(r, &kernel);
	kernel_map_done(&kernel);
	return e;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Exact numbers from the counters where the kernel keeps them; each loss is told with the event it belongs to. */
int recorder_file_losses(struct sonde_recorder *r, uint64_t *ret_lost)
{
	struct synth s = { 0 };
	uint64_t lost = 0;
	int e = 0;

	vec_foreach(n, &r->counters.list) {
		const struct perf_event_attr *a = &r->events.list.v[n->event].attr;
		uint64_t of_counter = counter_lost(&r->counters, n);

		if (!of_counter)
			continue;
		lost += of_counter;
		s.trailer_bytes = sampling_trailer_bytes(a);
		synth_lost_samples(&s, a, n->id, of_counter);
	}
	if (s.out.failed)
		e = err_nomem();
	else if (s.out.len)
		e = perfdata_writer_append(r->writer, &(struct iovec){ s.out.data, s.out.len }, 1);
	outbuf_done(&s.out);
	*ret_lost = lost > r->drain.lost ? lost : r->drain.lost;
	return e;
}

int recorder_file_end(struct sonde_recorder *r)
{
	struct outbuf ids = { 0 }, times = { 0 };
	struct features late = { 0 };
	int e;

	build_ids_put_kernel(&ids);
	if (r->wants_dsos)
		build_ids_put_dsos(&ids, &r->dso_names);
	perfdata_put_u64(&times, r->drain.first_time_ns);
	perfdata_put_u64(&times, r->drain.last_time_ns);
	e = features_add(&late, FEAT_BUILD_ID, &ids);
	if (e == 0)
		e = features_add(&late, FEAT_SAMPLE_TIME, &times);
	if (e == 0)
		e = perfdata_writer_finish(r->writer, late.list.v, late.list.n);
	features_done(&late);
	outbuf_done(&times);
	return e;
}
