# SPDX-License-Identifier: MIT
"""Binding of a handler's parameters to values: by position or by name, warnings, errors."""

import re

from scripttest import DEMO, SONDE, Tests, environment, perf_version, pythons, run

t = Tests()

EIGHT = ("event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, "
         "common_callchain")
SEVEN = "event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm"
SWITCH = ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"]
HEAD = """
def trace_begin(): print('begin')
def got(*a, **k):
    global sched__sched_switch, sched__sched_wakeup
    print([type(x).__name__ if isinstance(x, (dict, list)) else x for x in a], sorted(k.items()))
    sched__sched_switch = sched__sched_wakeup = lambda *a: None
def trace_end(): print('end')
"""


def call(parameters, shown, compat=None, options=(), event="sched__sched_switch", data=DEMO,
         python=None, verbose=()):
    """(the values that a handler with these parameters gets, as text; messages without the file's
    name; exit status)"""
    text = HEAD + "def %s(%s):\n got(%s)\n" % (event, parameters, shown)
    if verbose:
        path = t.write("script.py", text)
        r = run([SONDE] + list(verbose) + (["--compat", compat] if compat else []) +
                ["script", "-i", data, "-s", path], None,
                environment(SONDE_PYTHON=t.python), t.dir)
    else:
        r = t.script(text, data, compat=compat, options=options, python=python)
    out = r.out.splitlines()
    err = [re.sub(r"^sonde: .*/script\.py:", "", line) for line in r.err.splitlines()
           if ": parameter " in line]
    return (out[1] if len(out) > 1 else None), err, r.rc


def values_of(event, data=DEMO):
    """The fields of the first such event, as trace_unhandled gets them."""
    r = t.script(
        "def trace_unhandled(name, c, d):\n global n\n if name == %r and not n: print(d); n = "
        "1\nn = 0\n" % event, data, both=False)
    return eval(r.out.splitlines()[0])


first = values_of("sched__sched_switch")
woken = values_of("sched__sched_wakeup")
FIRST = [first[name] for name in SWITCH]


def gives(parameters, shown, expected, name, keywords="[]", said=(), **more):
    out, err, rc = call(parameters, shown, **more)
    t.is_((out, err, rc), ("%s %s" % (expected, keywords), list(said), 0), name)


def misfit(parameter, gets, nearest, event="sched:sched_switch", line=8):
    return "%d: %s(): parameter %s is no field of %s (the nearest is %s) and %s" % (
        line, event.replace(":", "__"), parameter, event, nearest, gets)


# ---- (a) all names are fields: by name, in any order -------------------------------------------

gives(EIGHT + ", next_comm, prev_pid", "next_comm, prev_pid",
      [first["next_comm"], first["prev_pid"]], "by name: two fields, in another order")
backwards = ", ".join(reversed(SWITCH))
gives(EIGHT + ", " + backwards, backwards, FIRST[::-1], "by name: all fields, in another order")
gives(EIGHT + ", " + backwards + ", sd", backwards + ", sd", FIRST[::-1] + ["dict"],
      "by name: all fields, then the sample")
gives(EIGHT + ", perf_sample_dict, next_comm", "perf_sample_dict, next_comm",
      ["dict", first["next_comm"]], "by name: perf_sample_dict before a field")
gives(SEVEN + ", " + backwards, backwards, FIRST[::-1],
      "by name: seven common parameters, fields in another order")
gives("a, b, c, d, e, pid, comm, f, prio, comm_", "pid, comm, prio, comm_",
      [woken["common_pid"], woken["common_comm"], woken["prio"], woken["comm"]],
      "pid and comm among the common parameters are those of the task",
      event="sched__sched_wakeup")

# ---- (b) no name of a field at the position of another field: by position ----------------------

gives(EIGHT + ", next_com", "next_com", [first["prev_comm"]],
      "by position: a misspelt name, with a warning",
      said=[misfit("next_com", "gets prev_comm by position", "next_comm")])
gives(EIGHT + ", prev_comm, pid, prev_prio, prev_stat", "pid, prev_stat",
      [first["prev_pid"], first["prev_state"]],
      "by position: two misspelt names, with a warning each",
      said=[misfit("pid", "gets prev_pid by position", "prev_pid"),
            misfit("prev_stat", "gets prev_state by position", "prev_state")])
names = ["a", "prev_pid", "b", "prev_state", "c", "next_pid", "d"]
gives(EIGHT + ", " + ", ".join(names), ", ".join(names), FIRST,
      "by position: as many names as fields, without a warning")
gives(EIGHT + ", " + ", ".join(names) + ", x", ", ".join(names) + ", x", FIRST + ["dict"],
      "by position: one more name, which gets the sample")
gives(EIGHT + ", prev_com, prev_pid, perf_sample_dict", "prev_com, prev_pid, perf_sample_dict",
      FIRST[:2] + ["dict"], "by position: perf_sample_dict gets the sample",
      said=[misfit("prev_com", "gets prev_comm by position", "prev_comm")])
