/* SPDX-License-Identifier: MIT */
/* Unwinding: this program's own stack as in a sample, misleading stacks, expressions, registers. */
#include "unittest.h"

#include <dwarf.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unwind/expr.h"
#include "unwind/registers.h"
#include "unwind/unwind.h"

/* ---- the mappings of this program ------------------------------------------------------------ */

static struct dso_table *table;

struct mapped {
	uint64_t start, end, offset;
	char path[256];
};

static struct mapped maps[256];
static size_t nr_maps;
static bool nothing_mapped;

static void read_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[600];

	assert_non_null(f);
	nr_maps = 0;
	while (fgets(line, sizeof(line), f) && nr_maps < 256) {
		struct mapped *m = &maps[nr_maps];
		unsigned long start, end, offset;

		m->path[0] = '\0';
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &start, &end, &offset, m->path) >=
		    3) {
			m->start = start;
			m->end = end;
			m->offset = offset;
			nr_maps++;
		}
	}
	fclose(f);
	assert_int_equal(dso_table_new(&table,
				       &(struct dso_table_options){
					       .force = true,
					       .rules = &default_rules,
				       }),
			 0);
}

static struct dso *dso_at(void *ctx, uint64_t addr, uint64_t *ret_offset)
{
	for (size_t i = 0; i < nr_maps && !nothing_mapped; i++) {
		if (addr < maps[i].start || addr >= maps[i].end || !maps[i].path[0])
			continue;
		*ret_offset = addr - maps[i].start + maps[i].offset;
		return dso_get(table, &(struct dso_key){ .name = maps[i].path });
	}
	return NULL;
}

/* ---- samples of this program ----------------------------------------------------------------- */

enum { STACK_BYTES = 16384, MAX_FRAMES = 64 };

static struct {
	uint64_t regs[24]; /* as perf orders them on x86-64 */
	uint8_t stack[STACK_BYTES];
	uint64_t stack_len;
	void *expected[MAX_FRAMES]; /* as by libgcc's unwinder: return addresses, innermost first */
	int nr_expected;
} taken;

#define HERE_MASK ((UINT64_C(1) << 24) - 1)

#ifdef __x86_64__
/* Saves the registers and the stack from here up. */
static __attribute__((noinline, no_sanitize("address"))) int take(void)
{
	uint64_t *r = taken.regs;
	extern void *__libc_stack_end;
	uint64_t top = (uint64_t)__libc_stack_end;

	__asm__ volatile("mov %%rbx, 8(%0)\n\tmov %%rbp, 48(%0)\n\tmov %%rsp, 56(%0)\n\t"
			 "lea 0(%%rip), %%rax\n\tmov %%rax, 64(%0)\n\t"
			 "mov %%r12, 160(%0)\n\tmov %%r13, 168(%0)\n\tmov %%r14, 176(%0)\n\tmov "
			 "%%r15, 184(%0)"
			 :
			 : "r"(r)
			 : "rax", "memory");
	taken.stack_len = top > r[7] && top - r[7] < STACK_BYTES ? top - r[7] : STACK_BYTES;
	/* Sanitizers would refuse memcpy(): the bytes are also those of other functions. */
	for (uint64_t i = 0; i < taken.stack_len; i++)
		((volatile uint8_t *)taken.stack)[i] = ((volatile uint8_t *)r[7])[i];
	taken.nr_expected = backtrace(taken.expected, MAX_FRAMES);
	return taken.nr_expected;
}

/* Frames of different shapes: small, large, of a variable size. */
static __attribute__((noinline)) int small(int n)
{
	return take() + n;
}

static __attribute__((noinline)) int large(int n)
{
	volatile char room[3000];

	room[n] = 1;
	return small(n) + room[n];
}

static __attribute__((noinline)) int growing(int n)
{
	volatile char *room = __builtin_alloca((size_t)n * 16 + 64);

	room[n] = 2;
	return large(n) + room[n];
}

static void in_handler(int signo)
{
	(void)signo;
	small(3);
}
#endif

