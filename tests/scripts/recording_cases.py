# SPDX-License-Identifier: MIT
"""The cases of recording.py: run by a Python under test, with `import sonde` and nothing else.

    PYTHON recording_cases.py DATA MADE

DATA is tests/data, MADE a folder with recordings that recording.py made. A line of output for each
case: "ok NAME", "skip NAME: why", or "not ok NAME" and a traceback.
"""
import copy
import faulthandler
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref

import sonde

DATA, MADE = sys.argv[1:3]
DEMO, CHAINS, TYPES = DATA + "/demo.data", DATA + "/text/chains.data", DATA + "/scripts/types.data"
PIPELINE, MIXED = DATA + "/pipeline.data", DATA + "/text/mixed.data"
EXEC = DATA + "/scripts/exec.data"
LOST = MADE + "/lost-events.data"
SWITCH = "sched:sched_switch"
CASES = []


class Skip(Exception):
    pass


def case(f):
    CASES.append(f)
    return f


def same(got, expected):
    assert got == expected, "got %r, expected %r" % (got, expected)


def raises(kind, call, *parts):
    """The exception that the call raises, whose text has all parts."""
    try:
        result = call()
    except kind as error:
        for part in parts:
            assert part in str(error), (part, str(error))
        return error
    raise AssertionError("no %s: %r" % (kind.__name__, result))


def times(rec):
    return [e.time for e in rec]


# ---- iterating ----------------------------------------------------------------------------------

@case
def a_recording_is_iterable_again():
    rec = sonde.open(DEMO)
    first = times(rec)
    same(len(first), 474)
    same(times(rec), first)
    one, two = iter(rec), iter(rec)  # at the same time
    same([(next(one).time, next(two).time) for _ in range(5)], [(t, t) for t in first[:5]])
    same(rec.count(), 474)
    same(times(rec), first)


@case
def breaking_off_a_loop_changes_nothing():
    rec = sonde.open(DEMO)
    for e in rec:
        break
    kept = e
    same(rec.count(), 474)
    same(kept.time, next(iter(rec)).time)


@case
def a_pipe_is_read_once():
    path = MADE + "/fifo.%d" % os.getpid()
    os.mkfifo(path)
    writer = subprocess.Popen(["sh", "-c", 'exec cat "$0" > "$1"', DEMO, path])
    rec = sonde.open(path)
    raises(ValueError, lambda: rec.schemas, "pipe")
    raises(ValueError, lambda: rec.end, "pipe")
    same(rec.count(by="name"), sonde.open(DEMO).count(by="name"))
    assert set(sonde.open(DEMO).schemas) <= set(rec.schemas), rec.schemas
    same(rec.lost, 0)
    error = raises(sonde.OptionError, lambda: list(rec), "pipe", "once")
    same(error.errno, 22)
    raises(sonde.OptionError, lambda: rec.select(cpu=0).count(), "pipe", "once")
    writer.wait()
    os.unlink(path)


@case
def standard_input_and_descriptors_are_pipes():
    expected = sonde.open(DEMO).count()
    code = "import sonde; r = sonde.open('-'); print(sum(1 for e in r))\n" \
           "try: list(r)\nexcept ValueError: print('once')"
    feed = subprocess.Popen(["cat", DEMO], stdout=subprocess.PIPE)
    out = subprocess.run([sys.executable, "-c", code], stdin=feed.stdout, stdout=subprocess.PIPE)
    feed.stdout.close()
    feed.wait()
    same(out.stdout.decode(), "%d\nonce\n" % expected)
    feed = subprocess.Popen(["cat", DEMO], stdout=subprocess.PIPE)
    same(sum(1 for e in sonde.open(feed.stdout.fileno())), expected)
    feed.stdout.close()
    feed.wait()


