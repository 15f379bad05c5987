# SPDX-License-Identifier: MIT
"""The same script under perf 6.1 and under `sonde --compat perf-6.1`: stdout must be equal, byte
for byte."""

from scripttest import CHAINS, DEMO, EXEC, FLAGS, FRAMES, TYPES, Tests

t = Tests()

# Prints any value; addresses of symbols and files depend on the kernel of the machine that runs the
# test.
SHOW = """
import sys
def show(o):
    if isinstance(o, dict):
        return '{%s}' % ', '.join('%s: %s' % (k, show(v)) for k, v in o.items()
                                  if k not in ('dso', 'dso_bid', 'dso_map_start', 'dso_map_end', 'symbol', 'symoff', 'sym', 'sym_off'))
    if isinstance(o, list):
        return '[%s]' % ', '.join(show(x) for x in o)
    return '<context>' if type(o).__name__ == 'PyCapsule' else '%s %r' % (type(o).__name__, o)
"""
UNHANDLED = SHOW + "def trace_unhandled(*a): print(*[show(x) for x in a])\n"
UNHANDLED4 = SHOW + "def trace_unhandled(a, b, c, d): print(show(a), show(b), show(c), show(d))\n"

for name, data in (("scheduler and system calls", DEMO), ("call chains", CHAINS), ("flags", FLAGS),
                   ("exec", EXEC)):
    t.like_perf(UNHANDLED, "trace_unhandled, fields: " + name, data)
    t.like_perf(UNHANDLED4, "trace_unhandled, fields and sample: " + name, data)

# With symbols and files, for recordings with addresses of the kernel only.
for name, data in (("call chains", CHAINS), ("short call chains", FRAMES), ("flags", FLAGS),
                   ("exec", EXEC)):
    t.like_perf("def trace_unhandled(a, b, c, d): print(a, c, d)\n",
                "fields and sample with symbols and files: " + name, data)

HANDLERS = SHOW + """
def make(name):
    def f(*a):
        print(name, *[show(x) for x in a])
    return f
for name in ('sched__sched_switch', 'sched__sched_wakeup', 'syscalls__sys_enter_read', 'kmem__kmalloc',
             'raw_syscalls__sys_enter', 'sched__sched_process_exec'):
    globals()[name] = make(name)
"""
for name, data in (("scheduler and system calls", DEMO), ("call chains", CHAINS), ("flags", FLAGS),
                   ("exec", EXEC)):
    t.like_perf(HANDLERS, "handlers: " + name, data)

# perf crashes at the first text that is not UTF-8: the last two events.
six = ("n = 0\ndef sonde_t__types(*a):\n global n\n n += 1\n if n <= 6: print(a[0], a[2:])\n if n "
       "== 6: sys.exit(3)\nimport sys\n")
t.like_perf(six, "fields of all types, text that turns into bytes, sys.exit() in a handler", TYPES)

t.like_perf("""
import sys, perf_trace_context
print(__name__, sys.argv, sys.path[0], perf_trace_context.perf_script_context)
def trace_begin(): print('begin', type(perf_script_context).__name__)
def trace_end(): print('end')
def sched__sched_switch(*a): print('switch')
""", "globals of a script, and the order of calls", args=["x", "y z"])

t.like_perf("""
for kind in ('flag_field', 'flag_value', 'symbolic_field', 'symbolic_value'):
    globals()['define_' + kind] = lambda *a, kind=kind: print('define', kind, a)
def kmem__kmalloc(*a): print('kmalloc')
def raw_syscalls__sys_enter(*a): print('enter')
""", "definitions of flags and symbols", FLAGS)

t.like_perf("""
from perf_trace_context import *
def trace_unhandled(name, context, fields):
    print(name, common_pc(context), common_flags(context), common_lock_depth(context), common_pc(perf_script_context))
    for wrong in ((), (5,), (context, context)):
        try: common_flags(*wrong)
        except Exception as e: print(type(e).__name__, e)
""", "perf_trace_context")

LIBRARY = """
import os, sys
sys.path.append(os.environ['PERF_EXEC_PATH'] + '/scripts/python/Perf-Trace-Util/lib/Perf/Trace')
"""
t.like_perf(LIBRARY + """
from perf_trace_context import *
from Core import *
def kmem__kmalloc(event_name, context, cpu, s, ns, pid, comm, cc, *fields):
    h = EventHeaders(cpu, s, ns, pid, comm, cc)
    print(h.cpu, h.secs, h.nsecs, h.pid, h.comm, h.callchain, h.ts(), h.ts_format())
    for v in (0, 1, 2, 3264, 0xffffffff, fields[4]):
        print(flag_str(event_name, 'gfp_flags', v), '|', flag_str(event_name, 'ptr', v), symbol_str(event_name, 'gfp_flags', v))
def trace_end():
    define_flag_field('e', 'f', '|'); define_flag_value('e', 'f', 1, 'ONE'); define_flag_value('e', 'f', 6, 'SIX')
    define_flag_value('e', 'f', 2, 'TWO'); define_flag_value('e', 'g', 0, 'ZERO'); define_flag_value('e', 'g', 4, 'FOUR')
    define_symbolic_field('e', 's'); define_symbolic_value('e', 's', 3, 'three')
    for v in range(9): print(v, flag_str('e', 'f', v), flag_str('e', 'g', v), symbol_str('e', 's', v), trace_flag_str(v), taskState(v))
    for v in (16, 31, 32, 64, 255): print(trace_flag_str(v), taskState(v))
    print(sorted(k for k in flag_fields), sorted(flag_fields['e']))
    d = autodict(); d['a']['b'] = 1; print(d['a']['b'], type(d).__name__)
    try: d['x'] += 1
    except TypeError as e: print(e)
""", "Core", FLAGS)

t.like_perf(LIBRARY + """
import Util
from Util import *
print(NSECS_PER_SEC, FUTEX_WAIT, FUTEX_WAKE, FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME, FUTEX_CMD_MASK)
print(avg(7, 2), nsecs(3, 4), nsecs_secs(1500000000), nsecs_nsecs(1500000001), nsecs_str(1500000000), nsecs_str(0))
d = {}
for v in (5, 1, 9, 4): add_stats(d, 'k', v); print(d)
print([syscall_name(i) for i in (0, 59, 100000)], [strerror(n) for n in (-2, 2, 13, 100000, 0)])
clear_term()
""", "Util")

t.like_perf("import sys\nprint(1)\nsys.exit(5)\n", "sys.exit() at top level")
t.like_perf("import sys\ndef trace_begin(): sys.exit('words')\n", "sys.exit(words) in trace_begin")
t.like_perf("def sched__sched_switch(a, b, cpu, s, ns, *r): print(cpu, s, ns)\n", "--time",
            options=["--time", "2374.49,"])
t.like_perf("def trace_unhandled(a, b, c): print(a, c['common_cpu'])\n", "-C", options=["-C", "1"])

t.done()
