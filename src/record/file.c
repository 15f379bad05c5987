/* SPDX-License-Identifier: MIT */
#include "record/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/limits.h"
#include "capture/running/build_ids.h"
#include "capture/running/kernel_map.h"
#include "capture/running/synth.h"
#include "record/describe/build_id_entries.h"
#include "record/drain/losses.h"
#include "record/output/output_dir.h"
#include "record/recorder.h"

/* of DIR_FORMAT: the events are in separate files */
enum { DIRECTORY_VERSION = 1 };

/* ---- the beginning --------------------------------------------------------------------------- */

static int file_name_events(const struct sonde_recorder *r, struct file_beginning *b)
{
	size_t n = 0;

	b->nr_events = r->capture.events.list.n;
	b->events = calloc(r->capture.events.list.n, sizeof(*b->events));
	b->ids = calloc(r->capture.counters.list.n + 1, sizeof(*b->ids));
	if (!b->events || !b->ids)
		return err_nomem();
	for (size_t i = 0; i < r->capture.events.list.n; i++) {
		b->events[i] = (struct perfdata_writer_event){
			.attr = &r->capture.events.list.v[i].attr,
			.name = r->capture.events.list.v[i].name,
			.ids = b->ids + n,
		};
		/* counters are in the order of the events */
		while (n < r->capture.counters.list.n && r->capture.counters.list.v[n].event == i) {
			b->ids[n] = r->capture.counters.list.v[n].id;
			n++;
			b->events[i].nr_ids++;
		}
	}
	return 0;
}

/* perf reads the version only. sizes: NULL if not known yet. */
static void file_put_dir_format(struct outbuf *o, size_t nr_lanes,
				const struct recorder_lane *sizes)
{
	perfdata_put_u64(o, DIRECTORY_VERSION);
	perfdata_put_u64(o, nr_lanes);
	for (size_t i = 0; sizes && i < nr_lanes; i++)
		perfdata_put_u64(o, perfdata_writer_data_size(sizes[i].writer));
}

/* Written at the beginning, and again at the end, when more programs may have been loaded. */
static int file_add_bpf(struct features *f, const struct sonde_recorder *r)
{
	struct outbuf programs = { 0 }, types = { 0 };

	if (!r->bpf)
		return 0;
	bpf_programs_put_info(r->bpf, &programs);
	bpf_programs_put_types(r->bpf, &types);
	TRY(features_add(f, FEAT_BPF_PROG_INFO, &programs));
	return features_add(f, FEAT_BPF_BTF, &types);
}

/* A reader of a pipe may have fewer rights than we, so that the kernel hides its addresses. */
static int file_add_tracing(struct features *f, const struct sonde_recorder *r,
			    const struct kernel_map *kernel)
{
	const bool has_symbols = r->opts.capture.reader && kernel->symbols_zstd.len;
	struct outbuf symbols = { 0 };
	int e = has_symbols ? kernel_map_unpack(kernel, &symbols) : 0;

	if (e == 0)
		e = features_add_tracing(f, &r->capture.events, has_symbols ? &symbols : NULL);
	outbuf_done(&symbols);
	return e;
}

static int file_collect_features(const struct sonde_recorder *r, struct file_beginning *b)
{
	struct features *f = &b->features;
	struct outbuf desc = { 0 }, kernel_id = { 0 }, compressed = { 0 }, directory = { 0 },
		      end = { 0 };

	perfdata_put_event_desc(&desc, b->events, r->capture.events.list.n);
	TRY(features_add(f, FEAT_EVENT_DESC, &desc));
	TRY(file_add_tracing(f, r, &b->kernel));
	TRY(features_add_groups(f, &r->capture.events));
	TRY(features_add_system(f, r->argv));
	TRY(features_add_topology(f));
	if (r->capture.sampling.branches && !r->is_pipe)
		TRY(features_add_mark(f, FEAT_BRANCH_STACK));
	TRY(features_add_clock(f, &r->capture.sampling.clock));
	if (r->dsos)
		build_ids_put_kernel(&kernel_id);
	TRY(features_add(f, FEAT_BUILD_ID, &kernel_id));
	transfer_put_compressed(&r->transfer, 0, &compressed);
	TRY(features_add(f, FEAT_COMPRESSED, &compressed));
	if (r->transfer.has_threads)
		file_put_dir_format(&directory, r->capture.counters.rings.list.n, NULL);
	TRY(features_add(f, FEAT_DIR_FORMAT, &directory));
	TRY(file_add_bpf(f, r));
	TRY(features_add(f, PERFDATA_PRIVATE_KALLSYMS, &b->kernel.symbols_zstd));
	outbuf_put(&end, &(struct perfdata_end){ 0 }, sizeof(struct perfdata_end));
	TRY(features_add(f, PERFDATA_PRIVATE_END, &end));
	features_sort(f);
	return 0;
}