@case
def a_context_manager_closes():
    with sonde.open(DEMO) as rec:
        it = iter(rec)
        kept = next(it)
        before = kept.text
    for call in (lambda: list(rec), lambda: next(it), lambda: rec.count(), lambda: rec.schemas,
                 lambda: rec.start, lambda: rec.table(SWITCH), lambda: list(rec.text())):
        raises(ValueError, call, "closed")
    rec.close()
    same(kept.text, before)


@case
def an_error_inside_a_with_statement_is_passed_on():
    def fails():
        with sonde.open(DEMO) as rec:
            for e in rec:
                raise KeyError("mine")
    raises(KeyError, fails, "mine")


# ---- conditions ---------------------------------------------------------------------------------

def wanted(**conditions):
    """Events of the demo that a loop selects."""
    return [e.time for e in sonde.open(DEMO)
            if all(getattr(e, key) in values for key, values in conditions.items())]


@case
def conditions_select_what_a_loop_would():
    every = times(sonde.open(DEMO))
    tids = sorted({e.tid for e in sonde.open(DEMO)})[:2]
    middle = (every[100], every[300])
    for keys, expected in (
            (dict(events=SWITCH), wanted(name=[SWITCH])),
            (dict(events="sched_switch"), wanted(name=[SWITCH])),
            (dict(events=["sched:*"]), wanted(name=[SWITCH, "sched:sched_wakeup"])),
            (dict(cpu=1), wanted(cpu=[1])), (dict(cpu="0-1"), every),
            (dict(cpu=[0]), wanted(cpu=[0])),
            (dict(tid=tids[0]), wanted(tid=tids[:1])), (dict(tid=tids), wanted(tid=tids)),
            (dict(pid=[tids[1]]), wanted(pid=[tids[1]])),
            (dict(comm="cat"), wanted(comm=["cat"])), (dict(comm=["cat", "grep"]),
                                                       wanted(comm=["cat", "grep"])),
            (dict(time=middle), every[100:301]), (dict(time=(None, every[9])), every[:10]),
            (dict(time=(every[-10], None)), every[-10:]), (dict(cpu=[]), []), (dict(comm=[]), [])):
        same((keys, times(sonde.open(DEMO, **keys))), (keys, expected))
        same((keys, times(sonde.open(DEMO).select(**keys))), (keys, expected))
        same((keys, sonde.open(DEMO, **keys).count()), (keys, len(expected)))


@case
def where_is_evaluated_by_the_library():
    rec = sonde.open(DEMO, events=SWITCH, where="next_pid == 0")
    expected = [e.time for e in sonde.open(DEMO, events=SWITCH) if e.next_pid == 0]
    assert 0 < len(expected) < 155
    same(times(rec), expected)
    same(times(sonde.open(DEMO).select(SWITCH, "next_pid == 0")), expected)


@case
def where_is_false_for_what_only_a_pattern_names():
    expected = [e.time for e in sonde.open(DEMO, events=SWITCH) if e.next_pid == 0]
    for events in ("sched:*", "sched_*", ["sched:*", "syscalls:*"], [SWITCH, "syscalls:*"], "*"):
        same((events, times(sonde.open(DEMO, events=events, where="next_pid == 0"))),
             (events, expected))
        same(times(sonde.open(DEMO).select(events).select("*", "next_pid == 0")), expected)
    for events in ("sched:sched_wakeup", "sched_wakeup", ["sched:*", "sched:sched_wakeup"]):
        raises(sonde.OptionError, lambda: sonde.open(DEMO, events=events, where="next_pid == 0"),
               "sched:sched_wakeup", "next_pid")


@case
def events_that_are_sampled_have_short_names():
    rec = sonde.open(MADE + "/limit-0.data")
    same(list(rec.schemas), ["cpu-clock:HG"])
    same((rec.select("cpu-clock").count(), rec.select("cpu-clock:HG").count()), (1, 1))
    same(rec.table("cpu-clock").num_rows, 1)
    raises(sonde.UnknownEvent, lambda: rec.select("HG"))


