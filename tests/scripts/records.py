# SPDX-License-Identifier: MIT
"""Handlers of records, counts, losses and defects; the module perf_trace_context.

The test builds the recordings.
"""

import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit",
                                "perfdata"))
import fixtures  # noqa: E402
from scripttest import DATA, DEMO, Tests, pythons  # noqa: E402

t = Tests()

# The sample id: pid, tid, time, cpu (and padding), id.
RECORDS = """
--- attr type=software exclude_guest sample_id_all ids=7
sample_type=IDENTIFIER|IP|TID|TIME|CPU
--- feature NRCPUS
[4,4:u32]
--- data
SAMPLE/user { [7,0x401000:u64] [12,13:u32] [1000:u64] [3,0:u32] }
SWITCH/out { [12,13:u32] [1001:u64] [3,0:u32] [7:u64] }
SWITCH { [12,13:u32] [1002:u64] [2,0:u32] [7:u64] }
SWITCH_CPU_WIDE/out|0x4000 { [20,21:u32] [12,13:u32] [1003:u64] [3,0:u32] [7:u64] }
THROTTLE { [1004:u64] [7:u64] [8:u64] [12,13:u32] [1004:u64] [3,0:u32] [7:u64] }
UNTHROTTLE { [1005:u64] [7:u64] [8:u64] [12,13:u32] [1005:u64] [2,0:u32] [7:u64] }
LOST { [7:u64] [9:u64] [12,13:u32] [1006:u64] [2,0:u32] [7:u64] }
SAMPLE/user { [7,0x401000:u64] [14,14:u32] [1007:u64] [2,0:u32] }
LOST { [7:u64] [2:u64] [12,13:u32] [1008:u64] [3,0:u32] [7:u64] }
LOST_SAMPLES { [15:u64] [0,0:u32] [0:u64] [0,0:u32] [7:u64] }
AUXTRACE_ERROR { [1,2,3,4,5,0:u32] [0x401000:u64] "old\\0" pad64 [0:u64] }
AUXTRACE_ERROR/user { [1,2,3,4,5,2:u32] [0x401000:u64] [77:u64] "new" [0:u8]*61 [6,7:u32] }
"""
COUNTS = """
--- attr type=software exclude_guest sample_type=IDENTIFIER ids=7
--- attr type=software config=2 exclude_user exclude_guest sample_type=IDENTIFIER ids=9
--- feature EVENT_DESC
[2,128:u32] [0:u8]*128 [1:u32] str "sched:cs" [7:u64] [0:u8]*128 [1:u32] str "faults" [9:u64]
--- feature STAT
--- data
THREAD_MAP { [1:u64] [55:u64] [0:u64] [0:u64] }
CPU_MAP { [0:u16] [1:u16] [0xffff:u16] pad8 }
STAT_CONFIG { [1:u64] [0,1:u64] }
STAT { [7:u64] [-1,0:u32] [5,6,6:u64] }
STAT { [9:u64] [-1,0:u32] [100,20,10:u64] }
STAT_ROUND { [0:u64] [1000:u64] }
STAT { [7:u64] [-1,0:u32] [15,12,12:u64] }
STAT_ROUND { [1:u64] [2000:u64] }
"""


def recording(name, text, order="little"):
    path = pathlib.Path(t.dir, name + ".fix")
    path.write_text(text)
    data, _ = fixtures.parse(path)[0].build(order)
    return t.write(name + "-" + order + ".data", data)


records, swapped = recording("records", RECORDS), recording("records", RECORDS, "big")
counts = recording("counts", COUNTS)

ALL = """
def context_switch(*a): print('context_switch', *a)
def throttle(*a): print('throttle', *a)
def unthrottle(*a): print('unthrottle', *a)
def auxtrace_error(*a): print('auxtrace_error', *a)
def trace_end(): print('end')
"""
SWITCHES = """context_switch 1001 3 12 13 -1 -1 -1 True False 0 -1
context_switch 1002 2 12 13 -1 -1 -1 False False 0 -1
context_switch 1003 3 12 13 20 21 -1 True True 0 -1
"""
ERRORS = """auxtrace_error 1 2 3 4 5 4198400 0 old 0 0 -1
auxtrace_error 1 2 3 4 5 4198400 77 new 2 6 7
"""
THROTTLES = "throttle 1004 7 8 3 12 13\nunthrottle 1005 7 8 2 12 13\n"
EXPECTED = ERRORS + SWITCHES + THROTTLES + "end\n"

