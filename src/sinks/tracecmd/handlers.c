/* SPDX-License-Identifier: MIT */
/* Texts that trace-cmd's plugins write in place of print formats. */

#include "sinks/tracecmd/tracecmd.h"

void tracecmd_put_string(const struct tracecmd_type *type, unsigned i, const struct event *ev,
			 struct outbuf *out)
{
	const struct sonde_field *f = type->fields[i];
	const uint8_t *p;
	uint32_t len;

	if (!f)
		return;
	p = field_bytes(f, ev->pub.bytes, ev->pub.bytes_len, ev->pub.flags & SONDE_EVENT_SWAPPED,
			&len);
	if (p)
		outbuf_put(out, p, strnlen((const char *)p, len));
}

static void handlers_put_task(struct outbuf *out, const struct tracecmd_type *type,
			      const struct event *ev, unsigned comm)
{
	tracecmd_put_string(type, comm, ev, out);
	outbuf_char(out, ':');
	outbuf_i64(out, tracecmd_signed(type, comm + 1, ev));
	outbuf_str(out, " [");
	outbuf_i64(out, (int32_t)tracecmd_signed(type, comm + 2, ev));
	outbuf_char(out, ']');
}

/* ---- sched ----------------------------------------------------------------------------------- */

/* Letters of the bits of a task's state, in plugins' order. */
static void handlers_put_state(struct outbuf *out, uint64_t state)
{
	static const char letters[] = "SDTtZXxW";
	bool is_first = true;

	for (unsigned i = 0; i < sizeof(letters) - 1; i++) {
		if (!(state >> i & 1))
			continue;
		if (!is_first)
			outbuf_char(out, '|');
		outbuf_char(out, letters[i]);
		is_first = false;
	}
	if (is_first)
		outbuf_char(out, 'R');
}

static bool handlers_switch(struct tracecmd_sink *s, const struct tracecmd_type *type,
			    const struct event *ev, struct outbuf *out)
{
	handlers_put_task(out, type, ev, 0);
	outbuf_char(out, ' ');
	handlers_put_state(out, tracecmd_number(type, 3, ev));
	outbuf_str(out, " ==> ");
	handlers_put_task(out, type, ev, 4);
	return tracecmd_learn(s, ev, (int32_t)tracecmd_number(type, 1, ev), type, 0) >= 0 &&
	       tracecmd_learn(s, ev, (int32_t)tracecmd_number(type, 5, ev), type, 4) >= 0;
}

static bool handlers_wakeup(struct tracecmd_sink *s, const struct tracecmd_type *type,
			    const struct event *ev, struct outbuf *out)
{
	handlers_put_task(out, type, ev, 0);
	if (type->fields[3]) {
		outbuf_str(out, " success=");
		outbuf_u64(out, tracecmd_number(type, 3, ev));
	}
	if (type->fields[4]) {
		outbuf_str(out, " CPU:");
		outbuf_u64_width(out, tracecmd_number(type, 4, ev), 3, '0');
	}
	return tracecmd_learn(s, ev, (int32_t)tracecmd_number(type, 1, ev), type, 0) >= 0;
}

/* ---- ftrace ---------------------------------------------------------------------------------- */

static uint32_t handlers_long_bytes(const struct event *ev)
{
	return ev->schema->abi.long_bytes;
}

/* Addresses up to the record's end or -1, with their symbols. */
static bool handlers_stack(struct tracecmd_sink *s, const struct tracecmd_type *type,
			   const struct event *ev, struct outbuf *out)
{
	const uint32_t width = handlers_long_bytes(ev), end = ev->pub.bytes_len;
	const bool swap = ev->pub.flags & SONDE_EVENT_SWAPPED;
	const uint64_t none = width == 8 ? UINT64_MAX : UINT32_MAX;

	(void)s;
	outbuf_str(out, "<stack trace >");
	for (uint32_t at = type->fields[0]->offset; at <= end && end - at >= width; at += width) {
		const uint64_t addr = value_u64(ev->pub.bytes + at, width, swap);
		const char *name;
		uint64_t off;

		if (addr == none)
			break;
		name = tracecmd_symbol(s, ev->recording, addr, &off);
		outbuf_str(out, "\n=> ");
		if (name) {
			outbuf_str(out, name);
			outbuf_str(out, " (");
		}
		outbuf_hex(out, addr);
		if (name)
			outbuf_char(out, ')');
	}
	return true;
}

/* "# 2a 61 62": the id, then the bytes. */
static bool handlers_raw_data(struct tracecmd_sink *s, const struct tracecmd_type *type,
			      const struct event *ev, struct outbuf *out)
{
	(void)s;
	outbuf_str(out, "# ");
	outbuf_hex(out, tracecmd_number(type, 0, ev));
	for (uint32_t at = type->fields[1]->offset; at < ev->pub.bytes_len; at++) {
		outbuf_char(out, ' ');
		outbuf_hex_width(out, ev->pub.bytes[at], 2, '0');
	}
	return true;
}

/* ---- other systems --------------------------------------------------------------------------- */

