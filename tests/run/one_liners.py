# SPDX-License-Identifier: MIT
"""The programs of docs/one-liners.md, against workloads of known counts.

    one_liners.py SONDE CALLS
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, 'tests', 'record'))
from tap import SCRIPT_ENV, SONDE, case, few_symbols, need, run, same  # noqa: E402

CALLS = os.path.abspath(sys.argv[2])


def page():
    with open(os.path.join(ROOT, 'docs', 'one-liners.md')) as f:
        return f.read()


LINES = {int(n): command for n, command in
         re.findall(r'^\| (\d+) \| [^|]* \| `(sonde [^`]*)` \|$', page(), re.M)}


def start(number, *target):
    """The one-liner, with another target; the options before -e stay."""
    words = re.fullmatch(r"sonde (\w+) (.*?)(?:-e )?'(.*)'", LINES[number])
    options = [w for w in words[2].split() if w not in ('-a', '-p', 'PID', '-G', 'GROUP')]
    return [SONDE, words[1], *options, *(['-e', words[3]] if words[1] == 'run' else [words[3]])]


def one_liner(number, *command, more=()):
    argv = start(number) + list(more) + (['--', *command] if command else [])
    p = subprocess.run(argv, env=SCRIPT_ENV, stdin=subprocess.DEVNULL, capture_output=True,
                       text=True, timeout=200)
    same(p.returncode, 0, '%r: %s%s' % (argv, p.stdout, p.stderr))
    return p.stdout


def rows(number, *command, skip=0):
    """The rows as JSON; skip: lines of the command before them."""
    out = one_liner(number, *command, more=('--format', 'json'))
    return json.loads(out[out.index('{'):])


READS = ['sh', '-c', 'dd if=/dev/zero of=/dev/null bs=1000 count=500 2>/dev/null']


def row_of(o, key):
    found = [r for r in o['rows'] if key in json.dumps(r)]
    need(len(found) == 1, '%s: %s' % (key, json.dumps(o)[:2000]))
    return found[0]


@case('the page has each of the twenty once')
def twenty():
    numbers = [int(n) for n in re.findall(r'^\| (\d+) \|', page(), re.M)]
    same(sorted(numbers), list(range(1, 21)))
    same(sorted(set(range(1, 21)) - set(LINES)), [3, 6, 12, 19])


@case('1, 2: a list of events, hello')
def simple():
    need('syscalls:sys_enter_getppid' in one_liner(1), 'list')
    same(one_liner(2), 'hello\n')


@case('4: system calls by command')
def system_calls():
    need(row_of(rows(4, CALLS, '-n', '7000'), 'calls')['count'] >= 7000, 'too few')


@case('5, 14, 15: sizes of reads and their sum')
def reads():
    dd = row_of(rows(14, *READS), 'dd')
    need(dd['sum'] >= 500 * 1000 and dd['sum'] < 500 * 1000 + 100000, dd)
    sizes = row_of(rows(15, *READS), 'dd')
    need(any(b['from'] == 512 and b['count'] >= 500 for b in sizes['buckets']), sizes)
    need('512' in one_liner(5, *READS), 'hist')


@case('7: how long reads take')
def durations():
    dd = row_of(rows(7, *READS), 'dd')
    need(dd['count'] >= 500, dd)


@case('8: events of the scheduler')
def scheduler():
    out = one_liner(8, 'sh', '-c', 'sleep 0.1')
    need('sched:sched_process_exit' in out and 'sched:sched_switch' in out, out)


@case('9, 10, 20: call chains')
def chains():
    spin = 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; read x </dev/null'
    need('count of' in one_liner(9, 'sh', '-c', spin), 'kstack')
    need('count of' in one_liner(10, 'sleep', '0.1'), 'kstack of switches')
    need('count of' in one_liner(20, 'sh', '-c', spin), 'ustack')


@case('11, 17: block I/O')
def block():
    need('block_rq_issue' in one_liner(11, 'true'), 'hist')
    one_liner(17, 'true')


@case('13: files opened')
def opened():
    o = rows(13, 'sh', '-c', 'for i in 1 2 3 4 5; do : </dev/null; done')
    need(row_of(o, 'sh')['count'] >= 5, o)


@case('16: system calls each second')
def each_second():
    out = one_liner(16, 'sh', '-c', '%s -n 5000; sleep 1.3' % CALLS)
    counts = [line.strip() for line in out.splitlines()[1:]]
    need(any(n.isdigit() and int(n) >= 5000 for n in counts), out)
    need(out.count('count of raw_syscalls:sys_enter, ') >= 2, out)


@case('18: page faults by command')
def faults():
    need(row_of(rows(18, CALLS, '-n', '1'), 'calls')['count'] > 10, 'too few')


few_symbols()
run()
