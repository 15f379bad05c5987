# SPDX-License-Identifier: MIT
"""What scripts get by sonde's rules: names, order of calls, arguments, values.

perf.py compares with perf.
"""

import os
import struct
import sys

from scripttest import DEMO, EXEC, FLAGS, MANY, MIXED, TYPES, Tests, pythons

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'gen'))
from recording import Format, recording  # noqa: E402

t = Tests()

# ---- what a script finds when it starts --------------------------------------------------------

r = t.script("""
import sys, os
import perf_trace_context
print(__name__, __file__ == sys.argv[0], sys.argv[1:], sys.path[0] == os.path.dirname(os.path.abspath(__file__)))
print(perf_trace_context.perf_script_context, __doc__, sorted(k for k in globals() if not k.startswith('__')))
sys.path.append(os.environ['PERF_EXEC_PATH'] + '/scripts/python/Perf-Trace-Util/lib/Perf/Trace')
from perf_trace_context import *
from Core import *
from Util import *
print(perf_script_context, syscall_name(0), syscall_name(99999))
def trace_begin():
    print('begin', perf_script_context is not None, perf_script_context is perf_trace_context.perf_script_context)
n = 0
def trace_unhandled(name, context, fields):
    global n
    n += 1
    if n == 1:
        print(name, context is perf_script_context, type(fields).__name__, list(fields)[:7])
def trace_end():
    print('end', n)
""", args=["a", "b c"])
t.is_(r.out, """__main__ True ['a', 'b c'] True
None None ['os', 'perf_trace_context', 'sys']
None read 99999
begin True True
syscalls__sys_enter_read True dict ['common_cpu', 'common_s', 'common_ns', 'common_pid', 'common_comm', 'common_callchain', '__syscall_nr']
end 474
""", "the order is: top level, trace_begin, events, trace_end", r.err)
t.is_(r.err, "", "a script without mistakes causes no message")

# ---- arguments ---------------------------------------------------------------------------------

COMMON = ("event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, "
          "common_callchain")


def handler(define, compat=None):
    """The output of the first call of a handler of kmem:kmalloc. The handler must pass its
    arguments to got(), which prints them."""
    r = t.script("""
import functools
def got(*a, **k):
    global kmem__kmalloc
    print([x if not isinstance(x, dict) else sorted(x) if len(x) > 20 else type(x).__name__ for x in a][2:], k)
    del kmem__kmalloc
%s
""" % define, FLAGS, compat=compat)
    return (r.out if not r.rc else r.err[-300:]).strip()


plain = handler("def kmem__kmalloc(%s, call_site, ptr, bytes_req, bytes_alloc, gfp_flags, node):\n"
                " got(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, "
                "common_comm,\n"
                "     common_callchain, call_site, ptr, bytes_req, bytes_alloc, gfp_flags, node)" %
                COMMON)
values = eval(plain[:plain.rindex("]") + 1])
t.ok(len(values) == 12 and values[5] == [] and isinstance(values[4], str),
     "a handler of 14 parameters gets 14", plain)
t.is_(values[11], -1, "a negative number")


def expect(got, expected, name):
    t.is_(got, "%s {}" % (expected,), name)


A = ", ".join("a%d" % i for i in range(14))
ALL = "got(%s)" % A
expect(handler("def kmem__kmalloc(%s): %s" % (A, ALL)), values, "parameters may have any names")
expect(handler("def kmem__kmalloc(%s, sd): got(%s, sd)" % (A, A)), values + ["dict"],
       "one parameter more gets perf_sample_dict")
expect(handler("def kmem__kmalloc(%s, sd=None): got(%s, sd)" % (A, A)), values + ["dict"],
       "one parameter more with a default gets perf_sample_dict")
expect(handler("def kmem__kmalloc(%s, sd, *x): got(%s, sd, *x)" % (A, A)), values + ["dict"],
       "*x after perf_sample_dict gets nothing")
