# SPDX-License-Identifier: MIT
"""sonde run: scripts that say what they need, live and over recordings.

    programs.py SONDE CALLS
"""
import json
import os
import re
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from command import CALLS, EVENT, script, sonde  # noqa: E402
from tap import SCRIPT_ENV, SONDE, case, few_symbols, need, run, same, wait_until  # noqa: E402

COUNTER = '''
from sonde import on, begin, end, every, exit, lost, args
import sonde
n, last = 0, 0
@begin
def start(): print("begin", *args)
@on("%s")
def call(e):
    global n, last
    n += 1
    assert e.time >= last and e.comm == "calls"
    last = e.time
@lost
def away(count, cpu): print("lost", count)
@end
def done(): print("calls", n)
''' % EVENT


@case('handlers get each event, and the same over the recording that is kept')
def handlers():
    file = script('counter.py', COUNTER)
    p = sonde('run', '-o', 'kept.data', file, '--', CALLS, '-n', '5000', '--', 'a', 'b')
    same((p.stdout, p.stderr), ('5000\nbegin a b\ncalls 5000\n', ''))
    p = sonde('run', '-i', 'kept.data', file, '--', 'a', 'b')
    same((p.stdout, p.stderr), ('begin a b\ncalls 5000\n', ''))


@case('fields are passed by name, and filters hold live and on recordings')
def fields():
    file = script('fields.py', '''
from sonde import on, at_end
seen, all = [], []
@on("syscalls:sys_enter_dup2", filter="oldfd == 1")
def one(e, newfd, oldfd): seen.append((oldfd, newfd))
@on("syscalls:sys_enter_dup2", filter="newfd > 40")
def two(e, newfd): all.append(newfd)
@at_end
def done(): print(seen, all)
''')
    command = ['bash', '-c', 'exec 41>&1; exec 42>&2; exec 17>&1']
    live = sonde('run', '-o', 'dup.data', file, '--', *command).stdout
    need('(1, 41)' in live and '(1, 17)' in live and '[41, 42]' in live, live)
    same(sonde('run', '-i', 'dup.data', file).stdout, live)


@case('exit() ends the run with its status, after the functions of end()')
def exits():
    file = script('exits.py', '''
from sonde import on, end, exit
@on("%s")
def call(e): exit(7)
@end
def done(): print("end")
''' % EVENT)
    p = sonde('run', '-o', 'exit.data', file, '--', CALLS, '-n', '50', status=7)
    need(p.stdout.endswith('end\n'), p.stdout)
    same(sonde('run', '-i', 'exit.data', file, status=7).stdout, 'end\n')


@case('an aggregation counts in C, and prints text or JSON')
def aggregations():
    code = 'count("%s", by="comm")' % EVENT
    p = sonde('run', '-o', 'count.data', '-e', code, '--', CALLS, '-n', '1234')
    need('1234' in p.stdout.replace(',', '').replace("'", ''), p.stdout)
    for words in (['-i', 'count.data'],):
        p = sonde('run', '--format', 'json', *words, '-e', code)
        o = json.loads(p.stdout)
        need('1234' in json.dumps(o) and 'calls' in json.dumps(o), p.stdout)
    p = sonde('run', '-i', 'count.data', '-e',
              'c = count("%s")\n@end\ndef f(): print(c.total, dict(c))' % EVENT)
    need(p.stdout.startswith('1234 '), p.stdout)


@case('an aggregation prints into what sys.stdout is, and once in a run that forks')
def aggregations_print():
    sonde('run', '-o', 'print.data', '-e', 'count("%s", quiet=True)' % EVENT, '--', CALLS, '-n',
          '12')
    code = ('import io, os, sys\nc = count("%s", quiet=%%s)\n' % EVENT).replace('%%', '%')
    p = sonde('run', '-i', 'print.data', '-e', code % True + '@end\ndef f():\n'
              ' old, sys.stdout = sys.stdout, io.StringIO()\n c.print()\n'
              ' text, sys.stdout = sys.stdout.getvalue(), None\n c.print()\n'
              ' sys.stdout = old\n print(text.count("12"))')
    same((p.stdout, p.stderr), ('1\n', ''))
    p = sonde('run', '-i', 'print.data', '-e', code % False + '@end\ndef f():\n'
              ' sys.stdout.flush()\n pid = os.fork()\n'
              ' if pid: os.waitpid(pid, 0)')
    same((p.stdout.count('12'), p.stderr), (1, ''))
    p = sonde('run', '-i', 'print.data', '-e', code % False + '@end\ndef f(): sys.stdout.close()')
    same((p.stdout, p.stderr), ('', ''))


