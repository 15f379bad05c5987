/* SPDX-License-Identifier: MIT */
#include "capture/running/bpf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "formats/btf/btf.h"
#include "formats/perfdata/writer.h"

enum {
	/* bytes of struct bpf_prog_info in files; perf 6.1 accepts no longer one */
	INFO_BYTES = 232,
	DATA_MOST = 16 << 20,
	PROGRAMS_MOST = 16 << 10,
};
_Static_assert(sizeof(struct bpf_prog_info) >= INFO_BYTES, "linux/bpf.h is older than 5.17");

/*
 * The arrays that bpf_prog_info points to. In files each pointer is an offset in the data that
 * follows. The index is the bit in the file's word `arrays`.
 */
static const struct array {
	uint32_t at, count_at;
	uint32_t size_at; /* offset of the member with an element's size; 0 if `size` is the size */
	uint32_t size;
} arrays[] = {
#define ARRAY(member, count, size_member, bytes)                                               \
	{                                                                                      \
		offsetof(struct bpf_prog_info, member), offsetof(struct bpf_prog_info, count), \
			size_member, bytes                                                     \
	}
#define SIZE_AT(member) offsetof(struct bpf_prog_info, member)
	[0] = ARRAY(jited_prog_insns, jited_prog_len, 0, 1),
	[3] = ARRAY(jited_ksyms, nr_jited_ksyms, 0, 8),
	[4] = ARRAY(jited_func_lens, nr_jited_func_lens, 0, 4),
	[5] = ARRAY(func_info, nr_func_info, SIZE_AT(func_info_rec_size), 0),
	[6] = ARRAY(line_info, nr_line_info, SIZE_AT(line_info_rec_size), 0),
	[7] = ARRAY(jited_line_info, nr_jited_line_info, SIZE_AT(jited_line_info_rec_size), 0),
	[8] = ARRAY(prog_tags, nr_prog_tags, 0, BPF_TAG_BYTES),
};
enum { NR_ARRAYS = sizeof(arrays) / sizeof(*arrays), ARRAYS = 0x1f9 };

struct loaded_program {
	uint32_t id;
	bool is_loaded;            /* the program was loaded at the last query */
	struct bpf_prog_info info; /* pointers are offsets in data */
	uint8_t *data;             /* owned */
	size_t data_len;
};

struct types {
	uint32_t id;
	uint8_t *data; /* owned */
	uint32_t len;
};

struct bpf_programs {
	pthread_mutex_t lock;
	bool is_listed, names_only;
	VEC(struct loaded_program)
	list; /* ascending by id, the order in which the kernel lists them */
	VEC(struct types) types;
};

/* ---- queries --------------------------------------------------------------------------------- */

static int bpf_call(int command, union bpf_attr *a)
{
	return (int)syscall(SYS_bpf, command, a, sizeof(*a));
}

static int bpf_open_by_id(int command, uint32_t id)
{
	union bpf_attr a = { .prog_id = id };

	return bpf_call(command, &a);
}

static int bpf_get_info(int fd, void *info, size_t size)
{
	union bpf_attr a = { .info = { .bpf_fd = (uint32_t)fd,
				       .info_len = (uint32_t)size,
				       .info = (uintptr_t)info } };

	return bpf_call(BPF_OBJ_GET_INFO_BY_FD, &a);
}

static uint32_t bpf_info_u32(const struct bpf_prog_info *info, uint32_t at)
{
	return load_u32((const uint8_t *)info + at);
}

static void bpf_set_member64(struct bpf_prog_info *info, uint32_t at, uint64_t v)
{
	memcpy((uint8_t *)info + at, &v, sizeof(v));
}

static size_t bpf_array_bytes(const struct bpf_prog_info *info, const struct array *a)
{
	const uint64_t size = a->size_at ? bpf_info_u32(info, a->size_at) : a->size;
	const uint64_t bytes = size * bpf_info_u32(info, a->count_at);

	return bytes < DATA_MOST ? (bytes + 7) & ~UINT64_C(7) : DATA_MOST;
}

/* Sets the pointers to consecutive arrays of the sizes in `counts`, starting at `base`. */
static void bpf_place_arrays(struct bpf_prog_info *info, const struct bpf_prog_info *counts,
			     uint64_t base)
{
	for (int i = 0; i < NR_ARRAYS; i++) {
		const struct array *a = &arrays[i];

		if (!(ARRAYS >> i & 1))
			continue;
		memcpy((uint8_t *)info + a->count_at, (const uint8_t *)counts + a->count_at, 4);
		if (a->size_at)
			memcpy((uint8_t *)info + a->size_at, (const uint8_t *)counts + a->size_at,
			       4);
		bpf_set_member64(info, a->at, base);
		base += bpf_array_bytes(counts, a);
	}
}

