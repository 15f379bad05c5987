/* SPDX-License-Identifier: MIT */
#include "arrow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- batches --------------------------------------------------------------------------------- */

struct arrow_batch *arrow_batch_new(struct ArrowSchema *schema, struct ArrowArray *array)
{
	struct arrow_batch *b = malloc(sizeof(*b));

	if (!b)
		return NULL;
	b->schema = *schema;
	b->array = *array;
	b->refs = 1;
	schema->release = NULL;
	array->release = NULL;
	return b;
}

struct arrow_batch *arrow_batch_ref(struct arrow_batch *b)
{
	__atomic_add_fetch(&b->refs, 1, __ATOMIC_RELAXED);
	return b;
}

void arrow_batch_unref(struct arrow_batch *b)
{
	if (!b || __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	b->array.release(&b->array);
	b->schema.release(&b->schema);
	free(b);
}

/* ---- what a struct owns ---------------------------------------------------------------------- */

/* A child that a consumer has taken has no release. */
#define ARROW_RELEASE(p)                 \
	do {                             \
		if ((p) && (p)->release) \
			(p)->release(p); \
		free(p);                 \
	} while (0)
/* Children and dictionary of a schema or an array. */
#define ARROW_RELEASE_BELOW(s)                                \
	do {                                                  \
		for (int64_t i = 0; i < (s)->n_children; i++) \
			ARROW_RELEASE((s)->children[i]);      \
		free((s)->children);                          \
		ARROW_RELEASE((s)->dictionary);               \
	} while (0)

/* ---- types ----------------------------------------------------------------------------------- */

static void arrow_release_schema(struct ArrowSchema *s)
{
	ARROW_RELEASE_BELOW(s);
	free((char *)s->format);
	free((char *)s->name);
	free((char *)s->metadata);
	s->release = NULL;
}

static int32_t arrow_word(const char *p)
{
	int32_t n;

	memcpy(&n, p, sizeof(n));
	return n;
}

/*
 * Metadata in memory: the number of pairs, then for each key and value its length and its bytes.
 * All numbers are int32 in the machine's byte order.
 */
static char *arrow_copy_metadata(const char *metadata)
{
	const char *p = metadata + 4;
	char *copy;

	for (int64_t i = 0; i < 2 * (int64_t)arrow_word(metadata); i++)
		p += 4 + arrow_word(p);
	copy = malloc((size_t)(p - metadata));
	if (copy)
		memcpy(copy, metadata, (size_t)(p - metadata));
	return copy;
}

static struct ArrowSchema *arrow_new_schema(const struct ArrowSchema *from)
{
	struct ArrowSchema *s = calloc(1, sizeof(*s));

	if (s && arrow_copy_schema(from, s) < 0) {
		free(s);
		return NULL;
	}
	return s;
}

int arrow_copy_schema(const struct ArrowSchema *from, struct ArrowSchema *ret)
{
	struct ArrowSchema s = { .flags = from->flags, .release = arrow_release_schema };
	int code = 0;

	s.format = strdup(from->format);
	s.name = strdup(from->name ? from->name : "");
	s.metadata = from->metadata ? arrow_copy_metadata(from->metadata) : NULL;
	s.children = calloc((size_t)from->n_children + 1, sizeof(s.children[0]));
	if (!s.format || !s.name || (from->metadata && !s.metadata) || !s.children)
		code = -ENOMEM;
	for (; code >= 0 && s.n_children < from->n_children; s.n_children++) {
		s.children[s.n_children] = arrow_new_schema(from->children[s.n_children]);
		if (!s.children[s.n_children])
			code = -ENOMEM;
	}
	if (from->dictionary && code >= 0) {
		s.dictionary = arrow_new_schema(from->dictionary);
		if (!s.dictionary)
			code = -ENOMEM;
	}
	if (code < 0)
		arrow_release_schema(&s);
	else
		*ret = s;
	return code;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* The buffers are those of the batch in private_data, or arrow_empty() made them. */
static void arrow_release_array(struct ArrowArray *a)
{
	ARROW_RELEASE_BELOW(a);
	if (a->private_data)
		arrow_batch_unref(a->private_data);
	else
		free(a->buffers);
	a->release = NULL;
}

static struct ArrowArray *arrow_new_view(struct arrow_batch *b, const struct ArrowArray *from)
{
	struct ArrowArray *a = calloc(1, sizeof(*a));

	if (a && arrow_share(b, from, a) < 0) {
		free(a);
		return NULL;
	}
	return a;
}

int arrow_share(struct arrow_batch *b, const struct ArrowArray *from, struct ArrowArray *ret)
{
	struct ArrowArray a = *from;
	int code = 0;

	a.n_children = 0;
	a.dictionary = NULL;
	a.private_data = arrow_batch_ref(b); /* buffers are the batch's */
	a.release = arrow_release_array;
	a.children = calloc((size_t)from->n_children + 1, sizeof(a.children[0]));
	if (!a.children)
		code = -ENOMEM;
	for (; code >= 0 && a.n_children < from->n_children; a.n_children++) {
		a.children[a.n_children] = arrow_new_view(b, from->children[a.n_children]);
		if (!a.children[a.n_children])
			code = -ENOMEM;
	}
	if (from->dictionary && code >= 0) {
		a.dictionary = arrow_new_view(b, from->dictionary);
		if (!a.dictionary)
			code = -ENOMEM;
	}
	if (code < 0)
		arrow_release_array(&a);
	else
		*ret = a;
	return code;
}

/* Zeros that are offsets of empty arrays, aligned like other buffers. */
static const _Alignas(64) int64_t arrow_zeros[8];

static struct ArrowArray *arrow_new_empty(const struct ArrowSchema *type)
{
	struct ArrowArray *a = calloc(1, sizeof(*a));

	if (a && arrow_empty(type, a) < 0) {
		free(a);
		return NULL;
	}
	return a;
}

int arrow_empty(const struct ArrowSchema *type, struct ArrowArray *ret)
{
	struct ArrowArray a = { .release = arrow_release_array };
	bool has_bytes = type->format[0] == 'u' || type->format[0] == 'z';
	int code = 0;

	a.n_buffers = !strcmp(type->format, "+s") ? 1 : has_bytes ? 3 : 2;
	a.buffers = calloc(3, sizeof(a.buffers[0]));
	a.children = calloc((size_t)type->n_children + 1, sizeof(a.children[0]));
	if (!a.buffers || !a.children)
		code = -ENOMEM;
	for (int64_t i = 1; code >= 0 && i < a.n_buffers; i++)
		a.buffers[i] = arrow_zeros;
	for (; code >= 0 && a.n_children < type->n_children; a.n_children++) {
		a.children[a.n_children] = arrow_new_empty(type->children[a.n_children]);
		if (!a.children[a.n_children]) {
			code = -ENOMEM;
			break;
		}
	}
	if (code >= 0 && type->dictionary && !(a.dictionary = arrow_new_empty(type->dictionary)))
		code = -ENOMEM;
	if (code < 0)
		arrow_release_array(&a);
	else
		*ret = a;
	return code;
}

/* ---- streams --------------------------------------------------------------------------------- */

struct arrow_stream {
	size_t nr, at;
	int64_t column;
	const char *error; /* static text, or NULL */
	struct arrow_batch *batches[];
};

static int arrow_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
	struct arrow_stream *s = stream->private_data;
	const struct ArrowSchema *all = &s->batches[0]->schema;
	int r = arrow_copy_schema(s->column < 0 ? all : all->children[s->column], ret);

	s->error = r < 0 ? "there is no memory for a copy of the type" : NULL;
	return -r;
}

static int arrow_stream_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
	struct arrow_stream *s = stream->private_data;
	const struct ArrowArray *all;
	int r;

	if (s->at == s->nr) {
		ret->release = NULL; /* the end */
		return 0;
	}
	all = &s->batches[s->at]->array;
	r = arrow_share(s->batches[s->at], s->column < 0 ? all : all->children[s->column], ret);
	s->error = r < 0 ? "there is no memory for a view of the batch" : NULL;
	if (r >= 0)
		s->at++;
	return -r;
}

static const char *arrow_stream_error(struct ArrowArrayStream *stream)
{
	return ((struct arrow_stream *)stream->private_data)->error;
}

static void arrow_stream_release(struct ArrowArrayStream *stream)
{
	struct arrow_stream *s = stream->private_data;

	for (size_t i = 0; i < s->nr; i++)
		arrow_batch_unref(s->batches[i]);
	free(s);
	stream->release = NULL;
}

int arrow_stream(struct arrow_batch *const *batches, size_t nr, int64_t column,
		 struct ArrowArrayStream *ret)
{
	struct arrow_stream *s = malloc(sizeof(*s) + nr * sizeof(s->batches[0]));

	if (!s)
		return -ENOMEM;
	*s = (struct arrow_stream){ .nr = nr, .column = column };
	for (size_t i = 0; i < nr; i++)
		s->batches[i] = arrow_batch_ref(batches[i]);
	*ret = (struct ArrowArrayStream){
		.get_schema = arrow_stream_schema,
		.get_next = arrow_stream_next,
		.get_last_error = arrow_stream_error,
		.release = arrow_stream_release,
		.private_data = s,
	};
	return 0;
}
