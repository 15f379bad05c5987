/* SPDX-License-Identifier: MIT */
#include "record/recorder_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

void file_beginning_done(struct file_beginning *b)
{
	kernel_map_done(&b->kernel);
	features_done(&b->features);
	outbuf_done(&b->state);
	outbuf_done(&b->end_before);
	free(b->events);
	free(b->ids);
	*b = (struct file_beginning){ 0 };
}

int recorder_file_put(struct recorder_file *f, const struct outbuf *records)
{
	TRY(outlet_finish(f->outlet));
	return records->len ? perfdata_writer_append(
				      f->writer, &(struct iovec){ records->data, records->len }, 1)
			    : 0;
}

/* ---- files of a directory, except the one with the beginning and the end --------------------- */

int recorder_lanes_open(struct recorder_file *f, size_t nr_lanes, const int *take_fds,
			const struct outlet_options *outlet)
{
	int r = 0;

	f->lanes = calloc(nr_lanes ? nr_lanes : 1, sizeof(*f->lanes));
	if (!f->lanes)
		r = err_nomem();
	for (size_t i = 0; i < nr_lanes; i++) {
		struct recorder_lane *p = r < 0 ? NULL : &f->lanes[i];
		char path[4096 + 32];

		if (!p) {
			close(take_fds[i]);
			continue;
		}
		f->nr_lanes = i + 1;
		snprintf(path, sizeof(path), "%s/data.%zu", f->output.path, i);
		r = perfdata_writer_open(&p->writer, take_fds[i], path, false);
		if (r == 0)
			r = outlet_new(&p->outlet, p->writer, outlet);
	}
	return r;
}

int recorder_lanes_finish(struct recorder_file *f)
{
	int r = 0;

	for (size_t i = 0; i < f->nr_lanes; i++) {
		const int e = outlet_finish(f->lanes[i].outlet);

		r = r < 0 ? r : e;
	}
	return r;
}

void recorder_lanes_close(struct recorder_file *f)
{
	for (size_t i = 0; i < f->nr_lanes; i++) {
		outlet_free(f->lanes[i].outlet);
		perfdata_writer_close(f->lanes[i].writer);
	}
	free(f->lanes);
	f->lanes = NULL;
	f->nr_lanes = 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

uint64_t recorder_file_written(const struct recorder_file *f)
{
	uint64_t bytes = atomic_load(&f->outlet->written);

	for (size_t i = 0; i < f->nr_lanes; i++)
		bytes += atomic_load(&f->lanes[i].outlet->written);
	return bytes;
}

static void recorder_add(struct recorder_figures *to, const struct perfdata_writer *w,
			 const struct outlet *o)
{
	to->bytes += perfdata_writer_data_size(w);
	to->plain_bytes += o->plain_bytes;
	to->packed_bytes += o->packed_bytes;
	to->given_up += outlet_samples_given_up(o);
}

struct recorder_figures recorder_file_figures(const struct recorder_file *f)
{
	struct recorder_figures ret = { 0 };

	if (f->outlet)
		recorder_add(&ret, f->writer, f->outlet);
	for (size_t i = 0; i < f->nr_lanes; i++)
		if (f->lanes[i].outlet)
			recorder_add(&ret, f->lanes[i].writer, f->lanes[i].outlet);
	return ret;
}

uint32_t recorder_figures_ratio(const struct recorder_figures *g)
{
	return g->packed_bytes
		       ? (uint32_t)((g->plain_bytes + g->packed_bytes / 2) / g->packed_bytes)
		       : 0;
}

void recorder_file_close(struct recorder_file *f)
{
	recorder_lanes_close(f);
	outlet_free(f->outlet);
	perfdata_writer_close(f->writer);
	vec_done(&f->losses);
	tally_done(&f->reported);
	output_done(&f->output);
	*f = (struct recorder_file){ 0 };
}
