/* SPDX-License-Identifier: MIT */
#include "unittest.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "symbols/kallsyms.h"
#include "symbols/kernel.h"

static const char text[] = "ffffffff81000000 T first_of_three\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000000 t __pi__text\n"
			   "ffffffff81000000 A not_code\n"
			   "ffffffff81000010 t local_one\n"
			   "ffffffff81000018 r read_only\n"
			   "ffffffff81000020 W weak_one\n"
			   "ffffffff81000030 t $x\n"
			   "ffffffff81000040 D some_data\n"
			   "ffffffff81001234 T last_one\n"
			   "ffffffffc0001000 t mod_start\t[xfs]\n"
			   "ffffffffc0001100 t mod_last\t[xfs]\n"
			   "ffffffffc0009100 T other\t[ext4]";

static void expect(struct kallsyms *k, uint64_t addr, const char *name, uint64_t off)
{
	/* twice: the second answer is from the cache */
	for (int i = 0; i < 2; i++) {
		const struct kernel_symbol *s = kallsyms_find(k, addr);

		if (!name) {
			assert_null(s);
			continue;
		}
		assert_non_null(s);
		assert_string_equal(s->name, name);
		assert_true(addr - s->start == off);
	}
}

TEST(last_of_equal_addresses_wins)
{
	struct kallsyms *k;

	assert_int_equal(kallsyms_read(&k, text, strlen(text), "test"), 0);
	expect(k, 0xffffffff81000000, "__pi__text", 0);
	expect(k, 0xffffffff8100000f, "__pi__text", 15);
	expect(k, 0xffffffff80ffffff, NULL, 0);
	expect(k, 0xffffffff81000018, "local_one", 8);
	expect(k, 0xffffffff81000031, "weak_one", 0x11);
	expect(k, 0xffffffff81000041, "some_data", 1);
	assert_true(kallsyms_address(k, "_text") == 0xffffffff81000000);
	assert_true(kallsyms_address(k, "absent") == 0);
	kallsyms_close(k);
}

TEST(ends_are_those_of_perf)
{
	struct kallsyms *k;

	assert_int_equal(kallsyms_read(&k, text, strlen(text), "test"), 0);
	/* the last symbol of the kernel: to the end of its page, plus one page */
	expect(k, 0xffffffff81002fff, "last_one", 0x1dcb);
	expect(k, 0xffffffff81003000, NULL, 0);
	expect(k, 0xffffffffc00020ff, "mod_last", 0xfff);
	expect(k, 0xffffffffc0003000, NULL, 0);
	expect(k, 0xffffffffc000afff, "other", 0x1eff);
	expect(k, 0xffffffffc000b000, NULL, 0);
	expect(k, UINT64_MAX, NULL, 0);
	assert_string_equal(kallsyms_find(k, 0xffffffffc0001000)->module, "[xfs]");
	assert_string_equal(kallsyms_find(k, 0xffffffff81000000)->module, "");
	kallsyms_close(k);
}

TEST(binding_from_the_letter)
{
	struct kallsyms *k;

	assert_int_equal(kallsyms_read(&k, text, strlen(text), "test"), 0);
	assert_int_equal(kallsyms_find(k, 0xffffffff81000010)->binding, 0);
	assert_int_equal(kallsyms_find(k, 0xffffffff81001234)->binding, 1);
	assert_int_equal(kallsyms_find(k, 0xffffffff81000020)->binding, 2);
	kallsyms_close(k);
}

TEST(unsorted_text_and_slides)
{
	static const char unsorted[] =
		"0000000000003000 T c\n0000000000001000 T a\n0000000000001000 T b\nrubbish\n";
	struct kallsyms *k;

	assert_int_equal(kallsyms_read(&k, unsorted, strlen(unsorted), "test"), 0);
	expect(k, 0x1fff, "b", 0xfff);
	expect(k, 0x2fff, "b", 0x1fff);
	expect(k, 0x3000, "c", 0);
	kallsyms_slide(k, 0x10000);
	expect(k, 0x3000, NULL, 0);
	expect(k, 0x13001, "c", 1);
	kallsyms_slide(k, -(uint64_t)0x10000);
	expect(k, 0x3001, "c", 1);
	kallsyms_close(k);
}

/* A slide by less than a page does not move the place of the last symbol's end in its page. */
TEST(ends_after_a_slide)
{
	struct kallsyms *k;

	assert_int_equal(kallsyms_read(&k, text, strlen(text), "test"), 0);
	kallsyms_slide(k, 0xe00);
	expect(k, 0xffffffff81003dff, "last_one", 0x1dcb);
	expect(k, 0xffffffff81003e00, NULL, 0);
	kallsyms_close(k);
}

/* Lines are larger than the pieces in which a file is read, or in two of them. */
TEST(file_of_many_pieces)
{
	enum { SYMBOLS = 30000, LONG_NAME = 100000 };
	char path[] = "/tmp/sonde-kallsyms-XXXXXX", name[32];
	char *long_name = malloc(LONG_NAME + 1);
	const int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	struct kallsyms *k;

	assert_non_null(f);
	assert_non_null(long_name);
	memset(long_name, 'x', LONG_NAME);
	long_name[LONG_NAME] = '\0';
	for (int i = 0; i < SYMBOLS; i++)
		fprintf(f, "ffffffff81%06x t symbol_%d\n", 16 * i, i);
	fprintf(f, "ffffffff82000000 T %s\nffffffff82000010 T last", long_name);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(kallsyms_open(&k, path), 0);
	for (int i = 0; i < SYMBOLS; i++) {
		snprintf(name, sizeof(name), "symbol_%d", i);
		expect(k, 0xffffffff81000000 + 16 * (uint64_t)i, name, 0);
	}
	expect(k, 0xffffffff82000008, long_name, 8);
	expect(k, 0xffffffff82000018, "last", 8);
	kallsyms_close(k);
	unlink(path);
	free(long_name);
}