expect(handler("def kmem__kmalloc(*a): got(*a)"), values, "*a gets all values")
expect(handler("def kmem__kmalloc(*a, **k): got(*a, **k)"), values, "**k after *a gets nothing")
expect(handler("def kmem__kmalloc(n, c, *a): got(n, c, *a)"), values,
       "*a after two parameters gets the other values")
expect(handler("def kmem__kmalloc(%s, *, sd=None): got(%s, sd)" % (A, A)), values + [None],
       "a keyword-only parameter keeps its default")
expect(handler("kmem__kmalloc = lambda %s: %s" % (A, ALL)), values, "a lambda")
expect(handler("kmem__kmalloc = functools.partial(lambda z, *a: got(*a), 5)"), values, "a partial")
expect(handler("class C:\n def __call__(self, %s): %s\nkmem__kmalloc = C()" % (A, ALL)), values,
       "an object with __call__")
expect(handler("class C:\n def m(self, %s): %s\nkmem__kmalloc = C().m" % (A, ALL)), values,
       "a bound method")
expect(handler("class C:\n def m(self, %s, sd): got(%s, sd)\nkmem__kmalloc = C().m" % (A, A)),
       values + ["dict"], "a bound method with one parameter more")
expect(handler("class C:\n @classmethod\n def m(cls, %s): %s\nkmem__kmalloc = C.m" % (A, ALL)),
       values, "a class method")
expect(handler("kmem__kmalloc = got"), values, "a function with *a and **k")
expect(handler("def kmem__kmalloc(a, b, c): got(a, b, c)"), values[:1],
       "three parameters get the first three")
expect(handler("def kmem__kmalloc(): got(1, 2, 3)"), [3], "a handler without parameters")
expect(handler("def kmem__kmalloc(%s, x, y, z): got(%s, x, y, z)" % (A, A)),
       values + ["dict", None, None], "surplus parameters are None")
expect(handler("def kmem__kmalloc(%s, x=1, y=2, z=3): got(%s, x, y, z)" % (A, A)),
       values + [1, 2, 3], "surplus parameters keep their defaults, as in perf")
expect(handler("def kmem__kmalloc(%s, node, bytes_req): got(0, 0, node, bytes_req)" % COMMON),
       [values[11], values[8]], "fields are bound by name when their number differs")
expect(handler("def kmem__kmalloc(%s, node, cpuset=5): got(0, 0, node, cpuset)" % COMMON),
       [values[11], 5], "fields bound by name: a parameter that is no field keeps its default")
expect(handler("def kmem__kmalloc(%s, x, y=5): got(0, 0, x, y)" % COMMON), [values[6], values[7]],
       "no parameter is named like a field: bound by position")
expect(handler("def kmem__kmalloc(e, c, cpu, s, ns, pid, comm, cc, node, perf_sample_dict):\n"
               " got(0, 0, cpu, node, perf_sample_dict)"), [values[0], values[11], "dict"],
       "fields bound by name: common parameters may have any names")
expect(handler(
    "def kmem__kmalloc(e, c, cpu, s, ns, pid, comm, ptr, node): got(0, 0, comm, ptr, node)"),
       [values[4], values[7], values[11]], "seven common parameters, as in old scripts")
expect(handler("def kmem__kmalloc(e, c, cpu, s, ns, pid, comm): got(0, 0, comm)"), [values[4]],
       "seven common parameters and no field")
seven = "e, c, cpu, s, ns, pid, comm, call_site, ptr, bytes_req, bytes_alloc, gfp_flags, node"
expect(handler("def kmem__kmalloc(%s): got(%s)" % (seven, seven)), values[:5] + values[6:],
       "seven common parameters and all fields")
expect(handler("def kmem__kmalloc(%s, perf_sample_dict): got(%s, perf_sample_dict)" %
               (seven, seven)),
       values[:5] + values[6:] + ["dict"],
       "seven common parameters, all fields and the sample: as many as eight and all fields")
older = COMMON + ", call_site, ptr, bytes_req, bytes_alloc, gfp_flags, perf_sample_dict"
expect(handler("def kmem__kmalloc(%s): got(0, 0, gfp_flags, perf_sample_dict)" % older),
       [values[10], "dict"], "perf_sample_dict is bound by name if the kernel has a new field")
