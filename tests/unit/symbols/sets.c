/* SPDX-License-Identifier: MIT */
/* Tables of symbols: order, ends, duplicates, overlaps, perf's tree; maps of JITs; demangling. */
#include "unittest.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/outbuf.h"
#include "symbols/demangle.h"
#include "symbols/perf_map.h"
#include "symbols/symbol_set.h"
#include "symbols/symbol_tree.h"

static void add(struct symbol_set *s, uint64_t start, uint64_t size, const char *name,
		uint8_t binding)
{
	struct set_symbol sym = {
		.start = start,
		.end = start + size,
		.raw = name,
		.binding = binding,
	};

	assert_int_equal(symbol_set_add(s, &sym), 0);
}

static void expect(struct symbol_set *s, uint64_t offset, const char *name)
{
	struct set_symbol *sym = symbol_set_find(s, offset);

	if (!name) {
		assert_null(sym);
		return;
	}
	assert_non_null(sym);
	assert_string_equal(symbol_set_name(s, sym), name);
}

enum { LOCAL, GLOBAL, WEAK };

TEST(one_symbol_at_an_address)
{
	struct symbol_set s;

	symbol_set_init(&s, DEMANGLE_NONE, false);
	add(&s, 0x700, 8, "_short", GLOBAL);
	add(&s, 0x700, 8, "longer", GLOBAL);
	add(&s, 0x100, 0, "no_size", GLOBAL);
	add(&s, 0x100, 4, "with_size", LOCAL);
	add(&s, 0x200, 4, "weak", WEAK);
	add(&s, 0x200, 4, "local", LOCAL);
	add(&s, 0x300, 4, "local_long", LOCAL);
	add(&s, 0x300, 4, "global", GLOBAL);
	add(&s, 0x400, 4, "__two", GLOBAL);
	add(&s, 0x400, 4, "_one", GLOBAL);
	add(&s, 0x500, 4, "short", GLOBAL);
	add(&s, 0x500, 4, "longest", GLOBAL);
	add(&s, 0x600, 4, "SyS_first", GLOBAL);
	add(&s, 0x600, 4, "other_one", GLOBAL);
	assert_int_equal(symbol_set_settle(&s, true), 0);
	assert_int_equal(symbol_set_finish(&s), 0);
	assert_int_equal(s.syms.n, 7);
	expect(&s, 0x100, "with_size");
	expect(&s, 0x103, "with_size");
	expect(&s, 0x104, NULL);
	expect(&s, 0x200, "local");
	expect(&s, 0x300, "global");
	expect(&s, 0x400, "_one");
	expect(&s, 0x500, "longest");
	expect(&s, 0x600, "other_one");
	expect(&s, 0x700, "longer");
	expect(&s, 0, NULL);
	expect(&s, UINT64_MAX, NULL);
	symbol_set_done(&s);
}

TEST(ends_of_symbols_without_size)
{
	struct symbol_set s;

	symbol_set_init(&s, DEMANGLE_NONE, false);
	add(&s, 0x100, 0, "a", GLOBAL);
	add(&s, 0x180, 0x10, "b", GLOBAL);
	add(&s, 0x1200, 0, "last", GLOBAL);
	assert_int_equal(symbol_set_settle(&s, true), 0);
	/* symbols of a second table do not change the ends of those of the first */
	add(&s, 0x2800, 0, "second", GLOBAL);
	assert_int_equal(symbol_set_settle(&s, true), 0);
	assert_int_equal(symbol_set_finish(&s), 0);
	expect(&s, 0x17f, "a");
	expect(&s, 0x18f, "b");
	expect(&s, 0x190, NULL);
	expect(&s, 0x27ff, "last"); /* rounded up to a page, plus one page */
	expect(&s, 0x2800, "second");
	expect(&s, 0x3fff, "second");
	expect(&s, 0x4000, NULL);
	symbol_set_done(&s);
}

