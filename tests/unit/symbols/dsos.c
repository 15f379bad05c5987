/* SPDX-License-Identifier: MIT */
/*
 * Files of user space: where they are searched, which are used, and their symbols. The test makes
 * the files.
 */
#include "unittest.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "formats/elf/file.h"
#include "symbols/dso.h"
#include "symbols/vdso.h"
#include "tree.h"

enum { TEXT_OFFSET = 0x1000, TEXT_ADDR = 0x403000, FILE_BYTES = 0x3000 };
enum { S_NULL, S_NOTE, S_TEXT, S_SYMTAB, S_STRTAB, S_NAMES, S_LINK, NR_S };

static const char section_names[] =
	"\0.note.gnu.build-id\0.text\0.symtab\0.strtab\0.shstrtab\0.gnu_debuglink";
static const uint8_t id_a[20] = { 0xab, 0xcd, 0xef, 1 }, id_b[20] = { 0x12, 0x34, 0x56, 2 };

struct elf_spec {
	const uint8_t *build_id;
	const char *symbol; /* the one function, at TEXT_ADDR + 0x10; NULL: no table */
	const char *debuglink;
	bool no_bytes; /* a file of debug information: .text is not in it */
};

static Elf64_Word name_at(const char *name)
{
	for (size_t i = 1; i < sizeof(section_names); i += strlen(section_names + i) + 1) {
		if (!strcmp(section_names + i, name))
			return (Elf64_Word)i;
	}
	return 0;
}

static uint8_t *make_elf(const struct elf_spec *spec)
{
	static const uint16_t probe = 1;
	uint8_t *f = calloc(1, FILE_BYTES);
	Elf64_Ehdr *h = (Elf64_Ehdr *)f;
	Elf64_Phdr *p = (Elf64_Phdr *)(f + 64);
	Elf64_Shdr *s = (Elf64_Shdr *)(f + 0x200);
	Elf64_Sym *sym = (Elf64_Sym *)(f + 0x2000);
	Elf64_Nhdr *note = (Elf64_Nhdr *)(f + 0x180);

	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = *(const uint8_t *)&probe ? ELFDATA2LSB : ELFDATA2MSB;
	h->e_type = ET_DYN;
	h->e_machine = EM_X86_64;
	h->e_phoff = 64;
	h->e_phentsize = sizeof(*p);
	h->e_phnum = 2;
	h->e_shoff = 0x200;
	h->e_shentsize = sizeof(*s);
	h->e_shnum = NR_S;
	h->e_shstrndx = S_NAMES;
	p[0] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R,
		.p_vaddr = 0x400000,
		.p_filesz = 0x600,
		.p_memsz = 0x600,
	};
	p[1] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = TEXT_OFFSET,
		.p_vaddr = TEXT_ADDR,
		.p_filesz = 0x800,
		.p_memsz = 0x800,
	};
	if (spec->build_id) {
		*note = (Elf64_Nhdr){ 4, 20, NT_GNU_BUILD_ID };
		memcpy(f + 0x18c, "GNU", 4);
		memcpy(f + 0x190, spec->build_id, 20);
		s[S_NOTE] = (Elf64_Shdr){
			.sh_name = name_at(".note.gnu.build-id"),
			.sh_type = SHT_NOTE,
			.sh_offset = 0x180,
			.sh_size = 36,
		};
	}
	memset(f + TEXT_OFFSET, 0x90, 0x800);
	s[S_TEXT] = (Elf64_Shdr){
		.sh_name = name_at(".text"),
		.sh_type = spec->no_bytes ? SHT_NOBITS : SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = TEXT_ADDR,
		.sh_offset = spec->no_bytes ? 0x40 : TEXT_OFFSET,
		.sh_size = 0x800,
	};
	if (spec->symbol) {
		sym[1] = (Elf64_Sym){
			.st_name = 1,
			.st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC),
			.st_shndx = S_TEXT,
			.st_value = TEXT_ADDR + 0x10,
			.st_size = 0x20,
		};
		strcpy((char *)f + 0x2101, spec->symbol);
		s[S_SYMTAB] = (Elf64_Shdr){
			.sh_name = name_at(".symtab"),
			.sh_type = SHT_SYMTAB,
			.sh_offset = 0x2000,
			.sh_size = 2 * sizeof(*sym),
			.sh_link = S_STRTAB,
			.sh_entsize = sizeof(*sym),
		};
		s[S_STRTAB] = (Elf64_Shdr){
			.sh_name = name_at(".strtab"),
			.sh_type = SHT_STRTAB,
			.sh_offset = 0x2100,
			.sh_size = 0x80,
		};
	}
	memcpy(f + 0x2200, section_names, sizeof(section_names));
	s[S_NAMES] = (Elf64_Shdr){
		.sh_name = name_at(".shstrtab"),
		.sh_type = SHT_STRTAB,
		.sh_offset = 0x2200,
		.sh_size = sizeof(section_names),
	};
	if (spec->debuglink) {
		strcpy((char *)f + 0x2300, spec->debuglink);
		s[S_LINK] = (Elf64_Shdr){
			.sh_name = name_at(".gnu_debuglink"),
			.sh_type = SHT_PROGBITS,
			.sh_offset = 0x2300,
			.sh_size = 0x40,
		};
	}
	return f;
}

