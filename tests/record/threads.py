# SPDX-License-Identifier: MIT
"""--threads: a directory with a file for each buffer, which both tools read; no event is missing,
threads run as requested.
"""
import os
import re
import shutil
import signal
import struct
import subprocess
import sys

import perfdata
from tap import (PERF_ENV, SONDE, Skip, case, few_symbols, is_recording, need, perf, run, same,
                 says_full, sh, small_disk, sonde, wait_until)

CALLS = os.path.abspath(sys.argv[2])
CALL = 'syscalls:sys_enter_getppid'
CPUS = sorted(os.sched_getaffinity(0))
# A command is recorded on every cpu, also on those that CPUS does not have.
FILES = os.sysconf('SC_NPROCESSORS_ONLN')


def lines(tool, path):
    """The text, with events of the same nanosecond sorted: their order in perf is accidental."""
    r = sh(tool, 'script', '--ns', '-i', path)
    same(r.returncode, 0, '%s: %s' % (tool, r.stderr))
    return sorted(r.stdout.splitlines(),
                  key=lambda line: (re.search(r'\d+\.\d{9}', line).group(), line))


def places(tool, path):
    """The lines of a dump that give files and offsets of records."""
    r = sh(*tool, 'script', '-D', '-i', path)
    return sorted(re.findall(r'^(?:0x)?[0-9a-f]+@.*', r.stdout, re.M))


def threads_of(pid):
    """The allowed cpus of each thread of a process but its first."""
    found = []
    for tid in os.listdir('/proc/%d/task' % pid):
        if int(tid) != pid:
            with open('/proc/%d/task/%s/status' % (pid, tid)) as f:
                found.append(re.search(r'Cpus_allowed_list:\s*(\S+)', f.read()).group(1))
    return sorted(found)


def ends_checked(path):
    """Whether the last zstd frame in a file of events is complete."""
    with open(path, 'rb') as f:
        data = f.read()
    unzip, p = perfdata.Unzip(), 0
    while p < len(data):
        kind, misc, size = perfdata.RECORD_HEAD(data, p)
        if kind == perfdata.COMPRESSED:
            unzip(data[p + 8:p + size], 1 << 20)
        elif kind == perfdata.COMPRESSED2:
            unzip(data[p + 16:p + 16 + struct.unpack_from('<Q', data, p + 8)[0]], 1 << 20)
        p += size
    return unzip.ended


@case('no event is missing, plain and compressed; both tools print the same')
def _():
    for options in ([], ['-z'], ['-z', '--compressed-records', 'new'], ['--mmap-flush', '4K'],
                    ['--threads=numa']):
        shutil.rmtree('x.dir', ignore_errors=True)
        r = sonde('record', '--threads', '-m', '8M', *options, '-e', CALL, '-o', 'x.dir', '--',
                  CALLS, '-t', '4', '-n', '20000')
        same(r.returncode, 0, r.stderr)
        need('(80000 samples)' in r.stderr and 'lost' not in r.stderr, r.stderr)
        same(sorted(os.listdir('x.dir')), ['data'] + ['data.%d' % i for i in range(FILES)], 'files')
        for name in os.listdir('x.dir'):
            same(os.stat(os.path.join('x.dir', name)).st_mode & 0o777, 0o600, 'mode of ' + name)
        ours = lines(SONDE, 'x.dir')
        same(sum(CALL in line for line in ours), 80000, 'events %r' % options)
        if 'new' not in options:
            same(ours, lines(perf(), 'x.dir'), 'text %r' % options)
        header = sh(perf(), 'report', '--header-only', '-i', 'x.dir').stdout
        need('# directory data version : 1' in header, header)
        if '-z' in options:
            need(re.search('# compressed : Zstd, level = 1, ratio = [1-9]', header), header)
            for i in range(FILES):
                need(ends_checked('x.dir/data.%d' % i), 'data.%d does not end with a checksum' % i)
        samples = perfdata.File('x.dir/data').check()
        same(samples, 0, 'samples in the file with the header')