TEST(what_is_no_table)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 t x\t[mod]\n";
	struct kallsyms *k;

	assert_int_equal(kallsyms_read(&k, hidden, strlen(hidden), "x"), -ENODATA);
	assert_non_null(strstr(err_text(), "kptr_restrict"));
	assert_int_equal(kallsyms_read(&k, "", 0, "x"), -EBADMSG);
	assert_int_equal(kallsyms_read(&k, "hello\nworld\n", 12, "x"), -EBADMSG);
	assert_int_equal(kallsyms_read(&k, "00000000000000001 T x\n1 T\n 2 T y", 32, "x"),
			 -EBADMSG);
	assert_int_equal(kallsyms_open(&k, "/nonexistent"), -ENOENT);
	assert_int_equal(kallsyms_open(&k, "/dev/null"), -EINVAL);
}

static char path_used[PATH_MAX];

static void write_file(const char *path, const char *what)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(what, f);
	fclose(f);
}

TEST(kernel_symbols_by_build_id)
{
	static const uint8_t id[20] = { 0xab, 0xcd, 1, 2, 3 };
	static const char rest[] = "cd010203000000000000000000000000000000";
	char dir[] = "/tmp/sonde-symbols-XXXXXX", path[256], target[256];
	struct kernel_symbols_options opts = {
		.rules = &default_rules,
		.build_id = build_id_of(id, sizeof(id)),
		.buildid_dir = dir,
	};
	struct kallsyms *k;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(kernel_symbols_open(&k, &opts, path_used), 0);
	assert_null(k);
	assert_non_null(strstr(err_text(), "abcd010203"));

	snprintf(path, sizeof(path), "%s/[kernel.kallsyms]", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/[kernel.kallsyms]/ab%s", dir, rest);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/[kernel.kallsyms]/ab%s/kallsyms", dir, rest);
	write_file(path, text);
	assert_int_equal(kernel_symbols_open(&k, &opts, path_used), 0);
	assert_non_null(k);
	kallsyms_close(k);

	/* through the link, with a kernel at another address */
	snprintf(path, sizeof(path), "%s/.build-id", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/.build-id/ab", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/.build-id/ab/%s", dir, rest);
	snprintf(target, sizeof(target), "../../[kernel.kallsyms]/ab%s", rest);
	assert_int_equal(symlink(target, path), 0);
	opts.ref_symbol = "_text";
	opts.ref_addr = 0xffffffff91000000;
	assert_int_equal(kernel_symbols_open(&k, &opts, path_used), 0);
	assert_non_null(k);
	expect(k, 0xffffffff91000021, "weak_one", 1);
	kallsyms_close(k);

	opts.ref_symbol = "_missing";
	assert_int_equal(kernel_symbols_open(&k, &opts, path_used), 0);
	assert_null(k);

	/* the recording's own symbols have precedence, but perf does not read them */
	opts.ref_symbol = NULL;
	opts.recorded = "0000000000001000 T own\n";
	opts.recorded_len = strlen(opts.recorded);
	assert_int_equal(kernel_symbols_open(&k, &opts, path_used), 0);
	expect(k, 0x1000, "own", 0);
	kallsyms_close(k);
	opts.rules = rules_of(SONDE_COMPAT_PERF_6_1);
	assert_int_equal(kernel_symbols_open(&k, &opts, path_used), 0);
	expect(k, 0x1000, NULL, 0);
	kallsyms_close(k);

	/* the user's file has precedence over all; it is an error if it cannot be read */
	opts.kallsyms_path = "/nonexistent";
	assert_int_equal(kernel_symbols_open(&k, &opts, path_used), -ENOENT);

	snprintf(path, sizeof(path), "rm -r '%s'", dir);
	assert_int_equal(system(path), 0);
}

TEST(kernel_symbols_without_build_id)
{
	struct kernel_symbols_options opts = {
		.rules = &default_rules,
		.buildid_dir = "/nonexistent",
	};
	struct kallsyms *k;

	assert_int_equal(kernel_symbols_open(&k, &opts, path_used), 0);
	assert_null(k);
	assert_non_null(strstr(err_text(), "build id"));
}

/* Any ELF file can be the kernel here: this program is. */
TEST(kernel_symbols_by_file)
{
	static const uint8_t other[20] = { 1, 2, 3 };
	char self[PATH_MAX] = { 0 };
	struct kernel_symbols_options opts = {
		.rules = &default_rules,
		.buildid_dir = "/nonexistent",
		.vmlinux_path = self,
		.ref_symbol = "main",
		.ref_addr = 0xffffffff81000000,
	};
	const struct kernel_symbol *sym;
	struct kallsyms *k;

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	assert_int_equal(kernel_symbols_open(&k, &opts, path_used), 0);
	assert_non_null(k);
	assert_string_equal(path_used, self);
	sym = kallsyms_find(k, 0xffffffff81000000);
	assert_non_null(sym);
	assert_string_equal(sym->name, "main");
	kallsyms_close(k);

	opts.ref_symbol = "no_such_symbol";
	assert_true(kernel_symbols_open(&k, &opts, path_used) < 0);
	assert_non_null(strstr(err_text(), "no_such_symbol"));
	opts.ref_symbol = "main";
	opts.build_id = build_id_of(other, sizeof(other));
	assert_int_equal(kernel_symbols_open(&k, &opts, path_used), -ESTALE);
	assert_string_equal(path_used, "");
	opts.vmlinux_path = "/nonexistent";
	assert_int_equal(kernel_symbols_open(&k, &opts, path_used), -ENOENT);
}