static bool bpf_read_program(int fd, struct loaded_program *ret)
{
	struct bpf_prog_info counts = { 0 };
	struct loaded_program p = { 0 };

	if (bpf_get_info(fd, &counts, sizeof(counts)) < 0)
		return false;
	for (int i = 0; i < NR_ARRAYS; i++)
		if (ARRAYS >> i & 1)
			p.data_len += bpf_array_bytes(&counts, &arrays[i]);
	if (p.data_len >= DATA_MOST)
		return false;
	p.data = calloc(1, p.data_len + 1);
	if (!p.data)
		return false;
	bpf_place_arrays(&p.info, &counts, (uintptr_t)p.data);
	if (bpf_get_info(fd, &p.info, sizeof(p.info)) < 0) {
		free(p.data);
		return false;
	}
	bpf_place_arrays(&p.info, &counts, 0);
	p.id = p.info.id;
	*ret = p;
	return true;
}

static bool bpf_read_types(uint32_t id, struct types *ret)
{
	struct bpf_btf_info info = { 0 };
	struct types t = { .id = id };
	int fd = bpf_open_by_id(BPF_BTF_GET_FD_BY_ID, id);
	bool ok = false;

	if (fd < 0)
		return false;
	if (bpf_get_info(fd, &info, sizeof(info)) == 0 && info.btf_size &&
	    info.btf_size < DATA_MOST) {
		t.len = info.btf_size;
		t.data = malloc(t.len);
		info = (struct bpf_btf_info){ .btf = (uintptr_t)t.data, .btf_size = t.len };
		ok = t.data && bpf_get_info(fd, &info, sizeof(info)) == 0;
	}
	close(fd);
	if (ok)
		*ret = t;
	else
		free(t.data);
	return ok;
}

/* ---- the list -------------------------------------------------------------------------------- */

int bpf_programs_new(struct bpf_programs **ret, bool names_only)
{
	struct bpf_programs *p = calloc(1, sizeof(*p));

	if (!p)
		return err_nomem();
	p->names_only = names_only;
	pthread_mutex_init(&p->lock, NULL);
	*ret = p;
	return 0;
}

