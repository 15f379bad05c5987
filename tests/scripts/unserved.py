# SPDX-License-Identifier: MIT
"""Messages and statuses of runs in which no function is called, or no event passes the filters."""

from scripttest import DEMO, MIXED, SONDE, Tests, environment, run

t = Tests()


def says(text, expected, name, data=DEMO, options=(), suffix="py", rc=0, out=""):
    """True if stderr is one line with these parts in order; None: stderr is empty."""
    r = t.script(text, data, name="script." + suffix, options=options, both=suffix == "py")
    lines = r.err.splitlines()
    at, good = 0, len(lines) == (0 if expected is None else 1)
    for part in expected or ():
        at = lines[0].find(part, at) if lines else -1
        good = good and at >= 0
    t.ok(good and (r.rc, r.out) == (rc, out), name, r)


# ---- no function is called ---------------------------------------------------------------------

CALLS = ("; the events of this recording call sched__sched_switch(), sched__sched_wakeup(), "
         "syscalls__sys_enter_read(), trace_unhandled()")
PERL_CALLS = CALLS.replace("__", "::").replace("()", "") + ", process_event"
says("def sched_switch(*a): pass\n",
     ["script.py: never called: sched_switch() (line 1; did you mean sched__sched_switch()?)" +
      CALLS], "an event without its system")
says("def trace_begin(): pass\ndef process_events(d): pass\ndef trace_end(): print('end')\n",
     ["never called: process_events() (line 2; did you mean process_event()?)"],
     "a misspelt process_event", out="end\n")
says("def process_events(d): pass\n",
     ["did you mean process_event()?); the events of this recording call ", "process_event()"],
     "a misspelt process_event, other samples", MIXED)
says("def process_event(d): pass\n", ["script.py: none of its functions is ever called" + CALLS],
     "process_event, all events are tracepoints")
says("def helper(x): pass\n", ["none of its functions is ever called"],
     "no name that resembles an event's")
says("def sched_switch(*a): pass\n", ["did you mean sched__sched_switch()?"], "--strict: status 3",
     options=["--strict"], rc=3)
says("def sched_switch(*a): pass\n", ["did you mean sched__sched_switch()?"],
     "--fail-on-loss: it is no loss", options=["--fail-on-loss"])
says("print(1)\n", None, "a script without functions", out="1\n")
says("def trace_begin(): pass\ndef trace_end(): print(1)\n", None, "only begin and end", out="1\n")
says("def sched__sched_switch(*a): pass\ndef helper(): pass\n", None, "a helper and a handler")
says("def sched__sched_swich(*a): pass\ndef irq__x(*a): pass\ndef _irq__y(*a): pass\n"
     "def syscalls__sys_enter_read(*a): pass\n",
     ["script.py: never called: sched__sched_swich() (line 1; did you mean "
      "sched__sched_switch()?), irq__x() (line 2)"
      "; no event of this recording has such a name"], "several handlers of no event: one line")
says("sub sched_switch {}\n",
     ["script.pl: never called: sched_switch (did you mean sched::sched_switch?)" + PERL_CALLS],
     "Perl: an event without its system", suffix="pl")
says("def print_unhandled(*a): pass\ndef sched__x(*a): pass\n",
     ["script.py: never called: sched__x() (line 2); the events"],
     "a function that resembles a handler")
says("sub print_unhandled {}\nsub sched::x {}\n", ["script.pl: never called: sched::x; the events"],
     "a sub that resembles a handler",
     suffix="pl")
says("use POSIX;\nsub process_events {}\nsub trace_end { print qq(end\\n) }\n",
     ["never called: process_events (did you mean process_event?)"],
     "Perl: a misspelt process_event", suffix="pl", out="end\n")
says("sub shed::sched_switch {}\n",
     ["never called: shed::sched_switch (did you mean sched::sched_switch?)"], "Perl: --strict",
     suffix="pl", options=["--strict"], rc=3)
says("use POSIX;\nprint qq(1\\n)\n", None, "Perl: a script without subs", suffix="pl", out="1\n")
says("sub sched::swich {}\nsub sched::x {}\nsub syscalls::sys_enter_read {}\n",
     ["script.pl: never called: sched::swich",
      "sched::x; no event of this recording has such a name"], "Perl: one line", suffix="pl")

