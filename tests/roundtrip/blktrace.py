#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads recordings of blktrace in all their forms, damaged ones among them.

    blktrace.py SONDE
"""
import gzip
import json
import pathlib
import random
import re
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
from blk import DATA, RECORDED, SONDE, made, sonde  # noqa: E402
from points import ENV, UNDER_ASAN, done, on_pty, say, skip  # noqa: E402
from recordings import NO_CORPUS  # noqa: E402


def events(text):
    """The events and records of JSON lines: [(name, time, cpu, fields)]"""
    lines = [json.loads(line) for line in text.splitlines()]
    return [(e.get('event') or e.get('record'), e['time'], e.get('cpu'), e['fields'])
            for e in lines if 'event' in e or 'record' in e]


def write(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


# ---- what is read ------------------------------------------------------------------------------

def check_forms(top):
    want = sonde('script', '--format', 'jsonl', '-i', DATA / 'little')[1].splitlines()[1:]
    say(len(want) > 25, 'a folder is a recording', '%d lines' % len(want))
    for form, options in made.FORMS.items():
        files = made.recording(**options)
        say(all((DATA / form / name).read_bytes() == data for name, data in files.items()),
            'tests/gen/blktrace.py writes tests/data/blktrace/%s' % form)
        got = sonde('script', '--format', 'jsonl', '-i', DATA / form)[1].splitlines()[1:]
        strip = [re.sub(r'at 0x[^"]*', '', line) for line in got]
        say(strip == [re.sub(r'at 0x[^"]*', '', line) for line in want], 'the same events: ' + form)
    for cpu in '01':
        got = sonde('script', '--format', 'jsonl', '-i',
                    DATA / 'little' / ('sda.blktrace.' + cpu))[1].splitlines()[1:]
        say(len(got) == len(want), 'the file of cpu %s is read with the other cpus' % cpu)
    stream = b''.join(p.read_bytes() for p in sorted((DATA / 'little').iterdir()))
    got = events(sonde('script', '--format', 'jsonl', '-i', '-', stdin=stream)[1])
    say(got == events('\n'.join(want)), 'both files as one stream in a pipe')
    check_named_one_by_one()
    write(top / 'other', {'sda.blktrace.0': stream, 'sdb.blktrace.0': stream})
    got = events(sonde('script', '--format', 'jsonl', '-i', top / 'other' / 'sdb.blktrace.0')[1])
    say(len(got) == len(events('\n'.join(want))), 'files of other devices are not read with it')


def check_values():
    found = events(sonde('script', '--format', 'jsonl', '-i', DATA / 'big')[1])
    by_name = {}
    for name, time, cpu, fields in found:
        by_name.setdefault(name, []).append((time, cpu, fields))
    time, cpu, f = by_name['block:remap'][0]
    say((f['old_dev'], f['old_sector'], f['dev'], f['sector'], f['major'], f['minor']) ==
        (made.dev(8, 0), 4048, made.dev(8, 1), 2000, 8, 1), 'a remap', str(f))
    say(by_name['block:unplug_timer'][0][2]['nr_rq'] == 3, 'an unplug')
    say(by_name['block:split'][0][2]['new_sector'] == 2004, 'a split')
    say(by_name['block:message'][0][2]['message'] == 'hello message', 'a message')
    say([f['pdu'] for _, _, f in by_name['block:issue']] == [[], [], [18, 0, 0, 0, 36, 0]],
        'a packet command')
    say([(t, c, f['lost']) for t, c, f in by_name['lost']] == [(5020500000, 1, 5)], 'lost records',
        str(by_name['lost']))
    say({f['comm'] for _, c, f in by_name['block:queue'] if c == 1} == {'fio'},
        'a process name recorded after the first event of the process')


def check_recorded():
    """A recording of Linux 5: 963 requests with seven records each, and two names."""
    if not RECORDED:
        return skip('a real recording', NO_CORPUS)
    counts = {}
    out = sonde('script', '--format', 'jsonl', '--show-task-events', '-i', RECORDED)[1]
    for name, _, _, _ in events(out):
        counts[name] = counts.get(name, 0) + 1
    names = ('remap', 'queue', 'getrq', 'plug', 'unplug', 'issue', 'complete')
    want = {'block:' + name: 963 for name in names}
    return say(counts == dict(want, comm=2), 'a real recording', str(counts))


def check_named_one_by_one():
    """The shell expands sda.blktrace.* to all files of a recording: they are read once."""
    folder = DATA / 'little'
    first, second = folder / 'sda.blktrace.0', folder / 'sda.blktrace.1'
    want = sonde('script', '-F', 'event', '-i', folder)[1]
    for inputs in ((first, second), (second, first), (folder, second)):
        status, out, err = sonde('script', '-F', 'event', *[w for i in inputs for w in ('-i', i)])
        say(status == 0 and out == want, 'read once: ' + ' '.join(i.name for i in inputs),
            out + err)
    status, out, err = sonde('script', first, second)
    say(status == 0 and len(out.splitlines()) == len(want.splitlines()),
        'read once: both files, without -i', out + err)
    out = sonde('script', '-F', 'event', '-i', first, '-i', second, '-i', DATA / 'big',
                '--offset', '0')[1]
    say(out.splitlines() == [line for line in want.splitlines() for _ in (0, 1)],
        'both files are merged with another recording', out)
    status, out, err = sonde('script', '-i', first, '-i', folder)
    say(status and not out and 'name one of the two' in err,
        'a file followed by its folder is refused', err)
    want = sonde('script', '-F', 'time', '-i', folder, '--offset', '1')[1]
    for words in (['--offset', '1'],
                  []), ([], ['--offset', '1']), (['--offset', '1'], ['--offset', '1']):
        out = sonde('script', '-F', 'time', '-i', first, *words[0], '-i', second, *words[1])[1]
        say(out == want and out.startswith('    6.000000'),
            'an offset given for one file applies to the recording', out)
    status, out, err = sonde('script', '-i', first, '--offset', '2', '-i', second, '--offset', '1')
    say(status and not out and 'cannot have two offsets (2 and 1)' in err,
        'two offsets for one recording are refused', err)
    out = sonde('script', '-F', 'event', '-i', folder, '-i', folder, '--offset', '0')[1]
    say(len(out.splitlines()) == 2 * len(want.splitlines()),
        'a path given twice is read twice', out)


def check_time_zero(top):
    """The first event has the time 0 in files of blkparse -d; 0 does not mean an unknown time."""
    t = made.Blktrace()
    t.timestamp(1600000000, 5, time=5000000000)
    for i in range(4):
        t.add('Q', 1000 * i, 8 * i, 512, 'R', pid=7)
    (top / 'zero').write_bytes(t.data)
    out = sonde('script', '-i', top / 'zero', '--clock', 'utc', '--ns', '-F', 'time')[1].split()
    say(out[:2] == ['2020-09-13T12:26:40.000000005Z:', '2020-09-13T12:26:40.000001005Z:'],
        '--clock utc of an event at 0', str(out))
    out = sonde('script', '-i', top / 'zero', '--time', '0.000001,0.000002', '--ns', '-F',
                'time')[1].split()
    say(out == ['0.000001000:', '0.000002000:'], '--time leaves out an event at 0', str(out))
    out = sonde('script', '-i', top / 'zero', '--time', ',0.000001', '--ns', '-F',
                'time')[1].split()
    say(out == ['0.000000000:', '0.000001000:'], '--time includes an event at 0', str(out))
    for inputs in ('zero', 'more'), ('more', 'zero'):
        (top / 'more').write_bytes(t.data)
        out = sonde('script', '-i', top / inputs[0], '-i', top / inputs[1], '--offset', '0.000001',
                    '--ns', '-F', 'time')[1].split()
        say(out == ['0.00000%d000:' % n for n in (0, 1, 1, 2, 2, 3, 3, 4)],
            'two recordings with an event at 0', str(out))


def check_packed(top):
    """A folder with packed files is refused: the message names the file and the remedy."""
    files = made.recording()
    packed = {name + '.gz': gzip.compress(data) for name, data in files.items()}
    named, first = 'sda.blktrace.0 is packed with gzip', 'sda.blktrace.0.gz'
    cases = [('all packed', packed, '', first + ' is packed with gzip'),
             ('one packed', {first: packed[first], 'sda.blktrace.1': files['sda.blktrace.1']}, '',
              first + ' is packed'),
             ('one packed, the other one given',
              {first: packed[first], 'sda.blktrace.1': files['sda.blktrace.1']},
              'sda.blktrace.1', first + ' is packed'),
             ('one packed without a suffix',
              dict(files, **{'sda.blktrace.0': packed[first]}), '', named),
             ('one packed without a suffix, the other one given',
              dict(files, **{'sda.blktrace.0': packed[first]}), 'sda.blktrace.1', named)]
    for i, (what, data, name, want) in enumerate(cases):
        folder = write(top / ('packed%d' % i), data)
        status, out, err = sonde('script', '-i', folder / name)
        say(status and not out and '%s/%s' % (folder, want) in err and 'unpack it' in err,
            'refused: ' + what, out + err)
    for what, damaged in (('zeros', bytes(4096)), ('no record', b'x' * 100),
                          ('an unknown version', b'\x09\x74\x61\x65' + bytes(60))):
        folder = write(top / 'damaged-first', dict(files, **{'sda.blktrace.0': damaged}))
        status, out, err = sonde('script', '-i', folder)
        say(status == 0 and len(out.splitlines()) == 3 and 'bad-size: 1' in err,
            'the first file has %s: the other one is read' % what, out + err)
    folder = write(top / 'odd', {})
    (folder / 'sda.blktrace.0').symlink_to(DATA / 'little' / 'sda.blktrace.0')
    status, out, err = sonde('script', '-i', folder)
    say(status and 'sda.blktrace.0 is a symbolic link' in err, 'refused: a folder with a link', err)
    (folder / 'sda.blktrace.0').unlink()
    (folder / 'sda.blktrace.0').mkdir()
    status, out, err = sonde('script', '-i', folder)
    say(status and 'sda.blktrace.0 is not a regular file' in err, 'refused: a folder with a folder',
        err)
    folder = write(top / 'both', dict(files, **packed))
    say(sonde('script', '-i', folder)[1] == sonde('script', '-i', DATA / 'little')[1],
        'packed files next to unpacked ones are ignored')
    say(len(sonde('script', '-i', folder / first)[1].splitlines()) == 23,
        'a packed file that is given itself is read alone')
    folder = write(top / 'empty', {'sda.blktrace.0': b'', 'sda.blktrace.1': b''})
    status, out, err = sonde('script', '-i', folder)
    say(status and 'is empty: nothing was recorded' in err, 'refused: a folder of empty files', err)


INFO = """recording    {path}, a directory, 1497 bytes of records in 2 files
format       blktrace, version 7
host         little-endian
clock        monotonic, 5.000000000 was 2020-09-13 12:26:40.000000005 +0000
time         5.000000000 to 5.022000000, 0.022000000 s
             2020-09-13 12:26:40.000000005 +0000 to 2020-09-13 12:26:40.022000005 +0000

     samples  event
           6  block:queue
           1  block:backmerge
           1  block:frontmerge
           1  block:getrq
           1  block:sleeprq
           1  block:requeue
           3  block:issue
           4  block:complete
           1  block:plug
           1  block:unplug
           1  block:unplug_timer
           1  block:insert
           1  block:split
           1  block:bounce
           1  block:remap
           1  block:message

     samples         lost  cpu
          23            0  0
           3            5  1

     records  kind
           2  comm
           1  lost