/* ---- a tree of files ------------------------------------------------------------------------- */

static char dir[] = "/tmp/sonde-dsos-XXXXXX";

static void begin(void)
{
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	assert_non_null(mkdtemp(dir));
}

static void put(const char *path, struct elf_spec spec)
{
	uint8_t *elf = make_elf(&spec);

	tree_put(dir, path, elf, FILE_BYTES);
	free(elf);
}

static struct dso_table *table(enum sonde_compat compat)
{
	static char cache[128];
	struct dso_table_options opts = {
		.symfs = dir,
		.buildid_dir = cache,
		.rules = rules_of(compat),
	};
	struct dso_table *t;

	snprintf(cache, sizeof(cache), "%s/cache", dir);
	assert_int_equal(dso_table_new(&t, &opts), 0);
	return t;
}

static struct dso *get(struct dso_table *t, const char *name, const uint8_t *id)
{
	struct dso_key key = { .name = name };
	struct dso *d;

	if (id)
		key.build_id = build_id_of(id, 20);
	d = dso_get(t, &key);
	assert_non_null(d);
	assert_ptr_equal(dso_get(t, &key), d);
	return d;
}

/* Looks up the name of the only function twice; the second answer is cached. */
static void expect(struct dso *d, const char *name)
{
	for (int i = 0; i < 2; i++) {
		const struct dso_symbol *sym = dso_symbol_at(d, TEXT_OFFSET + 0x18);

		if (!name) {
			assert_null(sym);
			continue;
		}
		assert_non_null(sym);
		assert_string_equal(sym->name, name);
		assert_int_equal(sym->offset, TEXT_OFFSET + 0x10);
		assert_int_equal(sym->start, TEXT_ADDR + 0x10);
		assert_int_equal(sym->end, TEXT_ADDR + 0x30);
		assert_int_equal(sym->binding, 2);
		assert_null(dso_symbol_at(d, TEXT_OFFSET + 0xf));
		assert_null(dso_symbol_at(d, TEXT_OFFSET + 0x30));
	}
	assert_int_equal(dso_unknown_file(d) == SONDE_KNOWN, name != NULL);
}

/* Tables of two recordings number their dsos together. */
TEST(ids_of_dsos)
{
	struct dso_ids ids = { 0 };
	struct dso_table_options opts = { .ids = &ids, .rules = &default_rules };
	const struct dso_key keys[] = {
		{ .name = "/bin/x" },
		{ .name = "/bin/x", .build_id = build_id_of(id_a, 20) },
		{ .name = "/bin/x", .build_id = build_id_of(id_a, 8) },
		{ .name = "/bin/x", .inode = 5 },
		{ .name = "[kernel.kallsyms]" },
		{ .name = "[kernel.kallsyms]", .is_kernel = true },
		{ .name = "[xfs]", .is_kernel = true },
	};
	enum { NR = sizeof(keys) / sizeof(*keys) };
	struct dso_table *tables[2], *alone;

	for (int i = 0; i < 2; i++)
		assert_int_equal(dso_table_new(&tables[i], &opts), 0);
	assert_null(dso_of_id(&ids, 0));
	assert_null(dso_of_id(&ids, 1));
	for (uint32_t i = 0; i < 2 * NR; i++)
		assert_int_equal(dso_id(dso_get(tables[i % 2], &keys[i / 2])), i + 1);
	for (uint32_t i = 0; i < 2 * NR; i++) {
		const struct dso *d = dso_get(tables[i % 2], &keys[i / 2]);

		assert_int_equal(dso_id(d), i + 1);
		assert_ptr_equal(dso_of_id(&ids, i + 1), d);
	}
	assert_null(dso_of_id(&ids, 0));
	assert_null(dso_of_id(&ids, 2 * NR + 1));
	assert_null(dso_of_id(&ids, (uint64_t)1 << 32 | 1));
	assert_null(dso_of_id(&ids, UINT64_MAX));
	/* a table that shares no numbers */
	opts.ids = NULL;
	assert_int_equal(dso_table_new(&alone, &opts), 0);
	assert_int_equal(dso_id(dso_get(alone, &keys[1])), 1);
	dso_table_free(alone);
	for (int i = 0; i < 2; i++)
		dso_table_free(tables[i]);
	dso_ids_done(&ids);
}

