/* SPDX-License-Identifier: MIT */
/* Source lines, inlined functions and instructions of a library made for it (sample.c). */
#include "unittest.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/vec.h"
#include "formats/elf/file.h"
#include "symbols/insn.h"
#include "symbols/lines.h"

static struct dso_table *dsos;
static struct lines_table *lines;
static struct dso *sample;
static char *words[200]; /* lines of sample.c */
static size_t nr_words;

static void open_sample(enum sonde_compat compat)
{
	const char *path = getenv("LINES_SAMPLE"), *source = getenv("LINES_SOURCE");
	FILE *f;
	size_t room = 0;

	if (!path || !source) {
		print_message("# not run by meson\n");
		fail();
	}
	assert_int_equal(dso_table_new(&dsos,
				       &(struct dso_table_options){
					       .rules = rules_of(compat),
					       .force = true,
				       }),
			 0);
	assert_int_equal(
		lines_table_new(&lines, &(struct lines_table_options){ .rules = rules_of(compat) }),
		0);
	sample = dso_get(dsos, &(struct dso_key){ .name = path });
	f = fopen(source, "re");
	assert_non_null(f);
	for (nr_words = 0; nr_words < 200 && getline(&words[nr_words], &room, f) > 0; room = 0)
		nr_words++;
	fclose(f);
}

static void close_sample(void)
{
	for (size_t i = 0; i <= nr_words && i < 200; i++) {
		free(words[i]);
		words[i] = NULL;
	}
	lines_table_free(lines);
	dso_table_free(dsos);
}

static uint32_t line_of(const char *text)
{
	for (size_t i = 0; i < nr_words; i++) {
		if (strstr(words[i], text))
			return (uint32_t)i + 1;
	}
	fail_msg("no line of sample.c says '%s'", text);
	return 0;
}

/* File address and size of a function. */
static uint64_t function_of(const char *path, const char *name, size_t *ret_size)
{
	void *lib = dlopen(path, RTLD_NOW), *at;
	const ElfW(Sym) *sym = NULL;
	Dl_info info;

	assert_non_null(lib);
	at = dlsym(lib, name);
	assert_non_null(at);
	assert_int_not_equal(dladdr1(at, &info, (void **)&sym, RTLD_DL_SYMENT), 0);
	*ret_size = sym->st_size;
	return (uint64_t)at - (uint64_t)info.dli_fbase;
}

static uint64_t function(const char *name, size_t *ret_size)
{
	return function_of(getenv("LINES_SAMPLE"), name, ret_size);
}

static bool is_in(const struct line_place *p, const char *name, const char *text)
{
	return p->function && !strcmp(p->function, name) && p->file &&
	       !strcmp(strrchr(p->file, '/') + 1, "sample.c") && p->line == line_of(text);
}

/* The address in a function at which the most functions are inlined. */
static uint64_t deepest(const char *name, size_t *ret_nr)
{
	size_t size, nr;
	uint64_t start = function(name, &size), best = start;
	const struct line_place *p;

	*ret_nr = 0;
	for (uint64_t a = start; a < start + size; a++) {
		nr = lines_at(lines, sample, a, &p);
		if (nr > *ret_nr) {
			*ret_nr = nr;
			best = a;
		}
	}
	return best;
}

TEST(inlined_functions)
{
	const struct line_place *p;
	uint64_t addr;
	size_t nr;

	for (int compat = 0; compat <= SONDE_COMPAT_PERF_6_12; compat++) {
		open_sample(compat);
		addr = deepest("sample_outer", &nr);
		assert_int_equal(nr, 3);
		assert_int_equal(lines_at(lines, sample, addr, &p), 3);
		assert_true(is_in(&p[0], "innermost", "in innermost"));
		assert_true(is_in(&p[1], "middle", "call in middle"));
		assert_true(is_in(&p[2], "sample_outer", "call in outer"));
		assert_true(p[0].is_inlined && p[1].is_inlined && !p[2].is_inlined);
		close_sample();
	}
}

TEST(plain_function)
{
	const struct line_place *p;
	bool met = false;
	size_t size, nr;
	uint64_t start;

	open_sample(SONDE_COMPAT_NONE);
	start = function("sample_plain", &size);
	for (uint64_t a = start; a < start + size; a++) {
		nr = lines_at(lines, sample, a, &p);
		assert_int_equal(nr, 1);
		assert_string_equal(p[0].function, "sample_plain");
		assert_false(p[0].is_inlined);
		met |= is_in(&p[0], "sample_plain", "in plain");
	}
	assert_true(met);
	close_sample();
}

