/* SPDX-License-Identifier: MIT */
/*
 * Tasks and mappings: the rules of state.h one by one, and a comparison of mappings with a simple
 * model, a byte for each address.
 */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>

#include "state/state.h"

static struct strpool strings;
static struct state st;

static void begin(void)
{
	assert_int_equal(strpool_init(&strings), 0);
	assert_int_equal(state_init(&st, &strings), 0);
}

static void begin_forgetting(bool forgets)
{
	begin();
	st.exit_forgets_comm = forgets;
}

static void end(void)
{
	state_done(&st);
	strpool_done(&strings);
}

static const char *comm_of(int32_t pid, int32_t tid)
{
	uint32_t id;

	assert_int_equal(state_comm(&st, pid, tid, &id), 0);
	return strpool_text(&strings, id);
}

static void apply(struct change c)
{
	assert_int_equal(state_apply(&st, &c), 0);
}

#define COMM(p, t, name, ...)  \
	apply((struct change){ \
		.kind = CHANGE_COMM, .pid = p, .tid = t, .text = name, ##__VA_ARGS__ })
#define FORK(p, t, pp, pt, ...) \
	apply((struct change){  \
		.kind = CHANGE_FORK, .pid = p, .tid = t, .ppid = pp, .ptid = pt, ##__VA_ARGS__ })
#define EXIT(p, t) \
	apply((struct change){ .kind = CHANGE_EXIT, .pid = p, .tid = t, .ppid = 1, .ptid = 1 })
#define MMAP(p, from, n, name, ...)                 \
	apply((struct change){ .kind = CHANGE_MMAP, \
			       .pid = p,            \
			       .tid = p,            \
			       .start = from,       \
			       .len = n,            \
			       .text = name,        \
			       ##__VA_ARGS__ })

/* The name of the file mapped at an address, with the offset in it, or "". */
static const char *mapped_in(const struct address_space *space, uint64_t addr)
{
	static char text[64];
	const struct mapping *m = space ? address_space_find(space, addr) : NULL;

	text[0] = '\0';
	if (m)
		snprintf(text, sizeof(text), "%s+%llx", strpool_text(&strings, m->name),
			 (unsigned long long)(addr - m->start + m->pgoff));
	return text;
}

/* The number of mappings, after a check that they ascend. */
static size_t nr_mappings(const struct address_space *space)
{
	size_t nr = 0;

	for (const struct mapping *m = address_space_behind(space, 0), *next; m; m = next, nr++) {
		next = address_space_behind(space, m->end);
		assert_true(m->start < m->end && (!next || m->end <= next->start));
	}
	return nr;
}

static const char *mapped(int32_t pid, uint64_t addr)
{
	return mapped_in(state_space(&st, pid), addr);
}

/* Recently used names are cached in front of the table. */
TEST(names_asked_again)
{
	const int32_t other = 7 + STATE_RECENT_COMMS; /* cached in the same slot */

	begin_forgetting(true);
	COMM(7, 7, "first");
	assert_string_equal(comm_of(7, 7), "first");
	assert_string_equal(comm_of(7, 7), "first");
	COMM(7, 7, "second");
	assert_string_equal(comm_of(7, 7), "second");
	COMM(other, other, "other");
	assert_string_equal(comm_of(other, other), "other");
	assert_string_equal(comm_of(7, 7), "second");
	FORK(7, 7, other, other);
	assert_string_equal(comm_of(7, 7), "other");
	EXIT(7, 7);
	assert_string_equal(comm_of(7, 7), ":7");
	assert_string_equal(comm_of(-1, -1), ":-1");
	assert_string_equal(comm_of(0, 0), "swapper");
	end();
}

TEST(names)
{
	begin();
	assert_string_equal(comm_of(0, 0), "swapper");
	assert_string_equal(comm_of(12, 12), ":12");
	assert_string_equal(comm_of(-1, -1), ":-1");
	assert_string_equal(comm_of(2147483647, 2147483647), ":2147483647");
	assert_string_equal(comm_of((int32_t)0x80000000, (int32_t)0x80000000), ":-2147483648");
	COMM(12, 12, "sh");
	assert_string_equal(comm_of(12, 12), "sh");
	assert_string_equal(comm_of(99, 12), "sh"); /* a name belongs to a tid */
	COMM(12, 13, "worker");
	assert_string_equal(comm_of(12, 12), "sh");
	assert_string_equal(comm_of(12, 13), "worker");
	COMM(12, 12, "");
	assert_string_equal(comm_of(12, 12), "");
	COMM(0, 0, "swapper/1");
	assert_string_equal(comm_of(0, 0), "swapper/1");
	end();
}

static const struct task *task_of(int32_t pid, int32_t tid)
{
	const struct task *t;

	assert_int_equal(state_task(&st, pid, tid, &t), 0);
	return t;
}

#define UNTIMED(p, t, name, ...) COMM(p, t, name, .is_untimed = true, ##__VA_ARGS__)

TEST(untimed_names)
{
	begin();
	UNTIMED(-1, 12, "sh"); /* saved command lines have a tid only */
	assert_string_equal(comm_of(12, 12), "sh");
	assert_int_equal(task_of(12, 12)->pid, 12);
	assert_true(task_of(12, 12)->name.since_ns == SONDE_NO_TIME);
	UNTIMED(12, 12, "bash"); /* the last one holds */
	assert_string_equal(comm_of(12, 12), "bash");
	COMM(12, 12, "ls", .time_ns = 5, .exec = true);
	assert_string_equal(comm_of(12, 12), "ls");
	assert_true(task_of(12, 12)->exec.by_exec);
	UNTIMED(12, 12, "late");
	assert_string_equal(comm_of(12, 12), "ls");
	assert_true(task_of(12, 12)->name.since_ns == 5);
	/* a name without a time that is in the order of the events does not count as untimed */
	COMM(12, 12, "cat", .time_ns = SONDE_NO_TIME);
	UNTIMED(12, 12, "late");
	assert_string_equal(comm_of(12, 12), "cat");
	/* it names a task that was seen before */
	assert_string_equal(comm_of(-1, 13), ":13");
	UNTIMED(12, 13, "worker");
	assert_string_equal(comm_of(12, 13), "worker");
	assert_int_equal(task_of(-1, 13)->pid, 12);
	/* the idle tasks have a name of their own */
	UNTIMED(0, 0, "<idle>");
	assert_string_equal(comm_of(0, 0), "swapper");
	/* an exit alone does not remove the name */
	EXIT(12, 13);
	UNTIMED(12, 13, "last");
	assert_string_equal(comm_of(12, 13), "last");
	end();
}

TEST(untimed_names_and_fork)
{
	begin();
	UNTIMED(12, 12, "sh");
	UNTIMED(14, 14, "ls");
	FORK(14, 14, 12, 12, .time_ns = 7);
	assert_string_equal(comm_of(14, 14), "sh"); /* the parent's name, since that time */
	UNTIMED(14, 14, "ls");
	assert_string_equal(comm_of(14, 14), "sh");
	FORK(15, 15, 99, 99, .time_ns = 8); /* a parent without a name passes none on */
	UNTIMED(15, 15, "late");
	assert_string_equal(comm_of(15, 15), "late");
	end();
}

TEST(untimed_names_are_no_exec)
{
	begin();
	MMAP(12, 0x1000, 0x1000, "x");
	UNTIMED(12, 12, "sh", .exec = true);
	assert_string_equal(mapped(12, 0x1000), "x+0");
	assert_int_equal(task_of(12, 12)->exec.id, 0);
	end();
	begin_forgetting(true);
	COMM(12, 12, "sh");
	EXIT(12, 12);
	UNTIMED(12, 12, "sh");
	assert_string_equal(comm_of(12, 12), ":12");
	end();
}

#define SWITCH(c, p, t, ...) \
	apply((struct change){ .kind = CHANGE_SWITCH, .cpu = c, .pid = p, .tid = t, ##__VA_ARGS__ })

/* "PID/TID" of the task that runs on a cpu, "" if that is not known. */
static const char *running(int32_t cpu)
{
	static char text[32];
	int32_t pid, tid;

	text[0] = '\0';
	if (state_running(&st, cpu, &pid, &tid))
		snprintf(text, sizeof(text), "%d/%d", pid, tid);
	return text;
}

TEST(who_runs)
{
	begin();
	assert_string_equal(running(0), "");
	SWITCH(0, 12, 13);
	SWITCH(70000, 0, 0);
	assert_string_equal(running(0), "12/13");
	assert_string_equal(running(1), "");
	assert_string_equal(running(-1), "");
	assert_string_equal(running(70000), "0/0");
	SWITCH(0, -1, 14); /* its process is unknown ... */
	assert_string_equal(running(0), "-1/14");
	FORK(12, 14, 12, 12);
	assert_string_equal(running(0), "12/14"); /* ... until a record has it */
	EXIT(12, 14);
	assert_string_equal(running(0), "12/14"); /* up to the next switch */
	SWITCH(0, -1, -1);
	assert_string_equal(running(0), "");
	SWITCH(0, 12, 12);
	assert_string_equal(running(0), "12/12");
	end();
}

TEST(switches_name_tasks)
{
	uint64_t id;

	begin();
	SWITCH(0, -1, 12, .text = "sh", .time_ns = 5);
	assert_string_equal(comm_of(-1, 12), "sh");
	assert_true(task_of(12, 12)->name.since_ns == 5);
	id = task_of(12, 12)->name.id;
	SWITCH(1, -1, 12, .text = "sh", .time_ns = 6);
	assert_true(task_of(12, 12)->name.id == id);
	SWITCH(1, -1, 12, .text = "ls", .time_ns = 7);
	assert_string_equal(comm_of(12, 12), "ls");
	SWITCH(1, -1, 12);
	assert_string_equal(comm_of(12, 12), "ls");
	UNTIMED(12, 12, "late");
	assert_string_equal(comm_of(12, 12), "ls");
	UNTIMED(12, 13, "worker");
	SWITCH(1, -1, 13, .text = "worker", .time_ns = 8);
	UNTIMED(12, 13, "late");
	assert_string_equal(comm_of(12, 13), "worker");
	SWITCH(1, 0, 0, .text = "swapper/1");
	assert_string_equal(comm_of(0, 0), "swapper");
	end();
}

static bool switch_only(int32_t cpu, int32_t tid, const char *text, struct runner *ret)
{
	const struct change c = {
		.kind = CHANGE_SWITCH, .cpu = cpu, .pid = tid ? -1 : 0, .tid = tid, .text = text
	};

	return state_switch_only(&st, &c, ret);
}

/* Switches that change nothing else are applied at once, and can be undone. */
TEST(only_switches)
{
	struct runner first, second;

	begin();
	COMM(12, 12, "sh");
	COMM(12, 13, "ls");
	UNTIMED(12, 14, "early");
	assert_false(switch_only(0, 12, "sh", &first)); /* nobody is known to run */
	SWITCH(0, -1, 12, .text = "sh");
	assert_true(switch_only(0, 13, "ls", &first));
	assert_string_equal(running(0), "12/13");
	assert_string_equal(comm_of(12, 13), "ls"); /* from now on the name is at hand */
	assert_true(switch_only(0, 0, "swapper/0", &second));
	assert_string_equal(running(0), "0/0");
	state_switch_back(&st, 0, &second);
	assert_string_equal(running(0), "12/13");
	state_switch_back(&st, 0, &first);
	assert_string_equal(running(0), "12/12");
	assert_true(switch_only(0, 13, "ls", &first));
	assert_false(switch_only(0, 13, "other", &first)); /* renames it */
	assert_false(switch_only(0, 12, "other", &first));
	assert_false(switch_only(0, 14, "early", &first)); /* gives it a time */
	assert_string_equal(comm_of(12, 14), "early");
	assert_false(switch_only(0, 14, "early", &first));
	assert_false(switch_only(0, 15, "new", &first)); /* adds it */
	assert_false(switch_only(0, -1, NULL, &first));
	SWITCH(70000, -1, 12);
	assert_false(switch_only(70000, 13, "ls", &first)); /* not in the array */
	assert_string_equal(running(0), "12/13");
	SWITCH(0, -1, 13, .text = "renamed");
	assert_string_equal(comm_of(12, 13), "renamed");
	assert_false(switch_only(0, 13, "ls", &first));
	assert_true(switch_only(0, 13, "renamed", &first));
	end();
}

TEST(names_are_handed_on_by_fork)
{
	begin();
	COMM(12, 12, "sh");
	FORK(14, 14, 12, 12);
	assert_string_equal(comm_of(14, 14), "sh");
	COMM(12, 12, "other");
	assert_string_equal(comm_of(14, 14), "sh");
	FORK(12, 15, 12, 14); /* a thread made by another */
	assert_string_equal(comm_of(12, 15), "sh");
	FORK(20, 20, 19, 19); /* the parent is unknown */
	assert_string_equal(comm_of(20, 20), ":20");
	FORK(21, 21, 0, 0);
	assert_string_equal(comm_of(21, 21), "swapper");
	end();
}

static void check_namespace(int32_t tid, uint64_t device, uint64_t inode)
{
	const struct task *t;

	assert_int_equal(state_task(&st, 7, tid, &t), 0);
	assert_int_equal(t->namespace_device, device);
	assert_int_equal(t->namespace_inode, inode);
}

/* Each thread has its own record, also after a FORK. */
TEST(namespaces_belong_to_threads)
{
	begin();
	apply((struct change){ .kind = CHANGE_NAMESPACES,
			       .pid = 7,
			       .tid = 8,
			       .namespace_device = 4,
			       .namespace_inode = 0xeffffffb });
	check_namespace(8, 4, 0xeffffffb);
	check_namespace(7, 0, 0);
	COMM(7, 8, "a");
	check_namespace(8, 4, 0xeffffffb);
	FORK(7, 9, 7, 8);
	check_namespace(9, 0, 0);
	FORK(7, 8, 7, 9);
	check_namespace(8, 0, 0);
	end();
}

TEST(names_of_a_tid_used_again)
{
	begin();
	COMM(12, 12, "old");
	EXIT(12, 12);
	assert_string_equal(comm_of(12, 12), "old"); /* an exiting task still has events */
	COMM(1, 1, "init");
	FORK(12, 12, 1, 1);
	assert_string_equal(comm_of(12, 12), "init");
	COMM(12, 12, "new");
	EXIT(12, 12);
	FORK(12, 12, 50, 50); /* of an unknown parent: the old name is removed */
	assert_string_equal(comm_of(12, 12), ":12");
	end();
}

TEST(names_behind_an_exit)
{
	for (int forgets = 0; forgets < 2; forgets++) {
		begin_forgetting(forgets);
		COMM(7, 7, "seven");
		COMM(7, 8, "eight");
		EXIT(7, 8);
		assert_string_equal(comm_of(7, 7), "seven");
		assert_string_equal(comm_of(7, 8), forgets ? ":8" : "eight");
		FORK(9, 9, 7, 8);
		assert_string_equal(comm_of(9, 9), forgets ? ":9" : "eight");
		EXIT(0, 0);
		assert_string_equal(comm_of(0, 0), "swapper");
		end();
	}
}

/* A recording read in the order of its file may have mappings after the EXIT of their process. */
TEST(mappings_behind_an_exit)
{
	for (int forgets = 0; forgets < 2; forgets++) {
		begin_forgetting(forgets);
		COMM(7, 7, "seven");
		MMAP(7, 0x1000, 0x1000, "old");
		EXIT(7, 7);
		assert_string_equal(mapped_in(state_space_of(&st, 7, 7), 0x1000),
				    forgets ? "" : "old+0");
		MMAP(7, 0x3000, 0x1000, "late");
		assert_string_equal(mapped_in(state_space_of(&st, 7, 7), 0x3000), "late+0");
		assert_string_equal(mapped_in(state_space_of(&st, 7, 7), 0x1000),
				    forgets ? "" : "old+0");
		assert_string_equal(comm_of(7, 7), forgets ? ":7" : "seven");
		EXIT(7, 7);
		COMM(7, 7, "again");
		assert_string_equal(mapped_in(state_space_of(&st, 7, 7), 0x3000),
				    forgets ? "" : "late+0");
		assert_string_equal(comm_of(7, 7), "again");
		end();
	}
}

/* A process keeps its mappings while its first thread has not ended, however many exits follow. */
TEST(the_epoch_changes_with_what_is_mapped)
{
	for (int forgets = 0; forgets < 2; forgets++) {
		uint64_t epoch;

		begin_forgetting(forgets);
		MMAP(7, 0x1000, 0x1000, "kept");
		epoch = st.map_epoch;
		COMM(7, 7, "seven");
		FORK(7, 8, 7, 7);
		EXIT(7, 8);
		assert_int_equal(st.map_epoch, epoch);
		EXIT(7, 7);
		assert_string_equal(mapped_in(state_space_of(&st, 7, 7), 0x1000),
				    forgets ? "" : "kept+0");
		assert_int_equal(st.map_epoch != epoch, forgets);
		epoch = st.map_epoch;
		FORK(7, 7, 1, 1);
		assert_string_equal(mapped_in(state_space_of(&st, 7, 7), 0x1000), "");
		assert_int_not_equal(st.map_epoch, epoch);
		end();
	}
}

TEST(mappings_outlive_the_exit_of_a_thread)
{
	for (int forgets = 0; forgets < 2; forgets++) {
		begin_forgetting(forgets);
		COMM(7, 7, "seven");
		MMAP(7, 0x1000, 0x1000, "kept");
		EXIT(7, 8);
		for (int32_t pid = 10000; pid < 10000 + 2 * STATE_EXITED; pid++)
			EXIT(pid, pid);
		assert_string_equal(mapped_in(state_space_of(&st, 7, 7), 0x1000), "kept+0");
		EXIT(7, 7);
		for (int32_t pid = 20000; pid < 20000 + 2 * STATE_EXITED; pid++)
			EXIT(pid, pid);
		assert_string_equal(mapped(7, 0x1000), "");
		end();
	}
}

TEST(a_fork_of_itself)
{
	begin();
	FORK(5, 5, 5, 5);
	assert_string_equal(comm_of(5, 5), ":5");
	COMM(5, 5, "five");
	MMAP(5, 0x1000, 0x1000, "x");
	FORK(5, 5, 5, 5);
	assert_string_equal(comm_of(5, 5), "five");
	assert_string_equal(mapped(5, 0x1000), "x+0");
	end();
}

TEST(mappings_cut_each_other)
{
	begin();
	MMAP(1, 0x1000, 0x5000, "a", .pgoff = 0x100);
	assert_string_equal(mapped(1, 0xfff), "");
	assert_string_equal(mapped(1, 0x1000), "a+100");
	assert_string_equal(mapped(1, 0x5fff), "a+50ff");
	assert_string_equal(mapped(1, 0x6000), "");
	MMAP(1, 0x3000, 0x1000, "b"); /* in its middle */
	assert_string_equal(mapped(1, 0x2fff), "a+20ff");
	assert_string_equal(mapped(1, 0x3000), "b+0");
	assert_string_equal(mapped(1, 0x3fff), "b+fff");
	assert_string_equal(mapped(1, 0x4000), "a+3100");
	MMAP(1, 0x500, 0x1000, "c"); /* over its beginning */
	assert_string_equal(mapped(1, 0x500), "c+0");
	assert_string_equal(mapped(1, 0x14ff), "c+fff");
	assert_string_equal(mapped(1, 0x1500), "a+600");
	MMAP(1, 0x5000, 0x2000, "d"); /* over its end */
	assert_string_equal(mapped(1, 0x4fff), "a+40ff");
	assert_string_equal(mapped(1, 0x6fff), "d+1fff");
	MMAP(1, 0x1500, 0x3b00, "e"); /* exactly over several */
	assert_string_equal(mapped(1, 0x14ff), "c+fff");
	assert_string_equal(mapped(1, 0x1500), "e+0");
	assert_string_equal(mapped(1, 0x4fff), "e+3aff");
	assert_string_equal(mapped(1, 0x5000), "d+0");
	MMAP(1, 0, UINT64_MAX, "all");
	assert_string_equal(mapped(1, 0), "all+0");
	assert_string_equal(mapped(1, 0x5000), "all+5000");
	assert_int_equal(nr_mappings(state_space(&st, 1)), 1);
	end();
}

TEST(mappings_of_no_length)
{
	begin();
	MMAP(1, 0x1000, 0, "none");
	MMAP(1, UINT64_MAX - 5, 100, "around the end");
	assert_string_equal(mapped(1, 0x1000), "");
	assert_string_equal(mapped(1, UINT64_MAX - 2), "");
	assert_string_equal(mapped(1, 2), "");
	assert_string_equal(mapped(77, 0x1000), "");
	end();
}

TEST(mappings_of_a_fork_are_shared_until_changed)
{
	begin();
	MMAP(1, 0x1000, 0x1000, "a");
	FORK(2, 2, 1, 1);
	assert_ptr_equal(state_space(&st, 1), state_space(&st, 2));
	FORK(2, 3, 2, 2); /* a thread */
	MMAP(2, 0x1000, 0x1000, "b");
	assert_string_equal(mapped(1, 0x1000), "a+0");
	assert_string_equal(mapped(2, 0x1000), "b+0");
	MMAP(1, 0x5000, 0x1000, "c");
	assert_string_equal(mapped(2, 0x5000), "");
	end();
}

TEST(mappings_of_exec_and_of_a_pid_used_again)
{
	struct address_space *held;

	begin();
	MMAP(1, 0x1000, 0x1000, "a");
	FORK(2, 2, 1, 1);
	held = address_space_ref(state_space(&st, 2));
	COMM(2, 2, "new", .exec = true);
	assert_string_equal(mapped(2, 0x1000), "");
	assert_string_equal(mapped(1, 0x1000), "a+0");
	assert_string_equal(mapped_in(held, 0x1000), "a+0");
	MMAP(2, 0x2000, 0x1000, "b");
	assert_string_equal(mapped_in(held, 0x2000), "");
	EXIT(2, 2);
	assert_string_equal(mapped(2, 0x2000), "b+0");
	FORK(2, 2, 1, 1);
	assert_string_equal(mapped(2, 0x2000), "");
	assert_string_equal(mapped(2, 0x1000), "a+0");
	assert_string_equal(mapped_in(held, 0x1000), "a+0");
	address_space_unref(held);
	end();
}

TEST(mappings_of_the_kernel_are_everybodys)
{
	begin();
	MMAP(-1, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text", .kernel = true);
	assert_string_equal(mapped(-1, 0xffffffff81000000), "");
	assert_string_equal(mapped_in(st.kernel, 0xffffffff81000010), "[kernel.kallsyms]_text+10");
	end();
}

TEST(the_epoch_grows_with_each_change_of_mappings)
{
	uint64_t epoch;

	begin();
	epoch = st.map_epoch;
	COMM(1, 1, "a");
	assert_true(st.map_epoch == epoch);
	MMAP(1, 0x1000, 0x1000, "a");
	assert_true(st.map_epoch > epoch);
	epoch = st.map_epoch;
	FORK(2, 2, 1, 1);
	assert_true(st.map_epoch > epoch);
	epoch = st.map_epoch;
	COMM(2, 2, "b", .exec = true);
	assert_true(st.map_epoch > epoch);
	end();
}

/*
 * Random mappings in a space of a few hundred bytes, compared with an array of the mapping of each
 * byte.
 */
TEST(mappings_against_a_model)
{
	enum { BYTES = 300, NAMES = 26 };

	for (unsigned seed = 1; seed <= 50; seed++) {
		int owner[BYTES];
		unsigned long long offset[BYTES];

		begin();
		srand(seed);
		for (int i = 0; i < BYTES; i++)
			owner[i] = -1;
		for (int i = 0; i < 200; i++) {
			int from = rand() % BYTES, n = rand() % 40, who = rand() % NAMES;
			char name[2] = { (char)('a' + who), '\0' };
			struct address_space *held = i % 10 ? NULL : state_space(&st, 1);

			if (held)
				address_space_ref(held);
			MMAP(1, (uint64_t)from, (uint64_t)n, name, .pgoff = (uint64_t)i * 1000);
			for (int at = from; at < from + n && at < BYTES; at++) {
				owner[at] = who;
				offset[at] = (unsigned long long)(at - from + i * 1000);
			}
			address_space_unref(held);
			for (int at = 0; at < BYTES; at++) {
				char want[64] = "";

				if (owner[at] >= 0)
					snprintf(want, sizeof(want), "%c+%llx", 'a' + owner[at],
						 offset[at]);
				assert_string_equal(mapped(1, (uint64_t)at), want);
			}
		}
		end();
	}
}

TEST(ended_processes_give_their_mappings_back)
{
	struct change map = {
		.kind = CHANGE_MMAP,
		.start = 0x1000,
		.len = 0x1000,
		.text = "/bin/a",
	};
	struct change ended = { .kind = CHANGE_EXIT },
		      fork = { .kind = CHANGE_FORK, .ppid = 1, .ptid = 1 };

	begin();
	for (int32_t pid = 2; pid < 3 + STATE_EXITED; pid++) {
		map.pid = map.tid = ended.pid = ended.tid = pid;
		assert_int_equal(state_apply(&st, &map), 0);
		assert_int_equal(state_apply(&st, &ended), 0);
	}
	assert_null(state_space(&st, 2));     /* the first to ended */
	assert_non_null(state_space(&st, 3)); /* its last events may follow */
	/* A reused pid is another process: a late EXIT of the old one does not change it. */
	fork.pid = fork.tid = map.pid = map.tid = 3;
	assert_int_equal(state_apply(&st, &fork), 0);
	assert_int_equal(state_apply(&st, &map), 0);
	for (int32_t pid = 10000; pid < 10000 + 2 * STATE_EXITED; pid++) {
		ended.pid = ended.tid = pid;
		assert_int_equal(state_apply(&st, &ended), 0);
	}
	assert_non_null(state_space(&st, 3));
	map.pid = map.tid = 2;
	assert_int_equal(state_apply(&st, &map), 0);
	assert_non_null(state_space(&st, 2));
	end();
}

static const char *symbol_in(const struct address_space *space, uint64_t addr)
{
	const struct mapping *m = address_space_symbol(space, addr);

	return m ? strpool_text(&strings, m->name) : "";
}

#define KSYMBOL(from, n, name, ...) \
	apply((struct change){      \
		.kind = CHANGE_KSYMBOL, .start = from, .len = n, .text = name, ##__VA_ARGS__ })

TEST(kernel_symbols_come_and_go_over_the_kernel)
{
	struct address_space *held;
	uint64_t stamp;

	begin();
	MMAP(-1, 0x1000, 0x9000, "kernel", .kernel = true);
	KSYMBOL(0x2000, 0x100, "one");
	KSYMBOL(0x2100, 0x100, "two");
	held = address_space_ref(st.kernel);
	assert_string_equal(symbol_in(st.kernel, 0x1fff), "");
	assert_string_equal(symbol_in(st.kernel, 0x20ff), "one");
	assert_string_equal(symbol_in(st.kernel, 0x2100), "two");
	KSYMBOL(0x2000, 0, "", .unregister = true);
	assert_int_not_equal(st.kernel->stamp, held->stamp);
	assert_string_equal(symbol_in(st.kernel, 0x2000), "");
	/* A space that is held does not change. */
	assert_string_equal(symbol_in(held, 0x2000), "one");
	KSYMBOL(0x20f0, 0x20, "three"); /* its predecessor's end was not recorded */
	assert_string_equal(symbol_in(st.kernel, 0x20f8), "three");
	assert_string_equal(symbol_in(st.kernel, 0x2180), "");
	assert_string_equal(mapped_in(st.kernel, 0x20f8), "kernel+10f8");
	assert_int_equal(nr_mappings(st.kernel), 1);
	stamp = st.kernel->stamp;
	KSYMBOL(0x8000, 0x20, "nothing there", .unregister = true);
	assert_int_equal(st.kernel->stamp, stamp);
	st.keeps_first_ksymbol = true;
	KSYMBOL(0x20f0, 0x20, "four");
	KSYMBOL(0x5000, 0x20, "inside the kernel's map");
	assert_string_equal(symbol_in(st.kernel, 0x20f8), "three");
	assert_string_equal(symbol_in(st.kernel, 0x5000), "");
	address_space_unref(held);
	end();
}

#define POKE(from, n, bytes) \
	apply((struct change){ .kind = CHANGE_TEXT_POKE, .start = from, .len = n, .code = bytes })

/* Random writes to a few hundred bytes, compared with an array of the values of all bytes. */
TEST(code_is_as_it_was_written_last)
{
	enum { SIZE = 500, BASE = 0x1007 };
	uint8_t there[SIZE], held_there[SIZE], bytes[SIZE], got[SIZE];
	bool known[SIZE] = { false }, held_known[SIZE];
	struct address_space *held = NULL;
	uint64_t random = 1;

	begin();
	for (int round = 0; round < 4000; round++) {
		random = hash_u64(random);
		size_t at = random % SIZE, len = 1 + (random >> 16) % (SIZE - at);
		bool forget = (random >> 32) % 4 == 0;

		if (round == 2000) {
			held = address_space_ref(st.kernel);
			memcpy(held_there, there, SIZE);
			memcpy(held_known, known, sizeof(known));
		}
		len = (random >> 40) % 3 ? 1 + len % 7 : len;
		if (at + len > SIZE)
			len = SIZE - at;
		memset(bytes, (int)(random >> 48), SIZE);
		POKE(BASE + at, len, forget ? NULL : bytes);
		if (!forget)
			memcpy(there + at, bytes, len);
		memset(known + at, !forget, len);
		random++;
	}
	for (int which = 0; which < 2; which++) {
		const bool *is_known = which ? held_known : known;
		const uint8_t *what = which ? held_there : there;
		size_t nr = 0;

		while (nr < SIZE && is_known[nr])
			nr++;
		memset(got, 0, SIZE);
		assert_int_equal(address_space_code(which ? held : st.kernel, BASE, got, SIZE), nr);
		for (size_t i = 0; i < SIZE; i++)
			assert_int_equal(got[i], is_known[i] ? what[i] : 0);
	}
	address_space_unref(held);
	end();
}

TEST(code_goes_with_its_symbol)
{
	uint8_t got[4] = { 0 };
	uint64_t stamp;

	begin();
	KSYMBOL(0x2010, 0x20, "one", .out_of_line = true);
	stamp = st.kernel->stamp;
	POKE(0x200e, 4, (const uint8_t *)"abcd");
	assert_int_equal(st.kernel->stamp, stamp); /* names do not change */
	assert_true(address_space_symbol(st.kernel, 0x2010)->out_of_line);
	assert_int_equal(address_space_code(st.kernel, 0x200e, got, 4), 4);
	assert_memory_equal(got, "abcd", 4);
	KSYMBOL(0x2010, 0, "", .unregister = true);
	assert_int_equal(address_space_code(st.kernel, 0x200e, got, 4), 2);
	POKE(0x2010, 1, (const uint8_t *)"x");
	KSYMBOL(0x2010, 0x20, "two", .out_of_line = true);
	assert_int_equal(address_space_code(st.kernel, 0x2010, got, 1), 0);
	POKE(0x4000, 1, (const uint8_t *)"x");
	KSYMBOL(0x4000, 0x20, "not registered", .unregister = true);
	assert_int_equal(address_space_code(st.kernel, 0x4000, got, 1), 0);
	POKE(UINT64_MAX - 2, 4, (const uint8_t *)"abcd"); /* no such place */
	POKE(UINT64_MAX - 8, 4, (const uint8_t *)"abcd");
	assert_int_equal(st.kernel->nr_code, 1);
	end();
}

TEST(code_takes_bounded_memory)
{
	const size_t len = (size_t)MAX_CODE_PIECES * CODE_PIECE_BYTES;
	uint8_t *code = test_calloc(1, len), got;
	struct change c = { .kind = CHANGE_TEXT_POKE, .start = 1, .len = len, .code = code };

	begin();
	assert_int_equal(state_apply(&st, &c), 1); /* its last byte is in a further piece */
	assert_int_equal(st.kernel->nr_code, MAX_CODE_PIECES);
	assert_int_equal(address_space_code(st.kernel, len, &got, 1), 0);
	POKE(1000, 1, (const uint8_t *)"x");
	assert_int_equal(address_space_code(st.kernel, 1000, &got, 1), 1);
	assert_int_equal(got, 'x');
	POKE(0, len / 2, NULL);
	assert_int_equal(st.kernel->nr_code, MAX_CODE_PIECES / 2);
	POKE(len, 1, (const uint8_t *)"y");
	test_free(code);
	end();
}

TEST(what_was_mapped_before_exec_stays_until_the_new_program_runs)
{
	struct address_space *held, *child;

	begin();
	COMM(7, 7, "old");
	MMAP(7, 0x1000, 0x1000, "old");
	COMM(7, 7, "new", .exec = true);
	assert_string_equal(mapped(7, 0x1000), "");
	assert_string_equal(mapped_in(state_space(&st, 7)->before, 0x1000), "old+0");
	held = address_space_ref(state_space(&st, 7)); /* a copy has it, too */
	MMAP(7, 0x3000, 0x1000, "new");
	assert_string_equal(mapped_in(state_space(&st, 7)->before, 0x1000), "old+0");
	assert_true(state_space(&st, 7)->before->stamp != state_space(&st, 7)->stamp);
	address_space_unref(held);
	COMM(7, 7, "third", .exec = true); /* which the second program called: no chain grows */
	assert_string_equal(mapped_in(state_space(&st, 7)->before, 0x3000), "new+0");
	assert_null(state_space(&st, 7)->before->before);
	FORK(8, 8, 7, 7); /* it runs */
	child = state_space(&st, 8);
	assert_null(child->before);
	assert_null(state_space(&st, 7)->before);
	COMM(7, 7, "fourth", .exec = true);
	assert_null(child->before);
	st.keeps_maps_at_exec = true;
	COMM(8, 8, "perf's way", .exec = true);
	assert_null(state_space(&st, 8)->before);
	end();
}

TEST(many_mappings_in_either_direction_stay_sorted)
{
	struct address_space *a;

	assert_int_equal(address_space_new(&a, 1), 0);
	for (uint64_t i = 0; i < 30000; i++) {
		uint64_t page = i % 2 ? 100000 + i : 100000 - i;
		struct mapping m = { .start = page << 12, .end = (page + 1) << 12, .pgoff = i };

		assert_int_equal(address_space_add(&a, &m, 2), 0);
	}
	assert_int_equal(nr_mappings(a), 30000);
	assert_int_equal(address_space_find(a, (100000 - 29998) << 12)->pgoff, 29998);
	assert_int_equal(address_space_find(a, ((uint64_t)100000 + 29999) << 12)->pgoff, 29999);
	address_space_unref(a);
}

/* Every fork replaces another part of the mappings that it shares with the others. */
TEST(a_stretch_of_shared_mappings_is_replaced)
{
	enum { NR = 1000, PAGE = 0x1000, FORKS = 200 };
	struct address_space *held;

	begin();
	for (uint64_t i = 0; i < NR; i++)
		MMAP(1, (2 * i + 1) * PAGE, PAGE, "a");
	held = address_space_ref(state_space(&st, 1));
	for (int pid = 2; pid < 2 + FORKS; pid++) {
		/* From the middle of one mapping to the middle of another. */
		uint64_t first = (uint64_t)pid * 7 % NR,
			 last = first + (uint64_t)pid * 101 % (NR - first),
			 from = (2 * first + 1) * PAGE + 0x100, to = (2 * last + 1) * PAGE + 0x200;

		FORK(pid, pid, 1, 1);
		MMAP(pid, from, to - from, "b");
		assert_int_equal(nr_mappings(state_space(&st, pid)), NR - (last - first) + 2);
		assert_string_equal(mapped(pid, from - 1), "a+ff");
		assert_string_equal(mapped(pid, from), "b+0");
		assert_string_equal(mapped(pid, to), "a+200");
		assert_ptr_equal(state_space(&st, 1), held);
	}
	assert_int_equal(nr_mappings(held), NR);
	MMAP(1, 0, UINT64_MAX, "all");
	assert_int_equal(nr_mappings(state_space(&st, 1)), 1);
	assert_int_equal(nr_mappings(held), NR);
	address_space_unref(held);
	end();
}
