# SPDX-License-Identifier: MIT
"""Options that contradict each other or are impossible: accepted or refused as by perf."""
import os
import re
import subprocess

import perfdata
from tap import case, few_symbols, need, perf, run, same, sh, sonde


def usage(*argv, says):
    r = sonde('record', *argv, '--', 'touch', 'ran')
    same(r.returncode, 2, 'status of %r (%s)' % (argv, r.stderr))
    need(says in r.stderr, 'no %r in: %s' % (says, r.stderr))
    same(sonde('--compat', 'perf-6.1', 'record', *argv, '--', 'touch', 'ran').returncode, 129,
         'under --compat')
    same(os.listdir(), [], 'files')


def attrs(*options):
    """perf evlist -v of a recording by perf and of one by sonde."""
    text = []
    for tool in (sh, sonde):
        argv = ('perf', 'record') if tool is sh else ('record',)
        r = tool(*argv, '-q', '-o', 'x.data', *options, '--', 'true')
        same(r.returncode, 0, '%r: %s' % (options, r.stderr))
        text.append(re.sub(r'\|(ID|IDENTIFIER)\b', '',
                           sh('perf', 'evlist', '-v', '-i', 'x.data').stdout))
    return text


@case('-m PAGES,AUX: AUX, for hardware traces, has no effect, and -v says so')
def _():
    for value, pages in (('4,4', '4 pages'), (',4', 'pages'), ('4,1M', '4 pages')):
        r = sonde('-v', 'record', '-m', value, '-e', 'cs', '-o', 'x.data', '--', 'true')
        need(r.returncode == 0 and 'after the comma has no effect' in r.stderr and
             pages in r.stderr, r.stderr)
        r = sonde('record', '-m', value, '-e', 'cs', '-o', 'x.data', '--', 'true')
        need(r.returncode == 0 and 'comma' not in r.stderr, r.stderr)
        os.unlink('x.data')
        os.unlink('x.data.old')
    for value in ('4,x', '4,', ',', 'x,4', '4,4,4'):
        usage('-m', value, '-e', 'cs', says='-m')


@case('options without an effect are reported')
def _():
    for options, says in ((['--switch-max-files', '3'], 'no effect without --switch-output'),
                          (['-c', '0'], 'not a period'),
                          (['--mmap-flush', '9G'], 'a quarter of a buffer'),
                          (['--max-size', '100K', '-m', '1024'], 'files will be larger'),
                          (['--switch-output=100K', '-m', '1024'], 'files will be larger')):
        r = sonde('record', *options, '-e', 'cs', '-o', 'x.data', '--', 'true')
        need(r.returncode == 0 and says in r.stderr, '%r: %s' % (options, r.stderr))
    for name in os.listdir():
        os.unlink(name)


@case('messages say what to do')
def _():
    for text in ('zzzzzzzz', 'sched:zzzzzzzz'):
        usage('-e', text, says='sonde list')
    for text in ('r', 'rzz'):
        usage('-e', text, says='as r1a8')
    usage('-o', '', says='-o needs the name of a file')
    r = sonde('record', '-o', '-', '-e', 'cs', '--', 'true', preexec_fn=lambda: os.close(1))
    need(r.returncode == 1 and 'is closed' in r.stderr, r.stderr)
    r = sonde('record', '-e', 'syscalls:sys_enter_*', '--filter', 'id > 3', '-o', 'x.data', '--',
              'true')
    need(r.returncode == 1 and 'there is no field id' in r.stderr and 'closing' not in r.stderr,
         r.stderr)


@case('mistakes in names of events and in filters are usage errors')
def _():
    for text in ('', ' ', ',', 'cs,', ',cs', 'cs,,cs'):
        usage('-e', text, says='name')
    usage('-e', 'no_such_event', says='not known')
    usage('-e', 'sched:no_such_event', says='not known')
    usage('-e', 'sched:no_such_event*', says='no tracepoint matches')
    usage('-e', 'cs:z', says='modifier')
    usage('-e', 'cs', '--filter', 'a == 1', says='not a tracepoint')


@case('-F 0 and values that are no number are refused; -F max is the most that the machine allows')
def _():
    for text in ('0', '-1', 'x', '', '10x', 'maximum'):
        usage('-e', 'cs', '-F', text, says='-F')
    perf()
    same(*attrs('-e', 'cs', '-F', 'max'), '-F max')


@case('-m 0 is one page')
def _():
    for text in ('0', '0K', '1B'):
        r = sonde('record', '-q', '-e', 'cs', '-m', text, '-o', 'x.data', '--', 'true')
        same((r.returncode, r.stderr), (0, ''), text)
        perfdata.File('x.data').check()


@case('each line begins with the name of the program')
def _():
    r = sonde('record', '-e', 'cs', '-m', '3', '-o', 'x.data', '--', 'true')
    need('sonde: -m 3: taking 4 pages' in r.stderr, r.stderr)
    need(all(line.startswith(('sonde: ', '[ sonde record: ')) for line in r.stderr.splitlines()),
         r.stderr)


@case('-p with -a records the process only')
def _():
    perf()
    sleeper = subprocess.Popen(['sleep', '600'])
    try:
        same(*attrs('-a', '-p', str(sleeper.pid), '-e', 'sched:sched_switch'), '-a -p')
        r = sonde('record', '-a', '-p', str(sleeper.pid), '-e', 'sched:sched_switch', '-o',
                  'x.data', '--', 'true')
        need(r.returncode == 0 and '-p excludes -a' in r.stderr, r.stderr)
        need(all(pid == sleeper.pid
                 for attr, pid, tid, t, raw in perfdata.File('x.data').samples()),
             'other processes')
    finally:
        sleeper.kill()
        sleeper.wait()


few_symbols()
run()