/* A function by its address: "SYMBOL/0x0", or the address alone. */
static void handlers_put_function(struct tracecmd_sink *s, struct outbuf *out,
				  const struct event *ev, uint64_t addr)
{
	uint64_t off;
	const char *name = tracecmd_symbol(s, ev->recording, addr, &off);

	if (name) {
		outbuf_str(out, name);
		outbuf_str(out, "/0x0");
	} else {
		outbuf_str(out, "0x");
		outbuf_hex(out, addr);
	}
}

static void handlers_put_hex(struct outbuf *out, const char *label, uint64_t v)
{
	outbuf_str(out, label);
	outbuf_str(out, "0x");
	outbuf_hex(out, v);
}

static bool handlers_timer_start(struct tracecmd_sink *s, const struct tracecmd_type *type,
				 const struct event *ev, struct outbuf *out)
{
	(void)s;
	handlers_put_hex(out, "hrtimer=", tracecmd_number(type, 0, ev));
	outbuf_str(out, " function=");
	handlers_put_function(s, out, ev, tracecmd_number(type, 1, ev));
	outbuf_str(out, " expires=");
	outbuf_u64(out, tracecmd_number(type, 2, ev));
	outbuf_str(out, " softexpires=");
	outbuf_u64(out, tracecmd_number(type, 3, ev));
	return true;
}

static bool handlers_timer_expire(struct tracecmd_sink *s, const struct tracecmd_type *type,
				  const struct event *ev, struct outbuf *out)
{
	(void)s;
	handlers_put_hex(out, "hrtimer=", tracecmd_number(type, 0, ev));
	outbuf_str(out, " now=");
	outbuf_u64(out, tracecmd_number(type, 1, ev));
	outbuf_str(out, " function=");
	handlers_put_function(s, out, ev, tracecmd_number(type, 2, ev));
	return true;
}

/* The caller, in front of the print format's text. */
static bool handlers_memory(struct tracecmd_sink *s, const struct tracecmd_type *type,
			    const struct event *ev, struct outbuf *out)
{
	uint64_t off = 0;
	const char *name = tracecmd_symbol(s, ev->recording, tracecmd_number(type, 0, ev), &off);

	(void)s;
	if (name) {
		outbuf_char(out, '(');
		outbuf_str(out, name);
		handlers_put_hex(out, "+", off);
		outbuf_str(out, ") ");
	}
	return false;
}

static bool handlers_flush(struct tracecmd_sink *s, const struct tracecmd_type *type,
			   const struct event *ev, struct outbuf *out)
{
	static const char *const reasons[] = { "flush on task switch", "remote shootdown",
					       "local shootdown", "local mm shootdown" };
	const uint64_t reason = tracecmd_number(type, 1, ev);

	(void)s;
	outbuf_str(out, "pages=");
	outbuf_i64(out, tracecmd_signed(type, 0, ev));
	outbuf_str(out, " reason=");
	if (reason < sizeof(reasons) / sizeof(*reasons))
		outbuf_str(out, reasons[reason]);
	outbuf_fmt(out, " (%lld)", (long long)tracecmd_signed(type, 1, ev));
	return true;
}

/* Which arguments an operation of a futex has. */
enum {
	FUTEX_HEX = 1,   /* val is a value of the futex */
	FUTEX_COUNT = 2, /* val is a number of tasks */
	FUTEX_TIMEOUT = 4,
	FUTEX_VAL2 = 8, /* a number in place of the timeout */
	FUTEX_UADDR2 = 16,
	FUTEX_VAL3 = 32,
	FUTEX_PRIVATE = 128, /* bits of op */
	FUTEX_REALTIME = 256
};

static const struct futex_op {
	const char *name;
	unsigned arguments;
} futex_ops[] = {
	{ "FUTEX_WAIT", FUTEX_HEX | FUTEX_TIMEOUT },
	{ "FUTEX_WAKE", FUTEX_COUNT },
	{ "FUTEX_FD", FUTEX_COUNT },
	{ "FUTEX_REQUEUE", FUTEX_COUNT | FUTEX_VAL2 | FUTEX_UADDR2 },
	{ "FUTEX_CMP_REQUEUE", FUTEX_COUNT | FUTEX_VAL2 | FUTEX_UADDR2 | FUTEX_VAL3 },
	{ "FUTEX_WAKE_OP", FUTEX_COUNT | FUTEX_VAL2 | FUTEX_UADDR2 | FUTEX_VAL3 },
	{ "FUTEX_LOCK_PI", FUTEX_TIMEOUT },
	{ "FUTEX_UNLOCK_PI", 0 },
	{ "FUTEX_TRYLOCK_PI", 0 },
	{ "FUTEX_WAIT_BITSET", FUTEX_HEX | FUTEX_TIMEOUT | FUTEX_VAL3 },
	{ "FUTEX_WAKE_BITSET", FUTEX_COUNT | FUTEX_VAL3 },
	{ "FUTEX_WAIT_REQUEUE_PI", FUTEX_HEX | FUTEX_TIMEOUT | FUTEX_UADDR2 | FUTEX_VAL3 },
	{ "FUTEX_CMP_REQUEUE_PI", FUTEX_COUNT | FUTEX_VAL2 | FUTEX_UADDR2 | FUTEX_VAL3 },
};

