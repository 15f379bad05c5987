# SPDX-License-Identifier: MIT
"""The same filter while recording (--filter) and while reading (--where) lets the same events
through.

Each recording has an event twice, with a filter of the kernel and without one. The events of the
workload differ from each other, so an event that is there twice has passed the kernel's filter.
"""
import collections
import subprocess
import sys

from tap import PERF_ENV, SONDE, Skip, case, few_symbols, need, run, same, sh, sonde

few_symbols()

N = 60
# Numbers and names that differ for each i. Signal 34 is blocked. Anybody may raise oom_score_adj.
WORK = r'''
import ctypes, os, signal, struct
libc = ctypes.CDLL(None)
N, me, cpus = %d, os.getpid(), sorted(os.sched_getaffinity(0))
signal.pthread_sigmask(signal.SIG_BLOCK, [34])
ul = ctypes.c_ulong
for i in range(N):
    os.sched_setaffinity(0, [cpus[i %% len(cpus)]])
    libc.prctl(9999, ul(i), ul(i * i), ul(2 ** 63 + i), ul(i %% 7))
    with open('/proc/self/oom_score_adj', 'w') as f:
        f.write(str(900 + i))
    libc.prctl(15, ('%%dx' %% i if i %% 9 == 8 else 'w/%%03d:%%d' %% (i, i %% 4)).encode())
    info = struct.pack('=4i', 34, i - N // 2, -1 - i %% 5, 0) + bytes(112)
    libc.syscall(129, me, 34, info)
for i in range(12):
    path = os.path.join(os.getcwd(), 'run-%%d-%%s' %% (i, 'abc'[i %% 3]))
    os.symlink('/bin/true', path)
    os.waitpid(os.posix_spawn(path, [path], {}), 0)
    os.unlink(path)
''' % N

PRCTL = 'syscalls:sys_enter_prctl'
RENAME = 'task:task_rename'
SIGNAL = 'signal:signal_generate'
EXEC = 'sched:sched_process_exec'
# How many events pass: a filter that all or none pass shows less than one that separates them.
NONE, SOME, ALL = 'none', 'some', 'all'
FILTERS = {
    PRCTL: [
        ('arg2 == 7', SOME),
        ('arg2 != 7', SOME),
        ('arg2 < 10 && arg3 > 16', SOME),
        ('arg2 <= 0xa || arg2 >= 071', SOME),
        ('arg5 & 3', SOME),
        ('arg3 & 0x18 && option == 9999', SOME),
        ('!(arg5 == 1 || arg5 == 2) && option == 9999', SOME),
        ('!arg5 == 1', SOME),
        ('arg4 > 0x7fffffffffffffff', SOME),
        ('arg4 == 9223372036854775813', SOME),
        ('((arg2 > 5 && arg2 < 9) || arg3 == 400) && !(arg5 == 0)', SOME),
        ('comm ~ "w/0*"', SOME),
        ('COMM != "w/003:3" && arg2 < 9', SOME),
        ('cpu == CPU0', SOME),
        ('common_cpu > CPU0', SOME),
        ('cpu & CPUS{CPU0}', SOME),
        ('CPU == CPUS{CPU0} || arg2 == 3', SOME),
        ('CPU != CPUS{CPU0,CPU1}', ALL),
        ('arg2 & CPUS{0-1}', SOME),
        ('arg2 == CPUS{1} || arg2 == CPUS{0-1}', SOME),
        ('common_pid == 0', NONE),
        ('common_pid > 0 && common_type > 0', ALL),
    ],
    RENAME: [
        ('oom_score_adj == 903', SOME),
        ('oom_score_adj > -1', ALL),
        ('oom_score_adj == 0x10389', SOME),
        ('oom_score_adj & 0x8001', SOME),
        ('newcomm == "w/012:0"', SOME),
        ("newcomm != 'w/012:0'", SOME),
        ('newcomm ~ "w/01*"', SOME),
        ('newcomm ~ "*01*"', SOME),
        ('newcomm ~ "w/0?[2-4]:[!1]"', SOME),
        ('newcomm ~ "!w*"', SOME),
        ('newcomm == "w/0*"', NONE),
        ('newcomm ~ "w\\/*" || oldcomm ~ "*:3*"', SOME),
        ('comm ~ "w/00*" && oom_score_adj > 904', SOME),
    ],
    SIGNAL: [
        ('errno < -10', SOME),
        ('errno == 4294967295', SOME),
        ('code == -2 && errno >= 0', SOME),
        ('!(code < -2) && sig == 34', SOME),
        ('comm ~ "w*" && sig == 34 && errno & 1', SOME),
    ],
    EXEC: [
        ('filename ~ "*/run-*-a"', SOME),
        ('filename ~ "*-b"', SOME),
        ('filename ~ "/*run-[1-3]-?"', SOME),
        ('filename != "/bin/true" && !(filename ~ "*run-*")', SOME),
        ('COMM ~ "run-1*"', SOME),
    ],
}


def lines(*words):
    r = sonde('script', '-i', 'x.data', '-F', 'comm,tid,cpu,event,trace', *words)
    same(r.returncode, 0, r.stderr)
    return collections.Counter(r.stdout.splitlines())