_Static_assert((int)DSOS_KERNEL_PID == (int)SYNTH_KERNEL_PID, "the pid of a module's mapping");

static void file_note_mapping(void *dsos, int32_t pid, uint64_t start, uint64_t len, uint64_t inode,
			      const char *name, size_t name_len)
{
	dsos_note_mapping(dsos, pid, start, len, inode, name, name_len);
}

static struct synth file_synth_for(const struct sonde_recorder *r)
{
	return (struct synth){
		.trailer_bytes = sampling_trailer_bytes(&r->capture.events.list.v[0].attr),
		.mapped = r->dsos ? file_note_mapping : NULL,
		.mapped_ctx = r->dsos,
		.data_maps = r->capture.sampling.has_data,
		.namespaces = r->opts.capture.namespaces,
		.no_tasks = !r->describing.tasks,
		.no_maps = !r->describing.maps,
		.maps_limited = r->describing.maps_limited,
		.maps_ms = r->describing.maps_ms,
	};
}

/* Describes the state before the first event. pids: see recorder_file_prepare(). */
static int file_describe(const struct sonde_recorder *r, const struct kernel_map *kernel,
			 const int32_t *pids, size_t nr_pids, struct outbuf *ret)
{
	/*
	 * Later files are described by one thread: threads started now would appear in the
	 * recording.
	 */
	const unsigned nr_threads = r->file.writer ? 1 : r->describing.nr_threads;
	struct synth s = file_synth_for(r);
	struct build_ids ids = { 0 };
	atomic_uint truncated = 0;

	s.truncated = &truncated;
	s.ids = r->opts.capture.buildid_mmap ? &ids : NULL;
	synth_id_index(&s, &r->capture.counters);
	synth_kernel_map(&s, kernel);
	synth_modules(&s);
	if (r->bpf)
		synth_bpf(&s, r->bpf);
	synth_thread_map(&s, r->capture.target.tids.v, r->capture.target.tids.n);
	synth_cpu_map(&s, r->capture.target.cpus.list.v, r->capture.target.cpus.list.n);
	if (r->opts.capture.all_cgroups && r->describing.cgroups)
		synth_cgroups(&s);
	if (r->capture.target.tids.v[0] < 0)
		synth_all_tasks(&s, nr_threads);
	else if (r->capture.target.by_pid)
		synth_threads(&s, r->capture.target.tids.v, r->capture.target.tids.n);
	if (!r->capture.target.system_wide && nr_pids)
		synth_processes(&s, pids, nr_pids, nr_threads);
	else if (r->capture.target.workload)
		synth_name(&s, r->workload.pid); /* its mappings are about to be replaced */
	build_ids_done(&ids);
	if (truncated)
		say(&r->say, SAY_WARNING,
		    "the mappings of %u processes are not all known: reading them took longer than "
		    "--proc-map-timeout %s ms",
		    truncated, r->opts.proc_map_timeout);
	*ret = s.out;
	return ret->failed ? err_nomem() : 0;
}

/* Appends the records that are always before the first event. */
static int file_begin_state(const struct sonde_recorder *r, struct outbuf *to)
{
	struct synth s = file_synth_for(r);

	s.out = *to;
	if (r->describing.at_end)
		synth_id_index(&s, &r->capture.counters);
	synth_plain(&s, RECORD_FINISHED_INIT);
	*to = s.out;
	return to->failed ? err_nomem() : 0;
}

/*
 * Describes the state for the next file, and with --tail-synthesize also for the end of the current
 * one. The first file has no file before it.
 */
static int file_describe_state(const struct sonde_recorder *r, const int32_t *pids, size_t nr_pids,
			       struct file_beginning *b)
{
	if (!r->describing.at_end)
		TRY(file_describe(r, &b->kernel, pids, nr_pids, &b->state));
	else if (r->file.writer)
		TRY(file_describe(r, &b->kernel, pids, nr_pids, &b->end_before));
	return file_begin_state(r, &b->state);
}

