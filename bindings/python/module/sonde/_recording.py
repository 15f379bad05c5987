# SPDX-License-Identifier: MIT
"""open() and Recording: what is asked of a recording, as the text form of a session."""
import os
import stat
from weakref import WeakSet

from . import _sonde, _table
from ._table import _option_error

LISTS = ("cpu", "pid", "tid", "comm")  # conditions that are sets of values
MAX_CPU = 1 << 16  # more than a machine has
NOTHING = "comm=\x01\n"  # no task has this name


def _text(value):
    """A value of a key: True and False are 1 and 0, sequences are joined by commas."""
    if value is True or value is False:
        return "1" if value else "0"
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsdecode(value)
    if hasattr(value, "__iter__"):
        return ",".join(_text(v) for v in value)
    return str(value)


def _line(key, value):
    text = _text(value)
    if "\n" in text or "\0" in text:
        raise _option_error("%s: a value must not contain a line break or a NUL" % key)
    return "%s=%s\n" % (key, text)


def _path(path):
    if isinstance(path, bool) or not isinstance(path, (int, str, bytes, os.PathLike)):
        raise TypeError("a path is a str, bytes, a path object or the descriptor of a pipe, "
                        "not %s" % type(path).__name__)
    return "/dev/fd/%d" % path if isinstance(path, int) else os.fsdecode(path)


def _is_pipe(path):
    try:
        mode = os.fstat(0).st_mode if path == "-" else os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _seconds(ns):
    if ns is None:
        return ""
    if not hasattr(ns, "__index__"):
        raise TypeError("time: (from, to) are int nanoseconds or None, not %s" % type(ns).__name__)
    if ns < 0:
        raise _option_error("time: %d is negative" % ns)
    return "%d.%09d" % divmod(ns, 10 ** 9)


def _time(value):
    """The key time=: text as `sonde script --time` takes it, or (from, to) in nanoseconds."""
    if isinstance(value, str):
        return value
    if not isinstance(value, (tuple, list)):
        raise TypeError("time is text, or (from, to) in nanoseconds, not %s" % type(value).__name__)
    first, last = value
    return "%s,%s" % (_seconds(first), _seconds(last))


def pair(start, stop, key="tid"):
    """The name of a derived event: from each `start` to the `stop` that ends it.

    It can be used wherever an event's name can: events=, select(), table(), batches(). Its fields
    are ns (the time between both), those of start, then those of stop (a name that is taken is
    'stop_NAME'); time, cpu, tid and all else are those of stop. key is what both have in common:
    tid, pid, cpu, comm or a field; (key of start, key of stop) if the names differ. Nested ones
    pair innermost first, and a loss between them drops the pair: Recording.pairs counts both.

        fsync = sonde.pair("syscalls:sys_enter_fsync", "syscalls:sys_exit_fsync")
        for e in sonde.open(events=fsync): print(e.comm, e.ns)
    """
    keys = (key,) if isinstance(key, str) else tuple(key)
    if not 1 <= len(keys) <= 2:
        raise _option_error("a pair has one key, or one for each event")
    return "pair(%s)" % ",".join((start, stop) + keys)


def _is_pair(name):
    return name.startswith("pair(") and name.endswith(")")


def _as_chosen(groups, name, is_sample):
    """A name for the key event=. where= is false for an event without its field, but wrong if the
    event was named: an event that only patterns chose stays a pattern, as '[s]ched:sched_switch'.
    """
    if not name[:1].isalnum() or any(not _is_glob(p) and _is_match(p, name, is_sample)
                                     for group in groups for p in group):
        return name
    return "[%s]%s" % (name[0], name[1:])


def _missing(pattern, types):
    """What no event type matches: the pattern, or the part of a pair."""
    parts = pattern[len("pair("):-1].split(",")[:2] if _is_pair(pattern) else ()
    return next((p for p in parts if not any(_is_match(p, *t) for t in types.items())), pattern)


def _check_name(event):
    if not isinstance(event, str):
        raise TypeError("an event's name is a str, not %s" % type(event).__name__)


def _is_match(pattern, name, is_sample=False):
    """Whether a pattern names an event type: tracepoints also without their system, and events that
    are sampled (is_sample) also without their modifiers."""
    from fnmatch import fnmatchcase
    if _is_pair(pattern) or _is_pair(name):
        return pattern in (name, "*")
    if fnmatchcase(name, pattern) or is_sample and name.rpartition(":")[0] == pattern:
        return True
    return ":" not in pattern and not is_sample and fnmatchcase(name.partition(":")[2], pattern)


