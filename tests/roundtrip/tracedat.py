#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads recordings of trace-cmd in all their forms, damaged ones among them.

    tracedat.py SONDE
"""
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / 'gen'), str(TESTS)]
import tracedat as made  # noqa: E402
from points import ENV, FULL, done, say, skip  # noqa: E402
from recordings import CORPUS, NO_CORPUS, corpus_files  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
FORMS = [dict(version=version, compression=packed, big=big, long_bytes=long_bytes)
         for version, packed in ((6, 'none'), (7, 'none'), (7, 'zlib'), (7, 'zstd'))
         for big in (False, True) for long_bytes in (8, 4)]


def sonde(*args, stdin=None):
    p = subprocess.run([SONDE, *map(str, args)], env=ENV, input=stdin, capture_output=True,
                       timeout=600)
    return p.returncode, p.stdout.decode('utf-8', 'backslashreplace'), \
        p.stderr.decode('utf-8', 'backslashreplace')


def name_of(form):
    return '%(version)d-%(compression)s-%(long_bytes)d' % form + ('-big' if form['big'] else '')


def made_file(top, name, t):
    path = top / name
    path.write_bytes(t if isinstance(t, bytes) else t.data())
    return path


def events(*args):
    """[(name, time, cpu, tid, comm, fields)] of events and losses."""
    found = []
    status, text, err = sonde('script', '--format', 'jsonl', *args)
    for line in text.splitlines():
        e = json.loads(line)
        if 'event' in e or e.get('record') == 'lost':
            found.append((e.get('event') or 'lost', e['time'], e.get('cpu'), e.get('tid'),
                          e.get('comm'), e['fields']))
    return found


# ---- what is read ------------------------------------------------------------------------------

def check_forms(top):
    """All forms have the same events; the order of bytes and the size of long do not count."""
    want = None
    for form in FORMS:
        path = made_file(top, name_of(form), made.every_kind(**form))
        text = sonde('script', '-F', 'comm,tid,cpu,time,event,trace', '-i', path)[1]
        # The stack has one address of the size of long.
        want = want or text
        say(text == want and text.count('\n') > 20, 'the same text: ' + path.name)
    path = top / name_of(FORMS[0])
    say(sonde('script', '-F', 'comm,tid,cpu,time,event,trace', '-i', '-',
              stdin=path.read_bytes())[1] == want, 'through a pipe')
    return path


def check_values(path):
    found = events('-i', path)
    by_name = {}
    for name, time, cpu, tid, comm, fields in found:
        by_name.setdefault(name, []).append((time, cpu, tid, comm, fields))
    time, cpu, tid, comm, f = by_name['test:numbers'][0]
    say((time, cpu, tid, comm) == (1000004000, 0, 20, 'beta gamma') and
        (f['small'], f['large'], f['name']) == (7, 0x123456789a, 'seven'), 'values of an event',
        str(by_name['test:numbers'][0]))
    say([e[0] for e in by_name['test:numbers']] ==
        [1000004000, 1400100000, 1400300500, 1500000000],
        'times after extends, padding, pages and stamps', str(by_name['test:numbers']))
    say([(e[1], e[4]['lost'], e[4]['is_counted']) for e in by_name['lost']] ==
        [(0, 7, 1), (0, 0, 0)], 'losses', str(by_name['lost']))
    say([e[3] for e in by_name['ftrace:print']] ==
        ['alpha', 'delta', 'new one', ':50'], 'names: saved ones, and one that a switch gives',
        str([e[3] for e in by_name['ftrace:print']]))
    say('lost-events: 8 ' in sonde('script', '-i', path)[2], 'losses are reported')
    for where, want in (('common_irqs_off == 1', 3), ('common_preempt_depth >= 2', 1),
                        ('common_hardirq == 1', 1), ('common_softirq == 1', 1),
                        ('common_need_resched == 1', 1), ('prev_pid == 40', 1)):
        n = len([e for e in events('-i', path, '--where', where) if e[0] != 'lost'])
        say(n == want, '--where ' + where, '%d events' % n)


def check_text(path):
    text = sonde('script', '-i', path)[1]
    for want in ('bprint: do_work: value=42 name=answer ptr=abc', 'bputs: do_work: only a text',
                 'print: tracing_mark_write: begin', 'function:  do_work <-- caller_of_work'):
        say(want in text, 'text: ' + want)


def check_script(top, path):
    script = top / 'script.py'
    script.write_text('''
seen = []
def sched__sched_switch(name, context, cpu, secs, nsecs, pid, comm, chain, prev_comm, prev_pid,
                        prev_prio, prev_state, next_comm, next_pid, next_prio):
    seen.append((comm, prev_comm, next_comm, next_pid))
def trace_end():
    print(seen)
''')
    status, text, err = sonde('script', '-s', script, '-i', path)
    if 'no module' in err or not text:
        return skip('a script', err.splitlines()[0] if err else 'no output', may=False)
    say(text.strip() == "[('alpha', 'alpha', 'beta gamma', 20), ('beta gamma', 'beta gamma', "
        "'new one', 40), ('new one', 'new one', 'swapper/0', 0)]", 'a script for perf', text)
    return None


def check_clocks(top):
    t = made.TraceDat(options=[(7, b'7000000000\0'), (1, b'0x64\0')])
    t.cpu(0).add(5000, t.print(10, 'x'))
    path = made_file(top, 'offset.dat', t)
    text = sonde('script', '-i', path)[1]
    say('7.000105: ftrace:print: 0x1000: x' in text, 'names are aligned with recorded ones', text)
    out = sonde('info', '-i', path)[1]
    say('1  ftrace:print' in out and 'sched_switch' not in out, 'info lists recorded types', out)
    found = events('-i', path)
    say(found[0][1] == 7000000000 + 100000 + 5000, 'offset and date', str(found))
    t = made.TraceDat(clock='x86-tsc', options=[(14, struct.pack('<IIQ', 3, 1, 99))])
    t.cpu(0).add(5001, t.print(10, 'x'))
    found = events('-i', made_file(top, 'tsc.dat', t))
    say(found[0][1] == 7501, 'a processor\'s counter', str(found))
    out = sonde('info', '-i', top / 'tsc.dat')[1]
    say(re.search('trace clock +x86-tsc', out), 'info names the clock', out)
    t = made.TraceDat(options=[(2, b'CPU: 0\nentries: 1\ndropped events: 12\n\0')])
    t.cpu(0).add(5000, t.print(10, 'x'))
    err = sonde('script', '-i', made_file(top, 'dropped.dat', t))[2]
    say('lost-events: 12 ' in err, 'statistics of events that were not stored', err)


def check_info(path):
    out = sonde('info', '-i', path)[1]
    for want in ('format +trace.dat, version 6', 'buffers +2', 'trace clock +local',
                 '3 +sched:sched_switch', '13 +8 +0', 'compression +none',
                 r'\d+ bytes of records\n'):
        say(re.search(want, out), 'info: ' + want, out if not re.search(want, out) else '')


def check_uncounted(top):
    """Losses that pages do not count are what the statistics of the cpu count besides."""
    def losses(stats, **form):
        t = made.TraceDat(options=[(2, text) for text in stats], **form)
        for cpu, lost in (0, (0, 7, 0)), (1, (0,)):
            for i, n in enumerate(lost):
                at = 10000 * i + 500 * cpu
                t.cpu(cpu).begin(1000 + at, n).add(2000 + at, t.print(10, 'x'))
        path = made_file(top, 'uncounted.dat', t)
        lines = sonde('script', '-i', path, '--format', 'jsonl')[1].splitlines()
        records = [json.loads(line) for line in lines]
        return [(r['cpu'], r['fields']['lost'], r['fields']['is_counted']) for r in records
                if r.get('record') == 'lost'], sonde('script', '-i', path)[2]

    def stat(cpu, n):
        return b'CPU: %d\nentries: 0\noverrun: %d\ncommit overrun: 0\ndropped events: 0\n\0' % (
            cpu, n)

    for stats, want in (
            ((), [0, 0, 7, 0]), ((stat(0, 28),), [11, 0, 7, 10]),
            ((stat(0, 8), stat(1, 5)), [1, 5, 7, 0]), ((stat(0, 3), stat(0, 30)), [0, 0, 7, 0])):
        for form in {}, {'big': True}, {'compression': 'zstd'}:
            got, err = losses(stats, **form)
            say([n for _, n, _ in got] == want and 'lost-events: %d ' % sum(
                n or 1 for n in want) in err and [c for _, _, c in got] == [0, 0, 1, 0],
                'uncounted losses: %s %s' % (want, form), '%s %s' % (got, err))


def check_losses(top):
    """trace-cmd report --cpu shows no losses of other cpus."""
    t = made.TraceDat()
    for cpu in 0, 1:
        for i in range(2):
            if i:
                t.cpu(cpu).begin(1000, lost=7 + cpu)
            t.cpu(cpu).add(2000 * i, t.numbers(10, i, i, 'n'))
    path = made_file(top, 'losses.dat', t)
    for cpu in 0, 1:
        lines = [line for line in sonde('script', '--format', 'trace-cmd', '-i', path, '--cpu',
                                        cpu)[1].splitlines() if 'DROPPED' in line]
        say(lines == ['CPU:%d [%d EVENTS DROPPED]' % (cpu, 7 + cpu)], 'losses of cpu %d' % cpu,
            '\n'.join(lines))


def check_unknown(top):
    t = made.TraceDat(events=(5,))
    t.cpu(0).add(1000, t.print(10, 'x')).add(2000, t.event(101, 20, b'z', 7, 120, 1))
    path = made_file(top, 'unknown.dat', t)
    status, text, err = sonde('script', '-i', path)
    say('unknown:101: 65 00 00 00 14 00 00 00 7a 00' in text and 'no-format: 1 ' in err,
        'an event that is not described', text + err)
    try:
        fresh = [p.read_text() for p in
                 pathlib.Path('/sys/kernel/tracing/events/sched').glob('sched_wakeup/format')]
    except OSError:
        fresh = []
    if not fresh:
        return skip('--kernel-formats', 'tracefs cannot be read')
    number = int(re.search(r'^ID: (\d+)', fresh[0], re.M)[1])
    t.options.append((5, b'Linux host %s x86_64\0' % os.uname().release.encode()))
    data = bytearray(t.event(101, 20, b'woken', 7, 120, 1))
    data[:2] = struct.pack('<H', number)
    t.cpu(0).add(3000, bytes(data))
    text = sonde('script', '--kernel-formats', '-i', made_file(top, 'kernel.dat', t))[1]
    say('sched:sched_wakeup: comm=woken pid=7 ' in text, '--kernel-formats', text)
    return None


def check_several(top):
    """Two recordings of one clock are merged."""
    paths = []
    for n, name in enumerate(('one', 'two')):
        t = made.TraceDat(clock='mono', options=[(5, b'Linux host 6.1.0 x86_64\0')])
        for i in range(3):
            t.cpu(0).add(1000 * (2 * i + n), t.print(10, '%s %d' % (name, i)))
        paths += ['-i', made_file(top, name + '.dat', t)]
    status, text, err = sonde('script', '-F', 'trace', *paths)
    say([line.split(': ')[1] for line in text.splitlines()] ==
        ['one 0', 'two 0', 'one 1', 'two 1', 'one 2', 'two 2'], 'several recordings', text + err)
    for first, second, may in (('local', 'local', True), ('local', 'global', False),
                               ('perf', 'local', False), ('perf', 'perf', True),
                               ('mono', 'perf', False), ('counter', 'counter', False)):
        paths = []
        for n, clock in enumerate((first, second)):
            t = made.TraceDat(clock=clock, options=[(5, b'Linux host 6.1.0 x86_64\0')])
            t.cpu(0).add(1000 + n, t.print(10, 'x'))
            paths += ['-i', made_file(top, 'clock%d.dat' % n, t)]
        status, text, err = sonde('script', '-F', 'trace', *paths)
        say((status, text.count('\n')) == ((0, 2) if may else (1, 0)) and
            (may or 'clocks' in err and '--offset' in err), '%s and %s' % (first, second), err)
        status, text, err = sonde('script', '-F', 'trace', *paths, '--offset', '0')
        say(status == 0 and text.count('\n') == 2, 'with --offset', err)


def check_pages(top):
    t = made.TraceDat(page=16384)
    for i in range(2000):
        t.cpu(1).add(1000 * i, t.numbers(10, i, i, 'n' * (i % 300)))
    path = made_file(top, 'large-pages.dat', t)
    found = events('-i', path)
    say([f[5]['small'] for f in found] == list(range(2000)), 'pages of 16 KiB', str(len(found)))
    text = sonde('script', '-i', path)[1]
    windowed = sonde('script', '-i', path, '--time', '0.000500,0.000599')[1]
    say(windowed.splitlines() == text.splitlines()[500:600], '--time',
        '%d lines' % windowed.count('\n'))


def check_latency(top):
    """Text that a latency tracer left in place of events is read as ftrace's text is."""
    want = sonde('script', '-i', made_file(top, 'latency.txt', made.LATENCY))[1]
    say(want.count('ftrace:text') == 4, 'text of a latency tracer', want)
    for form in (dict(version=6), dict(version=6, big=True), dict(version=7), dict(
            version=7, compression='zstd'), dict(version=7, big=True)):
        t = made.TraceDat(**form)
        t.text = made.LATENCY
        path = made_file(top, 'latency.dat', t)
        text = sonde('script', '-i', path)[1]
        say(text == want, 'text of a latency tracer in a trace.dat %s' % form, text)
    out = sonde('info', '-i', path)[1]
    say("ftrace's text, stored in a trace.dat" in out and 'irqsoff' in out, 'info of it', out)
    t.cpu(0).add(1, t.print(1, 'event'))
    status, out, err = sonde('script', '-i', made_file(top, 'both.dat', t))
    say('event' in out and 'unknown-record: 1 (first the text of a latency tracer' in err,
        'text in addition to events is reported', out + err)
    why = 'stores text, and not that of ftrace'
    for text in b'', b'hello\n' * 9, made.every_kind().data():
        t = made.TraceDat(version=6)
        t.text = text
        status, out, err = sonde('script', '-i', made_file(top, 'other.dat', t))
        say(status == 1 and why in err, 'another text: %.9r' % text, err)


