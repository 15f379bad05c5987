/* SPDX-License-Identifier: MIT */
/*
 * A library to preload: allocation number NOMEM_AT of a process fails, all others succeed.
 *
 * Counted are calls of malloc, calloc, realloc and reallocarray from an object whose path contains
 * a word of NOMEM_OBJECTS (separated by ':'; unset: any object except the dynamic loader), from the
 * first call of main() or of a counted object on. The C library calls these functions for strdup(),
 * fopen(), asprintf() and others; the word libc.so counts those. A process writes the number of
 * counted calls to descriptor NOMEM_COUNT at its exit.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

enum { MAX_RANGES = 256 };

struct range {
	uintptr_t start, end;
	bool counts;
};

static struct range ranges[MAX_RANGES];
static int nr_ranges;
static long fail_at, calls;
static int count_fd = -1;
static bool is_ready;
static const char *objects;
static __thread bool is_inside;

static bool names_one(const char *path)
{
	const char *word = objects;

	if (!*path && objects)
		path = program_invocation_name;
	if (!objects)
		return !strstr(path, "/ld-linux");
	while (*word) {
		size_t n = strcspn(word, ":");
		const char *at = n ? memmem(path, strlen(path), word, n) : NULL;

		if (at)
			return true;
		word += n + (word[n] == ':');
	}
	return false;
}

static int add_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	(void)ctx;
	for (int i = 0; i < info->dlpi_phnum && nr_ranges < MAX_RANGES; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		ranges[nr_ranges++] = (struct range){ info->dlpi_addr + ph->p_vaddr,
						      info->dlpi_addr + ph->p_vaddr + ph->p_memsz,
						      names_one(info->dlpi_name) };
	}
	return 0;
}

static const struct range *range_of(uintptr_t pc)
{
	for (int i = 0; i < nr_ranges; i++)
		if (pc >= ranges[i].start && pc < ranges[i].end)
			return &ranges[i];
	return NULL;
}

static bool fails(const void *caller)
{
	const struct range *r;

	if (!is_ready || is_inside)
		return false;
	r = range_of((uintptr_t)caller);
	if (!r) { /* an object that was loaded since */
		is_inside = true;
		nr_ranges = 0;
		dl_iterate_phdr(add_object, NULL);
		is_inside = false;
		r = range_of((uintptr_t)caller);
	}
	if (!r || !r->counts || __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) != fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, bytes);
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("NOMEM_AT"), *fd = getenv("NOMEM_COUNT");

	objects = getenv("NOMEM_OBJECTS");
	fail_at = at ? atol(at) : 0;
	count_fd = fd ? atoi(fd) : -1;
	is_ready = true;
}

__attribute__((destructor)) static void end(void)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%ld\n", calls);

	if (count_fd >= 0 && write(count_fd, text, (size_t)n) != n)
		_exit(99);
}
