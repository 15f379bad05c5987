# SPDX-License-Identifier: MIT
"""How recordings begin and end: statuses, signals, the file, refusals with cause and remedy."""
import contextlib
import os
import re
import shutil
import signal
import stat
import subprocess
import time

import perfdata
from tap import (PERF_ENV, SONDE, Skip, case, is_recording, need, run, same, says_full, sh,
                 small_disk, sonde, until_switched, wait_until)

NOBODY = 65534
KALLSYMS = 0x100000001  # the recording's own kernel symbols, in its index


def refused(*argv, status=1, says, **kw):
    """Checks that the recorder fails, stderr matches each pattern, and no file is left."""
    r = sonde('record', '-o', 'x.data', *argv, **kw)
    same(r.returncode, status, 'status (%s)' % r.stderr)
    for pattern in says:
        need(re.search(pattern, r.stderr), 'no %r in: %s' % (pattern, r.stderr))
    need(not os.path.exists('x.data'), 'a file was left')
    return r


@case('the status of the command is returned')
def _():
    for script, status in (('exit 0', 0), ('exit 7', 7), ('kill -9 $$', 137),
                           ('kill -TERM $$', 143)):
        r = sonde('record', '-q', '-e', 'cs', '-o', 'x.data', '--', 'sh', '-c', script)
        same((r.returncode, r.stderr), (status, ''), script)
        perfdata.File('x.data').check()


@case('126 and 127 without a file when the command cannot be run')
def _():
    refused('-e', 'cs', '--', 'no-such-command', status=127, says=['no-such-command', 'PATH'])
    refused('-e', 'cs', '--', './no/such', status=127, says=['No such file'])
    refused('-e', 'cs', '--', '/etc/passwd', status=126, says=['Permission denied'])
    refused('-e', 'cs', '--', '/etc', status=126, says=['directory'])
    with open('bad', 'w') as f:
        f.write('#!/no/such/interpreter\n')
    os.chmod('bad', 0o755)
    refused('-e', 'cs', '--', './bad', status=126, says=['interpreter'])
    with open('x.data', 'w') as f:
        f.write('before')
    sonde('record', '-o', 'x.data', '--', './bad')
    same(open('x.data').read(), 'before', 'the previous file')


@case('the previous file is kept as .old, the new one has mode 0600')
def _():
    os.umask(0)
    with open('x.data', 'w') as f:
        f.write('before')
    sonde('record', '-q', '-e', 'cs', '-o', 'x.data', '--', 'true')
    same(open('x.data.old').read(), 'before')
    same(stat.S_IMODE(os.stat('x.data').st_mode), 0o600, 'mode')
    os.umask(0o22)


@case('an empty file is no recording: it does not replace .old')
def _():
    for path, text in (('x.data.old', 'before'), ('x.data', '')):
        with open(path, 'w') as f:
            f.write(text)
    r = sonde('record', '-q', '-e', 'cs', '-o', 'x.data', '--', 'true')
    same(r.returncode, 0, r.stderr)
    same(open('x.data.old').read(), 'before')
    need(os.path.getsize('x.data'), 'nothing was recorded')


@case('under sudo the file belongs to the user')
def _():
    sonde('record', '-q', '-e', 'cs', '-o', 'x.data', '--', 'true',
          env=dict(PERF_ENV, SUDO_UID=str(NOBODY), SUDO_GID='12'))
    st = os.stat('x.data')
    same((st.st_uid, st.st_gid), (NOBODY, 12), 'owner')


