# SPDX-License-Identifier: MIT
"""Messages of the recorder, and options of perf record that have no effect here or are refused."""
import os
import re
import signal
import subprocess
import tempfile

import perfdata
from tap import PERF_ENV, SONDE, Skip, case, is_recording, need, run, same, sonde, wait_until


def recorded(*options, status=0):
    if os.path.exists('x.data'):
        os.unlink('x.data')
    # Every program has page faults.
    r = sonde('record', '-o', 'x.data', '-e', 'page-faults', '-c', '1', *options, '--', 'true')
    same(r.returncode, status, '%r: %s' % (options, r.stderr))
    same(os.path.exists('x.data'), not status, 'a file exists')
    if not status:
        perfdata.File('x.data').check()
    return r.stderr


@case('-q prints nothing but warnings, -v prints more')
def _():
    same(recorded('-q'), '')
    same(recorded('--quiet', '-v'), '')
    plain = recorded()
    need('Captured and wrote' in plain, plain)
    same(recorded('-q', '--no-quiet').count('\n'), plain.count('\n'), 'lines after -q --no-quiet')
    r = sonde('record', '-q', '-m', '1', '-e', 'raw_syscalls:*', '-o', 'x.data', '--', 'dd',
              'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=200000', 'status=none')
    same(r.returncode, 0, r.stderr)
    need(not r.stderr or 'events were lost' in r.stderr, r.stderr)


@case('--vmlinux changes nothing; the file must exist')
def _():
    same(recorded('-q', '--vmlinux', '/bin/true'), '')
    same(recorded('-q', '--vmlinux', '/no/such', '--no-vmlinux', status=2),
         'sonde: record: --vmlinux /no/such: No such file or '
         'directory\n')


@case('--debuginfod changes nothing, and a line says so')
def _():
    for option in ('--debuginfod', '--debuginfod=http://127.0.0.1:1/'):
        need('nothing from servers' in recorded(option), option)
        same(recorded('-q', option), '')
    need('servers' not in recorded('--debuginfod', '--no-debuginfod'), 'taken back')


@case('--off-cpu, --clang-path and --clang-opt are refused with the reason')
def _():
    need('BPF program' in recorded('--off-cpu', status=2), 'off-cpu')
    for option in ('--clang-path', '--clang-opt'):
        need('not compiled' in recorded(option, 'x', status=2), option)
    same(recorded('-q', '--no-off-cpu', '--no-clang-path', '--no-clang-opt'), '')


@case('refused options are at the end of the help, under a heading of their own, and are refused')
def _():
    r = sonde('record', '--help', '--no-pager')
    same(r.returncode, 0, r.stderr)
    before, head, rest = r.stdout.partition('\nOptions of perf record that are refused:\n')
    need(head and 'is refused' not in before, before)
    options, _, behind = rest.partition('\n\n')
    need(behind.startswith('Options of every command:\n'), behind)
    entries = re.split(r'\n(?= {2,6}-)', options)
    need(len(entries) > 3, options)
    for entry in entries:
        m = re.match(r' +(?:-\w, )?--([\w-]+)(\[?=?[A-Z]+\]?| [A-Z]+)?\s+is refused: ', entry)
        need(m, entry)
        recorded('--' + m[1], *(['x'] if (m[2] or '').startswith(' ') else []), status=2)


def interrupted(*options, **more):
    """stderr of a recorder without a command, ended by SIGINT."""
    if os.path.exists('x.data'):
        os.unlink('x.data')
    with tempfile.TemporaryFile('w+') as err:
        p = subprocess.Popen([SONDE, 'record', *options], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=err, env=PERF_ENV, **more)
        wait_until('it records', lambda: is_recording(p, 'x.data'))
        p.send_signal(signal.SIGINT)
        same(p.wait(60), 0, 'status')
        err.seek(0)
        return err.read()


@case('without command and target the first line says what is recorded and how to end it')
def _():
    first = interrupted('-o', 'x.data', '-e', 'cs,sched:sched_switch').split('\n')[0]
    same(first, 'sonde: recording cs, sched:sched_switch on all cpus until Ctrl-C (no command, '
                'process or cpu is named)')
    first = interrupted('-o', 'x.data').split('\n')[0]
    need(first.startswith(
        'sonde: recording a profile (cycles, or cpu-clock) on all cpus until Ctrl-C ('),
         'the default')
    need('(and 2 more)' in interrupted('-o', 'x.data', '-e',
                                       'cs,faults,migrations,minor-faults,major-faults').split(
                                           '\n')[0], 'many')
    for options in (['-q'], ['-a'], ['-C', '0'], ['-p', str(os.getpid())],
                    ['-t', str(os.getpid())]):
        need('until Ctrl-C' not in interrupted('-o', 'x.data', '-e', 'cs', *options), options)
    need('until Ctrl-C' not in recorded(), 'a command')