shifted = handler("def kmem__kmalloc(%s): got(0, 0, gfp_flags, perf_sample_dict)" % older,
                  "perf-6.1")
expect(shifted, [values[10], 0xffffffff],
       "--compat: perf_sample_dict is bound by position if the kernel has a new field")


def unhandled(define):
    return t.script("seen = 0\ndef got(*a):\n global seen\n seen += 1\n if seen == 1: print(a)\n" +
                    define, FLAGS).out.strip()


t.has(unhandled(
    "def trace_unhandled(n, c, d): got(n, d['node'], d['common_comm'], d['common_s'] > 0, "
    "list(d)[-1])"),
      "('kmem__kmalloc', -1, ", "trace_unhandled: three parameters")
t.has(unhandled(
    "def trace_unhandled(n, c, d, s): got(len(d), s['ev_name'], s['comm'] == d['common_comm'], "
    "list(s)[:5])"),
      "(12, 'kmem:kmalloc', True, ['ev_name', 'attr', 'sample', 'raw_buf', 'comm'])",
      "trace_unhandled: a fourth parameter gets the sample")
t.is_(unhandled("def trace_unhandled(*a): got(len(a))"), "(3,)",
      "trace_unhandled: *a gets three values")
t.is_(unhandled("def trace_unhandled(n): got(n)"), "('kmem__kmalloc',)",
      "trace_unhandled: one parameter")
t.is_(unhandled(
    "def trace_unhandled(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, "
    "common_comm):\n"
                " got(event_name, common_cpu in (0, 1), common_secs > 0, common_comm == '' or "
                "len(common_comm) > 0)"),
      "('kmem__kmalloc', True, True, True)",
      "trace_unhandled: seven common parameters, as in old scripts")

# ---- handlers that change during the run -------------------------------------------------------

r = t.script("""
calls = []
def first(*a):
    global sched__sched_switch
    calls.append('first')
    sched__sched_switch = second
def second(*a):
    calls.append('second')
    if len(calls) == 4:
        del globals()['sched__sched_switch']
    elif len(calls) == 8:
        globals()['sched__sched_switch'] = 5
sched__sched_switch = first
def trace_begin():
    globals()['sched__sched_wakeup'] = lambda *a: calls.append('w') if len(calls) < 4 else None
def trace_unhandled(name, context, fields):
    if name == 'sched__sched_switch' and len(calls) < 12:
        calls.append(fields['next_comm'] and 'unhandled')
        if len(calls) == 6:
            globals()['sched__sched_switch'] = second
def trace_end():
    print([c for c in calls if c != 'w'])
""")
t.ok(r.out.startswith("['first', 'second'") and "'unhandled'" in r.out and not r.rc,
     "a handler may replace and delete itself; an object that cannot be called is no handler",
     r.out, r.err)

r = t.script("""
n = 0
def make():
    def sched__sched_switch(*a):
        global n
        n += 1
        globals()['sched__sched_switch'] = make()
    return sched__sched_switch
sched__sched_switch = make()
def trace_end(): print(n)
""")
t.ok(int(r.out) > 100, "a handler that is created anew for each event", r)

# Handlers that share code may have other defaults: a value that the event misses is the handler's
# own.
DEFAULTS = """
import types
got = []
def shape(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain,
          call_site, ptr, bytes_req, bytes_alloc, gfp_flags, node, one='a', two='b'):
    got.append((one, two))
    globals()['kmem__kmalloc'] = handlers[len(got) % len(handlers)]
def same_code(*defaults): return types.FunctionType(shape.__code__, globals(), 'shape', defaults)
handlers = [same_code('a', 'b'), same_code('c', 'd'), same_code(0, 'node', 'e', 'f'), same_code('a', 'b')]
kmem__kmalloc = handlers[0]
def trace_end(): print(got[:6])
"""
r = t.script(DEFAULTS, FLAGS)
t.is_(r.out, "%r\n" % [("a", "b"), ("c", "d"), ("e", "f"), ("a", "b"), ("a", "b"), ("c", "d")],
      "handlers that share code, with other defaults, and another number of them", r.err)