int recorder_file_describe_end(struct sonde_recorder *r, const int32_t *pids, size_t nr_pids)
{
	struct outbuf o = { 0 };
	int e = file_describe(r, &r->kernel, pids, nr_pids, &o);

	if (e == 0)
		e = recorder_file_put(&r->file, &o);
	outbuf_done(&o);
	return e;
}

int recorder_file_prepare(const struct sonde_recorder *r, const int32_t *pids, size_t nr_pids,
			  struct file_beginning *ret)
{
	enum { FILES_AT_A_TIME = 6 }; /* files of /proc and /sys, programs, and the output */
	struct file_beginning b = { .kernel = r->kernel };
	int e = need_descriptors(FILES_AT_A_TIME);

	/*
	 * The kernel's address does not change, but loading and unloading modules changes its
	 * symbols.
	 */
	if (e == 0 && (!r->kernel.reference_addr || r->wants_kernel_symbols) &&
	    kernel_map_read(&b.kernel, r->wants_kernel_symbols) < 0)
		err_clear(); /* names are then missing, and the reader reports that */
	b.symbols_hidden = !b.kernel.reference_addr && r->wants_kernel_symbols;
	if (e == 0 && r->bpf)
		bpf_programs_find(r->bpf);
	if (e == 0)
		e = file_name_events(r, &b);
	if (e == 0)
		e = file_collect_features(r, &b);
	if (e == 0)
		e = file_describe_state(r, pids, nr_pids, &b);
	if (e < 0) {
		file_beginning_done(&b);
		return e;
	}
	*ret = b;
	return 0;
}

static int file_open_output(struct sonde_recorder *r, struct output *o, int *ret_fd,
			    int *ret_part_fds)
{
	const char *path = r->opts.output ? r->opts.output : "perf.data";

	if (r->is_pipe)
		return output_pipe(o, r->pipe_fd, ret_fd);
	return r->transfer.has_threads ? output_dir_open(o, path, r->capture.counters.rings.list.n,
							 ret_fd, ret_part_fds)
				       : output_open(o, path, ret_fd);
}

static int file_begin(const struct sonde_recorder *r, struct recorder_file *f,
		      const struct file_beginning *b, int take_fd)
{
	TRY(perfdata_writer_open(&f->writer, take_fd, f->output.path, f->output.is_pipe));
	perfdata_writer_set_stop(f->writer, r->give_up_fd);
	TRY(perfdata_writer_begin(f->writer, b->events, b->nr_events, b->features.list.v,
				  b->features.list.n));
	return perfdata_writer_append(f->writer, &(struct iovec){ b->state.data, b->state.len }, 1);
}

int recorder_file_open(struct sonde_recorder *r, struct file_beginning *b,
		       struct recorder_file *ret)
{
	const struct outlet_options outlet =
		transfer_outlet(&r->transfer, &r->capture.counters, r->is_pipe,
				r->opts.output_fd || r->opts.capture.reader);
	const size_t nr_lanes = r->transfer.has_threads ? r->capture.counters.rings.list.n : 0;
	struct recorder_file f = { 0 };
	int *part_fds = calloc(nr_lanes + 1, sizeof(*part_fds)), fd, e;

	if (!part_fds)
		return err_nomem();
	e = file_open_output(r, &f.output, &fd, part_fds);
	if (e < 0) {
		free(part_fds);
		output_done(&f.output);
		return e;
	}
	e = recorder_lanes_open(&f, nr_lanes, part_fds, &outlet);
	free(part_fds);
	if (e < 0)
		close(fd);
	else
		e = file_begin(r, &f, b, fd);
	f.reader_gone = e == -EPIPE && r->is_pipe;
	if (e == 0 || f.reader_gone)
		e = outlet_new(&f.outlet, f.writer, &outlet);
	if (e < 0) {
		output_discard(&f.output);
		recorder_file_close(&f);
		return e;
	}
	*ret = f;
	return 0;
}