@case("perf's directories are read")
def _():
    for options in ([], ['-z']):
        shutil.rmtree('p.dir', ignore_errors=True)
        r = sh(perf(), 'record', '-q', '--threads', '-m', '8M', *options, '-e', CALL, '-o', 'p.dir',
               '--', CALLS, '-t', '4', '-n', '20000')
        same(r.returncode, 0, r.stderr)
        same(lines(SONDE, 'p.dir'), lines(perf(), 'p.dir'), 'text %r' % options)
        same(places([SONDE, '--compat', 'perf-6.1'], 'p.dir'), places([perf()], 'p.dir'),
             'files and offsets %r' % options)


@case('tiny buffers: events and reported losses add up to the calls made')
def _():
    for options in ([], ['-z']):
        shutil.rmtree('x.dir', ignore_errors=True)
        r = sonde('record', '--threads', *options, '-m', '1', '-e', 'dummy', '-e', CALL, '-o',
                  'x.dir', '--', CALLS, '-t', '4', '-n', '50000')
        same(r.returncode, 0, r.stderr)
        seen = sonde('script', '-i', 'x.dir', '-F', 'event').stdout.count(CALL)
        f = perfdata.File('x.dir/data')
        attr = f.attrs[f.names().index(CALL)]
        lost = 0
        for kind, misc, at, size in f.records():
            if (kind == perfdata.LOST_SAMPLES and
                f.by_id.get(int.from_bytes(f.data[at + size - 8:at + size], 'little')) is attr):
                lost += int.from_bytes(f.data[at + 8:at + 16], 'little')
        print('# %d seen, %d lost' % (seen, lost))
        same(seen + lost, 200000, '%d seen and %d lost' % (seen, lost))


@case('which thread reads which buffer, and where it runs')
def _():
    if len(CPUS) < 2:
        raise Skip('one cpu only')
    a, b = CPUS[:2]
    every = [str(cpu) for cpu in CPUS]
    for spec, where in (('', every), ('=cpu', every),
                        ('=%d/%d:%d/%d' % (a, b, b, a), [str(a), str(b)]),
                        ('=%d,%d/%d' % (a, b, a), [str(a)]), ('=%d/%d:' % (a, b), [str(b)])):
        shutil.rmtree('x.dir', ignore_errors=True)
        p = subprocess.Popen([SONDE, 'record', '--threads' + spec, '-e', CALL, '-C',
                              '%d,%d' % (a, b), '-o', 'x.dir'],
                             env=PERF_ENV, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True)
        try:
            wanted = where if spec.startswith('=%d' % a) else [str(a), str(b)]
            wait_until('its threads run', lambda: threads_of(p.pid) == sorted(wanted) or
                       p.poll() is not None)
        finally:
            p.send_signal(signal.SIGINT)
            said = p.communicate(timeout=600)[1]
        same(p.returncode, 0, spec + said)
        same('names no thread for cpu %d' % b in said, spec.endswith(':'), said)
    for bad in ('=foo', '=0', '=9999/0', '=%d/9999' % a, '=%d/%d:%d/%d' % (a, a, a, b),
                '=%d/%d:%d/%d' % (a, a, b, a)):
        r = sonde('record', '--threads' + bad, '-e', CALL, '-o', 'y.dir', '--', 'true')
        need(r.returncode == 2 and '--threads=' in r.stderr,
             '%s: %d %s' % (bad, r.returncode, r.stderr))
        need(not os.path.exists('y.dir'), bad)


@case('options that it excludes')
def _():
    for options in (['--aio'], ['--affinity=cpu'], ['--per-thread'], ['-o', '-']):
        r = sonde('record', '--threads', '-e', CALL,
                  *(['-o', 'x.dir'] if '-o' not in options else []), *options, '--', 'true')
        need(r.returncode == 2 and '--threads' in r.stderr, '%r: %s' % (options, r.stderr))
        need(not os.path.exists('x.dir'), options)
    r = sonde('record', '--threads', '--switch-output=1M', '-e', CALL, '-o', 'x.dir', '--', 'true')
    need(r.returncode == 0 and '--switch-output' in r.stderr and os.path.exists('x.dir/data'),
         r.stderr)