def _is_glob(pattern):
    return not _is_pair(pattern) and any(c in pattern for c in "*?[")


def _covers(pattern, other):
    """True if a pattern matches, in any recording, each name that the other one matches."""
    return pattern in (other, "*") or (not _is_glob(other) and _is_match(pattern, other) and
                                       (":" in other or ":" not in pattern))


def _in_both(one, other):
    """The patterns of what two groups have in common. A pipe has no event types to compare with."""
    both = []
    for p in one:
        for q in other:
            if _covers(q, p):
                both.append(p)
            elif _covers(p, q):
                both.append(q)
            elif (not any(":" in n and not _is_glob(n) for n in (p, q)) and
                  (_is_glob(p) or _is_glob(q))):
                raise _option_error("%r and %r: a pipe cannot say in advance which events both "
                                    "match; give select() one of them" % (p, q))
    return list(dict.fromkeys(both))


def _as_set(key, value):
    """The values of a condition, as a set of text."""
    if isinstance(value, str):
        words = value.split(",")
    elif hasattr(value, "__iter__"):
        words = [str(v) for v in value]
    else:
        words = [str(value)]
    if key != "cpu":
        return set(words)
    cpus = set()
    for word in words:
        first, dash, last = word.partition("-")
        last = last if dash else first
        if not (first.isdigit() and last.isdigit()):
            raise _option_error("cpu: %r is no cpu and no range of cpus" % word)
        cpus.update(str(n) for n in range(int(first), min(int(last), MAX_CPU) + 1))
    return cpus