# Only one of the recorded events happened.
ONE = t.dir + "/one.data"
r = run([SONDE, "cut", "-e", "sched:sched_switch", "-i", DEMO, "-o", ONE])
t.ok(r.rc == 0, "sonde cut", r)
says("def sched__sched_wakeup(*a): pass\n",
     ["script.py: never called: sched__sched_wakeup() (line 1; its event did not happen)"
          "; the events of this recording call sched__sched_switch(), trace_unhandled()"],
     "a handler of an event that did not happen", ONE)
says("def sched__sched_wakeup(*a): pass\ndef sched__sched_switch(*a): print('called')\ndef "
     "trace_end(): pass\n", None,
     "handlers of events that happened and that did not", ONE, out="called\n" * 155)
says("sub sched::sched_wakeup {}\n",
     ["script.pl: never called: sched::sched_wakeup (its event did not happen); "
      "the events of this recording call sched::sched_switch, trace_unhandled, process_event"],
     "Perl: a sub of an event that did not happen", ONE, suffix="pl", options=["--strict"], rc=3)

# ---- no event passes a filter ------------------------------------------------------------------

HAS = "sonde: no event passed the filters; the recording has 474 events"
for options, what in ((["--time", "1,2"], " from 2374.488597694 to 2374.500775617"),
                      (["--time", "90000,"], " from 2374.488597694 to 2374."),
                      (["--comms", "nosuch"], ", of tasks called cat, grep, find, xargs, sh"),
                      (["--pid", "1"], ", of the processes 10468 (cat), 10467 (grep)"),
                      (["--tid", "1"], ", of the threads 10468 (cat)"),
                      (["--time", "2374,2375", "--pid", "1"],
                       " from 2374.488597694 to 2374.500775617, of the processes 10468 (cat)"),
                      (["--reltime", "--time", "7,8"], " from 0.000000000 to 0.012177923"),
                      (["-S", "no_such_function"], "")):
    if what:  # names of functions are looked up; a message reports missing names of the kernel
        says("def sched__sched_switch(*a): print(1)\n", [HAS + what],
             "Python: " + " ".join(options), options=options)
        says("sub sched::sched_switch { print 1 }\n", [HAS + what], "Perl: " + " ".join(options),
             options=options, suffix="pl")
    for form in ((), ("--format", "jsonl")):
        for strict, rc in (((), 0), (("--strict",), 3), (("--fail-on-loss",), 0)):
            r = run([SONDE, "script", "-i", DEMO, *options, *form, *strict], None, environment())
            t.ok(r.err.startswith(HAS + what) and r.err.count("no event passed") == 1 and
                 r.rc == rc,
                 "text: " + " ".join([*options, *form, *strict]), r)
r = run([SONDE, "script", "-i", DEMO, "-i", DEMO, "--comms", "nosuch"], None, environment())
t.ok("the recording has 948 events, of tasks called cat" in r.err and not r.rc, "two recordings", r)
r = run(["sh", "-c", "cat %s | %s script -i - --pid 1" % (DEMO, SONDE)], None, environment())
t.ok(r.err == HAS +
     ", of the processes 10468 (cat), 10467 (grep), 10465 (find), 10466 (xargs), 10463 (sh)\n",
     "a pipe", r)
for options in (["--comms", "cat"], ["--time", "2374.49,"], []):
    r = run([SONDE, "script", "-i", DEMO, "--strict", *options], None, environment())
    t.ok(r.err == "" and r.rc == 0 and r.out, "no message if an event passes: " + " ".join(options),
         r)
r = run([SONDE, "--compat", "perf-6.1", "script", "-i", DEMO, "--comms", "nosuch"], None,
        environment())
t.is_((r.out, r.err, r.rc), ("", "", 0), "--compat: no message")

out = t.dir + "/cut.data"
r = run([SONDE, "cut", "-i", DEMO, "-e", "sched:sched_switch", "-o", out, "--force"], None,
        environment())
r = run([SONDE, "cut", "-i", out, "-e", "syscalls:*", "-o", t.dir + "/none.data", "--force"], None,
        environment())
t.ok("no event passed the filters; the recording has " in r.err and
     ", called sched:sched_switch" in r.err and r.rc == 0, "cut -e", r)
for options in ([], ["--strict"]):
    r = run([SONDE, "script", "-i", t.dir + "/none.data", "--comms", "nosuch", *options], None,
            environment())
    t.is_((r.out, r.err, r.rc), ("", "", 0),
          "no message about a recording without events " + " ".join(options))
says("def sched_switch(*a): pass\n", None,
     "no message about a script that reads a recording without events", t.dir + "/none.data",
     options=["--comms", "x"])
says("def sched_switch(*a): pass\n", None, "no message without a filter", t.dir + "/none.data")
t.done()