@case('a previous directory is kept as DIR.old; a directory with other files is not touched')
def _():
    def record(*options):
        return sonde('record', '-q', *options, '-e', CALL, '-o', 'x', '--', CALLS, '-n', '10')
    for n in range(3):
        same(record('--threads').returncode, 0)
        same(os.path.isdir('x') and os.path.isdir('x.old') == (n > 0), True, 'round %d' % n)
    same(record().returncode, 0, 'a file in the place of a directory')
    need(os.path.isfile('x') and os.path.isdir('x.old'), 'kinds')
    same(record('--threads').returncode, 0, 'a directory in the place of a file')
    need(os.path.isdir('x') and os.path.isfile('x.old'), 'kinds')
    open('x/precious', 'w').close()
    r = record('--threads')
    need(r.returncode == 1 and 'is a directory' in r.stderr and os.path.exists('x/precious'),
         r.stderr)


@case('the recording ends with its process')
def _():
    sleeper = subprocess.Popen(['sleep', '600'])
    p = subprocess.Popen([SONDE, 'record', '--threads', '-e', 'sched:sched_process_exit', '-p',
                          str(sleeper.pid), '-o', 'x.dir'], env=PERF_ENV, stdin=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    try:
        wait_until('it records', lambda: is_recording(p, 'x.dir'))
        sleeper.terminate()
        said = p.communicate(timeout=600)[1]
    finally:
        sleeper.kill()
        sleeper.wait()
        p.kill()
    need(p.returncode == 0 and '(1 samples)' in said, said)


@case('--tail-synthesize describes processes that started during the recording')
def _():
    r = sonde('record', '--threads', '--tail-synthesize', '-m', '8M', '-e', CALL, '-o', 'x.dir',
              '--', 'sh', '-c', 'for i in 1 2 3 4 5 6 7 8; do "$0" -t 2 -n 500 & done; wait', CALLS)
    reported = re.search(r'\((\d+) samples\) \]', r.stderr)
    need(r.returncode == 0 and reported and 'lost' not in r.stderr, r.stderr)
    text = sonde('script', '-i', 'x.dir', '-F', 'comm,event').stdout
    same(text.count(CALL), int(reported.group(1)), 'events')
    # A shell may call getppid(), too.
    need(len(re.findall(r'^ *calls', text, re.M)) == 8000, text[:1000])
    same(lines(SONDE, 'x.dir'), lines(perf(), 'x.dir'), 'text')


@case('a killed recorder leaves the events that were flushed')
def _():
    # The number of calls is limited: on a busy machine this test may see late that the files have
    # grown, and reads below all that was recorded meanwhile, millions of events a second.
    p = subprocess.Popen([SONDE, 'record', '-q', '--threads', '-z', '-m', '16', '-e',
                          'raw_syscalls:*', '-o', 'k.dir', '--', 'sh', '-c',
                          '"$0" -t 2 -n 200000; sleep 300', CALLS], env=PERF_ENV,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, start_new_session=True)

    def is_filled():
        return (os.path.exists('k.dir/data.0') and
                sum(e.stat().st_size for e in os.scandir('k.dir')) > 100000)
    try:
        wait_until('something is recorded', is_filled)
    finally:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
    r = sonde('script', '-i', 'k.dir')
    need(r.returncode == 0 and r.stdout.count('raw_syscalls:sys_') > 5000 and
         '[FAILED' not in r.stdout,
         '%d lines: %s' % (r.stdout.count('\n'), r.stderr))


@case('a full disk ends the recording, and the summary has the number of samples in the files')
def _():
    with small_disk('size=2m'):
        r = sonde('record', '--threads', '-e', 'raw_syscalls:*', '-o', 'small/x', '--', CALLS, '-t',
                  '2', '-n', '300000')
        shutil.copytree('small/x', 'x')
    seen = sonde('script', '-i', 'x', '-F', 'event').stdout.count('raw_syscalls:')
    same(seen, says_full(r), 'samples in the files and in the summary')


@case('--max-size is checked as without --threads, not only when a buffer is half full')
def _():
    # All events together are less than half of a buffer. The size is found however late it is
    # checked.
    work = 'i=0; while [ $i -lt 40 ]; do "$0" -n 500; sleep 0.01; i=$((i + 1)); done; sleep 600'
    r = sonde('record', '--threads', '--max-size', '1M', '-m', '4M', '-e', CALL, '-o', 'x.dir',
              '--', 'sh', '-c', work, CALLS)
    need('is as large as it may get' in r.stderr, r.stderr)
    size = sum(e.stat().st_size for e in os.scandir('x.dir') if e.name != 'data')
    need(1 << 20 <= size < 2 << 20, '%d bytes' % size)


@case('files that are missing or empty are reported')
def _():
    if len(CPUS) < FILES:
        raise Skip('this test may not run on every cpu')
    # Makes events on each cpu.
    work = ('sh', '-c', 'for cpu in %s; do taskset -c $cpu "$0" -n 2000; done' %
            ' '.join(map(str, CPUS)), CALLS)
    same(sonde('record', '--threads', '-e', CALL, '-o', 'ours', '--', *work).returncode, 0,
         'record')
    same(sh(perf(), 'record', '-q', '--threads', '-e', CALL, '-o', 'perfs', '--', *work).returncode,
         0, 'perf record')
    last = 'data.%d' % (len(CPUS) - 1)
    for path in 'ours', 'perfs':
        err = sonde('script', '-i', path).stderr
        need('missing-file' not in err and 'truncated' not in err, err)
        for name in last, 'data.0':
            shutil.copytree(path, 'x')
            os.unlink('x/' + name)
            r = sonde('script', '-i', 'x', '--fail-on-loss')
            need(r.returncode == (3 if r.stdout else 1) and 'missing-file: 1 (first x/%s)' %
                 name in r.stderr,
                 (name, r.returncode, r.stderr))
            shutil.rmtree('x')
    # A file that ends after its first record is truncated only by the size that the header gives
    # for it.
    first = [struct.unpack_from('<IHH', open('ours/' + name, 'rb').read(8).ljust(8, b'\0'))[2]
             for name in (last, 'data.0')]
    for name, size, said in ((last, 0, 'missing-file: 1 (first x/%s is empty)' % last),
                             (last, first[0] + 8, 'truncated: '),
                             (last, first[0],
                              'truncated: 1 (first x/%s has %d bytes, its recorder wrote ' %
                              (last, first[0])),
                             ('data.0', first[1], 'truncated: 1 (first x/data.0 has '),
                             ('data.0', 0, 'missing-file: 1')):
        shutil.copytree('ours', 'x')
        if os.stat('x/' + name).st_size > size:
            os.truncate('x/' + name, size)
            r = sonde('script', '-i', 'x', '--fail-on-loss')
            need(r.returncode == (3 if r.stdout else 1) and said in r.stderr,
                 (name, size, r.returncode, r.stderr))
        shutil.rmtree('x')
    for path in 'ours', 'perfs':
        for i in range(len(CPUS)):
            os.unlink('%s/data.%d' % (path, i))
        r = sonde('script', '-i', path)
        need(r.returncode == 1 and 'missing-file: %d (first %s/data.0)' %
             (len(CPUS), path) in r.stderr,
             (r.returncode, r.stderr))


@case('directories without a recording')
def _():
    os.mkdir('empty')
    r = sonde('script', '-i', 'empty')
    need(r.returncode and "no recording (no file 'data')" in r.stderr, r.stderr)


few_symbols()
run()
