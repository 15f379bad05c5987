# SPDX-License-Identifier: MIT
"""perf reads sonde's recordings as it reads its own: attrs, header, text, scripts; no warnings."""
import concurrent.futures
import os
import re
import shutil
import struct
import subprocess
import time

from tap import PERF_ENV, SONDE, case, is_recording, need, perf, run, same, sh, wait_until

# Loops of shell builtins: all events of interest happen in this one process.
WORK = 'i=0; while [ $i -lt 200 ]; do read x < /proc/self/stat; i=$((i + 1)); done'


def both(*options, record=('true',), prefix=''):
    """Records a command with both tools, one after the other: perf.data, sonde.data."""
    for tool, name in ((perf(), 'perf.data'), (SONDE, 'sonde.data')):
        r = sh(tool, 'record', '-q', '-o', prefix + name, *options, '--', *record)
        same(r.returncode, 0, '%s %r: %s' % (tool, options, r.stderr))


def ask(name, *argv):
    r = sh(perf(), *argv, '-i', name)
    same((r.returncode, r.stderr), (0, ''), 'perf %s of %s' % (' '.join(argv), name))
    return r.stdout


@case('perf evlist -v: the attrs are those of perf record')
def _():
    perf()  # skips the case, before anything is started, if perf is not installed
    sleeper = subprocess.Popen(['sleep', '600'])
    options = (
        ['-e', 'cs,faults,migrations,cpu-migrations'],
        ['-e', 'cs:u,cs:k,cs:h,cs:uk,cs:ukh,cs:G,cs:H,cs:GH,cs:I,cs:p,cs:D,cs:e,cs:uH,cs:ppp,cs:P'],
        ['-e', 'alignment-faults,emulation-faults,major-faults,minor-faults,task-clock,'
               'cgroup-switches'],
        ['-e', 'sched:sched_switch:u,sched:sched_switch:H,sched:sched_switch:D'],
        ['-e', 'sched:sched_switch', '-c', '10'], ['-e', 'sched:sched_switch', '-F', '100'],
        ['-e', 'cs', '-c', '1'], ['-e', 'dummy'], ['-a', '-e', 'dummy'], ['-a', '-e', 'cs,dummy'],
        ['-a', '-g', '-e', 'sched:sched_switch'],
        ['-g', '--user-callchains', '-e', 'sched:sched_switch'],
        ['-g', '--kernel-callchains', '-e', 'sched:sched_switch'], ['-e', 'bpf-output'],
        ['-c', '100', '-e', 'bpf-output'],
        ['-e', 'sched:sched_wak*'], ['-e', 'raw_syscalls:*'], ['-e', 'cycles'], ['-e', 'cycles:u'],
        [], ['-a'], ['-g'],
        ['-F', '999'], ['-a', '-F', '100', '-e', 'cs,sched:sched_switch'],
        ['-a', '-c', '100', '-e', 'cs'],
        ['-e', 'cpu-clock', '-p', str(sleeper.pid)],
        ['-e', 'sched:sched_switch', '-p', str(sleeper.pid)],
        ['-e', 'syscalls:sys_enter_read', '--filter', 'count > 1', '-e', 'sched:sched_switch'],
        ['-e', 'cpu-clock,sched:sched_switch'])

    def attrs(n):
        both('-B', '-N', *options[n], prefix=str(n))
        # perf sets ID, IDENTIFIER or neither; sonde always sets IDENTIFIER.
        return [re.sub(r'\|(ID|IDENTIFIER)\b', '', ask(str(n) + name, 'evlist', '-v'))
                for name in ('sonde.data', 'perf.data')]

    try:
        # Recordings mostly wait, whichever the tool.
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for n, text in enumerate(pool.map(attrs, range(len(options)))):
                same(*text, 'attrs of %r' % (options[n],))
    finally:
        sleeper.kill()
        sleeper.wait()


@case('perf report --header-only -I: both headers describe the machine with the same lines')
def _():
    both('-a', '-e', 'sched:sched_switch,cpu-clock')
    vary = re.compile(
        r'# (captured on|data offset|data size|feat offset|perf version|cmdline|event :|node\d+ '
        r'meminfo|'
                      r'time of|sample duration)')
    text = [[line for line in ask(name, 'report', '--header-only', '-I').splitlines()
             if not vary.match(line)]
            for name in ('sonde.data', 'perf.data')]
    same(*text, 'headers')


