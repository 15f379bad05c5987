/* SPDX-License-Identifier: MIT */
/* Something to put a uprobe on that has an argument of every type; see README.md. */
#include <stdint.h>
#include <sys/prctl.h>

struct all {
	int8_t s8;
	uint8_t u8;
	int16_t s16;
	uint16_t u16;
	int32_t s32;
	uint32_t u32;
	int64_t s64;
	uint64_t u64;
	uint8_t bytes[8]; /* by the declaration it might be text */
	int32_t ints[4];
};

__attribute__((noinline)) void look(const struct all *a, const char *text, long n)
{
	__asm__ volatile("" : : "r"(a), "r"(text), "r"(n) : "memory");
}

int main(void)
{
	struct all a = { -1,
			 255,
			 -2,
			 65535,
			 -3,
			 0xfffffffdu,
			 -4,
			 0xfffffffffffffffbull,
			 { 0, 1, 2, 255, 254, 127, 122, 1 },
			 { -1, 2, -3, 4 } };

	look(&a, "plain", -7);
	look(&a, "tab\tand\nline", 7);
	look(&a, "euro \xe2\x82\xac", 300);
	look(&a, "esc\x1b[0m", -300);
	look(&a, "plain again", 0);
	look(&a, "", 0);
	prctl(PR_SET_NAME, "caf\xc3\xa9");
	look(&a, "e acute \xc3\xa9", 0);
	prctl(PR_SET_NAME, "caf\xe9");
	look(&a, "latin \xe9", 0);
	return 0;
}