/*
 * The name is that of the symbol at the address, because DWARF has no mangled name (a rule of
 * binutils).
 */
TEST(a_function_without_a_mangled_name)
{
	static const struct {
		enum sonde_compat compat;
		const char *inside;
	} cases[] = { { SONDE_COMPAT_NONE, "whole" }, { SONDE_COMPAT_PERF_6_1, "middle" } };
	const char *path = getenv("LINES_NAMED");

	for (size_t i = 0; i < 2; i++) {
		const struct line_place *p;
		struct dso *named;
		size_t size;
		uint64_t start;

		open_sample(cases[i].compat);
		named = dso_get(dsos, &(struct dso_key){ .name = path });
		start = function_of(path, "whole", &size);
		assert_int_equal(lines_at(lines, named, start + 12, &p), 1);
		assert_string_equal(p->function, cases[i].inside);
		assert_int_equal(lines_at(lines, named, start + 4, &p), 1);
		assert_string_equal(p->function, "whole");
		close_sample();
	}
}

TEST(nothing_known)
{
	const struct line_place *p;
	struct dso *none;

	open_sample(SONDE_COMPAT_NONE);
	assert_int_equal(lines_at(lines, sample, 0, &p), 0);
	assert_int_equal(lines_at(lines, sample, UINT64_MAX, &p), 0);
	none = dso_get(dsos, &(struct dso_key){ .name = "/nonexistent/file" });
	assert_int_equal(lines_at(lines, none, 0x1000, &p), 0);
	assert_int_equal(lines_at(lines, none, 0x1000, &p), 0);
	close_sample();
}

/* A walk of this file that trusts its DW_AT_sibling takes 2^40 steps. */
TEST(misleading_siblings)
{
	const char *path = getenv("LINES_LOOPS");
	const struct line_place *p;
	struct dso *loops;
	uint64_t addr;
	size_t size;

	open_sample(SONDE_COMPAT_NONE);
	loops = dso_get(dsos, &(struct dso_key){ .name = path });
	addr = function_of(path, "loops_function", &size);
	assert_int_equal(lines_at(lines, loops, addr, &p), 1);
	assert_string_equal(p[0].function, "in_loops");
	close_sample();
}

/*
 * Makes a copy of the sample with an x as the last byte of a section. False if there is no such
 * section.
 */
static bool copy_without_end(const char *section, const char *path)
{
	struct elf_file *elf;
	const struct elf_section *s;
	char bytes[65536];
	FILE *from = fopen(getenv("LINES_SAMPLE"), "re"), *to = fopen(path, "we");
	size_t len;

	assert_true(from && to);
	len = fread(bytes, 1, sizeof(bytes), from);
	assert_true(len && len < sizeof(bytes));
	assert_int_equal(elf_file_open(&elf, getenv("LINES_SAMPLE")), 0);
	s = elf_file_section(elf, section);
	if (s)
		bytes[s->offset + s->size - 1] = 'x';
	assert_int_equal(fwrite(bytes, 1, len, to), len);
	fclose(from);
	assert_int_equal(fclose(to), 0);
	elf_file_close(elf);
	return s;
}

/* libdw would read after the section. */
TEST(strings_without_end)
{
	static const char *const sections[] = { ".comment", ".debug_str", ".debug_line_str" };
	char path[] = "/tmp/sonde-lines.XXXXXX";
	const struct line_place *p;
	struct dso *damaged;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		uint64_t addr;
		size_t size;

		if (!copy_without_end(sections[i], path))
			continue; /* DWARF 4 has no .debug_line_str */
		open_sample(SONDE_COMPAT_NONE);
		addr = function("sample_plain", &size);
		damaged = dso_get(dsos, &(struct dso_key){ .name = path });
		assert_int_equal(lines_at(lines, damaged, addr, &p), i == 0);
		close_sample();
	}
	unlink(path);
}

TEST(source_text)
{
	const char *text, *source = getenv("LINES_SOURCE");
	size_t len;

	open_sample(SONDE_COMPAT_NONE);
	for (int i = 0; i < 2; i++) {
		assert_true(lines_source(lines, source, line_of("in plain"), &text, &len));
		assert_int_equal(len, strlen("\treturn n ^ sample_numbers[3]; /* in plain */"));
		assert_memory_equal(text, "\treturn n ^", 11);
	}
	assert_true(lines_source(lines, source, 1, &text, &len));
	assert_false(lines_source(lines, source, 0, &text, &len));
	assert_false(lines_source(lines, source, (uint32_t)nr_words + 1, &text, &len));
	assert_false(lines_source(lines, "/nonexistent", 1, &text, &len));
	assert_false(lines_source(lines, "/dev/zero", 1, &text, &len));
	assert_false(lines_source(lines, "/", 1, &text, &len));
	close_sample();
}