@case("the header of a pipe has perf's lines in perf's order")
def _():
    vary = re.compile(
        r'# (captured on|perf version|cmdline|event :|node\d+ meminfo|time of|sample duration)')
    text = {}
    for tool, name in ((perf(), 'perf.data'), (SONDE, 'sonde.data')):
        with open(name, 'wb') as f:
            subprocess.run([tool, 'record', '-q', '-a', '-e', 'sched:sched_switch,cpu-clock', '-o',
                            '-', '--', 'true'],
                           env=PERF_ENV, stdout=f, stdin=subprocess.DEVNULL, check=True)
        text[name] = [line for line in ask(name, 'report', '--header-only', '-I').splitlines()
                      if not vary.match(line)]
    need(any('pmu mappings' in line for line in text['perf.data']), text)
    # perf writes caches of the processor and BPF programs into files only.
    ours = [line for line in text['sonde.data']
            if not re.match(r'# (CPU cache info| L\d |bpf_prog|btf|\tsub_prog)', line)]
    same(ours, text['perf.data'], 'headers')


def tracing(name):
    """The parts of TRACING_DATA; formats are sorted within each system."""
    b, at, parts = perfdata_feature(name, 1), 0, {}

    def number(code):
        nonlocal at
        at += struct.calcsize(code)
        return struct.unpack_from('<' + code, b, at - struct.calcsize(code))[0]

    def piece(size):
        nonlocal at
        at += size
        return b[at - size:at]
    parts['head'] = piece(b.index(b'header_page\0'))
    parts['page'] = piece(12) + piece(number('Q'))
    parts['event'] = piece(13) + piece(number('Q'))
    parts['ftrace'] = [piece(number('Q')) for _ in range(number('I'))]
    systems = {}
    for _ in range(number('I')):
        system = piece(b.index(b'\0', at) + 1 - at)
        systems[system] = sorted(piece(number('Q')) for _ in range(number('I')))
    parts['systems'], parts['kallsyms'], parts['printk'] = (systems, piece(number('I')),
                                                            piece(number('I')))
    # The names of tasks change all the time; only their presence is compared.
    parts['comms'] = piece(number('Q')) != b''
    parts['rest'] = b[at:]
    return parts


