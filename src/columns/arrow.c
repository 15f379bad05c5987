/* SPDX-License-Identifier: MIT */
#include "columns/arrow.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

void arrow_array_done(struct ArrowArray *a)
{
	if (a && a->release)
		a->release(a);
}

void arrow_schema_done(struct ArrowSchema *s)
{
	if (s && s->release)
		s->release(s);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* private_data of an array, with its children and its dictionary behind it. */
struct arrow_private {
	struct shared *own[ARROW_MAX_BUFFERS];
	const void *buffers[ARROW_MAX_BUFFERS];
	struct ArrowArray *children[];
};

static void arrow_release_array(struct ArrowArray *a)
{
	struct arrow_private *p = a->private_data;

	for (int64_t i = 0; i < a->n_children; i++)
		arrow_array_done(a->children[i]);
	arrow_array_done(a->dictionary);
	for (unsigned i = 0; i < ARROW_MAX_BUFFERS; i++)
		shared_unref(p->own[i]);
	free(p);
	a->release = NULL;
	a->private_data = NULL;
}

int arrow_array(struct ArrowArray *ret, const struct arrow_content *content)
{
	const size_t nr = content->nr_children;
	struct arrow_private *p;
	struct ArrowArray *below;

	p = calloc(1, sizeof(*p) + nr * sizeof(p->children[0]) + (nr + 1) * sizeof(*below));
	if (!p)
		return err_nomem();
	below = (struct ArrowArray *)&p->children[nr];
	for (size_t i = 0; i < nr; i++)
		p->children[i] = &below[i];
	for (unsigned i = 0; i < content->nr_buffers; i++) {
		p->own[i] = shared_ref(content->buffers[i]);
		p->buffers[i] = content->buffers[i] ? content->buffers[i]->bytes : NULL;
	}
	*ret = (struct ArrowArray){
		.length = content->length,
		.null_count = content->null_count,
		.n_buffers = content->nr_buffers,
		.n_children = (int64_t)nr,
		.buffers = p->buffers,
		.children = nr ? p->children : NULL,
		.dictionary = content->has_dictionary ? &below[nr] : NULL,
		.release = arrow_release_array,
		.private_data = p,
	};
	return 0;
}

/* ---- schemas --------------------------------------------------------------------------------- */

static void arrow_release_schema(struct ArrowSchema *s)
{
	for (int64_t i = 0; i < s->n_children; i++)
		arrow_schema_done(s->children[i]);
	arrow_schema_done(s->dictionary);
	free(s->private_data);
	s->release = NULL;
	s->private_data = NULL;
}

/* int32 number of pairs; for each: int32 length, key, int32 length, value. */
static size_t arrow_meta_size(const struct arrow_meta *meta)
{
	size_t size = sizeof(int32_t);

	for (; meta->key; meta++)
		size += 2 * sizeof(int32_t) + strlen(meta->key) + strlen(meta->value);
	return size;
}

static char *arrow_put_text(char *to, const char *text)
{
	const int32_t len = (int32_t)strlen(text);

	memcpy(to, &len, sizeof(len));
	memcpy(to + sizeof(len), text, (size_t)len);
	return to + sizeof(len) + len;
}

static void arrow_put_meta(char *to, const struct arrow_meta *meta)
{
	int32_t nr = 0;

	while (meta[nr].key)
		nr++;
	memcpy(to, &nr, sizeof(nr));
	to += sizeof(nr);
	for (; meta->key; meta++)
		to = arrow_put_text(arrow_put_text(to, meta->key), meta->value);
}

int arrow_schema(struct ArrowSchema *ret, const char *format, const char *name, int64_t flags,
		 const struct arrow_meta *meta, unsigned nr_children, int has_dictionary)
{
	const size_t pointers = nr_children * sizeof(struct ArrowSchema *),
		     schemas = (nr_children + (size_t)1) * sizeof(struct ArrowSchema),
		     format_len = strlen(format) + 1, name_len = strlen(name) + 1,
		     meta_len = meta ? arrow_meta_size(meta) : 0;
	char *p = calloc(1, pointers + schemas + format_len + name_len + meta_len);
	struct ArrowSchema **children = (struct ArrowSchema **)p, *below;
	char *text;

	if (!p)
		return err_nomem();
	below = (struct ArrowSchema *)(p + pointers);
	text = p + pointers + schemas;
	for (unsigned i = 0; i < nr_children; i++)
		children[i] = &below[i];
	memcpy(text, format, format_len);
	memcpy(text + format_len, name, name_len);
	if (meta)
		arrow_put_meta(text + format_len + name_len, meta);
	*ret = (struct ArrowSchema){
		.format = text,
		.name = text + format_len,
		.metadata = meta ? text + format_len + name_len : NULL,
		.flags = flags,
		.n_children = nr_children,
		.children = nr_children ? children : NULL,
		.dictionary = has_dictionary ? &below[nr_children] : NULL,
		.release = arrow_release_schema,
		.private_data = p,
	};
	return 0;
}
