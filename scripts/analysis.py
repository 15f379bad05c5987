# SPDX-License-Identifier: MIT
"""Shared by the analyses in this folder: arguments, distributions, tables for people and programs,
names.

    from analysis import Distribution, Report, any_kernel, arguments, losses

    options = arguments(__doc__, by=("call", "thread"), top=20)
    waits = Distribution()

    def sched__sched_switch(event_name, context, common_cpu, ...):
        waits.add(nanoseconds)

    def trace_lost(cpu, time, count):
        losses.add(count)

    def trace_end():
        report = Report(options)
        report.table("waits", "waits by thread",
                     [("tid", "tid", "number"), ("max_ns", "max", "time")], rows)
        report.print()

    any_kernel(globals())

Times are nanoseconds everywhere; only a table for people prints them as "1.23 ms". Nothing here
needs sonde: stock perf runs the same scripts.
"""

import errno
import json
import os
import sys

import screen
from screen import printable

try:
    import perf_trace_context as host
except ImportError:  # without sonde and perf: the script is inspected or tested
    host = None

# ---- arguments -----------------------------------------------------------------------------------


def arguments(doc, by=(), top=20, more=()):
    """The script's options: --json, --top, --by (one of `by`, by default the first), and `more`:
    (flags, settings)."""
    import argparse

    parser = argparse.ArgumentParser(prog=os.path.basename(sys.argv[0]), description=doc,
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("-j", "--json", action="store_true",
                        help="one JSON object, times in nanoseconds")
    if top:
        parser.add_argument("--top", type=int, metavar="N",
                            help="at most N rows of each table (default %d; with --json "
                            "all); 0: all" % top)
    if by:
        parser.add_argument("--by", choices=by, default=by[0],
                            help="the subject of a row (default %(default)s)")
    for flags, settings in more:
        parser.add_argument(*flags, **settings)
    options = parser.parse_args()
    # Those of `sonde run --format json --top N` hold for tables, too.
    form, rows = vars(sys.modules["__main__"]).get("__sonde_output__", (None, 0))
    options.json |= form == "json"
    if top and rows and options.top is None:
        options.top = rows
    options.name = os.path.splitext(parser.prog)[0]
    options.top_is_default = bool(top) and options.top is None
    if not top:
        options.top = None
    elif options.top is None:
        options.top = None if options.json else top
    elif options.top < 0:
        parser.error("argument --top: %d is below 0" % options.top)
    else:
        options.top = options.top or None
    return options


# ---- distributions -------------------------------------------------------------------------------


class Distribution:
    """Integers from 0 on: count, sum, extremes, percentiles; in bounded memory.

    The first KEPT values are kept, so that their percentiles are exact. More values become counts
    in buckets, 64 for each power of two: a percentile is then within 1 % of the true one.
    """

    KEPT = 512
    SUB = 6  # 2**6 buckets for each power of two

    __slots__ = ("fresh", "count_folded", "sum_folded", "least", "most", "buckets")

    def __init__(self):
        self.fresh = []
        self.count_folded = self.sum_folded = self.most = 0
        self.least = None
        self.buckets = None

    def add(self, value):
        fresh = self.fresh
        fresh.append(value)
        if len(fresh) >= 512:  # KEPT: a constant is faster, and this runs for each event
            self._fold()

    def _fold(self):
        fresh = self.fresh
        self.fresh = []
        self.count_folded += len(fresh)
        self.sum_folded += sum(fresh)
        self.most = max(self.most, max(fresh))
        self.least = min(fresh) if self.least is None else min(self.least, min(fresh))
        buckets = self.buckets = self.buckets or {}
        for value in fresh:
            index = self._index(value)
            buckets[index] = buckets.get(index, 0) + 1

    @classmethod
    def _index(cls, value):
        shift = max(value.bit_length() - cls.SUB - 1, 0)
        return (shift << cls.SUB) + (value >> shift)

    @classmethod
    def _range(cls, index):
        """[low, high) of a bucket."""
        shift = max((index >> cls.SUB) - 1, 0)
        low = (index - (shift << cls.SUB)) << shift
        return low, low + (1 << shift)

    @property
    def count(self):
        return self.count_folded + len(self.fresh)

    @property
    def sum(self):
        return self.sum_folded + sum(self.fresh)

    @property
    def min(self):
        values = self.fresh if self.least is None else self.fresh + [self.least]
        return min(values) if values else None

    @property
    def max(self):
        return max(self.fresh + [self.most]) if self.count else None

    @property
    def mean(self):
        """Rounded to an integer."""
        count = self.count
        return (self.sum + count // 2) // count if count else None

    def percentile(self, percent):
        """The smallest value that at least that share of all values does not exceed; None if
        empty."""
        if self.buckets is not None and self.fresh:
            self._fold()
        count = self.count
        rank = max(-(-count * percent // 100), 1)
        if not count:
            return None
        if self.buckets is None:
            return sorted(self.fresh)[int(rank) - 1]
        for index in sorted(self.buckets):
            rank -= self.buckets[index]
            if rank <= 0:
                low, high = self._range(index)
                return max(self.least, min(self.most, (low + high - 1) // 2))
        return self.most

    def merge(self, other):
        """Adds the values of another distribution."""
        for value in other.fresh:
            self.add(value)
        if other.buckets is None:
            return
        if self.fresh:
            self._fold()
        self.count_folded += other.count_folded
        self.sum_folded += other.sum_folded
        self.most = max(self.most, other.most)
        self.least = other.least if self.least is None else min(self.least, other.least)
        buckets = self.buckets = self.buckets or {}
        for index, count in other.buckets.items():
            buckets[index] = buckets.get(index, 0) + count

    def powers(self):
        """[(low, high, count)]: how many values are in [low, high), by powers of two, without empty
        ends."""
        counts = {}
        for value in self.fresh:
            counts[value.bit_length()] = counts.get(value.bit_length(), 0) + 1
        for index, count in (self.buckets or {}).items():
            bits = self._range(index)[0].bit_length()
            counts[bits] = counts.get(bits, 0) + count
        if not counts:
            return []
        return [(1 << bits >> 1, 1 << bits, counts.get(bits, 0))
                for bits in range(min(counts), max(counts) + 1)]


SPREAD = [("mean_ns", "mean", "time"), ("p50_ns", "p50", "time"), ("p95_ns", "p95", "time"),
          ("p99_ns", "p99", "time"), ("max_ns", "max", "time")]


def spread(d):
    """The values of the columns SPREAD."""
    return d.mean, d.percentile(50), d.percentile(95), d.percentile(99), d.max


# ---- values as text ------------------------------------------------------------------------------


def _scaled(value, step, units):
    unit = 0
    while unit < len(units) - 1 and value >= step - 0.5:
        value /= step
        unit += 1
    digits = 0 if not unit or value >= 99.95 else 1 if value >= 9.995 else 2
    return "%.*f %s" % (digits, value, units[unit])


def duration(ns):
    """Three digits and a unit: "1.23 ms". Units have one width, so that a column shows
    magnitudes."""
    return _scaled(ns, 1000, ("ns", "us", "ms", " s"))


def size(count):
    """Bytes: "64.0 KiB"."""
    return _scaled(count, 1024, ("  B", "KiB", "MiB", "GiB", "TiB"))


def moment(ns):
    """A time of the recording as text output prints it: seconds with microseconds."""
    return "%d.%06d" % (ns // 1000000000, ns % 1000000000 // 1000)


def name(value):
    """A name of the recording as str, which may be a key; a field with unprintable bytes is a
    bytearray.

    JSON has it as docs/formats/jsonl.md describes; screen.printable() makes it safe for a terminal.
    """
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).split(b"\0")[0].decode("utf-8", "surrogateescape")
    return str(value)


# kind of a column -> (as text, aligned to the right)
KINDS = {
    "text": (name, False),
    "number": (str, True),
    "rare": (str, True),  # a number; tables for people omit the column while all are 0
    "time": (duration, True),
    "bytes": (size, True),
    "moment": (moment, True),
    "percent": (lambda v: "%.*f %%" % (1 if v >= 9.95 else 2, v), True),
    "rate": (lambda v: "%.1f" % v, True),
    "address": (lambda v: "%#x" % v, True),
}


# ---- losses --------------------------------------------------------------------------------------


class Losses:
    """Lost events. A script passes the count from trace_lost() and forgets its half-finished
    pairs."""

    def __init__(self):
        self.events = self.gaps = 0

    def add(self, count):
        self.events += count
        self.gaps += 1

    def set(self, count):
        """For scripts that know only the sum."""
        self.events = count

    def __bool__(self):
        return bool(self.events or self.gaps)

    def __str__(self):
        return "%s lost%s" % ("events were" if self.events == 0 else
                              plural(self.events, "event was", "events were"),
                              " at " + plural(self.gaps, "place") if self.gaps else "")


losses = Losses()

# ---- the report ----------------------------------------------------------------------------------


def plural(count, one, many=None):
    return "%d %s" % (count, one if count == 1 else many or one + "s")


class Report:
    """Tables and notes: aligned text, or one JSON object with a list of objects per table.

    On a terminal no line is wider than it, and a table has as many rows as fit, unless --top says
    how many. live: a screen that is redrawn in place, so everything must fit, whatever --top says.
    """

    def __init__(self, options, live=False):
        self.options = options
        self.lines = []
        self.data = {"analysis": options.name}
        self.screen = None if options.json else screen.terminal()
        self.columns = self.screen and self.screen[0]
        self.live = live and self.screen is not None
        self.top = self._rows()  # None: all

    def _rows(self):
        """The number of rows of a table, besides its title, its heading and the lines below it."""
        top = self.options.top
        if self.live:
            room = max(self.screen[1] - 4 - (3 if losses else 0), 1)
            return min(top or room, room)
        if self.screen and self.options.top_is_default:
            return min(top, max(self.screen[1] - 5, 3))
        return top

    def table(self, key, title, columns, rows, empty="(none)"):
        """columns: (key in JSON, heading, kind of KINDS); rows: tuples; a value None is "-"."""
        rows = list(rows)
        shown = rows[:self.top]
        if self.options.json:
            self.data[key] = [dict(zip((c[0] for c in columns), row)) for row in shown]
            return
        wanted = [i for i, column in enumerate(columns) if column[2] != "rare" or
                  any(row[i] for row in shown)]
        columns = [columns[i] for i in wanted]
        shown = [[row[i] for i in wanted] for row in shown]
        texts = [[heading for _, heading, _ in columns]]
        kinds = [KINDS[kind] for _, _, kind in columns]
        for row in shown:
            texts.append(["-" if value is None else printable(kind[0](value))
                          for value, kind in zip(row, kinds)])
        self._begin(title)
        if not rows:
            self.lines.append(empty)
            return
        names = [i for i, column in enumerate(columns) if column[2] == "text"]
        lines, left_out = screen.table(texts, [kind[1] for kind in kinds], names, self.columns)
        self.lines += lines
        below = []
        if len(shown) < len(rows):
            below.append("... %d more%s" % (len(rows) - len(shown),
                                            "" if self.live else "; --top 0 shows all"))
        if left_out:
            below.append("no room for %s" % ", ".join(left_out))
        self.lines += [screen.cut("; ".join(below), self.columns)] if self.live and below else below

    def row(self, text):
        """A line that is cut at the edge of a terminal; others are wrapped."""
        self.lines.append(screen.cut(printable(text), self.columns))

    def histogram(self, key, title, distribution, as_text=duration, **about):
        """In JSON another object of the list `key`, with its subject."""
        powers = distribution.powers()
        if self.options.json:
            about["buckets"] = [{"from": low, "below": high, "count": count}
                                for low, high, count in powers]
            self.data.setdefault(key, []).append(about)
        elif powers:
            self._begin(title)
            most = max(count for _, _, count in powers)
            digits = len(str(most))
            longest = 50 if self.columns is None else max(min(50, self.columns - 23 - digits), 1)
            for low, high, count in powers:
                self.row(("%8s .. %8s  %*d %s" % (as_text(low), as_text(high), digits, count,
                                                  "#" * -(-count * longest // most))).rstrip())

    def note(self, key, value, text):
        """A number besides the tables: a member in JSON; a line for people if it is not 0 and has a
        text."""
        if self.options.json:
            self.data[key] = value
        elif value and text:
            self.lines.append(text)

    def _begin(self, title):
        if self.lines:
            self.lines.append("")
        if title:
            title = printable(title)
            self.lines.append(screen.cut(title, self.columns) if self.live else title)

    def print(self):
        if self.options.json:
            self.data["lost"] = losses.events
            sys.stdout.write(json.dumps(self.data, default=name).replace("\x7f", "\\u007f") + "\n")
        else:
            if losses:
                self.lines += ["", "%s: counts are too low, and what was under way there is not "
                                   "timed" % losses]
            lines = [part for line in self.lines for text in line.split("\n")
                     for part in screen.wrap(text, self.columns)]
            if self.live:
                # The cursor is below the last line.
                return screen.redraw(lines[:max(self.screen[1] - 1, 1)])
            sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()


# ---- screens -------------------------------------------------------------------------------------

# For arguments(): the optional first argument of a screen.
INTERVAL = (("interval",), {"nargs": "?", "type": float, "default": 1.0, "metavar": "INTERVAL",
                            "help": "seconds between two tables (default 1)"})


def check_interval(options):
    if not 0.01 <= options.interval <= 86400:
        sys.exit("%s: an INTERVAL of %g seconds: give one from 0.01 to 86400" %
                 (options.name, options.interval))


class Tables:
    """What scripts of `sonde run` have in common that are screens: a table of each interval of a
    live run, drawn again when the terminal's size changes, and one of the complete run at its end.

    show(report, rows, seconds, title) fills a report. now and complete have take(), which gives the
    rows so far and forgets them, and `first`, one of their aggregations; now is None for
    recordings.
    """

    def __init__(self, options, show, now, complete):
        import signal
        import time

        import sonde

        self.options, self.show, self.now, self.complete = options, show, now, complete
        self.clock = time.monotonic
        self.before = self.clock()
        self.shown = None  # rows and seconds of the last table
        self.is_showing = self.is_resized = False
        sonde.end(self.last)
        if now:
            sonde.every(options.interval, self.next)
            if not options.json and screen.terminal():
                signal.signal(signal.SIGWINCH, self.resized)

    def next(self):
        is_first, time = self.shown is None, self.clock()
        self.shown = self.now.take(), time - self.before
        self.before = time
        self.draw(is_first)

    def resized(self, number, frame):
        """A signal: the last table may just be drawn, and is then drawn again."""
        self.is_resized = True
        if self.shown and not self.is_showing:
            self.draw()

    def draw(self, is_first=True):
        self.is_showing = self.is_resized = True
        while self.is_resized:
            self.is_resized = False
            self.print(*self.shown, "", is_first)
        self.is_showing = False

    def last(self):
        self.is_showing = True
        if self.now and self.shown is None:
            self.now.take()
        first, last = self.complete.first.span
        self.print(self.complete.take(), (last - first) / 1e9 if first is not None else 0.0,
                   "in all, ", self.shown is None)

    def print(self, rows, seconds, title, is_first):
        losses.set(self.complete.first.lost)
        report = Report(self.options, live=not title)
        if not is_first and not report.live and not self.options.json:
            sys.stdout.write("\n")
        report.note("seconds", round(seconds, 3), "")
        self.show(report, rows, seconds, title)
        report.print()


# ---- names ---------------------------------------------------------------------------------------

# Results inside the kernel: sys_exit has them, but user space never sees them.
_KERNEL_ERRORS = {512: "ERESTARTSYS", 513: "ERESTARTNOINTR", 514: "ERESTARTNOHAND",
                  515: "ENOIOCTLCMD", 516: "ERESTART_RESTARTBLOCK", 517: "EPROBE_DEFER",
                  518: "EOPENSTALE", 519: "ENOPARAM", 521: "EBADHANDLE", 524: "ENOTSUPP",
                  529: "EIOCBQUEUED"}


def is_error(ret):
    """True if the result of a system call is an error."""
    return -4096 < ret < 0


def error_name(number):
    """"ENOENT" for 2 or -2."""
    number = abs(number)
    return errno.errorcode.get(number) or _KERNEL_ERRORS.get(number) or "errno %d" % number


def signed32(value):
    """Restores the sign: perf passes signed fields of four bytes as unsigned."""
    return value - (1 << 32) if value >= 1 << 31 else value


def _tables():
    """Places of the table of system calls: of the running sonde, in a source tree, in an
    installation."""
    under = "scripts/python/Perf-Trace-Util/lib/Perf/Trace/syscall_names.py"
    here = os.path.dirname(os.path.abspath(__file__))
    sonde = sys.modules.get("sonde") or (_import_sonde() if hasattr(host, "_arch") else None)
    folders = [os.environ.get("PERF_EXEC_PATH"), here + "/../bindings/python/lib",
               here + "/../python/lib"]
    if sonde is not None:
        package = os.path.dirname(sonde.__file__)
        folders.insert(0, os.path.dirname(os.path.dirname(package)) + "/lib")
    return [folder + "/" + under for folder in folders if folder]


def _import_sonde():
    import sonde

    return sonde


def _read_table():
    machine = getattr(host, "_arch", None) or os.uname()[4]
    for path in _tables():
        try:
            with open(path, "rb") as f:
                code = compile(f.read(), path, "exec")
        except OSError:
            continue
        names = {}
        exec(code, names)
        return names["table"](machine)
    return {}


_syscalls = None


def syscall_name(number):
    """"openat" for 257 on the recorded machine; "call 257" if the name is unknown."""
    global _syscalls
    if _syscalls is None:
        _syscalls = _read_table()
    return _syscalls.get(number) or "call %d" % number


# ---- kernels of other versions -------------------------------------------------------------------


def may_be_absent(handler):
    """Marks a handler of an event that not every kernel has: its absence is not reported."""
    handler.may_be_absent = True
    return handler


def any_kernel(main):
    """Lets handlers name only the fields that they use; called at the end of a script with
    globals().

    sonde binds fields by their names. perf passes all fields of the recorded kernel's event by
    position. Only trace_unhandled() gets them with their names, so under perf that function calls
    our handlers.
    """
    if host is None or hasattr(host, "_arch") and not host._rules.binds_by_place:
        return
    handlers = {}
    for name, handler in list(main.items()):
        system, sep, event = name.partition("__")
        if sep and system and event and callable(handler):
            code = handler.__code__
            handlers[name] = handler, code.co_varnames[8:code.co_argcount]
            del main[name]

    def trace_unhandled(event_name, context, fields, perf_sample_dict):
        found = handlers.get(event_name)
        if found:
            fields["perf_sample_dict"] = perf_sample_dict
            get = fields.get
            found[0](event_name, context, get("common_cpu"), get("common_s"), get("common_ns"),
                     get("common_pid"), get("common_comm"), get("common_callchain"),
                     *map(get, found[1]))

    main["trace_unhandled"] = trace_unhandled