class Recording:
    """A recording, or several merged by time. Made by sonde.open(); reading begins when asked.

    Iterating gives Events in time order. Each iteration reads anew; a pipe is read only once. A
    context manager: leaving it closes the recording. One thread at a time.
    """

    _kind = "a pipe"  # for messages: what is read once

    def __init__(self, paths, conditions, keys, on_loss, use=None):
        self.path = paths
        self._conditions = conditions
        self._keys = keys
        self._on_loss = on_loss
        self._use = use or {"is_read": False}  # of the pipe; select() shares it
        self._is_pipe = "live" in self._use or any(_is_pipe(p) for p in paths)
        self._is_closed = False
        self._sessions = WeakSet()  # all that were opened
        self._last = None  # the session read last
        self._base = None  # for schemas and facts of the header
        self._walked = None  # a session that was read to its end
        self._patterns = None
        groups = conditions.get("events", ())
        if not self._is_pipe:
            self._resolve()
        elif len(groups) > 1:
            self._patterns = groups[0]
            for group in groups[1:]:
                self._patterns = _in_both(self._patterns, group)

    # ---- sessions ------------------------------------------------------------------------------

    def _resolve(self):
        """Opens the recording: wrong conditions raise now, and so do patterns without an event
        type."""
        patterns = self._conditions.get("events")
        others = {k: v for k, v in self._conditions.items() if k != "events"}
        if patterns is not None:
            where = others.pop("where", None)
            self._base = self._open(self._lines(others))
            types = {s.name: s.kind == "sample" for s in self._base.schemas
                     if s.kind in ("tracepoint", "sample")}
            for pattern in (p for group in patterns for p in group):
                if not any(_is_match(pattern, *t) for t in types.items()):
                    _sonde._unknown_event(_missing(pattern, types), list(types))
            self._patterns = [_as_chosen(patterns, *t) for t in types.items()
                              if all(any(_is_match(p, *t) for p in group) for group in patterns)]
            if where is None:
                return
        self._base = self._open(self._lines(self._conditions))

    def _open(self, text):
        try:
            if "live" in self._use:
                s = self._use["live"].session(text)
            else:
                s = _open_waiting(text) if self._is_pipe else _sonde.session(text)
        except _sonde.InputNotFoundError as error:
            if all(p == "-" or os.path.exists(p) for p in self.path):
                error.advice = ""  # a file that a key names
            raise
        self._sessions.add(s)
        return s

    def _pairs(self):
        """The names of pairs that are asked for, each once."""
        groups = self._conditions.get("events", ())
        return dict.fromkeys(p for group in groups for p in group if _is_pair(p))

    def _lines(self, conditions):
        lines = [_line("input", p) for p in self.path]
        lines += [_line("pair", p[len("pair("):-1]) for p in self._pairs()]
        lines += [_line(key, value) for key, value in self._keys.items()]
        if self._patterns == [] or any(conditions.get(key) == [] for key in LISTS):
            # Conditions that no event fulfils: an empty list would be no condition.
            return "".join(lines) + NOTHING
        for key in LISTS:
            if key in conditions:
                lines.append(_line(key, conditions[key]))
        if conditions.get("time") is not None:
            lines.append(_line("time", _time(conditions["time"])))
        if conditions.get("where"):
            lines.append(_line("where", " && ".join("(%s)" % w for w in conditions["where"])
                               if len(conditions["where"]) > 1 else conditions["where"][0]))
        if self._patterns is not None:
            lines.append(_line("event", self._patterns))
        elif conditions.get("events"):
            lines.append(_line("event", conditions["events"][0]))
        return "".join(lines)

    def _session(self, **keys):
        """A session over what is selected."""
        if self._is_closed:
            raise ValueError("the recording is closed")
        if self._is_pipe and self._use["is_read"]:
            advice = (": handle all events in one loop, or open the copy that record(output=) makes"
                      if "live" in self._use else "")
            raise _option_error("%s can be read only once%s" % (self._kind, advice))
        self._use["is_read"] = True
        lines = self._lines(self._conditions)
        s = self._open(lines + "".join(_line(k, v) for k, v in keys.items()))
        if self._on_loss == "raise":
            s.raises_losses = True
        self._last = s
        if self._is_pipe:
            self._base = s
        return s

    def _walk(self):
        """A session of this selection that was read to its end, so that its counts are complete."""
        if self._walked is None:
            if self._is_pipe:
                if self._last is None:
                    raise ValueError("%s reports this only after it was read" % self._kind)
                return self._last
            before, on_loss = self._last, self._on_loss
            self._on_loss = "report"
            try:
                s = self._session()
                s.count()
            finally:
                self._last, self._on_loss = before, on_loss
            self._walked = s
        return self._walked

    def _header(self):
        if self._is_closed:
            raise ValueError("the recording is closed")
        if self._base is None:
            raise ValueError("%s reports this only while it is read" % self._kind)
        return self._base

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """Ends reading and releases the recording. Events already delivered stay valid."""
        self._is_closed = True
        for s in list(self._sessions):
            s.close()

    def __repr__(self):
        return "<sonde.Recording %s>" % ", ".join(self.path)

    # ---- events --------------------------------------------------------------------------------

    def __iter__(self):
        """Events in time order, from the beginning.

        Reading on raises Error if it is not possible, and LossError with on_loss='raise'. A pipe
        that was read raises OptionError, a closed recording ValueError.
        """
        return iter(self._session())

    def select(self, events=None, where=None, **keys):
        """A Recording with more conditions; nothing is read.

        rec.select("sched:*", cpu=0, where="prev_pid != 0"). Conditions are combined with those of
        rec: an event must fulfil all. Other keys replace those of rec. Raises UnknownEvent for a
        name that the recording does not have, and OptionError for a wrong condition or key. The
        event types of a pipe are known only while it is read, which then raises UnknownEvent; two
        patterns that may overlap, as 'sched:*' and '*switch', raise OptionError at once.
        """
        conditions, others = dict(self._conditions), dict(self._keys)
        if events is not None:
            conditions["events"] = conditions.get("events", ()) + (_patterns(events),)
        if where is not None:
            conditions["where"] = conditions.get("where", ()) + (where,)
        for key, value in keys.items():
            if key in LISTS:
                if key in conditions:
                    value = sorted(_as_set(key, conditions[key]) & _as_set(key, value))
                conditions[key] = value
            elif key == "time":
                if conditions.get("time") is not None:
                    value = _both_times(conditions["time"], value)
                conditions["time"] = value
            else:
                others[key.replace("_", "-")] = value
        return type(self)(self.path, conditions, others, self._on_loss, self._use)

    def count(self, by=None):
        """The number of events; with by a dict of values to numbers of events.

        by: name, cpu, pid, tid, comm, index, or a field, or a sequence of these; the dict's keys
        are then tuples. A field named like one of these is 'f_pid'. None stands for events without
        the field. No event object is made. Raises UnknownField if no event type has the field.
        """
        if by is None:
            return self._session().count()
        return self._session().count((by,) if isinstance(by, str) else tuple(by))

    def run(self, script=None):
        """Calls the handlers of on() and others, and fills the aggregations, of a module.

        script: the module; by default that of the caller. Returns the status of exit(), 0 without
        it. Aggregations print themselves at the end.
        """
        import sys
        from . import _program
        names = sys._getframe(1).f_globals if script is None else vars(script)
        program = names.get(_program.ATTRIBUTE) or _program.Program()
        chosen = [p for user in program.handlers + program.aggregates for p in user.events]
        rec = self.select(events=list(dict.fromkeys(chosen))) if chosen else self
        session = rec._session(**({"events": "all"} if program.losses else {}))
        self._last = rec._last
        return _program.Run(program, session, self._use.get("live")).run()

    def text(self, fields=None):
        """An iterator over the lines of `sonde script`, without line breaks.

        fields: the columns, as `sonde script -F` takes them. Reading the first line raises
        OptionError for columns that the recording does not have.
        """
        keys = {} if fields is None else {"fields": fields}
        return _lines_of(self._session(**keys))

    def _with(self, event):
        """This recording, with the pair of that name if it is one."""
        _check_name(event)
        return self.select(event) if _is_pair(event) and event not in self._pairs() else self

    def table(self, event, fields=None, *, strings="dict", flags="number", stacks=False):
        """All events of one type as columns: a Table. No event object is made.

        fields: names, all but common_* by default. The columns time, cpu, pid, tid and comm come
        first.
        strings='bytes': text as recorded; otherwise it is valid UTF-8, with \\xNN for other bytes.
        flags='names': fields whose values have names as text, a value without a name as its
        number; other fields stay numbers.
        stacks: a column of call chains, innermost first. True: lists of addresses; 'frames': lists
        of rows of Table.frames, which has the functions' names.
        Raises UnknownEvent and UnknownField, and MemoryError instead of taking more than half of
        the memory: use batches() then.
        """
        return _table.table(self._with(event)._session(), event, fields, strings=strings,
                            flags=flags, stacks=stacks)

    def batches(self, event, fields=None, *, rows=65536, every=None, strings="dict",
                flags="number", stacks=False):
        """table() in pieces of at most `rows` rows: an iterator of Tables, in bounded memory.

        every: seconds; for what happens now (record()) there is a piece at least so often, perhaps
        without rows. Dictionaries grow from piece to piece, and a value keeps its code.
        """
        if every is not None and "live" not in self._use:
            raise _option_error("every= is for what happens now: use rows= for a recording")
        return _table.batches(self._with(event)._session(), event, fields, rows, every,
                              strings=strings, flags=flags, stacks=stacks)

    def profile(self, **settings):
        """The samples added up, as by sonde.profile(): rec.profile(keys="comm,dso,sym").

        Raises OptionError for a setting that does not exist or has a wrong value.
        """
        return _sonde.profile(self._session(), **settings)

    # ---- facts ---------------------------------------------------------------------------------

    @property
    def schemas(self):
        """dict of str to Schema: the event types of the recording, by name.

        Known before the first event; those of a pipe as far as it was read.
        """
        schemas = {}
        for s in self._header().schemas:
            schemas.setdefault(s.name, s)
        return schemas

    @property
    def defects(self):
        """list of Defect: losses and damage met by the last iteration, complete after its end.

        Before the first iteration the recording is read for it.
        """
        return (self._last or self._walk()).defects

    @property
    def lost(self):
        """int: lost events, from the reports of the kernel and the recorder that the last
        iteration has met."""
        return sum(d.count for d in self.defects if d.name == "lost-events")

    @property
    def pairs(self):
        """dict of str to Pair: the pairs by name, with the counts of the last iteration.

        Before the first iteration the recording is read for it.
        """
        return {p.name: p for p in (self._last or self._walk()).pairs}

    @property
    def start(self):
        """int or None: time of the first selected event in ns; reads the recording once."""
        return self._walk().span[0]

    @property
    def end(self):
        """int or None: time of the last selected event in ns; reads the recording once."""
        return self._walk().span[1]

    @property
    def host(self):
        """str or None: the name of the recorded machine, from the header; None if it has none."""
        return self._header().info("hostname")

    @property
    def kernel(self):
        """str or None: the release of its kernel ('6.1.0-18-amd64'), from the header."""
        return self._header().info("osrelease")

    @property
    def clock(self):
        """str: what times are: raw (the recording's clock), relative, utc or local."""
        return self._keys.get("clock", "raw")

    def info(self, key):
        """A fact from the header, str or None: hostname, osrelease, version, arch, cmdline ...

        See Session.info().
        """
        return self._header().info(key)


