/* SPDX-License-Identifier: MIT */
/* Numbers for answers about frames that stay valid. */
#include "unittest.h"

#include "prelude/near.h"

static const struct sonde_frame user = { .ip = 0x401000, .cpumode = 2 };
static const struct sonde_frame kernel = { .ip = 0xffffffff81000000, .cpumode = 1 };

static struct sonde_event in_user(int32_t pid, uint64_t map_epoch)
{
	return (struct sonde_event){ .pid = pid, .tid = pid, .map_epoch = map_epoch, .cpumode = 2 };
}

static uint64_t turn_of(struct prelude_near *n, struct sonde_event ev, const struct sonde_frame *f)
{
	prelude_near_begin(n, &ev);
	return prelude_near_turn(n, &ev, f);
}

TEST(turns_last_as_long_as_task_and_mappings)
{
	struct prelude_near n = { 0 };
	const uint64_t first = turn_of(&n, in_user(7, 1), &user);

	assert_true(first);
	assert_int_equal(turn_of(&n, in_user(7, 1), &user), first);
	assert_int_not_equal(turn_of(&n, in_user(8, 1), &user), first);
	assert_int_not_equal(turn_of(&n, in_user(7, 1), &user), first);
	assert_int_not_equal(turn_of(&n, in_user(7, 2), &user), first);
	assert_int_not_equal(turn_of(&n, in_user(7, 1), &user), first);
}

TEST(turns_of_the_kernel_last_across_tasks)
{
	struct prelude_near n = { 0 };
	const uint64_t first = turn_of(&n, in_user(7, 1), &kernel);

	assert_true(first);
	assert_int_not_equal(turn_of(&n, in_user(7, 1), &user), first);
	assert_int_equal(turn_of(&n, in_user(8, 1), &kernel), first);
	assert_int_not_equal(turn_of(&n, in_user(8, 2), &kernel), first);
}

TEST(some_frames_have_no_turn)
{
	struct prelude_near n = { 0 };
	struct sonde_event ev = in_user(7, 1);
	struct sonde_frame f = user;

	ev.cpumode = 1; /* the user frames of a system call may be those before an exec */
	assert_int_equal(turn_of(&n, ev, &user), 0);
	assert_true(turn_of(&n, ev, &kernel));
	f.flags = SONDE_FRAME_INLINED;
	assert_int_equal(turn_of(&n, in_user(7, 1), &f), 0);
	f = (struct sonde_frame){ .ip = 1, .cpumode = 5 };
	assert_int_equal(turn_of(&n, in_user(7, 1), &f), 0);
	assert_int_equal(turn_of(&n, in_user(7, 0), &user), 0);
}