TEST(names_that_grow)
{
	/* a mangled name of 138 bytes; demangled it has tens of thousands */
	static const char name[] =
		"_Z1fI1PI1x1xES0_IS3_S3_ES0_IS4_S4_ES0_IS5_S5_ES0_IS6_S6_ES0_IS7_S7_ES0_IS8_S8_"
		"ES0_IS9_S9_ES0_ISA_SA_ES0_ISB_SB_ES0_ISC_SC_ES0_ISD_SD_EEv";
	enum { N = 6000 };
	static char copies[N][sizeof(name)];
	struct outbuf shown = { 0 };
	struct symbol_set s;
	size_t before;

	if (!demangle(name, DEMANGLE_SHORT, &shown))
		SKIP("this build does not demangle");
	assert_true(shown.len > 20000);

	/* names that are only compared are not kept */
	symbol_set_init(&s, DEMANGLE_SHORT, false);
	for (int i = 0; i < N; i++)
		add(&s, 0x1000, 16, name, GLOBAL);
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	assert_int_equal(symbol_set_settle(&s, true), 0);
	assert_int_equal(symbol_set_finish(&s), 0);
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd < before + (8u << 20));
	assert_int_equal(symbol_set_find(&s, 0x1000)->seq, 0);
	assert_int_equal(strlen(symbol_set_name(&s, symbol_set_find(&s, 0x1000))), shown.len);
	symbol_set_done(&s);

	/* a name is demangled once */
	symbol_set_init(&s, DEMANGLE_SHORT, false);
	for (int i = 0; i < N; i++) {
		memcpy(copies[i], name, sizeof(name));
		add(&s, 0x1000 + 16 * (uint64_t)i, 16, i < 2 ? name : copies[i], GLOBAL);
	}
	assert_int_equal(symbol_set_settle(&s, true), 0);
	assert_int_equal(symbol_set_finish(&s), 0);
	assert_ptr_equal(symbol_set_name(&s, symbol_set_find(&s, 0x1000)),
			 symbol_set_name(&s, symbol_set_find(&s, 0x1010)));
	for (uint64_t i = 0; i < N; i++)
		symbol_set_name(&s, symbol_set_find(&s, 0x1000 + 16 * i));
	assert_string_equal(symbol_set_name(&s, symbol_set_find(&s, 0x1000 + 16 * (N - 1))), name);
	symbol_set_done(&s);
	outbuf_done(&shown);
}

/* A function contains another one; a function overlaps the next one. */
static void add_overlapping(struct symbol_set *s)
{
	add(s, 0x100, 0x100, "outer", GLOBAL);
	add(s, 0x140, 0x20, "inner", GLOBAL);
	add(s, 0x150, 0x80, "crossing", GLOBAL);
	add(s, 0x1f0, 0x40, "behind", GLOBAL);
	assert_int_equal(symbol_set_settle(s, true), 0);
	assert_int_equal(symbol_set_finish(s), 0);
}

TEST(the_innermost_of_overlapping_ones)
{
	struct symbol_set s;

	symbol_set_init(&s, DEMANGLE_NONE, false);
	add_overlapping(&s);
	expect(&s, 0x13f, "outer");
	expect(&s, 0x140, "inner");
	expect(&s, 0x150, "crossing");
	expect(&s, 0x165, "crossing");
	expect(&s, 0x1d0, "outer");
	expect(&s, 0x1f0, "behind");
	expect(&s, 0x210, "behind");
	expect(&s, 0x230, NULL);
	symbol_set_done(&s);

	/* perf: the first one in its tree */
	symbol_set_init(&s, DEMANGLE_NONE, true);
	add_overlapping(&s);
	assert_non_null(s.tree);
	expect(&s, 0x140, "inner");
	expect(&s, 0x150, "inner"); /* the root */
	expect(&s, 0x170, "crossing");
	expect(&s, 0x1f8, "behind");
	symbol_set_done(&s);
}

/* After any insertions and removals, the symbols in the tree are found, and no others. */
TEST(a_tree_of_many)
{
	enum { N = 2000 };
	static bool in[N];
	struct symbol_tree *t;
	uint32_t seed = 1;

	memset(in, 0, sizeof(in));
	assert_int_equal(symbol_tree_new(&t, N), 0);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t n = i * 1237 % N;

		symbol_tree_insert(t, n, n * 16, n * 16 + 8);
		in[n] = true;
	}
	for (int i = 0; i < N / 2; i++) {
		uint32_t n;

		do {
			seed = seed * 1103515245 + 12345;
			n = seed / 65536 % N;
		} while (!in[n]);
		symbol_tree_remove(t, n);
		in[n] = false;
		if (i % 100)
			continue;
		for (uint32_t k = 0; k < N; k++) {
			assert_int_equal(symbol_tree_find(t, k * 16 + 7), in[k] ? k : UINT32_MAX);
			assert_int_equal(symbol_tree_find(t, k * 16 + 8), UINT32_MAX);
		}
	}
	symbol_tree_free(t);
}