for name, python in pythons():
    r = t.script(ALL, records, python=python)
    t.is_(r.out, EXPECTED, "records reach their handlers (%s)" % name, r.err)
t.is_(t.script(ALL, swapped).out, EXPECTED,
      "records of a recording in the other byte order reach their handlers")
# perf reads beyond the old error record: the type, misc and size of the next record.
t.is_(t.script(ALL, records, compat="perf-6.1").out, EXPECTED.replace("old 0 0 -1", "old 0 77 0"),
      "--compat: an old error record has two numbers of the next record")
t.like_perf(ALL, "--compat: errors, compared with perf", records)
last = recording("last", RECORDS[:RECORDS.index("AUXTRACE_ERROR/user")])
t.like_perf(ALL, "--compat: an error at the end of the data, compared with perf", last)
LIVE = ALL.replace("def auxtrace_error(*a): print('auxtrace_error', *a)", "")
t.like_perf(LIVE, "--compat: records, compared with perf", records)
for options in (["-C", "3"], ["--time", "0.000001003,"], ["--pid", "14"],
                ["--tid", "13", "-C", "2"]):
    t.like_perf(LIVE, "--compat: records, compared with perf: " + " ".join(options), records,
                options=options)

# Filters apply to records, too, if the record has the value that they test.
for options, expected in ((["-C", "3"], SWITCHES.splitlines()[0::2] + [THROTTLES.splitlines()[0]]),
                          (["--time", "0.000001003,"], SWITCHES.splitlines()[2:] +
                           THROTTLES.splitlines()),
                          (["--pid", "14"], [])):
    r = t.script(LIVE, records, options=options)
    t.is_(r.out.splitlines(), expected + ["end"], "filters apply to records: " + " ".join(options),
          r.err)

# ---- parameters --------------------------------------------------------------------------------

for text, expected, what in (
        ("def context_switch(ts, cpu, *x): print(ts, cpu, len(x))", "1001 3 9",
         "*x gets the other values"),
        ("def context_switch(ts, cpu, pid): print(ts, cpu, pid)", "1001 3 12",
         "fewer parameters get the first"),
        ("def context_switch(out, tid): print(out, tid)", "True 13",
         "names of arguments are bound by name"),
        ("def context_switch(a,b,c,d,e,f,g,h,i,j,k,l): print(a, k, l)", "1001 -1 None",
         "surplus parameters are None"),
        ("def context_switch(a,b,c,d,e,f,g,h,i,j,k,l=5): print(a, k, l)", "1001 -1 5",
         "surplus parameters keep their defaults"),
        ("class C:\n def m(self, ts, *x): print(ts, len(x))\ncontext_switch = C().m", "1001 10",
         "methods"),
        ("import functools\ncontext_switch = functools.partial(print, 'p')",
         "p 1001 3 12 13 -1 -1 -1 True False 0 -1", "a callable without __code__")):
    t.is_(t.script(text, records).out.splitlines()[0], expected, "context_switch: " + what)

for text, by_name, by_position, what in (
        ("np_pid, np_tid, ts, cpu, pid, tid, machine_pid, out, out_preempt, guest_machine_pid, "
         "vcpu", "1001 3 True", "12 13 True", "reordered"),
        ("np_pid, np_tid, ts, cpu, pid, tid, machine_pid, out, out_preempt, guest_machine_pid, "
         "cpu_of_guest", "12 13 True", "12 13 True", "with one unknown name")):
    text = "def context_switch(%s): print(ts, cpu, out)" % text
    got = [t.script(text, records, compat=c).out.splitlines()[:1] for c in (None, "perf-6.1")]
    t.is_(got, [[by_name], [by_position]], "all parameters, %s, by default and under --compat" %
          what)