/* A dso of the kernel has a name and an id. No file of this machine is used for it. */
TEST(dsos_of_the_kernel)
{
	struct dso_key key = { .name = "/bin/x", .is_kernel = true };
	struct dso_table *t;
	struct dso *d;
	uint8_t byte;
	size_t len;

	begin();
	put("/bin/x", (struct elf_spec){ .build_id = id_a, .symbol = "by_path" });
	t = table(SONDE_COMPAT_NONE);
	d = dso_get(t, &key);
	assert_string_equal(dso_name(d), "/bin/x");
	assert_null(dso_symbol_at(d, TEXT_OFFSET + 0x18));
	assert_null(dso_code_path(d));
	assert_null(dso_debug_path(d));
	assert_null(dso_image(d, &len));
	assert_int_equal(dso_read(d, 0, &byte, 1), 0);
	assert_int_equal(dso_file_address(d, 5), 5);
	assert_false(dso_is_file(d));
	assert_false(dso_is_here(d));
	expect(get(t, "/bin/x", NULL), "by_path");
	dso_table_free(t);
	tree_remove(dir);
}

/* Recorded with an inode and without a build id: the path must still lead to that inode. */
TEST(files_by_inode)
{
	struct dso_table_options opts = { .rules = &default_rules };
	struct dso_table *t, *perf;
	struct dso_key key;
	struct stat st;
	char path[128];

	begin();
	put("/bin/x", (struct elf_spec){ .build_id = id_a, .symbol = "by_path" });
	snprintf(path, sizeof(path), "%s/bin/x", dir);
	assert_int_equal(stat(path, &st), 0);
	key = (struct dso_key){ .name = path, .inode = (uint64_t)st.st_ino };
	assert_int_equal(dso_table_new(&t, &opts), 0);
	expect(dso_get(t, &key), "by_path");
	key.inode++;
	expect(dso_get(t, &key), NULL);
	assert_int_equal(dso_unknown(dso_get(t, &key)), SONDE_UNKNOWN_OTHER_BUILD);
	dso_table_free(t);
	opts.rules = rules_of(SONDE_COMPAT_PERF_6_1);
	assert_int_equal(dso_table_new(&perf, &opts), 0);
	expect(dso_get(perf, &key), "by_path");
	dso_table_free(perf);
}

TEST(files_by_path)
{
	struct dso_table *t;
	struct dso *d;
	char hex[BUILD_ID_HEX_CHARS];
	uint8_t bytes[4];

	begin();
	put("/bin/x", (struct elf_spec){ .build_id = id_a, .symbol = "by_path" });
	put("/bin/no-id", (struct elf_spec){ .symbol = "without_id" });
	t = table(SONDE_COMPAT_NONE);
	expect(get(t, "/bin/x", NULL), "by_path");
	d = get(t, "/bin/x", id_a);
	expect(d, "by_path");
	assert_string_equal(build_id_hex(dso_build_id(d), hex),
			    "abcdef0100000000000000000000000000000000");
	assert_int_equal(dso_file_address(d, TEXT_OFFSET + 5), TEXT_ADDR + 5);
	assert_int_equal(dso_file_address(d, 0x10), 0x400010);
	assert_non_null(dso_code_path(d));
	assert_null(dso_debug_path(d));
	assert_int_equal(dso_read(d, TEXT_OFFSET, bytes, 4), 4);
	assert_int_equal(bytes[3], 0x90);
	assert_int_equal(dso_read(d, FILE_BYTES - 2, bytes, 4), 2);
	assert_int_equal(dso_read(d, UINT64_MAX, bytes, 4), 0);
	expect(get(t, "/bin/no-id", NULL), "without_id");
	/* another build, or a file without a build id: its names are never used */
	d = get(t, "/bin/x", id_b);
	expect(d, NULL);
	assert_null(dso_code_path(d));
	assert_int_equal(dso_unknown(d), SONDE_UNKNOWN_OTHER_BUILD);
	assert_true(dso_report_unknown(d));
	assert_false(dso_report_unknown(d));
	assert_int_equal(dso_file_address(d, TEXT_OFFSET), TEXT_OFFSET);
	expect(get(t, "/bin/no-id", id_a), NULL);
	expect(get(t, "/bin/absent", NULL), NULL);
	expect(get(t, "//anon", NULL), NULL);
	expect(get(t, "/dev/null", NULL), NULL);
	assert_false(dso_is_file(get(t, "[heap]", NULL)));
	dso_table_free(t);
	tree_remove(dir);
}