@case('a line says that the recording is written to a pipe, unless -o - or -q is given')
def _():
    line = ('sonde: the recording is written to standard output, which is a pipe (-o FILE writes '
            'a file)\n')

    def piped(*options, program='sonde', out=subprocess.PIPE):
        path = os.path.join(os.getcwd(), program)
        if program != 'sonde' and not os.path.lexists(path):
            os.symlink(SONDE, path)
        return subprocess.run([path if program != 'sonde' else SONDE, 'record', '-e', 'cs',
                               *options, '--', 'true'],
                              stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                              env=PERF_ENV, timeout=600)

    r = piped()
    need(r.returncode == 0 and r.stdout.startswith(b'PERFILE2'), r)
    same(r.stderr.decode().count(line), 1, r.stderr)
    for options, program in ((['-o', '-'], 'sonde'), (['-q'], 'sonde'), ([], 'perf'),
                             (['--output=-'], 'sonde')):
        r = piped(*options, program=program)
        need(r.returncode == 0 and r.stdout.startswith(b'PERFILE2') and
             line.encode() not in r.stderr, (options, program, r))
    need(line.encode() not in piped('-o', 'x.data').stderr, 'a file')
    need(line.encode() not in piped(out=subprocess.DEVNULL).stderr, 'no pipe')


@case('no samples: a line gives the likely reason')
def _():
    def reason(*options, event='sched:sched_process_hang', command=('true',)):
        r = sonde('record', '-o', 'x.data', '-e', event, *options, '--', *command)
        same(r.returncode, 0, r.stderr)
        lines = [line for line in r.stderr.splitlines() if line.startswith('sonde: no samples')]
        same(perfdata.File('x.data').check() and len(lines) <= 1 or len(lines) <= 1, True, r.stderr)
        return lines[0][len('sonde: no samples: '):] if lines else ''

    same(reason(), "sched:sched_process_hang did not happen in 'true' (-a records all processes)")
    same(reason('-a'), 'sched:sched_process_hang did not happen while this was recorded')
    same(reason(event='sched:sched_process_hang,sched:sched_stat_runtime,sched:sched_process_hang',
                command=['sleep', '0']), '')
    same(reason('-e', 'alignment-faults'),
         "sched:sched_process_hang (and 1 more) did not happen in 'true' "
         "(-a records all processes)")
    same(reason('--filter', 'count == 77777', event='syscalls:sys_enter_read',
                command=['cat', '/dev/null']),
         "no syscalls:sys_enter_read passed its --filter 'count == 77777'")
    same(reason('-c', '1000000', event='page-faults').split(' times')[1],
         ', less often than once per period of 1000000 (-c)')
    need('never switched on' in reason('-D', '100000', event='page-faults'), '-D')
    need('frequency of 1 ' in reason('-F', '1', event='cpu-clock'),
         reason('-F', '1', event='cpu-clock'))
    same(reason(event='page-faults'), '', 'samples')
    same(reason(event='dummy'), '', 'nothing is to be expected')
    same(reason('-n', event='page-faults'), '', 'none are wanted')
    same(reason('-q'), '', '-q')
    p = subprocess.Popen(['sleep', '600'])
    try:
        need(interrupted('-o', 'x.data', '-e', 'sched:sched_process_hang', '-p',
                         str(p.pid)).rstrip().endswith(
                             'sonde: no samples: sched:sched_process_hang did not happen in the '
                             'processes that -p names'), '-p')
    finally:
        p.kill()
        p.wait()


@case('a reader that ends by the same Ctrl-C as the recorder is not reported')
def _():
    def ended(both):
        p = subprocess.Popen([SONDE, 'record', '-q', '-a', '-o', '-', '-e', 'sched:sched_switch'],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=PERF_ENV)
        need(len(p.stdout.read(64)) == 64)
        wait_until('it records', lambda: is_recording(p, SONDE))
        if both:
            os.kill(p.pid, signal.SIGSTOP)
            os.kill(p.pid, signal.SIGINT)
        p.stdout.close()
        if both:
            os.kill(p.pid, signal.SIGCONT)
        err = p.stderr.read().decode()
        same(p.wait(60), 0, err)
        return err

    need('the reader of the recording has closed its pipe' in ended(False), 'without it')
    same(ended(True), '', 'with it')


run()