r = t.script("""
def process_event(d):
    global context_switch
    context_switch = lambda *a: print('late', a[0])
""", records)
t.is_(r.out, "late 1001\nlate 1002\nlate 1003\n",
      "a handler that is defined by another one gets its records")

for name in ("context_switch", "throttle", "auxtrace_error", "trace_lost", "trace_defect"):
    text = "def %s(*a): raise RuntimeError('here')\ndef trace_end(): print('end')" % name
    r = t.script(text, records)
    t.ok(r.rc == 1 and "RuntimeError: here" in r.err and "end" not in r.out,
         "%s() that raises ends the run" % name, r)
    t.is_(t.script(text, records, compat="perf-6.1").rc, 255,
          "%s() that raises under --compat has the status of a failing script" % name)

# ---- counts ------------------------------------------------------------------------------------

STAT = """
def stat__sched_cs(cpu, thread, time, val, ena, run): print('cs', cpu, thread, time, val, ena, run)
def stat__faults(*a): print('faults', *a)
def stat__interval(time): print('interval', time)
def process_stat(*a): print('process_stat')
def process_stat_interval(*a): print('process_stat_interval')
"""
ROUNDS = """cs -1 55 1000 5 6 6
faults -1 55 1000 200 20 10
interval 1000
cs -1 55 2000 10 6 6
faults -1 55 2000 0 0 0
interval 2000
"""
t.is_(t.script(STAT, counts).out, ROUNDS, "counts of perf stat")
t.is_(t.script(STAT, counts, compat="perf-6.12").out, ROUNDS,
      "counts of perf stat under --compat perf-6.12")
t.is_(t.script(STAT, counts, compat="perf-6.1").out, ROUNDS.replace("-1 55", "-1 -1"),
      "counts of perf stat under --compat perf-6.1, without the thread")
BY_NAME = """
globals()['stat__cpu-clock'] = lambda *a: print('clock', *a)
globals()['stat__page-faults'] = lambda *a: print('faults', *a)
def stat__interval(time): print('interval', time)
def process_stat(*a): print('process_stat')
def process_stat_interval(*a): print('process_stat_interval')
"""
for case in fixtures.parse(pathlib.Path(DATA, "records", "counts.fix")):
    t.like_perf(BY_NAME, "counts, compared with perf: " + case.name,
                t.write("stat.data", case.build("little")[0]))
t.has(t.script("def stat__faults(*a): raise KeyError(a[3])", counts).err,
      "in the handler of this event: stat", "a handler of counts that raises")

# ---- losses and defects ------------------------------------------------------------------------

LOSSES = """
def trace_lost(cpu, time, count): print('lost', cpu, time, count)
def trace_defect(name, severity, count, advice): print(name, severity, count, advice[:6])
def trace_end(): print('end')
"""
LOST = ["lost 2 1006 9", "lost 3 1008 2", "lost -1 -1 4"]
for compat in (None, "perf-6.1"):
    r = t.script(LOSSES, records, compat=compat)
    lines = r.out.splitlines()
    t.is_([x for x in lines if x.startswith("lost ")], LOST, "losses: %s" % (compat or "default"),
          r.err)
    t.is_([x for x in lines if x.startswith("lost-events ")][-1:],
          ["lost-events data-loss 15 events"], "the last call for a defect has the total count")
    t.has(r.out, "throttled info 1", "other defects")
    t.is_(lines[-1], "end", "trace_defect is called before trace_end")
    t.has(r.err, "lost-events: 15", "the closing line has the defects")
r = t.script(LOSSES, records, options=["--time", "1,2", "-C", "1"])
t.is_([x for x in r.out.splitlines() if x.startswith("lost ")], LOST,
      "losses are reported whatever filters choose")

