# SPDX-License-Identifier: MIT
"""count(), sum(), stats(), hist(), lhist(): events counted by keys in C, without Python per event.

    reads = sonde.hist("syscalls:sys_exit_read", "ret", by="comm", where="ret > 0")

An aggregation belongs to the module that makes it. It gets the events of the script's run
(`sonde run`, Recording.run()), and prints itself at the end.
"""
import builtins
import os
import sys
import tempfile
from collections import namedtuple
from collections.abc import Mapping

from ._program import Timer, _here
from ._recording import _option_error, _patterns

Stats = namedtuple("Stats", "count sum min max mean p50 p90 p95 p99")
Stats.__doc__ = "What stats() knows of a row; percentiles are in error by 1/128 at most."


def _is_silent(out):
    """Whether a script has taken its standard output away."""
    return out is None or getattr(out, "closed", False)


def _text_of(write):
    """What write(fd) writes."""
    with tempfile.TemporaryFile() as f:
        write(f.fileno())
        f.seek(0)
        return f.read().decode("utf-8", "surrogateescape")


class Aggregate(Mapping):
    """Rows by keys: {key: value}, the largest first. With several keys the dict's keys are tuples,
    without any the only key is (). The row of keys that were merged is '(other)'.

    Values are int for count() and sum(), Stats for stats(), {(low, high): count} for hist() and
    lhist(). With every= the rows are those of the current period.
    """

    def __init__(self, kind, events, field=None, by=None, where=None, linear=None, limit=None,
                 every=None, quiet=False):
        self.kind, self.field, self.where = kind, field, where
        self.events = _patterns(events)
        if by is not None and not isinstance(by, (str, tuple, list)):
            raise TypeError("by is one key or several, as text, not %r" % (by,))
        self.by = () if by is None else tuple(
            key.strip() for key in (by.split(",") if isinstance(by, str) else by))
        self.linear = None if linear is None else tuple(linear)
        if linear is not None and (len(self.linear) != 3 or
                                   not all(isinstance(n, int) for n in self.linear)):
            raise _option_error("a linear histogram needs three whole numbers: low, high, step")
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or
                                  not 1 <= limit <= 1 << 28):
            raise _option_error("limit is a number of keys from 1 to 2**28, not %r" % (limit,))
        if every is not None and quiet:
            raise _option_error("quiet= and every= exclude one another: one prints nothing")
        self.limit = limit or 0  # 0: as many as the library keeps by default
        self.every, self.quiet = every, quiet
        self._session = None
        self._period = None if every is None else Timer(every, None)
        self._has_printed = False
        self._c = None

    def _attach(self, session):
        self._session, self._has_printed = session, False
        self._c = session._aggregate(self.kind, ",".join(self.events), self.field,
                                     ",".join(self.by) or None, self.where, self.linear,
                                     self.limit)
        return self._c

    def _made(self):
        if self._c is None:
            raise ValueError("the aggregation has no events yet: it gets them from `sonde run` or "
                             "Recording.run()")
        return self._c

    def _value(self, row):
        if self.kind == "count":
            return row[2]
        if self.kind == "sum":
            return row[3]
        if self.kind == "stats":
            return Stats(row[2], row[3], *row[4:11])
        return row[11]

    def _rows(self):
        if self._c is None:
            return {}
        return {"(other)" if row[1] else row[0][0] if builtins.len(row[0]) == 1 else row[0]:
                self._value(row) for row in self._c.rows()}

    def __getitem__(self, key):
        return self._rows()[key]

    def __iter__(self):
        return iter(self._rows())

    def __len__(self):
        return builtins.len(self._rows())

    @property
    def total(self):
        """int: of all rows, the number of events, for sum() the sum."""
        if self._c is None:
            return 0
        facts = self._c.facts()
        return facts[2] if self.kind == "sum" else facts[1]

    @property
    def span(self):
        """(first, last): times of the events that the script's aggregations got so far; None if
        there were none."""
        return (None, None) if self._session is None else self._session.span

    @property
    def lost(self):
        """int: events that the script's run has lost so far, as Recording.lost."""
        return 0 if self._session is None else builtins.sum(
            d.count for d in self._session.defects if d.name == "lost-events")

    def clear(self):
        """Forgets all events so far."""
        if self._c is not None:
            self._c.clear()

    def print(self, top=20, format="text"):
        """Prints the rows on sys.stdout: as text with bars, or format='json'. Prints nothing if
        sys.stdout is None or closed."""
        self._print(top, format)

    def _print(self, top, format, first_ns=0, last_ns=0):
        out, made = sys.stdout, self._made()
        if _is_silent(out):
            return
        try:
            fd = out.fileno()
        except (AttributeError, OSError):  # an object in memory: it gets the text
            out.write(_text_of(lambda fd: made.print(fd, top, format, 0, first_ns, last_ns)))
            return
        out.flush()
        columns = 0
        if os.isatty(fd):
            columns = os.get_terminal_size(fd).columns
        made.print(fd, top, format, columns, first_ns, last_ns)

    def _print_as(self, facts, *period):
        form = facts.format if facts and facts.format else "text"
        top = facts.top if facts and facts.top else 0 if form == "json" else 20
        if self._has_printed and form == "text" and not _is_silent(sys.stdout):
            sys.stdout.write("\n")
        self._print(top, form, *period)
        self._has_printed = True

    def _timer(self, facts):
        def print_period(first_ns, last_ns):
            self._print_as(facts, first_ns, last_ns)
            self._c.clear()

        self._period.function = print_period
        return self._period

    def _print_at_end(self, facts, now_ns):
        """Prints all rows, or those since the last period."""
        t = self._period
        if self._c is None or self.quiet or (self._has_printed and not self._c.facts()[1]):
            return
        if t is None or t.next_ns is None or now_ns is None:
            self._print_as(facts)
        else:
            first = t.next_ns - t.ns - t.begin_ns
            self._print_as(facts, first, max(first + 1, now_ns - t.begin_ns))

    def __repr__(self):
        title = self._c.facts()[0] if self._c is not None else \
            "%s of %s" % (self.kind, ",".join(self.events))
        return "<sonde.Aggregate %s>" % title