/* ---- maps of JITs ---------------------------------------------------------------------------- */

static void parse(struct symbol_set *s, bool as_perf, const char *text)
{
	char *copy = strdup(text);

	symbol_set_init(s, DEMANGLE_NONE, as_perf);
	assert_int_equal(symbol_set_keep(s, copy), 0);
	assert_int_equal(perf_map_parse(s, copy, strlen(text)), 0);
	assert_int_equal(symbol_set_finish(s), 0);
}

TEST(maps_of_jits)
{
	static const char map[] =
		"1000 40 old function\n1000 20 new\n10 1 f\nnonsense\n\n2000 10\n"
		"3000 ffffffffffffffff endless\n1010 8 newest(int, char)\n4000 10 cut";
	struct symbol_set s;

	/* the last definition is valid */
	parse(&s, false, map);
	expect(&s, 0x1000, "new");
	expect(&s, 0x1010, "newest(int, char)");
	expect(&s, 0x1018, "new");
	expect(&s, 0x1020, "old function");
	expect(&s, 0x1040, NULL);
	expect(&s, 0x10, "f");
	expect(&s, 0x2000, NULL);
	expect(&s, 0x4000, "cut");
	expect(&s, 0x4010, "endless");
	symbol_set_done(&s);

	/* perf requires names of three characters, each followed by a newline */
	parse(&s, true, map);
	expect(&s, 0x10, NULL);
	expect(&s, 0x4000, NULL);
	symbol_set_done(&s);
}

/* A table that was not read completely gives no names, because its symbols are not sorted. */
TEST(symbols_that_were_not_settled)
{
	struct symbol_set s;

	for (int as_perf = 0; as_perf < 2; as_perf++) {
		symbol_set_init(&s, DEMANGLE_NONE, as_perf);
		add(&s, 0x1000, 0x10, "one", GLOBAL);
		add(&s, 0x2000, 0x10, "two", GLOBAL);
		assert_int_equal(symbol_set_settle(&s, true), 0);
		add(&s, 0x1800, 0x10, "late", GLOBAL);
		add(&s, 0x800, 0x1000, "early", GLOBAL);
		assert_int_equal(symbol_set_finish(&s), 0);
		expect(&s, 0x1008, "one");
		expect(&s, 0x2008, "two");
		expect(&s, 0x1808, NULL);
		expect(&s, 0x900, NULL);
		symbol_set_done(&s);
	}
}

TEST(maps_too_large)
{
	char path[] = "/tmp/sonde-map-XXXXXX";
	int fd = mkstemp(path);
	struct symbol_set s;
	uint64_t left = UINT64_MAX;

	assert_true(fd >= 0);
	symbol_set_init(&s, DEMANGLE_NONE, false);
	if (ftruncate(fd, (off_t)PERF_MAP_MAX_BYTES + 1) == 0)
		assert_int_equal(perf_map_add(&s, path, true, &left), -EFBIG);
	assert_int_equal(left, UINT64_MAX);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(write(fd, "1000 40 one\n", 12), 12);
	left = 30;
	assert_int_equal(perf_map_add(&s, path, true, &left), 0);
	assert_int_equal(perf_map_add(&s, path, true, &left), 0);
	assert_int_equal(perf_map_add(&s, path, true, &left), -EFBIG);
	assert_int_equal(left, 6);
	symbol_set_done(&s);
	close(fd);
	unlink(path);
}

