/* SPDX-License-Identifier: MIT */
/*
 * A workload with many different call chains: bench-stacks LOOPS. Sixteen functions call one
 * another by the digits of a number that changes with every loop, 4 to 35 calls deep; some of the
 * innermost ones make a system call.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int zero;

static uint64_t (*const functions[16])(uint64_t path, unsigned depth);

static uint64_t innermost(uint64_t x)
{
	char block[4096];

	if (x % 8 == 0 && read(zero, block, sizeof(block)) > 0)
		return (uint64_t)block[x % sizeof(block)];
	for (int i = 0; i < 200; i++)
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return x;
}

/* Not tail calls: work is left after each. */
#define FUNCTION(n)                                                                            \
	static __attribute__((noinline)) uint64_t step_##n(uint64_t path, unsigned depth)      \
	{                                                                                      \
		uint64_t x = depth ? functions[path % 16](path / 16 + (path << 60), depth - 1) \
				   : innermost(path);                                          \
		return x + n;                                                                  \
	}

/* clang-format off */
FUNCTION(0) FUNCTION(1) FUNCTION(2) FUNCTION(3)
FUNCTION(4) FUNCTION(5) FUNCTION(6) FUNCTION(7)
FUNCTION(8) FUNCTION(9) FUNCTION(10) FUNCTION(11)
FUNCTION(12) FUNCTION(13) FUNCTION(14) FUNCTION(15)

static uint64_t (*const functions[16])(uint64_t path, unsigned depth) = {
	step_0, step_1, step_2, step_3, step_4, step_5, step_6, step_7,
	step_8, step_9, step_10, step_11, step_12, step_13, step_14, step_15,
};
/* clang-format on */

int main(int argc, char **argv)
{
	uint64_t loops = argc == 2 ? strtoull(argv[1], NULL, 10) : 0, path = 1, sum = 0;

	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (!loops || zero < 0) {
		fprintf(stderr, "usage: bench-stacks LOOPS\n");
		return 2;
	}
	while (loops--) {
		path = path * UINT64_C(2862933555777941757) + 3037000493u;
		sum += functions[path >> 60](path >> 8, 4 + (unsigned)(path >> 32) % 32);
	}
	return sum == 1; /* keeps the compiler from dropping the computation */
}