def perfdata_feature(name, feature):
    with open(name, 'rb') as f:
        d = f.read()
    h = struct.unpack_from('<13Q', d)
    bits = [n for n in range(256) if h[9 + n // 64] >> (n % 64) & 1]
    at, size = struct.unpack_from('<QQ', d, h[5] + h[6] + 16 * bits.index(feature))
    return d[at:at + size]


@case('TRACING_DATA has the formats and texts that perf writes')
def _():
    for n, events in enumerate(('sched:sched_switch,syscalls:sys_enter_read,sched:sched_wakeup',
                                'irq:*')):
        both('-e', events, prefix=str(n))
        same(tracing('%dsonde.data' % n), tracing('%dperf.data' % n), events)


def recordings(*options):
    """Both tools record the same process at once, so that both see the same events."""
    shutil.copy(shutil.which('sh'), 'sndwork')
    work = subprocess.Popen(['./sndwork', '-c', 'read go; ' + WORK], env=PERF_ENV,
                            stdin=subprocess.PIPE)
    running = {}
    for tool, name in ((perf(), 'perf.data'), (SONDE, 'sonde.data')):
        running[name] = subprocess.Popen([tool, 'record', '-q', '-m', '4096', '-o', name, *options,
                                          '-p', str(work.pid)],
                                         env=PERF_ENV, stdin=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE)
    for name, p in running.items():
        wait_until('%s is being written' % name, lambda: is_recording(p, name))
    time.sleep(0.3)
    work.communicate(b'go\n')
    for p in running.values():
        same(p.communicate(timeout=600)[1], b'', 'stderr of a recorder')


def text(*argv):
    """perf script's lines of perf.data and of sonde.data, without their times, which differ."""
    return [re.sub(r' +\d+\.\d{6}: ', ' ', ask(name, 'script', *argv)).splitlines()
            for name in ('perf.data', 'sonde.data')]


def same_recordings(options, ask_both):
    """
    Records with both tools until their recordings are the same; fails after four attempts.

    The kernel moves the counters of a task when another process opens or closes counters on that
    cpu. An event that several recorders record may then reach one of them twice or not at all, and
    no record says so.
    """
    for attempt in range(4):
        recordings(*options)
        theirs, ours = ask_both()
        if theirs == ours:
            break
        print('# attempt %d: the recordings differ' % (attempt + 1))
    same(theirs, ours, 'recordings')
    return ours


@case("perf script prints the same text of sonde's recording as of perf's")
def _():
    ours = same_recordings(['-e', 'raw_syscalls:*,sched:sched_process_exit'], text)
    need(len(ours) > 1000, 'too few lines')


@case('perf script: call chains, kernel symbols')
def _():
    ours = same_recordings(['-g', '--kernel-callchains', '-e', 'kmem:kmem_cache_alloc'],
                           lambda: text('-F', 'comm,pid,event,ip,sym'))
    need(len(ours) > 400 and 'do_syscall_64' in ' '.join(ours), 'chains: %r' % ours[:9])


PYTHON = '''
calls = {}
def raw_syscalls__sys_enter(name, context, cpu, s, ns, pid, comm, chain, nr, args, *rest):
    if comm == "sndwork":
        calls[nr] = calls.get(nr, 0) + 1
def trace_end():
    print(sorted(calls.items()))
'''
PERL = '''
my %calls;
sub raw_syscalls::sys_enter {
	my ($name, $context, $cpu, $s, $ns, $pid, $comm, $chain, $nr, @args) = @_;
	$calls{$nr}++ if $comm eq "sndwork";
}
sub trace_end { print "$_ $calls{$_}\\n" for sort { $a <=> $b } keys %calls; }
'''


@case('perf script -s: Python and Perl scripts count the same')
def _():
    perf()
    with open('x.py', 'w') as f:
        f.write(PYTHON)
    with open('x.pl', 'w') as f:
        f.write(PERL)

    def run_both():
        counted = []
        for name in ('perf.data', 'sonde.data'):
            counted.append({})
            for script in ('x.py', 'x.pl'):
                r = sh(perf(), 'script', '-s', script, '-i', name)
                same((r.returncode, r.stderr), (0, ''), '%s of %s' % (script, name))
                counted[-1][script] = r.stdout
        return counted

    ours = same_recordings(['-e', 'raw_syscalls:sys_enter'], run_both)
    need(all(len(text) > 20 for text in ours.values()), ours)


@case('recording costs no more CPU time than with perf')
def _():
    def cost(tool, name):
        """CPU seconds of the recorder and its command (sleep) for each million bytes recorded."""
        busy = subprocess.Popen(['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'status=none'])
        p = subprocess.Popen([tool, 'record', '-q', '-m', '256', '-e', 'raw_syscalls:*', '-a', '-o',
                              name, '--', 'sleep', '1'],
                             env=PERF_ENV, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        usage = os.wait4(p.pid, 0)[2]
        busy.kill()
        busy.wait()
        return (usage.ru_utime + usage.ru_stime) / os.path.getsize(name) * 1e6
    for attempt in range(3):
        theirs, ours = cost(perf(), 'perf.data'), cost(SONDE, 'sonde.data')
        print('# CPU ms for each MB: perf %.2f, sonde %.2f' % (theirs * 1e3, ours * 1e3))
        if ours <= theirs:
            return
    need(False, 'sonde takes more')


@case('perf script finds the mapped files of user addresses')
def _():
    both('-e', 'cpu-clock', '-c', '100000',
         record=('sh', '-c', 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'))
    text = ask('sonde.data', 'script', '-F', 'comm,ip,sym,dso')
    need(re.search(r'\(/usr/bin/[a-z]*sh\)', text), text[:400])
    ours, theirs = ({line.split(None, 1)[1]: line.split()[0]
                     for line in ask(name, 'buildid-list').splitlines()}
                    for name in ('sonde.data', 'perf.data'))
    # A library that runs for a moment only may have a sample in one recording and none in the
    # other.
    for path in theirs:
        need(ours.get(path, theirs[path] if 'lib' in path else '') == theirs[path],
             '%s: %r' % (path, ours))


run()