# Equal values are built once for consecutive events; these names have the same first eight bytes.
NAMED = """name: named
ID: 1
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char who[16];	offset:8;	size:16;	signed:0;

print fmt: "%s", REC->who
"""
NAMES = [b'kworker/0:1', b'kworker/0:2', b'kworker/', b'kworker/0:2', b'kworker/0:2',
         b'Kworker/0:2', b'kworker/0:23456']
same_start = t.write('same_start.data', recording([Format('own:named', NAMED)],
                                        [[bytes(4) + struct.pack('<i', 101) + name.ljust(16, b'\0')
                                          for name in NAMES]]))
r = t.script("""
def own__named(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain, who):
    print(who)
""", same_start)
t.is_(r.out, b'\n'.join(NAMES).decode() + '\n', 'names with the same first eight bytes', r.err)

REPLACED = """
def a(x, y, z): print('a')
def b(x, y, z, s): print('b', type(s).__name__); trace_unhandled.__code__ = c.__code__
def c(x): pass
def trace_unhandled(x, y, z): print('u'); trace_unhandled.__code__ = b.__code__
"""
for name, python in pythons():  # the exact build and those of the limited API detect it differently
    r = t.script(REPLACED, FLAGS, python=python)
    t.is_(r.out, "u\nb dict\n", "a handler's __code__ may be replaced (%s)" % name, r.err)

# ---- values ------------------------------------------------------------------------------------

SHOW = ("def sonde_t__types(n, c, cpu, s, ns, pid, comm, cc, ip, *f): print(comm.encode('utf-8', "
        "'surrogateescape'), f)\n")
r = t.script(SHOW, TYPES)
NUMBERS = ("-1, 255, -2, 65535, -3, 4294967293, -4, 18446744073709551611, "
           "bytearray(b'\\x00\\x01\\x02\\xff\\xfe\\x7fz\\x01'), "
           "bytearray(b'\\xff\\xff\\xff\\xff\\x02\\x00\\x00\\x00\\xfd\\xff\\xff\\xff"
           "\\x04\\x00\\x00\\x00')")
t.is_(r.out, "".join("b%s (%s, %s, %d, 15)\n" % (comm, NUMBERS, text, n) for comm, text, n in (
    ("'types'", "'plain'", -7), ("'types'", "'tab\\tand\\nline'", 7),
    ("'types'", "bytearray(b'euro \\xe2\\x82\\xac\\x00')", 300),
    ("'types'", "bytearray(b'esc\\x1b[0m\\x00')", -300),
    ("'types'", "'plain again'", 0), ("'types'", "''", 0), ("'caf\\xc3\\xa9'", "'e acute é'", 0),
    ("'caf\\xe9'", "'latin \\udce9'", 0))), "numbers, arrays and text", r.err)
sticky = t.script(SHOW, TYPES, compat="perf-6.1").out
t.ok("bytearray(b'plain again\\x00')" in sticky and "(255, 255, 65534," in sticky,
     "--compat: a field that was bytes once stays bytes; numbers are unsigned", sticky)
r = t.script("def sonde_t__types(n, c, cpu, s, ns, pid, comm, *f): print(comm)", TYPES)
t.ok(not r.rc, "bytes that are not UTF-8 can be printed", r.err)

r = t.script("def sonde_t__many(*a): print(len(a), len(set(a[9:])) <= 4)", MANY)
t.is_(r.out, "69 True\n" * 8, "an event of sixty fields", r.err)

