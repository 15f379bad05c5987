#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times of events as recorded, relative and as time of day, and windows of time in all three.

    tests/roundtrip/clocks.py SONDE FIXTURES.PY
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
import points  # noqa: E402
from points import ENV, UNDER_ASAN, done, skip  # noqa: E402
from recordings import load_fixtures  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
fixtures = load_fixtures()

S = 10 ** 9
# The recording's clock read 500 ns at 2023-11-14T22:13:20.000000123Z.
WALL = 1700000000 * S + 123
TIMES = [500, 500 + S, 500 + 2 * S + 1, 500 + 90 * 60 * S, 500 + 24 * 3600 * S]
UTC = ['2023-11-14T22:13:20.000000123Z', '2023-11-14T22:13:21.000000123Z',
       '2023-11-14T22:13:22.000000124Z', '2023-11-14T23:43:20.000000123Z',
       '2023-11-15T22:13:20.000000123Z']


def say(ok, name, why=''):
    points.say(ok, name, '' if ok else why)


def fixture(times=TIMES, clock=1, data=(1, WALL, 500), more=''):
    attr = 'use_clockid=1 clockid=%d ' % clock if clock is not None else ''
    lines = ['=== x',
             '--- attr type=software size=104 config=0 sample_period=1 '
             'sample_type=IDENTIFIER|IP|TID|TIME|CPU '
             'sample_id_all=1 %sids=7' % attr, '--- feature HOSTNAME', 'str "box"', more]
    if data:
        lines += ['--- feature CLOCK_DATA', '[1,%d:u32] [%d,%d:u64]' % data]
    lines += ['--- data'] + [
        'SAMPLE/user { [7:u64] [0x1010:u64] [12,12:u32] [%d:u64] [%d,0:u32] }' % (t, n % 4)
                             for n, t in enumerate(times)]
    return '\n'.join(lines) + '\n'


def build(folder, text, name='x.data', order='little'):
    (folder / 'x.fix').write_text(text)
    path = folder / name
    path.write_bytes(fixtures.parse(folder / 'x.fix')[0].build(order)[0])
    return str(path)


def sonde(words, zone='UTC', stdin=None):
    p = subprocess.run([SONDE] + [str(w) for w in words], env=dict(ENV, TZ=zone),
                       stdin=stdin or subprocess.DEVNULL, capture_output=True, timeout=600)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def times(path, *words, zone='UTC'):
    status, out, err = sonde(['script', '-i', path, '-F', 'time', '--ns'] + list(words), zone)
    return ([line.strip().rstrip(':') for line in out.splitlines()] if not status
            else 'status %s: %s' % (status, err))