static struct unwind_input input(void)
{
	return (struct unwind_input){
		.arch = unwind_arch_of("x86_64", PERF_SAMPLE_REGS_ABI_64),
		.regs_mask = HERE_MASK,
		.regs = taken.regs,
		.stack = taken.stack,
		.stack_len = taken.stack_len,
		.dso_at = dso_at,
	};
}

static struct unwind_result walk(enum sonde_compat compat, size_t max, uint64_t *ips)
{
	struct unwind_input in = input();
	struct unwind_result w;
	struct unwinder *u;

	assert_int_equal(unwind_new(&u, rules_of(compat)), 0);
	assert_int_equal(unwind_walk(u, &in, max, &w), 0);
	assert_true(w.nr <= max);
	memcpy(ips, w.ips, w.nr * sizeof(*ips));
	w.ips = ips;
	unwind_free(u);
	return w;
}

/* A sample of this program in frames of each shape. */
static void take_growing(void)
{
#ifdef __x86_64__
	read_maps();
	growing(20);
#else
	SKIP("made for x86-64");
#endif
}

#ifdef __SANITIZE_ADDRESS__
#define SKIP_UNLESS_PLAIN() SKIP("sanitizers make the stack larger than a sample's")
#else
#define SKIP_UNLESS_PLAIN() (void)0
#endif

/* Each caller that libgcc finds must be in the result, with the address of its call. */
static void assert_as_expected(const struct unwind_result *w)
{
	assert_true(taken.nr_expected > 5);
	assert_true(w->nr >= (size_t)taken.nr_expected);
	for (int i = 1; i < taken.nr_expected; i++)
		assert_int_equal(w->ips[i], (uint64_t)taken.expected[i] - 1);
}

TEST(own_stack)
{
	uint64_t ips[MAX_FRAMES];
	struct unwind_result w;

	SKIP_UNLESS_PLAIN();
	take_growing();
	w = walk(SONDE_COMPAT_NONE, MAX_FRAMES, ips);
	assert_as_expected(&w);
	assert_int_equal(w.end, UNWIND_OUTERMOST);
	assert_int_equal(w.ips[0], taken.regs[8]);
	w = walk(SONDE_COMPAT_NONE, 3, ips);
	assert_int_equal(w.nr, 3);
	assert_int_equal(w.end, UNWIND_FULL);
	dso_table_free(table);
}

TEST(interrupted_function)
{
#ifdef __x86_64__
	uint64_t ips[MAX_FRAMES];
	struct unwind_result w;

	SKIP_UNLESS_PLAIN();
	read_maps();
	signal(SIGUSR1, in_handler);
	raise(SIGUSR1);
	w = walk(SONDE_COMPAT_NONE, MAX_FRAMES, ips);
	assert_int_equal(w.end, UNWIND_OUTERMOST);
	/*
	 * libgcc also gives the trampoline and the interrupted instruction as return addresses.
	 * They are not calls.
	 */
	for (int i = 1, exact = 0; i < taken.nr_expected; i++) {
		uint64_t ip = (uint64_t)taken.expected[i];

		exact += w.ips[i] == ip;
		assert_true(w.ips[i] == ip || w.ips[i] == ip - 1);
		if (i == taken.nr_expected - 1)
			assert_int_equal(exact, 2);
	}
	dso_table_free(table);
#else
	SKIP("made for x86-64");
#endif
}

TEST(recorded_stack_ends)
{
	uint64_t ips[MAX_FRAMES];
	struct unwind_result w;

	take_growing();
	taken.stack_len = 3200; /* in the frame of large() */
	w = walk(SONDE_COMPAT_NONE, MAX_FRAMES, ips);
	assert_int_equal(w.end, UNWIND_NO_STACK);
	assert_in_range(w.nr, 3, 5);
	taken.stack_len = 0;
	w = walk(SONDE_COMPAT_NONE, MAX_FRAMES, ips);
	assert_int_equal(w.nr, 1);
	dso_table_free(table);
}