def _new(program, *args, **kw):
    a = Aggregate(*args, **kw)
    program.aggregates.append(a)
    return a


def count(event, by=None, where=None, *, limit=None, every=None, quiet=False):
    """Counts events by keys: an Aggregate.

    event  a name, a pattern, or several; a pair (sonde.pair)
    by     keys, one or several: name, comm, pid, tid, cpu, cgroup, index (which input), kstack,
           ustack, stack (functions of the call chain), or a field
    where  a condition in the kernel's filter language; false for events that a pattern chooses and
           that do not have its field, an error for a name
    limit  number of keys that are kept (100000); beyond it the smallest become one row '(other)'
    every  seconds: prints the rows in such periods, each time those of the period alone; by the
           time of day in a live run, by the times of events on a recording
    quiet  True: it is not printed; the program asks for its rows
    """
    return _new(_here(), "count", event, None, by, where, limit=limit, every=every, quiet=quiet)


def sum(event, field, by=None, where=None, *, limit=None, every=None, quiet=False):
    """Adds up a field by keys; see count()."""
    return _new(_here(), "sum", event, field, by, where, limit=limit, every=every, quiet=quiet)


def stats(event, field, by=None, where=None, *, limit=None, every=None, quiet=False):
    """Count, sum, extremes, mean and percentiles of a field by keys; see count()."""
    return _new(_here(), "stats", event, field, by, where, limit=limit, every=every, quiet=quiet)


def hist(event, field, by=None, where=None, linear=None, *, limit=None, every=None, quiet=False):
    """A histogram of a field by keys, with buckets of powers of two; see count().

    linear: (low, high, step) for buckets of equal width, as lhist().
    """
    kind = "hist" if linear is None else "lhist"
    return _new(_here(), kind, event, field, by, where, linear, limit, every, quiet)


def lhist(event, field, low, high, step, by=None, where=None, *, limit=None, every=None,
          quiet=False):
    """A histogram with buckets of `step` from `low` to `high`; see count()."""
    return _new(_here(), "lhist", event, field, by, where, (low, high, step), limit, every,
                quiet)