def _both_times(one, other):
    if isinstance(one, str) or isinstance(other, str):
        raise _option_error("time= can be given twice only as (from, to) in nanoseconds")
    first = [t for t in (one[0], other[0]) if t is not None]
    last = [t for t in (one[1], other[1]) if t is not None]
    return (max(first, default=None), min(last, default=None))


def _open_waiting(text):
    """A session over a pipe, whose header may be pending. Ctrl-C ends the wait.

    The library waits in a thread of its own, which lives until the pipe is closed.
    """
    import threading

    if threading.current_thread() is not threading.main_thread():
        return _sonde.session(text)  # Python handles signals in the main thread only
    results, failures, is_done = [], [], threading.Event()

    def wait():
        try:
            results.append(_sonde.session(text))
        except BaseException as error:
            failures.append(error)
        is_done.set()

    threading.Thread(target=wait, daemon=True).start()
    is_done.wait()
    if failures:
        raise failures[0]
    return results[0]


def _lines_of(session):
    """The text that the library writes to a pipe, line by line."""
    import signal
    import threading

    reading, writing = os.pipe()
    failures = []

    def write():
        # The reader may close the pipe early. The mask is that of this thread alone.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPIPE])
        try:
            session._write(writing)
        except BaseException as error:
            failures.append(error)
        finally:
            os.close(writing)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        with os.fdopen(reading, encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            for line in lines:
                yield line.rstrip("\n")
    finally:
        session.stop()  # the writer may wait for the input
        writer.join()
    if failures:
        raise failures[0]


def _patterns(events):
    patterns = tuple(_sonde._words(events)) if isinstance(events, str) else tuple(events)
    for pattern in patterns:
        _check_name(pattern)
    return patterns


def open(path="perf.data", *, events=None, where=None, time=None, cpu=None, pid=None, tid=None,
         comm=None, clock="raw", records=False, callchain=True, on_loss="report", **keys):
    """Opens a recording, or several (a list of paths) merged by time: a Recording.

    path       a path, '-' for standard input, the descriptor of a pipe, or a list of these
    events     names or patterns: "sched:sched_switch", ["sched:*", "cpu-clock"]. Raises
               UnknownEvent at once if the recording has none of that name
    where      a condition in the kernel's filter language, evaluated before anything is made:
               'prev_state == 1 && next_pid != 0'
    time       (from, to) in nanoseconds, either may be None and both ends are inclusive; or text as
               for `sonde script --time`: '12.5,13' (seconds), '0%-10%', '21:15Z'
    cpu pid tid comm   one value or a list
    clock      what times are: raw (default, as recorded), relative (to the first), utc, local
    records    also deliver records of state as events, in order: comm, fork, exit, mmap, lost, and
               defects
    callchain  False: deliver samples without call chains
    on_loss    'raise': raise LossError as soon as a loss is known; 'report' (default): see
               Recording.lost and Recording.defects
    keys       any other key of a session (sonde_session_open(3)), with '_' for '-':
               symfs='/target', kallsyms=, no_follow=True, window=

    Raises InputError or a subclass of OSError if the input cannot be read, FormatError if it is no
    recording, OptionError for a wrong key or value.
    """
    if on_loss not in ("report", "raise"):
        raise _option_error("on_loss is 'report' or 'raise', not %r" % (on_loss,))
    paths = tuple(_path(p) for p in path) if isinstance(path, (list, tuple)) else (_path(path),)
    if not paths:
        raise _option_error("no recording is named")
    conditions = {k: v for k, v in (("time", time), ("cpu", cpu), ("pid", pid), ("tid", tid),
                                    ("comm", comm)) if v is not None}
    if events is not None:
        conditions["events"] = (_patterns(events),)
    if where is not None:
        conditions["where"] = (where,)
    others = {key.replace("_", "-"): value for key, value in keys.items()}
    if clock != "raw":
        others["clock"] = clock
    if records:
        others["events"] = "all"
    if not callchain:
        others["callchain"] = False
    return Recording(paths, conditions, others, on_loss)


def profile(recording="perf.data", **settings):
    """Adds up samples: a Profile.

    recording: a Recording, a Session (its further samples), or an argument of open(). The settings
    are those of sonde_profile_new(3): keys='comm,dso,sym', callgraph='caller', children=True ... A
    Profile is a sequence of rows, which are dicts: event, samples, period, children_samples,
    children_period, and the text of each key.
    """
    if isinstance(recording, _sonde.Session):
        return _sonde.profile(recording, **settings)
    if not isinstance(recording, Recording):
        recording = open(recording)
    return recording.profile(**settings)