r = t.script("""
def sched__sched_process_exec(n, c, cpu, s, ns, pid, comm, cc, filename, *f): print(comm, filename)
last = None
def raw_syscalls__sys_enter(n, c, cpu, s, ns, pid, comm, cc, id, args):
    global last
    if comm != last: print('  in', comm, len(args), type(args).__name__)
    last = comm
""", EXEC)
t.is_(r.out, """sh /usr/bin/sh
  in sh 48 bytearray
env /usr/bin/env
  in env 48 bytearray
true /usr/bin/true
  in true 48 bytearray
  in sh 48 bytearray
ls /usr/bin/ls
  in ls 48 bytearray
""", "a task has the name of the time of the event", r.err)

# ---- flags and symbols -------------------------------------------------------------------------

r = t.script("""
defs = []
def define_flag_field(*a): defs.append(('field',) + a)
def define_flag_value(*a): defs.append(('value',) + a)
n = 0
def kmem__kmalloc(*a):
    global n
    n += 1
    if n == 1: print(len(defs) > 20, defs[0], [d for d in defs if d[-1] in ('GFP_KERNEL', 'none')], n)
def trace_end(): print(len(defs) == len(set(defs)), [d for d in defs if d[0] == 'value' and d[-1][:1].isdigit()])
""", FLAGS)
t.is_(r.out, "True ('field', 'kmem__kmalloc', 'gfp_flags', '|') [('value', 'kmem__kmalloc', "
             "'gfp_flags', 3264, 'GFP_KERNEL'), "
      "('value', 'kmem__kmalloc', 'gfp_flags', 0, 'none')] 1\nTrue []\n",
      "define_flag_*() are called once for each flag, before the first handler", r.err)

# ---- the current event -------------------------------------------------------------------------

r = t.script("""
from perf_trace_context import *
def ask(f, *a):
    try: return f(*a)
    except Exception as e: return '%s: %s' % (type(e).__name__, e)
def trace_begin(): print(ask(common_pc, perf_script_context))
n = 0
def trace_unhandled(name, context, fields):
    global n, kept
    n += 1
    if n == 1:
        kept = context
        print([type(ask(f, context)).__name__ for f in (common_pc, common_flags, common_lock_depth)],
              ask(common_flags, context) == ask(common_flags, perf_script_context), ask(common_lock_depth, context))
        print(ask(common_pc), ask(common_pc, 5), sep='\\n')
def trace_end(): print(ask(common_flags, kept))
""")
t.is_(r.out, """RuntimeError: there is no current event: only handlers may ask this
['int', 'int', 'int'] True 0
TypeError: context expected 1 argument, got 0
ValueError: PyCapsule_GetPointer called with invalid PyCapsule object
RuntimeError: there is no current event: only handlers may ask this
""", "common_pc(), common_flags() and common_lock_depth()", r.err)

# A handler that is defined during the run gets all later events.
ALL_FROM_START = """
switches = others = 0
def sched__sched_switch(*a):
    global switches
    switches += 1
    if switches == AT: later()
def sched__sched_wakeup(*a):
    global others
    others += switches >= AT
def later(): pass
def trace_end(): print(switches, others)
"""
LATER = """
count = [0, 0]
def other(*a): count[1] += 1
def sched__sched_switch(*a):
    count[0] += 1
    if count[0] == AT: later()
def trace_end(): print(*count)
"""
MEANS = {
    "defining it": "def later():\n global sched__sched_wakeup\n sched__sched_wakeup = other\n",
    "globals()": "def later(): globals()['sched__sched_' + 'wakeup'] = other\n",
    "another module": "import sys\ndef later(): setattr(sys.modules['__main__'], "
                      "'sched__sched_wakeup', other)\n",
    "defining __call__ in a class": "class C: pass\nsched__sched_wakeup = C()\ndef later(): "
                                    "C.__call__ = other\n",
    "a finalizer": "class C:\n def __del__(self): globals()['sched__sched_wakeup'] = other\nc = "
                   "[C()]\ndef later(): c.clear()\n",
}
for at in 1, 20:
    wanted = t.script("AT = %d\n" % at + ALL_FROM_START).out
    t.ok(wanted and wanted.split()[1] != "0", "wake-ups after switch %d" % at, wanted)
    for what, later in MEANS.items():
        r = t.script("AT = %d\n%s%s" % (at, LATER, later))
        t.is_(r.out, wanted, "a handler defined at switch %d by %s" % (at, what), r.err)