@case
def select_combines_conditions():
    rec = sonde.open(DEMO, events="sched:*", cpu="0-1", comm="cat,grep,sh")
    one = rec.select(SWITCH, cpu=1, comm=["cat", "find"], where="prev_pid != 0")
    two = one.select(where="next_pid == 0")
    expected = [e.time for e in sonde.open(DEMO) if e.name == SWITCH and e.cpu == 1 and
                e.comm == "cat" and e.prev_pid != 0 and e.next_pid == 0]
    assert expected
    same(times(two), expected)
    same(rec.select(comm="find").count(), 0)
    same(rec.select("syscalls:*").count(), 0)
    same(rec.select(cpu=0).select(cpu=1).count(), 0)
    span = times(rec)
    same(times(rec.select(time=(span[2], None)).select(time=(None, span[5]))), span[2:6])
    raises(sonde.OptionError, lambda: rec.select(time="0%-10%").select(time=(1, 2)), "time=")
    same(times(rec), span)  # not changed by what was made of it


@case
def several_recordings_are_merged():
    rec = sonde.open([DEMO, PIPELINE])
    seen = [(e.time, e.index) for e in rec]
    same(len(seen), 474 + 2070)
    same(seen, sorted(seen))
    same(rec.count(by="index"), {0: 474, 1: 2070})
    same(rec.path, (DEMO, PIPELINE))


# ---- errors -------------------------------------------------------------------------------------

@case
def exceptions_have_their_classes():
    for kind, base in ((sonde.AccessError, PermissionError), (sonde.UnknownEvent, LookupError),
                       (sonde.UnknownField, AttributeError), (sonde.InputError, OSError),
                       (sonde.InputNotFoundError, FileNotFoundError),
                       (sonde.OptionError, ValueError), (sonde.FormatError, Exception),
                       (sonde.LossError, Exception)):
        assert issubclass(kind, sonde.Error) and issubclass(kind, base), kind
        same((kind.__module__, kind.errno if kind.__mro__[1] is sonde.Error else 0), ("sonde", 0))


@case
def unknown_names_raise_at_once():
    e = raises(sonde.UnknownEvent, lambda: sonde.open(DEMO, events="sched:sched_swich"), SWITCH)
    same((e.name, e.near), ("sched:sched_swich", (SWITCH,)))
    assert e.advice and e.errno == 2
    raises(LookupError, lambda: sonde.open(DEMO, events=["sched:*", "irq:*"]), "irq:*")
    raises(sonde.UnknownEvent, lambda: sonde.open(DEMO).select("nothing"), "nothing")
    first = next(iter(sonde.open(DEMO, events=SWITCH)))
    for call in (lambda: first.next_pit, lambda: first["next_pit"], lambda: first.f.next_pit,
                 lambda: first.names("next_pit")):
        e = raises(sonde.UnknownField, call, "next_pid")
        same((e.name, e.near, e.event), ("next_pit", ("next_pid",), SWITCH))
    same((first.get("next_pit", default=3), first.get(field="next_pit")), (3, None))
    assert not hasattr(first, "next_pit") and getattr(first, "next_pit", 7) == 7
    for call in (lambda: sonde.open(DEMO).count(by="next_pit"),
                 lambda: sonde.open(DEMO).table(SWITCH, ["next_pit"]),
                 lambda: next(sonde.open(DEMO).batches(SWITCH, ["next_pit"]))):
        same(raises(sonde.UnknownField, call, "next_pid").name, "next_pit")
    e = raises(sonde.UnknownEvent, lambda: sonde.open(DEMO).table("sched:sched_swich"), SWITCH)
    same(e.near, (SWITCH,))
    raises(sonde.UnknownEvent, lambda: next(sonde.open(DEMO).batches("sched_swich")))


