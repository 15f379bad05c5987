/* SPDX-License-Identifier: MIT */
/* Code whose lines and inlined functions tests know by the words in their lines. */
__attribute__((visibility("default"))) volatile int sample_numbers[8];
__attribute__((visibility("default"))) int sample_outer(int n);
__attribute__((visibility("default"))) int sample_plain(int n);

static inline __attribute__((always_inline)) int innermost(int n)
{
	return sample_numbers[n & 7] * 77; /* in innermost */
}

static inline __attribute__((always_inline)) int middle(int n)
{
	return innermost(n + 1) + 5; /* call in middle */
}

int sample_outer(int n)
{
	int sum = sample_numbers[1];

	sum += middle(n); /* call in outer */
	sample_numbers[2] = sum;
	return sum;
}

int sample_plain(int n)
{
	return n ^ sample_numbers[3]; /* in plain */
}