def stopped_by(signo, *target):
    p = subprocess.Popen([SONDE, 'record', '-q', '-e', 'sched:sched_switch', '-o', 'x.data',
                          *target], env=PERF_ENV,
                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         # nohup ignores SIGHUP.
                         preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    wait_until('it records', lambda: is_recording(p, 'x.data'))
    time.sleep(0.2)
    p.send_signal(signo)
    try:
        err = p.communicate(timeout=600)[1]
    finally:
        p.kill()
    f = perfdata.File('x.data')
    need(f.finished and 21 in f.features and 2 in f.features, 'the file is not finished')
    f.check()
    return p.returncode, err


@case('SIGINT, SIGTERM and SIGHUP finish the file and end the command')
def _():
    for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        same(stopped_by(signo, '-a'), (0, b''), 'all cpus')
        same(stopped_by(signo, '--', 'sleep', '30'), (143, b''), 'a command')
        sleeper = subprocess.Popen(['sleep', '600'])
        same(stopped_by(signo, '-p', str(sleeper.pid)), (0, b''), 'a process')
        sleeper.kill()
        sleeper.wait()


@case('under nohup, SIGHUP ends nothing')
def _():
    os.mkfifo('go')
    p = subprocess.Popen(['nohup', SONDE, 'record', '-q', '-e', 'cs', '-o', 'x.data', '--', 'sh',
                          '-c', 'read x < go'],
                         env=PERF_ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    wait_until('it records', lambda: is_recording(p, 'x.data'))
    os.kill(p.pid, signal.SIGHUP)
    with open('go', 'w') as go:
        go.write('\n')
    same(p.wait(timeout=600), 0, 'status')
    need(perfdata.File('x.data').finished, 'the file is not finished')


@contextlib.contextmanager
def deaf_command():
    """A recorder whose command ignores SIGTERM and SIGINT."""
    p = subprocess.Popen([SONDE, 'record', '-q', '-e', 'cs', '-o', 'x.data', '--', 'sh', '-c',
                          'trap "" TERM INT; : > deaf; while :; do sleep 0.1; done'], env=PERF_ENV,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_until('it records', lambda: is_recording(p, 'x.data'))
        wait_until('its command ignores signals', lambda: os.path.exists('deaf'))
        yield p
    finally:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()


@case('a command that ignores SIGTERM: the file is finished, and a second signal ends the '
      'recorder alone')
def _():
    with deaf_command() as p:
        p.send_signal(signal.SIGTERM)
        wait_until('the file is finished', lambda: perfdata.File('x.data').finished)
        same(p.poll(), None, 'it waits for the command')
        p.send_signal(signal.SIGTERM)
        same(p.wait(timeout=600), 143)


@case('two signals at once end the recorder of such a command, too')
def _():
    with deaf_command() as p:
        p.send_signal(signal.SIGTERM)
        p.send_signal(signal.SIGINT)
        same(p.wait(timeout=600), 143)
        need(perfdata.File('x.data').finished, 'the file is not finished')


@case('-p records all threads of a running process and the processes they start, and ends with '
      'them')
def _():
    code = ('import threading, time, os, subprocess\n'
            'def work():\n'
            '    while not os.path.exists("go"): time.sleep(0.05)\n'
            't = [threading.Thread(target=work) for i in range(3)]\n'
            '[x.start() for x in t]\n'
            'work(); subprocess.run(["/bin/true"]); [x.join() for x in t]\n')
    p = subprocess.Popen(['python3', '-c', code])
    wait_until('four threads run', lambda: len(os.listdir('/proc/%d/task' % p.pid)) == 4)
    tids = set(int(t) for t in os.listdir('/proc/%d/task' % p.pid))
    r = subprocess.Popen([SONDE, 'record', '-q', '-e',
                          'sched:sched_switch,sched:sched_process_exec', '-p', str(p.pid), '-o',
                          'x.data'], env=PERF_ENV, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         text=True)
    wait_until('it records', lambda: is_recording(r, 'x.data'))
    sh(*until_switched(3, *tids))
    open('go', 'w').close()
    same((r.communicate(timeout=600)[1], r.returncode), ('', 0))
    p.wait()
    seen = {}
    for attr, pid, tid, t, raw in perfdata.File('x.data').samples():
        seen.setdefault(pid, set()).add(tid)
    same(seen.get(p.pid), tids, 'threads in the recording')
    need(len(seen) == 2, 'the process that it started: %r' % seen)


@case('running processes are described: names, threads, mappings')
def _():
    shutil.copy(shutil.which('sleep'), 'descr')
    p = subprocess.Popen(['./descr', '30'])
    wait_until('its libc is mapped', lambda: 'libc' in open('/proc/%d/maps' % p.pid).read())
    for target in (['-a'], ['-p', str(p.pid)]):
        r = sonde('record', '-q', '-e', 'sched:sched_switch', *target, '-o', 'x.data', '--', 'true')
        same((r.returncode, r.stderr), (0, ''))
        f = perfdata.File('x.data')
        kinds, comm, maps = [], '', ''
        for kind, misc, at, size in f.records():
            if kind == perfdata.INIT:
                break
            kinds.append(kind)
            body = f.data[at + 8:at + size]
            if (kind in (perfdata.COMM, perfdata.MMAP2) and
                int.from_bytes(body[:4], 'little') == p.pid):
                text = body[8:] if kind == perfdata.COMM else body[64:]
                text = text.split(b'\0')[0].decode()
                if kind == perfdata.COMM:
                    comm = text
                else:
                    maps += text + '\n'
        same(comm, 'descr')
        need('/descr\n' in maps and 'libc' in maps and '[vdso]' in maps, maps)
        need(kinds[0] == 69 and kinds[1] == perfdata.MMAP and 73 in kinds and 74 in kinds,
             'first records: %r' % kinds[:6])
        need(target == ['-a'] and perfdata.FORK in kinds or target != ['-a'], 'FORK records')
    p.kill()
    p.wait()


@case('unknown events: the nearest names are offered')
def _():
    refused('-e', 'sched:sched_swich', '--', 'true', status=2,
            says=["'sched:sched_swich'", 'sched:sched_switch'])
    refused('-e', 'sched_switch', '--', 'true', status=2, says=['sched:sched_switch'])
    refused('-e', 'cpu-clok', '--', 'true', status=2, says=['cpu-clock'])
    refused('-e', 'sched:nothing*', '--', 'true', status=2, says=['no tracepoint matches'])
    refused('-e', 'cs:z', '--', 'true', status=2, says=["'z'"])


@case('-F 0 is refused, and the message has the smallest frequency')
def _():
    refused('-e', 'cs', '-F', '0', '--', 'true', status=2, says=['-F 0: must be at least 1$'])


@case('a bad filter is reported with the mistake and the fields of the event')
def _():
    def bad(text, *says):
        refused('-e', 'sched:sched_switch', '--filter', text, '--', 'true',
                says=[re.escape(text), 'sched:sched_switch', *says, r'prev_comm \(text\)',
                      'next_prio'])
    bad('prev_pidd > 1', 'no field prev_pidd', 'prev_pid')
    bad('prev_comm == sh', 'quotes')
    bad('(prev_pid > 1', r"'\)' is missing")       # the kernel says ENOENT
    bad('prev_pid > 1)', r"'\)' too many")         # EPERM
    bad('prev_pid > 1 next_pid > 1', 'without &&')  # EPERM
    bad('prev_pid = 1', 'operators')
    bad('prev_pid > "1"', 'no quotes')
    bad('prev_pid', 'nothing')
    refused('-e', 'cs', '--filter', 'a == 1', '--', 'true', status=2, says=['not a tracepoint'])


@case('a filter applies to the events named before it only')
def _():
    r = sonde('record', '-q', '-o', 'x.data', '-e', 'raw_syscalls:sys_enter', '--filter', 'id == 1',
              '-e', 'raw_syscalls:sys_exit', '--', 'sh', '-c',
              'echo a; echo b > /dev/null; read x < /dev/null')
    same(r.returncode, 1)
    f = perfdata.File('x.data')
    ids = {0: [], 1: []}
    for attr, pid, tid, t, raw in f.samples():
        ids[f.attrs.index(attr)].append(int.from_bytes(raw[8:16], 'little'))
    need(ids[0] and set(ids[0]) == {1}, 'sys_enter: %r' % ids[0])
    need(len(set(ids[1])) > 3, 'sys_exit is not filtered')


@case('no rights: the setting and the remedy are named')
def _():
    setpriv = shutil.which('setpriv')
    if not setpriv:
        raise Skip('no setpriv')
    shutil.copy(SONDE, 'sonde')
    os.chmod('.', 0o777)
    def as_nobody(*argv):
        return sh(setpriv, '--reuid', str(NOBODY), '--regid', str(NOBODY), '--clear-groups',
                  './sonde', 'record', '-o', 'x.data', *argv)
    if as_nobody('--help').returncode:
        raise Skip('this build does not run from another place')
    r = as_nobody('-e', 'sched:sched_switch', '--', 'true')
    need(r.returncode == 1 and 'run as root' in r.stderr, r.stderr)
    paranoid = open('/proc/sys/kernel/perf_event_paranoid').read().strip()
    if int(paranoid) > 0:
        r = as_nobody('-a', '-e', 'cpu-clock', '--', 'true')
        need(r.returncode == 1 and 'perf_event_paranoid is ' + paranoid in r.stderr and
             'sysctl' in r.stderr, r.stderr)
    if int(paranoid) > 1:
        r = as_nobody('-e', 'cpu-clock', '--', 'true')
        need(r.returncode == 0 and 'user space only (cpu-clock:u)' in r.stderr, r.stderr)
        perfdata.File('x.data').check()
    r = as_nobody('-p', '1', '-e', 'cpu-clock:u', '--', 'true')
    need(r.returncode == 1 and 'process 1' in r.stderr, r.stderr)
    need(not r.stderr.strip().count('\n'), 'one line: ' + r.stderr)
    r = as_nobody('-e', 'cpu-clock:u', '-m', '2048', '--', 'true')
    need(r.returncode == 1 and 'perf_event_mlock_kb is' in r.stderr and '-m' in r.stderr, r.stderr)


@case('too few descriptors: the limit is raised as far as allowed; if that is not enough, it is '
      'reported')
def _():
    r = sh('prlimit', '--nofile=20:4000', SONDE, 'record', '-q', '-e', 'syscalls:sys_enter_*', '-o',
           'x.data', '--', 'sh', '-c', 'ulimit -n')
    if r.stderr.startswith('prlimit: '):
        raise Skip('the limit of open files is below 4000, and may not be raised here')
    same((r.returncode, r.stdout.strip()), (0, '20'),
         'raised for the recorder, not for the command: ' + r.stderr)
    os.unlink('x.data')
    r = sh('setpriv', '--bounding-set', '-sys_resource', 'prlimit', '--nofile=20:20', SONDE,
           'record', '-e', 'syscalls:sys_enter_*', '-o', 'x.data', '--', 'true')
    need(r.returncode == 1 and 'ulimit -n' in r.stderr and re.search(r'needs \d+', r.stderr),
         r.stderr)
    need(not os.path.exists('x.data'), 'a file was left')


@case('too few descriptors: the message names them as the only cause, whatever could not be opened')
def _():
    def limited(n, *words):
        return sh('setpriv', '--bounding-set', '-sys_resource', 'prlimit',
                  '--nofile=%d:%d' % (n, n), SONDE, *words)

    for words in (['-e', 'sched:sched_switch'], ['-e', 'sched:sched_s*'], ['-e', '*:sched_switch'],
                  ['-e', 'msr/tsc/'],
                  ['-e', 'cpu-clock', '-g'], ['-a', '-e', 'cpu-clock', '-g'],
                  ['-e', 'cpu-clock', '--threads'],
                  ['-p', str(os.getpid()), '-e', 'cpu-clock'],
                  ['-a', '-e', 'cpu-clock', '-G', '/']):
        wanted = sonde('record', *words, '-o', 'x.data', '--', 'true')
        enough = 0
        for n in range(4, 40):
            shutil.rmtree('x.data', ignore_errors=True)
            if os.path.exists('x.data'):
                os.unlink('x.data')
            r = limited(n, 'record', *words, '-o', 'x.data', '--', 'true')
            if ((r.returncode, 'descriptors' in r.stderr) == (wanted.returncode, False) and
                'open files' not in r.stderr):
                need('no names' not in r.stderr or 'no names' in wanted.stderr,
                     '%d %s: %s' % (n, words, r.stderr))
                enough += 1
                if enough == 2:
                    break
                continue
            lines = r.stderr.strip().splitlines()
            need(r.returncode == 1 and len(lines) == 1 and
                 re.search('too few file descriptors|Too many open files', lines[0]) and
                 'choose another' not in r.stderr,
                 '%d %s: %d %s' % (n, words, r.returncode, r.stderr))
            need(not os.path.exists('x.data'), '%d %s: a file was left' % (n, words))
    for words in ([], ['sched:*'], ['sched_switch'], ['pmu']):
        wanted = sonde('list', *words)
        for n in range(4, 10):
            r = limited(n, 'list', *words)
            need(r.stdout == wanted.stdout or 'Too many open files' in r.stderr,
                 'list %s, %d: %s' % (words, n, r.stderr))
            need('no events for' not in r.stderr, 'list %s, %d: %s' % (words, n, r.stderr))


@case('a full disk: one error, and the events until then are in a finished file')
def _():
    with small_disk('size=3m'):
        r = sonde('record', '-e', 'raw_syscalls:*', '-m', '64', '-o', 'small/x.data', '--', 'dd',
                  'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=100000')
        need(says_full(r) and '-o FILE' in r.stderr, r.stderr)
        need(len(re.findall('the disk is full', r.stderr)) <= 2, r.stderr)
        f = perfdata.File('small/x.data')
        need(f.finished and f.check() > 10000, 'events')
        need(1 in f.features and 12 in f.features, 'features')
        shutil.copy('small/x.data', 'x.data')
    perf = shutil.which('perf')
    if perf:
        r = sh(perf, 'script', '-i', 'x.data')
        # perf reports events that were lost before the disk was full.
        need(r.returncode == 0 and (not r.stderr or 'lost' in r.stderr), 'perf script: ' + r.stderr)
        need(r.stdout.count('\n') > 10000, 'lines')


@case('a file that cannot be made is reported before the command starts')
def _():
    for path, why in (('/no/such/dir/x.data', 'No such file'), ('.', 'directory')):
        r = sonde('record', '-e', 'cs', '-o', path, '--', 'touch', 'ran')
        need(r.returncode == 1 and why in r.stderr, r.stderr)
    need(not os.path.exists('ran'), 'the command ran')


@case("the recording's own kernel symbols are used where another kernel runs")
def _():
    if re.match('0+ ', open('/proc/kallsyms').readline()):
        raise Skip('kernel addresses are hidden')
    r = sonde('record', '-q', '-g', '-e', 'sched:sched_switch', '-o', 'x.data', '--', 'sh', '-c',
              'sleep 0.01; sleep 0.01')
    same((r.returncode, r.stderr), (0, ''), 'record')
    f = perfdata.File('x.data')
    at, size = f.index[KALLSYMS]
    need(size > 100, 'no symbols were recorded')
    with open('/sys/kernel/notes', 'rb') as notes:
        notes = notes.read()
    where = notes.index(b'GNU\0', notes.index(b'\3\0\0\0GNU\0')) + 4
    kernel = notes[where:where + 20]
    need(kernel in f.data, "the kernel's build id is not in the recording")
    # As if another kernel ran here.
    other = f.data.replace(kernel, bytes(b ^ 0xff for b in kernel))
    text = {}
    for name, data in (('own', f.data), ('other', other),
                       ('none', other[:at] + bytes(size) + other[at + size:])):
        with open(name + '.data', 'wb') as out:
            out.write(data)
        r = sonde('script', '-i', name + '.data', '-F', 'ip,sym')
        same(r.returncode, 0, name + ': ' + r.stderr)
        text[name] = r.stdout
    need('schedule' in text['own'], text['own'][:1000])
    same(text['other'], text['own'], 'names where another kernel runs')
    need('schedule' not in text['none'], 'names came from somewhere else')


run()