TEST(files_by_build_id)
{
	static const char rest_b[] = "34560200000000000000000000000000000000";
	char path[256];
	struct dso_table *t;

	begin();
	/* the current and the old layout of the cache */
	put("/cache/.build-id/ab/cdef0100000000000000000000000000000000/elf",
	    (struct elf_spec){ .build_id = id_a, .symbol = "cached" });
	snprintf(path, sizeof(path), "/cache/.build-id/12/%.38s", rest_b);
	put(path, (struct elf_spec){ .build_id = id_b, .symbol = "old_cache" });
	t = table(SONDE_COMPAT_NONE);
	expect(get(t, "/gone/x", id_a), "cached");
	expect(get(t, "/gone/y", id_b), "old_cache");
	dso_table_free(t);

	/*
	 * a file of debug information has precedence over a stripped one; its section has no bytes
	 */
	put("/bin/stripped", (struct elf_spec){ .build_id = id_b });
	put("/usr/lib/debug/.build-id/12/34560200000000000000000000000000000000.debug",
	    (struct elf_spec){ .build_id = id_b, .symbol = "of_debug_file", .no_bytes = true });
	snprintf(path, sizeof(path), "%s/cache/.build-id/12/%.38s", dir, rest_b);
	unlink(path);
	t = table(SONDE_COMPAT_PERF_6_1);
	expect(get(t, "/bin/stripped", id_b), "of_debug_file");
	expect(get(t, "/bin/stripped", NULL), "of_debug_file"); /* its build id is read */
	dso_table_free(t);
	tree_remove(dir);
}

TEST(files_beside_the_program)
{
	struct dso_table *t;

	begin();
	put("/bin/x", (struct elf_spec){ .build_id = id_a, .debuglink = "x.dbg" });
	put("/bin/y", (struct elf_spec){ .build_id = id_a, .debuglink = "y.dbg" });
	put("/bin/z", (struct elf_spec){ .build_id = id_a, .debuglink = "../z.dbg" });
	put("/bin/x.dbg", (struct elf_spec){ .build_id = id_b, .symbol = "of_another" });
	put("/bin/.debug/x.dbg",
	    (struct elf_spec){ .build_id = id_a, .symbol = "hidden", .no_bytes = true });
	put("/usr/lib/debug/bin/y.dbg",
	    (struct elf_spec){ .build_id = id_a, .symbol = "system", .no_bytes = true });
	put("/z.dbg", (struct elf_spec){ .build_id = id_a, .symbol = "outside" });
	t = table(SONDE_COMPAT_NONE);
	expect(get(t, "/bin/x", NULL), "hidden");
	expect(get(t, "/bin/y", id_a), "system");
	expect(get(t, "/bin/z", id_a), NULL);
	dso_table_free(t);
	tree_remove(dir);
}

TEST(the_vdso)
{
	struct dso_table *t;
	struct elf_file *f;
	struct build_id id;
	size_t len;

	if (vdso_open(&f) < 0)
		return; /* a kernel without */
	id = elf_file_build_id(f);
	elf_file_close(f);
	assert_int_equal(id.len, 20);
	begin();
	t = table(SONDE_COMPAT_NONE);
	assert_non_null(dso_image(get(t, "[vdso]", id.bytes), &len));
	assert_null(dso_image(get(t, "[vdso]", id_a), &len));
	assert_null(dso_image(get(t, "[vdso]", NULL), &len));
	dso_table_free(t);
	t = table(SONDE_COMPAT_PERF_6_1);
	assert_null(dso_image(get(t, "[vdso]", id.bytes), &len));
	assert_non_null(dso_image(get(t, "[vdso]", NULL), &len));
	dso_table_free(t);
	tree_remove(dir);
}