@case
def the_library_names_unknown_events():
    """Names that only the library can look up: parts of pairs, switches, a session's text."""
    wrong = sonde.pair("sched:sched_swich", SWITCH)
    rec = sonde.open(DEMO)
    for call in (lambda: sonde.open(DEMO, events=wrong), lambda: rec.select(wrong),
                 lambda: rec.table(wrong), lambda: list(rec.batches(wrong)),
                 lambda: sonde.open(DEMO, pair="sched:sched_swich," + SWITCH),
                 lambda: sonde.open(DEMO, switch_on="sched:sched_swich"),
                 lambda: sonde.session("input=%s\nevent=sched:sched_swich\n" % DEMO)):
        e = raises(sonde.UnknownEvent, call, "sched:sched_swich", SWITCH)
        same((e.name, e.near[0], e.errno), ("sched:sched_swich", SWITCH, 2))
        assert e.advice
    # A recording in the form of a pipe may describe the part later.
    wrong = sonde.pair("syscalls:sys_enter_read", "syscalls:sys_exit_read")
    e = raises(sonde.UnknownEvent, lambda: sonde.open(PIPELINE, events=wrong))
    same((e.name, e.near[0]), ("syscalls:sys_exit_read", "syscalls:sys_enter_read"))
    near = raises(sonde.UnknownEvent, lambda: sonde.session(
        "input=%s\nevent=syscalls:sys_enter_rea'd\n" % DEMO))
    same((near.name, near.near[0]), ("syscalls:sys_enter_rea'd", "syscalls:sys_enter_read"))
    assert len(near.near) > 1 and not set("? ,") & set("".join(near.near)), near.near
    same(raises(sonde.UnknownEvent,
                lambda: sonde.open(DEMO, switch_off="qqqqqqqqqqqqqqqqqqqq")).near, ())


def piped(path):
    """A pipe that gives the file."""
    reading, writing = os.pipe()
    with open(path, "rb") as f:
        subprocess.Popen(["cat"], stdin=f, stdout=writing, close_fds=True)
    os.close(writing)
    return reading


@case
def a_pipe_has_the_events_of_each_selection():
    whole = sonde.open(DEMO)
    for first, second in (("sched:*", SWITCH), (SWITCH, "sched:*"), (SWITCH, "*"), ("*", "sched:*"),
                          ("sched_switch", "sched_*"), ([SWITCH, "syscalls:*"], "syscalls:*"),
                          ("sched:*", "syscalls:sys_enter_read"), (SWITCH, "sched:sched_wakeup")):
        reading = piped(DEMO)
        got = sonde.open(reading, events=first).select(second).count(by="name")
        os.close(reading)
        same((first, second, got),
             (first, second, whole.select(first).select(second).count(by="name")))
    for first, second in (("sched:*", "*switch"), ("sched_switch", "sched:*")):
        reading = piped(DEMO)
        rec = sonde.open(reading, events=first)
        raises(sonde.OptionError, lambda: rec.select(second), first, second, "pipe")
        same(rec.count(), whole.select(first).count())
        os.close(reading)
    reading = piped(DEMO)
    e = raises(sonde.UnknownEvent, lambda: list(sonde.open(reading, events="sched:sched_swich")))
    same((e.name, e.near[0]), ("sched:sched_swich", SWITCH))
    os.close(reading)


