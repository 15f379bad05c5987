# SPDX-License-Identifier: MIT
"""Table: events of one type as columns, for NumPy, pandas and Arrow."""
import os
import time
from collections.abc import Mapping

from . import _sonde

OWN = ("time", "cpu", "pid", "tid", "comm", "stack")
# enum sonde_columns_flags
BYTES, NAMES, STACKS, FRAMES = 1, 2, 4, 16
MAX_ROWS = 1 << 28


class Table(Mapping):
    """Events of one type as columns: a mapping of names to Columns, in order.

    The own columns come first: time (int ns), cpu, pid, tid, comm; then fields. A field of such a
    name is 'f_pid'. polars.DataFrame(t), pyarrow.table(t) and DuckDB read the same memory, as often
    as you like.
    """

    def __init__(self, name, batches, lost, frames=None):
        self._batches = batches
        self._names = batches[0].names
        self._columns = {}
        #: str: the event type
        self.name = name
        #: int: the number of events
        self.num_rows = sum(len(b) for b in batches)
        #: int: events of any type that the recording reports as lost, as far as it was read
        self.lost = lost
        #: Table or None: with stacks='frames' the frames that stacks refer to, by row: ip, symbol,
        #: offset (bytes from the function's start) and dso; each place once
        self.frames = frames

    def __getitem__(self, name):
        if name not in self._columns:
            if name not in self._names:
                raise KeyError("the table has no column %r; it has: %s" %
                               (name, ", ".join(self._names)))
            self._columns[name] = _sonde._column(self._batches, self._names.index(name))
        return self._columns[name]

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __repr__(self):
        return "<sonde.Table %s %d rows: %s>" % (self.name, self.num_rows, ", ".join(self._names))

    def __arrow_c_schema__(self):
        """Arrow's type of the table: a struct with a child for each column."""
        return _sonde._schema(self._batches[0])

    def __arrow_c_stream__(self, requested_schema=None):
        """A new stream of the table for Arrow's C stream interface, without a copy."""
        return _sonde._stream(self._batches)

    def to_pandas(self):
        """A pandas.DataFrame, without pyarrow. Text and stacks are Categorical; a column of
        integers with missing values has one of pandas' nullable types."""
        import numpy
        import pandas

        columns = {}
        for name in self._names:
            column = self[name]
            if column.arrow in ("z", "+l") and column.dictionary is None:
                columns[name] = pandas.Series(column.to_list(), dtype=object)
                continue
            values = numpy.asarray(column)
            nulls = numpy.frombuffer(column.nulls, dtype=bool) if column.null_count else None
            if column.dictionary is not None:
                codes = values if nulls is None else numpy.where(nulls, -1, values)
                columns[name] = pandas.Categorical.from_codes(codes, list(column.dictionary))
            elif nulls is None:
                columns[name] = values
            elif values.dtype.kind == "f":
                columns[name] = numpy.where(nulls, numpy.nan, values)
            else:
                columns[name] = pandas.arrays.IntegerArray(values.copy(), nulls)
        return pandas.DataFrame(columns, copy=False)

    def rows(self, *fields):
        """An iterator over tuples of the named columns' values, of all columns without a name."""
        return zip(*(self[name].to_list() for name in fields or self._names))


def _memory():
    """Half of the machine's memory, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _option_error(text):
    error = _sonde.OptionError(text)
    error.errno = 22
    return error


def _flags(strings, flags, stacks):
    for name, value, words in (("strings", strings, ("dict", "bytes")),
                               ("flags", flags, ("number", "names"))):
        if value not in words:
            raise _option_error("%s is %r or %r, not %r" % ((name,) + words + (value,)))
    if isinstance(stacks, str) and stacks != "frames":
        raise _option_error("stacks is False, True or 'frames', not %r" % stacks)
    return ((BYTES if strings == "bytes" else 0) | (NAMES if flags == "names" else 0) |
            (FRAMES if stacks == "frames" else STACKS if stacks else 0))


def _open(session, event, fields, rows, strings, flags, stacks):
    if fields is not None and not isinstance(fields, str):
        fields = ",".join(fields)
    bits = _flags(strings, flags, stacks)
    try:
        return _sonde._columns(session, event.encode("utf-8", "surrogateescape"), fields, bits,
                               rows)
    except _sonde.InputNotFoundError:
        _raise_unknown(session, event, fields)
        raise


def _raise_unknown(session, event, fields):
    """Raises UnknownEvent or UnknownField for the first name that is not known."""
    schemas = {}
    for schema in session.schemas:
        schemas.setdefault(schema.name, schema)
    found = [s for name, s in schemas.items() if event in (name, name.partition(":")[2])]
    if not found:
        _sonde._unknown_event(event, list(schemas))
    names = [*found[0].fields, *OWN]
    for field in (fields or "").split(","):
        if field and field not in names and field[2:] not in names:
            _sonde._unknown_field(field, found[0].name, names)


def _table(event, parts, reader, options):
    """A Table, with the frames of its stacks if they were asked for."""
    lost, frames = reader.facts()["lost"], None
    if options["stacks"] == "frames":
        frames = Table("frames", (reader.frames(),), lost)
    return Table(event, parts, lost, frames)


def batches(session, event, fields, rows, every=None, **options):
    """The Tables of Recording.batches()."""
    if not isinstance(rows, int) or not 1 <= rows <= MAX_ROWS:
        raise _option_error("rows is a number from 1 to 2**28, not %r" % (rows,))
    if every is not None and not 0.001 <= every < 1e9:
        raise _option_error("every is a number of seconds from 0.001 on, not %r" % (every,))
    reader = _open(session, event, fields, rows, **options)
    found = reader if every is None else _timed(reader, every)
    return (_table(event, (batch,), reader, options) for batch in found)


def _timed(reader, every):
    """Batches of at most so many seconds; full ones are sooner."""
    step = int(every * 1e9)
    due = time.monotonic_ns() + step
    while True:
        batch = reader.until(due)
        if batch is None:
            return
        yield batch
        now = time.monotonic_ns()
        if now >= due:
            due += step * ((now - due) // step + 1)


def table(session, event, fields, **options):
    """The Table of Recording.table()."""
    reader = _open(session, event, fields, MAX_ROWS, **options)
    parts, size = [], 0
    for batch in reader:
        parts.append(batch)
        size += batch.nbytes
        if size > _memory():
            raise MemoryError("the first %d events of %s take %d MiB, more than half of the "
                              "memory: use batches(), or fewer fields" %
                              (sum(map(len, parts)), event, size >> 20))
    return _table(event, tuple(parts) or (reader.empty(),), reader, options)