# A LOST record counts everything that a buffer had no room for, records of state, too, and names
# the event that noticed it. Sums at the end, of events and of the dummy event, say what was lost.
dummy = recording("dummy", """
--- attr type=software exclude_guest sample_id_all ids=7
sample_type=IDENTIFIER|TID|TIME|CPU
--- attr type=software config=9 exclude_guest sample_id_all ids=8
sample_type=IDENTIFIER|TID|TIME|CPU
--- data
SAMPLE/user { [7:u64] [12,13:u32] [1000:u64] [3,0:u32] }
LOST { [8:u64] [6:u64] [12,13:u32] [1006:u64] [2,0:u32] [8:u64] }
LOST_SAMPLES { [4:u64] [0,0:u32] [0:u64] [0,0:u32] [7:u64] }
LOST_SAMPLES { [2:u64] [0,0:u32] [0:u64] [0,0:u32] [8:u64] }
""")
r = t.script(LOSSES, dummy)
t.is_(sorted(x for x in r.out.splitlines() if x.startswith("lost")),
      ["lost 2 1006 6", "lost-events data-loss 4 events", "lost-state data-loss 2 names,"],
      "a loss that the dummy event noticed: the sum at once, its kinds at the end", r.err)

# As long as sums of some events are missing, the rest of a LOST record is not counted as records of
# state.
several = recording("several", """
--- attr type=software exclude_guest sample_id_all ids=7
sample_type=IDENTIFIER|TID|TIME|CPU
--- attr type=software config=2 exclude_guest sample_id_all ids=8
sample_type=IDENTIFIER|TID|TIME|CPU
--- data
LOST { [7:u64] [6:u64] [12,13:u32] [1006:u64] [2,0:u32] [7:u64] }
SAMPLE/user { [7:u64] [12,13:u32] [1007:u64] [3,0:u32] }
LOST_SAMPLES { [4:u64] [0,0:u32] [1008:u64] [0,0:u32] [7:u64] }
LOST_SAMPLES { [2:u64] [0,0:u32] [1009:u64] [0,0:u32] [8:u64] }
""")
r = t.script(LOSSES, several)
t.is_([x for x in r.out.splitlines() if x.startswith("lost")],
      ["lost 2 1006 6", "lost-events data-loss 6 events"],
      "sums of two events that explain all losses", r.err)

# ---- samples without an address: perf cannot print them and does not pass them to scripts ------

bare = recording("bare", """
--- attr type=software exclude_guest sample_id_all ids=7
sample_type=IDENTIFIER|TID|TIME|CPU
--- data
SAMPLE/user { [7:u64] [12,13:u32] [1000:u64] [3,0:u32] }
""")
BARE = """
def trace_begin(): print('begin')
def process_event(d): print(d['sample']['tid'], d['sample']['ip'], d['sample']['addr'])
def trace_end(): print('end')
"""
for compat in (None, "perf-6.1"):
    r = t.script(BARE, bare, compat=compat)
    t.is_((r.out, r.err, r.rc), ("begin\n13 0 0\nend\n", "", 0),
          "samples without an address reach scripts, compat %s" % compat)
theirs = t.perf(BARE, bare)
if theirs:
    t.is_((theirs.out, theirs.rc), ("begin\nend\n", 255),
          "samples without an address do not reach scripts of perf")
FIRST = ("import sys\ndef trace_unhandled(*a): print(a[0]); sys.exit(3)\ndef trace_end(): "
         "print('end')\n")
r = t.script(FIRST, compat="perf-6.1", options=["-F", "iregs"])
t.is_((r.out, r.rc), ("syscalls__sys_enter_read\n", 3),
      "columns that samples do not have, with a script", r.err)
theirs = t.perf(FIRST, options=["-F", "iregs"])
if theirs:
    t.is_((theirs.out, theirs.rc), ("end\n", 255), "end perf")

# ---- perf_trace_context ------------------------------------------------------------------------

FUNCTIONS = """
import perf_trace_context as p
from perf_trace_context import *
def t(f, *a):
    try: return f(*a)
    except Exception as e: return "%s: %s" % (type(e).__name__, e)
"""
OUTSIDE = FUNCTIONS + """
names = [common_pc, common_flags, common_lock_depth, perf_sample_insn, perf_sample_srcline, perf_sample_srccode]
def ask():
    for f in names: print(t(f, perf_script_context))
def trace_begin(): print(p.perf_script_context is perf_script_context); ask()
def trace_end(): ask()
"""
SAYS = "RuntimeError: there is no current event: only handlers may ask this\n" * 6
r = t.script(OUTSIDE, DEMO)
t.is_((r.out, r.rc), ("True\n" + SAYS * 2, 0), "functions of the context raise outside of events")

