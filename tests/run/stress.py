# SPDX-License-Identifier: MIT
"""sonde run under stress: each system call of a workload of known size is delivered once and in
order, or reported as lost.

    stress.py SONDE CALLS [OPTION]

OPTION: of sonde run, for all of these runs: --ftrace, --no-ftrace.

Each case runs 5 times, with SONDE_FULL=1 (make heavy) 100 times; then memory is watched for 10
minutes, too.
"""
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'record'))
from tap import SCRIPT_ENV, SONDE, Skip, case, few_symbols, need, run, same  # noqa: E402

CALLS = os.path.abspath(sys.argv[2])
OPTIONS = sys.argv[3:]
FULL = os.environ.get('SONDE_FULL') == '1'
ROUNDS = 100 if FULL else 5
OWN_NAME = 'calls%d' % os.getpid()  # the same test may run twice on a machine
EVENT = 'syscalls:sys_enter_getppid'

# The result goes into a file, because a script may close its standard output.
SCRIPT = '''%s
import os, sys, time
from sonde import begin, end, lost, on
n = gone = late = last = 0
times = {}

def setup(): pass
def each(): pass

%s

begin(lambda: setup())

@on("%s")
def call(e):
    global n, late, last
    if %s and e.comm != "%s":
        return
    n += 1
    late += e.late
    assert e.late or e.time >= last, "an event at %%d after one at %%d" %% (e.time, last)
    assert e.late or e.time > times.get(e.tid, 0), "an event is there twice"
    last = max(last, e.time)
    times[e.tid] = e.time
    each()

@lost
def away(count, cpu):
    global gone
    gone += count

@end
def done():
    with open("result", "w") as f:
        f.write("%%d %%d %%d" %% (n, gone, late))
'''


def script(changes='', line='', on_all=False):
    """on_all: all tasks are recorded. Otherwise names, which buffers may lose, do not matter."""
    with open('script.py', 'w') as f:
        f.write(SCRIPT % (line, changes, EVENT, on_all, OWN_NAME))
    return 'script.py'


def result():
    with open('result') as f:
        n, gone, late = map(int, f.read().split())
    os.unlink('result')
    return n, gone, late


def check(known, losses, again=None):
    """The result of a run; `again`: a script that gives the same for the recording that was kept.
    """
    found = result()
    n, gone, late = found
    need(n + gone == known and (losses or not gone),
         '%d delivered and %d lost of %d, %d late' % (n, gone, known, late))
    if again:
        sonde('-i', 'kept.data', again)
        same(result()[:2], (n, gone), 'the recording that was kept')
    return found