/* The recorded stack ends with a word that is a return address. perf never reads the last word. */
TEST(last_word_of_the_recorded_stack)
{
	uint64_t ips[MAX_FRAMES], at, word = 0;
	struct unwind_result w;

	SKIP_UNLESS_PLAIN();
	take_growing();
	for (at = 0; at + 8 <= taken.stack_len; at += 8) {
		memcpy(&word, taken.stack + at, sizeof(word));
		if (word == (uint64_t)taken.expected[1])
			break;
	}
	assert_int_equal(word, (uint64_t)taken.expected[1]);
	taken.stack_len = at + 8;
	w = walk(SONDE_COMPAT_NONE, MAX_FRAMES, ips);
	assert_int_equal(w.nr, 2);
	assert_int_equal(w.ips[1], word - 1);
	w = walk(SONDE_COMPAT_PERF_6_1, MAX_FRAMES, ips);
	assert_true(w.nr == 1 || w.ips[1] != word - 1);
	taken.stack_len = at + 16;
	w = walk(SONDE_COMPAT_PERF_6_1, MAX_FRAMES, ips);
	assert_true(w.nr >= 2);
	assert_int_equal(w.ips[1], word - 1);
	taken.stack_len = at + 7;
	w = walk(SONDE_COMPAT_NONE, MAX_FRAMES, ips);
	assert_int_equal(w.nr, 1);
	dso_table_free(table);
}

#ifdef __x86_64__
/*
 * Never called. It is like a leaf function of arm64: the return address is in a register, and its
 * CFA is that of the caller.
 */
extern const char leaf_without_frame[];
__asm__(".text\n"
	"leaf_without_frame:\n"
	".cfi_startproc\n"
	".cfi_def_cfa rsp, 0\n"
	".cfi_register rip, r11\n"
	".cfi_val_offset rsp, 0\n"
	"nop\nnop\nret\n"
	".cfi_endproc\n");
#else
static const char leaf_without_frame[1];
#endif

TEST(a_caller_with_the_same_cfa_at_another_place)
{
	uint64_t ips[MAX_FRAMES], plain[MAX_FRAMES];
	struct unwind_result w, of_caller;

	SKIP_UNLESS_PLAIN();
	take_growing();
	of_caller = walk(SONDE_COMPAT_NONE, MAX_FRAMES, plain);
	taken.regs[19] = taken.regs[8]; /* r11, where the leaf returns to */
	taken.regs[8] = (uint64_t)leaf_without_frame + 1;
	for (int compat = 0; compat <= SONDE_COMPAT_PERF_6_12; compat++) {
		w = walk(compat, MAX_FRAMES, ips);
		assert_true(w.nr > 2);
		assert_int_equal(w.ips[0], (uint64_t)leaf_without_frame + 1);
		assert_int_equal(w.ips[1], plain[0] - 1);
		assert_int_equal(w.ips[2], plain[1]);
	}
	w = walk(SONDE_COMPAT_NONE, MAX_FRAMES, ips);
	assert_int_equal(w.nr, of_caller.nr + 1);
	/* The same place again does not count as a caller. */
	taken.regs[19] = (uint64_t)leaf_without_frame + 1;
	for (int compat = 0; compat <= SONDE_COMPAT_PERF_6_12; compat++) {
		w = walk(compat, MAX_FRAMES, ips);
		assert_int_equal(w.nr, 1);
		assert_int_equal(w.end, UNWIND_BROKEN);
	}
	dso_table_free(table);
}