@case('every() counts the time of events on recordings, and the time of day live')
def timers():
    file = script('every.py', '''
import sonde
n = 0
@sonde.every(0.2)
def tick():
    global n
    n += 1
@sonde.on("%s")
def f(e): pass
@sonde.end
def done(): print("ticks", n)
''' % EVENT)
    p = sonde('run', file, '-o', 'every.data', '--', 'sh', '-c',
              '%s -n 1; sleep 1; exec %s -n 1' % (CALLS, CALLS))
    n = int(p.stdout.split('ticks ')[1])
    need(n >= 2, p.stdout)  # a slow machine may miss some
    # Events come at the beginning and at the end: one call stands for all that were missed.
    need(sonde('run', '-i', 'every.data', file).stdout in ('ticks 1\n', 'ticks 2\n'), 'ticks')


@case('timers fire in time while no record arrives, and while no handler takes the records')
def quiet_timers():
    text = '''
import sonde
n = 0
@sonde.every(0.05)
def tick():
    global n
    n += 1
@sonde.on("%s")
def f(e): pass
@sonde.end
def done(): print("ticks", n)
'''
    busy = ['sh', '-c', 'for i in $(seq 30); do sleep 0.1; done']
    with subprocess.Popen(busy):  # commands that begin and end all the time
        for event in ('dummy', EVENT):
            file = script('quiet.py', text % event)
            for target in (['-a', '--for', '1s'], ['--', 'sleep', '1']):
                p = sonde('run', file, *target)
                n = int(p.stdout.split('ticks ')[1])
                need(2 <= n <= 40, 'ticks of %s: %d' % (event, n))  # 20, without load
    p = sonde('run', '-e', 'count("dummy", every=0.1)', '--', *busy[:2],
              busy[2].replace('30', '10'))
    need(p.stdout.count('count of') >= 5, p.stdout)


@case('timers alone run live, without a command or with one, and over a recording')
def timers_alone():
    code = 'n = []\nevery(0.1, lambda: n.append(1))\n@end\ndef f(): print("ticks", len(n))'
    n = int(sonde('run', '-e', code, '--for', '1s').stdout.split('ticks ')[1])
    need(2 <= n <= 10, n)
    n = int(sonde('run', '-e', code, '--', 'sleep', '1').stdout.split('ticks ')[1])
    need(2 <= n <= 20, n)
    sonde('record', '-q', '-o', 'alone.data', '-e', EVENT, '--', CALLS, '-n', '300')
    code = code.replace('0.1', '0.00001')
    need(int(sonde('run', '-i', 'alone.data', '-e', code).stdout.split('ticks ')[1]) > 0, 'ticks')
    sonde('run', '-e', 'every(0.01, lambda: exit(5))', status=5)


@case('a handler of a pattern gets the events that have its fields, live and over recordings')
def patterns():
    code = ('n = {}\n@on("sched:sched_w*")\ndef f(e, target_cpu): n[e.name] = 1\n@end\n'
            'def g(): print(sorted(n))')
    command = ['sh', '-c', 'for i in 1 2 3; do sleep 0.01; done']
    p = sonde('run', '-o', 'pattern.data', '-e', code, '--', *command)
    q = sonde('run', '-i', 'pattern.data', '-e', code)
    need(p.stdout == q.stdout and 'sched:sched_waking' in p.stdout, p.stdout + q.stdout)
    need("-e:2: f(): not called for" in p.stderr and "have no field 'target_cpu'" in p.stderr and
         p.stderr.count('\n') == 1, p.stderr)
    same(q.stderr, '')  # the others were not recorded
    sonde('record', '-q', '-a', '-o', 'all.data', '-e', 'sched:sched_w*', '--', *command)
    q = sonde('run', '-i', 'all.data', '-e', code)
    need('not called for' in q.stderr and 'sched:sched_waking' in q.stdout, q.stdout + q.stderr)
    p = subprocess.run('cat all.data | %s run -i - -e \'%s\'' % (SONDE, code), shell=True,
                       env=SCRIPT_ENV, capture_output=True, text=True, timeout=200)
    same((p.returncode, p.stdout), (0, q.stdout), p.stderr)
    out = sonde('run', '--dry-run', '-a', '-e', 'hist("sched:sched_s*", "prev_pid")').stdout
    need(out.endswith('-e sched:sched_switch\n'), out)