defects      lost-events: 5 (first at 0xa0 of {path}/sda.blktrace.1); """
# Members about things that no recording of blktrace has.
NO_MEMBERS = {'trace', 'build_ids', 'missing_build_ids', 'missing_symbols', 'unmapped_samples'}


def check_info():
    data = DATA / 'little'
    status, out, err = sonde('info', data)
    say(status == 0 and out.startswith(INFO.format(path=data)) and
        out.count('\n') == INFO.count('\n') + 1,
        'info has no line about what blktrace does not record', out + err)
    status, out, err = sonde('info', '--json', data)
    info = json.loads(out)
    file = {'kind': 'directory', 'files': 2, 'data_bytes': 1497, 'format': 'blktrace',
            'format_version': 7}
    say(info['file'] == file and {'name': 'block:queue', 'samples': 6} in info['events'] and
        len(info['events']) == 16 and not NO_MEMBERS & set(info),
        'info --json has no member about what blktrace does not record', out + err)
    status, out, err = sonde('info', '--no-events', data)
    say(status == 0 and 'block:' not in out and 'build ids' not in out,
        'info --no-events lists no event types', out + err)
    status, out, err = sonde('info', '--no-events', '--json', data)
    say('events' not in json.loads(out), 'info --no-events --json lists no event types', out + err)
    first = data / 'sda.blktrace.0'
    found = [sonde('info', first)[1], sonde('info', '-', stdin=first.read_bytes())[1]]
    lines = [out.splitlines()[0].partition(', ')[2] for out in found]
    say(lines == ['1497 bytes of records in 2 files', 'a stream'],
        'info describes the kind of input', str(lines))


def check_commands(top):
    data = DATA / 'little'
    status, out, err = sonde('info', '--json', data)
    info = json.loads(out)
    say(status == 0 and info['clock']['wall_ns'] == 1600000000000000005 and
        info['lost'][0]['count'] == 5, 'info', err)
    folder = write(top / 'dumped', made.recording())
    sonde('script', '--per-event-dump', '-i', folder / 'sda.blktrace.0')
    got = sorted(path.name for path in folder.glob('*.dump'))
    say(len(got) == 16 and got[0].endswith('block:backmerge.dump'),
        '--per-event-dump writes no file without an event', str(got))
    if 'sandbox' in sonde('help', 'script')[1] and not UNDER_ASAN:
        want = sonde('script', '-i', data)[1]
        status, out, err = sonde('script', '--sandbox', '-i', data)
        if status == 0:
            say(out == want, 'a folder with --sandbox', err)
            status, out, err = sonde('script', '--sandbox', '-i', data / 'sda.blktrace.0')
            say(out == want or 'name it in place of' in err, 'a file with --sandbox', err)
        else:
            skip('--sandbox', err.strip())
    status, out, err = sonde('check', data)
    say('5 events lost for 26 samples' in out, 'check', out + err)
    say(sonde('script', '--strict', '-i', data)[0] == 3, '--strict fails because of losses')
    out = sonde('script', '-F', 'comm,cpu,event,sym', '-i', data)
    say(out[0] and not out[1] and 'block:queue' in out[2],
        'a column that the events do not have is refused', out[2])
    out = sonde('script', '-F', 'comm,event,trace', '--time', '5.0105,5.0125', '-i', data)[1]
    say([line.split()[1:3] for line in out.splitlines()] ==
        [['block:remap:', '8,1'], ['block:bounce:', '8,1']],
        '--time and -F', out)
    out = sonde('script', '-C', '1', '-F', 'cpu,event', '-i', data)[1]
    say(out.split() == ['[001]', 'block:queue:', '[001]', 'block:issue:', '[001]',
                        'block:complete:'], '-C', out)
    both = sonde('script', '-F', 'event', '-i', data, '-i', DATA / 'big', '--offset', '0')[1]
    one = sonde('script', '-F', 'event', '-i', data)[1].splitlines()
    say(both.splitlines() == [line for line in one for _ in (0, 1)], 'two recordings merged')
    for command in (['cut', '-o', '/dev/null'], ['split', '--every', '1K', '-o', 'x'],
                    ['evlist', '-i'],
                    ['script', '-D', '-i'], ['script', '--header', '-i'],
                    ['script', '--show-task-events', '-i']):
        status, out, err = sonde(*command, data)
        say(status and not out and "perf.data's format" in err and 'blktrace' in err,
            'refused: ' + ' '.join(command), err)


def check_terminal(top):
    """Names and messages of a recording cannot send control characters to a terminal."""
    t = made.Blktrace()
    t.process(7, 'a\x1b[31m\nb').add('Q', 0, 8, 512, 'R', pid=7).message('c\x1b[2J\r\nd\x9b', 5)
    path = top / 'evil'
    path.write_bytes(t.data)
    for form, nr in ('text', 2), ('blkparse', 2):
        words = [SONDE, '--no-pager', 'script', '--format', form, '-i', str(path)]
        shown = on_pty(words, env=ENV)[1].replace(b'\r\n', b'\n')
        plain = shown.replace(b'\x1b[1m', b'').replace(b'\x1b[0m', b'')
        control = re.search(rb'[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]', plain)
        say(plain.count(b'\n') == nr and not control and rb'\x1b[2J' in plain,
            'escaped on a terminal: ' + form, str(shown))
        out = sonde('script', '--format', form, '-i', path)[1]
        say('\x1b[2J' in out, 'not escaped in a pipe: ' + form, out)


PYTHON = '''
def block__issue(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain,
                 dev, sector, nr_sector, bytes, rwbs, error, pid, comm, major, minor, sequence, action, cgroup, pdu):
    print(event_name, common_cpu, common_secs, common_nsecs, common_pid, common_comm, sector, nr_sector, rwbs, comm)
def trace_unhandled(event_name, context, fields):
    print(event_name, sorted(fields.items()))
'''
PERL = '''
sub block::issue {
    my ($name, $context, $cpu, $secs, $nsecs, $pid, $comm, $chain, $dev, $sector, $nr, $bytes, $rwbs, $error, $p, $c) = @_;
    print "block__issue $cpu $secs $nsecs $pid $comm $sector $nr $rwbs $c\\n";
}
'''


def check_scripts(top):
    if UNDER_ASAN:
        return skip('scripts', 'the interpreter is not built with the sanitizer')
    (top / 'x.py').write_text(PYTHON)
    (top / 'x.pl').write_text(PERL)
    want = ['block__issue 1 5 1500000 200 fio 64 128 RA fio',
            'block__issue 0 5 6000000 100 kjournald 1000 8 WS kjournald',
            'block__issue 0 5 15000000 100 kjournald 0 0 R kjournald']
    status, out, err = sonde('script', '-s', top / 'x.py', '-i', DATA / 'big')
    lines = out.splitlines()
    say([line for line in lines if line.startswith('block__issue')] == want and len(lines) == 26,
        'a Python script', out + err)
    eager = sonde('script', '-s', top / 'x.py', '-i', DATA / 'big', SONDE_EAGER='1')[1]
    say(eager == out, 'a Python script with SONDE_EAGER=1')
    status, out, err = sonde('script', '-s', top / 'x.pl', '-i', DATA / 'big')
    say(out.splitlines() == want, 'a Perl script', out + err)


# ---- damage ------------------------------------------------------------------------------------

def defects(path):
    status, out, err = sonde('script', '--format', 'jsonl', '-i', path)
    lines = [json.loads(line) for line in out.splitlines()]
    return (status, [e for e in lines if 'event' in e],
            {d['name']: d['count'] for d in lines[-1]['summary']['defects']})


def check_damage(top):
    t = made.Blktrace()
    for i in range(100):
        t.add('Q', 1000 * i, 8 * i, 512, 'R', pid=7)
    data = bytearray(t.data)
    cases = [
        ('cut in a header', data[:48 * 50 + 20], 50, {'truncated': 1}),
        ('cut in a magic', data[:48 * 50 + 2], 50, {'truncated': 1}),
        ('cut between records', data[:48 * 50], 50, {}),
        ('a payload beyond the end', data[:-2] + struct.pack('<H', 65535), 99, {'truncated': 1}),
        ('a bit of a magic flipped', data[:480] + b'\x06' + data[481:], 10, {'bad-size': 1}),
        ('an unknown version', data[:480] + b'\x09' + data[481:], 10, {'bad-size': 1}),
        ('zeros after the last record', data + bytes(4096), 100, {'bad-size': 1}),
        ('a lower sequence number', data[:484] + struct.pack('<I', 1) + data[488:], 100,
         {'lost-events': 1}),
    ]
    t = made.Blktrace()
    t.add('Q', 0, 8, 512, 'R').add('A', 5, 8, 512, 'R',
                                   pdu=b'short').count('U', 6, 1, rwbs='').add('X', 7, 8, 512, 'R')
    cases.append(('payloads too short', t.data, 2, {'bad-record': 2}))
    t = made.Blktrace()
    t.add('Q', 0, 8, 512, 'R').notify(9, 1).add('Q', 2, 8, 512, 'R', bits=made.CGROUP)
    cases.append(('a note and a payload of unknown kinds', t.data, 1,
                  {'unknown-record': 1, 'bad-record': 1}))
    for name, blob, nr, want in cases:
        path = top / 'damaged'
        path.write_bytes(bytes(blob))
        status, found, got = defects(path)
        say(status == 0 and len(found) == nr and got == want, name,
            '%d, %d events, %s' % (status, len(found), got))
    whole = made.recording()['sda.blktrace.0']
    rng, wrong = random.Random(1), ''
    for nr in range(200):
        blob = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            blob[rng.randrange(len(blob))] ^= 1 << rng.randrange(8)
        path.write_bytes(bytes(blob))
        status, out, err = sonde('script', '-i', path)
        if status not in (0, 1):
            wrong += 'flip %d: status %s, %s' % (nr, status, err)
    say(not wrong, 'random bits flipped', wrong)


def main():
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        check_forms(top)
        check_values()
        check_recorded()
        check_packed(top)
        check_time_zero(top)
        check_info()
        check_commands(top)
        check_terminal(top)
        check_scripts(top)
        check_damage(top)
    return done()


sys.exit(main())
