#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
progress.py SONDE DATA CLOCK LANGUAGES: the line that shows the progress of a long reading.

CLOCK is preloaded: each call for the time returns one 100 ms later. So every reading takes long,
and the drawn lines depend only on the bytes that were read.
"""
import gzip
import os
import pathlib
import random
import re
import signal
import struct
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import ENV, done, end_pty, open_on_pty, read_pty, run, say  # noqa: E402

SONDE, DATA, CLOCK = (os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(),
                      os.path.abspath(sys.argv[3]))
LANGUAGES = sys.argv[4].split(',')
WIPE = b'\r\x1b[K'
EVENTS = 60000
# Does not get smaller when packed, so that unpacking asks the clock often.
NOISE = random.Random(1).randbytes(4 << 20)
LINE = re.compile(rb'(\d+) %, (\d+) events, (\d+) s left')


def records(n, rounds):
    for i in range(n):
        yield struct.pack('<IHHIIQ', 9, 2, 24, 12, 12, 1000 + i)
        if rounds and i % 1000 == 999:
            yield struct.pack('<IHH', 68, 0, 8)


ATTR = struct.pack('<IIQQQQQQQ', 1, 64, 0, 1, 6, 0, 0x40000, 0, 0)


def piped(n=EVENTS):
    """A recording in pipe mode, with a round after each thousand events."""
    attr = ATTR + struct.pack('<Q', 7)
    return b''.join([b'PERFILE2', struct.pack('<Q', 16), struct.pack('<IHH', 64, 0, 8 + len(attr)),
                     attr] + list(records(n, True)))


def filed(gap=b''):
    """A recording in file mode; gap: bytes between header and events."""
    data = b''.join(records(EVENTS, False))
    head = struct.pack('<QQQQQQQQ', 104, 80, 104, 80, 184 + len(gap), len(data), 0, 0)
    return b'PERFILE2' + head + bytes(32) + ATTR.ljust(64, b'\0') + bytes(16) + gap + data


def on_terminal(words, blob=b'', out=None, more=None, clock=True, width=80, stalls=False):
    """
    (the text that the terminal shows, the exit status) of sonde, which reads blob from a pipe.
    stalls: only half of it is written, and Ctrl-C is typed when the line is drawn.
    """
    end_out, end_in = os.pipe()
    how = {'stdout': os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)} if out else {}
    env = dict(ENV, TERM='xterm') | ({'LD_PRELOAD': CLOCK} if clock else {}) | (more or {})
    p, fd = open_on_pty([SONDE] + words, size=(24, width), stdin=end_out, env=env, **how)
    for end in [end_out, *how.values()]:
        os.close(end)
    over = threading.Event()

    def feed():
        try:
            with open(end_in, 'wb', buffering=0) as f:
                f.write(blob[:len(blob) // 2 if stalls else None])
                if stalls:
                    over.wait(60)
        except BrokenPipeError:
            pass

    feeder = threading.Thread(target=feed)
    feeder.start()
    shown = b''
    if stalls:
        shown = read_pty(fd, until=lambda seen: WIPE in seen)
        os.write(fd, b'\x03')
    status, rest = end_pty(p, fd)
    over.set()
    feeder.join()
    return (shown + rest).replace(b'\r\n', b'\n'), status


def plain(shown):
    """The text that stays visible."""
    return b'\n'.join(line.rsplit(WIPE, 1)[-1] for line in shown.split(b'\n'))


def lines(shown):
    return [tuple(int(x) for x in m.groups()) for m in LINE.finditer(shown)]


def pipes(folder):
    blob = piped()
    info = ['info', '-i', '-']
    shown, _ = on_terminal(info, blob)
    say(b' MiB, ' in shown.split(WIPE)[1] if WIPE in shown else False,
        'of a pipe: bytes, since the share is unknown', repr(shown[:300]))
    say(shown.rsplit(WIPE, 1)[-1].startswith(b'recording '),
        'wiped before anything else is written', repr(shown[-300:]))
    say(b'\x1b' not in on_terminal(info + ['--no-progress'], blob)[0], '--no-progress')
    say(b'\x1b' not in on_terminal(info, blob, more={'TERM': 'dumb'})[0], 'not on a dumb terminal')
    script = ['script', '-i', '-', '--no-pager']
    say(WIPE not in on_terminal(script, blob)[0], 'not if the text is written to the terminal')
    shown, _ = on_terminal(script, blob, folder + '/out')
    say(WIPE in shown and plain(shown) == b'' and os.path.getsize(folder + '/out') > 0,
        'of text into a file', repr(shown[:300]))
    say(WIPE not in on_terminal(['script', '-i', '-'], blob, more={'PAGER': 'sed s/^/P:/'})[0],
        'not with a pager')
    shown, status = on_terminal(info, blob, stalls=True)
    say(shown.endswith(WIPE) and status == -signal.SIGINT, 'Ctrl-C wipes the line',
        '%r, status %d' % (shown[-300:], status))


def files(folder):
    data, cut = folder + '/a.data', folder + '/cut.data'
    pathlib.Path(data).write_bytes(filed())
    for words in (['info', '-i', data], ['check', '-i', data], ['cut', '-i', data, '-o', cut],
                  ['buildid-list', '--with-hits', '-i', data], ['script', '-i', data],
                  ['script', '--sandbox', '-i', data]):
        shown, status = on_terminal(words, out='/dev/null')
        drawn = lines(shown)
        say(status == 0 and drawn and drawn == sorted(drawn, key=lambda d: d[:2]) and
            drawn[-1][0] >= 95 and
            EVENTS - 1000 < drawn[-1][1] <= EVENTS and drawn[-1][2] == 0 and
            LINE.search(plain(shown)) is None,
            'of a file, %s: share, events, time left' % ' '.join(w for w in words if '/' not in w),
            repr((drawn, shown[-200:])))
    # The clock is asked after each batch of events, and each time it is 100 ms later. Every second
    # time a line is drawn.
    shares = [d for d in drawn if 0 < d[0] < 100]
    batch = drawn[1][1] - drawn[0][1]
    say(all(b[1] - a[1] == batch for a, b in zip(drawn, drawn[1:-1])), 'five times a second',
        repr(drawn))
    elapsed = [0.9 + 0.2 * i for i in range(len(shares))]  # since the recording was opened
    say(all(e * (99 - d[0]) / (d[0] + 1) - 0.6 < d[2] < e * (100 - d[0]) / d[0] + 0.6
            for e, d in zip(elapsed, shares)),
        'the time left is in proportion to the share that is left', repr(shares))
    say(WIPE not in on_terminal(['info', '-i', data], clock=False)[0],
        'not within the first second')
    shown, _ = on_terminal(['info', '-i', data], width=20)
    say(WIPE in shown and max(len(line) for line in shown.split(WIPE)[1:-1]) == 19,
        'no wider than the terminal', repr(shown[:300]))
    status, out, err = run([SONDE, 'info', data])
    say(status == 0 and b'\x1b' not in out + err, 'not if stderr is no terminal')


def packed(folder):
    for mode, blob in (('file', filed(NOISE)), ('pipe', piped(4 * EVENTS))):
        path = '%s/%s.data.gz' % (folder, mode)
        pathlib.Path(path).write_bytes(gzip.compress(blob, 1))
        shown, status = on_terminal(['info', '-i', path])
        unpacking = [int(n) for n in re.findall(rb'unpacking: (\d+) %, \d+ s left', shown)]
        if mode == 'file':
            say(status == 0 and len(unpacking) > 2 and unpacking == sorted(unpacking) and
                0 < unpacking[0] and unpacking[-1] <= 100,
                'while a recording is unpacked: the share of its packed bytes',
                repr((unpacking, shown[:300])))
            say(len(lines(shown)) > 2 and lines(shown)[0][2] < 5 and
                shown.index(b'unpacking') < LINE.search(shown).start() and
                shown.rindex(b'unpacking') < LINE.search(shown).start(),
                'then the progress of the reading', repr(shown[:600]))
        else:
            say(status == 0 and not unpacking and len(lines(shown)) > 2 and
                lines(shown)[-1][0] <= 100,
                'of a recording that is unpacked while it is read: the share of its packed bytes',
                repr(shown[:300]))
        say(shown.rsplit(WIPE, 1)[-1].startswith(b'recording '), 'wiped after it, %s mode' % mode,
            repr(shown[-300:]))
    shown, status = on_terminal(['info', '-i', '-'], gzip.compress(filed(NOISE), 1), stalls=True)
    say(b'unpacking: ' in shown and shown.endswith(WIPE) and status == -signal.SIGINT,
        'Ctrl-C while it is unpacked, from a pipe', '%r, status %d' % (shown[-300:], status))


MIDDLE = EVENTS // 2
# By language: the suffix, the script, and (name of the case, statement in the middle of the events,
# text that the terminal shows at the end, status).
SCRIPTS = {
    'python': ('py', '''
import os, signal, sys
n = 0
def process_event(d):
    global n
    n += 1
    if n == %(middle)d:
        %(does)s
def trace_end():
    os.write(2, b'end\\n')  # past sys.stderr
''', (
        ('nothing', 'pass', b'end\n', 0),
        ('sys.stderr', 'sys.stderr.write("word\\n")', b'word\nend\n', 0),
        ('print()', 'print("word", file=sys.stderr)', b'word\nend\n', 0),
        ('the bytes below', 'sys.stderr.buffer.write(b"word\\n"); sys.stderr.flush()',
         b'word\nend\n', 0),
        ('without a line end', 'sys.stderr.write("word"); sys.stderr.flush()', b'wordend\n', 0),
        ('an exception', '1 / 0', b'Traceback (most recent call last):\n', 1),
        ('a hook of the script', 'sys.excepthook = lambda *error: os.write(2, b"word\\n"); 1 / 0',
         b'word\n', 1),
        ('an exit', 'sys.exit(7)', b'', 7),
        ('Ctrl-C', 'os.kill(os.getpid(), signal.SIGINT)', b'end\n', 0),
    )),
    'perl': ('pl', '''
my $n = 0;
sub process_event {
    $n++;
    if ($n == %(middle)d) {
        %(does)s;
    }
}
sub trace_end { syswrite STDERR, "end\\n" } # past perl's layers
''', (
        ('nothing', '1', b'end\n', 0),
        ('STDERR', 'print STDERR "word\\n"', b'word\nend\n', 0),
        ('warn', 'warn "word\\n"', b'word\nend\n', 0),
        ('without a line end', 'printf STDERR "word"', b'wordend\n', 0),
        ('die', 'die "word\\n"', b'word\n', 1),
        ('an exit', 'exit 7', b'', 7),
        ('Ctrl-C', 'kill INT => $$', b'end\n', 0),
    )),
}


def scripts(folder):
    data = folder + '/a.data'
    for language in LANGUAGES:
        suffix, text, cases = SCRIPTS[language]
        path = '%s/s.%s' % (folder, suffix)
        for name, does, expected, code in cases:
            pathlib.Path(path).write_text(text % {'middle': MIDDLE, 'does': does})
            shown, status = on_terminal(['script', '-i', data, path], out='/dev/null')
            drawn, seen = lines(shown), plain(shown)
            say(status == code and len(drawn) > 2 and seen.startswith(expected) and
                (expected or not seen) and not LINE.search(seen),
                '%s, %s: wiped before it' % (language, name),
                'status %d, %r, %r' % (status, drawn[-3:], shown[-300:]))
            continues = name == 'nothing'
            say((drawn[-1][1] > MIDDLE + 1000) == continues if drawn else False,
                '%s, %s: %s' % (language, name, 'drawn to the end' if continues
                                else 'not drawn any more'),
                repr(drawn[-3:]))
        pathlib.Path(path).write_text(text % {'middle': MIDDLE, 'does': '1'})
        for name, words, more in (('stdout is the terminal, too', ['-i', data], {}),
                                  ('--no-progress', ['--no-progress', '-i', data],
                                   {'out': '/dev/null'}),
                                  ('a recording from a pipe', ['-i', '-'],
                                   {'out': '/dev/null', 'blob': piped()})):
            shown, status = on_terminal(['script'] + words + [path], **more)
            say(status == 0 and shown == b'end\n', '%s: not drawn: %s' % (language, name),
                repr(shown[:300]))


def packed_script(folder):
    script = folder + '/top.py'
    pathlib.Path(script).write_text('import os\nos.write(2, b"top\\n")  # past sys.stderr\n')
    shown, status = on_terminal(['script', '-i', folder + '/file.data.gz', script], out='/dev/null')
    say(b'unpacking: ' in shown and plain(shown).startswith(b'top\n'),
        'wiped before the statements of a script run',
        repr(shown[:300]))


def main():
    with tempfile.TemporaryDirectory() as folder:
        pipes(folder)
        files(folder)
        packed(folder)
        if 'python' in LANGUAGES:
            packed_script(folder)
        scripts(folder)
    return done()


sys.exit(main())