@case('fields that an event does not have are reported before anything starts')
def unknown_fields():
    begun = '\n@sonde.begin\ndef f(): print("begun")'
    sonde('record', '-q', '-o', 'few.data', '-e', EVENT, '-e', 'page-faults', '--', CALLS, '-n',
          '1')
    wrong = (('on("%s", lambda e, next_pidd: None)' % EVENT, 'next_pidd'),
             ('on("%s", lambda e, __syscall_n: None)' % EVENT, "did you mean '__syscall_nr'?"),
             ('on("page-faults", lambda e, address: None)', "no field 'address'"),
             ('count("page-faults", by="adress")', "no field 'adress'"))
    for code, text in wrong:
        for words in (['-i', 'few.data'], []):
            command = [] if words else ['--', CALLS, '-n', '1']
            p = sonde('run', *words, '-e', code + begun, *command, status=2)
            need(text in p.stderr and p.stdout == '', p.stderr + p.stdout)
    p = sonde('run', '-i', 'few.data', '-e', 'on("page-faults", lambda e, addr: None)', status=2)
    need('recorded without addresses (-d)' in p.stderr, p.stderr)


@case('a condition with a field that a named event misses is refused; for a pattern it is false')
def conditions():
    command = ['--', CALLS, '-n', '3']
    sonde('record', '-q', '-o', 'one.data', '-e', EVENT, *command)
    code = 'count("%s", by="name", where="pid == 1")' % EVENT
    need('is common_pid' in sonde('run', '-e', code, *command, status=2).stderr, 'advice, live')
    need('is common_pid' in sonde('run', '-i', 'one.data', '-e', code, status=2).stderr, 'advice')
    code = 'count("sched:*", by="name", where="next_pid >= 0")'
    p = sonde('run', '--format', 'json', '-e', code, '-o', 'glob.data', *command)
    need(set(re.findall(r'sched:\w+', p.stdout)) <= {'sched:sched_switch'}, p.stdout)
    code = code.replace('next_pid', 'next_pidd')
    need("did you mean 'next_pid'" in sonde('run', '-e', code, *command, status=2).stderr, 'glob')


@case('aggregations print into any sys.stdout')
def print_anywhere():
    code = """import io, contextlib, sys
n = count("%s", quiet=True)
@end
def f():
    text = io.StringIO()
    with contextlib.redirect_stdout(text): n.print()
    assert "count of" in text.getvalue() and "2" in text.getvalue(), text.getvalue()
    with contextlib.redirect_stdout(None): n.print()
    print("same" if text.getvalue().count("\\n") == 3 else text.getvalue())
    n.print()
    sys.stdout.close()
    n.print()""" % EVENT
    p = sonde('run', '-e', code, '--', CALLS, '-n', '2')
    need('same\ncount of' in p.stdout and p.stderr == '', p.stdout + p.stderr)


@case('a child that a handler forks and that returns prints nothing twice')
def forked():
    code = """import os
c = count("%s")
n = 0
@on("%s")
def f(e):
    global n
    n += 1
    if n == 2: os.fork()
@end
def g(): print("end", n)""" % (EVENT, EVENT)
    for words in (['-o', 'fork.data'], ['-i', 'fork.data']):
        command = ['--', CALLS, '-n', '400'] if words[0] == '-o' else []
        p = sonde('run', *words, '-e', code, *command)
        same((p.stdout.count('end 400'), p.stdout.count('count of'), p.stderr), (1, 1, ''),
             p.stdout)


@case('small things of the command line and of declarations')
def small():
    p = sonde('run', '-e', 'count("%s", limit=0)' % EVENT, '--', 'true', status=2)
    need('limit is a number of keys from 1' in p.stderr, p.stderr)
    same(sonde('run', '-e', 'on("%s", print)\nend(lambda: print(is_live))' % EVENT, '--',
               'true').stdout, 'True\n')
    for more in ([], ['--lang', 'perl']):
        code = 'sub syscalls::sys_enter_getppid { }' if more else 'count("%s")' % EVENT
        p = sonde('run', '--dry-run', '-G', '/', *more, '-e', code)
        same(p.stdout.count('--all-cpus'), 1, p.stdout)
    p = subprocess.run([SONDE, 'run', 'nosuch', '-a'], capture_output=True, text=True)
    need("run: there is no script 'nosuch'" in p.stderr and "'sonde run -l'" in p.stderr, p.stderr)
    p = sonde('run', 'rw-top', '--format', 'json', '-a', '--for', '300ms')
    for line in p.stdout.splitlines():
        json.loads(line)
    need(p.stdout, 'rw-top --format json')


@case('software events are recorded at each occurrence, unless the script has a frequency')
def occurrences():
    code = 'a, b = count("page-faults", quiet=True), count("%s-faults/period=1/", quiet=True)\n'
    code = code % 'minor' + 'c = count("major-faults", quiet=True)\n'
    code += 'end(lambda: print(a.total - b.total - c.total, a.total > 40))'
    same(sonde('run', '-o', 'faults.data', '-e', code, '--', 'true').stdout, '0 True\n')
    same(sonde('run', '-i', 'faults.data', '-e', code).stdout, '0 True\n')
    p = sonde('run', '--dry-run', '-e', 'count(["cs:u", "cpu-clock"])')
    need('-e context-switches' not in p.stdout and
         '-e cs/period=1,name=cs:u/u -e cpu-clock' in p.stdout, p.stdout)
    file = script('freq.py', '# sonde: record -F 99\nimport sonde\nsonde.count("cs")\n')
    need('-e cs\n' in sonde('run', '--dry-run', file).stdout, 'with -F')


