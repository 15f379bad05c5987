#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ctf.py SONDE: sonde convert --to ctf keeps every event, field, loss and call chain.

Recordings of perf, trace-cmd and LTTng are converted. The JSON lines of the trace are compared with
those of the recording, and the lines of babeltrace2, if it is installed, with those of
sonde script --format babeltrace. Then outputs that are refused, and what is left of an output that
cannot be completed.
"""
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / 'gen'), str(TESTS)]
import ctf as made_ctf  # noqa: E402
import tracedat as made_dat  # noqa: E402
import points  # noqa: E402
from points import FULL, done, run, skip  # noqa: E402
from recordings import NO_CORPUS, corpus_files  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
DEMO = TESTS / 'data' / 'demo.data'
MIXED = TESTS / 'data' / 'text' / 'mixed.data'
TOP = pathlib.Path(tempfile.mkdtemp(prefix='sonde-convert-ctf-'))
BABELTRACE = shutil.which('babeltrace2')
os.environ['TZ'] = 'UTC'
# fields of the trace that are values of a sample in a recording of perf
ADDED = re.compile(r'perf_\w+$')


def convert(path, *options, name='out', force=True):
    """(path of the trace, exit status, stderr)"""
    out = TOP / name
    words = [SONDE, 'convert', '-i', path, '--to', 'ctf', '-o', out, *options]
    status, _, err = run([str(w) for w in words + ['-f'] * force])
    return out, status, err.decode()


def say(ok, name, why=''):
    points.say(ok, name, '' if ok else why)


def lines(*command):
    status, out, err = run([str(word) for word in command])
    return out.decode('utf-8', 'surrogateescape').splitlines(), err.decode(), status


def same(want, got):
    """The values are equal. Bytes of no known type are an array in the trace."""
    if isinstance(want, dict) and isinstance(got, dict):
        want = {re.sub(r'\W', '_', name): value for name, value in want.items()}
        return all(name in got and same(value, got[name]) for name, value in want.items()) and \
            all(name in want or ADDED.match(name) for name in got)
    if isinstance(want, str) and isinstance(got, list):
        return want == bytes(got).hex()
    return want == got


def events(path, *options):
    """The events as tuples, their fields, and the number of lost events."""
    text, err, _ = lines(SONDE, 'script', '-i', path, '--format', 'jsonl', *options)
    lost = re.search(r'lost-events: (\d+)', err)
    found = []
    for line in map(json.loads, text):
        if 'event' in line and line['event'] != 'lost' and 'count' not in line:
            found.append(([str(line.get(key)) for key in
                           ('time', 'cpu', 'tid', 'event', 'pid', 'comm')],
                          line.get('fields', {})))
    return sorted(found, key=lambda event: event[0]), int(lost[1]) if lost else 0


def kept(name, path, *options):
    """The trace has the events of the recording, for sonde and for babeltrace2."""
    out, status, err = convert(path, *options, name=re.sub(r'\W', '-', name))
    if status:
        say(False, name + ' to CTF', err)
        return out
    # times with an offset to 1970 are equal as times of day
    clock = ('--clock', 'utc') if events(path, '--clock', 'utc')[0] else ()
    (want, want_lost), (got, lost) = events(path, *clock), events(out, *clock)
    wrong = [(w, g) for w, g in zip(want, got) if w[0] != g[0] or not same(w[1], g[1])]
    say(len(want) == len(got) and not wrong and lost == want_lost, name + ' to CTF',
        '%d events, expected %d; lost %d, expected %d\n%s\n%s' %
        (len(got), len(want), lost, want_lost, err, str(wrong[:1])[:3000]))
    if BABELTRACE:
        want, err, status = lines(BABELTRACE, out)
        got, _, _ = lines(SONDE, 'script', '-i', out, '--format', 'babeltrace')
        wrong = [pair for pair in zip(want, got) if pair[0] != pair[1]]
        say(status == 0 and len(want) == len(got) and not wrong, name + ', by babeltrace2',
            '%d lines, expected %d; %s %s' % (len(got), len(want), err[:500], wrong[:1]))
    else:
        skip(name + ', by babeltrace2', 'no babeltrace2', may=False)
    return out


def from_perf():
    out = kept('demo', DEMO)
    text = (out / 'metadata').read_text()
    say(all(word in text for word in ('tracer_name = "sonde"', 'domain = "kernel"', 'hostname = ',
                                      'name = "sched:sched_switch"', '_prev_comm[16];')),
        'metadata', text[:1500])
    # the fields of the trace are those that babeltrace2 prints
    if BABELTRACE:
        switch = next(f for e, f in events(DEMO)[0] if e[3] == 'sched:sched_switch')
        want = ', '.join('%s = %s' % (k, '"%s"' % v if isinstance(v, str) else v)
                         for k, v in switch.items() if not k.startswith('common_'))
        text, _, _ = lines(BABELTRACE, out)
        say(any(line.endswith('{ %s }' % want) for line in text), 'fields of sched_switch', want)
    kept('samples and tracepoints', MIXED)
    again = kept('demo again', out)
    say(events(again)[0] and [e for e, _ in events(again)[0]] == [e for e, _ in events(DEMO)[0]],
        'demo to CTF and to CTF again')


def from_trace_cmd():
    for form in ({}, {'long_bytes': 4}, {'big': True}):
        path = TOP / 'made.dat'
        path.write_bytes(made_dat.every_kind(**form).data())
        kept('trace.dat %s' % (' '.join('%s=%s' % pair for pair in form.items()) or 'of 64 bits'),
             path)


def stacks():
    """A stack has as many entries as the kernel found; its field has eight."""
    t = made_dat.TraceDat()
    for i, entries in enumerate((3, 8, 9, 20)):
        t.cpu(0).add(1000 * i, t.event(4, 10, entries, (0x2000,) * 8) + bytes(8 * max(
            0, entries - 8)))
    path = TOP / 'stacks.dat'
    path.write_bytes(t.data())
    out, status, err = convert(path, name='stacks')
    say(status == 0 and len(events(out)[0]) == 4 and
        'bytes behind the fields of events are not written: ftrace:kernel_stack 2\n' in err,
        'entries of stacks that have no place are listed', err)


APP = made_ctf.APP + '''
env { vpid = 4242; };
event {
  name = "app:numbers"; id = 0;
  fields := struct {
    integer { size = 32; signed = true; byte_order = be; } other;
    integer { size = 5; signed = true; } bits; u8 list[3]; u8 n; u32 seq[n];
    enum : u8 { ONE = 1, "two \\"2\\"" = 2 ... 7 } kind; string _int; u8 __own;
    struct { u8 a; u32 b; u8 n; u8 in[n]; } in;
    floating_point { exp_dig = 11; mant_dig = 53; align = 8; } real;
  };
};
event { name = "other-name \\\\ \\"x\\""; id = 1; fields := struct { string s; }; };
event { name = "nothing"; id = 2; };
'''


def app_packet(order, first, discarded):
    def body(p):
        for i in range(20):
            p.int(0, 8).int(first + 5000 * i, 64, 8).int(77 + i, 32, 8)
            p.raw((-i).to_bytes(4, 'big', signed=True)).int(-i % 32, 5, 1).raw((i, 2, 3))
            p.int(2, 8).int(i, 32, 8).int(9, 32, 8).int(1 + i % 9, 8).text('text %d' % i).int(i, 8)
            p.int(i, 8).int(1000 + i, 32, 8).int(2, 8).raw((1, i)).real(i / 3, 64)
        p.int(1, 8).int(first + 2000000000, 64, 8).int(5, 32, 8).text('last\n')
        p.int(2, 8).int(first + 2000000001, 64, 8).int(5, 32, 8)

    return made_ctf.app_packet(order, body, 3, discarded)


def from_ctf():
    for order in 'le', 'be':
        for name, before in ('losses', 0), ('losses of unknown number', 7):
            stream = app_packet(order, 10**12, before) + \
                app_packet(order, 10**12 + 10**10, before + 11)
            folder = made_ctf.write(TOP / ('%s-%d' % (order, before)),
                                    APP % made_ctf.trace_block(order), chan_0=stream)
            out = kept('CTF, %s, %s' % (order, name), folder)
            say(len(list(out.glob('cpu_3*'))) == 1 and not (out / 'cpu_0').exists(),
                'a stream for each cpu', str(list(out.iterdir())))


def from_corpus():
    paths = corpus_files('tracecmd-*.dat') + corpus_files('perf-*callchain-k4*') + \
        corpus_files('ctf-kernel-only.trace-kernel*') + corpus_files('ctf-packet*') + \
        corpus_files('ctf-succeed-*') + corpus_files('ctf2-*') + \
        (corpus_files('perf-file-*') if FULL else [])
    if not paths:
        return skip('recordings of other machines', NO_CORPUS)
    for path in paths:
        size = sum(p.stat().st_size for p in path.rglob('*')) if path.is_dir() \
            else path.stat().st_size
        if size < (16 << 20 if FULL else 100000):
            kept(path.name, path)
    return None


def options():
    out, status, err = convert(MIXED, name='left')
    say(status == 0 and 'events without a place in CTF are not written: mmap ' in err,
        'records of state are listed by name and counted', err)
    out, status, err = convert(DEMO, '-e', 'sched_switch')
    say(status == 0 and {e[3] for e, _ in events(out)[0]} == {'sched:sched_switch'},
        '-e chooses events', err)
    before = sorted((p.name, p.read_bytes()) for p in out.iterdir())
    out, status, err = convert(DEMO, force=False)
    say(status == 1 and 'exists: --force' in err and
        before == sorted((p.name, p.read_bytes()) for p in out.iterdir()),
        'an existing trace is kept', err)
    out, status, err = convert(MIXED)
    say(status == 0 and not (events(out)[0][0][0][3] == 'sched:sched_switch'),
        'a trace is replaced with --force', err)
    (out / 'mine').write_text('mine')
    out, status, err = convert(DEMO)
    say(status == 1 and 'not of a trace that sonde wrote' in err and (out / 'mine').exists(),
        'a folder with other files is kept', err)
    (TOP / 'file').write_text('mine')
    for words, why in (('-o', '-'), 'name a folder with -o'), \
            (('-o', TOP / 'file', '-f'), 'is not a folder'), \
            (('-o', TOP / 'x', '--stacks'), '--stacks is for tables'), \
            (('-o', TOP / 'no' / 'x'), 'cannot write'):
        status, _, err = run([str(w) for w in (SONDE, 'convert', '-i', DEMO, '--to', 'ctf',
                                               *words)])
        say(status not in (0, 3) and why in err.decode(), 'refused: ' + ' '.join(map(str, words)),
            err.decode())
    cut = TOP / 'cut.data'
    cut.write_bytes(b'PERFILE2' + bytes(50))
    out, status, err = convert(cut, name='failed')
    say(status == 1 and not out.exists(), 'a failure leaves no output', err)
    status, _, err = run([SONDE, 'convert', '-i', str(DEMO), '-o', str(TOP / 'guessed.ctf')])
    say(status == 0 and (TOP / 'guessed.ctf' / 'metadata').exists(),
        'the suffix names the format', err.decode())
    status, _, err = run([SONDE, 'convert', '-i', str(TOP / 'file'), '--to', 'ctf', '-o',
                          str(TOP / 'none')])
    left = [p.name for p in TOP.iterdir() if '.tmp-' in p.name]
    say(status == 1 and not left, 'no temporary folder is left', str(left))


def damage():
    """Damaged input gives a trace or a message, and never crashes."""
    data = DEMO.read_bytes()
    for i in range(300 if FULL else 24):
        at = 0x68 + i * (len(data) - 0x70) // (300 if FULL else 24)
        bad = TOP / 'bad.data'
        bad.write_bytes(data[:at] + bytes([data[at] ^ 0xff, data[at + 1] ^ 0x81]) + data[at + 2:])
        out, status, err = convert(bad, name='bad')
        if status not in (0, 1, 2, 3):
            say(False, 'damage at 0x%x' % at, '%s %s' % (status, err))
            return
        status = lines(SONDE, 'script', '-i', out)[2]
        if status not in (0, 1):
            say(False, 'reading the trace after damage at 0x%x' % at, str(status))
            return
    say(True, 'damaged recordings')


try:
    from_perf()
    from_trace_cmd()
    stacks()
    from_ctf()
    from_corpus()
    options()
    damage()
finally:
    shutil.rmtree(TOP)
sys.exit(done())