TEST(instructions)
{
	static const struct {
		const char *bytes;
		unsigned len, branches;
	} cases[] = {
		{ "\x90", 1, 0 },
		{ "\x48\x31\xca", 3, 0 },
		{ "\xc7\x05\xbe\x9c\x80\x00\x01\x00\x00\x00", 10, 0 },
		{ "\x62\xe2\x7d\x28\x7a\xce", 6, 0 },
		{ "\xf3\x0f\x1e\xfa", 4, 0 },
		{ "\xc3", 1, 1 },
		{ "\xeb\x05", 2, 1 },
		{ "\x0f\x84\x01\x02\x03\x04", 6, 1 },
		{ "\xff\x25\xba\xce\x1a\x00", 6, 1 },
		{ "\xe8\x01\x02\x03\x04", 5, 1 },
		{ "\xcc", 1, 1 },
	};
	struct insn_decoder *d;

	assert_int_equal(insn_decoder_new(&d), 0);
	assert_int_equal(insn_length(d, INSN_ARM64, (const uint8_t *)"\0\0\0\0", 4), 4);
	assert_int_equal(insn_length(d, INSN_ARM64, (const uint8_t *)"\0\0\0\0", 3), 0);
	assert_int_equal(insn_length(d, INSN_UNKNOWN, (const uint8_t *)"\x90", 1), 0);
	if (!insn_length(d, INSN_X86_64, (const uint8_t *)"\x90", 1)) {
		insn_decoder_free(d);
		SKIP("this build has no capstone");
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t code[16] = { 0 };

		memcpy(code, cases[i].bytes, cases[i].len);
		assert_int_equal(insn_length(d, INSN_X86_64, code, sizeof(code)), cases[i].len);
		assert_int_equal(insn_branches(d, INSN_X86_64, code, sizeof(code)),
				 cases[i].branches);
		assert_int_equal(insn_length(d, INSN_X86_64, code, cases[i].len - 1), 0);
	}
	assert_int_equal(insn_length(d, INSN_I386, (const uint8_t *)"\x40", 1), 1); /* inc %eax on
										       i386, a
										       prefix on
										       x86-64 */
	assert_int_equal(insn_length(d, INSN_X86_64, (const uint8_t *)"\x40", 1), 0);
	insn_decoder_free(d);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static bool has_lines(const char *name, uint64_t addr)
{
	struct dso *d = dso_get(dsos, &(struct dso_key){ .name = name });
	const struct line_place *p;

	assert_non_null(d);
	return lines_at(lines, d, addr, &p) > 0;
}

/* The lowest free descriptor. */
static rlim_t first_free(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	close(fd);
	return (rlim_t)fd;
}

TEST(more_files_than_descriptors)
{
	char dir[] = "/tmp/sonde-lines-XXXXXX", path[64];
	struct rlimit before, few;
	unsigned missing = 0;
	uint64_t addr;
	size_t size;

	assert_non_null(mkdtemp(dir));
	addr = function("sample_plain", &size);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (int compat = 0; compat <= SONDE_COMPAT_PERF_6_1; compat++) {
		open_sample(compat);
		few = (struct rlimit){ first_free() + 150, before.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		for (int i = 0; i < 200; i++) {
			snprintf(path, sizeof(path), "%s/%d", dir, i);
			if (!compat)
				assert_int_equal(symlink(getenv("LINES_SAMPLE"), path), 0);
			missing += !has_lines(path, addr);
		}
		assert_false(dso_report_no_descriptor(sample));
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		close_sample();
	}
	for (int i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), "%s/%d", dir, i);
		unlink(path);
	}
	rmdir(dir);
	assert_int_equal(missing, 0);
}

/* A file that could not be opened is reported. It is used as soon as it can be opened. */
TEST(no_descriptor_at_all)
{
	struct rlimit before, none;
	uint64_t addr;
	size_t size;
	bool found;

	open_sample(SONDE_COMPAT_NONE);
	addr = function("sample_plain", &size);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ first_free(), before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	found = has_lines(dso_name(sample), addr) || dso_symbol_at(sample, 0x1000);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_false(found);
	assert_true(dso_report_no_descriptor(sample));
	assert_false(dso_report_no_descriptor(sample));
	assert_true(has_lines(dso_name(sample), addr));
	assert_int_equal(dso_unknown_file(sample), SONDE_KNOWN);
	close_sample();
}