def sonde(*words):
    options = [] if words[0] == '-i' else OPTIONS
    p = subprocess.run([SONDE, 'run', *options, *words], env=SCRIPT_ENV, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    same(p.returncode, 0, 'status of %r: %s%s' % (words, p.stdout[-500:], p.stderr[-2000:]))
    return p


def rounds(known, workload, losses=False, changes='', line='', number=ROUNDS):
    script(changes, line)
    for i in range(number):
        keep = ['-o', 'kept.data'] if not i else []
        sonde(*keep, 'script.py', '--', CALLS, *workload)
        check(known, losses, again='script.py' if not i else None)


@case('300 threads')
def threads():
    rounds(300 * 30, ['-t', '300', '-n', '30'])


@case('a storm of forks')
def forks():
    rounds(300 * 5, ['-n', '0', '-f', '300', '-c', '5'])


@case('buffers of one page')
def one_page():
    rounds(60000, ['-n', '60000'], losses=True, line='# sonde: record -m 1')


@case('a storm of forks with buffers of one page')
def forks_of_one_page():
    rounds(100 * 500, ['-n', '0', '-f', '100', '-c', '500'], losses=True,
           line='# sonde: record -m 1')


@case('a slow script')
def slow():
    rounds(60000, ['-n', '60000'], losses=True, line='# sonde: record -m 2', changes='''
def each():
    if n % 4000 == 1: time.sleep(0.01)
''')


@case('a script that forks')
def forking():
    rounds(3000, ['-n', '3000'], changes='''
def each():
    if n % 1000 == 1:
        pid = os.fork()
        if not pid: os._exit(0)
        os.waitpid(pid, 0)
''')


@case('a script that closes its standard output')
def closing():
    rounds(3000, ['-n', '3000'], changes='def setup(): os.close(1)')
    rounds(3000, ['-n', '3000'], changes='def setup(): sys.stdout.close()', number=1)


PERL = '''%s
use Sonde qw(on lost begin at_end);
my ($n, $gone, $last, %%times) = (0, 0, 0);
sub setup { }
sub each_one { }
%s
begin { setup() };
on "%s", sub {
    my ($e) = @_;
    my $time = $e->time;
    die "an event at $time after one at $last" if $time < $last;
    die "an event is there twice" if $time <= ($times{$e->tid} // 0);
    $n++;
    $last = $times{$e->tid} = $time;
    each_one();
};
lost { $gone += $_[0] };
at_end { open my $out, '>', 'result'; print $out "$n $gone 0" };
'''
PERL_SLOW = 'sub each_one { select undef, undef, undef, 0.01 if $n % 4000 == 1 }'
PERL_FORKS = '''sub each_one {
    my $pid = $n % 1000 == 1 ? fork : return;
    exit if !$pid;
    waitpid $pid, 0;
}'''


# The library reads, orders and counts losses for both languages: fewer rounds show that this one
# calls, forks and ends as it should.
@case('programs in Perl')
def in_perl():
    if not os.path.exists(os.path.join(os.path.dirname(SONDE), 'bindings/perl/lib/Sonde.pm')):
        raise Skip('there is no Perl module')
    for known, workload, line, changes in (
            (300 * 30, ['-t', '300', '-n', '30'], '', ''),
            (300 * 5, ['-n', '0', '-f', '300', '-c', '5'], '', ''),
            (60000, ['-n', '60000'], '# sonde: record -m 2', PERL_SLOW),
            (3000, ['-n', '3000'], '', PERL_FORKS),
            (3000, ['-n', '3000'], '', 'sub setup { close STDOUT }')):
        with open('script.pl', 'w') as f:
            f.write(PERL % (line, 'no warnings "redefine";' + changes, EVENT))
        for i in range(20 if FULL else 2):
            keep = ['-o', 'kept.data'] if not i else []
            sonde(*keep, 'script.pl', '--', CALLS, *workload)
            check(known, changes == PERL_SLOW, again='script.pl' if not i else None)


@case('a script that is stopped for 5 seconds')
def stopped():
    for i in range(10 if FULL else 1):
        script(line='# sonde: record -m 16')
        p = subprocess.Popen([SONDE, 'run', *OPTIONS, 'script.py', '--', CALLS, '-w', '-n',
                              '300000'], env=SCRIPT_ENV, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        need(b'ready' in p.stdout.readline(), 'the workload waits')
        p.send_signal(signal.SIGSTOP)
        p.stdin.write(b'\n')
        p.stdin.flush()
        time.sleep(5)
        p.send_signal(signal.SIGCONT)
        out, err = p.communicate(timeout=300)
        same(p.returncode, 0, err)
        n, gone, late = check(300000, True)
        need(n and gone, '%d delivered, %d lost' % (n, gone))


class Hotplug(threading.Thread):
    """Takes the last cpu off and on."""

    def __init__(self, path):
        super().__init__()
        self.path, self.times, self.ended = path, 0, threading.Event()

    def put(self, text):
        with open(self.path, 'w') as f:
            f.write(text)

    def run(self):
        try:
            while not self.ended.wait(0.1):
                self.put('0')
                self.times += 1
                time.sleep(0.1)
                self.put('1')
        finally:
            self.put('1')


def check_cpus(known, err):
    """A cpu that was off when the recording began, or returns to one of all cpus, is not recorded:
    a line says so."""
    n, gone, late = result()
    need(n + gone == known or n + gone < known and (
        'not in the recording' in err or 'not recorded' in err),
        '%d delivered and %d lost of %d: %s' % (n, gone, known, err))


def on_all_cpus():
    shutil.copy(CALLS, OWN_NAME)
    script('def setup(): print("begun", flush=True)', on_all=True)
    p = subprocess.Popen([SONDE, 'run', *OPTIONS, '-a', 'script.py'], env=SCRIPT_ENV, text=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    need(p.stdout.readline() == 'begun\n', 'it begins')
    subprocess.run(['./' + OWN_NAME, '-t', '100', '-n', '300'], stdout=subprocess.DEVNULL)
    p.send_signal(signal.SIGINT)
    err = p.communicate(timeout=300)[1]
    same(p.returncode, 0, err)
    check_cpus(30000, err)


@case('a cpu that is taken away and added again')
def hotplug():
    path = '/sys/devices/system/cpu/cpu%d/online' % ((os.cpu_count() or 1) - 1)
    try:
        with open(path, 'r+') as f:
            need(f.read() == '1\n', path)
            f.write('1')
    except OSError as e:
        raise Skip('no cpu can be taken off: %s' % e)
    comes = 'sleep 0.2; echo 1 > %s; sleep 0.1; echo 0 > %s' % (path, path)
    with open(path, 'w') as f:  # it is off at both ends of the run
        f.write('0')
    try:
        err = sonde('-e', 'on("%s", lambda e: None)' % EVENT, '--', 'sh', '-c', comes).stderr
    finally:
        with open(path, 'w') as f:
            f.write('1')
    need('came online after the recording began' in err, err)
    cpus = Hotplug(path)
    cpus.start()
    try:
        for i in range(20 if FULL else 2):
            script()
            p = sonde('script.py', '--', CALLS, '-t', '100', '-n', '1000')
            check_cpus(100 * 1000, p.stderr)
            on_all_cpus()
    finally:
        cpus.ended.set()
        cpus.join()
    need(cpus.times, 'the cpu was never off')


def anonymous_kib(pid):
    with open('/proc/%d/status' % pid) as f:
        return int(f.read().split('RssAnon:')[1].split()[0])


# New processes all the time: their state is dropped some thousand exits later.
WORKLOAD = ('while :; do for i in 1 2 3 4 5 6 7 8; do /bin/true; done; %s -t 8 -n 5000 >/dev/null; '
            'sleep 0.3; done')


@case('a slow script takes memory up to twice the buffers, and the rest is counted as lost')
def backlog():
    with open('slow.py', 'w') as f:
        f.write('''import time
from sonde import exit, lost, on
n, begun = 0, time.monotonic()
@on("raw_syscalls:sys_enter")
def f(e):
    global n
    n += 1
    if n % 100 == 0:
        time.sleep(0.005)
        if time.monotonic() > begun + 4:
            with open("/proc/self/status") as f:
                print(f.read().split("RssAnon:")[1].split()[0])
            exit()
''')
    p = subprocess.run([SONDE, 'run', *OPTIONS, 'slow.py', '--', 'dd', 'if=/dev/zero',
                        'of=/dev/null', 'bs=1', 'count=100000000'], env=SCRIPT_ENV,
                       stdin=subprocess.DEVNULL, capture_output=True, text=True)
    need(int(p.stdout) < 100 << 10, p.stdout)  # KiB
    need(' events were lost' in p.stderr, p.stderr)


@case('memory is flat')
def memory():
    if not FULL:
        raise Skip('it takes 10 minutes: make heavy runs it')
    with open('memory.py', 'w') as f:
        f.write('from sonde import *\ncount("syscalls:*", by="name,comm", every=5)\n'
                '@on("%s")\ndef f(e): pass\n' % EVENT)
    p = subprocess.Popen([SONDE, 'run', *OPTIONS, '--for', '610s', 'memory.py', '--', 'sh', '-c',
                          WORKLOAD % CALLS], env=SCRIPT_ENV, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    sizes, begun = [], time.monotonic()
    while time.monotonic() < begun + 600 and p.poll() is None:
        sizes.append(anonymous_kib(p.pid))
        time.sleep(1)
    err = p.communicate(timeout=300)[1]
    same(p.returncode, 0, err)
    half = len(sizes) // 2
    print('# KiB: most in the first 5 minutes %d, in the next %d' % (max(sizes[:half]),
                                                                     max(sizes[half:])))
    need(max(sizes[half:]) - max(sizes[:half]) < 4 << 10, sizes[::50])


few_symbols()
run()