static void handlers_put_word(struct outbuf *out, const char *label, uint64_t v)
{
	outbuf_str(out, label);
	outbuf_str(out, "0x");
	outbuf_hex_width(out, v, 8, '0');
}

static bool handlers_futex(struct tracecmd_sink *s, const struct tracecmd_type *type,
			   const struct event *ev, struct outbuf *out)
{
	const uint64_t op = tracecmd_number(type, 1, ev),
		       nr = op & ~(uint64_t)(FUTEX_PRIVATE | FUTEX_REALTIME);
	unsigned has;

	(void)s;
	if (nr >= sizeof(futex_ops) / sizeof(*futex_ops))
		return false;
	has = futex_ops[nr].arguments;
	outbuf_str(out, "op=");
	outbuf_str(out, futex_ops[nr].name);
	if (op & FUTEX_PRIVATE)
		outbuf_str(out, "|FUTEX_PRIVATE_FLAG");
	if (op & FUTEX_REALTIME)
		outbuf_str(out, "|FUTEX_CLOCK_REALTIME");
	handlers_put_word(out, " uaddr=", tracecmd_number(type, 0, ev));
	if (has & FUTEX_HEX)
		handlers_put_word(out, " val=", tracecmd_number(type, 2, ev));
	if (has & FUTEX_COUNT) {
		outbuf_str(out, " val=");
		outbuf_u64(out, tracecmd_number(type, 2, ev));
	}
	if (has & FUTEX_TIMEOUT)
		handlers_put_word(out, " utime=", tracecmd_number(type, 3, ev));
	if (has & FUTEX_VAL2) {
		outbuf_str(out, " val2=");
		outbuf_u64(out, tracecmd_number(type, 3, ev));
	}
	if (has & FUTEX_UADDR2)
		handlers_put_word(out, " uaddr2=", tracecmd_number(type, 4, ev));
	if (has & FUTEX_VAL3)
		handlers_put_word(out, " val3=", tracecmd_number(type, 5, ev));
	return true;
}

/* ---- all ------------------------------------------------------------------------------------- */

static const struct tracecmd_handler handlers[] = {
	{ "sched",
	  "sched_switch",
	  handlers_switch,
	  { "prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid",
	    "next_prio" } },
	{ "sched",
	  "sched_wakeup",
	  handlers_wakeup,
	  { "comm", "pid", "prio", "?success", "?target_cpu" } },
	{ "sched",
	  "sched_wakeup_new",
	  handlers_wakeup,
	  { "comm", "pid", "prio", "?success", "?target_cpu" } },
	{ "ftrace", "function", tracecmd_function_text, { "ip", "parent_ip" } },
	{ "ftrace", "funcgraph_entry", tracecmd_entry_text, { "func", "depth" } },
	{ "ftrace",
	  "funcgraph_exit",
	  tracecmd_exit_text,
	  { "func", "depth", "calltime", "rettime" } },
	{ "ftrace", "kernel_stack", handlers_stack, { "caller" } },
	{ "ftrace", "raw_data", handlers_raw_data, { "id", "buf" } },
	{ "timer",
	  "hrtimer_start",
	  handlers_timer_start,
	  { "hrtimer", "function", "expires", "softexpires" } },
	{ "timer",
	  "hrtimer_expire_entry",
	  handlers_timer_expire,
	  { "hrtimer", "now", "function" } },
	{ "kmem", "kfree", handlers_memory, { "call_site" } },
	{ "kmem", "kmalloc", handlers_memory, { "call_site" } },
	{ "kmem", "kmalloc_node", handlers_memory, { "call_site" } },
	{ "kmem", "kmem_cache_alloc", handlers_memory, { "call_site" } },
	{ "kmem", "kmem_cache_alloc_node", handlers_memory, { "call_site" } },
	{ "kmem", "kmem_cache_free", handlers_memory, { "call_site" } },
	{ "syscalls",
	  "sys_enter_futex",
	  handlers_futex,
	  { "uaddr", "op", "val", "utime", "uaddr2", "val3" } },
	{ "kvm",
	  "kvm_exit",
	  tracecmd_kvm_exit_text,
	  { "exit_reason", "guest_rip", "?isa", "?info1", "?info2" } },
	{ "kvm", "kvm_entry", tracecmd_kvm_entry_text, { "vcpu_id", "?rip" } },
	{ "kvm",
	  "kvm_emulate_insn",
	  tracecmd_kvm_insn_text,
	  { "rip", "csbase", "len", "insn", "failed" } },
	{ "tlb", "tlb_flush", handlers_flush, { "pages", "reason" } },
};

const struct tracecmd_handler *tracecmd_handler_find(const char *system, const char *event)
{
	for (size_t i = 0; i < sizeof(handlers) / sizeof(*handlers); i++)
		if (!strcmp(handlers[i].system, system) && !strcmp(handlers[i].event, event))
			return &handlers[i];
	return NULL;
}