def record(*words):
    r = sonde('record', '-q', '-o', 'x.data', *words, '--', sys.executable, '-S', '-E', '-c', WORK)
    same(r.returncode, 0, r.stderr)


def cpus():
    with open('/proc/self/status') as f:
        text = next(line.split()[1] for line in f if line.startswith('Cpus_allowed_list:'))
    found = []
    for part in text.split(','):
        first, last = (part.split('-') * 2)[:2]
        found += range(int(first), int(last) + 1)
    if len(found) < 2:
        raise Skip('filters of cpus need two cpus')
    return found


def with_cpus(text):
    if 'CPU0' not in text:
        return text
    c = cpus()
    return text.replace('CPU0', str(c[0])).replace('CPU1', str(c[1]))


def of_event(counter, event):
    return {line: n for line, n in counter.items() if ' %s: ' % event in line}


def compare(event, text, expected, recorded):
    """Returns what differs."""
    for line, n in recorded.items():
        need(n <= 2, 'the workload makes an event %d times: %s' % (n, line))
    passed = {line: n for line, n in recorded.items() if n == 2}
    read = of_event(lines('--where', text), event)
    if read != passed:
        return '%s: %r: while recording %d, while reading %d of %d; differ: %s' % (
            event, text, len(passed), len(read), len(recorded),
            sorted(set(passed) ^ set(read))[:3])
    got = NONE if not passed else ALL if passed == recorded else SOME
    return None if got == expected else '%s: %r lets %s through' % (event, text, got)


def check(nr):
    """The filters of this number of all events, in one recording."""
    chosen = [(event, with_cpus(f[nr][0]), f[nr][1]) for event, f in FILTERS.items() if nr < len(f)]
    words = []
    for event, text, _ in chosen:
        words += ['-e', event, '--filter', text, '-e', event]
    record(*words)
    recorded = lines()
    wrong = [compare(event, text, expected, of_event(recorded, event))
             for event, text, expected in chosen]
    need(not any(wrong), '\n'.join(w for w in wrong if w))


for number in range(max(map(len, FILTERS.values()))):
    case('filter %d of each event: %s' % (number + 1, '; '.join(
        f[number][0] for f in FILTERS.values() if number < len(f))))(
            lambda number=number: check(number))


@case('where the kernel has accidents, --where does what the filter says')
def _():
    record('-e', RENAME, '--filter', 'newcomm ~ "*:1"', '-e', RENAME, '--filter', 'newcomm ~ "1?x"',
           '-e', PRCTL, '--filter', 'cpu & 0xffff')
    same(of_event(lines(), RENAME), {}, 'the kernel lets none through')
    same(of_event(lines(), PRCTL), {}, 'the kernel lets none through')
    record('-e', RENAME, '-e', PRCTL)
    ends = of_event(lines('--where', 'newcomm ~ "*:1"'), RENAME)
    need(len(ends) > 5 and all('newcomm=w/' in line and ':1 ' in line for line in ends), ends)
    digits = of_event(lines('--where', 'newcomm ~ "1?x"'), RENAME)
    need(digits and all('newcomm=17x' in line for line in digits), digits)
    odd = of_event(lines('--where', 'cpu & 0xffff'), PRCTL)
    need(odd and not any(' [000] ' in line for line in odd), odd)


@case('strings that events point to are those of printk_formats')
def _():
    event, text = 'rcu:rcu_utilization', 'Start context switch'
    record('-e', event, '--filter', 's == "%s"' % text)
    recorded = lines()
    need(recorded and all(text in line for line in recorded), recorded)
    same(lines('--where', 's == "%s"' % text), recorded)
    same(lines('--where', 's ~ "Start*" && s != "Start scheduler-tick"'), recorded)
    r = sonde('script', '-i', 'x.data', '--where', 's != "%s"' % text)
    same((r.returncode, r.stdout), (0, ''), r.stderr)



@case('pipes: a missing field is an error at the first event, or at the end')
def _():
    with open('piped', 'wb') as f:
        subprocess.run([SONDE, 'record', '-q', '-o', '-', '-e', RENAME, '-e', PRCTL, '--',
                        sys.executable, '-S', '-E', '-c', WORK], env=PERF_ENV, stdout=f, check=True)
    through = 'cat piped | "$0" %s'
    r = sh('sh', '-c', through % "script -i - --where 'arg2 < 10'", SONDE)
    same((r.returncode, r.stdout.count('sys_enter_prctl')), (0, 10), r.stderr)
    for words, message in (
            ("script -i - --where 'arg2 < 10 || arg9 == 1'", "no event has a field 'arg9'"),
            ("cut -i - -o cut.data -e '*:*' --where 'arg9 == 1'", "no event has a field 'arg9'"),
            ("cut -i - -o cut.data -e task_rename,sys_enter_prctl --where 'arg2 == 1'",
             "task:task_rename has no field 'arg2'")):
        r = sh('sh', '-c', through % words, SONDE)
        need(r.returncode in (1, 2) and message in r.stderr, (words, r.returncode, r.stderr))
    r = sh('sh', '-c', through % "cut -i - -o cut.data -e '*:*' --where 'arg2 == 1'", SONDE)
    same(r.returncode, 0, r.stderr)


run()
