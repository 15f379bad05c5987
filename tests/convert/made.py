#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""made.py MADE [sqlite]: a table made by hand (made.c), written in all formats and read again."""
import csv
import io
import math
import pathlib
import sqlite3
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent), str(HERE)]
import arrow_read  # noqa: E402
import points  # noqa: E402
from points import done, run, skip  # noqa: E402

MADE = str(pathlib.Path(sys.argv[1]).resolve())
ROWS = 4


def say(ok, name, why=''):
    points.say(ok, name, '' if ok else why)


def f32(value):
    return struct.unpack('f', struct.pack('f', value))[0]


def third_null(values):
    return values[:2] + [None] + values[3:]


TEXT = ['a,"b', '', 'x\nyz!', 'é']
LISTS = [[-1, 2], [], [None], [32767, 0]]
WORDS = ['bash', '', 'ké/:x', 'ls\t']
STACKS = [[1, 2**64 - 1], [3], [], [4, 5, 6]]
CODES = [[0, 1, 0, 1], [2, 0, 2, 3]]
SMALL = [[0, 0, 0, 0], [0, 1, 0, 1]]
# by column: the same values in both batches, or those of each
ROW_COLUMNS = {
    'time': [-1, 2, -2**63, 2**63 - 1],
    'i8': third_null([-1, 2, -128, 127]),
    'u8': third_null([1, 2, 255, 0]),
    'i16': (third_null([-1, 2, -32768, 32767]), [-1, 2, -32768, 32767]),
    'u16': [1, 2, 65535, 0],
    'i32': [-1, 2, -2**31, 2**31 - 1],
    'u32': [1, 2, 2**32 - 1, 0],
    'u64': [1, 2, 2**64 - 1, 2**63],
    'f32': [0.5, -2, f32(0.1), f32(1e30)],
    'f64': third_null([0.1, -2.5, 1e300, 1 / 3]),
    'bool': [True, False, True, False],
    'text, "quoted"': TEXT,
    'bytes': third_null([t.encode() for t in TEXT]),
    'list': LISTS,
    'comm': tuple(third_null([WORDS[c] for c in cs]) for cs in CODES),
    'small': tuple([WORDS[c].encode() for c in cs] for cs in SMALL),
    'stack': tuple(third_null([STACKS[c] for c in cs]) for cs in CODES),
}
COLUMNS = dict(ROW_COLUMNS, **{
    'large': TEXT,
    'lists': [[-1, 2], [], [-2**31], [2**31 - 1, 0]],
    'pair': [b'ab', b'cd', b'ef', b'gh'],
    'two': [[97, 98], [99, 100], [101, 102], [103, 104]],
    'date': [-1, 2, -2**63, 2**63 - 1],
    'span': [-1, 2, -2**63, 2**63 - 1],
    'both': tuple([{'a': a, 'b': WORDS[c]} for a, c in zip([-1, 2, -128, 127], cs)]
                  for cs in CODES),
})


def expected(columns):
    return {name: list(v[0]) + list(v[1]) if isinstance(v, tuple) else v + v
            for name, v in columns.items()}


def differ(got, want):
    return [(k, got.get(k), want[k]) for k in want if got.get(k) != want[k]]


def made(fmt, path, *more):
    status, out, err = run([MADE, fmt, str(path), *more])
    say(status == 0 and not err, 'made %s %s' % (fmt, ' '.join(more)), '%s %s' % (status, err))
    return out


def arrow(folder):
    for fmt, name in ('arrow', 'x.arrows'), ('arrow-file', 'x.arrow'):
        made(fmt, folder / name)
        table = arrow_read.read(folder / name)
        wrong = differ(table.columns, expected(COLUMNS))
        say(not wrong and table.names == list(COLUMNS) and table.batches == [ROWS, ROWS],
            'values: ' + fmt, repr(wrong))
        say(table.is_file == (fmt == 'arrow-file') and table.deltas == 4 * (not table.is_file),
            'dictionaries: %s: %d deltas' % (fmt, table.deltas))
        say(table.fields[0].meta == {'unit': 'tick'}, 'metadata: ' + fmt)
        say(table.facts == ({'host': 'box', 'lost': '7'} if table.is_file else None),
            'facts: %s' % fmt, repr(table.facts))
        if fmt == 'arrow':
            say(made(fmt, '-') == (folder / name).read_bytes(), 'standard output has the same')
        (folder / name).unlink()
        made(fmt, folder / name, 'none')
        table = arrow_read.read(folder / name)
        say(table.names == list(COLUMNS) and not table.batches, 'without a batch: ' + fmt)
    data = (folder / 'x.arrow').read_bytes()
    for at in range(0, len(data), 61):  # the reader is strict: it never ends in another exception
        try:
            arrow_read.parse(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1:])
        except arrow_read.Wrong:
            pass