gives(EIGHT + ", " + ", ".join(SWITCH) + ", next_prios, y, z=3", "prev_comm, next_prios, y, z",
      [FIRST[0], "dict", None, 3], "by position: more names than values",
      said=[misfit("next_prios", "gets perf_sample_dict by position", "next_prio"),
            misfit("y", "gets no value", "prev_pid")])
gives(SEVEN + ", prev_com, prev_pid, prev_prio", "prev_com, prev_pid, prev_prio", FIRST[:3],
      "by position: seven common parameters, the first field misspelt",
      said=[misfit("prev_com", "gets prev_comm by position", "prev_comm")])
gives(EIGHT + ", prev_comm, foo=5, bar=6", "prev_comm, foo, bar", [FIRST[0], 5, 6],
      "other names keep their defaults if one name is a field")
gives(EIGHT + ", prev_comm, foo=5, *rest", "foo, *rest", FIRST[1:],
      "by position if perf can call the handler: the default is not kept",
      said=[misfit("foo", "gets prev_pid by position", "prev_pid")])
gives(EIGHT + ", foo=5", "foo", FIRST[:1],
      "by position if no name is a field: the default is not kept",
      said=[misfit("foo", "gets prev_comm by position", "prev_comm")])

# ---- (c) other handlers: by name, or the default, or an error ----------------------------------

gives(EIGHT + ", next_comm, cpuset=5, prev_pid=None", "next_comm, cpuset, prev_pid",
      [first["next_comm"], 5, first["prev_pid"]], "a name that is no field gets its default value")
gives(EIGHT + ", next_comm, cpuset=5", "next_comm, cpuset", [first["next_comm"], 5],
      "the last name is no field: it gets its default value")
out, err, rc = call(EIGHT + ", next_comm, prev_pd, prev_prio", "next_comm, prev_pd")
t.is_((out, err, rc), (None, [misfit("prev_pd", "has no default value", "prev_pid")], 1),
      "a name that is no field and has no default ends the run before the first event")
out, err, rc = call(EIGHT + ", comm, pid, prio, success, target_cpu", "success",
                    event="sched__sched_wakeup")
t.ok(out is None and rc == 1 and len(err) == 1 and
     "parameter success is no field of sched:sched_wakeup (the nearest is " in err[0],
     "a field of older kernels without a default ends the run", out, err, rc)
r = t.script("n = 0\ndef sched__sched_wakeup(*a):\n global n\n n += 1\ndef trace_end(): print(n)\n"
             "def sched__sched_switch(%s, next_comm, foo): pass\n" % EIGHT)
t.ok(r.out == "" and r.rc == 1 and "foo" in r.err,
     "such a run calls no handler, and not trace_end", r)

# ---- *args, **kw, keyword-only parameters ------------------------------------------------------

gives(EIGHT + ", *args", "*args", FIRST, "*args gets all fields")
gives("*args", "*args[8:]", FIRST, "*args alone gets the common values, then all fields")
gives(EIGHT + ", prev_comm, *args", "prev_comm, args[0]", FIRST[:2],
      "*args after the first field gets the following fields")
gives(EIGHT + ", next_comm, *args", "next_comm, *args", [first["next_comm"]] + FIRST,
      "*args after a field by name gets all fields")
gives(EIGHT + ", next_com, *args", "next_com", FIRST[:1],
      "a misspelt name before *args, with a warning",
      said=[misfit("next_com", "gets prev_comm by position", "next_comm")])
keywords = sorted((n, first[n]) for n in SWITCH)
gives(EIGHT + ", **kw", "**kw", [], "**kw gets the fields", keywords)
gives("**kw", "**kw", [], "**kw alone gets the fields", keywords)
gives(EIGHT + ", next_comm, **kw", "next_comm, **kw", [first["next_comm"]],
      "**kw gets the remaining fields",
      [k for k in keywords if k[0] != "next_comm"])
gives(EIGHT + ", *args, **kw", "*args, **kw", FIRST, "**kw after *args gets nothing")
gives("a, b, c, d, e, pid, comm, f, **kw", "pid, comm, **kw",
      [woken["common_pid"], woken["common_comm"]],
      "a field named like a common parameter gets an underscore",
      sorted({"pid_": woken["pid"], "comm_": woken["comm"], "prio": woken["prio"],
              "target_cpu": woken["target_cpu"]}.items()), event="sched__sched_wakeup")
gives(EIGHT + ", *, next_comm, perf_sample_dict, other=7", "next_comm, perf_sample_dict, other",
      [first["next_comm"], "dict", 7], "keyword-only parameters are bound by name")
out, err, rc = call(EIGHT + ", *, next_com", "next_com")
t.is_((out, err, rc), (None, [misfit("next_com", "has no default value", "next_comm")], 1),
      "a misspelt keyword-only parameter without a default ends the run")
for name, python in pythons():
    gives(EIGHT + ", next_comm, foo=5, *, prev_pid, **kw", "next_comm, foo, prev_pid, *kw.items()",
          [first["next_comm"], 5, first["prev_pid"]] +
          [(n, first[n]) for n in SWITCH if n not in ("next_comm", "prev_pid")],
          "all kinds of parameters with %s" % name, python=python)