/* A walk ends soon and reads only its input, whatever the bytes are. */
TEST(misleading_stacks)
{
	uint64_t ips[4096];
	struct unwind_result w;

	take_growing();
	for (int compat = 0; compat <= SONDE_COMPAT_PERF_6_12; compat++) {
		memset(taken.stack, 0, sizeof(taken.stack));
		w = walk(compat, 4096, ips);
		assert_true(w.nr >= 1 && w.nr < 8);
		memset(taken.stack, 0xff, sizeof(taken.stack));
		w = walk(compat, 4096, ips);
		assert_true(w.nr >= 1 && w.nr < 8);
		/* Every word is a return address in the same function. */
		for (size_t i = 0; i < STACK_BYTES / 8; i++)
			memcpy(taken.stack + 8 * i, &taken.expected[2], 8);
		w = walk(compat, 4096, ips);
		assert_true(w.nr <= 4096);
		srand(1);
		for (int round = 0; round < 200; round++) {
			for (size_t i = 0; i < STACK_BYTES / 8; i++) {
				uint64_t v = (uint64_t)taken.expected[rand() % taken.nr_expected] +
					     (uint64_t)(rand() % 64);

				if (rand() % 3)
					v = taken.regs[7] + (uint64_t)(rand() % STACK_BYTES);
				memcpy(taken.stack + 8 * i, &v, 8);
			}
			for (int i = 0; i < 24; i++) {
				if (i != 7 && i != 8)
					taken.regs[i] =
						rand() % 2 ? 0 : UINT64_MAX - (uint64_t)rand();
			}
			taken.regs[6] = taken.regs[7] + (uint64_t)(rand() % STACK_BYTES);
			w = walk(compat, 4096, ips);
			assert_true(w.nr >= 1 && w.nr <= 4096);
		}
	}
	taken.regs[7] = UINT64_MAX - 16; /* a stack that wraps around */
	walk(SONDE_COMPAT_NONE, 4096, ips);
	taken.regs[8] = 0x1234;
	w = walk(SONDE_COMPAT_NONE, 4096, ips);
	assert_int_equal(w.nr, 1);
	assert_int_equal(w.end, UNWIND_NO_MAP);
	dso_table_free(table);
}

TEST(missing_registers)
{
	uint64_t regs[2] = { 0x1000, 0x2000 };
	struct unwind_input in = {
		.arch = unwind_arch_of("x86_64", PERF_SAMPLE_REGS_ABI_64),
		.regs = regs,
		.regs_mask = 1u << 7,
		.dso_at = dso_at,
	};
	struct unwind_result w;
	struct unwinder *u;

	assert_int_equal(unwind_new(&u, &default_rules), 0);
	assert_int_equal(unwind_walk(u, &in, 10, &w), 0);
	assert_int_equal(w.nr, 0);
	assert_int_equal(w.end, UNWIND_BROKEN);
	in.regs_mask = 1u << 7 | 1u << 8;
	nothing_mapped = true;
	assert_int_equal(unwind_walk(u, &in, 10, &w), 0);
	nothing_mapped = false;
	assert_int_equal(w.nr, 1);
	assert_int_equal(w.ips[0], 0x2000);
	assert_int_equal(w.end, UNWIND_NO_MAP);
	unwind_free(u);
}

TEST(register_numbers)
{
	const struct unwind_arch *a;

	a = unwind_arch_of("x86_64", PERF_SAMPLE_REGS_ABI_64);
	assert_int_equal(a->machine, EM_X86_64);
	assert_int_equal(a->dwarf_to_perf[1], 3);   /* rdx */
	assert_int_equal(a->dwarf_to_perf[12], 20); /* r12 */
	a = unwind_arch_of("x86_64", PERF_SAMPLE_REGS_ABI_32);
	assert_int_equal(a->machine, EM_386);
	assert_int_equal(a->dwarf_to_perf[5], 6); /* ebp */
	assert_int_equal(a->word_bytes, 4);
	a = unwind_arch_of("aarch64", PERF_SAMPLE_REGS_ABI_64);
	assert_int_equal(a->machine, EM_AARCH64);
	assert_int_equal(a->sp, 31);
	assert_int_equal(a->perf_pc, 32);
	assert_int_equal(unwind_arch_of("armv7l", PERF_SAMPLE_REGS_ABI_32)->machine, EM_ARM);
	assert_int_equal(unwind_arch_of("i686", PERF_SAMPLE_REGS_ABI_32)->machine, EM_386);
	assert_null(unwind_arch_of("i686", PERF_SAMPLE_REGS_ABI_64));
	assert_null(unwind_arch_of("vax", PERF_SAMPLE_REGS_ABI_64));
	assert_null(unwind_arch_of(NULL, PERF_SAMPLE_REGS_ABI_64));
	assert_null(unwind_arch_of("x86_64", PERF_SAMPLE_REGS_ABI_NONE));
}

/* ---- expressions ----------------------------------------------------------------------------- */

static bool any_register(void *ctx, uint64_t reg, uint64_t *ret)
{
	*ret = 0x100 * reg;
	return reg < 8;
}

