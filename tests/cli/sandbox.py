#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--sandbox: it denies access, commands print the same inside, some options exclude it.

    tests/cli/sandbox.py SONDE PROBE DATA
"""
import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import ENV, done, say, skip  # noqa: E402

SONDE, PROBE, DATA = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:4])
if os.environ.get('SONDE_ASAN') or 'ASAN_OPTIONS' in ENV:
    ENV['ASAN_OPTIONS'] = 'detect_leaks=0'  # looking for leaks traces the process

# The results of probe.c inside, without and with an output.
READING = {'read the recording': 'done', 'read a file outside': 'Permission denied',
           'write the recording': 'Permission denied', 'write a file outside': 'Permission denied',
           'make a file beside the recording': 'Permission denied',
           'remove the recording': 'Operation not permitted', 'a temporary file': 'done',
           'write it': 'done', 'memory': 'done', 'executable memory': 'Operation not permitted',
           'run a program': 'Operation not permitted', 'a process': 'Operation not permitted',
           'a socket': 'Operation not permitted', 'a local socket': 'Operation not permitted',
           'trace a process': 'Operation not permitted',
           'a signal to the parent': 'Operation not permitted',
           'open a perf event': 'Operation not permitted', 'mount': 'Operation not permitted'}
MAKING = dict(READING, **{'remove the recording': 'Permission denied', 'make the output': 'done',
                          'write the output': 'done', 'rename it': 'done', 'remove it': 'done'})
# Without Landlock files can be read; without seccomp Landlock still protects files.
NO_LANDLOCK = dict(READING, **{'read a file outside': 'done'})
NO_SECCOMP = {'read a file outside': 'Permission denied',
              'write the recording': 'Permission denied',
              'make a file beside the recording': 'Permission denied',
              'remove the recording': 'Permission denied', 'run a program': 'Permission denied'}
COMMANDS = [['script'], ['script', '-D'], ['script', '--format', 'jsonl'], ['script', '--header'],
            ['info'],
            ['info', '--format', 'json'], ['evlist', '-F'], ['evlist', '--trace-fields'],
            ['buildid-list'], ['buildid-list', '-H'], ['check'], ['report', '--header-only']]


def run(words, stdin=subprocess.DEVNULL, cwd=None, **env):
    p = subprocess.run(words, env=dict(ENV, **env), stdin=stdin, capture_output=True, timeout=600,
                       cwd=cwd)
    return p.returncode, p.stdout, p.stderr.decode('latin-1')


def differences(want, text):
    got = dict(line.split(': ', 1) for line in text.splitlines())
    return ''.join('%s: %s, not %s\n' % (what, got.get(what), answer)
                   for what, answer in want.items() if got.get(what) != answer)


def denied(folder):
    """The probe may do what the tables above say."""
    (folder / 'in').mkdir()
    (folder / 'out').mkdir()
    shutil.copy(DATA + '/demo.data', folder / 'in/x.data')
    (folder / 'secret').write_text('secret')
    words = [PROBE, 'try', str(folder / 'in/x.data'), str(folder / 'secret')]
    status, out, err = run(words + [''], TMPDIR=str(folder))
    if status and 'neither' in err:
        return skip('sandbox', 'this kernel has neither Landlock nor seccomp')
    say(status == 0 and not differences(READING, out.decode()), 'inside',
        differences(READING, out.decode()) + err)
    status, out, err = run(words + [str(folder / 'out/y')], TMPDIR=str(folder))
    say(status == 0 and not differences(MAKING, out.decode()), 'inside, with an output',
        differences(MAKING, out.decode()) + err)
    without = [PROBE, 'without']
    status, out, err = run(without + ['landlock'] + words + [''], TMPDIR=str(folder))
    say(status == 0 and not differences(NO_LANDLOCK, out.decode()), 'without Landlock',
        differences(NO_LANDLOCK, out.decode()) + err)
    status, out, err = run(without + ['seccomp'] + words + [''], TMPDIR=str(folder))
    say(status == 0 and not differences(NO_SECCOMP, out.decode()), 'without seccomp',
        differences(NO_SECCOMP, out.decode()) + err)
    info = [SONDE, 'info', '-v', '--sandbox', '-i', DATA + '/demo.data']
    for what, says in (('landlock', 'no Landlock'), ('seccomp', 'no seccomp')):
        status, out, err = run(without + [what] + info)
        say(status == 0 and out and says in err, '-v prints: ' + says, err)
    status, out, err = run(without + ['both'] + info)
    say(status == 1 and not out and 'neither Landlock nor seccomp' in err,
        'with neither nothing is read', err)
    status, out, err = run(info)
    say(status == 0 and 'Landlock, version ' in err and 'system calls' in err,
        '-v prints what is in force', err)
    status, out, err = run(info, TMPDIR='/nope')
    say(status == 1 and 'temporary folder in /nope (set TMPDIR)' in err,
        'a folder for temporary files that does not exist is named', err)
    status, out, err = run(info[:2] + info[3:])
    say(status == 0 and not err, 'without -v nothing is printed', err)
    deadline = time.monotonic() + 60
    while list(folder.glob('sonde-*')) and time.monotonic() < deadline:
        time.sleep(0.05)
    say(not list(folder.glob('sonde-*')), 'the folder of temporary files is removed',
        str(list(folder.iterdir())))
    return True


# Calls that may succeed with the name or the descriptor of a file outside: they give its
# properties, not its contents.
ASKING = {'fstat', 'fstat64', 'statx', 'newfstatat', 'fstatat64', 'stat', 'lstat', 'access',
          'faccessat', 'faccessat2'}


def reaching(folder):
    """Every system call that the filter allows fails with arguments that name a file or a process
    outside.
    """
    (folder / 'in').mkdir()
    (folder / 'out').mkdir()
    outside = folder / 'outside'
    (outside / 'empty').mkdir(parents=True)
    (outside / 'secret').write_text('secret')
    recording = folder / 'in/x.data'
    shutil.copy(DATA + '/demo.data', recording)

    def state():
        return [(str(p), p.lstat().st_mode, p.lstat().st_mtime, p.lstat().st_nlink,
                 p.read_bytes() if p.is_file() else b'')
                for p in sorted(folder.rglob('*')) if not p.name.startswith('sonde-')]

    for name, before, output in (('for reading', [], ''),
                                 ('with an output', [], str(folder / 'out/y')),
                                 ('for reading, without Landlock', ['without', 'landlock'], '')):
        victim = subprocess.Popen(['sleep', '60'], stdin=subprocess.DEVNULL)
        limits, files = pathlib.Path('/proc/%d/limits' % victim.pid).read_text(), state()
        words = ['reach', str(recording), str(outside / 'secret'), output, str(victim.pid)]
        status, out, err = run([PROBE, *before, *([PROBE] if before else []), *words],
                               TMPDIR=str(folder))
        got = [line.split(': ', 1) for line in out.decode().splitlines()
               if not line.startswith('own: ')]
        open_to = {'openat read', 'openat descriptor', 'open read'} if before else set()
        wrong = [': '.join(g) for g in got if g[0] == 'untried' or g[1] == 'done' and
                 g[0] not in ASKING | open_to]
        wrong += [line for line in out.decode().splitlines() if line.startswith('own: ') and
                  not line.endswith('done')]
        say(status == 0 and len(got) > 60 and not wrong,
            'allowed system calls reach nothing outside: ' + name, '\n'.join(wrong) + err)
        changed = (victim.poll() is not None or
                   pathlib.Path('/proc/%d/limits' % victim.pid).read_text() != limits)
        say(not changed and state() == files, 'nothing outside is changed: ' + name)
        victim.kill()
        victim.wait()


def same():
    """Commands print the same inside and outside."""
    files = sorted(pathlib.Path(DATA).rglob('*.data'))
    for words in COMMANDS:
        wrong, printed = '', 0
        for path in files:
            outside = run([SONDE, *words, '-i', str(path)])
            inside = run([SONDE, *words, '--sandbox', '-i', str(path)])
            printed += len(outside[1])
            if inside != outside:
                wrong += '%s: %s %s\n' % (path.name, inside[0], inside[2])
        say(not wrong and printed, '%s: the same inside' % ' '.join(words), wrong)


def copies(folder):
    """Commands write the same files inside and outside."""
    for words in ['cut', '--time', '20%-80%', '-o',
                  'copy'], ['split', '--every', '4K', '-o', 'copy']:
        files = []
        for more in [], ['--sandbox']:
            place = folder / (words[0] + '-'.join(more))
            place.mkdir()
            status, out, err = run([SONDE, *words, *more, '-i', DATA + '/demo.data'],
                                   cwd=str(place))
            files.append((status, err, [(p.name, p.read_bytes()) for p in sorted(place.iterdir())]))
        say(files[0] == files[1] and files[0][0] == 0 and files[0][2],
            words[0] + ': the same inside', '%s %s' % (files[1][0], files[1][1]))


def ways_in(folder):
    """Recordings that are no plain file need temporary files, or are read from descriptors."""
    plain = (pathlib.Path(DATA) / 'demo.data').read_bytes()
    want = run([SONDE, 'script', '-i', DATA + '/demo.data'])[1]
    (folder / 'x.gz').write_bytes(gzip.compress(plain))
    big = plain + os.urandom(20 << 20)  # more than 16 MiB from a pipe are stored in a file
    (folder / 'big').write_bytes(big)
    (folder / 'dir').mkdir()
    shutil.copy(DATA + '/demo.data', folder / 'dir/perf.data')
    script = [SONDE, 'script', '--sandbox']
    say(run(script + ['-i', str(folder / 'x.gz')])[1] == want, 'a packed recording')
    with open(folder / 'x.gz', 'rb') as f:
        say(run(script + ['-i', '-'], f)[1] == want, 'a packed file as standard input')
    with open(DATA + '/demo.data', 'rb') as f:
        say(run(script + ['-i', '-'], f)[1] == want, 'a file as standard input')
    cat = subprocess.Popen(['cat', str(folder / 'big')], stdout=subprocess.PIPE)
    status, out, err = run(script + ['-i', '-'], cat.stdout)
    cat.stdout.close()
    cat.wait()
    say(status == 0 and out == want, 'a file from a pipe, stored in a temporary file',
        '%s %s' % (status, err))
    say(run(script, cwd=str(folder / 'dir'))[1] == want, 'perf.data in the current folder')


def status_of_running():
    """The kernel shows in /proc that a filter is in force."""
    p = subprocess.Popen([SONDE, 'script', '--sandbox', '-i', '-'], env=ENV, stdin=subprocess.PIPE,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline, text = time.monotonic() + 60, ''
    while 'Seccomp:\t2' not in text and time.monotonic() < deadline:
        text = pathlib.Path('/proc/%d/status' % p.pid).read_text()
    p.kill()
    p.communicate()
    say('Seccomp:\t2' in text and 'NoNewPrivs:\t1' in text, '/proc/PID/status')


def refused(folder):
    (folder / 'x.py').write_text('')
    for words, says in ((['-s', 'x.py'], 'script'), (['x.py'], 'script'),
                        (['record', 'x'], 'script'), (['--xed'], 'xed'),
                        (['-g', 'python'], '-g'), (['--per-event-dump'], 'writes files'),
                        (['--dlfilter', 'x.so'], 'dlfilter')):
        status, out, err = run([SONDE, 'script', '--sandbox', '-i', DATA + '/demo.data'] + words,
                               cwd=str(folder))
        say(status == 2 and not out and '--sandbox' in err and says in err, 'not with ' + words[0],
            '%s %s' % (status, err))


def main():
    for part in denied, ways_in, copies, refused:
        with tempfile.TemporaryDirectory() as name:
            if part(pathlib.Path(name)) is None and part is denied:
                break
    else:
        pass
    if run([SONDE, 'info', '--sandbox', '-i', DATA + '/demo.data'])[0] == 0:
        same()
        status_of_running()
        with tempfile.TemporaryDirectory() as name:
            reaching(pathlib.Path(name))
    return done()


if __name__ == '__main__':
    sys.exit(main())