def shown(folder):
    for order in 'little', 'big':
        path = build(folder, fixture(), order=order)
        raw = ['0.000000500', '1.000000500', '2.000000501', '5400.000000500', '86400.000000500']
        for words, want, zone in (
                ([], raw, 'UTC'), (['--clock', 'raw'], raw, 'UTC'),
                (['--clock', 'utc'], UTC, 'America/New_York'),
                (['--clock', 'relative'], ['0.000000000', '1.000000000', '2.000000001',
                                           '5400.000000000', '86400.000000000'], 'UTC'),
                (['--clock', 'local'], [t[:-1] + '+0000' for t in UTC], 'UTC'),
                (['--clock', 'local', '--cpu', '0'],
                 ['2023-11-15T03:58:20.000000123+0545', '2023-11-16T03:58:20.000000123+0545'],
                 'NPT-5:45'),
                (['--clock', 'utc', '--deltatime'],
                 ['0.000000000', '1.000000000', '1.000000001', '5397.999999999', '81000.000000000'],
                 'UTC')):
            got = times(path, *words, zone=zone)
            say(got == want, '%s endian: %s' % (order, ' '.join(words)), '%s\n%s' % (got, want))
    status, out, err = sonde(['script', '-i', path, '--clock', 'utc', '-F', 'time,event'])
    say(out.splitlines()[0] == '2023-11-14T22:13:20.000000Z: cpu-clock:HG: ',
        'microseconds without --ns', out + err)
    lines = [json.loads(x) for x in sonde(['script', '-i', path, '--clock', 'utc', '--format',
                                           'jsonl'])[1].splitlines()]
    say(lines[0]['header'].get('clock') == 'utc' and
        [x['time'] for x in lines if 'event' in x] == [t - 500 + WALL for t in TIMES],
        'jsonl', str(lines))
    script = folder / 'x.py'
    script.write_text(
        'def trace_unhandled(*a): pass\ndef process_event(d):\n    print(d["sample"]["time"])\n')
    for clock, plus in () if UNDER_ASAN else (('raw', 0), ('utc', WALL - 500),
                                              ('local', WALL - 500), ('relative', -500)):
        status, out, err = sonde(['script', '-i', path, '--clock', clock, '-s', script],
                                 'Asia/Tokyo')
        say(out.split() == [str(t + plus) for t in TIMES], 'a script, --clock ' + clock,
            '%s\n%s' % (out, err))
    for clock in 'relative', 'utc', 'raw':
        got = sonde(['script', '-i', path, '--clock', clock, '-F', 'tod,event',
                     '--ns'])[1].splitlines()
        say(len(got) == 5 and all(g.startswith(u[:-1].replace('T', ' ')) for g, u in zip(got, UTC)),
            'the column tod with ' + clock, str(got))
    with open(path, 'rb') as f:
        got = sonde(['script', '-i', '-', '--clock', 'utc', '-F', 'time', '--ns'],
                    stdin=f)[1].split()
    say([t.rstrip(':') for t in got] == UTC, 'from the standard input', str(got))


UNKNOWN = {  # recordings without a time of day: how they are made, words of the message
    'the kernel\'s own clock': (dict(clock=None, data=None),
                                "timed by the kernel's own clock, and it holds no clock data"),
    'a clock id alone': (dict(clock=1, data=None, more='--- feature CLOCKID\n[1:u64]'),
                         'timed by CLOCK_MONOTONIC, and it holds no clock data'),
    'clock data of another clock': (dict(clock=4),
                                    'CLOCK_MONOTONIC_RAW, but its clock data are of another clock '
                                    '(number 1)'),
    'clock data without a clock': (dict(clock=None),
                                   "timed by the kernel's own clock, but its clock data are of "
                                   "another"),
    'a time conversion alone': (dict(clock=None, data=None),
                                "timed by the kernel's own clock, and it holds no clock data"),
}


def unknown(folder):
    for name, (how, word) in UNKNOWN.items():
        text = fixture(**how)
        if 'conversion' in name:
            text += 'TIME_CONV { [10,1000,0,0,0:u64] [1,1:u8] [0:u8]*6 }\n'
        path = build(folder, text, 'odd.data')
        for words in (['--clock', 'utc'], ['--clock', 'local'], ['--time', '22:13,']):
            got = times(path, *words)
            say(got.startswith('status 2: ') and path in got and word in got and
                ('record with -k CLOCK_MONOTONIC' in got) ==
                ('no clock data' in word), '%s: %s' % (name, ' '.join(words)), str(got))
        say(times(path)[:2] == ['0.000000500', '1.000000500'] and
            times(path, '--clock', 'relative')[:2] == ['0.000000000', '1.000000000'],
            name + ': times as recorded')
    path = build(folder, fixture([t - 500 + WALL for t in TIMES], clock=0, data=None), 'real.data')
    say(times(path, '--clock', 'utc') == UTC, 'CLOCK_REALTIME is the time of day',
        str(times(path, '--clock', 'utc')))


