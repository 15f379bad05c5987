#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile.py SONDE: recordings whose header has wrong sizes, or whose names have control
characters.
"""
import gzip
import os
import resource
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from points import on_pty  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
ENV = {'PATH': os.environ['PATH'], 'HOME': '/nonexistent', 'LC_ALL': 'C', 'TZ': 'UTC',
       'TERM': 'xterm', 'PERF_CONFIG': '/dev/null', 'PERF_PAGER': 'cat'}
ENV.update({k: os.environ[k] for k in ('ASAN_OPTIONS', 'UBSAN_OPTIONS') if k in os.environ})
HOSTNAME, EVENT_DESC, PMU_MAPPINGS, GROUP_DESC = 3, 12, 16, 17
MOST_KB = 600 << 10  # of memory; also with a sanitizer
results = []


def ok(good, name, why=''):
    results.append((name, good, why))


def string(s):
    return struct.pack('<I', len(s)) + s


def attr(type=1, config=0):
    return (struct.pack('<IIQQQQ', type, 112, config, 1000, 7, 0) +
            struct.pack('<Q', 1 << 18)).ljust(112, b'\0')


def file_mode(sections, nr_attrs=1):
    """A recording with one sample, and with these sections: {number: bytes}."""
    data = 104 + 128 * nr_attrs
    table_end = data + 32 + 16 * len(sections)
    table, blobs = b'', b''
    for nr in sorted(sections):
        table += struct.pack('<QQ', table_end + len(blobs), len(sections[nr]))
        blobs += sections[nr]
    head = b'PERFILE2' + struct.pack('<QQQQQQQQ', 104, 128, 104, 128 * nr_attrs, data, 32, 0, 0) + \
        struct.pack('<QQQQ', sum(1 << nr for nr in sections), 0, 0, 0)
    return head + (attr() + struct.pack('<QQ', 0, 0)) * nr_attrs + \
        struct.pack('<IHHQIIQ', 9, 2, 32, 0x400000, 7, 7, 1000) + table + blobs


def pipe_mode(name):
    """A recording of a tracepoint with this name and without its format, which a defect names."""
    def record(kind, misc, body):
        return struct.pack('<IHH', kind, misc, 8 + len(body)) + body
    tracepoint = bytearray(attr(2, 5))
    struct.pack_into('<Q', tracepoint, 24, 7 | 64)
    return (b'PERFILE2' + struct.pack('<Q', 16) +
            record(64, 0, bytes(tracepoint) + struct.pack('<Q', 1)) +
            record(78, 0, struct.pack('<QQ', 2, 1) + name.ljust(16, b'\0')) +
            record(9, 2, struct.pack('<QIIQI', 1, 7, 7, 1000, 0) + bytes(4)))


def measured(data, *words):
    """(output of sonde script, its largest memory in KiB)"""
    with open('x.data', 'wb') as f:
        f.write(data)
    p = subprocess.Popen([SONDE, 'script', '-i', 'x.data', *words], env=ENV, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    out = p.stdout.read()
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = status
    return out, usage.ru_maxrss


def events(nr, attr_bytes, type):
    one = attr(type)[:attr_bytes] + struct.pack('<I', 0) + string(b'e')
    return struct.pack('<II', nr, attr_bytes) + one * nr


def sizes():
    long_name = {PMU_MAPPINGS: struct.pack('<II', 1, 8) + string(b'x' * 1000000)}
    out, kb = measured(file_mode({EVENT_DESC: events(2000, 112, 9), **long_name}), '--header-only')
    ok(out.count(b'# event :') == 2000, 'events of a pmu that is not known are listed', out[:300])
    ok(kb < MOST_KB, 'a section is read once for all events', kb)
    out, kb = measured(file_mode({EVENT_DESC: events(5000, 0, 0), **long_name}), '--header-only')
    ok(out and b'# event :' not in out, 'events without an attr are not listed', out[:300])
    ok(kb < MOST_KB, 'nor do they use memory', kb)
    groups = struct.pack('<I', 200) + (string(b'') + struct.pack('<II', 0, 1000)) * 200
    out, kb = measured(file_mode({GROUP_DESC: groups}, 1000), '--header-only')
    ok(out.count(b'# group:') == 1, 'an event is in one group only', out.count(b'# group:'))
    groups = (struct.pack('<I', 2) + (string(b'a') + struct.pack('<II', 0, 2)) +
              (string(b'b') + struct.pack('<II', 2, 2)))
    out, kb = measured(file_mode({GROUP_DESC: groups}, 4), '--header-only')
    ok(b'# group: a{' in out and b'# group: b{' in out, 'groups without a common event are listed',
       out[-300:])
    with open('y.data', 'wb') as f:
        f.write(file_mode({GROUP_DESC: struct.pack('<I', 0xffffffff)}, 2))
    ended = subprocess.run([SONDE, 'evlist', '-i', 'y.data'], env=ENV, capture_output=True,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU,
                                                                 (10, 10))).returncode == 0
    ok(ended, 'the time does not grow with a wrong number of groups')


def directories():
    os.mkdir('x.dir')
    unknown = struct.pack('<IHH', 60, 0, 8)
    sample = struct.pack('<IHHQIIQ', 9, 2, 32, 0x400000, 7, 7, 1000)
    for name, data in (('data', file_mode({})), ('data.0', sample), ('data.1', unknown * 3)):
        with open('x.dir/' + name, 'wb') as f:
            f.write(data)
    err = subprocess.run([SONDE, 'script', '-i', 'x.dir'], env=ENV, capture_output=True).stderr
    ok(b'unknown-record: 3 (first type 60 at 0x0 of x.dir/data.1)' in err,
       'a defect names its file', err)
    with open('x.dir/data.1', 'wb') as f:
        f.write(unknown + bytes(8))
    err = subprocess.run([SONDE, 'script', '-i', 'x.dir'], env=ENV, capture_output=True).stderr
    ok(b'bad-size: 1 (first at 0x8 of x.dir/data.1: a record of 0 bytes)' in err,
       'damage names its file', err)
    os.rename('x.dir/data.1', 'x.dir/data.00')
    shown = subprocess.run([SONDE, 'script', '-i', 'x.dir'], env=ENV, capture_output=True)
    ok(shown.stdout.count(b'\n') == 2 and not shown.stderr, 'data.00 is another file than data.0',
       shown.stdout + shown.stderr)
    os.unlink('x.dir/data.00')
    for spoil, word in ((lambda: os.symlink('/etc/passwd', 'x.dir/data.1'),
                         b'x.dir/data.1 is a symbolic link'),
                        (lambda: os.mkfifo('x.dir/data.1'), b'x.dir/data.1 is not a regular file'),
                        (lambda: open('x.dir/data', 'wb').write(gzip.compress(file_mode({}))),
                         b'x.dir/data is packed with gzip'),
                        (lambda: (os.unlink('x.dir/data'), os.mkfifo('x.dir/data')),
                         b'x.dir/data is not a regular file')):
        spoil()
        p = subprocess.run([SONDE, 'script', '-i', 'x.dir'], env=ENV, capture_output=True,
                           timeout=600)
        ok(p.returncode == 1 and word in p.stderr, 'a directory, where ' + word.decode(),
           (p.returncode, p.stderr))
        if os.path.lexists('x.dir/data.1'):
            os.unlink('x.dir/data.1')


def on_terminal(*words):
    return on_pty([SONDE, *words], env=ENV)[1]


def terminals():
    host = file_mode({HOSTNAME: string(b'\x1b]0;spoken\x07\x1b[31m'.ljust(24, b'\0'))})
    with open('host.data', 'wb') as f:
        f.write(host)
    for pager in ('--no-pager', '--pager'):
        words = ['--no-pager'] if pager == '--no-pager' else []
        shown = on_terminal(*words, 'script', '-i', 'host.data', '--header-only', '--no-color')
        ok(b'\x1b' not in shown and b'\\x1b]0;spoken' in shown,
           'the header on a terminal: no control characters (%s)' % pager, shown[:400])
    ok(b'\x1b]0;spoken' in measured(host, '--header-only')[0],
       'the header in a pipe: the bytes of the recording')
    with open('name.data', 'wb') as f:
        f.write(pipe_mode('\x1b[31m\u20ac:y'.encode()))
    shown = subprocess.run([SONDE, 'script', '-i', 'name.data'], env=ENV,
                           capture_output=True).stderr
    ok(b'\x1b' not in shown and '\\x1b[31m\u20ac:y'.encode() in shown, 'the line of defects: none',
       shown)
    shown = on_terminal('--no-pager', 'script', '-i', 'name.data', '--per-event-dump', '--no-color')
    ok(b'\x1b' not in shown and '\\x1b[31m\u20ac:y.dump'.encode() in shown,
       'names of files made for events: none', shown)
    shown = subprocess.run([SONDE, 'script', '-i', 'no\x1b[31m\x7fsuch'], env=ENV,
                           capture_output=True).stderr
    ok(b'\x1b' not in shown and b'no\\x1b[31m\\x7fsuch' in shown, 'errors: none', shown)


with tempfile.TemporaryDirectory(prefix='sonde-hostile-') as folder:
    os.chdir(folder)
    sizes()
    directories()
    terminals()
    os.chdir('/')
print('1..%d' % len(results))
for nr, (name, good, why) in enumerate(results, 1):
    print('%sok %d - %s' % ('' if good else 'not ', nr, name))
    if not good:
        print('# %r' % (why,))
sys.exit(not all(good for _, good, _ in results))