int recorder_file_wants(struct sonde_recorder *r)
{
	const struct record_options *o = &r->opts;

	for (size_t i = 0; i < r->capture.events.list.n; i++) {
		const struct perf_event_attr *a = &r->capture.events.list.v[i].attr;
		const bool samples = a->type != PERF_TYPE_TRACEPOINT && !capture_is_dummy(a);
		const bool chains = a->sample_type & PERF_SAMPLE_CALLCHAIN;

		if (!samples && (!chains || a->type != PERF_TYPE_TRACEPOINT))
			continue;
		r->wants_kernel_symbols |=
			!a->exclude_kernel && (samples || !a->exclude_callchain_kernel);
	}
	TRY(bpf_programs_new(&r->bpf, o->capture.no_bpf_event));
	if (r->capture.target.system_wide && !o->capture.no_bpf_event)
		bpf_watch_open(&r->bpf_watch, r->capture.target.cpus.list.v,
			       r->capture.target.cpus.list.n);
	/* with --buildid-mmap each mapping contains its build id */
	if (o->no_buildid || o->capture.buildid_mmap)
		return 0;
	/* Copying files into the cache takes longer than switching to a new file should. */
	if (!r->is_pipe && (o->no_buildid_cache == CAPTURE_NO ||
			    (o->no_buildid_cache == CAPTURE_AUTO && !r->rotation.when.is_on)))
		TRY(build_id_cache_init(&r->cache, o->buildid_dir));
	return dsos_new(&r->dsos, &r->capture.events, &r->capture.counters, o->buildid_all);
}

/* ---- the end --------------------------------------------------------------------------------- */

int recorder_file_losses(struct sonde_recorder *r, struct recorder_file *f,
			 const struct drain_totals *totals, uint64_t *ret_lost)
{
	const bool is_over = r->drain.takes_all && !r->opts.capture.overwrite;
	struct losses known;
	uint64_t lost = 0;
	int e = outlet_finish(f->outlet), lanes = recorder_lanes_finish(f);

	if (e == 0)
		e = lanes;

	losses_read(&r->capture.counters, &r->capture.events, is_over, &known);
	f->knows_losses = known.is_known;
	vec_foreach(n, &r->capture.counters.list) {
		const uint64_t of_counter =
			n->lost > n->lost_reported ? n->lost - n->lost_reported : 0;

		if (!of_counter)
			continue;
		n->lost_reported = n->lost;
		lost += of_counter;
		if (vec_push(&f->losses,
			     (struct file_loss){ (size_t)(n - r->capture.counters.list.v),
						 of_counter }) < 0 &&
		    e == 0)
			e = err_nomem();
	}
	/* Only records of state were lost: a loss of 0 events reports that to the reader. */
	if (known.is_known && totals->lost && !lost && r->capture.counters.list.n &&
	    vec_push(&f->losses, (struct file_loss){ 0, 0 }) < 0 && e == 0)
		e = err_nomem();
	r->state_lost = known.state;
	*ret_lost = known.is_known ? lost : totals->lost;
	return e;
}

/* The state of recorder_file_end() while the file's end is written. */
struct file_end {
	struct sonde_recorder *r;
	struct recorder_file *f;
	struct tally
		/* samples that are not in the file, as of the last time its end was written */
		unwritten;
};

/*
 * Counts the samples that were recorded but are not in the file: those given up, and in the last
 * file those left in the buffers.
 */
static void file_count_unwritten(struct file_end *end)
{
	tally_done(&end->unwritten);
	outlet_given_up(end->f->outlet, &end->unwritten);
	for (size_t i = 0; i < end->f->nr_lanes; i++)
		outlet_given_up(end->f->lanes[i].outlet, &end->unwritten);
	tally_add_all(&end->unwritten, &end->r->undrained);
}

static void file_put_loss(struct synth *s, const struct sonde_recorder *r, const struct counter *n,
			  uint64_t lost)
{
	const struct perf_event_attr *a = &r->capture.events.list.v[n->event].attr;

	s->trailer_bytes = sampling_trailer_bytes(a);
	synth_lost_samples(s, a, n->id, n->cpu, lost);
}

