#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""convert.py SONDE FIXTURES [sqlite]: sonde convert writes the values of JSON lines.

Every event type of every recording of tests/data and of the corpus, as Arrow, CSV and SQLite; then
the options, and what is left of an output when it cannot be completed.
"""
import csv
import io
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / 'data'
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / 'gen'), str(HERE.parent), str(HERE)]
import arrow_read  # noqa: E402
import ctf as made_ctf  # noqa: E402
import points  # noqa: E402
from points import ENV, FULL, UNDER_ASAN, done, run, skip  # noqa: E402
from recordings import CORPUS, NO_CORPUS, load_fixtures, stored_and_corpus  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
HAS_SQLITE = 'sqlite' in sys.argv[3:]
DEMO, CHAINS = str(DATA / 'demo.data'), str(DATA / 'text' / 'chains.data')
MIXED = str(DATA / 'text' / 'mixed.data')
OWN = ('time', 'cpu', 'pid', 'tid', 'comm', 'stack')
NOT_IN_JSON = ('id', 'stream_id')
SUFFIX = {'arrow': '.arrows', 'arrow-file': '.arrow', 'csv': '.csv'}
LARGEST = 40 << 20 if FULL else 1 << 20


def say(ok, name, why=''):
    points.say(ok, name, '' if ok else str(why)[:2000])


def convert(*words):
    status, out, err = run([SONDE, 'convert', *map(str, words)])
    return status, out, err.decode('utf-8', 'replace')


# ---- what is expected ----------------------------------------------------------------------------

def escaped(text):
    """Text of a column, of a string in JSON lines."""
    return text.encode('utf-8', 'surrogateescape').decode('utf-8', 'backslashreplace')


def events_of(path, *options):
    """{event type: its lines}"""
    status, out, err = run([SONDE, 'script', '-i', str(path), '--format', 'jsonl', '--no-inline',
                            *options])
    found = {}
    for line in out.decode('utf-8', 'surrogateescape').splitlines():
        line = json.loads(line)
        if 'event' in line:
            found.setdefault(line['event'], []).append(line)
    return found


def types_of(path):
    out = json.loads(run([SONDE, 'evlist', '-j', '-i', str(path)])[1] or b'{"events":[]}')
    return sorted({e['name'] for e in out['events']})


def expected(event, name):
    if name == 'comm':
        return escaped(event['comm']) if 'comm' in event else None
    if name == 'stack':
        return [f['ip'] for f in event['chain']] if 'chain' in event else None
    if name in OWN:
        return event.get(name)
    fields = event.get('fields', {})
    field = name[2:] if name[:2] == 'f_' and name[2:] in OWN else name
    if field not in fields:
        return event.get('sample', {}).get(name)
    value = fields[field]
    return escaped(value) if isinstance(value, str) else value


def plain(value):
    """A value as JSON lines have it."""
    return value.hex() if isinstance(value, bytes) else value


def table_name(event):
    return re.sub('[/\x00-\x1f\x7f]', '_', event.replace(':', '.'))


def differences(events, names, columns, value=lambda name, v: v):
    found = []
    for name in names:
        if name in NOT_IN_JSON:
            continue
        want = [value(name, expected(e, name)) for e in events]
        got = [plain(v) for v in columns[name]]
        if got != want:
            at = next((i for i, (g, w) in enumerate(zip(got, want)) if g != w), None)
            found.append((name, at, len(got), len(want),
                          (got[at], want[at]) if at is not None else None))
    return found


# ---- the formats ---------------------------------------------------------------------------------

def read_csv(path):
    """Names, and columns of texts."""
    rows = list(csv.reader(io.StringIO(path.read_bytes().decode('utf-8'), newline=''),
                           strict=True))
    return rows[0], {n: [r[i] for r in rows[1:]] for i, n in enumerate(rows[0])}


def in_csv(name, value):
    if value is None:
        return ''
    if isinstance(value, list):
        return '[%s]' % ','.join(map(str, value))
    return str(value)


def read_sqlite(path):
    """{table: (names, columns)}; stacks are lists."""
    db = sqlite3.connect(str(path))
    stacks, tables = {}, {}
    has_stacks = db.execute('select 1 from sqlite_master where name="sonde_stacks"').fetchall()
    for table, number, _, ip in has_stacks and db.execute(
            'select * from sonde_stacks order by 1, 2, 3'):
        stacks.setdefault((table, number), []).append(ip % 2**64)
    for table, in db.execute('select distinct table_name from sonde_columns order by rowid'):
        rows = db.execute('select * from "%s" order by rowid' % table.replace('"', '""'))
        names = [d[0] for d in rows.description]
        columns = dict(zip(names, zip(*rows))) or {}
        columns = {n: list(columns.get(n, ())) for n in names}
        if 'stack' in columns:
            columns['stack'] = [s if s is None else stacks.get((table, s), [])
                                for s in columns['stack']]
        tables[table] = names, columns
    meta = dict(db.execute('select * from sonde_meta'))
    formats = {t: [] for t in tables}
    for table, column, form in db.execute('select * from sonde_columns order by rowid'):
        formats[table].append((column, form))
    db.close()
    return tables, meta, formats


def in_sqlite(name, value):
    if isinstance(value, list) and name != 'stack':
        return in_csv(name, value)
    return value - 2**64 if isinstance(value, int) and value >= 2**63 else value


def same_values(path, folder, formats):
    """Compares one recording; returns its number of tables."""
    want, types = events_of(path), types_of(path)
    for fmt in formats:
        out = folder / 'out'
        status, _, err = convert('-i', path, '--to', fmt, '--stacks', '-o', out)
        what = '%s: %s' % (fmt, path.name)
        if status:
            say(not want, what + ': nothing to convert', err)
            continue
        if fmt == 'sqlite':
            tables = read_sqlite(out)[0]
        elif out.is_dir():
            files = {p.name[:-len(SUFFIX[fmt])]: p for p in out.iterdir()}
            tables = {n: read_table(p, fmt) for n, p in files.items()}
        else:
            tables = {table_name(types[0]): read_table(out, fmt)}
        wrong = [] if set(tables) == {table_name(t) for t in types} else \
            [(sorted(tables), sorted(map(table_name, types)))]
        for event in types:
            names, columns = tables.get(table_name(event), ([], {}))
            value = {'csv': in_csv, 'sqlite': in_sqlite}.get(fmt, lambda name, v: v)
            wrong += [(event, d) for d in differences(want.get(event, []), names, columns, value)]
        say(not wrong and not set(want) - set(types), what, wrong)
        if out.is_dir():
            shutil.rmtree(out)
        else:
            out.unlink()
    return len(types)


def read_table(path, fmt):
    if fmt == 'csv':
        return read_csv(path)
    table = arrow_read.read(path)
    return table.names, table.columns


def all_recordings(folder):
    formats = ['arrow', 'arrow-file', 'csv'] + ['sqlite'] * HAS_SQLITE
    paths = [p for p in stored_and_corpus() if p.is_file() and p.stat().st_size <= LARGEST]
    tables = 0
    for nr, path in enumerate(paths):
        # Each recording in one format; those of tests/data, and with SONDE_FULL=1 all, in each.
        chosen = formats if FULL or DATA in path.parents else [formats[nr % len(formats)]]
        tables += same_values(path, folder, chosen)
    say(tables > 50, '%d tables of %d recordings' % (tables, len(paths)))
    if not CORPUS:
        skip('recordings of other machines', NO_CORPUS)
    if not HAS_SQLITE:
        skip('SQLite', 'built without it')


def signed_hexadecimal(folder):
    """CTF has signed numbers in base 16; one in bits, in both byte orders."""
    metadata = made_ctf.APP + '''
    event { name = "app:hex"; id = 0; fields := struct {
      integer { size = 32; align = 8; signed = true; base = 16; } word;
      integer { size = 5; signed = true; base = 16; } bits; u8 plain; }; };
    '''
    for order in 'le', 'be':
        def body(p):
            for i in range(-3, 4):
                p.int(0, 8).int(10**12 + i, 64, 8).int(7, 32, 8)
                p.int(i, 32, 8).int(i, 5, 1).int(9, 8)

        trace = made_ctf.write(folder / order, metadata % made_ctf.trace_block(order),
                               chan_0=made_ctf.app_packet(order, body))
        rows = rows_of('-i', str(trace), '-e', 'app:hex', '--fields', 'word,bits')
        say([row[-2:] for row in rows[1:]] == [[str(i)] * 2 for i in range(-3, 4)],
            'signed numbers of base 16, CSV, ' + order, repr(rows))
        out = folder / (order + '.arrow')
        convert('-i', trace, '-e', 'app:hex', '--fields', 'word,bits', '-o', out)
        columns = arrow_read.read(out).columns
        say(columns['word'] == columns['bits'] == list(range(-3, 4)),
            'signed numbers of base 16, Arrow, ' + order, repr(columns))


# ---- options -------------------------------------------------------------------------------------

def rows_of(*words):
    status, out, err = convert(*words, '--to', 'csv', '-o', '-')
    if status:
        return [['status %s' % status, err]]
    return list(csv.reader(io.StringIO(out.decode(), newline='')))


def options(folder):
    base = ('-i', DEMO, '-e', 'sched:sched_switch')
    every = rows_of(*base)
    say(rows_of('-i', DEMO, '-e', 'sched_switch') == every and
        rows_of('-i', DEMO, '-e', '*:sched_sw*') == every and rows_of(DEMO, *base[2:]) == every,
        'names and patterns of events')
    got = rows_of(*base, '--fields', 'next_pid,prev_comm')
    say(got[0] == list(OWN[:5]) + ['next_pid', 'prev_comm'], '--fields', got[0])
    at = every[0].index('prev_state')
    names = [row[at] for row in rows_of(*base, '--flags', 'names')[1:]]
    say(len(names) == len(every) - 1 and {'S', 'R'} <= set(names), '--flags names', set(names))
    say(rows_of(*base, '--flags', 'number') == every, '--flags number')
    raw, shifted = [[int(r[0]) for r in rows_of(*base, *more)[1:]]
                    for more in ((), ('--clock', 'relative'))]
    say({a - b for a, b in zip(raw, shifted)} == {raw[0] - shifted[0]} and 0 <= shifted[0] < 1e9,
        '--clock relative', shifted[:3])
    for more in (['--pid', every[1][2]], ['--tid', every[1][3]], ['--cpu', '1'],
                 ['--comms', every[1][4]], ['--time', '0%-50%']):
        want = events_of(DEMO, *more)['sched:sched_switch']
        got = rows_of(*base, *more)
        say(len(got) - 1 == len(want) < len(every) - 1, ' '.join(more[:1]), len(got))
    data = pathlib.Path(DEMO).read_bytes()
    p = subprocess.run([SONDE, 'convert', '-i', '-', '-e', 'sched_switch', '--to', 'csv', '-o',
                        '-'], input=data, env=ENV, capture_output=True)
    got = list(csv.reader(io.StringIO(p.stdout.decode(), newline='')))
    say(got == every, 'standard input', p.stderr)
    out = folder / 'by-suffix.arrow'
    status, _, err = convert(*base, '-o', out)
    say(status == 0 and arrow_read.read(out).is_file, 'the suffix says the format', err)
    facts = arrow_read.read(out).facts
    say(facts['clock'] == 'raw' and facts['lost'] == '0' and facts['host'] and facts['kernel'],
        'facts in the footer of a file', facts)
    table = arrow_read.read(out)
    say(table.fields[0].meta == {'unit': 'ns', 'sonde.clock': 'raw'} and
        table.types['time'] == 'int64' and table.types['comm'] == 'dictionary<int32, utf8>',
        'types and metadata', table.types)
    status, _, err = convert(*base, '--strings', 'bytes', '-o', out, '--force')
    say(status == 0 and arrow_read.read(out).types['comm'] == 'dictionary<int32, binary>' and
        arrow_read.read(out).columns['comm'] ==
        [c.encode() for c in table.columns['comm']], '--strings bytes', err)
    pairs(folder)
    frames(folder)
    if HAS_SQLITE:
        sqlite_meta(folder)


def pairs(folder):
    text = 'sched_wakeup,sched_switch,pid,next_pid'
    name = 'pair(%s)' % text
    want = events_of(DEMO, '--pair', text)[name]
    got = rows_of('-i', DEMO, '--pair', text)
    at = {n: got[0].index(n) for n in ('time', 'ns', 'f_pid', 'next_comm')}
    say([[int(r[at['time']]), int(r[at['ns']]), int(r[at['f_pid']]), r[at['next_comm']]]
         for r in got[1:]] ==
        [[e['time'], e['fields']['ns'], e['fields']['pid'], e['fields']['next_comm']]
         for e in want] and len(want) > 10, '--pair', got[:3])
    say(rows_of('-i', DEMO, '-e', name) == got, '-e pair(START,STOP)')
    say(rows_of('-i', DEMO, '-e', name, '--fields', 'ns') == [r[:6] for r in got],
        '--pair with --fields')
    out = folder / 'pairs'
    status, _, err = convert('-i', DEMO, '-e', 'sched_switch', '--pair', text, '--to', 'csv',
                             '-o', out)
    say(status == 0 and {p.name for p in out.iterdir()} ==
        {'sched.sched_switch.csv', name + '.csv'} and ': 34 pairs; ' in err,
        '--pair adds a table to those of -e', err)
    for words in (('--pair', 'sched_wakeup,sched_swich'), ('-e', 'pair(sched_wakeup,sched_swich)'),
                  ('-e', 'sched_switch', '--pair', 'sched_swich,sched_switch,pid,next_pid')):
        status, _, err = convert('-i', DEMO, *words, '-o', folder / 'no.csv')
        say(status == 1 and 'did you mean sched:sched_switch?' in err and
            not list(folder.glob('*no.csv*')), 'an unknown event in ' + words[-1], (status, err))
    status, _, err = convert('-i', DEMO, '--pair', text + 's', '-o', folder / 'no.csv')
    say(status == 2 and 'did you mean next_pid' in err and not list(folder.glob('*no.csv*')),
        'an unknown field in --pair', (status, err))
    status, _, err = convert('-i', DEMO, '--pair', text, '-o', folder / 'no.dat')
    say(status == 2 and '--pair is for tables' in err, '--pair for a recording', (status, err))


def read_frames(out, fmt, table):
    """The stacks of a table as lists of (ip, symbol, offset, dso)."""
    if fmt == 'sqlite':
        db = sqlite3.connect(str(out))
        stacks = {}
        for stack, *frame in db.execute(
                'select s.stack, f.* from sonde_stacks s join "%s.frames" f '
                'on f.rowid = s.frame + 1 where s.table_name = ? order by stack, depth' % table,
                (table,)):
            stacks.setdefault(stack, []).append((frame[0] % 2**64, *frame[1:]))
        rows = [r[0] for r in db.execute('select stack from "%s" order by rowid' % table)]
        db.close()
        return [None if r is None else stacks[r] for r in rows]
    (_, columns), (names, places) = (read_table(out / (table + end + SUFFIX[fmt]), fmt)
                                     for end in ('', '.frames'))
    places = list(zip(*(places[n] for n in names)))
    if fmt == 'csv':
        places = [(int(p[0]), p[1] or None, int(p[2]) if p[2] else None, p[3] or None)
                  for p in places]
        columns['stack'] = [json.loads(s) if s else None for s in columns['stack']]
    return [None if s is None else [places[i] for i in s] for s in columns['stack']]


def frames(folder):
    keys = ('ip', 'sym', 'off', 'dso')
    for path in (CHAINS, MIXED):
        events = events_of(path)
        for fmt in ['arrow', 'arrow-file', 'csv'] + ['sqlite'] * HAS_SQLITE:
            out = folder / 'frames.out'
            status, _, err = convert('-i', path, '--to', fmt, '--stacks=frames', '-o', out)
            wrong = [] if status == 0 else [err]
            for event, lines in events.items():
                want = [[tuple(f.get(k) for k in keys) for f in e['chain']] if 'chain' in e
                        else None for e in lines]
                got = [] if wrong else read_frames(out, fmt, table_name(event))
                wrong += [(event, g, w) for g, w in zip(got, want) if g != w][:1]
                wrong += [] if len(got) == len(want) else [(event, len(got))]
            say(not wrong and (path is MIXED or 'chain' in events['sched:sched_switch'][0]),
                '--stacks=frames, %s: %s' % (fmt, pathlib.Path(path).name), wrong)
            shutil.rmtree(out) if out.is_dir() else out.unlink(missing_ok=True)
    base = ('-i', CHAINS, '-e', 'sched_switch')
    say(rows_of(*base, '--stacks=addresses') == rows_of(*base, '--stacks') != rows_of(*base) ==
        rows_of(*base, '--stacks', '--no-stacks'), '--stacks=addresses is --stacks')
    for words, text in ((('--stacks=frames', '--to', 'csv', '-o', '-'), 'name a folder'),
                        (('--stacks=names', '-o', folder / 'no.csv'), "not 'names'"),
                        (('--stacks=frames', '-o', folder / 'no.dat'), '--stacks is for tables')):
        status, _, err = convert(*base, *words)
        say(status == 2 and text in err and not list(folder.glob('no.*')),
            'refused: ' + ' '.join(map(str, words[:3])), (status, err))


def sqlite_meta(folder):
    out = folder / 'meta.db'
    status, _, err = convert('-i', DEMO, '-o', out)
    tables, meta, formats = read_sqlite(out)
    say(status == 0 and len(tables) == 4 and meta['lost'] == 0 and meta['clock'] == 'raw' and
        meta['arch'] == 'x86_64', 'sqlite: sonde_meta', (err, meta))
    say(all([n for n, _ in formats[t]] == tables[t][0] for t in tables) and
        ('time', 'l') in formats['sched.sched_switch'], 'sqlite: sonde_columns', formats)
    cut = folder / 'cut.data'
    cut.write_bytes(pathlib.Path(DEMO).read_bytes()[:-9000])
    out = folder / 'cut.db'
    status, _, err = convert('-i', cut, '-o', out)
    meta = read_sqlite(out)[1] if status == 0 else {}
    say(status == 0 and any(k.startswith('defect.') for k in meta) and 'sonde: ' in err,
        'sqlite: defects', (err, meta))
    status, _, err = convert('-i', cut, '-o', folder / 'strict.csv', '--to', 'csv', '--strict')
    say(status == 3 and (folder / 'strict.csv').is_dir(), '--strict', (status, err))


# ---- outputs -------------------------------------------------------------------------------------

def left(folder):
    return sorted(p.name for p in folder.iterdir())


def refused(folder):
    (folder / 'file').write_text('mine')
    (folder / 'folder').mkdir()
    (folder / 'folder' / 'mine').write_text('mine')
    (folder / 'link').symlink_to('nowhere')
    before = left(folder)
    one = ['-i', DEMO, '-e', 'sched_switch']
    for words, status, text in (
            (['-i', DEMO, '-e', 'sched:sched_swich', '-o', 'new', '--to', 'csv'], 1,
             'did you mean sched:sched_switch?'),
            (['-i', DEMO, '-e', 'sched_swich', '-o', 'new', '--to', 'csv'], 1,
             'did you mean sched_switch?'),
            (['-i', DEMO, '-e', 'sched_switch,nosuch*', '-o', 'new', '--to', 'csv'], 1,
             "no event 'nosuch*'"),
            (one + ['--fields', 'next_pidd', '-o', 'new', '--to', 'csv'], 1, 'next_pid'),
            (one + ['-o', 'file', '--to', 'csv'], 1, 'file exists: --force replaces it'),
            (one + ['-o', 'link', '--to', 'csv'], 1, 'link exists'),
            (['-i', DEMO, '-o', 'folder', '--to', 'csv'], 1, 'folder exists'),
            (one + ['-o', 'folder', '--to', 'csv', '--force'], 1, 'is a folder'),
            (['-i', DEMO, '-o', 'file', '--to', 'csv', '--force'], 1, 'is a file'),
            (['-i', DEMO, '-o', '-', '--to', 'csv'], 1, 'choose an event with -e'),
            (one + ['-o', '-', '--to', 'arrow-file'], 2, 'written to standard output'),
            (one + ['-o', '-', '--to', 'sqlite'], 2, 'written to standard output'),
            (one + ['-o', 'new', '--to', 'parquet'], 2, "not 'parquet'"),
            (one + ['-o', 'new'], 2, 'name the format'),
            (one + ['--to', 'csv'], 2, 'name the output'),
            (['-i', DEMO, '--fields', 'next_pid', '-o', 'new.csv'], 2, 'name it with -e'),
            (one + ['--strings', 'text', '-o', 'new.csv'], 2, 'dict or bytes'),
            (one + ['-o', 'no/new.csv'], 1, 'No such file'),
            (['-i', 'file', '-o', 'new.csv'], 1, 'file'),
            (one + ['--time', '1,2,3', '-o', 'new.csv'], 2, '')):
        got, out, err = run([SONDE, 'convert'] + words, cwd=folder)
        err = err.decode()
        say(got == status and text in err and not out and left(folder) == before,
            'refused: ' + ' '.join(words[-4:]), (got, err, left(folder)))
    say((folder / 'file').read_text() == 'mine' and left(folder / 'folder') == ['mine'],
        'existing outputs are kept')
    status, _, err = run([SONDE, 'convert'] + one + ['-o', 'file', '--to', 'csv', '--force'],
                         cwd=folder)
    say(status == 0 and (folder / 'file').read_text().startswith('time,'), '--force: a file', err)
    status, _, err = run([SONDE, 'convert', '-i', DEMO, '-o', 'folder', '--to', 'csv', '--force'],
                         cwd=folder)
    say(status == 0 and len(left(folder / 'folder')) == 5 and left(folder) == before,
        '--force: other files of a folder are kept', (err, left(folder)))


def no_space(folder):
    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    for fmt in ['arrow', 'arrow-file', 'csv'] + ['sqlite'] * HAS_SQLITE:
        for events in (), ('-e', 'sched_switch'):
            p = subprocess.run([SONDE, 'convert', '-i', DEMO, *events, '--to', fmt, '-o', 'out'],
                               cwd=folder, env=ENV, capture_output=True, preexec_fn=small)
            say(p.returncode == 1 and b'cannot write out: File too large' in p.stderr and
                not left(folder), 'no space: %s%s' % (fmt, ' one table' if events else ''),
                (p.returncode, p.stderr, left(folder)))


def piped(number):
    """A recording in pipe mode, written as text."""
    return load_fixtures().parse(DATA / 'perfdata' / 'pipe.fix')[number].build('little')[0]


def interrupted(folder):
    """The recording is read from a FIFO that stays open, so the signal interrupts reading."""
    fifo = folder / 'fifo'
    for fmt in ['csv', 'arrow-file'] + ['sqlite'] * HAS_SQLITE:
        for signo, data in (signal.SIGINT, piped(0)), (signal.SIGTERM, piped(0)), \
                (signal.SIGINT, pathlib.Path(DEMO).read_bytes()):
            os.mkfifo(fifo)
            p = subprocess.Popen([SONDE, 'convert', '-i', str(fifo), '--to', fmt, '-o', 'out'],
                                 cwd=folder, env=ENV, stderr=subprocess.PIPE)
            with open(fifo, 'wb') as f:
                f.write(data)
                f.flush()
                until = time.monotonic() + (30 if len(data) < 4096 else 0.5)
                while len(left(folder)) < 2 and time.monotonic() < until:
                    time.sleep(0.05)
                p.send_signal(signo)
                err = p.communicate(timeout=60)[1]
            fifo.unlink()
            # A recording of file mode is read completely before anything is written.
            said = b'interrupted: nothing is written' in err or len(data) > 4096
            say(p.returncode == -signo and said and not left(folder),
                'interrupted: %s %s' % (signo.name, fmt), (p.returncode, err, left(folder)))


def streams(folder):
    """Event types of a recording in pipe mode are known from its first records on, or later."""
    paths = [folder / 'usual.pipe', folder / 'late.pipe']
    for nr, path in enumerate(paths):
        path.write_bytes(piped(nr))
    for source in ['-i', str(paths[0])], ['-i', '-']:
        with open(paths[0]) as stdin:
            p = subprocess.run([SONDE, 'convert', *source, '--to', 'csv', '-o', '-'],
                               env=ENV, stdin=stdin, capture_output=True)
        rows = p.stdout.decode().splitlines()
        say(p.returncode == 0 and len(rows) == 2 and rows[1].startswith('1000,'),
            'a stream: ' + source[1][-1], (p.returncode, rows, p.stderr))
    status, _, err = convert('-i', paths[1], '--to', 'csv', '-o', folder / 'out')
    say(status == 1 and 'describes late-name after its first events' in err and
        left(folder) == ['late.pipe', 'usual.pipe'], 'an event type that is described later',
        (status, err, left(folder)))


def in_sandbox(folder):
    for fmt in ['arrow-file', 'csv'] + ['sqlite'] * HAS_SQLITE:
        status, _, err = run([SONDE, 'convert', '-i', DEMO, '--sandbox', '--to', fmt, '-o',
                              'out'], cwd=folder)
        if status and b'Landlock' in err:
            skip('--sandbox: ' + fmt, err.decode().strip()[:200])
            continue
        say(status == 0 and left(folder) == ['out'], '--sandbox: ' + fmt, (status, err))
        shutil.rmtree(folder / 'out', ignore_errors=True)
        (folder / 'out').unlink(missing_ok=True)


def main():
    with tempfile.TemporaryDirectory(prefix='sonde-convert-') as name:
        for work in (all_recordings, signed_hexadecimal, options, refused, streams, no_space,
                     interrupted, in_sandbox):
            folder = pathlib.Path(name) / work.__name__
            folder.mkdir()
            if work == in_sandbox and UNDER_ASAN:
                skip('--sandbox', 'the sanitizer needs more rights')
                continue
            work(folder)
    return done()


sys.exit(main())
