/* SPDX-License-Identifier: MIT */
/* The places of the records of ftrace's text, and of a CTF trace: a folder. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ftracetext/line.h"
#include "recording.h"
#include "sonde/sonde.h"

static int text_push(struct sweep_file *f, uint64_t begin, uint64_t end)
{
	return vec_push(&f->places, (struct place){ begin, end, begin, end });
}

/* A record has the lines of losses in front of its event, and the lines that follow it. */
bool recording_find_text_places(struct recording *r, const char *path)
{
	static const char magic[] = "# tracer: ";
	struct sweep_file *f = &r->files[0];
	bool is_open = false, has_event = false;
	uint64_t len;

	if (f->len < sizeof(magic) || memcmp(f->bytes, magic, sizeof(magic) - 1) != 0)
		return false;
	for (uint64_t at = 0; at < f->len; at += len) {
		const uint8_t *end = memchr(f->bytes + at, '\n', f->len - at);
		struct ftracetext_line line;

		len = end ? (uint64_t)(end - f->bytes) + 1 - at : f->len - at;
		ftracetext_line_read((const char *)f->bytes + at, len - 1, &line);
		if (line.kind == FTRACETEXT_HEAD) {
			is_open = false;
			continue;
		}
		if (!is_open || (line.kind != FTRACETEXT_OTHER && has_event)) {
			text_push(f, at, at);
			is_open = true;
			has_event = false;
		}
		has_event |= line.kind == FTRACETEXT_EVENT;
		f->places.v[f->places.n - 1].end = f->places.v[f->places.n - 1].seen_end = at + len;
	}
	r->is_text = r->is_pipe = true;
	f->data_begin = f->places.n ? f->places.v[0].begin : f->len;
	f->data_end = f->len;
	recording_name(r, path, "");
	return true;
}

/* ---- a folder -------------------------------------------------------------------------------- */

static int folder_compare(const struct dirent **a, const struct dirent **b)
{
	const bool first = !strcmp((*a)->d_name, "metadata"),
		   second = !strcmp((*b)->d_name, "metadata");

	return first != second ? (int)second - (int)first : strcmp((*a)->d_name, (*b)->d_name);
}

static int folder_is_file(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static int folder_read_file(struct recording *r, const char *folder, const char *name)
{
	char path[512];

	if (r->nr == MOST_FILES || strlen(name) >= sizeof(r->file_names[0])) {
		fprintf(stderr, "%s: a file too many: %s\n", folder, name);
		return -1;
	}
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	memcpy(r->file_names[r->nr], name, strlen(name) + 1);
	return recording_read_file(&r->files[r->nr++], path);
}

/* The places are those that the reader gives: events, and headers of packets with losses. */
static int folder_find_places(struct recording *r, const char *path)
{
	const struct sonde_event *ev;
	struct sonde_session *s;
	char text[600];

	for (unsigned i = 1; i < r->nr; i++)
		r->files[i].data_end = r->files[i].len;
	r->files[0].data_begin = r->files[0].data_end = r->files[0].len;
	snprintf(text, sizeof(text), "input=%s\nevents=all\n", path);
	if (sonde_session_open(&s, text, "sweep") < 0) {
		fprintf(stderr, "%s: %s\n", path, sonde_error_text());
		return -1;
	}
	while (sonde_session_next(s, &ev) > 0)
		if (sonde_schema_kind(sonde_event_schema(s, ev)) != SONDE_DEFECT)
			text_push(&r->files[recording_file_of(r, ev)], ev->file_off,
				  ev->file_off + ev->record_len);
	sonde_session_close(s);
	return 0;
}

int recording_read_folder(struct recording *ret, const char *path)
{
	struct recording r = { .is_folder = true, .is_pipe = true };
	struct dirent **list;
	const int n = scandir(path, &list, folder_is_file, folder_compare);

	for (int i = 0; i < n; i++) {
		if (folder_read_file(&r, path, list[i]->d_name) < 0)
			return -1;
		free(list[i]);
	}
	if (n > 0)
		free(list);
	if (n < 2) {
		fprintf(stderr, "%s: no folder with a trace\n", path);
		return -1;
	}
	recording_name(&r, path, "");
	*ret = r;
	return folder_find_places(ret, path);
}