/* Appends the losses; each names its event. */
static int file_put_losses(void *ctx, struct outbuf *o)
{
	struct file_end *end = ctx;
	const struct sonde_recorder *r = end->r;
	struct synth s = { .out = *o };

	file_count_unwritten(end);
	vec_foreach(l, &end->f->losses)
		file_put_loss(&s, r, &r->capture.counters.list.v[l->counter], l->n);
	vec_foreach(c, &end->unwritten.list) {
		const uint64_t reported = tally_of(&end->f->reported, c->id);

		for (size_t i = 0; c->n > reported && i < r->capture.counters.list.n; i++) {
			if (r->capture.counters.list.v[i].id != c->id)
				continue;
			file_put_loss(&s, r, &r->capture.counters.list.v[i], c->n - reported);
			break;
		}
	}
	*o = s.out;
	return o->failed ? err_nomem() : 0;
}

static void file_put_note(void *ctx, struct perfdata_end *ret)
{
	const struct file_end *end = ctx;
	const int error = end->r->ended_early     ? -end->r->ended_early
			  : end->unwritten.list.n ? ENOSPC
						  : 0;

	int first_cpu;

	ret->missed_cpus = target_missed(&end->r->capture.target, &first_cpu);
	ret->first_cpu = (uint64_t)first_cpu;
	if (!error)
		return;
	ret->reason = error == ENOSPC   ? PERFDATA_END_DISK_FULL
		      : error == EDQUOT ? PERFDATA_END_QUOTA
		      : error == EFBIG  ? PERFDATA_END_FILE_LIMIT
					: PERFDATA_END_FAILED;
	ret->unwritten = tally_sum(&end->unwritten);
	ret->flags = end->f->knows_losses ? PERFDATA_END_KERNEL_COUNTS : 0;
}

/*
 * Called on a full disk. The file with the header frees room itself, unless the events are in other
 * files.
 */
static int file_make_room(void *ctx, uint64_t bytes)
{
	const struct recorder_file *f = ((struct file_end *)ctx)->f;
	struct perfdata_writer *most = f->writer;

	for (size_t i = 0; i < f->nr_lanes; i++)
		if (!i ||
		    perfdata_writer_data_size(f->lanes[i].writer) > perfdata_writer_data_size(most))
			most = f->lanes[i].writer;
	return perfdata_writer_give_up(most, bytes);
}

static void file_put_build_ids(struct sonde_recorder *r, struct outbuf *o)
{
	struct dso_files hit = { 0 };

	build_ids_put_kernel(o);
	dsos_settle(r->dsos, &r->drain.hits);
	dsos_take_hit(r->dsos, &hit);
	build_ids_put_files(o, &hit, &r->cache);
	vec_done(&hit);
	if (r->drain.hits.any_kernel)
		build_ids_cache_kernel(&r->cache);
	if (*r->cache.problem)
		say(&r->say, SAY_VERBOSE, "the build-id cache is not complete: %s",
		    r->cache.problem);
}

int recorder_file_end(struct sonde_recorder *r, struct recorder_file *f,
		      const struct drain_totals *totals)
{
	const struct recorder_figures figures = recorder_file_figures(f);
	struct outbuf ids = { 0 }, times = { 0 }, compressed = { 0 }, directory = { 0 };
	struct file_end end = { .r = r, .f = f };
	const struct perfdata_writer_end calls = { file_put_losses, file_put_note, file_make_room,
						   &end };
	struct features late = { 0 };
	int e;

	if (r->dsos)
		file_put_build_ids(r, &ids);
	perfdata_put_u64(&times, totals->first_time_ns);
	perfdata_put_u64(&times, totals->last_time_ns);
	e = features_add(&late, FEAT_BUILD_ID, &ids);
	if (e == 0)
		e = features_add(&late, FEAT_SAMPLE_TIME, &times);
	transfer_put_compressed(&r->transfer, recorder_figures_ratio(&figures), &compressed);
	if (e == 0)
		e = features_add(&late, FEAT_COMPRESSED, &compressed);
	if (f->nr_lanes)
		file_put_dir_format(&directory, f->nr_lanes, f->lanes);
	if (e == 0)
		e = features_add(&late, FEAT_DIR_FORMAT, &directory);
	if (e == 0)
		e = file_add_bpf(&late, r);
	if (e == 0)
		e = perfdata_writer_finish(f->writer, late.list.v, late.list.n, &calls);
	if (e >= 0) {
		vec_clear(&f->losses);
		tally_done(&f->reported);
		f->reported = end.unwritten;
	} else {
		tally_done(&end.unwritten);
	}
	features_done(&late);
	outbuf_done(&times);
	outbuf_done(&compressed);
	outbuf_done(&directory);
	return e;
}