void bpf_programs_free(struct bpf_programs *p)
{
	if (!p)
		return;
	vec_foreach(program, &p->list)
		free(program->data);
	vec_foreach(t, &p->types)
		free(t->data);
	vec_done(&p->list);
	vec_done(&p->types);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static const struct types *bpf_find_types(const struct bpf_programs *p, uint32_t id)
{
	for (size_t i = 0; i < p->types.n; i++)
		if (p->types.v[i].id == id)
			return &p->types.v[i];
	return NULL;
}

static struct loaded_program *bpf_find_program(const struct bpf_programs *p, uint32_t id)
{
	size_t low = 0, high = p->list.n;

	while (low < high) {
		const size_t mid = (low + high) / 2;

		if (p->list.v[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->list.n && p->list.v[low].id == id ? &p->list.v[low] : NULL;
}

static void bpf_insert_program(struct bpf_programs *p, struct loaded_program take)
{
	size_t at = p->list.n;

	if (vec_push(&p->list, take) < 0) {
		free(take.data);
		return;
	}
	for (; at && p->list.v[at - 1].id > take.id; at--)
		p->list.v[at] = p->list.v[at - 1];
	p->list.v[at] = take;
}

static void bpf_add_program(struct bpf_programs *p, uint32_t id)
{
	struct loaded_program *known = bpf_find_program(p, id), program;
	struct types types;
	int fd;

	if (known) {
		known->is_loaded = true;
		return;
	}
	fd = p->list.n < PROGRAMS_MOST ? bpf_open_by_id(BPF_PROG_GET_FD_BY_ID, id) : -1;
	if (fd < 0)
		return; /* it was unloaded in between */
	if (bpf_read_program(fd, &program)) {
		program.is_loaded = true;
		if (program.info.btf_id && !bpf_find_types(p, program.info.btf_id) &&
		    bpf_read_types(program.info.btf_id, &types) && vec_push(&p->types, types) < 0)
			free(types.data);
		bpf_insert_program(p, program);
	}
	close(fd);
}

void bpf_programs_add(struct bpf_programs *p, uint32_t id)
{
	pthread_mutex_lock(&p->lock);
	bpf_add_program(p, id);
	pthread_mutex_unlock(&p->lock);
}

void bpf_programs_find(struct bpf_programs *p)
{
	union bpf_attr a = { 0 };

	pthread_mutex_lock(&p->lock);
	vec_foreach(program, &p->list)
		program->is_loaded = false;
	while (bpf_call(BPF_PROG_GET_NEXT_ID, &a) == 0) {
		bpf_add_program(p, a.next_id);
		a = (union bpf_attr){ .start_id = a.next_id };
	}
	/* ENOENT means the list is complete; any other error means we know nothing. */
	p->is_listed |= errno == ENOENT;
	pthread_mutex_unlock(&p->lock);
}

/* ---- output ---------------------------------------------------------------------------------- */

/* u32 nr, nr x { u32 bytes of info, u32 bytes of data, u64 arrays, info, data } */
void bpf_programs_put_info(struct bpf_programs *p, struct outbuf *o)
{
	pthread_mutex_lock(&p->lock);
	const size_t n = p->names_only ? 0 : p->list.n;

	if (p->is_listed)
		perfdata_put_u32(o, (uint32_t)n);
	for (size_t i = 0; p->is_listed && i < n; i++) {
		const struct loaded_program *program = &p->list.v[i];

		perfdata_put_u32(o, INFO_BYTES);
		perfdata_put_u32(o, (uint32_t)program->data_len);
		perfdata_put_u64(o, ARRAYS);
		outbuf_put(o, &program->info, INFO_BYTES);
		outbuf_put(o, program->data, program->data_len);
	}
	pthread_mutex_unlock(&p->lock);
}

/* u32 nr, nr x { u32 id, u32 bytes, BTF } */
void bpf_programs_put_types(struct bpf_programs *p, struct outbuf *o)
{
	pthread_mutex_lock(&p->lock);
	if (p->is_listed)
		perfdata_put_u32(o, (uint32_t)p->types.n);
	for (size_t i = 0; p->is_listed && i < p->types.n; i++) {
		const struct types *t = &p->types.v[i];

		perfdata_put_u32(o, t->id);
		perfdata_put_u32(o, t->len);
		outbuf_put(o, t->data, t->len);
	}
	pthread_mutex_unlock(&p->lock);
}

/* The name of a type; "" if there is none. */
static const char *bpf_type_name(const struct types *t, uint32_t type)
{
	const char *name;

	return btf_type_name(bytes_init(t->data, t->len, 0, "BTF", false), type, &name) < 0 ? ""
											    : name;
}

/* "bpf_prog_TAG_NAME", as the kernel names them in its records */
static void bpf_name_function(const struct loaded_program *p, const struct types *types, uint32_t n,
			      char name[BPF_FUNCTION_NAME_BYTES])
{
	const uint8_t *tag = p->data + p->info.prog_tags + (size_t)n * BPF_TAG_BYTES;
	const char *own = "";
	size_t len = (size_t)sprintf(name, "bpf_prog_");

	for (int i = 0; i < BPF_TAG_BYTES; i++)
		len += (size_t)sprintf(name + len, "%02x", tag[i]);
	if (types && n < p->info.nr_func_info && p->info.func_info_rec_size >= 8)
		own = bpf_type_name(types, load_u32(p->data + p->info.func_info +
						    (size_t)n * p->info.func_info_rec_size + 4));
	else if (p->info.nr_jited_ksyms > 1)
		own = "F";
	else if (*p->info.name)
		own = p->info.name;
	if (*own)
		snprintf(name + len, BPF_FUNCTION_NAME_BYTES - len, "_%.*s",
			 BPF_FUNCTION_NAME_BYTES / 2, own);
}

void bpf_programs_each_function(struct bpf_programs *p,
				void (*visit)(void *ctx, const struct bpf_function *f), void *ctx)
{
	char name[BPF_FUNCTION_NAME_BYTES];

	pthread_mutex_lock(&p->lock);
	vec_foreach(program, &p->list) {
		const uint32_t nr = program->info.nr_jited_ksyms;
		struct bpf_function f = { .program = program->id, .tag = program->info.tag };

		if (!program->is_loaded)
			continue;
		for (uint32_t i = 0; i < nr && i < program->info.nr_jited_func_lens &&
				     i < program->info.nr_prog_tags;
		     i++) {
			f.addr =
				load_u64(program->data + program->info.jited_ksyms + 8 * (size_t)i);
			f.len = load_u32(program->data + program->info.jited_func_lens +
					 4 * (size_t)i);
			bpf_name_function(program, bpf_find_types(p, program->info.btf_id), i,
					  name);
			f.name = name;
			if (f.addr)
				visit(ctx, &f);
		}
		f.name = NULL;
		if (!p->names_only)
			visit(ctx, &f);
	}
	pthread_mutex_unlock(&p->lock);
}

bool bpf_programs_have_images(struct bpf_programs *p)
{
	bool have = false;

	pthread_mutex_lock(&p->lock);
	vec_foreach(program, &p->list)
		have |= program->is_loaded && (program->info.type == BPF_PROG_TYPE_XDP ||
					       (program->info.type >= BPF_PROG_TYPE_TRACING &&
						program->info.type <= BPF_PROG_TYPE_LSM));
	pthread_mutex_unlock(&p->lock);
	return have;
}