# ---- layouts -----------------------------------------------------------------------------------

with open(DEMO, "rb") as f:
    demo = f.read()
other = t.write("other.data", demo.replace(b"int prio;", b"int urge;"))
two = ("def sched__sched_wakeup(%s, comm, %%s): seen[name] = seen.get(name, 0) + 1; "
       "values.add((comm, %%s))\n" % EIGHT.replace("event_name", "name"))
two += "seen, values = {}, set()\ndef trace_end(): print(seen, values)\n"
one = t.script(two % ("prio", "prio"), DEMO).out
r = t.script(two % ("prio", "prio"), DEMO, options=["-i", other])
t.ok("prio" not in one and not r.rc and r.err.count("parameter prio ") == 1 and
     "gets pid by position" in r.err and
     len(eval(r.out[r.out.index("} ") + 2:])) > len(eval(one[one.index("} ") + 2:])),
     "each layout of an event is bound anew: one by name, one by position", one, r)
r = t.script(two % ("target_cpu, prio", "prio"), DEMO, options=["-i", other])
t.ok(r.rc == 1 and "parameter prio is no field of sched:sched_wakeup (the nearest is " in r.err and
     r.out == "",
     "one layout that cannot be bound ends the run before the first event", r)

# ---- one warning for each handler --------------------------------------------------------------

r = t.script("def make(): return lambda %s, next_com: got(next_com)\n"
             "def got(x): globals()['sched__sched_switch'] = make()\n"
             "sched__sched_switch = make()\n" % EIGHT)
t.is_((r.err.count("next_com "), r.rc), (1, 0),
      "one warning for a handler that is created anew for each event")
r = t.script("def sched__sched_switch(%s, *a): globals()['sched__sched_wakeup'] = late\n"
             "def late(%s, comm, x, target_cpu): print('late')\n" % (EIGHT, EIGHT))
t.ok(r.rc == 1 and "sched__sched_wakeup(): parameter x" in r.err and "late" not in r.out and
     "Traceback" not in r.err,
     "a handler that is defined during the run ends it at its first call", r)
r = t.script(
    "def make(n):\n def f(%s, next_comm, x=n, prev_pid=None): got(x)\n return f\nn = 0\nseen = []\n"
             "def got(x):\n global n, sched__sched_switch\n seen.append(x); n += 1\n "
             "sched__sched_switch = make(n)\n"
             "sched__sched_switch = make(0)\ndef trace_end(): print(seen == list(range(n)), n > "
             "20)\n" % EIGHT)
t.is_((r.out, r.rc), ("True True\n", 0), "functions that share code have their own defaults")

SHARED = """
import types
seen = []
def shape(%s): seen.append(x); globals()['sched__sched_switch'] = fewer
def same_code(*defaults): return types.FunctionType(shape.__code__, globals(), 'shape', defaults)
more, fewer = same_code('kept'), same_code()
sched__sched_switch = more
def trace_end(): print(seen[:3] == ['kept', %d, %d], seen[:3])
"""
pids = eval(t.script(
    "pids = []\ndef sched__sched_switch(%s): pids.append(prev_pid)\ndef trace_end(): "
    "print(pids[:3])\n" %
                     ", ".join([EIGHT] + SWITCH), both=False).out)
r = t.script(SHARED % (EIGHT + ", prev_comm, x='kept'", pids[1], pids[2]))
t.ok((r.rc, r.out[:5], r.err.count("parameter x ")) == (0, "True ", 1) and
     "gets prev_pid by position" in r.err,
     "functions that share code, with a default and without: the second is bound anew", r)
r = t.script(SHARED % (EIGHT + ", next_comm, prev_pid, x='kept'", 0, 0))
t.ok(r.rc == 1 and "parameter x is no field of sched:sched_switch" in r.err and
     "has no default value" in r.err and
     "Traceback" not in r.err,
     "functions that share code: the second has no default, which ends the run", r)

# ---- --compat ----------------------------------------------------------------------------------

gives(EIGHT + ", " + backwards, backwards, FIRST, "--compat: by position, as perf does",
      compat="perf-6.1")
gives(EIGHT + ", next_com", "next_com", FIRST[:1], "--compat: no warning", compat="perf-6.1")
out, err, rc = call(EIGHT + ", next_com", "next_com", compat="perf-6.1", verbose=["-v"])
t.ok(out == "%s []" % FIRST[:1] and misfit("next_com", "gets prev_comm by position", "next_comm") in
     err and rc == 0,
     "--compat -v: the warning of a run without --compat", out, err, rc)
out, err, rc = call(EIGHT + ", next_comm, foo", "next_comm, foo", compat="perf-6.1")
t.is_((out, err, rc), ("%s []" % [first["next_comm"], None], [], 0),
      "--compat: a call that crashes perf does not end the run")
if (perf_version() or "").startswith("6.1."):
    t.like_perf("def sched__sched_switch(%s, %s): print(%s)" % (EIGHT, backwards, backwards),
                "--compat: all fields in another order, compared with perf")

t.done()
