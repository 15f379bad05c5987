/* SPDX-License-Identifier: MIT */
/*
 * LTTng's kernel tracer has names of its own for the kernel's events and some of their fields. A
 * script written for perf gets them under the kernel's names.
 */

#include <stdio.h>

#include "sources/ctf/ctf.h"

/* An event whose name begins with `prefix` is SYSTEM:START followed by the rest of its name. */
struct event_alias {
	const char *prefix, *system, *start;
	bool is_complete; /* prefix is the complete name */
};

/* The first row that fits counts. */
static const struct event_alias event_aliases[] = {
	{ "syscall_entry_", "syscalls", "sys_enter_", false },
	{ "syscall_exit_", "syscalls", "sys_exit_", false },
	{ "sched_", "sched", "sched_", false },
	{ "irq_handler_", "irq", "irq_handler_", false },
	{ "irq_softirq_", "irq", "softirq_", false },
	{ "irq_tasklet_", "irq", "tasklet_", false },
	{ "timer_hrtimer_", "timer", "hrtimer_", false },
	{ "timer_itimer_", "timer", "itimer_", false },
	{ "timer_", "timer", "timer_", false },
	{ "block_", "block", "block_", false },
	{ "power_", "power", "", false },
	{ "kmem_cache_", "kmem", "kmem_cache_", false },
	{ "kmem_", "kmem", "", false },
	{ "net_if_", "net", "netif_", false },
	{ "net_", "net", "net_", false },
	{ "skb_kfree", "skb", "kfree_skb", true },
	{ "skb_consume", "skb", "consume_skb", true },
	{ "skb_", "skb", "skb_", false },
	{ "napi_", "napi", "napi_", false },
	{ "signal_", "signal", "signal_", false },
	{ "workqueue_", "workqueue", "workqueue_", false },
	{ "writeback_", "writeback", "writeback_", false },
	{ "mm_vmscan_", "vmscan", "mm_vmscan_", false },
	{ "ext4_", "ext4", "ext4_", false },
	{ "btrfs_", "btrfs", "btrfs_", false },
	{ "jbd2_", "jbd2", "jbd2_", false },
	{ "scsi_", "scsi", "scsi_", false },
	{ "kvm_x86_", "kvm", "kvm_", false },
	{ "kvm_", "kvm", "kvm_", false },
	{ "module_", "module", "module_", false },
	{ "rcu_", "rcu", "rcu_", false },
	{ "sock_", "sock", "sock_", false },
	{ "i2c_", "i2c", "i2c_", false },
	{ "gpio_", "gpio", "gpio_", false },
	{ "rpm_", "rpm", "rpm_", false },
	{ "console", "printk", "console", true },
	{ "x86_exceptions_", "exceptions", "", false },
	{ "x86_irq_vectors_", "irq_vectors", "", false },
};

bool ctf_alias_event(const char *name, struct ctf_alias *ret, char room[128])
{
	for (size_t i = 0; i < sizeof(event_aliases) / sizeof(*event_aliases); i++) {
		const struct event_alias *a = &event_aliases[i];
		const size_t len = strlen(a->prefix);
		int n;

		if (strncmp(name, a->prefix, len) != 0 || (a->is_complete ? name[len] : !name[len]))
			continue;
		n = snprintf(room, 128, "%s%s", a->start, name + len);
		*ret = (struct ctf_alias){ .name = name, .system = a->system, .event = room };
		return n < 128;
	}
	return false;
}

/* A field of the events of a system, or of one event. */
struct field_alias {
	const char *system, *event, *from, *to;
	int32_t add;
};

/*
 * LTTng says tid for the thread that the kernel's events call pid, and counts priorities from that
 * of the least urgent real-time task.
 */
static const struct field_alias field_aliases[] = {
	{ "sched", "sched_process_fork", "parent_tid", "parent_pid", 0 },
	{ "sched", "sched_process_fork", "child_tid", "child_pid", 0 },
	{ "sched", "sched_process_fork", "parent_pid", "parent_tgid", 0 },
	{ "sched", "sched_process_fork", "child_pid", "child_tgid", 0 },
	{ "sched", "sched_process_exec", "old_tid", "old_pid", 0 },
	{ "sched", NULL, "prev_tid", "prev_pid", 0 },
	{ "sched", NULL, "next_tid", "next_pid", 0 },
	{ "sched", NULL, "tid", "pid", 0 },
	{ "sched", NULL, "prio", "prio", 100 },
	{ "sched", NULL, "prev_prio", "prev_prio", 100 },
	{ "sched", NULL, "next_prio", "next_prio", 100 },
	{ "sched", "sched_pi_setprio", "oldprio", "oldprio", 100 },
	{ "sched", "sched_pi_setprio", "newprio", "newprio", 100 },
};

const char *ctf_alias_field(const struct ctf_alias *event, const char *name, int32_t *ret_add)
{
	for (size_t i = 0; i < sizeof(field_aliases) / sizeof(*field_aliases); i++) {
		const struct field_alias *a = &field_aliases[i];

		if (strcmp(a->system, event->system) != 0 || strcmp(a->from, name) != 0 ||
		    (a->event && strcmp(a->event, event->event) != 0))
			continue;
		*ret_add = a->add;
		return a->to;
	}
	return NULL;
}