ARGUMENTS = FUNCTIONS + """
def trace_begin():
    c = perf_script_context
    for f in (common_pc, perf_sample_insn, perf_sample_srcline, perf_sample_srccode): print(t(f), t(f, 1), t(f, c, 1))
    print(t(perf_set_itrace_options), t(perf_set_itrace_options, 1, "b"), t(perf_set_itrace_options, c, "b", 1))
    print(t(perf_set_itrace_options, c, OPTIONS), t(perf_set_itrace_options, c, "b"), t(perf_set_itrace_options, c))
"""
for options in ("i0ns", "", "K", "i5x", "g2000", "T", "Y", "e+"):
    t.like_perf(ARGUMENTS.replace("OPTIONS", repr(options)),
                "wrong arguments; perf_set_itrace_options(%r)" % options, DEMO)
t.like_perf(ARGUMENTS.replace("OPTIONS", "'b'"), "perf_set_itrace_options() after --itrace", DEMO,
            options=["--itrace=i"])
t.has(t.script(FUNCTIONS + "print(t(perf_set_itrace_options, p.perf_script_context, 'b'))\n"
               "def trace_begin(): print(t(perf_set_itrace_options, perf_script_context, 5))\n",
               DEMO).out,
      "TypeError: itrace_options: the options are a str",
      "perf_set_itrace_options() with options that are not text")
AT_END = FUNCTIONS + """
def ask(): print(*[t(perf_set_itrace_options, perf_script_context, o) for o in OPTIONS])
def trace_begin(): BEGIN
def sched__sched_switch(*a): pass
def trace_end(): ask()
"""
for begin in ("pass", "ask()"):
    for options in ("('b', 'b')", "('zz', 'b')", "('i5x',)"):
        t.like_perf(AT_END.replace("OPTIONS", options).replace("BEGIN", begin),
                    "perf_set_itrace_options(): trace_end %s, trace_begin %s" % (options,
                                                                                 begin), DEMO)
t.like_perf(AT_END.replace("OPTIONS", "('b',)").replace("BEGIN", "pass"),
            "perf_set_itrace_options() in trace_end after --itrace", DEMO, options=["--itrace=i"])
r = t.script(AT_END.replace("OPTIONS", "('b', 'b')").replace("BEGIN", "pass"), DEMO)
t.is_(r.out, "0 1\n", "perf_set_itrace_options() in trace_end after --itrace, without --compat",
      r.err)
t.has(t.script(FUNCTIONS +
               "import _datetime, datetime\nprint(t(common_pc, datetime.datetime_CAPI))", DEMO).out,
      "ValueError", "a capsule of another module")

IN_EVENTS = FUNCTIONS + """
n = 0
def sched__sched_switch(name, context, *a):
    global n
    n += 1
    if n == 1: print([t(f, c) for c in (context, perf_script_context) for f in
                      (common_pc, common_lock_depth, perf_sample_insn, perf_sample_srcline, perf_sample_srccode)])
"""
t.like_perf(IN_EVENTS, "functions of the context in a tracepoint's handler", DEMO)
r = t.script(FUNCTIONS + "def context_switch(*a): print(t(common_pc, perf_script_context), "
             "t(perf_sample_insn, perf_script_context), t(perf_sample_srccode, "
             "perf_script_context))", records)
t.is_(r.out, "0 None (None, 0, None)\n" * 3, "records have no code")

CONFIG = ("import perf_trace_context as p\nprint([p.perf_config_get(n) for n in ('a.b', "
          "'annotate.objdump', 'no.such')])")
config = t.write("perfconfig",
                 "[a]\n\tb = one two\n[annotate]\n\tobjdump = /bin/x\n[a]\n\tb = three\n")
t.is_(t.script(CONFIG, DEMO, env={"PERF_CONFIG": config}).out, "['three', '/bin/x', None]\n",
      "perf_config_get()")
t.is_(t.script(CONFIG, DEMO).out, "[None, None, None]\n", "perf_config_get() without files")
t.done()