TEST(whose_map_is_read)
{
	char path[] = "/tmp/sonde-map-XXXXXX", other[64];
	int fd = mkstemp(path);
	struct symbol_set s;
	uint64_t left = UINT64_MAX;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "1000 40 one\n", 12), 12);
	close(fd);
	symbol_set_init(&s, DEMANGLE_NONE, false);
	assert_int_equal(perf_map_add(&s, path, false, &left), 0);
	assert_int_equal(symbol_set_finish(&s), 0);
	expect(&s, 0x1000, "one");
	symbol_set_done(&s);

	symbol_set_init(&s, DEMANGLE_NONE, false);
	snprintf(other, sizeof(other), "%s.link", path);
	assert_int_equal(symlink(path, other), 0);
	assert_true(perf_map_add(&s, other, true, &left) < 0);
	assert_int_equal(perf_map_add(&s, "/nonexistent", false, &left), -ENOENT);
	assert_int_equal(perf_map_add(&s, "/tmp", false, &left), -EINVAL);
	if (!geteuid()) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		assert_int_equal(perf_map_add(&s, path, false, &left), -EPERM);
		assert_non_null(strstr(err_text(), "another user"));
		assert_int_equal(perf_map_add(&s, path, true, &left), 0);
	}
	symbol_set_done(&s);
	unlink(other);
	unlink(path);
}

/* ---- demangling ------------------------------------------------------------------------------ */

static void demangles(const char *name, enum demangle_style style, const char *want)
{
	struct outbuf out = { 0 };

	outbuf_str(&out, "<");
	assert_int_equal(demangle(name, style, &out), want != NULL);
	outbuf_char(&out, '\0');
	assert_string_equal(out.data + 1, want ? want : "");
	outbuf_done(&out);
}

TEST(demangling)
{
#ifdef HAVE_LIBIBERTY
	static const char cpp[] = "_ZNK2ns1SIlE4workEll", clone[] = "_ZL6helperv.part.0",
			  old[] = "_ZN1r5inner10S$LT$T$GT$4work17h0123456789abcdefE",
			  old2[] = "_ZN4core3ptr13drop_in_place17h708a744e146f6520E",
			  v0[] = "_RNvCs6GmmlP4bgsG_1r4main";

	demangles(cpp, DEMANGLE_SHORT, "ns::S<long>::work");
	demangles(cpp, DEMANGLE_LONG, "ns::S<long>::work(long, long) const");
	demangles(cpp, DEMANGLE_NONE, NULL);
	demangles(clone, DEMANGLE_SHORT, "helper");
	demangles(clone, DEMANGLE_LONG, "helper() [clone .part.0]");
	demangles(old, DEMANGLE_SHORT, "r::inner::S<T>::work");
	demangles(old2, DEMANGLE_LONG, "core::ptr::drop_in_place");
	/* all sixteen digits, which do not occur by chance */
	demangles(old, DEMANGLE_LONG, "r::inner::S$LT$T$GT$::work::h0123456789abcdef");
	demangles(v0, DEMANGLE_SHORT, "r::main");
	demangles(v0, DEMANGLE_LONG, NULL);
	demangles("Py", DEMANGLE_SHORT, NULL);
	demangles("Py", DEMANGLE_LONG, "unsigned long long*");
	demangles("_Zebra", DEMANGLE_SHORT, NULL);
	demangles("_", DEMANGLE_SHORT, NULL);
	demangles("", DEMANGLE_LONG, NULL);
#else
	demangles("_ZN1a1bEv", DEMANGLE_SHORT, NULL);
#endif
}

#ifdef HAVE_LIBIBERTY
/* A mangled name of some hundred bytes whose demangled name would have gigabytes. */
TEST(names_that_explode)
{
	struct outbuf name = { 0 }, out = { 0 };

	outbuf_str(&name, "_Z1fI1aE");
	for (int i = 0; i < 60; i++)
		outbuf_fmt(&name, "I%s%sE", i ? "S_" : "T_", i ? "S0_" : "T_");
	outbuf_str(&name, "vv");
	outbuf_char(&name, '\0');
	demangle(name.data, DEMANGLE_LONG, &out);
	assert_true(out.len <= 65536);
	name.len = 0;
	outbuf_str(&name, "_Z1f");
	for (int i = 0; i < 40; i++)
		outbuf_fmt(&name, "PF%s%sE", i ? "S1_" : "vi", i ? "S1_" : "i");
	outbuf_char(&name, '\0');
	out.len = 0;
	demangle(name.data, DEMANGLE_LONG, &out);
	assert_true(out.len <= 65536);
	outbuf_done(&name);
	outbuf_done(&out);
}
#endif