@case('values of samples and of events are parameters, too')
def values():
    code = ('on("page-faults", lambda e, addr, pid, comm: print(addr > 0, pid == e.pid, comm))\n'
            'n = count("page-faults", by="addr", quiet=True)\n'
            'end(lambda: print(n.total > 0))')
    p = sonde('run', '-o', 'addr.data', '-e', code, '--', CALLS, '-n', '1')
    need(p.stdout.startswith('1\nTrue True ') and p.stdout.endswith('True\n'), p.stdout)
    same('1\n' + sonde('run', '-i', 'addr.data', '-e', code).stdout, p.stdout)


@case('functions that are named like perf\'s work live')
def perf_style():
    file = script('perf_style.py', '''
n = 0
def trace_begin(): print("begin")
def syscalls__sys_enter_getppid(event_name, context, common_cpu, common_secs, common_nsecs,
                                common_pid, common_comm, common_callchain, *fields):
    global n
    n += 1
def trace_end(): print("calls", n)
''')
    p = sonde('run', file, '--', CALLS, '-n', '321')
    same(sorted(p.stdout.split()), sorted(['begin', '321', 'calls', '321']))


@case('the script\'s own line adds to the recording')
def own_line():
    file = script('line.py', '# sonde: record -g -m 1M\nfrom sonde import on\n'
                  '@on("%s", filter="common_pid != 1")\ndef f(e): pass\n' % EVENT)
    p = sonde('run', '--dry-run', '-a', file)
    same(p.stdout, "sonde record --mmap-pages=1M -g --all-cpus -e %s "
                   "--filter 'common_pid != 1'\n" % EVENT)
    for line, word in (('report -g', 'record'), ('record --no-such', 'no-such'),
                       ("record -e 'a", 'quote'), ('record sleep', 'sleep')):
        file = script('line.py', '# sonde: %s\n' % line)
        p = sonde('run', '-a', file, status=2)
        need(word in p.stderr and 'line.py' in p.stderr, p.stderr)


@case('events that this machine does not have are reported before anything starts')
def lacking():
    for text, word in (
            ('from sonde import on\n@on("%s")\ndef f(e, nrr): pass\n' % EVENT, "no field 'nrr'"),
            ('from sonde import on\n@on("syscalls:sys_enter_nothing")\ndef f(e): pass\n',
             'sys_enter_nothing'),
            ('def syscalls__sys_enter_nothing(*a): pass\n', 'can never be called')):
        p = sonde('run', script('lacks.py', text), '--', 'touch', 'started', status=2)
        need(word in p.stderr and 'lacks.py' in p.stderr, p.stderr)
        need(not os.path.exists('started'), 'the command ran')


@case('fields of pairs, of patterns and of conditions are checked before anything starts')
def fields_before():
    pair = 'pair("syscalls:sys_enter_dup2", "syscalls:sys_exit_dup2")'
    for code, word in (
            ('count(%s, by="nope")' % pair, "no field 'nope'"),
            ('count(%s, where="nope == 1")' % pair, "no field 'nope'"),
            ('count(%s, where="ret ==")' % pair, 'a value is expected'),
            ('count(%s, where="stop_ret == 1")' % pair, "no field 'stop_ret'"),
            ('on(%s, lambda e, newfdd: 0)' % pair, "did you mean 'newfd'"),
            ('on(%s, "newfdd == 1")(print)' % pair, "did you mean 'newfd'"),
            ('hist(%s, "nss")' % pair, "no field 'nss'"),
            ('count("syscalls:sys_*_dup2", by="newfdd")', "did you mean 'newfd'"),
            ('count("syscalls:sys_*_dup2", where="newfdd == 1")', "did you mean 'newfd'"),
            ('on("syscalls:sys_*_dup2", lambda e, newfdd: 0)', "has a field 'newfdd'"),
            ('count("syscalls:sys_enter_dup2", where="newfdd == 1")', 'did you mean newfd'),
            ('count(["syscalls:sys_enter_dup2", "%s"], by="newfd")' % EVENT, "no field 'newfd'")):
        p = sonde('run', '-e', code, '--', 'touch', 'started', status=2)
        need(word in p.stderr, '%s: %s' % (code, p.stderr))
        need(not os.path.exists('started'), 'the command ran')


