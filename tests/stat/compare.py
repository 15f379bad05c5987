#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sonde stat prints what perf stat prints: the same lines in the same order, with numbers replaced
by their shape (where they end, how many decimals they have).

    tests/stat/compare.py SONDE STANDIN

STANDIN: the library of standin.c, which gives both tools the same hardware counters. With them
numbers that do not depend on time are compared, too.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from points import ENV, done, say, skip  # noqa: E402

SONDE, STANDIN = (str(pathlib.Path(a).resolve()) for a in sys.argv[1:3])
PERF = shutil.which('perf')
# It runs all the time, so each interval and each cpu counts something.
SPIN = ['sh', '-c', 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done']
TRUE = ['true']
SW = 'task-clock,cs,migrations,faults'
HW = 'cycles,instructions,branches,branch-misses,cache-references,cache-misses,task-clock'
STALLS = 'cycles,instructions,stalled-cycles-frontend,stalled-cycles-backend'
TABLE = ('0:0=2000000 0:1=3000000 0:2=50000 0:3=6000,4000000,3000000 0:4=600000 0:5=12000 '
         '0:7=400000 0:8=100000 3:0=900000 3:65536=9000 3:1=100000 3:65537=100 3:2=5000 '
         '3:65538=50 3:3=70000 3:65539=70 3:4=60 3:65540=6 3:512=!2 3:66048=!22')

# options, command
LIVE = [(options.split(), command) for options, command in [
    ('', TRUE), ('-x,', TRUE), ('-x;', TRUE), ('-x \\t', TRUE), ('-j', TRUE),
    ('-d', TRUE), ('-d -d', TRUE), ('-ddd', TRUE), ('-ddd -x,', TRUE), ('-ddd -j', TRUE),
    ('-n', TRUE), ('-n -r 2', TRUE), ('-B', TRUE), ('--no-big-num', TRUE),
    ('-e ' + SW, TRUE), ('-e %s -x,' % SW, TRUE), ('-e %s -j' % SW, TRUE),
    ('-e cs', TRUE), ('-e cs -x,', TRUE), ('-e cs -j', TRUE), ('-e faults -e cs', TRUE),
    ('-e {task-clock,faults}', TRUE), ('-e {faults,minor-faults}:u', TRUE),
    ('-g -e task-clock,faults', TRUE), ('-e task-clock:u,faults:k', TRUE),
    ('-e cpu-clock,task-clock,faults', TRUE), ('-e dummy,task-clock', TRUE),
    ('-e msr/tsc/,task-clock', TRUE), ('-e duration_time,task-clock', SPIN),
    ('-e duration_time -x,', SPIN), ('-e duration_time -j', SPIN),
    ('-e sched:sched_process_exec', TRUE), ('-e sched:sched_process_*', TRUE),
    ('-e raw_syscalls:sys_enter --filter id>0', TRUE), ('-e raw_syscalls:sys_enter -x,', TRUE),
    ('-e cycles,nothing-here=1', TRUE),
    ('-a', SPIN), ('-a -x,', SPIN), ('-a -j', SPIN), ('-C 0', SPIN), ('-C 0,1 -A', SPIN),
    ('-a -A -e cs,cpu-clock', SPIN), ('-a -A -x, -e cs,cpu-clock', SPIN),
    ('-a -A -j -e cs,cpu-clock', SPIN), ('-a -A', SPIN), ('-a -A -e cycles', TRUE),
    ('-a -A -e duration_time,cpu-clock', SPIN), ('-a -A -e msr/tsc,percore/', SPIN),
    ('-a -A -x, -e msr/tsc,percore/', SPIN), ('-a -e msr/tsc,percore/', SPIN),
    ('-a -A --percore-show-thread -e msr/tsc,percore/', SPIN),
    ('-a -A -j --percore-show-thread -e msr/tsc,percore/', SPIN),
    ('-a -A -e cs/percore/', SPIN), ('-a --per-core -e msr/tsc,percore/', SPIN),
    ('-a --per-core -x, -e cycles', TRUE),
    ('-a --per-core -e cs,cpu-clock', SPIN), ('-a --per-core -x,', SPIN),
    ('-a --per-core -j -e cs,cpu-clock', SPIN), ('-a --per-die -e cs,cpu-clock', SPIN),
    ('-a --per-die -x,', SPIN), ('-a --per-die -j -e cs', SPIN),
    ('-a --per-socket', SPIN), ('-a --per-socket -x, -e cs', SPIN),
    ('-a --per-socket -j -e cs', SPIN), ('-a --per-node', SPIN), ('-a --per-node -x,', SPIN),
    ('-a --per-node -j -e cs', SPIN), ('-a -e sched:sched_switch', SPIN),
    ('-a --for-each-cgroup / -e cs,cpu-clock', SPIN),
    ('-a --for-each-cgroup / -e cs,cpu-clock -x,', SPIN),
    ('-a --for-each-cgroup / -e cs,cpu-clock -j', SPIN), ('-a -e cs,faults -G /', SPIN),
    ('-r 3', SPIN), ('-r 3 -x,', SPIN), ('-r 3 -j', SPIN), ('-r 3 -e faults', TRUE),
    ('-r 3 --table -e task-clock', SPIN), ('-r 2 -a -A -e cpu-clock', SPIN),
    ('-r 2 -a --per-core -x, -e cpu-clock', SPIN),
    ('-I 20 -e task-clock,faults', SPIN), ('-I 20 -x, -e task-clock', SPIN),
    ('-I 20 -j -e task-clock', SPIN), ('-I 20 -a -A -e cpu-clock', SPIN),
    ('-I 20 -a --per-core -e cpu-clock', SPIN), ('-I 20 -a --per-die -e cpu-clock', SPIN),
    ('-I 20 -a --per-socket -e cpu-clock', SPIN), ('-I 20 -a --per-node -e cpu-clock', SPIN),
    ('-I 20 -a --per-core -x, -e cpu-clock', SPIN), ('-I 20 -a -A -j -e cpu-clock', SPIN),
    ('-I 20 --summary -e task-clock', SPIN), ('-I 20 --summary -x, -e task-clock', SPIN),
    ('-I 20 --summary -x, --no-csv-summary -e task-clock', SPIN),
    ('-I 20 --interval-count 2 -e task-clock', SPIN), ('-D 10 -e task-clock', SPIN),
    ('-i -e task-clock', SPIN), ('-S -e task-clock', TRUE), ('--pre true -e task-clock', TRUE),
    ('--post true -e task-clock', TRUE), ('--all-user -e task-clock,faults', SPIN),
    ('--all-kernel -e task-clock', SPIN), ('--timeout 100 -e task-clock', ['sleep', '9']),
    ('--quiet', TRUE), ('--no-scale -e task-clock', TRUE),
]]
# The same with counters of the stand-in, whose numbers are compared exactly.
COUNTERS = [(options.split(), TRUE) for options in [
    '', '-ddd', '-ddd -x,', '-ddd -j', '-e ' + HW, '-e %s -x,' % HW, '-e %s -j' % HW,
    '-e ' + STALLS, '-e %s -x,' % STALLS, '-e cycles:u,instructions:u',
    '-e cycles:u,instructions', '-e cache-misses,cache-references', '-e cache-misses --no-scale',
    '-e cycles,task-clock -r 2', '-a -A -e cycles,instructions', '-a -A -e %s -x,' % STALLS,
    '-a -A -e ' + STALLS, '-a --per-core -e cycles,instructions', '-a --per-core -e ' + STALLS,
    '-a -e cycles,instructions', '-e L1-dcache-loads,L1-dcache-prefetches',
]]


def shape(text, exact):
    """Times, rates and chance removed; numbers replaced by where they end."""
    text = re.sub(r'  \( \+- *[\d.]+% \)', '', text)
    if not exact:
        # Two clocks of the kernel differ by microseconds: an event of a control group has at
        # times run for 98 % of a short command. The shares of the stand-in's counters are exact.
        text = re.sub(r'  \(\d+\.\d\d%\)', '', text)
    text = re.sub(r' # +[\d.]+ ([KMG]?)/sec *', ' # N /sec ', text)
    text = re.sub(r'(,|;|\t|\\t)[\d.]+\1[KMG]?/sec', r'\1N\1/sec', text)
    text = re.sub(r'"[KMG]?/sec"', '"/sec"', text)
    text = re.sub(r' +[\d.]+ \+- [\d.]+ seconds', ' N +- N seconds', text)
    # the number of decimals of a table is that of the deviation
    text = re.sub(r' *[\d.]+ \([+-][\d.]+\) #+', 'N (N) #', text)
    text = re.sub(r' +# (Table|Final)', r'# \1', text)
    text = re.sub(r'# started on .*', '# started on', text)
    if not exact:
        text = re.sub(r'(?m)(  +|^|(?<=[^\w.]))(\d+)((?:\.\d+)?)(?!\w)',
                      lambda m: '~' * (len(m[1]) + len(m[2]) if m[1] else 1) +
                      re.sub(r'\d', '9', m[3]), text)
    return text


def exact_rows(text):
    """The rows of counters that do not depend on time, without their rates."""
    return [line for line in shape(text, True).splitlines()
            if not re.search(r'clock|switches|migrations|faults|GHz|seconds|/sec|utilized', line)]


def run(tool, options, command, counters):
    env = dict(ENV)
    if counters:
        env.update(LD_PRELOAD=STANDIN, STANDIN=TABLE)
    p = subprocess.run([*tool, 'stat', *options, '--', *command], env=env, timeout=300,
                       stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def lines_of(text, options):
    """How many intervals there are depends on the machine: each kind of line once."""
    lines = text.splitlines()
    if '-I' not in options:
        return lines
    return sorted({line for line in lines if '<not counted>' not in line})


def compare(options, command, counters):
    name = ' '.join(options) or 'default events'
    theirs = run([PERF], options, command, counters)
    ours = run([SONDE, '--compat', 'perf-6.1'], options, command, counters)
    a, b = (lines_of(shape(r[2], False), options) for r in (theirs, ours))
    why = ''
    if theirs[0] != ours[0]:
        why += 'status: perf %d, sonde %d\n' % (theirs[0], ours[0])
    if theirs[0] == 0 and a != b:
        why += ''.join('perf:  %s\n' % x for x in a if x not in b)
        why += ''.join('sonde: %s\n' % x for x in b if x not in a)
        why = why or 'lines in another order'
    if counters and exact_rows(theirs[2]) != exact_rows(ours[2]):
        why += 'numbers:\n%s\n%s' % ('\n'.join(exact_rows(theirs[2])),
                                     '\n'.join(exact_rows(ours[2])))
    say(not why, ('with counters: ' if counters else '') + name, why)


def main():
    if not PERF:
        skip('compared with perf', 'perf is not installed', may=False)
        return done()
    for options, command in LIVE:
        compare(options, command, False)
    for options, command in COUNTERS:
        compare(options, command, True)
    with tempfile.TemporaryDirectory() as folder:
        for options in (['-o'], ['-x,', '-o'], ['-j', '-o'], ['--append', '-o']):
            texts = []
            for tool in ([PERF], [SONDE, '--compat', 'perf-6.1']):
                path = os.path.join(folder, tool[0].replace('/', '_'))
                run(tool, [*options, path], TRUE, False)
                texts.append(shape(open(path).read(), False))
            say(texts[0] == texts[1], ' '.join(options) + ' FILE', '\n'.join(texts))
    return done()


sys.exit(main())
