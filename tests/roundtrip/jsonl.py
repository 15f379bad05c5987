#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`sonde script --format jsonl` writes what docs/formats/jsonl.md says.

    tests/roundtrip/jsonl.py SONDE

The recordings: built ones with known values, those of tests/data, whose text is compared, and a
live one of a task with an odd name. The decoder is the one on that page.
"""
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / 'data'
PAGE = HERE.parent.parent / 'docs' / 'formats' / 'jsonl.md'
sys.path[:0] = [str(HERE.parent), str(HERE.parent / 'gen')]
from points import ENV, done, say, skip  # noqa: E402
from recording import Format, recording  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
ODD = b'"a]\n\\ {\xff\xc3(\x1b\xed'  # 15 bytes at most

page = {}
exec(re.search(r'```python\n(.*?)```', PAGE.read_text(), re.S)[1], page)
name_bytes = page['name_bytes']


def ok(good, what, detail=''):
    say(good, what, '' if good else '\n'.join(line[:500] for line in str(detail).splitlines()))


def is_(got, want, what):
    ok(got == want, what, 'got:  %r\nwant: %r' % (got, want))


def run(*argv):
    p = subprocess.run([SONDE] + [str(a) for a in argv], env=ENV, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    return p.returncode, p.stdout, p.stderr.decode('utf-8', 'replace')


def lines_of(folder, data, *options):
    status, out, err = run('script', '-i', data, '--format', 'jsonl', *options)
    if status:
        ok(False, 'lines of %s' % data, err)
    path = folder / 'out.jsonl'
    path.write_bytes(out)
    return list(page['lines'](path))


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


def comm_record(name, tid=101, pid=100):
    """COMM with the sample id that tests/gen/recording.py sets: pid, tid, time, cpu, identifier."""
    text = name + b'\0'
    text = text.ljust(len(text) + -len(text) % 8, b'\0')
    body = struct.pack('<II', pid, tid) + text + struct.pack('<IIQIIQ', pid, tid, 10, 0, 0, 1)
    return struct.pack('<IHH', 3, 0, 8 + len(body)) + body


def lost_record(count):
    body = struct.pack('<QQ', 1, count) + struct.pack('<IIQIIQ', 100, 101, 20, 0, 0, 1)
    return struct.pack('<IHH', 2, 0, 8 + len(body)) + body


COMMON = ('\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n'
          '\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n'
          '\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n'
          '\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n')


def made(*fields, big=False):
    """fields: (declaration, size, signed)"""
    text, at = 'name: event\nID: 1\nformat:\n' + COMMON, 8
    for declaration, size, signed in fields:
        text += '\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n' % (declaration, at, size, signed)
        at += size
    return Format('made:event', text + '\nprint fmt: "x"\n', big)


def values(folder):
    for big in (False, True):
        e = '>' if big else '<'
        f = made(('s8 a', 1, 1), ('u8 b', 1, 0), ('short c', 2, 1), ('int d', 4, 1),
                 ('s64 e', 8, 1), ('u64 f', 8, 0),
                 ('void * p', 8, 0), ('unsigned long words[2]', 16, 0), ('s16 halves[2]', 4, 1),
                 ('char text[8]', 8, 0),
                 ('struct pair s', 12, 0), ('__data_loc char[] d1', 4, 0),
                 ('__data_loc u32[] d2', 4, 0), ('__data_loc char[] out', 4, 0), big=big)
        head = struct.pack(e + 'HBBi', 0, 3, 7, 101)
        fixed = 8 + 1 + 1 + 2 + 4 + 8 + 8 + 8 + 16 + 4 + 8 + 12 + 12
        body = struct.pack(e + 'bBhiqQQQQhh8s12s', -1, 200, -5, -3, -2**63, 2**64 - 1,
                           0xffff888012345678, 1, 2**63, -1, 5, b'ab\0cdefg', bytes(range(12)))
        body += struct.pack(e + 'III', 6 << 16 | fixed, 8 << 16 | fixed + 8, 4 << 16 | 60000)
        payload = head + body + b'h\xc3\xa9"\n\0\0\0' + struct.pack(e + 'II', 1, 2**32 - 1)
        payload += bytes(-(len(payload) + 4) % 8)
        name = 'big endian' if big else 'little endian'
        got = lines_of(folder, write(folder, 'values.data', recording([f], [[payload]])))
        event = [x for x in got if 'event' in x][0]
        is_(event['fields'], {
            'common_flags': 3, 'common_preempt_count': 7, 'a': -1, 'b': 200, 'c': -5, 'd': -3,
            'e': -2**63, 'f': 2**64 - 1, 'p': 0xffff888012345678, 'words': [1, 2**63],
            'halves': [-1, 5], 'text': 'ab', 's': '000102030405060708090a0b', 'd1': 'h\u00e9"\n',
            'd2': [1, 2**32 - 1], 'out': None}, 'values of fields, ' + name)
        is_({k: event[k] for k in ('time', 'cpu', 'pid', 'tid', 'comm')},
            {'time': 1000, 'cpu': 0, 'pid': 100, 'tid': 101, 'comm': ':101'},
            'common members, ' + name)
        is_(event['sample'], {'period': 1, 'ip': 0x401000}, 'sample values, ' + name)
        is_(list(event)[0], 'event', 'the first member gives the kind of line')


def texts(folder):
    """The decoder returns the original bytes; the output is UTF-8 without control characters but
    line feeds."""
    rng = random.Random('jsonl')
    wanted = [bytes(range(1, 128)), bytes(range(128, 256)), 'é€😀\u2028'.encode(),
              b'\xed\xa0\x80\xed\xb0\x80', b'\xc0\x80', b'\xf4\x90\x80\x80', b'\xf0\x80\x80\x80',
              b'\xe2\x82', b'\xc2\x80\xc2\x9f\xc2\xa0', b'\xf8\x88\x80\x80\x80']
    wanted += [bytes(rng.choice((0x80, 0xbf, 0xc2, 0xe0, 0xed, 0xa0, 0xf0, 0x90, 0xf4, 0x41, 0x22,
                                 0xff))
                     for _ in range(rng.randrange(1, 120))) for _ in range(300)]
    f = made(('char text[128]', 128, 0))
    data = write(folder, 'texts.data',
                 recording([f], [[bytes(8) + w.ljust(128, b'\0') + bytes(4) for w in wanted]]))
    got = [name_bytes(x['fields']['text']) for x in lines_of(folder, data) if 'event' in x]
    is_([(g, w) for g, w in zip(got, wanted) if g != w][:3], [],
        'bytes that are not UTF-8 are kept')
    is_(len(got), len(wanted), 'one line per event')
    out = (folder / 'out.jsonl').read_text('utf-8')
    ok(not re.search('[\x00-\x09\x0b-\x1f\x7f-\x9f]', out), 'no control characters but line feeds')


def odd_comm(folder):
    f = made(('int x', 4, 1))
    data = write(folder, 'odd.data',
                 recording([f], [[bytes(16)]], comm_record(ODD) + lost_record(9)))
    got = lines_of(folder, data)
    is_([list(x)[0] for x in got], ['header', 'record', 'defect', 'event', 'summary'],
        'lines in order')
    is_(name_bytes(got[3]['comm']), ODD,
        'a comm with quotes, newlines, brackets and \\xff is kept')
    is_((got[1]['record'], got[1]['fields']['lost'], got[1]['time']), ('lost', 9, 20),
        'losses are lines')
    is_((got[2]['defect'], got[2]['severity'], got[2]['count']), ('lost-events', 'data-loss', 9),
        'defects are lines')
    is_(got[-1]['summary'], {'complete': True, 'events': 1, 'lost': 9, 'defects': [
        {'name': 'lost-events', 'severity': 'data-loss', 'count': 9}]}, 'the summary')
    got = lines_of(folder, data, '--show-task-events')
    comms = [x for x in got if x.get('record') == 'comm']
    is_([name_bytes(x['fields']['comm']) for x in comms], [ODD],
        '--show-task-events adds records of state')
    is_([list(x)[0] for x in lines_of(folder, data, '--header-only')], ['header'], '--header-only')


def live(folder):
    program = ('import ctypes, time\nctypes.CDLL(None).prctl(15, %r, 0, 0, 0)\nend = '
               'time.process_time() + 0.2\n'
               'while time.process_time() < end: pass\n' % ODD)
    data = folder / 'live.data'
    status, _, err = run('record', '-o', data, '-e', 'cpu-clock:u', '-c', '1000000', '--',
                         sys.executable, '-c', program)
    if status or not data.exists():
        return skip('a live recording of an odd comm',
                    'cannot record: ' + err.strip().splitlines()[0] if err else 'no file')
    comms = {name_bytes(x['comm']) for x in lines_of(folder, data) if 'event' in x}
    ok(ODD in comms, 'the odd comm of a live recording is kept', comms)
    return None


def compare_with_text(folder):
    """Counts, times, threads and frames equal those of the text."""
    line = re.compile(r'^ *(.*?) +(\d+)/(\d+) +(?:\[(\d+)\] +)?(\d+)\.(\d{9}): +([^ ]+): *$')
    for name in ('demo.data', 'text/chains.data', 'text/clock.data', 'text/mixed.data',
                 'text/faults.data', 'scripts/frames.data'):
        data = DATA / name
        text = run('script', '-i', data, '--ns', '-G', '-F', 'comm,pid,tid,cpu,time,event')
        if text[0]:  # no cpu recorded
            text = run('script', '-i', data, '--ns', '-G', '-F', 'comm,pid,tid,time,event')
        want = []
        for x in text[1].decode('utf-8', 'surrogateescape').splitlines():
            comm, pid, tid, cpu, secs, ns, event = line.match(x).groups()
            want.append((comm, int(pid), int(tid), None if cpu is None else int(cpu),
                         int(secs + ns), event))
        got = lines_of(folder, data)
        events = [x for x in got if 'event' in x]
        is_([(x['comm'], x['pid'], x['tid'], x.get('cpu') if want[0][3] is not None else None,
              x['time'], x['event'])
             for x in events], want, '%s: events of the text' % name)
        is_((got[-1]['summary']['events'], got[-1]['summary']['complete']), (len(want), True),
            '%s: the number of events in the summary' % name)
        text = run('script', '-i', data, '-F', 'ip,sym,symoff,dso', '--no-inline')[1].decode()
        frames = re.findall(r'^\s*([0-9a-f]+) (?:(\[unknown\])|(.*)\+0x([0-9a-f]+)) \((.*)\)$',
                            text, re.M)
        ours = [f for x in lines_of(folder, data, '--no-inline') if 'event' in x
                for f in x.get('chain', [x['at']] if 'at' in x else [])]
        if 'chain' in events[0] or 'at' in events[0]:
            is_([(f['ip'], f.get('sym'), f.get('off'), f.get('dso', '[unknown]')) for f in ours],
                [(int(ip, 16), sym or None, int(off, 16) if off else None, dso)
                 for ip, _, sym, off, dso in frames],
                '%s: frames of the text' % name)


def damaged(folder):
    whole = (DATA / 'demo.data').read_bytes()
    offset, size = struct.unpack_from('<QQ', whole, 40)
    got = lines_of(folder, write(folder, 'cut.data', whole[:offset + size * 2 // 3]))
    kinds = [list(x)[0] for x in got]
    ok(kinds[0] == 'header' and kinds[-1] == 'summary' and kinds.count('summary') == 1,
       'a cut recording has a header and one summary')
    lines = {x['defect'] for x in got if 'defect' in x}
    is_(lines, {d['name'] for d in got[-1]['summary']['defects']},
        'each defect of the summary has a line')
    ok('truncated' in lines, 'truncated has a line', lines)


def options(folder):
    data = DATA / 'text' / 'chains.data'
    for wrong in (['-F', 'comm'], ['-D'], ['--deltatime'], ['--per-event-dump'], ['-L'],
                  ['--max-blocks', '3'], ['--show-round-events'], ['-I']):
        status, out, err = run('script', '-i', data, '--format', 'jsonl', *wrong)
        ok(status == 2 and not out and 'works with text only' in err, '%s is refused' % wrong[0],
           (status, out[:200], err))
    status, out, err = run('script', '-i', data, '--format', 'xml')
    ok(status == 2 and 'text, jsonl, blkparse, trace-cmd and babeltrace' in err,
       'unknown formats are refused',
       (status, err))
    got = [x for x in lines_of(folder, data, '-G') if 'event' in x]
    ok(got and not any('chain' in x for x in got), '-G leaves chains out')
    got = [x for x in lines_of(folder, data, '--max-stack', '2') if 'event' in x]
    is_({len(x['chain']) for x in got}, {2}, '--max-stack')
    is_(run('script', '-i', data, '--format', 'text')[1], run('script', '-i', data)[1],
        '--format text is the default')
    tid = got[0]['tid']
    some = [x for x in lines_of(folder, data, '--tid', tid) if 'event' in x]
    is_({x['tid'] for x in some}, {tid}, '--tid')
    full = subprocess.run([SONDE, 'script', '-i', str(data), '--format', 'jsonl'], env=ENV,
                          stdout=open('/dev/full', 'w'), stderr=subprocess.PIPE)
    ok(full.returncode == 1, 'a full disk fails', full)


with tempfile.TemporaryDirectory() as work:
    for part in (values, texts, odd_comm, live, compare_with_text, damaged, options):
        part(pathlib.Path(work))
sys.exit(done())