# ---- damage ------------------------------------------------------------------------------------

def check_damage(top, path):
    data = path.read_bytes()
    for size, want in ((12, 'byte order'), (20, 'name of a header'), (3000, 'needs'),
                       (len(data) - 4096, 'truncated')):
        status, out, err = sonde('script', '-i', made_file(top, 'cut.dat', data[:size]))
        say(want in err, 'cut to %d bytes' % size, err)
    status, out, err = sonde('script', '-i', made_file(top, 'v8.dat', data[:10] + b'8' + data[11:]))
    say(status and 'version 8 of trace.dat is unknown' in err, 'version 8', err)
    t = made.TraceDat(compression='zstd')
    t.cpu(0).add(1, t.print(1, 'x'))
    packed = t.data()
    status, out, err = sonde('script', '-i', made_file(top, 'lzo.dat',
                                                       packed.replace(b'zstd\0', b'lzo9\0', 1)))
    say(status and 'compressed with lzo9, which sonde cannot read' in err, 'a strange codec', err)
    rng = random.Random(1)
    forms = [made.every_kind(**form).data() for form in (FORMS[0], FORMS[5], FORMS[8], FORMS[13])]
    bad = []
    for n in range(2000 if FULL else 60):
        wrong = bytearray(forms[n % len(forms)])
        for _ in range(1 << rng.randrange(5)):
            wrong[rng.randrange(len(wrong))] ^= 1 << rng.randrange(8)
        status, out, err = sonde('script', '-i', made_file(top, 'flipped.dat', bytes(wrong)))
        if status not in (0, 1, 3) or 'Sanitizer' in err:
            bad.append('%d: status %s, %s' % (n, status, err[:200]))
    say(not bad, 'bits flipped', '\n'.join(bad))
    for command in ('cut', 'split'):
        more = ['--every', '1M'] if command == 'split' else []
        status, out, err = sonde(command, '-i', path, *more, '-o', top / 'part.data')
        say(status and 'is a trace.dat recording' in err and 'sonde convert' in err,
            command + ' refuses it', err)


# ---- recordings of other machines --------------------------------------------------------------

def check_corpus():
    files = corpus_files('tracecmd-*')
    if not files:
        return skip('recordings of other machines', NO_CORPUS)
    expected = json.loads((CORPUS / 'EXPECT.json').read_text())
    for path in files:
        found = {}
        for e in events('-i', path):
            if e[0] != 'lost':
                name = e[0].split(':', 1)[1]
                found[name] = found.get(name, 0) + 1
        say(found == expected[path.name]['events'], path.name, str(found))
    return None


def main():
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        path = check_forms(top)
        check_values(path)
        check_text(path)
        check_script(top, path)
        check_clocks(top)
        check_info(path)
        check_losses(top)
        check_uncounted(top)
        check_unknown(top)
        check_several(top)
        check_latency(top)
        check_pages(top)
        check_damage(top, path)
    check_corpus()
    return done()


sys.exit(main())
