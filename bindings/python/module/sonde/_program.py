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

from . import _sonde
from ._recording import _option_error, _patterns

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
        return any(_sonde._names(pattern, name) for pattern in self.events)

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


SAMPLED = {"ip", "addr", "period", "weight", "data_src", "phys_addr"}
OWN = ("name", "time", "time_ns", "cpu", "pid", "tid", "comm", "callchain", "index")


def words_of(program, given):
    """A program as the extension takes it: (what, text)."""
    words = [("own", name) for name in OWN] + [("given", name) for name in given]
    for user in program.handlers + program.aggregates:
        is_handler = isinstance(user, Handler)
        words.append(("handler", user.where()) if is_handler else ("aggregate", user.kind + "()"))
        words += [("event", name) for name in user.events]
        if is_handler:
            words += [("field", name) for name in user.fields]
            words += [("callchain", "")] if user.callchain else []
        else:
            words += [("field", user.field)] if user.field else []
            words += [("key", key) for key in user.by]
        condition = user.filter if is_handler else user.where
        words += [("condition", condition)] if condition is not None else []
    return words + ([("lost", "")] if program.losses else [])


class Needs:
    """What a program needs, in C (bindings/prelude/needs.h), with events that are given by others
    and recorded completely."""

    def __init__(self, program, given=()):
        self._c = _sonde._needs(words_of(program, given))

    def learn(self, session):
        """Takes the types of a session: those of a recording, or those that a recorder opened."""
        _sonde._needs_learn(self._c, session)

    def wants(self):
        """The events to record, {name: filter or None}, each once."""
        return dict(_sonde._needs_wants(self._c))

    def settings(self):
        """Lines of settings of the recorder."""
        return _sonde._needs_settings(self._c)

    def lines(self):
        """What the text form of the session has for the program."""
        return _sonde._needs_lines(self._c)

    def check_events(self):
        """(what is wrong or None, may this user read what tracepoints have?)"""
        return _sonde._needs_check_events(self._c)

    def check_users(self):
        """(what is wrong or None, new lines about types that handlers cannot take)"""
        return _sonde._needs_check_users(self._c)


def use_clock(program):
    """Where the processor does not count cycles, the recorder takes cpu-clock, and reports it: the
    program's handlers and aggregations then get its samples. Returns whether there are some."""
    has_changed = False
    for user in program.handlers + program.aggregates:
        events = tuple(_sonde._clocked(name) for name in user.events)
        has_changed |= events != tuple(user.events)
        user.events = events
    return has_changed


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