def windows(folder):
    path = build(folder, fixture())
    last = '2023-11-15T22:13:20.000000123Z'
    for window, want, words, zone in (
            ('2023-11-14T22:13:21Z,2023-11-14T22:13:22.000000124Z', [1, 2], [], 'UTC'),
            ('2023-11-14T22:13:21.000000123Z,2023-11-14T22:13:22.000000123Z', [1], [], 'UTC'),
            ('2023-11-14T23:13:21+01:00,2023-11-14T23:13:21.5+0100', [1], [], 'America/New_York'),
            ('2023-11-14T17:13:21-05,2023-11-14T22:13:21.5Z', [1], [], 'UTC'),
            ('2023-11-14T17:13:21,2023-11-14T17:13:22', [1], [], 'EST5'),
            ('2023-11-14T22:13:21,2023-11-14T22:13:22', [1], ['--clock', 'utc'], 'EST5'),
            ('2023-11-15,', [4], [], 'UTC'), (',2023-11-15', [0, 1, 2, 3], [], 'UTC'),
            (',2023-11-14T22:13:20Z', [], [], 'UTC'),
            (',1999-12-31', [], [], 'UTC'), ('1999-12-31,', [0, 1, 2, 3, 4], [], 'UTC'),
            ('22:13:21,22:13:23', [1, 2], [], 'UTC'), ('22:14,23:59:59.5', [3], [], 'UTC'),
            ('23:43Z,', [3, 4], [], 'EST5'),
            ('03:00,', [4], [], 'UTC'), ('23:50,00:10', [], [], 'UTC'),
            ('22:13:19,22:13:21', [4], [], 'UTC'), ('23:00,22:13:21', [3, 4], [], 'UTC'),
            ('2023-11-14T22:13:20Z,2023-11-14T22:13:21Z 2023-11-14T23:00Z,2023-11-15', [0, 3], [],
             'UTC'),
            ('1.5,2023-11-14T22:13:23Z', [2], [], 'UTC'),
            ('1700000001,1700000001.5', [1], ['--clock', 'utc'], 'UTC'),
            ('1,2', [1], ['--clock', 'relative'], 'UTC'),
            ('1.0000005,1.5', [1], [], 'UTC'), ('0%-1%', [0, 1, 2], ['--clock', 'utc'], 'UTC'),
            (last + ',', [4], [], 'UTC')):
        got = times(path, '--time', window, *words, zone=zone)
        all_times = times(path, *words)
        say(got == [all_times[i] for i in want],
            '--time %s %s in %s' % (window, ' '.join(words), zone), str(got))
    for window, word, words in (
            ('2023-13-14T22:13Z,', 'not a time of day', []),
            ('2023-02-30,', 'not a time of day', []), ('25:00,', 'not a time of day', []),
            ('22:13:61,', 'not a time of day', []), ('2023-11-14 22:13,', 'not a time of day', []),
            ('x,', 'not a number of seconds', []),
            ('22:13:21.1234567891,', 'not a time of day', []),
            ('2023-11-15,2023-11-14', 'ends before it begins', []),
            ('22:13,', 'do not count from the first event', ['--reltime']),
            ('22:13,', 'do not count from the first event', ['--clock', 'relative']),
            ('22:13', 'either side may be empty', []),
            ('2023-11-14T22:13:21X,', 'not a time of day', []),
            ('2023-11-14T22,', 'not a time of day', [])):
        got = times(path, '--time', window, *words)
        say(str(got).startswith('status 2: ') and word in got, 'refused: --time ' + window,
            str(got))
    say(times(path, '--clock', 'utc', '--reltime').startswith('status 2'),
        'refused: --clock and --reltime')
    timeless = build(
        folder, '=== x\n--- attr type=software size=104 config=0 sample_period=1 '
                'sample_type=IDENTIFIER|IP|TID ids=7\n--- data\n'
                     'SAMPLE/user { [7:u64] [0x1010:u64] [12,12:u32] }\n', name='timeless.data')
    for command in ['script'], ['script', '-D'], ['cut', '-o', folder / 'out.data']:
        for window in '0,1', '10%-20%':
            status, out, err = sonde(command + ['-i', timeless, '--time', window])
            say(status == 2 and 'timeless.data' in err and "'cpu-clock" in err and
                'record with -T' in err,
                'no event has a time: %s --time %s' % (' '.join(command[:2]), window),
                '%d: %s' % (status, err))
    say(sonde(['--compat', 'perf-6.1', 'script', '-i', timeless, '--time', '0,1'])[0] == 0,
        '--compat: no event has a time')
    status, out, err = sonde(['--compat', 'perf-6.1', 'script', '-i', path, '--time', '22:13,'])
    say(status != 0 and 'Invalid time string' in err, '--compat: times of day are refused',
        '%s %s' % (status, err))
    got = sonde(['script', '-i', path, '-i', path, '--time', '22:13:21,22:13:21.5', '-F', 'time',
                 '--ns'])[1].split()
    say(got == ['1.000000500:', '1.000000500:'], 'several recordings', str(got))