@case
def wrong_keys_and_values_raise_at_once():
    for keys in (dict(colour="red"), dict(time="x"), dict(clock="sun"), dict(cpu="a"),
                 dict(on_loss="ignore"), dict(events=SWITCH, where="next_pid =="),
                 dict(events=SWITCH, where="next_pit == 1"), dict(comm="a\nb"), dict(window="x")):
        e = raises(ValueError, lambda: sonde.open(DEMO, **keys))
        assert isinstance(e, sonde.OptionError) and e.errno == 22, (keys, e, e.errno)
    for cpu in (99, "0-99", [0, 99]):
        e = raises(sonde.OptionError, lambda: sonde.open(DEMO, cpu=cpu), "no cpu 99", "cpus 0-1")
        same(e.errno, 22)
    raises(sonde.OptionError, lambda: sonde.open([]), "no recording")
    raises(sonde.OptionError, lambda: sonde.open(DEMO).select(cpu=0, colour=3), "colour")
    raises(sonde.OptionError, lambda: sonde.open(DEMO, cpu="0-1").select(cpu="a"))
    raises(sonde.OptionError, lambda: sonde.open(DEMO, kallsim="/x"), "kallsyms")
    for path in (None, 1.5, True, [None]):
        raises(TypeError, lambda: sonde.open(path))
    raises(ValueError, lambda: sonde.open(DEMO).table(SWITCH, strings="text"), "strings")
    raises(ValueError, lambda: sonde.open(DEMO).table(SWITCH, flags="all"), "flags")
    raises(TypeError, lambda: sonde.open(DEMO).count(by=[1]))
    raises(ValueError, lambda: sonde.open(DEMO, time=(1, 2, 3)))
    raises(TypeError, lambda: sonde.open(DEMO, time=(1.5, None)), "nanoseconds", "float")
    raises(TypeError, lambda: sonde.open(DEMO, time=5), "nanoseconds")
    raises(sonde.OptionError, lambda: sonde.open(DEMO, time=(-1, None)), "negative")
    for name in (None, 3, b"sched:sched_switch"):
        for call in (lambda: sonde.open(DEMO, events=[name]), lambda: sonde.open(DEMO).table(name),
                     lambda: sonde.open(DEMO).batches(name)):
            raises(TypeError, call, "an event's name")
    for rows in (0, -1, 1 << 40, None):
        raises(sonde.OptionError, lambda: sonde.open(DEMO).batches(SWITCH, rows=rows), "rows")
    raises(sonde.UnknownEvent, lambda: sonde.open(DEMO).batches("sched:sched_swich"))
    e = raises(sonde.InputNotFoundError, lambda: sonde.open(DEMO, kallsyms="/nothing"), "/nothing")
    same(e.advice, "")  # the recording is there


@case
def failures_of_input_are_os_errors():
    e = raises(FileNotFoundError, lambda: sonde.open("/nothing/there"), "/nothing/there")
    assert isinstance(e, sonde.InputNotFoundError) and e.errno == 2 and "sonde record" in e.advice
    assert isinstance(e, sonde.Error) and isinstance(e, OSError)
    path = MADE + "/text.%d" % os.getpid()
    with open(path, "w") as f:
        f.write("no recording\n" * 99)
    e = raises(sonde.FormatError, lambda: sonde.open(path))
    assert "sonde info" in e.advice and not isinstance(e, OSError)
    with open(path, "w"):
        pass
    raises(sonde.Error, lambda: sonde.open(path))
    os.chmod(path, 0)
    if os.geteuid():
        e = raises(PermissionError, lambda: sonde.open(path), path)
        assert isinstance(e, sonde.AccessError) and e.errno == 13 and e.advice
    os.unlink(path)


# ---- losses -------------------------------------------------------------------------------------

@case
def losses_are_facts_or_an_exception():
    rec = sonde.open(LOST)
    same(len(list(rec)), 1)
    same(rec.lost, 4)
    (defect,) = [d for d in rec.defects if d.name == "lost-events"]
    same((defect.severity, defect.count), ("loss", 4))
    assert defect.advice
    same(sonde.open(LOST).lost, 4)  # without reading before
    strict = sonde.open(LOST, on_loss="raise")
    for call in (lambda: list(strict), strict.count, lambda: strict.count(by="cpu"),
                 lambda: strict.table(next(iter(strict.schemas))),
                 lambda: list(strict.select(time=(0, None))), lambda: list(strict.text())):
        error = raises(sonde.LossError, call, "lost")
        same((error.lost, isinstance(error, OSError)), (4, False))
        assert error.advice
    same(strict.lost, 4)
    names = [e.name for e in sonde.open(LOST, records=True)]
    assert "LOST_SAMPLES" in str(names).upper() or "lost" in str(names).lower(), names