# ---- messages ----------------------------------------------------------------------------------

r = t.script(
    "def sched__shed_switch(*a): pass\n\ndef irq__irq_handler_exit(*a): pass\ndef _not__this(*a): "
    "pass\nclass a__b: pass\n")
t.is_(r.err, "sonde: %s/script.py: never called: sched__shed_switch() (line 1; did you mean "
             "sched__sched_switch()?), "
      "irq__irq_handler_exit() (line 3); the events of this recording call sched__sched_switch(), "
      "sched__sched_wakeup(), "
      "syscalls__sys_enter_read(), trace_unhandled()\n" % t.dir,
      "handlers of events that the recording does not have are reported")
r = t.script("def trace_unhandled(*a): pass\ndef process_event(d): print(d['ev_name'])\n", MIXED)
t.is_((sorted(set(r.out.split())), r.rc), (['cpu-clock', 'page-faults/period=3/'], 0),
      "samples of other events go to process_event")

r = t.script("def raw_syscalls__sys_entry(*a): pass\ndef raw_syscalls__sys_enter(*a): pass\n",
             FLAGS)
t.ok("never called: raw_syscalls__sys_entry() (line 1);" in r.err and "did you mean" not in r.err,
     "no hint at an event that has a handler", r.err)
# Handlers change together with other global variables, so __main__'s dict changes with each event.
r = t.script("""
count = 0
seen = []
def first(*args):
    global count
    count += 1
    seen.append(1)
    change()
def second(*args):
    global count
    count += 1
    seen.append(2)
    change()
def change():
    names = globals()
    if count == 5: names['sched__sched_switch'] = second
    elif count == 8: names['sched__sched_switch'] = first
    elif count == 10:
        for n in range(300): names['more%d' % n] = n
    elif count == 12:
        for n in range(300): del names['more%d' % n]
        del names['sched__sched_switch']
        names['trace_unhandled'] = unhandled
    elif count == 15: names[''.join(('sched__', 'sched_switch'))] = second
def unhandled(name, context, fields):
    global count
    if name == 'sched__sched_switch':
        count += 1
        seen.append(0)
        change()
sched__sched_switch = first
def trace_end():
    print(seen[:18])
""")
t.is_((r.out, r.rc), ("[1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 2, 2, 2]\n", 0),
      "handlers may change with each event", r.err)

# Values that a script keeps do not change, although objects are used again.
r = t.script("""
kept, seen = [], {}
n = 0
def trace_unhandled(event_name, context, fields): pass
def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain, prev_comm, *rest):
    keep(common_nsecs)
    del common_nsecs
def sched__sched_wakeup(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain,
                        comm, pid, prio, target_cpu):
    keep(common_nsecs)
def keep(value):
    global n
    n += 1
    if n % 3 == 0: kept.append((value, str(value)))
    if n % 5 == 0: seen[value] = str(value)
    if n % 7 == 0: kept.append(((value, [value]), str((value, [value]))))
def trace_end():
    print(len(kept) > 50, [k for k in kept if str(k[0]) != k[1]], [v for k, v in seen.items() if str(k) != v or seen[int(v)] != v])
""")
t.is_((r.out, r.rc), ("True [] []\n", 0), "numbers that a script keeps do not change", r.err)
r = t.script("""
perf_db_export_mode = True
perf_db_export_callchains = True
kept = []
def keep(row):
    if len(row) % 2 or row[0] % 3: kept.append((row, repr(row)))
def sample_table(*row): keep(row)
def call_path_table(id, parent, symbol, ip):
    if id % 3: kept.append(((parent, ip), repr((parent, ip))))
    elif id % 2: kept.append((id, repr(id)))
def trace_end():
    print(len(kept) > 5, [k for k in kept if repr(k[0]) != k[1]])
""", MIXED)
t.is_((r.out, r.rc), ("True []\n", 0), "rows of tables that a script keeps do not change", r.err)

t.done()