@case('a condition on a pattern or a pair counts the same live and on the recording')
def conditions():
    command = ['bash', '-c', 'for i in 1 2 3; do exec 41>&1; exec 42>&2; done']
    code = ('n = [count("syscalls:sys_*_dup2", where="newfd > 40", by="name"),'
            'count(pair("syscalls:sys_enter_dup2", "syscalls:sys_exit_dup2"), where='
            '"newfd > 40 && pid > 0 && ret == newfd || ret > 40")]\n'
            '@end\ndef f(): print("total", [c.total for c in n])')
    code = code.replace('ret == newfd || ', '')
    live = sonde('run', '-o', 'conditions.data', '-e', code, '--', *command).stdout
    need('total [6, 6]' in live, live)
    same(sonde('run', '-i', 'conditions.data', '-e', code).stdout, live)


@case('names that are not UTF-8 are counted, asked for, and printed as JSON')
def not_utf8():
    name = b'n\xff\xc3'
    p = subprocess.run([SONDE, 'record', '-q', '-o', 'bytes.data', '-e', EVENT, '--',
                        sys.executable, '-c', 'import ctypes, os\nctypes.CDLL(None).prctl(15, %r)\n'
                        'for i in range(50): os.getppid()' % name], env=SCRIPT_ENV)
    same(p.returncode, 0)
    file = script('bytes.py', """
import sonde
name = b"n\\xff\\xc3".decode("utf-8", "surrogateescape")
c = sonde.count("%s", by="comm", where='comm == "' + name + '"')
@sonde.on("%s", filter='comm == "' + name + '"')
def f(e): assert e.comm == name
@sonde.end
def end(): assert dict(c) == {name: 50}, dict(c)
""" % (EVENT, EVENT))
    o = json.loads(sonde('run', '--format', 'json', '-i', 'bytes.data', file).stdout)
    same(o['rows'], [{'keys': {'comm': os.fsdecode(name)}, 'count': 50}])
    same(o['where'], 'comm == "%s"' % os.fsdecode(name))
    out = sonde('run', '-i', 'bytes.data', file).stdout
    need(r'n\xff\xc3' in out, out)