/* Tables that no linker writes take no more time than large valid ones. */
TEST(tables_without_measure)
{
	enum { NR_SEGMENTS = 60000, NR_NOTES = 100 };
	size_t segments = FILE_BYTES, sections = segments + NR_SEGMENTS * sizeof(Elf64_Phdr);
	size_t len = sections + NR_NOTES * sizeof(Elf64_Shdr);
	uint8_t *elf = make_elf(&(struct elf_spec){ .build_id = id_a });
	uint8_t *image = calloc(1, len);
	Elf64_Ehdr *h = (Elf64_Ehdr *)image;
	Elf64_Phdr *p = (Elf64_Phdr *)(image + segments);
	Elf64_Shdr *s = (Elf64_Shdr *)(image + sections);
	struct elf_file *f;

	assert_non_null(image);
	memcpy(image, elf, FILE_BYTES);
	for (size_t i = 0; i < NR_SEGMENTS; i++)
		p[i] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = i << 12, .p_filesz = 1 };
	for (size_t i = 1; i < NR_NOTES; i++)
		s[i] = (Elf64_Shdr){ .sh_type = SHT_NOTE, .sh_offset = 0x1c0, .sh_size = 36 };
	/* after the last one that is read */
	s[NR_NOTES - 1].sh_offset = 0x180;
	h->e_phoff = segments;
	h->e_phnum = NR_SEGMENTS;
	h->e_shoff = sections;
	h->e_shnum = NR_NOTES;
	h->e_shstrndx = 0;
	assert_int_equal(elf_file_from_memory(&f, image, len, "x"), 0);
	assert_int_equal(f->nr_segments, 1024);
	assert_non_null(elf_file_segment_at(f, 1023 << 12));
	assert_int_equal(elf_file_build_id(f).len, 0);
	elf_file_close(f);
	free(elf);
}

/* Any byte of the headers may be wrong, and the file may end anywhere. */
TEST(damaged_files)
{
	struct elf_spec spec = { .build_id = id_a, .symbol = "fine", .debuglink = "x" };
	uint8_t *elf = make_elf(&spec), *copy = malloc(FILE_BYTES);
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };

	begin();
	for (size_t at = 0; at < 0x200 + NR_S * sizeof(Elf64_Shdr); at += at < 64 ? 1 : 3) {
		struct dso_table *t;
		struct dso *d;

		memcpy(copy, elf, FILE_BYTES);
		copy[at] = values[at % sizeof(values)];
		tree_put(dir, "/x", copy, at % 7 ? FILE_BYTES : at + 40);
		t = table(SONDE_COMPAT_NONE);
		d = get(t, "/x", NULL);
		for (uint64_t off = 0; off < FILE_BYTES; off += 0x400)
			dso_symbol_at(d, off + 0x18);
		dso_file_address(d, UINT64_MAX);
		dso_debug_path(d);
		dso_table_free(t);
	}
	free(elf);
	free(copy);
	tree_remove(dir);
}

TEST(what_is_a_map_of_a_jit)
{
	static const char *const files[] = { "/tmp/perf-build/x", "/tmp/perf-12.map.so",
					     "/tmp/perf-.map", "/tmp/perf-12" };
	struct dso_table *t;

	begin();
	for (int compat = 0; compat <= SONDE_COMPAT_PERF_6_12; compat++) {
		t = table(compat);
		assert_false(dso_is_file(get(t, "/tmp/perf-12.map", NULL)));
		for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
			put(files[i], (struct elf_spec){ .symbol = "of_file" });
			assert_int_equal(dso_is_file(get(t, files[i], NULL)), !compat);
			if (!compat)
				expect(get(t, files[i], NULL), "of_file");
		}
		dso_table_free(t);
	}
	tree_remove(dir);
}

TEST(more_files_than_may_be_open)
{
	struct dso_table *t;
	uint8_t byte;

	begin();
	put("/x", (struct elf_spec){ .symbol = "same" });
	t = table(SONDE_COMPAT_NONE);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 200; i++) {
			char path[32], to[256];
			struct dso *d;

			snprintf(path, sizeof(path), "/x%d", i);
			snprintf(to, sizeof(to), "%s%s", dir, path);
			if (!round)
				assert_int_equal(symlink("x", to), 0);
			d = get(t, path, NULL);
			expect(d, "same");
			assert_int_equal(dso_read(d, TEXT_OFFSET, &byte, 1), 1);
		}
	}
	dso_table_free(t);
	tree_remove(dir);
}