@case
def records_come_as_events_when_asked_for():
    kinds = sonde.open(EXEC, records=True).count(by="name")
    assert {"comm", "fork", "exit", "mmap2"} & set(k.lower().split(":")[-1] for k in kinds), kinds
    same(sum(n for name, n in kinds.items() if ":" in name and "sched" in name or "sys" in name),
         sonde.open(EXEC).count())


# ---- events that are kept -----------------------------------------------------------------------

def dump(e):
    return (e.name, e.time, e.cpu, e.pid, e.tid, e.comm, e.text, e.asdict(), e.raw, e.late, e.index,
            [(f.ip, f.symbol, f.offset, f.dso) for f in e.callchain], e.sample)


@case
def kept_events_shuffled_are_the_dump():
    for paths in (DEMO, CHAINS, EXEC, TYPES, MIXED, MADE + "/swapped.data", [DEMO, EXEC]):
        # The search for names may find a defect, which is delivered as an event.
        dumped = [dump(e) for e in sonde.open(paths, window=4096, records=True)
                  if e.name != "defect"]
        events = [e for e in sonde.open(paths, window=4096, records=True) if e.name != "defect"]
        order = list(range(len(events)))
        random.Random(7).shuffle(order)
        later = {i: dump(events[i]) for i in order}
        same([later[i] for i in range(len(events))], dumped)
        random.Random(8).shuffle(events)
        same([e.time for e in sorted(events)], [line[1] for line in dumped])


@case
def stacks_are_keys_that_outlive_their_recording():
    rec = sonde.open(CHAINS, window=4096)
    stacks = {}
    for e in rec:
        stacks[e.callchain] = stacks.get(e.callchain, 0) + 1
    folded = sorted(s.folded() for s in stacks)
    del rec, e
    gc.collect()
    same(sum(stacks.values()), 11)
    same(sorted(s.folded() for s in stacks), folded)
    same(stacks and min(s.folded(sep=" ") for s in stacks), folded[0].replace(";", " "))
    assert all(stacks[s] for s in stacks) and folded[0].count(";") > 3
    stack = next(iter(stacks))
    same([f.ip for f in stack[1:4]] + [stack[-1].ip], [stack[i].ip for i in (1, 2, 3)] +
         [f.ip for f in stack][-1:])


@case
def a_stack_tells_whether_it_is_complete():
    rec = sonde.open(CHAINS)
    lengths = [len(e.callchain) for e in rec]
    same([e.callchain.complete for e in rec], [n > 0 or None for n in lengths])
    longest = max(lengths)
    short = sonde.open(CHAINS, max_stack=longest - 1)
    same([e.callchain.complete for e in short],
         [n < longest - 1 if n else None for n in lengths])
    for limit, expected in ((0, True), (4, False), (5, True)):
        path = MADE + "/limit-%d.data" % limit
        same([(len(e.callchain), e.callchain.complete) for e in sonde.open(path)], [(4, expected)])
    same([e.callchain.complete for e in sonde.open(DEMO)][:3], [None] * 3)


# ---- threads, signals, memory -------------------------------------------------------------------