def span(folder):
    path = build(folder, fixture())
    text = sonde(['info', path])[1]
    say('2023-11-14 22:13:20.000000123' in text and '2023-11-15 22:13:20.000000123' in text,
        'info: time of day of the first and last event', text)
    got = json.loads(sonde(['info', '--format', 'json', path])[1])['span']
    say((got.get('first_wall_ns'), got.get('last_wall_ns')) == (WALL, WALL + 86400 * S),
        'info --json: time of day of the first and last event', str(got))
    path = build(folder, fixture(clock=None, data=None), 'odd.data')
    status, out, err = sonde(['script', '-i', path, '--clock', 'sun'])
    say(status == 2 and "--clock takes raw, relative, utc or local, not 'sun'" in err,
        'an unknown clock', err)
    known = build(folder, fixture(), 'known.data')
    for words in ['--clock', 'relative', '--time',
                  '1,2.1'], ['--clock', 'utc', '--time', '22:13:21,22:13:23']:
        status, out, err = sonde(['cut', '-i', known, '-o', folder / 'cut'] + words)
        got = times(str(folder / 'cut'))
        say(not status and got == times(known)[1:3],
            'a cut by --clock %s keeps the recorded times' % words[1], '%s %s' % (got, err))
    got = json.loads(sonde(['info', '--format', 'json', path])[1])['span']
    say('wall' not in json.dumps(got), 'info --json without a known time of day')


def compare_with_perf(folder):
    perf = shutil.which('perf')
    stored = build(folder, fixture())
    if not perf:
        return skip('the column tod compared with perf', 'no perf', may=False)
    for zone in 'UTC', 'Asia/Tokyo':
        for words in [], ['--ns']:
            command = ['script', '-i', str(stored), '-F', 'tod,time,event'] + words
            p = subprocess.run([perf] + command, env=dict(ENV, TZ=zone), stdin=subprocess.DEVNULL,
                               capture_output=True, timeout=600)
            ours = sonde(command, zone)
            say(p.stdout.decode() == ours[1] and ours[1],
                'tod compared with perf: %s %s' % (zone, ' '.join(words)), ours[1][:300] + ours[2])
            tods = [line.split(' ')[:2] for line in p.stdout.decode().splitlines()]
            of_day = [re.match(r'([0-9-]+)T([0-9:.]+)[+-]\d{4}: ', line) for line in
                      sonde(['script', '-i', str(stored), '-F', 'time,event', '--clock', 'local'] +
                            words, zone)[1].splitlines()]
            say([[m[1], m[2]] for m in of_day if m] == tods and tods,
                '--clock local equals perf\'s tod: %s %s' % (zone, ' '.join(words)),
                '%s %s' % (of_day[:1], tods[:1]))


with tempfile.TemporaryDirectory() as tmp:
    for part in shown, unknown, windows, span, compare_with_perf:
        part(pathlib.Path(tmp))
sys.exit(done())
