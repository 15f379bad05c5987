# SPDX-License-Identifier: MIT
"""Programs of handlers: on(), every(), begin(), end(), lost(), exit(); the loop that calls them.

A handler belongs to the module that defines it: its __sonde_program__ lists them. `sonde run` and
Recording.run() collect the programs of all modules.
"""
import os
import sys
import threading
import time
import weakref
from fnmatch import fnmatchcase

from . import _sonde
from ._recording import _is_match, _is_pair, _option_error, _patterns

ATTRIBUTE = "__sonde_program__"


class Exit(BaseException):
    """exit() was called. Not an Exception: a handler's `except Exception` must not keep it."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


class Handler:
    """A function for events. fields: names of its parameters behind the first."""

    def __init__(self, events, function, filter, callchain):
        self.events, self.function = events, function
        self.filter, self.callchain = filter, callchain
        self.fields = _parameters(function)

    def takes(self, name):
        return any(is_match(pattern, name) for pattern in self.events)

    def where(self):
        code = getattr(self.function, "__code__", None)
        name = getattr(self.function, "__name__", "handler")
        return "%s:%d: %s()" % (code.co_filename, code.co_firstlineno, name) if code else name


class Timer:
    """Calls function(first_ns, last_ns) at the end of each period of the script's run."""

    def __init__(self, seconds, function):
        if (isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or
                not 1e-6 <= seconds < 1e9):
            raise _option_error("every: a period is a number of seconds from 0.000001 on, not %r"
                                % (seconds,))
        self.ns, self.function = int(seconds * 1e9), function
        self.begin_ns = self.next_ns = None

    def tick(self, now_ns):
        if self.next_ns is None:
            self.begin_ns, self.next_ns = now_ns, now_ns + self.ns
        if now_ns >= self.next_ns:
            end = self.next_ns
            # Not more than one call for a time in which nothing came.
            self.next_ns += self.ns * ((now_ns - end) // self.ns + 1)
            self.function(end - self.ns - self.begin_ns, end - self.begin_ns)


class Program:
    """What one module, or several, want."""

    def __init__(self):
        self.handlers, self.timers, self.aggregates = [], [], []
        self.begins, self.ends, self.losses = [], [], []

    def add(self, other):
        for name, value in vars(other).items():
            getattr(self, name).extend(value)

    @property
    def is_empty(self):
        return not any(vars(self).values())


def _here():
    """The program of the module that calls a function of this file."""
    return sys._getframe(2).f_globals.setdefault(ATTRIBUTE, Program())


def programs(main):
    """The programs of all modules as one; main: the globals of the script."""
    all_of, met = Program(), set()
    modules = [main] + [vars(m) for m in list(sys.modules.values()) if hasattr(m, "__dict__")]
    for names in modules:
        p = names.get(ATTRIBUTE)
        if isinstance(p, Program) and id(p) not in met:
            met.add(id(p))
            all_of.add(p)
    return all_of


def _check_function(function, what):
    if not callable(function):
        raise TypeError("%s needs a function, not %r" % (what, function))
    return function


def _parameters(function):
    code = getattr(function, "__code__", None)
    if code is None:
        return ()
    first = 1 + (getattr(function, "__self__", None) is not None)
    return code.co_varnames[first:code.co_argcount]


def is_match(pattern, name):
    """Whether a pattern of on() names an event type."""
    return pattern == name or (not _is_pair(name) and
                               _is_match(pattern, name, not is_tracepoint(name)))


# ---- declarations --------------------------------------------------------------------------------


def on(event, filter=None, *, callchain=False):
    """Calls a function for each event: @on("sched:sched_switch") def f(e), or on(event, function).

    event      a name, a pattern, or several; a pair (sonde.pair)
    filter     a condition in the kernel's filter language: other events are not recorded, if no
               other handler takes them
    callchain  True: with call chains

    Parameters behind the first are fields by name: def f(e, next_pid, prev_state). Names that are
    no fields may be values of the sample (ip, addr, period, weight, data_src, phys_addr) or of the
    event (time, cpu, pid, tid, comm): def f(e, addr). An event or a field that this machine does
    not have is reported before the first event. A function is not called for events that only a
    pattern names and that lack a field; `sonde run` reports them before the first event, too.
    """
    program = _here()
    if callable(event):
        raise TypeError("on() needs the name of an event: @on(\"sched:sched_switch\")")
    patterns = _patterns(event)

    def add(function, condition):
        _check_function(function, "on()")
        program.handlers.append(Handler(patterns, function, condition, callchain))
        return function

    if callable(filter):  # on(event, function)
        return add(filter, None)
    if filter is not None and not isinstance(filter, str):
        raise TypeError("a filter of on() is text, not %r" % (filter,))
    return lambda function: add(function, filter)


def every(seconds, function=None):
    """Calls a function every so many seconds: @every(1.0), or every(1.0, function).

    By the time of day in a live run, also while nothing happens; by the times of events on a
    recording.
    """
    program = _here()
    timer = Timer(seconds, None)

    def add(f):
        _check_function(f, "every()")
        timer.function = lambda first_ns, last_ns: f()
        program.timers.append(timer)
        return f

    return add if function is None else add(function)


def begin(function):
    """Calls a function before the first event: @begin def f()."""
    _here().begins.append(_check_function(function, "begin()"))
    return function


def end(function):
    """Calls a function after the last event, also after Ctrl-C and exit(): @end def f()."""
    _here().ends.append(_check_function(function, "end()"))
    return function


at_end = end


def lost(function):
    """Calls a function for each report of lost events: @lost def f(count, cpu).

    The sum is Recording.lost. cpu is None in the last report, which corrects it: some losses have
    no place, and earlier reports count lost names and mappings, too, so that it may be negative.
    """
    _here().losses.append(_check_function(function, "lost()"))
    return function


def exit(status=0):
    """Ends the script after this handler; the functions of end() are called. status: that of `sonde
    run`."""
    raise Exit(status)


# ---- what is needed ------------------------------------------------------------------------------


def tracepoints():
    """The names of the kernel's tracepoints, as far as this user may read them."""
    return _sonde._tracepoints()


# "sched:*" is a pattern; "sched:*" and "sched:sched_switch" are tracepoints, "cpu-clock:u" is not.
is_glob, is_tracepoint = _sonde._is_glob, _sonde._is_tracepoint


_formats = {}


def fields_of(name):
    """The names of a tracepoint's fields; () if this machine does not have it."""
    if name not in _formats:
        try:
            _formats[name] = _sonde._tracepoint(name)[1]
        except (OSError, _sonde.Error):
            _formats[name] = ()
    return _formats[name]


_learnt = {}


def learn(schemas):
    """Takes the types of a session: those of a recording, or those that a recorder has opened."""
    for s in schemas:
        if s.kind in ("tracepoint", "sample"):
            _learnt[s.name] = Type(s.name, tuple(s.fields), OWN + tuple(s._sampled & SAMPLED))


def matches(pattern):
    """The tracepoints of this machine that a pattern names."""
    return [name for name in tracepoints() if fnmatchcase(name, pattern)]


class Type:
    """An event type that a program names: what its fields may be called, as far as is known."""

    def __init__(self, name, fields, values=()):
        self.name, self.fields, self.values = name, fields, values

    def has(self, field):
        return field in self.fields or field in self.values


def types_of(pattern):
    """The Types of a name or pattern; None if their fields are unknown."""
    if _is_pair(pattern):
        parts = _parts(pattern)
        if not all(is_tracepoint(p) and not is_glob(p) and fields_of(p) for p in parts):
            return None
        start, stop = ([f for f in fields_of(p) if not f.startswith("common_")] for p in parts)
        start = ["ns"] + ["start_ns" if f == "ns" else f for f in start]
        stop = ["stop_" + f if f in start else f for f in stop]
        return [Type(pattern, start + stop, ("pid", "tid") + VALUES)]
    if _learnt:
        return [t for name, t in _learnt.items() if is_match(pattern, name)] or None
    if not is_tracepoint(pattern):
        return None
    names = matches(pattern) if is_glob(pattern) else [pattern]
    return [Type(name, fields_of(name), OWN + tuple(SAMPLED)) for name in names] or None


SAMPLED = {"ip", "addr", "period", "weight", "data_src", "phys_addr"}
OWN = ("name", "time", "time_ns", "cpu", "pid", "tid", "comm", "callchain", "index")
VALUES = ("cpu", "CPU", "common_cpu", "comm", "COMM")  # of every event, in conditions


OWN_KEYS = ("name", "comm", "pid", "tid", "cpu", "cgroup", "index", "kstack", "ustack", "stack")


def fields_asked(user):
    """Fields that a handler or an aggregation needs, of events and in conditions: (names, text)"""
    if isinstance(user, Handler):
        return user.fields, user.filter
    values = [user.field] if user.field else []
    values += [k[2:] if k.startswith("f_") else k for k in user.by if k not in OWN_KEYS]
    return values, user.where


def _matching(user, pattern):
    """(name, condition of the kernel) of the events of a pattern that a handler or an aggregation
    can take. The kernel takes a condition only if the event has all of its fields."""
    fields, condition = fields_asked(user)
    names = _sonde._where_fields(condition) if condition is not None else []
    found = []
    for t in (types_of(pattern) or ()) if fields or names else ():
        has = [f in VALUES or f in t.fields for f in names]
        if all(t.has(f) for f in fields) and (any(has) or not names):
            found.append((t.name, condition if all(has) else None))
    return found or [(pattern, condition)]


def _wanted_by(user):
    """(name or pattern, condition of the kernel) of a handler or an aggregation."""
    condition = user.filter if isinstance(user, Handler) else user.where
    for pattern in user.events:
        if _is_pair(pattern):
            for name in _parts(pattern):
                yield name, None
        elif is_glob(pattern) and is_tracepoint(pattern):
            yield from _matching(user, pattern)
        else:
            yield pattern, condition if is_tracepoint(pattern) else None


def needs(program, given=()):
    """The events to record, {name: filter or None}, with those `given` by others, which are
    recorded completely. Each event is in it once."""
    wanted = [(name, None) for name in given]
    for user in program.handlers + program.aggregates:
        wanted += _wanted_by(user)
    return dict(_sonde._wants(wanted))


def use_clock(program):
    """Where the processor does not count cycles, the recorder takes cpu-clock, and reports it: the
    program's handlers and aggregations then get its samples."""
    for user in program.handlers + program.aggregates:
        if any(_is_cycles(p) for p in user.events) and "cycles" not in _sonde._listed("hardware"):
            user.events = tuple("cpu-clock" if _is_cycles(p) else p for p in user.events)


def _is_cycles(name):
    return name.partition(":")[0].partition("/")[0] in ("cycles", "cpu-cycles")


def settings(program):
    """{key: value} of the recorder that the program needs."""
    keys = [key for a in program.aggregates for key in a.by]
    more = {}
    if any(h.callchain for h in program.handlers) or any(
            key in ("kstack", "ustack", "stack") for key in keys):
        more["call-graph"] = "fp"
    if "cgroup" in keys:
        more["all-cgroups"] = "1"
    if any(_asks(user, "addr") for user in program.handlers + program.aggregates):
        more["data"] = "1"
    return more


def _asks(user, value):
    """Whether a handler or an aggregation needs a value of samples of an event without fields."""
    names = user.fields if isinstance(user, Handler) else (user.field, *user.by)
    return value in names and not all(is_tracepoint(p) or _is_pair(p) for p in user.events)


def _parts(pattern):
    """The events of a pair; other patterns are one."""
    if not _is_pair(pattern):
        return [pattern]
    return pattern[len("pair("):-1].split(",")[:2]


def pairs(program):
    """The pairs that handlers and aggregations name."""
    users = program.handlers + program.aggregates
    return list(dict.fromkeys(p for user in users for p in user.events if _is_pair(p)))


# ---- the script's run ----------------------------------------------------------------------------


class Run:
    """One run of a program over a session.

    live: the recorder, or None. is_live: the events happen now; otherwise time is theirs.
    kernel: {name: filter} that the kernel has applied; all other filters are checked here.
    """

    def __init__(self, program, session, live, facts=None, kernel=None, is_live=False):
        self.program, self.session, self.live = program, session, live
        self.is_live = is_live or live is not None
        self.facts, self.kernel = facts, kernel or {}
        self.timers = program.timers + [a._timer(facts) for a in program.aggregates if a.every]
        for t in self.timers:
            t.begin_ns = t.next_ns = None  # of an earlier run
        self.pid = os.getpid()
        self.now_ns = None  # of the last tick
        self.status = 0
        self.has_exited = False
        self.current = None  # (handler, event) being called
        self._lost = 0
        self._table = {}
        self._is_child = False
        self._stopped = threading.Event()
        run = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: run() and run()._forked())
        # Wrong conditions are found here, before anything starts.
        self._aggregates = () if session is None else tuple(
            a._attach(session) for a in program.aggregates)
        for h in program.handlers if session else ():
            if h.filter:
                session._filter(h.filter, False)

    def _forked(self):
        """A handler has forked: the events are the parent's. The child gets no further ones."""
        self._is_child, self._table, self.timers = True, {}, []

    def _calls(self, schema, e):
        """The calls for events of a type, of which e is one: functions of the event."""
        calls = []
        for h in () if self._is_child else self.program.handlers:
            if not h.takes(schema) or not (schema in h.events or
                                           all(_has_value(e, name) for name in h.fields)):
                continue
            condition = (self.session._filter(h.filter, schema in h.events)
                         if h.filter and not self._kernel_has(h) else None)
            calls.append((h, _caller(h.function, h.fields), condition))
        # The sums at the end of a recording, lost_samples, have the same losses again.
        if schema == "lost" and self.program.losses:
            calls.append((Handler((schema,), self._report_loss, None, False), self._report_loss,
                          None))
        return calls

    def _report_loss(self, e):
        self._lost += e["lost"]
        for f in self.program.losses:
            f(e["lost"], e.cpu)

    def _report_rest(self):
        """What the reports in their places lack, or have too much: see lost()."""
        rest = sum(d.count for d in self.session.defects if d.name == "lost-events") - self._lost
        for f in self.program.losses if rest else ():
            f(rest, None)

    def _kernel_has(self, handler):
        """Whether the kernel lets only events through that the handler's filter takes."""
        return all(self.kernel.get(p) == handler.filter for p in handler.events)

    def _deliver(self, e):
        name = e.name
        calls = self._table.get(name)
        if calls is None:
            calls = self._table[name] = self._calls(name, e)
        for h, call, condition in calls:
            if condition is None or condition(e):
                self.current = h, e
                call(e)
        self.current = None

    def _tick(self, now_ns):
        self.now_ns = now_ns
        for t in self.timers:
            t.tick(now_ns)
        if self.is_live and self.session:
            self.session._wake_at(min((t.next_ns for t in self.timers), default=0))

    def _pour_by_time(self, aggregates):
        """Adds all events of a recording, with the timers in between."""
        r, until = True, 0
        while r is not False and not self._is_child:
            r = self.session._pour(aggregates, until)
            if r is not True and r is not False and r is not None:
                self._tick(r)
                until = min((t.next_ns for t in self.timers), default=0)

    def _batches(self):
        s, deliver, timers = self.session, self._deliver, self.timers
        aggregates = self._aggregates
        by_time = timers and not self.is_live
        if not (self.program.handlers or self.program.losses):
            if by_time:
                return self._pour_by_time(aggregates)
            while not self._is_child and s._pour(aggregates) is not False:
                if timers:
                    self._tick(time.monotonic_ns())
            return
        while not self._is_child:
            r = s._poll()
            if r is False:
                return
            if r:
                if not by_time:
                    for a in aggregates:
                        a.add()
                for e in s:
                    if by_time:
                        if e.time is not None:
                            self._tick(e.time)
                        for a in aggregates:
                            a.add_one()
                    deliver(e)
            if timers and self.is_live:
                self._tick(time.monotonic_ns())

    def _now(self):
        """The time at the end of the script's run; None without timers, or without events."""
        if self.is_live:
            return time.monotonic_ns()
        times = [t for t in (self.now_ns, self.session.span[1]) if t is not None]
        return max(times) if self.timers and times else None

    def _call_all(self, functions):
        """False after exit()."""
        try:
            for f in functions:
                f()
        except Exit as e:
            self.status, self.has_exited, self.current = e.status, True, None
            return False
        return True

    def run(self):
        """Calls all handlers. Returns the status of exit(), 0 without it."""
        if self._call_all(self.program.begins):
            if self.timers and self.is_live:
                self._tick(time.monotonic_ns())
            self._call_all([self._batches])
            self.session._wake_at(0)
            if self._is_child:  # as a process that multiprocessing has started
                if sys.stdout:
                    sys.stdout.flush()
                os._exit(0)
        if self.live:
            self.live.stop()
        if self.program.losses:
            self._call_all([self._report_rest])
        self._call_all(self.program.ends)
        if os.getpid() == self.pid:  # not in a child that a handler forked and that returned
            for a in self.program.aggregates:
                a._print_at_end(self.facts, self._now())
        return self.status

    def _wait_for_timers(self):
        """Calls timers until stop() or exit(), and until the time of facts.seconds has passed."""
        seconds = getattr(self.facts, "seconds", None)
        now = time.monotonic_ns()
        until = None if seconds is None else now + int(seconds * 1e9)
        self._tick(now)
        while not self._stopped.is_set():
            next_ns = min(t.next_ns for t in self.timers)
            if until is not None and next_ns > until:
                self._stopped.wait(max(until - time.monotonic_ns(), 0) / 1e9)
                return
            self._stopped.wait(max(next_ns - time.monotonic_ns(), 0) / 1e9)
            if not self._stopped.is_set():
                self._tick(time.monotonic_ns())

    def stop(self):
        """Ends a run without events."""
        self._stopped.set()

    def run_without_events(self):
        """A program that needs no events: begin() and end() are called, and timers in a live run.
        """
        if self._call_all(self.program.begins) and self.timers:
            self._call_all([self._wait_for_timers])
        self._call_all(self.program.ends)
        return self.status

    def describe(self):
        """The event whose handler is being called, for messages; None outside of handlers."""
        if self.current is None:
            return None
        h, e = self.current
        return "%s of %s" % (e.name, e.text.strip() if hasattr(e, "text") else "")


def _value(e, name):
    """A field; or else a value of the sample, or an attribute of the event."""
    if name in e:
        return e[name]
    if name in SAMPLED and name in (e.sample.present if e.sample else ()):
        return getattr(e.sample, name)
    return getattr(e, name) if name in OWN else e[name]


def _has_value(e, name):
    return name in e or name in OWN or bool(
        name in SAMPLED and e.sample and name in e.sample.present)


def _caller(function, fields):
    """A function of the event that passes the fields by name."""
    if not fields:
        return function
    if any(name in SAMPLED or name in OWN for name in fields):
        return lambda e: function(e, *[_value(e, name) for name in fields])
    if len(fields) == 1:
        name, = fields
        return lambda e: function(e, e[name])
    if len(fields) == 2:
        first, second = fields
        return lambda e: function(e, e[first], e[second])
    return lambda e: function(e, *[e[name] for name in fields])