static bool any_memory(void *ctx, uint64_t addr, unsigned bytes, uint64_t *ret)
{
	*ret = addr + bytes;
	return addr < 0x10000;
}

static bool run(const struct cfi_op *ops, unsigned nr, uint64_t *ret)
{
	unsigned budget = 1000;
	struct expr_machine m = {
		.reg = any_register,
		.memory = any_memory,
		.cfa = 0x7000,
		.word_bytes = 8,
		.budget = &budget,
	};

	return expr_run(ops, nr, &m, ret);
}

#define RUN(ret, ...)                               \
	run((const struct cfi_op[]){ __VA_ARGS__ }, \
	    sizeof((const struct cfi_op[]){ __VA_ARGS__ }) / sizeof(struct cfi_op), ret)
#define OP(name)                     \
	{                            \
		.atom = DW_OP_##name \
	}
#define OP1(name, n)                                          \
	{                                                     \
		.number = (uint64_t)(n), .atom = DW_OP_##name \
	}

TEST(expressions)
{
	uint64_t v = 0;

	/* The expression that linkers write for PLT stubs. */
	assert_true(RUN(&v, OP1(breg7, 8), OP1(breg6, 11), OP(lit15), OP(and), OP(lit11), OP(ge),
			OP(lit3), OP(shl), OP(plus)));
	assert_int_equal(v, 0x700 + 8 + 8);
	assert_true(RUN(&v, OP(call_frame_cfa), OP1(consts, -16), OP(plus), OP(deref)));
	assert_int_equal(v, 0x7000 - 16 + 8);
	assert_true(RUN(&v, OP(lit5), OP(lit3), OP(over), OP(rot), OP(minus), OP(mul)));
	assert_int_equal(v, 10);
	assert_true(RUN(&v, OP1(consts, -9), OP(lit2), OP(div), OP(abs), OP(neg)));
	assert_int_equal(v, (uint64_t)-4);
	assert_true(RUN(&v, OP(lit0), OP1(bra, 3), OP(lit7), OP(nop)));
	assert_int_equal(v, 7);
	assert_true(RUN(&v, OP1(const1u, 6), OP(dup), OP1(deref_size, 2), OP1(pick, 1), OP(swap),
			OP(drop)));
	assert_int_equal(v, 6);
}

TEST(expressions_that_lead_nowhere)
{
	uint64_t v;

	assert_false(RUN(&v, OP1(skip, 0)));                    /* for ever */
	assert_false(RUN(&v, OP(lit1), OP(dup), OP1(skip, 1))); /* ever deeper */
	assert_false(RUN(&v, OP(plus)));
	assert_false(RUN(&v, OP(lit1), OP(lit0), OP(div)));
	assert_false(RUN(&v, OP(lit1), OP(lit0), OP(mod)));
	assert_false(RUN(&v, OP(drop)));
	assert_false(RUN(&v, OP(lit1), OP1(pick, 9)));
	assert_false(RUN(&v, OP1(bregx, 99)));
	assert_false(RUN(&v, OP1(constu, 0x20000), OP(deref)));
	assert_false(RUN(&v, OP(lit1), OP1(deref_size, 99)));
	assert_false(RUN(&v, OP(push_object_address)));
	assert_false(run(NULL, 0, &v));
	assert_true(RUN(&v, OP1(const8u, INT64_MIN), OP1(consts, -1), OP(div)));
	assert_true(RUN(&v, OP(lit1), OP1(constu, 200), OP(shl)));
	assert_int_equal(v, 0);
}

/* All expressions of all frames of a walk share a budget. */
TEST(expressions_share_a_budget)
{
	const struct cfi_op ops[] = { OP(lit1), OP(nop), OP(nop) };
	unsigned budget = 8;
	struct expr_machine m = {
		.reg = any_register,
		.memory = any_memory,
		.word_bytes = 8,
		.budget = &budget,
	};
	uint64_t v;

	assert_true(expr_run(ops, 3, &m, &v));
	assert_true(expr_run(ops, 3, &m, &v));
	assert_int_equal(budget, 2);
	assert_false(expr_run(ops, 3, &m, &v));
	assert_false(expr_run(ops, 1, &m, &v));
}