@case('cycles are cpu-clock where the processor does not count them')
def cycles():
    spin = ['sh', '-c', 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done']
    code = 'n=[]\n@on("cycles:u")\ndef f(e): n.append(1)\n@end\ndef g(): print("total", len(n))'
    p = sonde('run', '-e', 'count("cycles", by="comm")', '--', *spin)
    q = sonde('run', '-e', code, '--', *spin)
    need('\nsh ' in p.stdout and int(q.stdout.split('total ')[1]) > 5, p.stdout + q.stdout)
    if 'cpu-clock' in p.stdout:
        need('cannot count cycles' in p.stderr and 'cpu-clock:u' in q.stderr, p.stderr + q.stderr)


@case('mistakes on the command line are named')
def mistakes():
    for words, word in ((['-e', EVENT], 'looks like an event'), ([], 'name a script'),
                        (['x.py', 'y'], 'follow --'), (['--for', 'soon', '-e', '1'], '--for'),
                        (['--format', 'xml', '-e', '1'], 'xml'),
                        (['--top', '0', '-e', '1'], '--top'),
                        (['-e', 'count("%s")' % EVENT], 'say what to record')):
        p = sonde('run', *words, status=2)
        need(word in p.stderr, p.stderr)
    same(sonde('run', '-e', 'print("hello")').stdout, 'hello\n')
    for name, event in ((EVENT, EVENT), ('sched:*', 'sched:*'), ('no:such', 'no:such'),
                        ('sys_enter_getppid', EVENT), ('page-faults', 'page-faults'),
                        ('faults', 'page-faults')):
        p = sonde('run', name, '-a', status=2)
        need("'%s' is an event" % name in p.stderr and "sonde new SCRIPT -e '%s'" % event in
             p.stderr and 'count("%s")' % event in p.stderr, p.stderr)
    need('there is no script' in sonde('run', 'no_such_thing', '-a', status=2).stderr, 'name')
    need("'x'" in sonde('run', 'python:x', '-a', status=1).stderr, 'a language')


@case('an error in a handler names its event, and the script ends with 1')
def errors():
    file = script('raises.py', 'from sonde import on\n@on("%s")\ndef f(e): 1 / 0\n' % EVENT)
    p = sonde('run', file, '--', CALLS, '-n', '3', status=1)
    need('ZeroDivisionError' in p.stderr and EVENT in p.stderr and 'raises.py' in p.stderr and
         '_program.py' not in p.stderr, p.stderr)


@case('errors in a program of -e name -e')
def code_errors():
    for code, words in (('1 / 0', ('File "-e", line 1', 'ZeroDivisionError')),
                        ('x = 1\nimport nothing_at_all', ('File "-e", line 2', 'ModuleNotFound')),
                        ('1 +', ('File "-e", line 1', 'SyntaxError')),
                        ('@on("%s")\ndef f(e): 1 / 0' % EVENT, ('File "-e", line 2, in f', EVENT)),
                        ('@on("%s")\ndef f(e, nope): 1' % EVENT, ('-e:1: f()', 'no field'))):
        p = sonde('run', '-e', code, '--', CALLS, '-n', '3', status=2 if 'nope' in code else 1)
        need(all(w in p.stderr for w in words) and '/proc' not in p.stderr, p.stderr)
    code = 'import sys; print(sys.argv, sys.path[0], __name__)'
    same(sonde('run', '-a', '-e', code, '--', 'a').stdout,
         "['-e', 'a']  __main__\n")


@case('the status of the command is reported, and is not that of the script')
def command_status():
    p = sonde('run', '-e', 'count("%s")' % EVENT, '--', 'sh', '-c', 'exit 9')
    need('status 9' in p.stderr, p.stderr)


@case('Ctrl-C ends the recording and calls the functions of end()')
def interrupt():
    file = script('forever.py', 'from sonde import on, begin, end\n'
                  '@begin\ndef b(): print("begin", flush=True)\n'
                  '@on("%s")\ndef f(e): pass\n@end\ndef d(): print("end")\n' % EVENT)
    p = subprocess.Popen([SONDE, 'run', '-p', str(os.getpid()), file], env=SCRIPT_ENV, text=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    same(p.stdout.readline(), 'begin\n')
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=200)
    same((p.returncode, out, err), (0, 'end\n', ''))


@case('Ctrl-C while events are opened ends the run at once, and leaves files as they were')
def interrupt_opening():
    script('old.data', 'old')
    p = subprocess.Popen([SONDE, 'run', '--no-ftrace', '-a', '-o', 'old.data', '-e',
                          'print("top"); count("*:*")'], env=SCRIPT_ENV, text=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until('events are opened', lambda: len(os.listdir('/proc/%d/fd' % p.pid)) > 100)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=200)
    same((p.returncode, out, err), (-signal.SIGINT, 'top\n', ''))
    same((sorted(os.listdir('.')), open('old.data').read()), (['old.data'], 'old'))


@case('a reader that closes standard output ends the run quietly')
def closed_output():
    code = '@on("%s")\ndef f(e): print(e.time)' % EVENT
    p = subprocess.run('%s run -e \'%s\' -- %s -n 200000 | head -n 2' % (SONDE, code, CALLS),
                       shell=True, env=SCRIPT_ENV, capture_output=True, text=True, timeout=200)
    same((p.returncode, len(p.stdout.splitlines())), (0, 2), p.stderr)
    need('Traceback' not in p.stderr, p.stderr)


def total(code, *words, line=''):
    file = script('total.py', line + '\nfrom sonde import *\nn = []\n' + code +
                  '\n@end\ndef f(): print("total", [c.total for c in n])\n')
    out = sonde('run', *words, file, '--', CALLS, '-n', '700').stdout
    return json.loads(out.split('total ')[1].splitlines()[0])


@case('patterns that overlap, and events of the script\'s own line, are recorded once')
def once():
    same(total('n += [count("syscalls:sys_enter_getppi*"), count("syscalls:*_enter_getppid")]'),
         [700, 700])
    line = '# sonde: record -e %s,syscalls:sys_enter_getpgid' % EVENT
    same(total('n.append(count("%s"))' % EVENT, line=line), [700])
    same(total('n.append(count("%s"))\n@on("%s", filter="common_pid == 0")\ndef g(e): 1 / 0'
               % (EVENT, EVENT), line=line), [700])


@case('-G records a control group')
def cgroup():
    p = sonde('run', '-G', '/', '--for', '200ms', '-e', 'count("sched:sched_switch")')
    need('count of' in p.stdout, p.stdout)
    p = sonde('run', '-e', 'count("%s", by="cgroup")' % EVENT, '--', CALLS, '-n', '5')
    need('5' in p.stdout, p.stdout)


@case('losses are reported once')
def losses():
    file = script('losses.py', '''# sonde: record -m 1
import time
from sonde import on, end, lost
n, gone = 0, 0
@on("%s")
def f(e):
    global n
    n += 1
@lost
def g(count, cpu):
    global gone
    gone += count
@end
def h(): print("sum", n + gone)
''' % EVENT)
    p = sonde('run', '-o', 'losses.data', file, '--', CALLS, '-n', '200000')
    need(p.stdout.endswith('sum 200000\n'), p.stdout)
    need(sonde('run', '-i', 'losses.data', file).stdout.endswith('sum 200000\n'), 'recording')


@case('on a recording an aggregation has the events before a tick, and no other')
def exact_ticks():
    sonde('record', '-q', '-o', 'ticks.data', '-e', EVENT, '--', CALLS, '-n', '3000')
    times = [int(w) for w in sonde('run', '-i', 'ticks.data', '-e',
                                   '@on("%s")\ndef f(e): print(e.time)' % EVENT).stdout.split()]
    step = (times[-1] - times[0]) / 3.5 / 1e9
    out = sonde('run', '-i', 'ticks.data', '-e', 'c = count("%s")\nevery(%r, lambda: print("tick", '
                'c.total))' % (EVENT, step)).stdout
    got = [int(line.split()[1]) for line in out.splitlines() if line.startswith('tick')]
    ns = int(step * 1e9)
    periods = [(t - times[0]) // ns for t in times]
    # One tick for a time in which nothing came.
    same(got, [i for i in range(1, len(times)) if periods[i] != periods[i - 1]])
    need(1 <= len(got) <= 3, got)


@case('an aggregation with every= prints each period, with and without handlers')
def periods():
    sonde('record', '-q', '-o', 'periods.data', '-e', EVENT, '--', CALLS, '-n', '3000')
    times = [int(w) for w in sonde('run', '-i', 'periods.data', '-e',
                                   '@on("%s")\ndef f(e): print(e.time)' % EVENT).stdout.split()]
    step = (times[-1] - times[0]) / 3.5 / 1e9
    ns = int(step * 1e9)
    code = 'count("%s", by="comm", every=%r)' % (EVENT, step)
    handler = '\n@on("%s")\ndef f(e): pass' % EVENT
    same(sonde('run', '-i', 'periods.data', '-e', code).stdout,
         sonde('run', '-i', 'periods.data', '-e', code + handler).stdout)
    got = [json.loads(line) for line in
           sonde('run', '-i', 'periods.data', '--format', 'json', '-e', code).stdout.splitlines()]
    counts = [sum(ns * i <= t - times[0] < ns * (i + 1) for t in times) for i in range(4)]
    met = [i for i in range(4) if counts[i]]  # others are passed over
    same([o['from_ns'] for o in got], [ns * i for i in met])
    same([o['to_ns'] for o in got], [ns * (i + 1) for i in met[:-1]] + [times[-1] - times[0]])
    same([o['count'] for o in got], [counts[i] for i in met])
    same(sum(o['rows'][0]['count'] for o in got), 3000)
    p = sonde('run', '--format', 'json', '-e', 'count("%s", every=0.2)' % EVENT, '--', 'sh', '-c',
              '%s -n 500; sleep 0.7; exec %s -n 300' % (CALLS, CALLS))
    got = [json.loads(line) for line in p.stdout.splitlines() if line.startswith('{')]
    need(len(got) >= 3 and any(not o['count'] for o in got), p.stdout)
    need(sum(o['count'] for o in got) in (800, 801), p.stdout)  # sh may call it once


@case('sonde script runs the same scripts, over recordings and pipes')
def by_sonde_script():
    file = script('counter.py', COUNTER)
    sonde('record', '-q', '-o', 'script.data', '-e', EVENT, '--', CALLS, '-n', '800')
    p = sonde('script', '-i', 'script.data', file, 'a', 'b')
    same((p.stdout, p.stderr), ('begin a b\ncalls 800\n', ''))
    file = script('quiet.py', """
import sonde
p = sonde.pair("syscalls:sys_enter_getppid", "syscalls:sys_exit_getppid")
c = [sonde.count(p, by="pid", where="pid %s 0" % op, quiet=True) for op in (">", "==")]
sonde.count("%s", every=0.2)
@sonde.end
def f(): print([x.total for x in c], c[0].span[1] > c[0].span[0], c[0].lost, sonde.is_live)
""".replace('%s"', EVENT + '"'))
    sonde('record', '-q', '-o', 'pairs.data', '-e', 'syscalls:sys_*_getppid', '--', CALLS, '-n',
          '60')
    for command in ('run', 'script'):
        out = sonde(command, '-i', 'pairs.data', file).stdout
        need(out.startswith('[60, 0] True 0 False\ncount of'), out)
    live = "(%s record -q -o - -e 'syscalls:sys_*_getppid' -- %s -n 60; sleep 0.7)" % (SONDE, CALLS)
    p = subprocess.run('%s | %s script -i - quiet.py' % (live, SONDE), shell=True, env=SCRIPT_ENV,
                       capture_output=True, text=True, timeout=200)
    same(p.returncode, 0, p.stderr)
    need('[60, 0] True 0 True' in p.stdout and p.stdout.count('count of') >= 2, p.stdout)
    p = sonde('script', '-i', 'script.data', script('exit.py', 'from sonde import *\n@on("%s")\n'
              'def f(e): exit(5)\n' % EVENT), status=5)
    p = sonde('script', '-i', 'script.data', script('mixed.py', 'import sonde\n@sonde.end\n'
              'def f(): pass\ndef trace_begin(): pass\n'), status=2)
    need('use sonde.on() for all' in p.stderr, p.stderr)
    p = sonde('script', '-i', 'script.data', script('error.py', 'from sonde import *\n@on("%s")\n'
              'def f(e): 1 / 0\n' % EVENT), status=1)
    need('ZeroDivisionError' in p.stderr and 'error.py' in p.stderr, p.stderr)


@case('a program runs its own handlers over a live recording, with their filters')
def own_run():
    file = script('own.py', '''
import sonde, sys
n = 0
@sonde.on("%s", filter="common_pid == 0")
def f(e):
    global n
    n += 1
with sonde.record("%s", command=[%r, "-n", "40"]) as rec:
    rec.run()
    print(n, rec.wait())
''' % (EVENT, EVENT, CALLS))
    p = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=200,
                       env=dict(SCRIPT_ENV, PYTHONPATH=os.path.join(os.path.dirname(SONDE),
                                                                     'bindings/python/module')))
    same((p.returncode, p.stdout), (0, '40\n0 0\n'), p.stderr)


@case('scripts that cannot work are refused, and nothing starts')
def refused():
    mixed = script('mixed.py', 'import sonde\n@sonde.end\ndef f(): pass\n'
                   'def syscalls__sys_enter_getppid(*a): pass\n')
    empty = script('empty.py', '')
    for words, word in (([mixed], 'sonde.on()'),
                        ([empty], 'needs no event'),
                        (['-e', 'on("syscalls:sys_enter_getpid_", print)'], 'did you mean'),
                        (['-e', 'sum("%s", "nope")' % EVENT], "no field 'nope'"),
                        (['-o', '-', empty], '-o needs a file')):
        p = sonde('run', *words, '--', 'touch', 'started', status=2)
        need(word in p.stderr, p.stderr)
        need(not os.path.exists('started'), 'the command ran')
    p = sonde('run', '-i', 'x.data', '-a', '-e', 'count("a:b")', status=2)
    need('-i reads' in p.stderr, p.stderr)
    for code, word in (('on("a:b", 3)', 'TypeError'), ('@on\ndef f(e): pass', 'TypeError'),
                       ('count(3)', 'Error')):
        p = sonde('run', '-e', code, status=1)
        need(word in p.stderr, p.stderr)
    for code in ('every(0)', 'every("x", print)', 'count("a:b", every=-1)',
                 'count("a:b", every=1, quiet=True)', 'lhist("a:b", "c", 0, 1e30, 1)'):
        p = sonde('run', '-e', code, status=2)
        need(p.stderr.startswith('sonde: -e:1: ') and p.stderr.count('\n') == 1, p.stderr)
    os.mkdir('in-the-way')
    with open('in-the-way/sonde.py', 'w') as f:
        f.write('x = 1\n')
    with open('in-the-way/e.py', 'w') as f:
        f.write('on("%s", print)\n' % EVENT)
    p = sonde('run', '-a', 'in-the-way/e.py', status=1)
    need('in-the-way/sonde.py is in the way' in p.stderr and 'Traceback' not in p.stderr, p.stderr)


@case('timers fire in time while the script has SIGALRM for itself, also in a thread')
def alarms():
    code = """import signal, time
times, alarms = [], []
signal.signal(signal.SIGALRM, lambda *a: alarms.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
@every(0.02)
def tick():
    times.append(time.time())
    if len(times) == 31: exit()
@end
def done(): print(len(alarms), times[-1] - times[0])
"""
    for more in ('', 'on("%s", print)' % EVENT, 'count("%s", quiet=True)' % EVENT):
        out = sonde('run', '-p', str(os.getpid()), '-e', code + more).stdout
        n, seconds = map(float, out.split())
        need(n >= 2 and seconds < 2, (more, out))  # 3 if each wait takes 100 ms
    file = script('thread.py', """import threading, sonde
ticks = []
@sonde.every(0.05)
def tick():
    ticks.append(1)
    if len(ticks) == 5: sonde.exit(7)
with sonde.record("%s", pid=%d) as rec:
    t = threading.Thread(target=lambda: print(rec.run()))
    t.start()
    t.join()
""" % (EVENT, os.getpid()))
    p = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=200,
                       env=dict(SCRIPT_ENV, PYTHONPATH=os.path.join(os.path.dirname(SONDE),
                                                                     'bindings/python/module')))
    same((p.returncode, p.stdout), (0, '7\n'), p.stderr)


@case('--for ends a run')
def limited():
    p = sonde('run', '-a', '--for', '300ms', '-e', '@end\ndef f(): print("end")\n'
              '@on("%s")\ndef g(e): pass' % EVENT)
    same(p.stdout, 'end\n')


few_symbols()
run()
