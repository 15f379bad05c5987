// SPDX-License-Identifier: MIT
/*
 * A program without a library, so that its recordings can be read anywhere: two processes that go down to leaf() on two ways.
 *
 *     gcc -O1 -fno-omit-frame-pointer -nostdlib -static -no-pie -Wl,--build-id=sha1 -Wl,-z,noseparate-code -o work work.c && strip -g work
 */

static long call(long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return ret;
}

__attribute__((noipa)) long leaf(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		__asm__ volatile("add %1, %0" : "+r"(sum) : "r"(i), "r"(__builtin_frame_address(0)));
	return sum;
}

__attribute__((noipa)) long often(long n)
{
	long sum = 0;

	for (int i = 0; i < 3; i++)
		sum += leaf(n) + 1;
	return sum;
}

__attribute__((noipa)) long seldom(long n)
{
	return leaf(n) + 1;
}

__attribute__((noipa)) long body(void)
{
	long sum = 0;

	for (int i = 0; i < 10; i++)
		sum += often(1000000) + seldom(1000000);
	return sum;
}

__attribute__((force_align_arg_pointer)) void _start(void)
{
	long child = call(57, 0, 0, 0); // fork

	body();
	if (child > 0)
		call(61, child, 0, 0); // wait4
	call(60, 0, 0, 0);             // exit
}