class Counter(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.n, self.ends = 0, False

    def run(self):
        while not self.ends:
            self.n += 1


@case
def other_threads_run_while_it_reads():
    """A reader that waits for its pipe must not hold the interpreter lock."""
    reading, writing = os.pipe()
    counter = Counter()
    counter.start()
    seen = []

    def feed():
        before = counter.n
        time.sleep(0.3)
        seen.append(counter.n - before)
        with open(DEMO, "rb") as f:
            data = f.read()
        with os.fdopen(writing, "wb") as f:
            f.write(data)
    feeder = threading.Thread(target=feed)
    feeder.start()
    n = sonde.open(reading).count()
    feeder.join()
    counter.ends = True
    os.close(reading)
    assert n and seen[0] > 1000, (n, seen)
    counter.join()


def interrupted(call):
    """Calls until SIGINT, which a thread sends soon, raises KeyboardInterrupt."""
    sender = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    sender.start()
    begin = time.monotonic()
    try:
        while time.monotonic() - begin < 60:
            call()
    except KeyboardInterrupt:
        return time.monotonic() - begin
    except BaseException:
        sender.cancel()
        raise
    finally:
        sender.join()
    raise AssertionError("no KeyboardInterrupt")


@case
def ctrl_c_works_in_the_middle_of_a_read():
    rec = sonde.open([PIPELINE] * 40)
    for call in (rec.count, lambda: sum(1 for e in rec), lambda: rec.count(by="comm"),
                 lambda: rec.table(SWITCH, ["next_pid"]), lambda: sum(1 for t in rec.text())):
        interrupted(call)
        same(rec.count(), 40 * 2070)
    same(sum(1 for e in rec), 40 * 2070)


@case
def ctrl_c_works_while_it_waits_for_a_pipe():
    with open(MADE + "/stream.data", "rb") as f:
        stream = f.read()
    for size in (0, 100, len(stream)):  # nothing, a piece of the header, an event without an end
        for call in (lambda r: sonde.open(r).count(), lambda r: list(sonde.open(r)),
                     lambda r: list(sonde.open(r).text()),
                     lambda r: sonde.open(r).table("cpu-clock:HG")):
            reading, writing = os.pipe()
            os.write(writing, stream[:size])
            took = interrupted(lambda: call(reading))
            os.close(writing)
            os.close(reading)
            assert took < 20, (size, took)


@case
def another_thread_may_not_use_a_session():
    rec = sonde.open(DEMO)
    it = iter(rec)
    next(it)
    got = []

    def use():
        for call in (lambda: next(it), lambda: it.count(), lambda: it.schemas, it.close):
            try:
                got.append(call())
            except ValueError as error:
                got.append(str(error))
    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    same(len(got), 4)
    assert all("another thread" in str(text) for text in got), got
    same(sum(1 for e in it), 473)
    counts = []  # a session belongs to who uses it: the recording itself may be used anywhere
    thread = threading.Thread(target=lambda: counts.append(rec.count()))
    thread.start()
    thread.join()
    same(counts, [474])


@case
def objects_are_made_by_the_module_only():
    rec = sonde.open(CHAINS)
    it = rec._session()
    e = next(it)
    t = rec.table(SWITCH)
    for o in (it, e, e.f, e.callchain, e.callchain[0], e.schema, t["cpu"], t._batches[0],
              rec.profile()):
        kind = type(o)
        for make in (kind, lambda: kind.__new__(kind), lambda: object.__new__(kind),
                     lambda: copy.copy(o)):
            raises(TypeError, make)
        raises(TypeError, kind, kind.__name__, "functions of the module")


@case
def cyclic_garbage_is_collected():
    class Holder:
        pass
    for made in (lambda: sonde.open(DEMO), lambda: iter(sonde.open(DEMO)),
                 lambda: next(iter(sonde.open(DEMO))), lambda: sonde.open(DEMO).table(SWITCH),
                 lambda: sonde.open(CHAINS).table(SWITCH)["cpu"],
                 lambda: next(iter(sonde.open(CHAINS))).callchain):
        holder = Holder()
        holder.me, holder.it = holder, made()
        if isinstance(holder.it, (sonde.Recording, sonde.Table)):
            holder.it.back = holder
        ref = weakref.ref(holder)
        del holder
        gc.collect()
        assert ref() is None, made
    rec = sonde.open(DEMO)
    rec.me = rec
    next(iter(rec))
    rec.start
    ref, sessions = weakref.ref(rec), list(rec._sessions)
    ids = [weakref.ref(s) for s in sessions]
    del rec, sessions
    gc.collect()
    same([ref()] + [r() for r in ids], [None] * (1 + len(ids)))


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@case
def nothing_leaks_over_200_rounds():
    if os.environ.get("LD_PRELOAD"):
        raise Skip("the sanitizer manages the memory")

    def once():
        rec = sonde.open(CHAINS, window=4096, records=True)
        rec.me = rec
        for e in rec:
            e.text, e.fields, e.callchain.folded(), e.schema.fields, e.sample, e.asdict()
        for i, e in enumerate(rec):
            if i == 5:
                break
        rec.count(by=("comm", "cpu"))
        rec.table(SWITCH, stacks=True, flags="names").rows()
        list(rec.text())
        for call in (lambda: e.nothing, lambda: rec.count(by="x"), lambda: rec.table("x")):
            try:
                call()
            except sonde.Error:
                pass
    grown = []
    for _ in range(4):  # the allocator and threads reach their full size in the first ones
        before, files = resident(), len(os.listdir("/proc/self/fd"))
        for _ in range(200):
            once()
        gc.collect()
        grown.append(resident() - before)
        same(len(os.listdir("/proc/self/fd")), files)
        if len(grown) > 1 and grown[-1] < 1 << 20:
            return
    raise AssertionError("bytes more in rounds of 200: %s" % grown)


@case
def the_module_prints_nothing_and_installs_no_handler():
    code = """
import signal, sys
numbers = [n for n in signal.valid_signals() if n not in (signal.SIGKILL, signal.SIGSTOP)]
before = [signal.getsignal(n) for n in numbers]
def masks():  # without those that the C library uses for threads
    with open('/proc/self/status') as f:
        return [line[:7] + line[-9:] for line in f if line[:6] in ('SigBlk', 'SigIgn', 'SigCgt')]
then = masks()
import sonde
for path in sys.argv[1:]:
    try:
        rec = sonde.open(path)
        list(rec), rec.lost, rec.defects, rec.count(by='comm'), list(rec.text())
        rec.table('sched:sched_swich')
    except sonde.Error: pass
assert before == [signal.getsignal(n) for n in numbers]
assert then == masks(), (then, masks())
"""
    paths = [DEMO, LOST, MADE + "/truncated.data", "/dev/null", "/nothing/there"]
    out = subprocess.run([sys.executable, "-c", code, *paths], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    same((out.stdout, out.stderr, out.returncode), (b"", b"", 0))


@case
def text_is_that_of_the_command_and_may_be_left_early():
    with open(MADE + "/demo.txt", encoding="utf-8", errors="surrogateescape") as f:
        same(list(sonde.open(DEMO).text()), f.read().split("\n")[:-1])
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as many command line programs do
    try:
        for _ in range(20):
            lines = sonde.open([PIPELINE] * 10).text()
            next(lines)
            lines.close()
    finally:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        sonde.open(DEMO).text()  # never begun
    gc.collect()
    same(len(os.listdir("/proc/self/fd")), files)
    assert all(":" in line for line in sonde.open(DEMO).text(fields="comm,event"))


@case
def facts_of_the_header():
    rec = sonde.open(DEMO)
    every = times(rec)
    same((rec.start, rec.end, rec.clock), (every[0], every[-1], "raw"))
    same((rec.kernel, rec.host), (rec.info("osrelease"), rec.info("hostname")))
    assert rec.kernel and rec.host and rec.info("nothing") is None
    same(rec.select(comm='nothing').start, None)
    relative = sonde.open(DEMO, clock="relative")
    same((relative.clock, relative.start), ("relative", 0))
    same([e.time for e in relative], [t - every[0] for t in every])


def run_all():
    # Where it hangs, before recording.py gives up after 600 s.
    faulthandler.dump_traceback_later(500, file=sys.stdout, exit=True)
    for f in CASES:
        name = f.__name__.replace("_", " ")
        try:
            f()
            print("ok " + name, flush=True)
        except Skip as why:
            print("skip %s: %s" % (name, why), flush=True)
        except BaseException:
            print("not ok " + name, flush=True)
            print("".join("# %s\n" % line for line in traceback.format_exc().splitlines()), end="",
                  flush=True)
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    run_all()