def in_csv(name, value):
    if value is None:
        return ''
    if isinstance(value, list):
        return '[%s]' % ','.join('null' if v is None else str(v) for v in value)
    if isinstance(value, bytes):
        return value.hex() if name == 'bytes' else value.decode()
    return str(int(value)) if isinstance(value, bool) else str(value)


def csv_file(folder):
    made('csv', folder / 'x.csv', 'few')
    data = (folder / 'x.csv').read_bytes()
    rows = list(csv.reader(io.StringIO(data.decode(), newline=''), strict=True))
    want = expected(ROW_COLUMNS)
    say(rows[0] == list(want), 'csv: names', repr(rows[0]))
    for i, name in enumerate(want):
        got = [row[i] for row in rows[1:]]
        texts = [in_csv(name, v) for v in want[name]]
        if name in ('f32', 'f64'):
            got = [g and float(g) for g in got]
            texts = [t and float(t) for t in texts]
        say(got == texts, 'csv: ' + name, repr((got, texts)))
    say(b'\r' not in data and data.count(b',"",') == 6,
        'csv: an empty string is not a null, lines end in LF', repr(data))
    status, _, err = run([MADE, 'csv', str(folder / 'no.csv')])
    say(status == 1 and b'--to csv has no such type of column' in err and
        not (folder / 'no.csv').exists(), 'csv: structs are refused', repr(err))


def in_sqlite(name, value):
    if isinstance(value, list) and name != 'stack':
        return in_csv(name, value)
    if name == 'u64' and value >= 2**63:
        return value - 2**64
    return value


def sqlite(folder):
    made('sqlite', folder / 'x.db', 'few')
    db = sqlite3.connect(str(folder / 'x.db'))
    want = expected(ROW_COLUMNS)
    rows = list(db.execute('select * from "made.table" order by rowid'))
    stacks = {}
    for table, number, depth, ip in db.execute('select * from sonde_stacks order by 1, 2, 3'):
        stacks.setdefault(number, []).append(ip % 2**64)
        assert table == 'made.table' and len(stacks[number]) == depth + 1
    for i, name in enumerate(want):
        got = [row[i] for row in rows]
        if name == 'stack':
            got = [None if g is None else stacks.get(g, []) for g in got]
        wanted = [in_sqlite(name, v) for v in want[name]]
        say(got == wanted and all(type(g) == type(w) or isinstance(w, (bool, int, float))
                                  for g, w in zip(got, wanted)),
            'sqlite: ' + name, repr((got, wanted)))
    types = dict(db.execute('select name, type from pragma_table_info("made.table")'))
    say((types['time'], types['f32'], types['comm'], types['bytes'], types['small'],
         types['stack'], types['list']) ==
        ('INTEGER', 'REAL', 'TEXT', 'BLOB', 'BLOB', 'INTEGER', 'TEXT'), 'sqlite: types',
        repr(types))
    say(dict(db.execute('select * from sonde_meta')) == {'host': 'box', 'lost': 7},
        'sqlite: sonde_meta')
    formats = dict(db.execute('select column_name, arrow from sonde_columns '
                              'where table_name = "made.table"'))
    say(list(formats) == list(want) and formats['u64'] == 'L' and formats['comm'] == 'u',
        'sqlite: sonde_columns', repr(formats))
    say(db.execute('pragma integrity_check').fetchall() == [('ok',)], 'sqlite: integrity')
    db.close()


def outputs(folder):
    taken = folder / 'taken.csv'
    taken.write_text('mine')
    status, _, err = run([MADE, 'csv', str(taken), 'few'])
    say(status == 1 and b'exists: --force' in err and taken.read_text() == 'mine',
        'an output that exists is kept', repr(err))
    for fmt in ('arrow', 'arrow-file', 'csv'):
        status, _, err = run([MADE, fmt, '/dev/full', 'few'])
        say(status == 1 and b'No space left' in err, 'no space: ' + fmt, repr(err))
    status, _, err = run([MADE, 'arrow', str(folder / 'no' / 'x')])
    say(status == 1 and b'No such file' in err, 'no folder', repr(err))
    left = [p.name for p in folder.iterdir() if '.tmp' in p.name]
    say(not left, 'nothing half-written is left', repr(left))


def main():
    assert math.isfinite(f32(1e30))
    with tempfile.TemporaryDirectory(prefix='sonde-made-') as name:
        folder = pathlib.Path(name)
        arrow(folder)
        csv_file(folder)
        if 'sqlite' in sys.argv[2:]:
            sqlite(folder)
        else:
            skip('sqlite', 'built without SQLite')
        outputs(folder)
    return done()


sys.exit(main())
